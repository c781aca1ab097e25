//! What a program has made of its process: it comes back before the walk of a restart, or no checkpoint is taken while a
//! restart could not bring it back.

use std::fs::File;

use crate::process::Job;

crate::tests! {
    what_the_program_has_changed_comes_back_before_the_walk,
    changes_stay_the_programs_from_one_restart_to_the_next,
    a_folder_that_is_gone_is_refused,
    a_folder_that_the_program_itself_has_left_is_there_again,
    a_folder_that_has_moved_is_mapped,
    a_limit_that_cannot_be_had_is_refused,
    a_process_as_it_was_leaves_no_note,
    no_checkpoint_is_taken_of_what_a_restart_could_not_bring_back,
    a_child_that_a_restart_starts_again_holds_nothing_back,
    a_program_that_starts_itself_has_one_session,
    a_program_that_becomes_itself_goes_on_without_a_session,
    a_program_that_closes_what_it_has_not_opened_leaves_the_store_open,
    files_of_the_store_are_their_owners_whatever_the_umask,
    locks_on_files_are_taken_again,
    locks_on_files_that_are_of_no_more_use_are_taken_again,
    handlers_of_signals_have_to_be_installed_again,
    what_a_number_stood_for_and_is_not_there_is_told_of,
    a_file_that_is_written_to_and_in_no_variable_is_told_of,
}

fn job(does: &str) -> Job {
    Job::new("surroundings")
        .with("TEST_DOES", does)
        .with("TEST_CHANGED", "at the start")
        .with("TEST_REMOVED", "at the start")
        .with("CKPT_EVERY", 2)
}

const KILLED: (&str, &str) = ("CKPT_FAULT", "visit:5");
const RESTART: (&str, &str) = ("CKPT_RESTART", "latest");

fn what_the_program_has_changed_comes_back_before_the_walk() {
    let whole = job("change").run(&[]).expect_code(0);
    assert!(
        whole
            .stdout
            .starts_with("work by the program by the program none Some(200)"),
        "{}",
        whole.stdout
    );
    let job = job("change");
    job.run(&[KILLED]).expect_killed();
    assert_eq!(job.checkpoints().len(), 2, "a relative store is where it was");
    assert_eq!(job.run(&[RESTART]).expect_code(0).stdout, whole.stdout);
    assert_eq!(job.job_file()["state"], "completed");
}

fn changes_stay_the_programs_from_one_restart_to_the_next() {
    let whole = job("change").run(&[]).expect_code(0);
    let job = job("change");
    job.run(&[("CKPT_FAULT", "visit:3")]).expect_killed();
    // What the second process starts with is by chance what the program had made of it.
    let same = [("TEST_SET", "by the program"), ("TEST_CHANGED", "by the program")];
    job.run(&[RESTART, same[0], same[1], KILLED]).expect_killed();
    let other = [("TEST_SET", "at the start"), ("TEST_REMOVED", "again")];
    let ended = job.run(&[RESTART, other[0], other[1]]).expect_code(0);
    assert_eq!(ended.stdout, whole.stdout);
}

fn a_folder_that_is_gone_is_refused() {
    let job = job("change");
    job.run(&[KILLED]).expect_killed();
    std::fs::rename(job.folder().join("work"), job.folder().join("elsewhere")).unwrap();
    job.run(&[RESTART]).expect_code(77).expect_message(&[
        "error[E2331]",
        "/work`",
        "No such file or directory",
        "--map OLD=NEW",
    ]);
    // Nothing was lost.
    std::fs::rename(job.folder().join("elsewhere"), job.folder().join("work")).unwrap();
    job.run(&[RESTART]).expect_code(0);
}

fn a_folder_that_the_program_itself_has_left_is_there_again() {
    for leaves in ["renames", "removes"] {
        let job = || job("leaves").with("TEST_LEAVES", leaves);
        // Where it is in the end is in the folder of the job, or that.
        let seen = |job: &Job, stdout: String| {
            let name = job.folder().file_name().unwrap().to_str().unwrap();
            stdout.replace(name, "JOB")
        };
        let whole = job();
        let expected = seen(&whole, whole.run(&[]).expect_code(0).stdout);
        let job = job();
        job.run(&[KILLED]).expect_killed();
        assert!(!job.folder().join("work").exists());
        // One that fails before it has arrived leaves a folder, which is nobody's.
        job.run_as(&["other"], &[RESTART]).expect_code(77);
        let stdout = job.run(&[RESTART]).expect_code(0).stdout;
        assert_eq!(seen(&job, stdout), expected, "{leaves}");
        assert_eq!(names(job.folder()), names(whole.folder()), "{leaves}");
    }
    // A file has taken its place: it is not removed before the restart has arrived.
    let job = job("leaves").with("TEST_LEAVES", "replaces");
    job.run(&[KILLED]).expect_killed();
    job.run(&[RESTART])
        .expect_code(77)
        .expect_message(&["error[E2331]", "/work/deep`"]);
    assert_eq!(std::fs::read(job.folder().join("work/deep")).unwrap(), b"a file");
}

