//! Stores and packs that somebody has made in order to do harm: nothing that they say is executed, or written elsewhere.

mod noted;

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use assert_cmd::assert::OutputAssertExt;
use ckpt::plan::{FunctionPlan, SiteKind, SitePlan};
use ckpt::store::{Keep, Meta, Mode, Store};
use noted::noted;
use serde_json::json;

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

/// The run that all of it is of.
const RUN: &str = "0123456789abcdef0123456789abcdef";

/// Where a pack has what the run keeps.
macro_rules! kept {
    ($name:literal) => {
        concat!("store/runs/0123456789abcdef0123456789abcdef/", $name)
    };
}

/// A store with two checkpoints of a program that was started with this command line.
fn store(folder: &Path, command: &[&str]) {
    let mut store = Store::open(folder, Mode::ReadWrite).unwrap();
    store.set_keep(Keep::All);
    for round in 0..2_u64 {
        let mut builder = store.snapshot();
        let frame = builder.frame(&PLAN, 0);
        builder.value(frame, "round", 3, None, &round);
        let meta = Meta {
            program: "ring".into(),
            run: RUN.parse().ok(),
            notes: vec![("command".into(), json!(command).to_string())],
            ..Meta::default()
        };
        store.commit(&builder.finish().unwrap(), &meta).unwrap();
    }
    let kept = folder.join("runs").join(RUN);
    fs::create_dir_all(&kept).unwrap();
    fs::write(kept.join("job.json"), job(command)).unwrap();
}

fn job(command: &[&str]) -> String {
    json!({
        "run": RUN, "program": "ring", "version": "1.0.0", "pid": 1, "host": "elsewhere", "started": "2026-01-01T00:00:00Z",
        "updated": "2026-01-01T00:00:01Z", "state": "stopped", "visits": 2, "restarted_from": null,
        "last_checkpoint": 2, "failed_checkpoints": 0, "command": command, "reason": null,
    })
    .to_string()
}

/// Runs the command in the folder, which is also that of what this machine remembers; what it says is noted.
fn cargo_ckpt(folder: &Path, arguments: &[&str]) -> (i32, String) {
    let assert = noted(command(folder, arguments).assert());
    of(assert.get_output())
}

/// The same for one of many, whose words are not noted.
fn one_of_many(folder: &Path, arguments: &[&str]) -> (i32, String) {
    of(&command(folder, arguments).output().unwrap())
}

fn of(output: &Output) -> (i32, String) {
    let said = [&output.stdout[..], &output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8(said).unwrap())
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("timeout");
    command
        .args(["60", env!("CARGO_BIN_EXE_cargo-ckpt")])
        .env_remove("CKPT_DIR")
        .env_remove("CKPT_BLESS")
        .env("XDG_STATE_HOME", folder.join("state"))
        .current_dir(folder)
        .args(arguments);
    command
}

/// A program that leaves a file behind if it is ever started.
fn trap(folder: &Path) -> String {
    let trap = folder.join("trap.sh");
    fs::write(
        &trap,
        format!("#!/bin/sh\ntouch '{}'\n", folder.join("sprung").display()),
    )
    .unwrap();
    fs::set_permissions(&trap, fs::Permissions::from_mode(0o755)).unwrap();
    trap.display().to_string()
}

/// A pack with these files, whatever they are, and a manifest that names them.
fn pack(to: &Path, store: &str, files: &[(&str, &[u8])]) {
    let sum = |bytes: &[u8]| format!("{:032x}", twox_hash::XxHash3_128::oneshot(bytes));
    let entries: Vec<_> = files
        .iter()
        .map(|(path, bytes)| json!({ "path": path, "bytes": bytes.len(), "xxh3_128": sum(bytes) }))
        .collect();
    let manifest = json!({
        "format": "ckpt-pack", "version": 2, "store": store, "program": "ring", "host": "elsewhere", "files": entries,
    });
    let mut archive = tar::Builder::new(fs::File::create(to).unwrap());
    let mut add = |path: &str, bytes: &[u8]| {
        let mut header = tar::Header::new_old();
        // What `set_path` would refuse.
        let name = &mut header.as_old_mut().name;
        name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_size(bytes.len() as u64);
        header.set_mode(0o6777);
        header.set_entry_type(tar::EntryType::Regular);
        header.set_cksum();
        archive.append(&header, bytes).unwrap();
    };
    add("manifest.json", manifest.to_string().as_bytes());
    for (path, bytes) in files {
        add(path, bytes);
    }
    archive.finish().unwrap();
}

