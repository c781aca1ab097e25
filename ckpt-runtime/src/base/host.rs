//! The machine that this process runs on.

use std::path::PathBuf;

/// Name of this machine.
pub fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// A folder of the user's: what the variable names, or the one of this name at home. Paths that are not absolute do not count (XDG
/// Base Directory Specification).
pub fn user_folder(variable: &str, at_home: &str) -> Option<PathBuf> {
    let named = |name| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    named(variable).or_else(|| Some(named("HOME")?.join(at_home)))
}
