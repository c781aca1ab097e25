//! How much of a sweep is tried.

/// Whether all of it is, as `SWEEPS=all` asks for; a fixed share otherwise.
pub fn is_all_swept() -> bool {
    std::env::var_os("SWEEPS").is_some_and(|value| value == "all")
}