fn checkpoint() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    store(folder.path(), &["ring"]);
    fs::read(folder.path().join("000001.r0.h5")).unwrap()
}

/// Files of a pack: names, and what is in them.
type Files<'a> = Vec<(&'a str, Vec<u8>)>;

#[test]
fn a_record_of_a_store_from_elsewhere_starts_nothing() {
    let here = tempfile::tempdir().unwrap();
    let trap = trap(here.path());
    let checkpoint = checkpoint();
    let records = [
        json!({ "run": RUN, "cargo": { "exe": trap }, "session": {}, "executable": trap }),
        json!({ "run": RUN, "cargo": { "manifest_path": "/evil/Cargo.toml", "bin": "x", "features": ["--config=/evil"] },
            "session": {}, "executable": trap }),
        json!({ "run": RUN, "cargo": {}, "session": {}, "ranks": { "ranks": 1, "launcher": format!("{trap} {{cmd}}") },
            "executable": trap }),
    ];
    let mut cases: Vec<(Files<'_>, &[&str], &str)> = vec![
        // What the job and the checkpoint say was started.
        (
            vec![(kept!("job.json"), job(&[&trap]).into_bytes())],
            &[],
            "E3180",
        ),
        (vec![], &["1"], "E3180"),
    ];
    let named = ["--exe", &*trap];
    for (record, code) in records.iter().zip(["E3180", "E3180", "E3181"]) {
        let files = vec![
            (kept!("job.json"), job(&["ring"]).into_bytes()),
            (kept!("launch.json"), record.to_string().into_bytes()),
        ];
        let options: &[&str] = if code == "E3181" { &named } else { &[] };
        cases.push((files, options, code));
    }
    for (mut files, options, code) in cases {
        files.push(("store/000001.r0.h5", checkpoint.clone()));
        let files: Vec<_> = files.iter().map(|(path, bytes)| (*path, &bytes[..])).collect();
        pack(&here.path().join("ring.tar"), "ring.ckpt.d", &files);
        let (exit, said) = cargo_ckpt(here.path(), &["unpack", "ring.tar"]);
        assert_eq!(exit, 0, "{said}");
        let (exit, said) = cargo_ckpt(here.path(), &[&["restart"], options].concat());
        assert!(said.contains(code) && exit == 78, "{exit}: {said}");
        assert!(!here.path().join("sprung").exists(), "it was started: {said}");
        fs::remove_dir_all(here.path().join("ring.ckpt.d")).unwrap();
    }
}

