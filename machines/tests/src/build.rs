//! The traveller, built for every machine: the program, and a script that starts it where the processor cannot.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use super::{Machine, machines};

/// A version of the program's source, and how it is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// As it is.
    This,
    /// With optimisations and other features, and its types changed.
    Next,
    /// As the next, with a field that no checkpoint has and that has no default.
    Demanding,
    /// As it is, compiled by the rustc that `ANOTHER_RUSTC` names.
    OtherCompiler,
}

impl Version {
    fn name(self) -> &'static str {
        match self {
            Version::This => "this",
            Version::Next => "next",
            Version::Demanding => "demanding",
            Version::OtherCompiler => "other-compiler",
        }
    }
}

/// The rustc of another version that `ANOTHER_RUSTC` names, and what it says that it is.
///
/// # Panics
/// Where the variable is not set, or the version is that of the rustc which builds everything else.
pub fn another_rustc() -> (PathBuf, String) {
    let other = std::env::var_os("ANOTHER_RUSTC").map(PathBuf::from);
    let other = other.expect(
        "ANOTHER_RUSTC names a rustc of another version: see install_another_rustc in .ci/install.sh",
    );
    let says = |rustc: &Path| {
        let said = Command::new(rustc).arg("--version").output();
        let said = said.unwrap_or_else(|error| panic!("{} cannot be started: {error}", rustc.display()));
        String::from_utf8_lossy(&said.stdout).trim().to_owned()
    };
    let usual = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = says(&other);
    assert_ne!(version, says(Path::new(&usual)), "ANOTHER_RUSTC is no other");
    (other, version)
}

/// What starts the program on a machine. Cargo builds what is not there yet.
pub fn program(machine: Machine, version: Version) -> PathBuf {
    // One after the other: cargo uses all cores, and all versions of a program have one path.
    static BUILDING: Mutex<()> = Mutex::new(());
    let _one = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = target().join("machines").join(machine.name).join(version.name());
    fs::create_dir_all(&folder).expect("a folder in the target folder");
    let built = build(machine, version);
    let program = folder.join("traveller");
    // A program that runs cannot be written to, but it can be replaced.
    let fresh = folder.join("traveller.new");
    fs::copy(&built, &fresh)
        .and_then(|_| fs::rename(&fresh, &program))
        .expect("a copy of the program");
    match machine.starter {
        None => program,
        Some(starter) => started_by(starter, machine, &program),
    }
}

fn started_by(starter: &str, machine: Machine, program: &Path) -> PathBuf {
    let script = program.with_file_name(format!("traveller-on-{}", machine.name));
    let text = format!("#!/bin/sh\nexec {starter} '{}' \"$@\"\n", program.display());
    if fs::read_to_string(&script).is_ok_and(|known| known == text) {
        return script;
    }
    let fresh = script.with_extension("new");
    fs::write(&fresh, text).expect("a script in the target folder");
    fs::set_permissions(&fresh, fs::Permissions::from_mode(0o755)).expect("it is ours");
    fs::rename(&fresh, &script).expect("it is ours");
    script
}

fn build(machine: Machine, version: Version) -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .args(["build", "--quiet", "--package", "traveller", "--manifest-path"])
        .arg(manifest);
    let mut folder = target();
    let mut features = Vec::new();
    match version {
        Version::This => {}
        Version::OtherCompiler => {
            // What another compiler has built is of no use to this one.
            folder.push("machines/other-compiler");
            cargo
                .env("RUSTC", another_rustc().0)
                .env_remove("RUSTUP_TOOLCHAIN");
        }
        Version::Next => features.push("next"),
        Version::Demanding => features.push("demanding"),
    }
    if version == Version::Next {
        // Only the program itself is compiled once more.
        cargo.args(["--config", "profile.dev.package.traveller.opt-level=2"]);
    }
    cargo.arg("--target-dir").arg(&folder);
    if machine.starter.is_some() {
        // A feature of ckpt's alone: those of the program would be another program.
        features.push("ckpt/static-hdf5");
        folder.push(machine.target);
        // All that will be wanted at once: while one is configured or linked, another is compiled.
        let mut together = machines();
        together.retain(|other| other.starter.is_some() && *other != machine);
        together.push(machine);
        for machine in together {
            for_another(machine, &mut cargo);
        }
    }
    cargo.arg("--features").arg(features.join(","));
    let status = cargo.status().expect("cargo can be started");
    assert!(
        status.success(),
        "the traveller does not build for {}",
        machine.name
    );
    folder.join("debug/traveller")
}

fn for_another(machine: Machine, cargo: &mut Command) {
    cargo.args(["--target", machine.target]);
    let name = machine.target.replace('-', "_").to_uppercase();
    cargo.env(
        format!("CARGO_TARGET_{name}_LINKER"),
        format!("{}-gcc", machine.gnu),
    );
    // Nobody looks at these in a debugger, and they are quicker to build without what it needs.
    cargo.env(format!("CARGO_TARGET_{name}_RUSTFLAGS"), "-C debuginfo=0");
    cargo.env(
        format!("CMAKE_TOOLCHAIN_FILE_{}", machine.target),
        Path::new(env!("CARGO_MANIFEST_DIR")).join("cross.cmake"),
    );
}

/// The target folder that this test is built in.
pub(crate) fn target() -> PathBuf {
    let own = std::env::current_exe().expect("this test has a path");
    let is_profile = |folder: &&Path| {
        folder
            .file_name()
            .is_some_and(|name| name == "debug" || name == "release")
    };
    let profile = own.ancestors().find(is_profile).expect("target/debug/..");
    profile.parent().expect("target").to_owned()
}
