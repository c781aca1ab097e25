//! `cargo ckpt serve`: `requests` asks as anything on this machine can, `browser` looks as people do; `place` makes what is served.

mod browser;
#[path = "../chromium/mod.rs"]
mod chromium;
#[path = "../noted/mod.rs"]
mod noted;
mod place;
mod requests;
#[path = "../schema/mod.rs"]
mod schema;
#[path = "../../../tests/harness/src/skipped.rs"]
mod skipped;
