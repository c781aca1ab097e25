//! Which paths a pack may have: names that are nothing but names, and of the program's files those that hold data.
//!
//! What is unpacked lies in the folder of a program's source, where cargo, git, shells and editors read files by their names and do
//! what stands in them. There is no end of such names, so it is the names of data that are known here. Any other is the user's to
//! name.

use std::path::{Component, Path};

use ckpt::store::printable;

/// How the names of files end that programs of computational science read and write, and that no tool executes or reads
/// as its settings.
const DATA: [&str; 48] = [
    "avi", "bin", "bp", "bz2", "cfl", "cgns", "cif", "csv", "dat", "data", "dcd", "exo", "fits", "gz", "h5",
    "hdf", "hdf5", "inp", "log", "lz4", "mesh", "mp4", "msh", "mtx", "nc", "netcdf", "nml", "npy", "npz",
    "obs", "out", "parquet", "pdb", "pgm", "png", "ppm", "pvd", "res", "silo", "stl", "tsv", "txt", "vtk",
    "vtp", "vtu", "xdmf", "xyz", "zst",
];

/// Files that end so and are read as settings all the same, in small letters.
const SETTINGS: [&str; 4] = [
    "cmakelists.txt",
    "requirements.txt",
    "constraints.txt",
    "conanfile.txt",
];

/// A name of a file system is not longer.
const LONGEST: usize = 255;

/// Whether a path leads downwards through names that neither hide, nor look like options, nor do anything to a terminal.
pub fn is_plain_path(path: &Path) -> bool {
    let is_plain = |part: Component<'_>| match part {
        Component::Normal(name) => name.to_str().is_some_and(is_plain_name),
        _ => false,
    };
    path.components().all(is_plain) && path.as_os_str().len() < 4096
}

/// Whether a name is nothing but a name.
pub fn is_plain_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= LONGEST
        && !name.starts_with(['.', '-'])
        && !name.contains(['/', '\\'])
        && printable(name) == name
}

/// Whether a file of this name holds data, as far as its name tells.
pub fn is_data(path: &Path) -> bool {
    let small = |text: Option<&std::ffi::OsStr>| Some(text?.to_str()?.to_lowercase());
    let end = small(path.extension());
    let name = small(path.file_name());
    end.is_some_and(|end| DATA.contains(&end.as_str()))
        && name.is_some_and(|name| !SETTINGS.contains(&name.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_known_by_its_name() {
        for name in ["energy.csv", "a/b/GRID.H5", "notes.txt"] {
            assert!(
                is_data(Path::new(name)) && is_plain_path(Path::new(name)),
                "{name}"
            );
        }
        for name in [
            "Makefile",
            "deck.toml",
            "x.rs",
            "sub/CMakeLists.TXT",
            "package.json",
            "csv",
        ] {
            assert!(!is_data(Path::new(name)), "{name}");
        }
    }
}
