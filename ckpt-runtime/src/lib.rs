//! The library that a restartable program links.