#[test]
fn what_the_user_has_said_here_is_taken_as_said() {
    let here = tempfile::tempdir().unwrap();
    let trap = trap(here.path());
    store(&here.path().join("ring.ckpt.d"), &["elsewhere/ring", "x"]);
    let unknown = "with how the program is built (`--bin NAME --release`";
    let list = || {
        let said = cargo_ckpt(here.path(), &["list"]).1;
        said.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(list().contains(unknown), "{}", list());
    let (exit, said) = cargo_ckpt(here.path(), &["restart"]);
    assert!(exit == 78 && said.contains("elsewhere/ring"), "{exit}: {said}");
    let (exit, said) = cargo_ckpt(here.path(), &["restart", "--exe", &trap]);
    assert_eq!(exit, 0, "{said}");
    fs::remove_file(here.path().join("sprung")).unwrap();
    assert!(!list().contains(unknown), "{}", list());
    let (exit, said) = cargo_ckpt(here.path(), &["restart"]);
    assert_eq!(exit, 0, "{said}");
    assert!(here.path().join("sprung").exists());
    // A pack that is unpacked in its place has not been started here.
    let (exit, said) = cargo_ckpt(here.path(), &["pack", "all"]);
    assert_eq!(exit, 0, "{said}");
    fs::remove_dir_all(here.path().join("ring.ckpt.d")).unwrap();
    let (exit, said) = cargo_ckpt(here.path(), &["unpack", "ring.ckpt.tar"]);
    assert_eq!(exit, 0, "{said}");
    let (exit, said) = cargo_ckpt(here.path(), &["restart"]);
    assert!(exit == 78 && said.contains("E3180"), "{exit}: {said}");
}

#[test]
fn nothing_is_unpacked_that_a_tool_reads_as_configuration() {
    let checkpoint = checkpoint();
    for (path, may_be_named) in [
        (".cargo/config.toml", false),
        (".bashrc", false),
        ("a/.git/hooks/pre-commit", false),
        ("-rf", false),
        ("out/-x.csv", false),
        ("a\u{1b}]0;x.csv", false),
        ("a\u{202e}vsc.csv", false),
        ("line\nend.csv", false),
        ("Cargo.toml", true),
        ("build.rs", true),
        ("src/main.rs", true),
        ("rust-toolchain", true),
        ("rust-toolchain.toml", true),
        ("ckpt.toml", true),
        ("Makefile", true),
        ("GNUmakefile", true),
        ("sub/CMakeLists.txt", true),
        ("requirements.txt", true),
        ("run.sh", true),
        ("conftest.py", true),
    ] {
        let here = tempfile::tempdir().unwrap();
        let entry = format!("files/{path}");
        let files = [("store/000001.r0.h5", &checkpoint[..]), (&entry, b"data")];
        pack(&here.path().join("ring.tar"), "ring.ckpt.d", &files);
        let (exit, said) = one_of_many(here.path(), &["unpack", "ring.tar"]);
        assert_eq!(exit, 78, "{path}: {said}");
        assert!(!said.contains('\u{1b}') && !said.contains('\u{202e}'), "{said:?}");
        let there: Vec<_> = fs::read_dir(here.path()).unwrap().flatten().collect();
        assert_eq!(there.len(), 1, "{path}: {there:?}");
        let (exit, said) = one_of_many(here.path(), &["unpack", "ring.tar", &format!("--with={path}")]);
        assert_eq!(exit == 0, may_be_named, "{path}: {said}");
        assert_eq!(here.path().join(path).exists(), may_be_named, "{path}");
    }
}

#[test]
fn a_file_that_may_be_settings_is_the_users_to_name() {
    let here = tempfile::tempdir().unwrap();
    let files = [
        ("store/000001.r0.h5", &checkpoint()[..]),
        ("files/deck.toml", b"steps = 3"),
    ];
    pack(&here.path().join("ring.tar"), "ring.ckpt.d", &files);
    let (exit, said) = cargo_ckpt(here.path(), &["unpack", "ring.tar"]);
    assert!(exit == 78 && said.contains("E3184"), "{exit}: {said}");
    let (exit, said) = cargo_ckpt(here.path(), &["unpack", "ring.tar", "--with", "deck.toml"]);
    assert!(exit == 0 && said.contains("unpacked deck.toml"), "{exit}: {said}");
}

#[test]
fn a_pack_stays_in_its_folder() {
    let checkpoint = checkpoint();
    let here = tempfile::tempdir().unwrap();
    let there = tempfile::tempdir().unwrap();
    symlink(there.path(), here.path().join("out")).unwrap();
    let unpacked = |store: &str, files: &[(&str, &[u8])]| {
        pack(&here.path().join("ring.tar"), store, files);
        cargo_ckpt(here.path(), &["unpack", "ring.tar"])
    };
    let (exit, said) = unpacked(
        "ring.ckpt.d",
        &[("store/000001.r0.h5", &checkpoint), ("files/out/x.csv", b"x")],
    );
    assert!(exit == 78 && said.contains("E3182"), "{exit}: {said}");
    assert_eq!(fs::read_dir(there.path()).unwrap().count(), 0);
    for name in [".cargo", "-ckpt.d", "target", "a\nb.ckpt.d", ".ckpt.d"] {
        pack(
            &here.path().join("ring.tar"),
            name,
            &[("store/000001.r0.h5", &checkpoint)],
        );
        let (exit, said) = one_of_many(here.path(), &["unpack", "ring.tar"]);
        assert_eq!(exit, 78, "{name}: {said}");
        assert!(!here.path().join(name).exists());
    }
    let (exit, said) = unpacked(
        "ring.ckpt.d",
        &[
            ("store/000001.r0.h5", &checkpoint),
            ("files/ring.ckpt.d/x.csv", b"x"),
        ],
    );
    assert!(exit == 78 && said.contains("E3053"), "{exit}: {said}");
    assert!(!here.path().join("ring.ckpt.d").exists());
    // With any rights in the pack, the files have the user's.
    let (exit, said) = unpacked(
        "ring.ckpt.d",
        &[("store/000001.r0.h5", &checkpoint), ("files/a/x.csv", b"x")],
    );
    assert_eq!(exit, 0, "{said}");
    for name in ["ring.ckpt.d/000001.r0.h5", "a/x.csv"] {
        let mode = fs::metadata(here.path().join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o7133, 0, "{name}: {mode:o}");
    }
}

#[test]
fn a_pack_is_no_larger_than_it_is() {
    let here = tempfile::tempdir().unwrap();
    let to = here.path().join("ring.tar");
    let manifest = json!({
        "format": "ckpt-pack", "version": 2, "store": "ring.ckpt.d", "program": "ring", "host": "elsewhere",
        "files": [{ "path": "store/000001.r0.h5", "bytes": u64::MAX, "xxh3_128": "" },
            { "path": "store/000002.r0.h5", "bytes": u64::MAX, "xxh3_128": "" }],
    })
    .to_string();
    let mut archive = tar::Builder::new(fs::File::create(&to).unwrap());
    let mut header = tar::Header::new_gnu();
    header.set_size(manifest.len() as u64);
    archive
        .append_data(&mut header, "manifest.json", manifest.as_bytes())
        .unwrap();
    archive.finish().unwrap();
    let (exit, said) = cargo_ckpt(here.path(), &["unpack", "ring.tar"]);
    assert!(exit == 78 && said.contains("E3053"), "{exit}: {said}");
    assert_eq!(fs::read_dir(here.path()).unwrap().count(), 1);
}

/// A file without bytes may be longer than any disk.
#[test]
fn a_pack_is_no_larger_than_the_disk() {
    let here = tempfile::tempdir().unwrap();
    let to = here.path().join("ring.tar");
    let manifest = json!({
        "format": "ckpt-pack", "version": 2, "store": "ring.ckpt.d", "program": "ring", "host": "elsewhere",
        "files": [{ "path": "store/000001.r0.h5", "bytes": 1_u64 << 42, "xxh3_128": "" }],
    })
    .to_string();
    let mut archive = tar::Builder::new(fs::File::create(&to).unwrap());
    let mut header = tar::Header::new_gnu();
    header.set_size(manifest.len() as u64);
    archive
        .append_data(&mut header, "manifest.json", manifest.as_bytes())
        .unwrap();
    archive.into_inner().unwrap().set_len(1 << 43).unwrap();
    let (exit, said) = cargo_ckpt(here.path(), &["unpack", "ring.tar"]);
    assert!(exit == 78 && said.contains("E3183"), "{exit}: {said}");
    assert_eq!(fs::read_dir(here.path()).unwrap().count(), 1);
}

const EVIL: &str = "e\u{1b}]0;x\u{7}\u{1b}[8m\u{9b}31m\u{202e}l\rv\ni\u{7f}";

static EVIL_PLAN: FunctionPlan = FunctionPlan {
    function: "ma\u{1b}[31min\u{202e}",
    module: "r\u{1b}[2Jing",
    file: "src/\u{1b}[8mmain.rs",
    ..PLAN
};

/// Everything in a store that is a text has in it what a terminal obeys.
#[test]
fn nothing_that_a_store_says_is_obeyed_by_a_terminal() {
    let here = tempfile::tempdir().unwrap();
    let folder = here.path().join("ring.ckpt.d");
    let mut store = Store::open(&folder, Mode::ReadWrite).unwrap();
    store.set_keep(Keep::All);
    for round in 0..2 {
        let mut builder = store.snapshot();
        let frame = builder.frame(&EVIL_PLAN, 0);
        builder.value(frame, "key\u{1b}[8m", 3, None, &format!("{EVIL}{round}"));
        builder.value(frame, "texts", 3, None, &vec![EVIL.to_owned(); 2 + round]);
        let meta = Meta {
            program: EVIL.into(),
            version: EVIL.into(),
            host: EVIL.into(),
            reason: EVIL.into(),
            run: RUN.parse().ok(),
            notes: vec![("command".into(), json!([EVIL, EVIL]).to_string())],
            ..Meta::default()
        };
        store.commit(&builder.finish().unwrap(), &meta).unwrap();
    }
    drop(store);
    let mut said_of_job: serde_json::Value = serde_json::from_str(&job(&[EVIL, EVIL])).unwrap();
    for name in ["program", "version", "host", "reason", "started", "updated"] {
        said_of_job[name] = EVIL.into();
    }
    let kept = folder.join("runs").join(RUN);
    fs::create_dir_all(&kept).unwrap();
    fs::write(kept.join("job.json"), said_of_job.to_string()).unwrap();
    let record = json!({ "run": RUN, "cargo": { "bin": EVIL, "package": EVIL, "features": [EVIL], "manifest_path": EVIL },
        "session": { "interval": EVIL }, "ranks": { "launcher": format!("'{EVIL}' {{cmd}}") }, "executable": EVIL });
    fs::write(kept.join("launch.json"), record.to_string()).unwrap();
    let event = json!({ "at": 1.0, "event": "failed", "visits": 1, "why": EVIL });
    fs::write(kept.join("events.log"), format!("{event}\n")).unwrap();
    let entry = format!("files/{}", EVIL.replace('/', ""));
    pack(
        &here.path().join("evil.tar"),
        &format!("{EVIL}.ckpt.d"),
        &[(&entry, b"x")],
    );
    let mut shown = 0;
    for arguments in [
        "list",
        "list --format json",
        "inspect 1",
        "inspect 1 --format json",
        "inspect 1 texts",
        "inspect 1 texts[0]",
        "inspect 1 nothing",
        "verify",
        "verify --format json",
        "diff 1 2",
        "diff 1 2 --format json",
        "report",
        "report --html report.html",
        "prune --keep 1 --dry-run",
        "seal 1",
        "pack",
        "pack 1 -o one.tar --format json",
        "unpack evil.tar",
        "unpack evil.tar --format json",
        "export 1 texts --to out",
        "restart",
        "restart --exe /bin/true",
        "restart --exe /bin/true --launcher nowhere -n 1",
        "crashtest --exe /bin/true",
    ] {
        let words: Vec<&str> = arguments.split(' ').collect();
        let (_, said) = one_of_many(here.path(), &words);
        let obeyed =
            |one: char| (one.is_control() && !"\n\t".contains(one)) || "\u{202e}\u{2066}".contains(one);
        assert!(!said.contains(obeyed), "{arguments}: {said:?}");
        shown += usize::from(said.contains("\\u{1b}") || said.contains("\\u001b"));
    }
    assert!(shown > 10, "{shown} show what is in the store");
    said_of_job["state"] = EVIL.into();
    fs::write(kept.join("job.json"), said_of_job.to_string()).unwrap();
    let (_, said) = one_of_many(here.path(), &["list"]);
    assert!(
        said.contains("W3001") && !said.contains(['\u{1b}', '\u{202e}']),
        "{said:?}"
    );
    if let Ok(page) = fs::read_to_string(here.path().join("report.html")) {
        assert!(!page.contains(['\u{1b}', '\u{202e}']));
    }
}

/// A record may speak of more processes than anybody could look for.
#[test]
fn the_ranks_of_a_store_come_to_an_end() {
    let here = tempfile::tempdir().unwrap();
    let folder = here.path().join("ring.ckpt.d");
    store(&folder, &["ring"]);
    let mut said_of_job: serde_json::Value = serde_json::from_str(&job(&["ring"])).unwrap();
    said_of_job["ranks"] = u32::MAX.into();
    fs::write(
        folder.join("runs").join(RUN).join("job.json"),
        said_of_job.to_string(),
    )
    .unwrap();
    let (_, said) = cargo_ckpt(here.path(), &["list"]);
    assert!(said.contains("W3001") && said.contains("000001"), "{said}");
}

/// What a command says at a terminal, which `script` makes, where somebody answers its question.
fn answered(folder: &Path, arguments: &str, question: &str, answer: &str) -> String {
    let line = format!("{} ckpt {arguments}", env!("CARGO_BIN_EXE_cargo-ckpt"));
    let mut child = Command::new("timeout")
        .args(["60", "script", "-qec", &line, "/dev/null"])
        .env_remove("CKPT_DIR")
        .env_remove("CKPT_BLESS")
        .env("XDG_STATE_HOME", folder.join("state"))
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut keyboard, mut screen) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let (mut said, mut byte) = (Vec::new(), [0]);
    while !said.ends_with(question.as_bytes()) {
        assert_eq!(
            screen.read(&mut byte).unwrap(),
            1,
            "{}",
            String::from_utf8_lossy(&said)
        );
        said.push(byte[0]);
    }
    keyboard.write_all(answer.as_bytes()).unwrap();
    screen.read_to_end(&mut said).unwrap();
    child.wait().unwrap();
    noted::compare(&said);
    String::from_utf8(said).unwrap()
}

