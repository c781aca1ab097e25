//! The shell scripts of the book: bash can read all of them, and the one for PBS does what the page says, with stand-ins for
//! `cargo` and `qsub`. (The one for Slurm is tried with a Slurm, in `mpi/tests`.)

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The blocks of a page in this language.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let start = format!("```{language}\n");
    let found = page.split(&start).skip(1);
    found
        .filter_map(|rest| rest.split("```").next().map(str::to_owned))
        .collect()
}

#[test]
fn bash_can_read_every_script() {
    let pages = fs::read_dir(root().join("docs/src")).unwrap();
    let pages = pages.map(|entry| entry.unwrap().path());
    let pages = pages.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    let mut tried = 0;
    for page in pages.chain([root().join("README.md"), root().join("CONTRIBUTING.md")]) {
        let text = fs::read_to_string(&page).unwrap();
        for script in ["sh", "bash"].iter().flat_map(|language| blocks(&text, language)) {
            let output = Command::new("bash").args(["-n", "-c", &script]).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{}: {said}\n{script}", page.display());
            tried += 1;
        }
    }
    assert!(tried > 5, "{tried}");
}

#[test]
fn the_script_for_pbs_queues_itself_until_the_run_is_complete() {
    let page = fs::read_to_string(root().join("docs/src/batch.md")).unwrap();
    let all = blocks(&page, "sh");
    let script = all
        .iter()
        .find(|script| script.contains("#PBS"))
        .expect("the script");
    let here = tempfile::tempdir().unwrap();
    let path = here.path().join("heat.pbs");
    fs::write(&path, script).unwrap();
    for (name, does) in [("cargo", "exit $CODE"), ("qsub", "exit 0")] {
        let path = here.path().join(name);
        fs::write(&path, format!("#!/bin/bash\necho \"{name} $*\" >>said\n{does}\n")).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path_variable = format!("{}:{}", here.path().display(), std::env::var("PATH").unwrap());
    let said = |code: i32| {
        let status = Command::new("bash")
            .arg(&path)
            .env("PATH", &path_variable)
            .env("PBS_O_WORKDIR", here.path())
            .env("CODE", code.to_string())
            .stdin(Stdio::null())
            .status()
            .unwrap();
        assert_eq!(status.code(), Some(code));
        let said = fs::read_to_string(here.path().join("said")).unwrap();
        fs::remove_file(here.path().join("said")).unwrap();
        said
    };
    let first = said(75);
    assert!(first.starts_with("cargo ckpt run --release --resume"), "{first}");
    assert!(first.contains("qsub ") && first.contains("heat.pbs"), "{first}");
    let second = said(0);
    assert!(
        second.starts_with("cargo ckpt run --release --resume"),
        "{second}"
    );
    assert!(
        !second.contains("qsub"),
        "a run that is complete is not queued again"
    );
    assert!(
        !said(77).contains("qsub"),
        "nor is one that would end the same way"
    );
}
