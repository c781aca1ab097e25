//! Iterators in the place of the standard library's, which can be half used up at a site.

pub(crate) mod adaptors;
pub(crate) mod replay;