/// Values that somebody has changed are shown, and nothing is renewed unasked.
#[test]
fn changed_values_are_not_sealed_unasked() {
    let here = tempfile::tempdir().unwrap();
    store(&here.path().join("ring.ckpt.d"), &["ring"]);
    let path = here.path().join("ring.ckpt.d/000002.r0.h5");
    let mut bytes = fs::read(&path).unwrap();
    let sum = bytes.clone();
    // `round` is 1: the only word of eight bytes that is, where it stands by itself.
    let opened = Store::open(here.path().join("ring.ckpt.d"), Mode::ReadOnly).unwrap();
    let id = opened.ids().unwrap()[1];
    let at = (512..bytes.len() - 8)
        .step_by(8)
        .find(|&at| {
            let mut changed = sum.clone();
            changed[at] ^= 6;
            fs::write(&path, &changed).unwrap();
            let damage = opened.verify(id).unwrap_err();
            damage.iter().all(|one| one.place == "/frames/0/round")
        })
        .expect("the value is somewhere");
    bytes[at] = 7;
    fs::write(&path, &bytes).unwrap();
    let (exit, said) = cargo_ckpt(here.path(), &["seal", "2"]);
    assert!(
        exit == 2
            && said.contains("E3186")
            && said.contains("[0]  7\n")
            && said.contains("cannot tell an edit from damage"),
        "{exit}: {said}"
    );
    assert_eq!(fs::read(&path).unwrap(), bytes);
    let said = answered(here.path(), "seal 2", "[y/N] ", "n\n");
    assert!(said.contains("E3187"), "{said}");
    assert_eq!(fs::read(&path).unwrap(), bytes);
    let (exit, said) = one_of_many(here.path(), &["seal", "2", "--yes"]);
    assert_eq!(exit, 0, "{said}");
    let (exit, said) = one_of_many(here.path(), &["verify"]);
    assert_eq!(exit, 0, "{said}");
}

