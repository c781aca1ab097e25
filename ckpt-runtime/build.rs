//! Finds the file of the HDF5 library that `hdf5-metno-sys` has found, so that a program can load it when it needs it. Where it is
//! not found, or is built with the program, the program is linked with it.

use std::env;
use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=DEP_HDF5_INCLUDE");
    println!("cargo::rustc-check-cfg=cfg(loads_hdf5)");
    // Only one that is built with the program has a root.
    if env::var_os("DEP_HDF5_ROOT").is_some() || env::var_os("CARGO_FEATURE_STATIC_HDF5").is_some() {
        return;
    }
    let is_set = |name: &str, value: &str| env::var(name).is_ok_and(|set| set == value);
    if !is_set("CARGO_CFG_TARGET_OS", "linux") || !is_set("CARGO_CFG_TARGET_ENV", "gnu") {
        return;
    }
    if env::var("CARGO_CFG_TARGET_FEATURE").is_ok_and(|set| set.split(',').any(|one| one == "crt-static")) {
        return;
    }
    let found = env::var_os("DEP_HDF5_INCLUDE").and_then(|include| library(Path::new(&include)));
    if let Some(path) = found.as_deref().and_then(Path::to_str) {
        println!("cargo::rustc-cfg=loads_hdf5");
        println!("cargo::rustc-env=CKPT_HDF5_LIBRARY={path}");
    }
}

/// The library to these headers: `PREFIX/include` has it in `PREFIX/lib`, Debian's `PREFIX/include/hdf5/serial` in
/// `PREFIX/lib/TRIPLE/hdf5/serial`. By the name under which programs are linked with it, in its folder.
fn library(include: &Path) -> Option<PathBuf> {
    let parts: Vec<_> = include.iter().collect();
    let at = parts.iter().rposition(|part| *part == "include")?;
    let prefix: PathBuf = parts[..at].iter().collect();
    let below: PathBuf = parts[at + 1..].iter().collect();
    let target = env::var("TARGET").ok()?;
    let triple = match target.split('-').collect::<Vec<_>>()[..] {
        // As Debian says it.
        [machine, _, system, libc] => {
            let machine = if machine == "i686" { "i386" } else { machine };
            format!("{machine}-{system}-{libc}")
        }
        _ => return None,
    };
    let folders = [
        prefix.join("lib").join(triple).join(&below),
        prefix.join("lib64").join(&below),
        prefix.join("lib").join(&below),
    ];
    folders
        .iter()
        .find_map(|folder| named(&folder.join("libhdf5.so")))
}

/// The name that programs look for ends behind the first number: `libhdf5.so` leads to `libhdf5_serial.so.103.3.0`, which is
/// `libhdf5_serial.so.103` to them.
fn named(link: &Path) -> Option<PathBuf> {
    let file = link.canonicalize().ok()?;
    let name = file.file_name()?.to_str()?;
    let (stem, version) = name.split_once(".so.")?;
    let first = version.split('.').next()?;
    first.parse::<u32>().ok()?;
    let named = file.with_file_name(format!("{stem}.so.{first}"));
    named.is_file().then_some(named)
}
