//! Files that ranks write, with plain `mpirun`: nobody tells the processes which run they are of, and each begins its journal
//! before it knows. The whole folder is that of a run that nothing happened to.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use mpi_tests::{Ended, build, finished, make_package, target, tool, two_ranks};

/// Each rank makes a file of its own for every turn, removes the one before, and writes over one that it keeps; the first adds to one that
/// is there for all.
const PROGRAM: &str = r#"
use std::fs;
use std::io::Write;

use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

const TURNS: u64 = 8;

fn world() -> SimpleCommunicator {
    if !mpi::is_initialized() {
        std::mem::forget(mpi::initialize().expect("MPI comes up"));
    }
    SimpleCommunicator::world()
}

fn write(rank: i32, turn: u64, sum: u64) {
    fs::create_dir_all(format!("turns/{rank}")).unwrap();
    fs::write(format!("turns/{rank}/{turn}"), format!("{sum}\n")).unwrap();
    if turn > 1 {
        let _ = fs::remove_file(format!("turns/{rank}/{}", turn - 2));
    }
    let mut kept = fs::OpenOptions::new().read(true).write(true).create(true).truncate(false).open(format!("kept.{rank}")).unwrap();
    kept.write_all(format!("{turn} {sum}\n").as_bytes()).unwrap();
    if rank == 0 {
        let mut shared = fs::OpenOptions::new().append(true).create(true).open("shared").unwrap();
        writeln!(shared, "{turn} {sum}").unwrap();
    }
    // What is there decides what is done: a file that is left over would be counted.
    let count = fs::read_dir(format!("turns/{rank}")).unwrap().count();
    let mut counts = fs::OpenOptions::new().append(true).create(true).open(format!("counts.{rank}")).unwrap();
    writeln!(counts, "{turn} {count}").unwrap();
}

#[ckpt::main]
fn session() -> u64 {
    #[ckpt(reexecute)]
    let world = world();
    let rank = world.rank();
    let (mut own, mut all) = (rank as u64 + 1, 0_u64);
    for turn in 0..TURNS {
        ckpt::checkpoint!();
        own = own * 3 + turn;
        world.all_reduce_into(&own, &mut all, mpi::collective::SystemOperation::sum());
        write(rank, turn, all);
    }
    all
}

fn main() {
    let all = session();
    println!("{all}");
    // SAFETY: nothing of the program is under way.
    unsafe { mpi::ffi::MPI_Finalize() };
}
"#;

/// All files of a folder but the store, with what is in them.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).expect("a folder").flatten() {
            let path = entry.path();
            let name = path.strip_prefix(folder).expect("below it").display().to_string();
            match path.is_dir() {
                true if name == "store" => {}
                true => {
                    found.insert(name, "a folder".to_owned());
                    folders.push(path);
                }
                false => drop(found.insert(name, fs::read_to_string(path).expect("a text"))),
            }
        }
    }
    found
}

/// The journals of two ranks: parts with more in them than their head of 104 bytes.
fn ranks_with_records(store: &Path) -> (bool, bool) {
    let runs = store.join("runs");
    let run = fs::read_dir(&runs)
        .expect("runs")
        .flatten()
        .next()
        .expect("one run");
    let begun = fs::read_dir(&runs).expect("runs").count();
    assert_eq!(begun, 1, "what was kept before the run was known is the run's");
    let parts = fs::read_dir(run.path()).expect("what it keeps").flatten();
    let names = parts
        .filter(|part| part.metadata().is_ok_and(|found| found.len() > 104))
        .filter_map(|part| part.file_name().into_string().ok())
        .filter(|name| name.ends_with(".log") && name.starts_with("files."));
    let names: Vec<String> = names.collect();
    let second = |name: &String| name.starts_with("files.r1.");
    (names.iter().any(|name| !second(name)), names.iter().any(second))
}

fn program() -> PathBuf {
    let package = tempfile::tempdir().expect("a folder");
    fs::create_dir(package.path().join("src")).expect("a folder for the program");
    fs::write(package.path().join("src/main.rs"), PROGRAM).expect("it is written");
    make_package(package.path(), "files");
    build(package.path(), "files", &target().join("ckpt/build"), &[])
}

/// The program, built, and how two ranks of it are run in a folder.
fn ranks() -> impl Fn(&Path, &[(&str, &str)]) -> Ended {
    let program = program();
    move |folder, variables| {
        let store = [("CKPT_DIR", "store"), ("CKPT_KEEP", "3")];
        two_ranks("mpirun", &program, folder, &[&store[..], variables].concat())
    }
}