/// Whoever owns a store decides what is in it.
#[test]
fn a_store_of_somebody_else_is_left_alone() {
    if !nix::unistd::geteuid().is_root() {
        println!("not tried: only root can give files to others");
        return;
    }
    let here = tempfile::tempdir().unwrap();
    let folder = here.path().join("ring.ckpt.d");
    store(&folder, &["ring"]);
    let give = |path: &Path, to: u32| nix::unistd::chown(path, Some(to.into()), None).unwrap();
    give(&folder, 12_345);
    let (exit, said) = cargo_ckpt(here.path(), &["list"]);
    assert!(exit == 78 && said.contains("E2351"), "{exit}: {said}");
    for command in [&["report"][..], &["restart"], &["run", "--exe", "/bin/true"]] {
        let line = [command, &["--dir", "ring.ckpt.d"]].concat();
        let (exit, said) = cargo_ckpt(here.path(), &line);
        assert!(
            exit == 78 && said.contains("E2351"),
            "{command:?}, {exit}: {said}"
        );
        assert!(
            !said.contains("W3001") && said.matches("E2351]").count() == 1,
            "{command:?}: {said}"
        );
    }
    let (exit, said) = one_of_many(here.path(), &["list", "--trust", "12345"]);
    assert_eq!(exit, 0, "{said}");
    // A file in one's own folder may be somebody's as well.
    give(&folder, 0);
    give(&folder.join("000002.r0.h5"), 12_345);
    let (exit, said) = one_of_many(here.path(), &["verify"]);
    assert!(
        exit == 1 && said.contains("it belongs to user 12345"),
        "{exit}: {said}"
    );
    let (exit, said) = one_of_many(here.path(), &["verify", "--trust", "12345"]);
    assert_eq!(exit, 0, "{said}");
}

