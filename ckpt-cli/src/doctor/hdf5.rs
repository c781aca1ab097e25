//! The HDF5 library and its headers, looked for where the build of the library looks: `HDF5_DIR`, pkg-config, the
//! usual folders.

use std::fs;
use std::path::{Path, PathBuf};

use super::Check;
use super::mend::{Package, System};
use super::tools::first_line;

const HEADERS: &str = "HDF5 headers";
const LIBRARY: &str = "HDF5 library";

/// pkg-config, the headers, the library.
pub fn checks(system: System) -> Vec<Check> {
    let mut list = Vec::new();
    let named = std::env::var_os("HDF5_DIR")
        .filter(|dir| !dir.is_empty())
        .map(PathBuf::from);
    let package = ["hdf5", "hdf5-serial"]
        .into_iter()
        .find_map(|name| Some((name, first_line("pkg-config", &["--modversion", name])?)));
    match first_line("pkg-config", &["--version"]) {
        Some(version) => list.push(Check::good("pkg-config", version)),
        None => {
            let check = Check::missing("pkg-config", "not found", system.install(Package::PkgConfig));
            // With HDF5_DIR set nobody asks pkg-config.
            list.push(if named.is_some() { check.optional() } else { check });
        }
    }
    list.push(headers(
        named.as_deref(),
        package.as_ref().map(|(name, _)| *name),
        system,
    ));
    list.push(library(
        named.as_deref(),
        package.as_ref().map(|(name, _)| *name),
        system,
    ));
    list
}

fn headers(named: Option<&Path>, package: Option<&str>, system: System) -> Check {
    let found = include_folders(named, package).into_iter().find_map(|folder| {
        let version = header_version(&folder)?;
        Some(format!("{version} in {}", folder.display()))
    });
    match (found, named) {
        (Some(found), _) => Check::good(HEADERS, found),
        (None, Some(dir)) => Check::missing(
            HEADERS,
            format!(
                "HDF5_DIR is {}, and there is no include/H5pubconf.h in it",
                dir.display()
            ),
            format!(
                "unset HDF5_DIR, or set it to the folder with HDF5's include/ and lib/\n{}",
                system.install(Package::Hdf5)
            ),
        ),
        (None, None) => Check::missing(HEADERS, "not found", system.install(Package::Hdf5)),
    }
}

fn library(named: Option<&Path>, package: Option<&str>, system: System) -> Check {
    let folders = library_folders(named, package);
    let found = folders.iter().find_map(|folder| {
        let names = ["libhdf5.so", "libhdf5_serial.so", "libhdf5.dylib", "libhdf5.a"];
        names
            .iter()
            .map(|name| folder.join(name))
            .find(|path| path.exists())
    });
    match found {
        Some(path) => Check::good(LIBRARY, path.display().to_string()),
        None => Check::missing(LIBRARY, "libhdf5 not found", system.install(Package::Hdf5)),
    }
}

fn include_folders(named: Option<&Path>, package: Option<&str>) -> Vec<PathBuf> {
    if let Some(dir) = named {
        return vec![dir.join("include")];
    }
    let mut folders = flags(package, "--cflags-only-I", "-I");
    let usual = [
        "/usr/include/hdf5/serial",
        "/usr/include",
        "/usr/local/include",
        "/opt/homebrew/include",
    ];
    folders.extend(usual.map(PathBuf::from));
    folders
}

fn library_folders(named: Option<&Path>, package: Option<&str>) -> Vec<PathBuf> {
    if let Some(dir) = named {
        return vec![dir.join("lib"), dir.join("lib64")];
    }
    let mut folders = flags(package, "--libs-only-L", "-L");
    let triple = format!("/usr/lib/{}-linux-gnu", std::env::consts::ARCH);
    folders.push(PathBuf::from(&triple).join("hdf5/serial"));
    let usual = [
        triple.as_str(),
        "/usr/lib64",
        "/usr/lib",
        "/usr/local/lib",
        "/opt/homebrew/lib",
    ];
    folders.extend(usual.map(PathBuf::from));
    folders
}

/// The folders that pkg-config names behind `-I` or `-L`.
fn flags(package: Option<&str>, question: &str, flag: &str) -> Vec<PathBuf> {
    let line = package
        .and_then(|name| first_line("pkg-config", &[question, name]))
        .unwrap_or_default();
    line.split_whitespace()
        .filter_map(|word| word.strip_prefix(flag))
        .map(PathBuf::from)
        .collect()
}

/// The version that `H5pubconf.h` states. Debian's wrapper of that name includes the real one.
fn header_version(folder: &Path) -> Option<String> {
    let files = ["H5pubconf.h", "H5pubconf-64.h", "H5pubconf-32.h"];
    files.iter().find_map(|name| {
        let text = fs::read_to_string(folder.join(name)).ok()?;
        let line = text
            .lines()
            .find(|line| line.starts_with("#define H5_VERSION "))?;
        line.split('"').nth(1).map(str::to_owned)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read_from_the_header() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(header_version(folder.path()), None);
        fs::write(
            folder.path().join("H5pubconf.h"),
            "#define H5_SIZEOF_INT 4\n#define H5_VERSION \"1.14.3\"\n",
        )
        .unwrap();
        assert_eq!(header_version(folder.path()).as_deref(), Some("1.14.3"));
    }

    #[test]
    fn a_wrong_hdf5_dir_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let check = headers(Some(folder.path()), None, System::Debian);
        assert!(check.found.contains("HDF5_DIR"));
        assert!(check.mend.is_some_and(|mend| mend.contains("unset HDF5_DIR")));
    }
}
