//! Whether any function of the C library that may change files has been forgotten.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

crate::tests! {
    every_function_of_the_c_library_is_seen_or_need_not_be,
}

/// Names that a program or library gives to others, by what `nm` says; not those that only parts of the C library may use.
fn given_by(file: &Path) -> BTreeSet<String> {
    let listed = Command::new("nm")
        .args(["-D", "--defined-only", "--"])
        .arg(file)
        .output()
        .unwrap();
    assert!(listed.status.success(), "{listed:?}");
    let lines = String::from_utf8(listed.stdout).unwrap();
    let name = |line: &str| {
        let mut words = line.split_ascii_whitespace().skip(1);
        let (kind, name) = (words.next()?, words.next()?);
        let is_version = kind == "A";
        let (name, version) = name.split_once('@').unwrap_or((name, ""));
        (!is_version && !version.ends_with("GLIBC_PRIVATE")).then(|| name.to_owned())
    };
    lines.lines().filter_map(name).collect()
}

/// The C library of this process.
fn library() -> PathBuf {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let path = |line: &str| Some(PathBuf::from(&line[line.find('/')?..]));
    let is_library = |path: &PathBuf| path.file_name().is_some_and(|name| name == "libc.so.6");
    maps.lines().filter_map(path).find(is_library).unwrap()
}

/// Why nothing is missed where these are called, by their names.
fn need_not_be() -> BTreeMap<&'static str, &'static str> {
    let mut reasons = BTreeMap::new();
    let blocks = include_str!("functions.txt").split("\n\n").skip(1);
    for block in blocks {
        let (reason, names) = block.split_once('\n').unwrap();
        for name in names.split_ascii_whitespace() {
            let before = reasons.insert(name, reason.trim_start_matches("# "));
            assert_eq!(before, None, "{name} stands there twice");
        }
    }
    reasons
}

fn every_function_of_the_c_library_is_seen_or_need_not_be() {
    let seen = given_by(&std::env::current_exe().unwrap());
    let reasons = need_not_be();
    // The numbers of these are others on other machines, or nobody has looked at what they do there.
    let only_here = ["ioctl", "dprintf", "__dprintf_chk"];
    let is_open = |name: &&String| {
        let name = name.as_str();
        !seen.contains(name)
            && !reasons.contains_key(name)
            && (cfg!(target_arch = "x86_64") || !only_here.contains(&name))
    };
    let library = given_by(&library());
    assert!(library.contains("open64") && seen.contains("open64"));
    let open: Vec<&String> = library.iter().filter(is_open).collect();
    assert!(
        open.is_empty(),
        "functions of the C library of which nobody has said whether they change files: {open:?}; have those that do seen in \
         `interposition.rs`, and name the others in `functions.txt` with the reason"
    );
    // Variables of the C library, and the clock that the programs of these tests set.
    let of_the_tests = ["stdin", "stdout", "stderr", "environ", "clock_gettime"];
    let is_seen = |name: &&&str| seen.contains(**name) && !of_the_tests.contains(*name);
    let both: Vec<&&str> = reasons.keys().filter(is_seen).collect();
    assert!(
        both.is_empty(),
        "seen, and named in `functions.txt` as well: {both:?}"
    );
}