/// Pipes nobody writes to, and links, under the names of all that a store has.
#[test]
fn what_is_no_plain_file_is_passed_over() {
    let here = tempfile::tempdir().unwrap();
    let store_folder = here.path().join("ring.ckpt.d");
    store(&store_folder, &["ring"]);
    let mine = here.path().join("mine");
    fs::write(&mine, "mine").unwrap();
    let does_nothing = here.path().join("true.sh");
    fs::write(&does_nothing, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&does_nothing, fs::Permissions::from_mode(0o755)).unwrap();
    let kept = Path::new("runs").join(RUN);
    fs::create_dir_all(store_folder.join(&kept)).unwrap();
    let of_the_run = [
        "job.json",
        "launch.json",
        "files.000002.log",
        "files.000002.0001.was",
        "events.log",
    ];
    let of_the_store = ["000003.r0.h5", "000004.h5", "metrics.prom"].map(PathBuf::from);
    for name in of_the_store
        .into_iter()
        .chain(of_the_run.map(|name| kept.join(name)))
    {
        let path = store_folder.join(name);
        let _ = fs::remove_file(&path);
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::from_bits_truncate(0o600)).unwrap();
    }
    symlink(&mine, store_folder.join("000005.r0.h5")).unwrap();
    for (arguments, exit) in [
        (&["list"][..], 0),
        (&["verify"], 0),
        (&["inspect", "latest"], 0),
        (&["diff", "1", "2"], 1),
        (&["report"], 76),
        (&["pack"], 0),
        (&["restart", "--exe", "./true.sh", "--"], 0),
        (&["restart", "3"], 76),
        (&["prune", "--keep", "1"], 0),
    ] {
        let (found, said) = one_of_many(here.path(), arguments);
        assert_eq!(found, exit, "{arguments:?}: {said}");
    }
    assert_eq!(fs::read_to_string(mine).unwrap(), "mine");
}
