//! `cargo ckpt pack` and `unpack` of programs of several processes, whose ranks need not build on the same checkpoints.

mod noted;

use std::fs;
use std::path::Path;
use std::process::Command;

use assert_cmd::assert::OutputAssertExt;
use ckpt::plan::{FunctionPlan, SiteKind, SitePlan};
use ckpt::store::{Keep, Meta, Mode, RunId, Store, Storing, folder_of_run};
use noted::noted;

static PLAN: FunctionPlan = FunctionPlan {
    function: "main",
    module: "ring",
    file: "src/main.rs",
    line: 1,
    layout: 1,
    source: 2,
    attribute: "ckpt::main",
    sites: &[SitePlan {
        line: 2,
        column: 5,
        kind: SiteKind::Checkpoint,
        variables: &[],
    }],
};

/// A process of a rank that takes so many checkpoints, of which the first holds everything.
fn process(folder: &Path, rank: u32, checkpoints: u64) {
    process_of(folder, rank, checkpoints, None);
}

/// The same, of a run.
fn process_of(folder: &Path, rank: u32, checkpoints: u64, run: Option<RunId>) {
    let mut store = Store::open_as(folder, Mode::ReadWrite, rank).unwrap();
    store.set_keep(Keep::All);
    store.set_storing(Storing {
        compression: None,
        full_every: 100,
    });
    let mut cells: Vec<u64> = (0..200_000).collect();
    for round in 0..checkpoints {
        cells[50_000 * round as usize] += 1;
        let mut builder = store.snapshot();
        let frame = builder.frame(&PLAN, 0);
        builder.value(frame, "cells", 3, None, &cells);
        let meta = Meta {
            run,
            ..Meta::default()
        };
        store.commit(&builder.finish().unwrap(), &meta).unwrap();
    }
}

fn cargo_ckpt(folder: &Path, arguments: &str) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-ckpt"));
    command
        .env_remove("CKPT_DIR")
        .env_remove("CKPT_BLESS")
        .current_dir(folder);
    let assert = noted(command.args(arguments.split_whitespace()).assert());
    let output = assert.get_output();
    let said = [&output.stdout[..], &output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8(said).unwrap())
}

fn files(store: &Path) -> Vec<String> {
    let entries = fs::read_dir(store).unwrap().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.ends_with(".h5"))
        .collect();
    names.sort();
    names
}

/// Rank 0 has one chain of four; rank 1 has begun anew with the third, and has removed what it needed before.
#[test]
fn each_rank_has_what_its_own_checkpoints_build_on() {
    let here = tempfile::tempdir().unwrap();
    let store = here.path().join("ring.ckpt.d");
    process(&store, 0, 4);
    process(&store, 1, 2);
    process(&store, 1, 2);
    for old in ["000001.r1.h5", "000002.r1.h5"] {
        fs::remove_file(store.join(old)).unwrap();
    }
    let needed = [
        "000001.r0.h5",
        "000002.r0.h5",
        "000003.r0.h5",
        "000003.r1.h5",
        "000004.r0.h5",
        "000004.r1.h5",
    ];
    for which in ["latest", "4", "all"] {
        let there = tempfile::tempdir().unwrap();
        let pack = there.path().join("ring.tar");
        let (code, said) = cargo_ckpt(here.path(), &format!("pack {which} -o {}", pack.display()));
        assert_eq!(code, 0, "{said}");
        let (code, said) = cargo_ckpt(there.path(), "unpack ring.tar");
        assert_eq!(code, 0, "{said}");
        let unpacked = there.path().join("ring.ckpt.d");
        assert_eq!(files(&unpacked), needed, "{which}");
        for rank in [0, 1] {
            let store = Store::open_as(&unpacked, Mode::ReadOnly, rank).unwrap();
            let newest = store.list().unwrap().last().unwrap().id;
            store.verify(newest).unwrap();
        }
    }
    // Where the rest of a file lies that holds only what had changed, those who look are told.
    let (_, said) = cargo_ckpt(here.path(), "inspect 4");
    assert!(
        said.contains("000004.r0.h5, holds what had changed; the rest lies in 000001, 000002, 000003\n"),
        "{said}"
    );
    let (_, said) = cargo_ckpt(here.path(), "diff 3 4 --rank 0");
    assert!(
        said.contains("holds what had changed; the rest lies in 000001, 000002"),
        "{said}"
    );
    // A line that rank 1 does not have is no state of the program.
    let (code, said) = cargo_ckpt(here.path(), "pack 2 -o two.tar");
    assert!(
        code == 76 && said.contains("there is no checkpoint 000002 of rank 1"),
        "{code}: {said}"
    );
}

