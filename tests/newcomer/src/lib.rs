//! Somebody who meets ckpt for the first time, at a terminal of 80 columns and 24 lines. All of it is in the tests of this package:
//! `tutorial` does what the tutorial says, `misuses` what is often done wrong; `account` is what a newcomer has, `terminal` the
//! shell that is typed into.
//!
//! With the command that was just built, `misuses` runs with the other tests. `./test-release newcomer` does all of it with the archive that
//! `./release` packs, on an account where nothing was built or downloaded before.
