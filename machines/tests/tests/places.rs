//! Another place: a store that was packed, carried and unpacked, another folder, another user, paths that have moved.

use std::fs;
use std::path::Path;

use machines_tests::{Ended, Journey, TURNS, Version, cargo_ckpt, machine, machines, program, uninterrupted};

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn expect(ended: &Ended, code: i32, said: &str) {
    let all = format!("{}{}", ended.stdout, ended.stderr);
    assert!(
        ended.code == Some(code) && all.contains(said),
        "expected {code} and `{said}`: {ended:?}"
    );
}

/// By the documented commands: run, pack, unpack and restart, on one machine after the other and back on the first.
#[test]
fn a_pack_is_carried_from_machine_to_machine() {
    let machines = machines();
    let mut place = Journey::default();
    let exe = |machine| program(machine, Version::This).display().to_string();
    let started = format!(
        "run --every 4 --exe {} --dir traveller.ckpt.d -- {TURNS} trace.txt log.txt",
        exe(machines[0])
    );
    let ended = cargo_ckpt(place.folder(), words(&started), &[("CKPT_FAULT", "visit:6")]);
    expect(&ended, 137, "");
    let route = machines.iter().skip(1).chain([&machines[0]]);
    for (hop, &machine) in (1..).zip(route) {
        let packed = cargo_ckpt(place.folder(), words("pack --with trace.txt --with log.txt"), &[]);
        expect(&packed, 0, "into traveller.ckpt.tar");
        let next = Journey::default();
        let pack = next.folder().join("mail.tar");
        fs::copy(place.folder().join("traveller.ckpt.tar"), &pack).unwrap();
        expect(
            &cargo_ckpt(next.folder(), words("unpack mail.tar"), &[]),
            0,
            "unpacked trace.txt",
        );
        place = next;
        let fault = format!("visit:{}", 6 + 6 * hop);
        let is_last = hop == machines.len();
        let fault = if is_last { "" } else { &fault };
        // Nobody that the first machine knew.
        let variables = [
            ("CKPT_FAULT", fault),
            ("USER", "somebody"),
            ("HOME", "/nonexistent"),
            ("TZ", "Asia/Tokyo"),
            ("LC_ALL", "C"),
        ];
        let ended = cargo_ckpt(
            place.folder(),
            words(&format!("restart --exe {}", exe(machine))),
            &variables,
        );
        match is_last {
            true => assert_eq!(place.outcome(&ended), uninterrupted(machines[0], &[])),
            false => expect(&ended, 137, "restarting from the latest checkpoint of run "),
        }
    }
}