/// Without them the files of the program could not be brought back where it is unpacked.
#[test]
fn what_the_journal_of_files_keeps_goes_with_the_run() {
    let run = "0123456789abcdef0123456789abcdef";
    let here = tempfile::tempdir().unwrap();
    let folder = here.path().join("ring.ckpt.d");
    let mut store = Store::open(&folder, Mode::ReadWrite).unwrap();
    let mut builder = store.snapshot();
    let frame = builder.frame(&PLAN, 0);
    builder.value(frame, "round", 3, None, &1_u64);
    let meta = Meta {
        run: run.parse().ok(),
        ..Meta::default()
    };
    store.commit(&builder.finish().unwrap(), &meta).unwrap();
    drop(store);
    let kept = Path::new("ring.ckpt.d/runs").join(run);
    fs::create_dir_all(here.path().join(&kept)).unwrap();
    let goes = [
        "events.log",
        "files.000001.log",
        "files.000001.0001.was",
        "files.r1.000001.log",
        "files.r1.000001.0001.was",
    ];
    let job = serde_json::json!({
        "run": run, "program": "ring", "version": "1.0.0", "pid": 1, "host": "elsewhere", "started": "", "updated": "",
        "state": "stopped", "visits": 1, "restarted_from": null, "last_checkpoint": 1, "failed_checkpoints": 0,
        "command": ["ring"], "reason": null,
    });
    fs::write(here.path().join(&kept).join("job.json"), job.to_string()).unwrap();
    for name in goes.iter().chain(&["files.000001.0002.tmp"]) {
        fs::write(here.path().join(&kept).join(name), name).unwrap();
    }
    let (code, said) = cargo_ckpt(here.path(), "pack -o ring.tar");
    assert_eq!(code, 0, "{said}");
    let there = tempfile::tempdir().unwrap();
    fs::rename(here.path().join("ring.tar"), there.path().join("ring.tar")).unwrap();
    let (code, said) = cargo_ckpt(there.path(), "unpack ring.tar");
    assert_eq!(code, 0, "{said}");
    let kept = there.path().join(kept);
    for name in goes {
        assert_eq!(fs::read_to_string(kept.join(name)).unwrap(), name);
    }
    assert_eq!(fs::read_dir(kept).unwrap().count(), goes.len() + 1);
}

/// One run of two ranks and a later one of three: none of them is damaged, and each can be packed and counts.
#[test]
fn runs_of_other_numbers_of_ranks_are_whole_beside_each_other() {
    const OTHER: &str = "fedcba9876543210fedcba9876543210";
    let here = tempfile::tempdir().unwrap();
    let folder = here.path().join("ring.ckpt.d");
    for (run, ranks) in [(OTHER, 3), (RUN, 2)] {
        for rank in 0..ranks {
            process_of(&folder, rank, 2, run.parse().ok());
        }
        let kept = folder.join("runs").join(run);
        fs::create_dir_all(&kept).unwrap();
        let job = serde_json::json!({
            "run": run, "order": ranks, "program": "ring", "version": "1.0.0", "pid": 1, "host": "elsewhere", "started": "",
            "updated": "", "state": "stopped", "visits": 1, "restarted_from": null, "last_checkpoint": 1, "failed_checkpoints": 0,
            "command": ["ring"], "reason": null, "ranks": ranks,
        });
        fs::write(kept.join("job.json"), job.to_string()).unwrap();
    }
    let (code, said) = cargo_ckpt(here.path(), "verify");
    assert_eq!(code, 0, "{said}");
    assert_eq!(said.matches("whole").count(), 2 * 2 + 2 * 3, "{said}");
    for which in [format!("--run {RUN}"), "2".into(), "4".into()] {
        let to = format!("{}.tar", which.len());
        let (code, said) = cargo_ckpt(here.path(), &format!("pack {which} -o {to}"));
        assert_eq!(code, 0, "{which}: {said}");
        fs::remove_file(here.path().join(to)).unwrap();
    }
    let (code, said) = cargo_ckpt(here.path(), "prune --keep 1 --dry-run");
    assert_eq!(code, 0, "{said}");
}

