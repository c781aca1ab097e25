//! Runs the program on a tiny input and compares everything it says with what is kept beside this file: any number of
//! threads gives the same.

use std::process::Command;

#[test]
fn a_small_plate() {
    for threads in ["1", "2", "3"] {
        let output = Command::new(env!("CARGO_BIN_EXE_team-heat"))
            .args([threads, "20", "150"])
            .output()
            .expect("the program starts");
        assert!(output.status.success());
        assert_eq!(String::from_utf8_lossy(&output.stdout), include_str!("tiny.out"));
    }
}
