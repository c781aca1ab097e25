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

/// What the members have to themselves is where they are in the loop and what reductions gave, so a restart may have any
/// number of them.
#[test]
fn a_team_is_continued_by_one_of_another_size() {
    for (before, after) in [("4", "2"), ("2", "4"), ("1", "3")] {
        let folder = tempfile::tempdir().expect("a folder");
        let run = |variables: &[(&str, &str)]| {
            let mut program = Command::new(env!("CARGO_BIN_EXE_team-heat"));
            program.args([before, "20", "150"]).current_dir(folder.path());
            program
                .envs(variables.iter().copied())
                .output()
                .expect("the program starts")
        };
        let killed = run(&[("CKPT_EVERY", "20"), ("CKPT_FAULT", "visit:60")]);
        assert!(!killed.status.success());
        let ended = run(&[("CKPT_RESTART", "latest"), ("CKPT_THREADS", after)]);
        assert!(
            ended.status.success(),
            "{}",
            String::from_utf8_lossy(&ended.stderr)
        );
        let both = [killed.stdout, ended.stdout].concat();
        assert_eq!(
            String::from_utf8_lossy(&both),
            include_str!("tiny.out"),
            "{before} {after}"
        );
    }
}
