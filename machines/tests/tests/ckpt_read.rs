//! The Python package `ckpt-read`, on checkpoints that a program has made in every way in which values are stored. Needs what
//! `.ci/install.sh` installs for Python.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use machines_tests::cargo_ckpt;

/// How the stores are made, by the names of their folders.
const WAYS: [(&str, &[(&str, &str)]); 5] = [
    ("whole", &[("CKPT_FULL_EVERY", "1")]),
    ("incremental", &[("CKPT_FULL_EVERY", "9")]),
    (
        "deflate",
        &[("CKPT_FULL_EVERY", "9"), ("CKPT_COMPRESSION", "deflate")],
    ),
    ("lz4", &[("CKPT_FULL_EVERY", "9"), ("CKPT_COMPRESSION", "lz4")]),
    ("zstd", &[("CKPT_FULL_EVERY", "9"), ("CKPT_COMPRESSION", "zstd")]),
];

fn package() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python")
}

#[test]
fn the_package_reads_writes_and_finds_damage() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let (stores, written) = (here.join("stores"), here.join("written"));
    fs::create_dir_all(&written).unwrap();
    fs::create_dir_all(here.join("zoo/src")).unwrap();
    for file in ["Cargo.toml", "src/main.rs"] {
        fs::copy(
            package().join("tests/zoo").join(file),
            here.join("zoo").join(file),
        )
        .unwrap();
    }
    for (name, variables) in WAYS {
        let line =
            format!("run --quiet --manifest-path zoo/Cargo.toml --every 1 --keep all --dir stores/{name}");
        let ended = cargo_ckpt(here, line.split_whitespace().map(str::to_owned), variables);
        assert_eq!(ended.code, Some(0), "{name}: {ended:?}");
    }
    let tests = Command::new("python3")
        .args(["-m", "unittest", "discover", "-s", "tests"])
        .current_dir(package())
        .env("PYTHONPATH", package())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("CKPT_READ_STORES", &stores)
        .env("CKPT_READ_WRITTEN", &written)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&tests.stderr);
    assert!(tests.status.success(), "{said}");
    // What Python has sealed is whole for ckpt as well.
    for name in ["whole", "deflate", "lz4", "zstd"] {
        let line = ["verify", "--dir"].map(str::to_owned);
        let store = written.join(name).display().to_string();
        let verified = cargo_ckpt(here, line.into_iter().chain([store]), &[]);
        assert_eq!(verified.code, Some(0), "{name}: {verified:?}");
    }
}
