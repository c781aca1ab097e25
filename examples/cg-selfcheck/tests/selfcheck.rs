//! Bits are turned in the solver's memory: what its check or a detector finds is repaired.

use std::process::{Command, Output};

fn run(variables: &[(&str, &str)]) -> Output {
    let folder = tempfile::tempdir().expect("a folder");
    Command::new(env!("CARGO_BIN_EXE_cg-selfcheck"))
        .arg("500")
        .current_dir(folder.path())
        .envs(variables.iter().copied())
        .output()
        .expect("the program starts")
}

#[test]
fn what_is_found_is_repaired() {
    let plain = run(&[]);
    assert!(plain.status.success());
    let (mut found, mut silent) = (0, 0);
    for seed in 0..24 {
        let fault = format!("flip:{}:{seed}", 20 + seed);
        let ended = run(&[
            ("CKPT_EVERY", "10"),
            ("CKPT_SNAPSHOT_EVERY", "5"),
            ("CKPT_DETECT", "nan,unchanged"),
            ("CKPT_FAULT", &fault),
        ]);
        let stderr = String::from_utf8_lossy(&ended.stderr);
        let goes_back = stderr.contains("goes back to");
        found += u32::from(goes_back);
        // A test's mark stands in front of what is printed behind a rollback.
        let is_right = ended.stdout.ends_with(&plain.stdout);
        assert!(is_right || !goes_back, "{seed}: {stderr}");
        silent += u32::from(!is_right);
    }
    assert!(found > 8, "{found} found");
    assert_eq!(silent, 0);
}