/// What is in a folder and those below, but for the store.
fn names(folder: &std::path::Path) -> Vec<String> {
    let found = std::process::Command::new("find")
        .args([".", "-not", "-path", "./test.ckpt.d*"])
        .current_dir(folder)
        .output();
    let text = String::from_utf8(found.unwrap().stdout).unwrap();
    let mut names: Vec<String> = text.lines().map(str::to_owned).collect();
    names.sort();
    names
}

fn a_folder_that_has_moved_is_mapped() {
    let whole = job("change").run(&[]).expect_code(0);
    let job = job("change");
    job.run(&[KILLED]).expect_killed();
    // A run is moved with its folder: what is below it is found.
    let moved = tempfile::tempdir().unwrap();
    let from = job.folder().canonicalize().unwrap();
    let status = std::process::Command::new("cp")
        .arg("-a")
        .arg(from.join("."))
        .arg(moved.path())
        .status();
    assert!(status.unwrap().success());
    std::fs::remove_dir_all(from.join("work")).unwrap();
    let ended = job.run_in(moved.path(), &[RESTART]).expect_code(0);
    assert_eq!(ended.stdout, whole.stdout);
}

fn a_limit_that_cannot_be_had_is_refused() {
    let job = job("change");
    job.run(&[KILLED]).expect_killed();
    job.run_with_few_files(100, &[RESTART])
        .expect_code(77)
        .expect_message(&[
            "error[E2332]",
            "RLIMIT_NOFILE to 200",
            "it is 100 (at most 100) now",
        ]);
    job.run(&[RESTART]).expect_code(0);
}

/// Nor do locks that whoever started it holds: `flock FILE ./heat`.
fn a_process_as_it_was_leaves_no_note() {
    use ckpt::store::{Mode, Store};
    let job = job("nothing");
    let locked = File::create(job.folder().join("locked")).unwrap();
    locked.lock().unwrap();
    job.run_with(&locked, &[KILLED]).expect_killed();
    let store = Store::open(job.store(), Mode::ReadOnly).unwrap();
    let newest = store.newest_whole(&mut |_, _| ()).unwrap().unwrap();
    let notes: Vec<&str> = newest
        .meta()
        .notes
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert!(!notes.contains(&"process"), "{:?}", newest.meta().notes);
}

fn no_checkpoint_is_taken_of_what_a_restart_could_not_bring_back() {
    for (does, says) in [
        (
            "child",
            "a process that the program has started is running: `cat`",
        ),
        ("timer", "a timer is running"),
        ("no-folder", "the working folder of the program has been removed"),
        ("part", "a lock on a part of"),
        ("stream", "has led its standard error elsewhere"),
    ] {
        let job = job(does);
        let ended = job.run(&[]).expect_code(0);
        let said = match does {
            // It says so where its standard error is.
            "stream" => std::fs::read_to_string(job.folder().join("errors.txt")).unwrap(),
            _ => ended.stderr.clone(),
        };
        assert!(
            said.contains("warning[W2050]: no checkpoint was taken at site visit 2: ") && said.contains(says),
            "{does}: {said}"
        );
        // The others are taken.
        assert_eq!(job.job_file()["failed_checkpoints"], 1, "{does}");
        assert_eq!(job.checkpoints().len(), 2, "{does}");
    }
}

fn a_child_that_a_restart_starts_again_holds_nothing_back() {
    let job = job("child-again");
    job.run(&[]).expect_code(0);
    assert_eq!(job.job_file()["failed_checkpoints"], 0);
}

fn a_program_that_starts_itself_has_one_session() {
    let job = job("itself");
    let run = ("CKPT_RUN", "0123456789abcdef0123456789abcdef");
    job.run(&[KILLED, run]).expect_killed();
    assert_eq!(job.jobs().len(), 1, "{:?}", job.jobs());
    let inner = std::fs::read_to_string(job.folder().join("inner.txt")).unwrap();
    assert_eq!(inner, "1\n2\n3\n4\n5\n6\n", "it ran to its end");
    job.run(&[RESTART]).expect_code(0);
    let all = std::fs::read_to_string(job.folder().join("log.txt")).unwrap();
    assert_eq!((all, job.jobs().len()), (inner, 1));
}

