//! The HDF5 library and its headers, looked for where the build of the library looks: `HDF5_DIR`, pkg-config, the
//! usual folders.

use std::fs;
use std::path::{Path, PathBuf};

use super::Check;
use super::fix::{self, Fix};
use super::package_manager::{Package, System};
use super::tools::first_line;

const HEADERS: &str = "HDF5 headers";
const LIBRARY: &str = "HDF5 library";

/// pkg-config, the headers, the library.
pub fn checks(system: System) -> Vec<Check> {
    let mut list = Vec::new();
    let here = std::env::current_dir().unwrap_or_default();
    let named = std::env::var_os("HDF5_DIR")
        .filter(|dir| !dir.is_empty())
        .map(PathBuf::from)
        .or_else(|| fix::variable(&here, "HDF5_DIR").map(PathBuf::from));
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
        (None, None) => match elsewhere(&unusual_places()) {
            Some(dir) => Check::missing(
                HEADERS,
                format!("not where they are looked for; in {}", dir.display()),
                format!("set HDF5_DIR={}", dir.display()),
            )
            .fixed_by(Fix::Variable {
                folder: std::env::current_dir().unwrap_or_default(),
                name: "HDF5_DIR",
                value: dir.display().to_string(),
            }),
            None => Check::missing(HEADERS, "not found", system.install(Package::Hdf5)),
        },
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
        // The headers are found together with it, or installed.
        None if named.is_none() && elsewhere(&unusual_places()).is_some() => Check {
            fix: None,
            ..Check::missing(
                LIBRARY,
                "libhdf5 not found where it is looked for",
                "set HDF5_DIR, as for the headers",
            )
        },
        None => Check::missing(LIBRARY, "libhdf5 not found", system.install(Package::Hdf5)),
    }
}

/// Where people put an HDF5 of their own: conda, what a compiler wrapper says, and folders beside the system's.
fn unusual_places() -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = ["CONDA_PREFIX", "HDF5_ROOT", "HDF5_HOME", "EBROOTHDF5"]
        .iter()
        .filter_map(std::env::var_os)
        .map(PathBuf::from)
        .collect();
    places.extend(["/usr/local/hdf5", "/opt/hdf5", "/opt/local"].map(PathBuf::from));
    let opt = fs::read_dir("/opt").into_iter().flatten().flatten();
    let mut named: Vec<PathBuf> = opt
        .map(|entry| entry.path())
        .filter(|path| {
            path.file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with("hdf5"))
        })
        .collect();
    named.sort();
    places.extend(named);
    places
}

/// The first of these folders that has an HDF5 with headers.
fn elsewhere(places: &[PathBuf]) -> Option<PathBuf> {
    let has = |place: &&PathBuf| {
        let library = ["lib", "lib64"].iter().any(|folder| {
            let names = ["libhdf5.so", "libhdf5.dylib", "libhdf5.a"];
            names.iter().any(|name| place.join(folder).join(name).exists())
        });
        library && header_version(&place.join("include")).is_some()
    };
    places.iter().find(has).cloned()
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
    fn an_hdf5_in_an_unusual_place_is_found_if_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let places = [folder.path().join("none"), folder.path().to_owned()];
        fs::create_dir(folder.path().join("include")).unwrap();
        let header = folder.path().join("include/H5pubconf.h");
        fs::write(header, "#define H5_VERSION \"1.14.3\"\n").unwrap();
        assert_eq!(elsewhere(&places), None);
        fs::create_dir(folder.path().join("lib64")).unwrap();
        fs::write(folder.path().join("lib64/libhdf5.so"), "").unwrap();
        assert_eq!(elsewhere(&places).as_deref(), Some(folder.path()));
    }

    #[test]
    fn a_wrong_hdf5_dir_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let check = headers(Some(folder.path()), None, System::Debian);
        assert!(check.found.contains("HDF5_DIR"));
        assert!(check.mend.is_some_and(|mend| mend.contains("unset HDF5_DIR")));
    }
}