/// The first rank tells that the program was made of other sources, and with `strict` all end before they go on.
#[test]
fn a_build_of_other_sources_is_told_of_once() {
    let package = tempfile::tempdir().expect("a folder");
    fs::create_dir(package.path().join("src")).expect("a folder for the program");
    make_package(package.path(), "sources");
    let build_of = |text: &str| {
        fs::write(package.path().join("src/main.rs"), text).expect("it is written");
        build(package.path(), "sources", &target().join("ckpt/build"), &[])
    };
    let job = tempfile::tempdir().expect("a folder");
    let run = |program: &Path, variables: &[(&str, &str)]| {
        let store = [("CKPT_DIR", "store"), ("CKPT_EVERY", "2")];
        two_ranks("mpirun", program, job.path(), &[&store[..], variables].concat())
    };
    let ended = run(&build_of(PROGRAM), &[("CKPT_FAULT", "visit:5@1")]);
    assert_ne!(ended.code, Some(0), "{}", ended.stderr);
    let other = build_of(&PROGRAM.replace("{turn} {count}", "{turn}  {count}"));
    let restart = ("CKPT_RESTART", "latest");
    let refused = run(&other, &[restart, ("CKPT_STRICT", "1")]);
    assert_ne!(refused.code, Some(0), "{}", refused.stderr);
    assert!(
        refused.stderr.contains("error[E2360]: checkpoint 000002"),
        "{}",
        refused.stderr
    );
    let told = run(&other, &[restart]);
    assert_eq!(told.code, Some(0), "{}", told.stderr);
    assert_eq!(told.stderr.matches("W2071").count(), 1, "{}", told.stderr);
    assert!(told.stderr.contains("src/main.rs"), "{}", told.stderr);
}

