//! The book's page on Python: its blocks run in order, on a store of the example `heat`, and the program goes on from what they
//! have changed. Needs h5py, xarray and matplotlib, which `.ci/install.sh` installs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use machines_tests::{Ended, cargo_ckpt};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The Python of the page, in two parts: up to the change, and all of it.
fn blocks() -> (Vec<String>, usize) {
    let page = fs::read_to_string(root().join("docs/src/python.md")).unwrap();
    let parts: Vec<&str> = page.split("```python\n").skip(1).collect();
    let blocks: Vec<String> = parts
        .iter()
        .map(|part| part.split("```").next().unwrap().to_owned())
        .collect();
    let change = blocks.iter().position(|block| block.contains("r+")).unwrap();
    (blocks, change)
}

fn ckpt(folder: &Path, line: &str, variables: &[(&str, &str)]) -> Ended {
    cargo_ckpt(folder, line.split_whitespace().map(str::to_owned), variables)
}

#[test]
fn the_page_on_python_does_what_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let heat = root().join("examples/heat");
    let deck = fs::read_to_string(heat.join("deck.toml")).unwrap();
    let line = |line: &str| match line.split(" = ").next() {
        Some("refine") => "refine = 1".to_owned(),
        Some("end") => "end = 1.0".to_owned(),
        Some("report_every") => "report_every = 20".to_owned(),
        _ => line.to_owned(),
    };
    let deck: Vec<String> = deck.lines().map(line).collect();
    fs::write(here.join("deck.toml"), deck.join("\n")).unwrap();
    fs::copy(heat.join("terrain.png"), here.join("terrain.png")).unwrap();
    let manifest = heat.join("Cargo.toml");
    let run = format!(
        "run --quiet --manifest-path {} --every 20 --keep 10 -- deck.toml",
        manifest.display()
    );
    let whole = ckpt(here, &run, &[]);
    assert_eq!(whole.code, Some(0), "{whole:?}");
    let exported = ckpt(here, "export 2 --all --to state.npz", &[]);
    assert_eq!(exported.code, Some(0), "{exported:?}");

    let (blocks, change) = blocks();
    fs::write(here.join("page.py"), blocks[..change].concat() + &blocks[change]).unwrap();
    let output = Command::new("python3")
        .current_dir(here)
        .arg("page.py")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(said.starts_with("heat::Plate 0.4875"), "{said}");
    for part in ["(256, 256)", "262.667998", "(65536,) heat.png", "\n20 ", "\n80 "] {
        assert!(said.contains(part), "`{part}` is not in:\n{said}");
    }
    assert!(here.join("plate.png").is_file());

    let damaged = ckpt(here, "verify 2", &[]);
    assert!(
        damaged.code == Some(1) && damaged.stdout.contains("/frames/1/self/now: block 0"),
        "{damaged:?}"
    );
    let sealed = ckpt(here, "seal 2", &[]);
    assert_eq!(sealed.code, Some(0), "{sealed:?}");
    assert!(
        sealed.stdout.starts_with("000002: changed: /frames/1/self/now\n"),
        "{sealed:?}"
    );
    let verified = ckpt(here, "verify", &[]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
    let again = ckpt(here, "seal 2", &[]);
    assert!(again.stdout.contains("nothing has changed"), "{again:?}");

    let restarted = ckpt(here, "restart 2 --quiet", &[]);
    assert_eq!(restarted.code, Some(0), "{restarted:?}");
    let last = |text: &str| {
        text.lines()
            .rfind(|line| !line.starts_with('#'))
            .map(str::to_owned)
    };
    let (before, after) = (last(&whole.stdout), last(&restarted.stdout));
    assert!(after.is_some() && before != after, "{before:?}, {after:?}");
}

/// Has Python run this.
fn python(folder: &Path, program: &str) {
    let status = Command::new("python3")
        .current_dir(folder)
        .args(["-c", program])
        .status();
    assert!(status.unwrap().success());
}

/// What was packed, left out as zeros or taken from another file finds a place of its own.
#[test]
fn packed_and_shared_blocks_are_sealed_as_well() {
    sealed("deflate", "3");
    // HDF5 lacks these filters, h5py has them from `hdf5plugin`.
    sealed("lz4", "1");
    sealed("zstd", "1");
}

fn sealed(compression: &str, full_every: &str) {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let heat = root().join("examples/heat");
    for name in ["deck.toml", "terrain.png"] {
        fs::copy(heat.join(name), here.join(name)).unwrap();
    }
    let deck = fs::read_to_string(here.join("deck.toml")).unwrap();
    fs::write(
        here.join("deck.toml"),
        deck.replace("refine = 4", "refine = 1")
            .replace("end = 30.0", "end = 1.0"),
    )
    .unwrap();
    let variables = [
        ("CKPT_COMPRESSION", compression),
        ("CKPT_FULL_EVERY", full_every),
        ("CKPT_KEEP", "9"),
    ];
    let manifest = heat.join("Cargo.toml");
    let run = format!(
        "run --quiet --manifest-path {} --every 20 -- deck.toml",
        manifest.display()
    );
    assert_eq!(ckpt(here, &run, &variables).code, Some(0));
    let change = "import h5py, hdf5plugin\nwith h5py.File('heat.ckpt.d/000003.r0.h5', 'r+') as f:\n    f['frames/1/self/now'][1000:3000] = 0.0\n    f['frames/1/self/time'][()] = 7.5\n";
    python(here, change);
    let sealed = ckpt(here, "seal 3", &[]);
    assert!(
        sealed.stdout.contains("/frames/1/self/time") && sealed.stdout.contains("/frames/1/self/now"),
        "{sealed:?}"
    );
    assert_eq!(ckpt(here, "verify 3", &[]).code, Some(0));
    assert!(ckpt(here, "inspect 3 self.time", &[]).stdout.contains("7.5"));
    let shape = "import h5py\nwith h5py.File('heat.ckpt.d/000003.r0.h5', 'r+') as f:\n    del f['frames/1/self/time']\n    f['frames/1/self/time'] = [1.0, 2.0]\n";
    python(here, shape);
    let refused = ckpt(here, "seal 3", &[]);
    assert!(
        refused.code == Some(78) && refused.stderr.contains("types and shapes may not"),
        "{refused:?}"
    );
}
