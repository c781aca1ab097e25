//! The command that installs something, in the words of this machine's package manager.

use std::fs;

/// The family of package names and the command that installs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    /// Debian, Ubuntu and their kin.
    Debian,
    /// Fedora, RHEL, Rocky, Alma.
    Fedora,
    /// Arch and its kin.
    Arch,
    /// openSUSE, SLES.
    Suse,
    /// macOS with Homebrew.
    Mac,
    /// Something else.
    Other,
}

/// What may have to be installed.
#[derive(Debug, Clone, Copy)]
pub enum Package {
    /// HDF5 with its headers.
    Hdf5,
    /// The tool that finds libraries.
    PkgConfig,
    /// A C compiler and linker.
    Compiler,
    /// libclang, with which MPI's headers are read.
    Libclang,
    /// An MPI implementation with its compiler wrappers.
    Mpi,
}

impl System {
    /// Finds out where we are.
    pub fn detect() -> Self {
        if cfg!(target_os = "macos") {
            return System::Mac;
        }
        let text = fs::read_to_string("/etc/os-release").unwrap_or_default();
        Self::of_release(&text)
    }

    fn of_release(text: &str) -> Self {
        let value = |key: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(key))?;
            Some(line.trim_matches(['"', '\'']).to_owned())
        };
        let names = format!(
            "{} {}",
            value("ID=").unwrap_or_default(),
            value("ID_LIKE=").unwrap_or_default()
        );
        let is = |wanted: &[&str]| names.split_whitespace().any(|name| wanted.contains(&name));
        match () {
            () if is(&["debian", "ubuntu"]) => System::Debian,
            () if is(&["fedora", "rhel", "centos"]) => System::Fedora,
            () if is(&["arch"]) => System::Arch,
            () if is(&["suse", "opensuse"]) || names.contains("suse") => System::Suse,
            () => System::Other,
        }
    }

    /// The command line that installs the package.
    pub fn install(self, package: Package) -> String {
        let (manager, name) = match self {
            System::Debian => ("apt-get install", package.debian()),
            System::Fedora => ("dnf install", package.fedora()),
            System::Arch => ("pacman -S", package.arch()),
            System::Suse => ("zypper install", package.suse()),
            System::Mac => ("brew install", package.mac()),
            System::Other => return format!("install {}", package.words()),
        };
        let sudo = if self == System::Mac || nix::unistd::Uid::effective().is_root() {
            ""
        } else {
            "sudo "
        };
        format!("{sudo}{manager} {name}")
    }
}

impl Package {
    fn debian(self) -> &'static str {
        match self {
            Package::Hdf5 => "libhdf5-dev",
            Package::PkgConfig => "pkg-config",
            Package::Compiler => "build-essential",
            Package::Libclang => "libclang-dev",
            Package::Mpi => "libopenmpi-dev openmpi-bin",
        }
    }

    fn fedora(self) -> &'static str {
        match self {
            Package::Hdf5 => "hdf5-devel",
            Package::PkgConfig => "pkgconf-pkg-config",
            Package::Compiler => "gcc",
            Package::Libclang => "clang-devel",
            Package::Mpi => "openmpi-devel",
        }
    }

    fn arch(self) -> &'static str {
        match self {
            Package::Hdf5 => "hdf5",
            Package::PkgConfig => "pkgconf",
            Package::Compiler => "base-devel",
            Package::Libclang => "clang",
            Package::Mpi => "openmpi",
        }
    }

    fn suse(self) -> &'static str {
        match self {
            Package::Hdf5 => "hdf5-devel",
            Package::PkgConfig => "pkg-config",
            Package::Compiler => "gcc",
            Package::Libclang => "clang-devel",
            Package::Mpi => "openmpi4-devel",
        }
    }

    fn mac(self) -> &'static str {
        match self {
            Package::Hdf5 => "hdf5",
            Package::PkgConfig => "pkgconf",
            Package::Compiler => "llvm",
            Package::Libclang => "llvm",
            Package::Mpi => "open-mpi",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Package::Hdf5 => "HDF5 1.8.4 or later with its C headers, or set HDF5_DIR to where it is",
            Package::PkgConfig => "pkg-config",
            Package::Compiler => "a C compiler and linker",
            Package::Libclang => "libclang, or set LIBCLANG_PATH to the folder of libclang.so",
            Package::Mpi => "an MPI implementation with mpicc and mpirun",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn systems_are_told_by_their_release_file() {
        assert_eq!(System::of_release("ID=debian\n"), System::Debian);
        assert_eq!(
            System::of_release("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n"),
            System::Debian
        );
        assert_eq!(
            System::of_release("ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n"),
            System::Fedora
        );
        assert_eq!(System::of_release("ID=\"opensuse-leap\"\n"), System::Suse);
        assert_eq!(System::of_release(""), System::Other);
    }

    #[test]
    fn the_command_names_the_package() {
        assert!(
            System::Debian
                .install(Package::Hdf5)
                .ends_with("apt-get install libhdf5-dev")
        );
        assert!(System::Other.install(Package::Hdf5).contains("HDF5_DIR"));
    }
}