/// A run that was killed goes on after another one of the same program was started beside it, before that had a checkpoint or
/// after: what it has done to the files is undone on every rank.
#[test]
fn files_of_ranks_come_back_although_another_run_was_started_since() {
    let run = ranks();
    let whole = tempfile::tempdir().expect("a folder");
    let ended = run(whole.path(), &[("CKPT_EVERY", "100")]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let expected = files(whole.path());
    for (every, killed) in [("100", "visit:2@1"), ("3", "visit:5@0")] {
        let job = tempfile::tempdir().expect("a folder");
        let ended = run(job.path(), &[("CKPT_EVERY", "2"), ("CKPT_FAULT", "visit:5@1")]);
        assert_ne!(ended.code, Some(0), "{}", ended.stderr);
        let runs = fs::read_dir(job.path().join("store/runs")).expect("runs");
        let names = runs
            .flatten()
            .filter_map(|run| run.file_name().into_string().ok());
        let names: Vec<String> = names.collect();
        let [first] = &names[..] else { panic!("{names:?}") };
        let ended = run(job.path(), &[("CKPT_EVERY", every), ("CKPT_FAULT", killed)]);
        assert_ne!(ended.code, Some(0), "{}", ended.stderr);
        let again = [
            ("CKPT_EVERY", "2"),
            ("CKPT_RESTART", "latest"),
            ("CKPT_RUN", first),
        ];
        let ended = run(job.path(), &again);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert_eq!(files(job.path()), expected, "{every}, {killed}: {}", ended.stderr);
        // Nothing waits any more: what is left of it goes.
        let ended = run(job.path(), &[("CKPT_EVERY", "100")]);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    }
}

/// As batch scripts start it: ranks that die before all have their first checkpoint are started again from the beginning, and find
/// the files as they were.
#[test]
#[ignore = "with SWEEPS=all"]
fn a_job_whose_first_line_is_not_whole_is_begun_again() {
    let program = program();
    let run = |folder: &Path, every: &str, fault: &str| {
        let mut command = std::process::Command::new(tool());
        command.current_dir(folder).env("CKPT_FAULT", fault);
        command.args([
            "ckpt", "run", "--resume", "-n", "2", "--dir", "store", "--every", every, "--exe",
        ]);
        finished(
            command
                .arg(&program)
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .expect("it starts"),
        )
    };
    let whole = tempfile::tempdir().expect("a folder");
    assert_eq!(run(whole.path(), "100", "").code, Some(0));
    let expected = files(whole.path());
    for (every, fault) in [
        ("100", "visit:5@1"),
        ("3", "commit-step:1@1"),
        ("3", "commit-step:1@0"),
    ] {
        let job = tempfile::tempdir().expect("a folder");
        let killed = run(job.path(), every, fault);
        assert_ne!(killed.code, Some(0), "{}", killed.stderr);
        // What it has left is noted, and what somebody else writes told from it.
        let (name, text) = files(job.path()).pop_first().expect("it has files");
        let path = job.path().join(&name);
        let seen = fs::metadata(&path).and_then(|found| found.modified());
        fs::write(&path, "somebody's own").expect("it is written");
        let refused = run(job.path(), "100", "");
        assert_eq!(refused.code, Some(77), "{fault}: {}", refused.stderr);
        assert!(refused.stderr.contains("E3201"), "{fault}: {}", refused.stderr);
        fs::write(&path, &text).expect("it is written");
        let file = fs::File::options().write(true).open(&path).expect("it is there");
        file.set_modified(seen.expect("it was there"))
            .expect("it has a time");
        let refused = run(job.path(), "100", "");
        assert!(
            refused.stderr.contains("was changed at"),
            "{fault}: {}",
            refused.stderr
        );
        // A change of the rights explains that of the time.
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("it is the user's");
        let begun = run(job.path(), "100", "");
        assert_eq!(begun.code, Some(0), "{fault}: {}", begun.stderr);
        assert!(
            begun
                .stderr
                .contains("is undone: it has no checkpoint to go on from"),
            "{fault}: {}",
            begun.stderr
        );
        assert_eq!(files(job.path()), expected, "{fault}: {}", begun.stderr);
    }
}

/// The same names stand for other files then: none is taken for that of another rank.
#[test]
#[ignore = "with SWEEPS=all"]
fn files_of_ranks_that_are_started_in_folders_of_their_own_come_back() {
    let package = tempfile::tempdir().expect("a folder");
    fs::create_dir(package.path().join("src")).expect("a folder for the program");
    let text = PROGRAM.replace("turns/{rank}", "turns").replace(".{rank}", "");
    fs::write(package.path().join("src/main.rs"), text).expect("it is written");
    make_package(package.path(), "apart");
    let program = build(package.path(), "apart", &target().join("ckpt/build"), &[]);
    let each = package.path().join("each");
    let script = format!(
        "#!/bin/sh\nmkdir -p $OMPI_COMM_WORLD_RANK && cd $OMPI_COMM_WORLD_RANK && exec {}\n",
        program.display()
    );
    fs::write(&each, script).expect("it is written");
    fs::set_permissions(&each, fs::Permissions::from_mode(0o755)).expect("it can be executed");
    let run = |folder: &Path, variables: &[(&str, &str)]| {
        let store = folder.join("store").display().to_string();
        let store = [("CKPT_DIR", store.as_str()), ("CKPT_EVERY", "2")];
        two_ranks("mpirun", &each, folder, &[&store[..], variables].concat())
    };
    let whole = tempfile::tempdir().expect("a folder");
    let ended = run(whole.path(), &[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for killed in ["visit:5@1", "visit:6@0"] {
        let job = tempfile::tempdir().expect("a folder");
        let ended = run(job.path(), &[("CKPT_FAULT", killed)]);
        assert_ne!(ended.code, Some(0), "{}", ended.stderr);
        let ended = run(job.path(), &[("CKPT_RESTART", "latest")]);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert_eq!(
            files(job.path()),
            files(whole.path()),
            "{killed}: {}",
            ended.stderr
        );
    }
}

#[test]
#[ignore = "with SWEEPS=all"]
fn files_of_ranks_come_back_where_nobody_tells_them_their_run() {
    let run = ranks();
    let whole = tempfile::tempdir().expect("a folder");
    let ended = run(whole.path(), &[("CKPT_EVERY", "100")]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let expected = files(whole.path());
    assert!(
        expected.contains_key("turns/1/7") && !expected.contains_key("turns/1/4"),
        "{expected:?}"
    );
    for (every, killed) in [("2", "visit:5@1"), ("1", "visit:7@0"), ("3", "visit:6@1")] {
        let job = tempfile::tempdir().expect("a folder");
        let ended = run(job.path(), &[("CKPT_EVERY", every), ("CKPT_FAULT", killed)]);
        assert_ne!(ended.code, Some(0), "{}", ended.stderr);
        assert_eq!(ranks_with_records(&job.path().join("store")), (true, true));
        // Once more on its way, before it is through.
        let again = [
            ("CKPT_EVERY", every),
            ("CKPT_RESTART", "latest"),
            ("CKPT_FAULT", "visit:8@0"),
        ];
        let ended = run(job.path(), &again);
        assert_ne!(ended.code, Some(0), "{}", ended.stderr);
        let ended = run(job.path(), &[("CKPT_EVERY", every), ("CKPT_RESTART", "latest")]);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert_eq!(
            files(job.path()),
            expected,
            "every {every}, killed at {killed}: {}",
            ended.stderr
        );
    }
}
