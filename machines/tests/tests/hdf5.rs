//! Files that two versions of the HDF5 library have written, on machines of both byte orders, are read by a third and
//! by h5py, and are the same. Programs here are linked to Debian's 1.10, those for other machines to 2.x.

use std::path::{Path, PathBuf};
use std::process::Command;

use machines_tests::{Journey, Version, cargo_ckpt, machine, machines, program};

/// The newest checkpoint of a journey that ended at the same visit on every machine.
fn checkpoints() -> Vec<(&'static str, Journey, PathBuf)> {
    let write = |machine: machines_tests::Machine| {
        let journey = Journey::default();
        journey.begin(machine, 17);
        let file = journey.store().join("000004.r0.h5");
        (machine.name, journey, file)
    };
    machines().into_iter().map(write).collect()
}

fn output(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Every dataset with its type, shape and the digest of its values, and, unless only values are asked for, with its
/// checksum and attributes, and the blocks that it is made of; numbers must be little-endian. The plugins are for what is compressed with lz4 and zstd.
const READ_ALL: &str = r#"
import sys, hashlib, h5py, hdf5plugin
assert h5py.version.hdf5_version_tuple[0] >= 2, h5py.version.hdf5_version
passing = {"time", "command", "host", "run", "files_epoch", "place"}
values_only = sys.argv[2] == "values"
def text(attributes):
    if values_only:
        return ""
    return {k: v for k, v in sorted(attributes.items()) if k not in passing}
def order(kind):
    if isinstance(kind, (h5py.h5t.TypeIntegerID, h5py.h5t.TypeFloatID)) and kind.get_size() > 1:
        assert kind.get_order() == h5py.h5t.ORDER_LE
    if isinstance(kind, h5py.h5t.TypeCompoundID):
        for k in range(kind.get_nmembers()):
            order(kind.get_member_type(k))
    if isinstance(kind, h5py.h5t.TypeEnumID):
        order(kind.get_super())
def show(name, item):
    if values_only and name.split("/")[0] == "blocks":
        return
    if isinstance(item, h5py.Dataset):
        kind = item.id.get_type()
        order(kind)
        value = item[()]
        raw = value if isinstance(value, bytes) else b"" if isinstance(value, h5py.Empty) else value.tobytes()
        print(name, item.dtype, item.shape, hashlib.sha256(raw).hexdigest(), text(item.attrs))
    else:
        print(name, text(item.attrs))
with h5py.File(sys.argv[1], "r") as file:
    print(text(file.attrs))
    file.visititems(show)
"#;

fn by_h5py(file: &Path, what: &str) -> String {
    output(
        Command::new("python3")
            .arg("-c")
            .arg(READ_ALL)
            .arg(file)
            .arg(what),
    )
}

/// As Debian's h5dump shows it, without what differs from one run to the next: the file's name, the time, the command.
fn by_h5dump(file: &Path) -> String {
    let text = output(Command::new("h5dump").arg(file));
    let mut kept = String::new();
    let mut skips = false;
    for line in text.lines().skip(1) {
        match line.trim_start().starts_with("ATTRIBUTE ") {
            true => {
                let passing = [
                    "\"time\"",
                    "\"command\"",
                    "\"run\"",
                    "\"files_epoch\"",
                    "\"place\"",
                ];
                skips = passing.iter().any(|name| line.contains(name));
            }
            false if line.trim_start().starts_with("GROUP") => skips = false,
            false => {}
        }
        if !skips {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

#[test]
fn equal_states_are_equal_files_whatever_wrote_them() {
    let all = checkpoints();
    let [(_, _, first), others @ ..] = all.as_slice() else {
        panic!("there is a machine");
    };
    let (h5dump, h5py) = (by_h5dump(first), by_h5py(first, "all"));
    let (datasets, checksums) = (h5py.lines().count(), h5py.matches("xxh3-128:").count());
    assert!(datasets > 100 && checksums > 80, "{datasets} {checksums}");
    for (name, _, file) in others {
        similar(name, &by_h5dump(file), &h5dump);
        similar(name, &by_h5py(file, "all"), &h5py);
    }
}

/// Compressed and in several files that build on each other, values are what they are without that: h5py with HDF5 2.x
/// reads what 1.10 has written here and 2.x elsewhere, and h5dump of 1.10 does too.
#[test]
fn both_versions_of_hdf5_read_compressed_and_incremental_files_of_both() {
    let plugins =
        output(Command::new("python3").args(["-c", "import hdf5plugin; print(hdf5plugin.PLUGIN_PATH)"]));
    let write = |machine: machines_tests::Machine, storing: &[(&'static str, &'static str)]| {
        let mut journey = Journey::default();
        journey.storing.extend(storing);
        journey.begin(machine, 17);
        let file = journey.store().join("000004.r0.h5");
        (journey, file)
    };
    let atlas = |file: &Path| {
        let mut h5dump = Command::new("h5dump");
        h5dump.args(["-y", "-d", "/frames/1/luggage/atlas"]).arg(file);
        let text = output(h5dump.env("HDF5_PLUGIN_PATH", plugins.trim()));
        let (_, data) = text.split_once("DATA {").expect("it has values");
        let (data, _) = data.split_once("ATTRIBUTE").unwrap_or((data, ""));
        data.to_owned()
    };
    let (_plain, file) = write(machine("x86-64"), &[]);
    let (expected, expected_atlas) = (by_h5py(&file, "values"), atlas(&file));
    let plain_bytes = std::fs::metadata(&file).expect("it is there").len();
    for compression in ["deflate", "lz4", "zstd"] {
        for machine in machines() {
            let name = format!("{compression} on {}", machine.name);
            let storing = [("CKPT_FULL_EVERY", "4"), ("CKPT_COMPRESSION", compression)];
            let (_journey, file) = write(machine, &storing);
            assert!(
                std::fs::metadata(&file).expect("it is there").len() < plain_bytes,
                "{name}"
            );
            similar(&name, &by_h5py(&file, "values"), &expected);
            assert!(
                atlas(&file) == expected_atlas,
                "{name}: h5dump shows something else"
            );
        }
    }
}

/// The same lines; the first that differs is shown.
fn similar(name: &str, found: &str, expected: &str) {
    for (found, expected) in found.lines().zip(expected.lines()) {
        assert_eq!(found, expected, "{name}");
    }
    assert_eq!(found.lines().count(), expected.lines().count(), "{name}");
}

/// What `cargo ckpt` here says about files from there.
#[test]
fn commands_read_what_other_machines_have_written() {
    let all = checkpoints();
    for (name, journey, _) in &all {
        let verified = cargo_ckpt(journey.folder(), ["verify"], &[]);
        assert_eq!(verified.code, Some(0), "{name}: {verified:?}");
        let shown = cargo_ckpt(journey.folder(), ["inspect", "4", "0/luggage"], &[]);
        assert!(
            shown.code == Some(0) && shown.stdout.contains("atlas"),
            "{name}: {shown:?}"
        );
    }
    let [(_, first, _), others @ ..] = all.as_slice() else {
        panic!("there is a machine");
    };
    for (name, journey, _) in others {
        let other = journey.store().join("000004.r0.h5");
        let words = ["diff".as_ref(), "4".as_ref(), other.as_os_str()];
        let differ = cargo_ckpt(first.folder(), words, &[]);
        assert_eq!(differ.code, Some(0), "{name}: {differ:?}");
    }
}

/// The two are really two.
#[test]
fn programs_are_linked_to_different_versions_of_hdf5() {
    let built_in = std::fs::read(program_file("s390x")).expect("the program");
    let version = b"HDF5 library version: 2.";
    assert!(built_in.windows(version.len()).any(|window| window == version));
    let tool = output(Command::new("h5dump").arg("--version"));
    assert!(tool.contains("Version 1."), "{tool}");
}

fn program_file(name: &str) -> PathBuf {
    program(machine(name), Version::This).with_file_name("traveller")
}