/// The newest line is damaged in what one rank builds on: the newest that is whole on all is packed.
#[test]
fn the_newest_line_that_is_whole_on_all_ranks_is_packed() {
    let here = tempfile::tempdir().unwrap();
    let store = here.path().join("ring.ckpt.d");
    process(&store, 0, 3);
    process(&store, 1, 3);
    let newest = store.join("000003.r1.h5");
    let mut bytes = fs::read(&newest).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(newest, bytes).unwrap();
    let (code, said) = cargo_ckpt(here.path(), "pack -o ring.tar");
    assert_eq!(code, 0, "{said}");
    let packed = said
        .lines()
        .find(|line| line.contains("packed"))
        .unwrap_or_default();
    assert!(
        packed.contains("000001, 000002") && !packed.contains("000003"),
        "{said}"
    );
    assert!(
        said.contains("warning[W2008]: checkpoint 000003 cannot be used and is passed over: "),
        "{said}"
    );
}

/// What the newest says of its run cannot be read: an older one is packed, and not in silence.
#[test]
fn a_checkpoint_of_which_nobody_knows_whose_it_is_is_named() {
    let here = tempfile::tempdir().unwrap();
    let store = here.path().join("ring.ckpt.d");
    let run = RunId::new().unwrap();
    process_of(&store, 0, 3, Some(run));
    fs::create_dir_all(folder_of_run(&store, run)).unwrap();
    fs::write(store.join("000003.r0.h5"), "no checkpoint").unwrap();
    let (code, said) = cargo_ckpt(here.path(), "pack -o ring.tar");
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("packed checkpoints 000001, 000002 into"), "{said}");
    assert!(
        said.contains(
            "warning[W3050]: checkpoint 000003 is damaged, so that it is not known which run it is of"
        ),
        "{said}"
    );
}

/// The first holds everything, the second one block, the third all others: retention removes the first, and keeps the
/// second for its block.
#[test]
fn what_is_kept_for_its_blocks_is_shown_as_that() {
    let here = tempfile::tempdir().unwrap();
    let folder = here.path().join("ring.ckpt.d");
    let mut store = Store::open(&folder, Mode::ReadWrite).unwrap();
    store.set_keep(Keep::Last(1));
    store.set_storing(Storing {
        compression: None,
        full_every: 100,
    });
    let mut cells: Vec<u64> = (1..=200_000).collect();
    for round in 0..3 {
        match round {
            0 => {}
            1 => cells[0] += 1,
            _ => cells[32_768..].iter_mut().for_each(|cell| *cell += 1),
        }
        let mut builder = store.snapshot();
        let frame = builder.frame(&PLAN, 0);
        builder.value(frame, "cells", 3, None, &cells);
        store
            .commit(&builder.finish().unwrap(), &Meta::default())
            .unwrap();
    }
    drop(store);
    assert_eq!(files(&folder), ["000002.r0.h5", "000003.r0.h5"]);
    let (code, said) = cargo_ckpt(here.path(), "verify");
    assert_eq!(code, 0, "{said}");
    assert!(
        said.contains("blocks for 000003") && !said.contains("DAMAGED"),
        "{said}"
    );
    let (code, said) = cargo_ckpt(here.path(), "list");
    assert!(code == 0 && said.contains("blocks for 000003"), "{said}");
    let (_, said) = cargo_ckpt(here.path(), "verify --format json");
    let found: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!(found["whole"], true);
    let restorable = |at: usize| found["checkpoints"][at]["restorable"].clone();
    assert_eq!((restorable(0), restorable(1)), (false.into(), true.into()));
    let (_, said) = cargo_ckpt(here.path(), "list --format json");
    let found: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!(found["checkpoints"][0]["blocks_for"], serde_json::json!([3]));
    // What is damaged in it is damage all the same.
    let kept = folder.join("000002.r0.h5");
    let mut bytes = fs::read(&kept).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(kept, bytes).unwrap();
    let (code, said) = cargo_ckpt(here.path(), "verify");
    assert!(code == 1 && said.contains("2 damaged"), "{code}: {said}");
}

const RUN: &str = "0123456789abcdef0123456789abcdef";