/// The program's files were below a folder that has another name now; its arguments, its open file, its closed file
/// and a path in a variable name the old one.
#[test]
fn absolute_paths_are_mapped() {
    let here = Journey::default();
    let (old, new) = (here.folder().join("old"), here.folder().join("new"));
    fs::create_dir_all(old.join("data")).unwrap();
    let exe = program(machine("s390x"), Version::This).display().to_string();
    let there = Journey::default();
    let data = old.join("data");
    let run = format!(
        "run --every 4 --exe {exe} --dir traveller.ckpt.d -- {TURNS} {0}/trace.txt {0}/log.txt",
        data.display()
    );
    expect(
        &cargo_ckpt(there.folder(), words(&run), &[("CKPT_FAULT", "visit:17")]),
        137,
        "",
    );
    fs::rename(&old, &new).unwrap();

    let exe = program(machine("x86-64"), Version::This).display().to_string();
    let unmapped = cargo_ckpt(there.folder(), words(&format!("restart --exe {exe}")), &[]);
    expect(&unmapped, 77, "cannot be opened");
    let map = format!("restart --exe {exe} --map {}={}", old.display(), new.display());
    let again = cargo_ckpt(there.folder(), words(&map), &[("CKPT_FAULT", "visit:22")]);
    expect(&again, 137, "");
    // What has been written since knows the new paths, and so does the journal of the files.
    assert!(!old.exists());
    let ended = cargo_ckpt(there.folder(), words(&map), &[]);
    let expected = uninterrupted(machine("x86-64"), &[]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let read = |name: &str| fs::read_to_string(new.join("data").join(name)).unwrap();
    assert_eq!([ended.stdout, read("trace.txt"), read("log.txt")], expected);
    assert!(!old.exists());
}

/// A pack with any byte changed, or cut off anywhere, is refused, and leaves nothing behind.
#[test]
fn a_damaged_pack_is_refused() {
    let journey = Journey::default();
    journey.begin(machine("x86-64"), 10);
    expect(
        &cargo_ckpt(journey.folder(), words("pack all -o all.tar"), &[]),
        0,
        "000001, 000002",
    );
    let whole = fs::read(journey.folder().join("all.tar")).unwrap();
    let there = Journey::default();
    let refused = |bytes: &[u8]| {
        fs::write(there.folder().join("bad.tar"), bytes).unwrap();
        let ended = cargo_ckpt(there.folder(), words("unpack bad.tar"), &[]);
        assert!(
            ended.code == Some(78) && ended.stderr.contains("bad.tar"),
            "{ended:?}"
        );
        let left: Vec<_> = fs::read_dir(there.folder()).unwrap().flatten().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    };
    let place = |text: &[u8]| {
        whole
            .windows(text.len())
            .position(|window| window == text)
            .unwrap()
    };
    // In the manifest, in the values of a checkpoint, in a note.
    for at in [
        place(b"ckpt-pack"),
        place(b"\"bytes\""),
        place(b"\x89HDF") + 30_000,
        place(b"\"state\""),
    ] {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        refused(&bytes);
    }
    for end in [0, 100, 5000, whole.len() / 2] {
        refused(&whole[..end]);
    }
    fs::write(there.folder().join("bad.tar"), &whole).unwrap();
    expect(
        &cargo_ckpt(there.folder(), words("unpack bad.tar"), &[]),
        0,
        "000001, 000002",
    );
    expect(
        &cargo_ckpt(there.folder(), words("unpack bad.tar"), &[]),
        78,
        "is there already",
    );
    same_store(&journey.store(), &there.store());
}

fn same_files(a: &Path, b: &Path) {
    for entry in fs::read_dir(b).unwrap().flatten() {
        let (path, other) = (entry.path(), a.join(entry.file_name()));
        match path.is_dir() {
            true => same_files(&other, &path),
            false => assert_eq!(fs::read(&other).unwrap(), fs::read(&path).unwrap(), "{path:?}"),
        }
    }
}

fn same_store(a: &Path, b: &Path) {
    same_files(a, b);
    assert!(!b.join("lock").exists() && b.join("runs").is_dir());
}

/// Times in files are those of UTC, wherever they are written.
#[test]
fn times_are_utc_whatever_the_zone_of_the_machine() {
    let journey = Journey::default();
    let exe = program(machine("s390x"), Version::This).display().to_string();
    let run = format!("run --every 4 --exe {exe} -- {TURNS} trace.txt log.txt --dir");
    let run = run.replace(" --dir", "");
    let before = seconds(&date(&["-u"]));
    let ended = cargo_ckpt(
        journey.folder(),
        words(&run),
        &[("TZ", "Pacific/Kiritimati"), ("CKPT_DIR", "traveller.ckpt.d")],
    );
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let listed = cargo_ckpt(journey.folder(), words("list --format json"), &[]);
    let written = listed
        .stdout
        .split('"')
        .find(|text| text.ends_with('Z') && text.contains('T'))
        .expect("a time");
    let (written, after) = (seconds(written), seconds(&date(&["-u"])));
    assert!(
        before <= written && written <= after,
        "{before} {written} {after}"
    );
}

fn date(words: &[&str]) -> String {
    let output = std::process::Command::new("date")
        .args(words)
        .arg("+%Y-%m-%dT%H:%M:%SZ")
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// As text these are in order.
fn seconds(time: &str) -> String {
    time[..19].to_owned()
}
