//! How the tests of `cargo ckpt` have programs built: all alike, so that what every program needs is built once.

/// Variables for cargo.
pub const PROFILE: [(&str, &str); 3] = [
    ("CARGO_INCREMENTAL", "0"),
    ("CARGO_PROFILE_DEV_OPT_LEVEL", "0"),
    ("CARGO_PROFILE_DEV_DEBUG", "0"),
];