/// A store with a run that can be continued, and a checkpoint for each text: what is noted of the journal of files.
fn of_a_run(here: &Path, epochs: &[Option<&str>]) -> std::path::PathBuf {
    let folder = here.join("ring.ckpt.d");
    let mut store = Store::open(&folder, Mode::ReadWrite).unwrap();
    store.set_keep(Keep::All);
    for epoch in epochs {
        let mut builder = store.snapshot();
        let frame = builder.frame(&PLAN, 0);
        builder.value(frame, "round", 3, None, &1_u64);
        let note = epoch.map(|epoch| ("files_epoch".to_owned(), epoch.to_owned()));
        let meta = Meta {
            run: RUN.parse().ok(),
            notes: note.into_iter().collect(),
            ..Meta::default()
        };
        store.commit(&builder.finish().unwrap(), &meta).unwrap();
    }
    let kept = folder.join("runs").join(RUN);
    fs::create_dir_all(&kept).unwrap();
    let job = serde_json::json!({
        "run": RUN, "program": "ring", "version": "1.0.0", "pid": 1, "host": "elsewhere", "started": "", "updated": "",
        "state": "stopped", "visits": 1, "restarted_from": null, "last_checkpoint": 1, "failed_checkpoints": 0,
        "command": ["ring"], "reason": null,
    });
    fs::write(kept.join("job.json"), job.to_string()).unwrap();
    folder
}

fn cut(file: &Path) {
    fs::File::options()
        .write(true)
        .open(file)
        .unwrap()
        .set_len(10)
        .unwrap();
}

/// The file of the second is whole, and what the program's files were then is not there any more.
#[test]
fn all_commands_ask_the_journal_of_files_what_can_be_restored() {
    let here = tempfile::tempdir().unwrap();
    let folder = of_a_run(here.path(), &[None, Some("4")]);
    let lacks = "000002 cannot be restored: the journal of files lacks the part";
    let (code, said) = cargo_ckpt(here.path(), "list");
    assert!(
        code == 0 && said.contains(lacks) && said.contains("RESTORABLE"),
        "{said}"
    );
    let (_, said) = cargo_ckpt(here.path(), "list --format json");
    let found: serde_json::Value = serde_json::from_str(&said).unwrap();
    let restorable = |at: usize| found["checkpoints"][at]["restorable"].clone();
    assert_eq!((restorable(0), restorable(1)), (true.into(), false.into()));
    let (code, said) = cargo_ckpt(here.path(), "verify");
    assert!(
        code == 1 && said.contains(lacks) && said.contains("NOT RESTORABLE"),
        "{said}"
    );
    let (code, said) = cargo_ckpt(here.path(), "report");
    assert!(code == 0 && said.contains(lacks), "{said}");
    let (code, said) = cargo_ckpt(here.path(), "prune --keep 1");
    assert!(code == 0 && said.contains("nothing to remove; 2 left"), "{said}");
    let (code, said) = cargo_ckpt(here.path(), "pack -o one.tar");
    assert!(code == 0 && said.contains("packed checkpoint 000001"), "{said}");
    assert!(said.contains("warning[W2008]: checkpoint 000002"), "{said}");
    let (code, said) = cargo_ckpt(here.path(), "pack 2 -o two.tar");
    assert!(
        code == 0 && said.contains("warning[W3051]: checkpoint 000002 is packed"),
        "{said}"
    );
    assert_eq!(files(&folder).len(), 2);
}

/// Whose a damaged one was is not known: it is named, and goes when every run has enough that are newer.
#[test]
fn what_is_damaged_is_named_and_goes_when_there_is_enough() {
    let here = tempfile::tempdir().unwrap();
    let folder = of_a_run(here.path(), &[None; 4]);
    cut(&folder.join("000001.r0.h5"));
    cut(&folder.join("000004.r0.h5"));
    let (code, said) = cargo_ckpt(here.path(), "pack -o ring.tar");
    assert!(code == 0 && said.contains("packed checkpoint 000003"), "{said}");
    assert!(
        said.contains("warning[W3050]: checkpoint 000004 is damaged"),
        "{said}"
    );
    let (code, said) = cargo_ckpt(here.path(), "prune --keep 2");
    assert!(
        code == 0 && said.contains("of which damaged: 000001; 3 left"),
        "{said}"
    );
    assert_eq!(files(&folder), ["000002.r0.h5", "000003.r0.h5", "000004.r0.h5"]);
}

