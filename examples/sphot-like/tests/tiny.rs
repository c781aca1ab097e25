//! Runs the program on a tiny input and compares everything it says with what is kept beside this file.

use std::process::Command;

#[test]
fn a_few_photons() {
    for (threads, expected) in [
        ("1", include_str!("tiny.1.out")),
        ("3", include_str!("tiny.3.out")),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_sphot-like"))
            .args([threads, "5", "200"])
            .output()
            .expect("the program starts");
        assert!(output.status.success());
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    }
}
