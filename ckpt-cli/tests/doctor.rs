//! `cargo ckpt doctor`: what it finds, what `--fix` does about it, and that it does nothing else.

mod schema;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;

fn doctor(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-ckpt"));
    command
        .env_remove("CKPT_DIR")
        .current_dir(folder)
        .arg("doctor")
        .args(arguments);
    command
}

#[test]
fn it_prints_a_table_or_json() {
    let here = tempfile::tempdir().unwrap();
    doctor(here.path(), &[])
        .assert()
        .stdout(contains("rustc").and(contains("HDF5 headers")));
    let output = doctor(here.path(), &["--format", "json"])
        .assert()
        .get_output()
        .stdout
        .clone();
    let json: serde_json::Value = serde_json::from_slice(&output).unwrap();
    schema::check("doctor", &json);
    assert!(json["checks"].as_array().is_some_and(|checks| checks.len() > 5));
    assert_eq!(fs::read_dir(here.path()).unwrap().count(), 0, "the probe is gone");
}

#[test]
fn leftovers_of_killed_processes_are_removed_and_named() {
    let here = tempfile::tempdir().unwrap();
    let store = here.path().join("heat.ckpt.d");
    fs::create_dir(&store).unwrap();
    let left = [".000004.r0.h5.tmp", ".metrics.prom.4711", ".ckpt-doctor-a1b2c3"];
    let kept = ["000003.r0.h5", "job.json", "events.log", "metrics.prom", ".mine"];
    for name in left.iter().chain(&kept) {
        fs::write(store.join(name), "").unwrap();
    }
    let dir = ["--dir", "heat.ckpt.d"];
    let with = |options: &[&str]| doctor(here.path(), &[options, &dir].concat()).assert();
    with(&[]).stdout(contains("3 unfinished files"));
    with(&["--fix", "--dry-run"]).stdout(contains(
        "would mend leftovers: remove heat.ckpt.d/.000004.r0.h5.tmp",
    ));
    assert!(left.iter().all(|name| store.join(name).exists()));
    with(&["--fix"]).stdout(
        contains("mending leftovers: remove")
            .and(contains(".metrics.prom.4711"))
            .and(contains("  done\n"))
            .and(contains("none in heat.ckpt.d")),
    );
    assert!(!left.iter().any(|name| store.join(name).exists()));
    assert!(kept.iter().all(|name| store.join(name).exists()));
    with(&["--fix"]).stdout(contains("There is nothing that --fix can mend."));
    with(&["--dry-run"]).code(2).stderr(contains("--fix"));
}

#[test]
fn what_runs_keep_is_looked_at() {
    let here = tempfile::tempdir().unwrap();
    let runs = here.path().join("heat.ckpt.d/runs");
    let run = runs.join("0123456789abcdef0123456789abcdef");
    fs::create_dir_all(&run).unwrap();
    let found = || doctor(here.path(), &["--dir", "heat.ckpt.d"]).assert();
    found().stdout(contains("what they keep in heat.ckpt.d can be read"));
    fs::write(run.join("job.json"), "{").unwrap();
    fs::create_dir(runs.join(".begun.r1")).unwrap();
    found().stdout(
        contains("the record of run 01234567 cannot be read").and(contains(".begun.r1` was left by a rank")),
    );
}

#[test]
fn a_package_that_names_ckpt_gets_the_dependency() {
    let here = tempfile::tempdir().unwrap();
    fs::create_dir(here.path().join("src")).unwrap();
    fs::write(here.path().join("src/main.rs"), "fn main() {}").unwrap();
    let manifest = here.path().join("Cargo.toml");
    fs::write(&manifest, "[package]\nname = \"p\"\nedition = \"2024\" # new\n").unwrap();
    doctor(here.path(), &[])
        .assert()
        .stdout(contains("dependency on ckpt").not());
    fs::write(
        here.path().join("src/main.rs"),
        "#[ckpt::main]\nfn main() { for _ in 0..3 { ckpt::checkpoint!(); } }",
    )
    .unwrap();
    doctor(here.path(), &["--format", "json"])
        .assert()
        .code(1)
        .stdout(contains("\"healthy\": false"));
    doctor(here.path(), &["--fix"])
        .assert()
        .stdout(contains("mending dependency on ckpt").and(contains("  done\n")));
    let text = fs::read_to_string(manifest).unwrap();
    assert!(text.contains("ckpt") && text.contains("# new"), "{text}");
    doctor(here.path(), &["--fix"])
        .assert()
        .stdout(contains("There is nothing"));
}

/// A machine without a C compiler, whose package manager brings one once its lists are new.
#[test]
fn what_is_missing_is_installed() {
    let here = tempfile::tempdir().unwrap();
    let bin = here.path().join("bin");
    fs::create_dir(&bin).unwrap();
    let script = |name: &str, text: &str| {
        let path = bin.join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    script("sudo", "[ \"$1\" != -n ] || shift; exec \"$@\"");
    let works = "echo \"$(/usr/bin/basename $0) $*\" >>said\n\
        case \"$*\" in update) >new; exit 0;; esac\n\
        case $0 in *apt-get) [ -e new ] || exit 100;; esac\n\
        printf '#!/bin/sh\\necho cc 1.0' >bin/cc; /bin/chmod +x bin/cc";
    for manager in ["apt-get", "dnf", "pacman", "zypper", "brew"] {
        script(manager, works);
    }
    let with = |options: &[&str]| doctor(here.path(), options).env("PATH", &bin).assert();
    with(&[]).code(1).stdout(contains("`cc` not found"));
    with(&["--fix", "--dry-run"])
        .code(1)
        .stdout(contains("would mend linker:"));
    assert!(!here.path().join("said").exists());
    with(&["--fix"]).stdout(contains("mending linker:").and(contains("cc 1.0")));
    let said = fs::read_to_string(here.path().join("said")).unwrap();
    assert!(!said.contains("mpi"), "only what every program needs: {said}");
    for name in ["cc", "new", "said"] {
        let _ = fs::remove_file(bin.join(name)).or_else(|_| fs::remove_file(here.path().join(name)));
    }
    for manager in ["apt-get", "dnf", "pacman", "zypper", "brew"] {
        script(manager, "exit 1");
    }
    with(&["--fix"])
        .code(1)
        .stderr(contains("E3110").and(contains("has failed")));
}