/// The newest cannot be opened: an older one is not taken in its place.
#[test]
fn what_cannot_be_looked_at_is_not_taken_for_what_is_not_there() {
    let here = tempfile::tempdir().unwrap();
    let folder = of_a_run(here.path(), &[None; 2]);
    if std::os::unix::fs::chown(folder.join("000002.r0.h5"), Some(12_345), None).is_err() {
        println!("skipped: only the superuser can give a file away");
        return;
    }
    let (code, said) = cargo_ckpt(here.path(), "pack");
    assert!(code == 78 && said.contains("E3200"), "{said}");
    for command in ["inspect latest", "restart", "pack --run 0123"] {
        let (code, said) = cargo_ckpt(here.path(), command);
        assert!(code == 78 && said.contains("000002"), "{command}: {said}");
    }
}

/// As a restart takes it: a completed run has nothing to be carried to another machine for, though it is newer.
#[test]
fn a_run_that_has_not_completed_is_packed_before_one_that_has() {
    const COMPLETED: &str = "fedcba9876543210fedcba9876543210";
    let here = tempfile::tempdir().unwrap();
    let folder = of_a_run(here.path(), &[None]);
    process_of(&folder, 0, 1, COMPLETED.parse().ok());
    let kept = folder.join("runs");
    let job = fs::read_to_string(kept.join(RUN).join("job.json")).unwrap();
    let mut job: serde_json::Value = serde_json::from_str(&job).unwrap();
    for (name, value) in [("run", COMPLETED), ("state", "completed")] {
        job[name] = value.into();
    }
    job["order"] = 9.into();
    fs::create_dir_all(kept.join(COMPLETED)).unwrap();
    fs::write(kept.join(COMPLETED).join("job.json"), job.to_string()).unwrap();
    let of_one = format!("all --run {RUN}");
    for (nth, (which, id)) in [("", 1), (&*of_one, 1), ("2", 2)].into_iter().enumerate() {
        let (code, said) = cargo_ckpt(here.path(), &format!("pack {which} -o to{nth}.tar"));
        assert_eq!(code, 0, "{said}");
        assert!(
            said.contains(&format!("packed checkpoint {id:06} ")),
            "{which}: {said}"
        );
    }
    // The store as a whole.
    let (code, said) = cargo_ckpt(here.path(), "pack all -o all.tar");
    assert!(
        code == 0 && said.contains("packed checkpoints "),
        "{code}: {said}"
    );
    let before = files(&folder);
    let (code, said) = cargo_ckpt(here.path(), "unpack all.tar --dir again");
    assert_eq!(code, 0, "{said}");
    let again = here.path().join("again");
    assert_eq!(files(&again), before);
    for run in [RUN, COMPLETED] {
        let job = format!("runs/{run}/job.json");
        assert_eq!(
            fs::read(again.join(&job)).unwrap(),
            fs::read(folder.join(&job)).unwrap()
        );
    }
    // What is of nobody any more is left, and that is said.
    fs::write(folder.join("000002.r0.h5"), "cut off").unwrap();
    let (code, said) = cargo_ckpt(here.path(), "pack all -o rest.tar");
    assert!(
        code == 0 && said.contains("packed checkpoint 000001 "),
        "{code}: {said}"
    );
    assert!(
        said.contains("warning[W2008]") && said.contains("000002"),
        "{said}"
    );
}

/// The record of the run is gone, its journal is not.
#[test]
fn the_journal_goes_along_where_the_record_of_the_run_is_gone() {
    let here = tempfile::tempdir().unwrap();
    let folder = of_a_run(here.path(), &[None]);
    for record in [Some("{"), None] {
        let kept = folder.join("runs").join(RUN);
        fs::write(kept.join("files.000001.log"), "part").unwrap();
        match record {
            Some(text) => fs::write(kept.join("job.json"), text).unwrap(),
            None => fs::remove_file(kept.join("job.json")).unwrap(),
        }
        let to = format!("{}.tar", record.is_some());
        let (code, said) = cargo_ckpt(here.path(), &format!("pack -o {to}"));
        assert_eq!(code, 0, "{said}");
        let packed = fs::read(here.path().join(to)).unwrap();
        let name = format!("store/runs/{RUN}/files.000001.log");
        assert!(
            packed.windows(name.len()).any(|bytes| bytes == name.as_bytes()),
            "{said}"
        );
    }
}