fn a_program_that_closes_what_it_has_not_opened_leaves_the_store_open() {
    let job = job("closes");
    job.run(&[KILLED]).expect_killed();
    job.run(&[RESTART]).expect_code(0);
    let all = std::fs::read_to_string(job.folder().join("log.txt")).unwrap();
    assert_eq!(all, "1\n2\n3\n4\n5\n6\n");
}

/// Whoever is not root could not open again what has no rights.
fn files_of_the_store_are_their_owners_whatever_the_umask() {
    use std::os::unix::fs::PermissionsExt;
    let job = job("masks");
    job.run(&[KILLED]).expect_killed();
    let mut folders = vec![job.store()];
    let mut looked_at = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let mode = entry.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o600, 0o600, "{:?}: {mode:o}", entry.path());
            looked_at += 1;
            if entry.metadata().unwrap().is_dir() {
                folders.push(entry.path());
            }
        }
    }
    assert!(looked_at > 4, "{looked_at}");
    job.run(&[RESTART]).expect_code(0);
}

fn a_program_that_becomes_itself_goes_on_without_a_session() {
    let job = job("becomes");
    let ended = job.run(&[("CKPT_RUN", "0123456789abcdef0123456789abcdef")]);
    ended.expect_code(0).expect_message(&["warning[W2086]", "`exec`"]);
    let inner = std::fs::read_to_string(job.folder().join("inner.txt")).unwrap();
    assert_eq!(inner, "1\n2\n3\n4\n5\n6\n", "it ran to its end");
    assert_eq!(job.job_file()["state"], "running", "not completed");
}

fn locks_on_files_are_taken_again() {
    let job = job("lock");
    job.run(&[KILLED]).expect_killed();
    // Somebody else has it meanwhile.
    let other = File::open(job.folder().join("locked")).unwrap();
    other.lock().unwrap();
    job.run(&[RESTART])
        .expect_code(77)
        .expect_message(&["error[E2335]", "/locked`"]);
    other.unlock().unwrap();
    job.run(&[RESTART]).expect_code(0);
}

fn locks_on_files_that_are_of_no_more_use_are_taken_again() {
    let job = job("lock-of-no-use");
    job.run(&[]).expect_code(0);
    job.run(&[KILLED]).expect_killed();
    let other = File::open(job.folder().join("locked")).unwrap();
    other.lock().unwrap();
    job.run(&[RESTART])
        .expect_code(77)
        .expect_message(&["error[E2335]", "/locked`"]);
    other.unlock().unwrap();
    job.run(&[RESTART]).expect_code(0);
}

fn handlers_of_signals_have_to_be_installed_again() {
    let job = job("handler");
    job.run(&[KILLED]).expect_killed();
    job.run(&[RESTART])
        .expect_code(77)
        .expect_message(&["error[E2334]", "a handler for SIGUSR2"]);
    job.run(&[RESTART, ("TEST_DOES", "handler-again")]).expect_code(0);
}

fn a_file_that_is_written_to_and_in_no_variable_is_told_of() {
    for (does, is_told) in [
        ("log", true),
        ("log-in-buffer", true),
        ("no-log-any-more", false),
        ("lock-of-no-use", false),
    ] {
        let ended = job(does).run(&[]).expect_code(0);
        let told = ended.stderr.matches("warning[W2430]").count();
        assert_eq!(told, usize::from(is_told), "{does}: {}", ended.stderr);
        if is_told {
            ended.expect_message(&["the program writes to `", "run.log`, which no variable holds"]);
        }
    }
}

fn what_a_number_stood_for_and_is_not_there_is_told_of() {
    for (does, is_told) in [("pipe", true), ("pipe-again", false), ("nothing", false)] {
        let job = job(does);
        let killed = job.run(&[KILLED]).expect_killed();
        let ended = job.run(&[RESTART]).expect_code(0);
        assert!(!killed.stderr.contains("W2051"), "{}", killed.stderr);
        assert_eq!(
            ended.stderr.contains("warning[W2051]"),
            is_told,
            "{does}: {}",
            ended.stderr
        );
        if is_told {
            ended.expect_message(&[
                "of kind pipe the program had 1 open at the checkpoint (as ",
                "and has 0 after the restart",
            ]);
        }
    }
}
