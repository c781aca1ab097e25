//! Programs: the Rust toolchain, a linker, and what MPI programs are built and started with.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Check;
use super::package_manager::{Package, System};

/// The oldest Rust that builds ckpt.
const OLDEST_RUST: &str = env!("CARGO_PKG_RUST_VERSION");

/// The first line that a program prints on standard output, or nothing if it cannot be started or fails.
pub(super) fn first_line(program: impl AsRef<OsStr>, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines()
        .find(|line| !line.trim().is_empty())
        .map(|line| line.trim().to_owned())
}

/// The Rust compiler that cargo would use, and whether it is new enough.
pub fn rustc() -> Check {
    const NAME: &str = "rustc";
    let program = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let Some(line) = first_line(program, &["--version"]) else {
        return Check::missing(NAME, "not found", "install Rust: https://rustup.rs");
    };
    match is_new_enough(&line) {
        Some(false) => Check::missing(
            NAME,
            format!("{line}; {OLDEST_RUST} or later is needed"),
            "rustup update stable",
        ),
        _ => Check::good(NAME, format!("{line} (oldest that works: {OLDEST_RUST})")),
    }
}

/// cargo itself.
pub fn cargo() -> Check {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    match first_line(program, &["--version"]) {
        Some(line) => Check::good("cargo", line),
        None => Check::missing("cargo", "not found", "install Rust: https://rustup.rs"),
    }
}

/// The C compiler, which Rust links with.
pub fn linker(system: System) -> Check {
    match first_line("cc", &["--version"]) {
        Some(line) => Check::good("linker", line),
        None => Check::missing("linker", "`cc` not found", system.install(Package::Compiler)),
    }
}

/// What only MPI programs need.
pub fn for_mpi(system: System) -> Vec<Check> {
    let libclang = match libclang() {
        Some(path) => Check::good("libclang", path.display().to_string()),
        None => Check::missing(
            "libclang",
            "not found; MPI programs need it",
            system.install(Package::Libclang),
        ),
    };
    let mut list = vec![libclang];
    for name in ["mpicc", "mpirun"] {
        let line = match name {
            "mpicc" => library(),
            _ => first_line(name, &["--version"]),
        };
        list.push(match line {
            Some(line) => Check::good(name, line),
            None => Check::missing(
                name,
                "not found; MPI programs need it",
                system.install(Package::Mpi),
            ),
        });
    }
    list
}

/// The MPI library that programs are linked to: that of the compiler `mpicc`, or of the one that `MPICC` names, whose own
/// version says nothing about it.
fn library() -> Option<String> {
    let named = std::env::var_os("MPICC");
    let name = named.clone().unwrap_or_else(|| "mpicc".into());
    let compiler = first_line(&name, &["--version"])?;
    let library = first_line(&name, &["--showme:version"]).or_else(|| first_line(&name, &["-v"]));
    let line = library.unwrap_or(compiler);
    Some(match named {
        Some(named) => format!("{line} (MPICC={})", named.display()),
        None => line.trim_start_matches("mpicc: ").to_owned(),
    })
}

fn is_new_enough(line: &str) -> Option<bool> {
    let numbers = |text: &str| -> Option<Vec<u32>> {
        let release = text.split(['-', ' ']).next()?;
        release.split('.').map(|part| part.parse().ok()).collect()
    };
    let found = numbers(line.strip_prefix("rustc ")?)?;
    Some(found >= numbers(OLDEST_RUST)?)
}

fn libclang() -> Option<PathBuf> {
    let named = std::env::var_os("LIBCLANG_PATH").map(PathBuf::from);
    let by_config = first_line("llvm-config", &["--libdir"]).map(PathBuf::from);
    let versions = std::fs::read_dir("/usr/lib").into_iter().flatten().flatten();
    let llvm = versions
        .map(|entry| entry.path())
        .filter(|path| file_name(path).starts_with("llvm"));
    let usual = [
        "/usr/lib",
        "/usr/lib64",
        "/usr/local/lib",
        "/opt/homebrew/opt/llvm/lib",
    ]
    .map(PathBuf::from);
    let triple = PathBuf::from(format!("/usr/lib/{}-linux-gnu", std::env::consts::ARCH));
    let folders = named
        .into_iter()
        .chain(by_config)
        .chain(usual)
        .chain([triple])
        .chain(llvm.map(|path| path.join("lib")));
    folders.into_iter().find_map(|folder| {
        if folder.is_file() {
            return Some(folder);
        }
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries
            .map(|entry| entry.path())
            .find(|path| is_libclang(&file_name(path)))
    })
}

fn is_libclang(name: &str) -> bool {
    let stem = ["libclang.so", "libclang-", "libclang.dylib"]
        .iter()
        .any(|start| name.starts_with(start));
    stem && (name.contains(".so") || name.ends_with(".dylib")) && !name.starts_with("libclang-cpp")
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rust_versions_are_compared_by_number() {
        assert_eq!(is_new_enough("rustc 1.9.0 (abc 2016-05-18)"), Some(false));
        assert_eq!(is_new_enough("rustc 1.200.0-nightly (abc)"), Some(true));
        assert_eq!(is_new_enough(&format!("rustc {OLDEST_RUST}.0 (abc)")), Some(true));
        assert_eq!(is_new_enough("something else"), None);
    }

    #[test]
    fn the_library_is_told_from_its_neighbours() {
        assert!(is_libclang("libclang.so.1") && is_libclang("libclang-14.so.14"));
        assert!(!is_libclang("libclang-cpp.so.14") && !is_libclang("libclang.a"));
    }
}
