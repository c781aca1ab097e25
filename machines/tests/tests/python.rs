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

/// The input of the example `heat` with other values of its keys, in a folder; the example's manifest.
fn heat(folder: &Path, changes: &[(&str, &str)]) -> PathBuf {
    let heat = root().join("examples/heat");
    fs::copy(heat.join("terrain.png"), folder.join("terrain.png")).unwrap();
    let deck = fs::read_to_string(heat.join("deck.toml")).unwrap();
    let line = |line: &str| {
        let key = line.split(" = ").next();
        let change = changes.iter().find(|(changed, _)| key == Some(changed));
        change.map_or(line.to_owned(), |(key, value)| format!("{key} = {value}"))
    };
    let deck: Vec<String> = deck.lines().map(line).collect();
    fs::write(folder.join("deck.toml"), deck.join("\n")).unwrap();
    heat.join("Cargo.toml")
}

/// The command that runs the example `heat`. All tests build it alike: they run side by side, and a build with other features
/// would replace the program under their hands.
fn run_heat(manifest: &Path, options: &str) -> String {
    run(manifest, &format!("--features zstd {options}"))
}

/// The command that runs the program of a package.
fn run(manifest: &Path, options: &str) -> String {
    format!("run --quiet --manifest-path {} {options}", manifest.display())
}

/// A package that knows nothing of ckpt; its manifest.
fn package(folder: &Path, name: &str, program: &str) -> PathBuf {
    let package = folder.join(name);
    let manifest = package.join("Cargo.toml");
    fs::create_dir_all(package.join("src")).unwrap();
    let text =
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n");
    fs::write(&manifest, text).unwrap();
    fs::write(package.join("src/main.rs"), program).unwrap();
    manifest
}

#[test]
fn the_page_on_python_does_what_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let manifest = heat(here, &[("refine", "1"), ("end", "1.0"), ("report_every", "20")]);
    let run = run_heat(&manifest, "--every 20 --keep 10 -- deck.toml");
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
    let asked = ckpt(here, "seal 2", &[]);
    assert!(
        asked.code == Some(2) && asked.stdout.contains("[0]  900"),
        "{asked:?}"
    );
    let sealed = ckpt(here, "seal 2 --yes", &[]);
    assert_eq!(sealed.code, Some(0), "{sealed:?}");
    assert!(
        sealed
            .stdout
            .starts_with("000002:\n  /frames/1/self/now: its 65536 elements do not fit their checksum"),
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
    let manifest = heat(here, &[("refine", "1"), ("end", "1.0")]);
    let variables = [
        ("CKPT_COMPRESSION", compression),
        ("CKPT_FULL_EVERY", full_every),
        ("CKPT_KEEP", "9"),
    ];
    let run = run_heat(&manifest, "--every 20 -- deck.toml");
    let ended = ckpt(here, &run, &variables);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let change = "import h5py, hdf5plugin\nwith h5py.File('heat.ckpt.d/000003.r0.h5', 'r+') as f:\n    f['frames/1/self/now'][1000:3000] = 0.0\n    f['frames/1/self/time'][()] = 7.5\n";
    python(here, change);
    let sealed = ckpt(here, "seal 3 --yes", &[]);
    assert!(
        sealed.stdout.contains("/frames/1/self/time") && sealed.stdout.contains("/frames/1/self/now"),
        "{sealed:?}"
    );
    assert_eq!(ckpt(here, "verify 3", &[]).code, Some(0));
    assert!(ckpt(here, "inspect 3 self.time", &[]).stdout.contains("7.5"));
    let shape = "import h5py\nwith h5py.File('heat.ckpt.d/000003.r0.h5', 'r+') as f:\n    del f['frames/1/self/time']\n    f['frames/1/self/time'] = [1.0, 2.0]\n";
    python(here, shape);
    let refused = ckpt(here, "seal 3 --yes", &[]);
    assert!(
        refused.code == Some(78) && refused.stderr.contains("types and shapes may not"),
        "{refused:?}"
    );
}

/// What a run is told of how it stores, by the name of the folder. The first copies everything while the program waits.
const MODES: [(&str, &[(&str, &str)]); 7] = [
    ("plain", &[("CKPT_BACKGROUND", "0")]),
    ("background", &[]),
    ("memory", &[("CKPT_MEMORY", "100KiB")]),
    ("copied", &[("CKPT_COPY_ON_WRITE", "1")]),
    ("changed", &[("CKPT_FULL_EVERY", "9")]),
    ("watched", &[("CKPT_FULL_EVERY", "9"), ("CKPT_WATCH_PAGES", "1")]),
    (
        "packed",
        &[("CKPT_COMPRESSION", "deflate"), ("CKPT_FULL_EVERY", "3")],
    ),
];

/// A run of each mode, with the checkpoints it has made; h5py finds the same values in the files of all.
fn runs_of_every_mode(here: &Path, run: impl Fn(&str) -> String) {
    for (mode, variables) in MODES {
        let ended = ckpt(here, &run(mode), variables);
        assert_eq!(ended.code, Some(0), "{mode}: {ended:?}");
        // An older Linux cannot watch pages; what cannot be done is done otherwise, with a warning.
        assert!(
            !ended.stderr.contains("warning[") || mode == "watched" && ended.stderr.contains("[W2002]"),
            "{mode}: {ended:?}"
        );
        let verified = ckpt(here, &format!("verify --dir {mode}"), &[]);
        assert_eq!(verified.code, Some(0), "{mode}: {verified:?}");
    }
    let names = MODES.map(|(name, _)| name);
    let compare = format!(
        "import glob, h5py, numpy
def values(file):
    found = {{}}
    file.visititems(lambda name, item: found.update({{name: item[()]}}) if isinstance(item, h5py.Dataset) and not name.startswith('blocks') else None)
    return found
paths = [path.split('/')[1] for path in sorted(glob.glob('plain/*.h5'))]
assert len(paths) >= 3, paths
for mode in {names:?}:
    assert [path.split('/')[1] for path in sorted(glob.glob(mode + '/*.h5'))] == paths, mode
    for path in paths:
        with h5py.File('plain/' + path) as expected, h5py.File(mode + '/' + path) as file:
            expected, found = values(expected), values(file)
            assert expected and found.keys() == expected.keys(), (mode, path, found.keys() ^ expected.keys())
            for name in found:
                numpy.testing.assert_array_equal(found[name], expected[name], mode + path + ': ' + name)
"
    );
    python(here, &compare);
}

/// Every mode of a run writes files that h5py reads as they are: the values are those of a run that copies everything while it waits.
#[test]
fn files_of_every_mode_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let manifest = heat(here, &[("refine", "2"), ("end", "1.0")]);
    runs_of_every_mode(here, |mode| {
        run_heat(
            &manifest,
            &format!("--every 20 --keep all --dir {mode} -- deck.toml"),
        )
    });
}

/// The plate of `heat` changes everywhere: only an array that changes in places has blocks that are in another file.
#[test]
fn files_with_blocks_of_others_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let manifest = package(
        here,
        "places",
        "fn main() {
    let mut cells: Vec<u64> = (0..1 << 19).collect();
    for step in 0..400_000 {
        cells[200_000 + step % 7] += step as u64;
    }
    println!(\"{}\", cells.iter().sum::<u64>());
}
",
    );
    runs_of_every_mode(here, |mode| {
        run(&manifest, &format!("--every 100000 --keep all --dir {mode}"))
    });
    let size = |mode: &str| {
        let file = here.join(mode).join("000002.r0.h5");
        fs::metadata(&file).unwrap().len()
    };
    for (mode, variables) in MODES {
        let shares = variables.iter().any(|(name, _)| *name == "CKPT_FULL_EVERY");
        assert_eq!(size(mode) * 4 < size("plain"), shares, "{mode}: {}", size(mode));
    }
}

/// Blocks of zeros, which are stored nowhere, are zeros in h5py.
#[test]
fn blocks_that_are_not_stored_are_read_as_zeros() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let manifest = package(
        here,
        "sparse",
        "fn main() {
    let mut cells = vec![0_u64; 1 << 20];
    for step in 0..400_000 {
        cells[500_000 + step % 7] += step as u64;
    }
    println!(\"{}\", cells.iter().sum::<u64>());
}
",
    );
    let ended = ckpt(here, &run(&manifest, "--every 100000 --keep all"), &[]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    python(
        here,
        "import glob, h5py, os
files = sorted(glob.glob('sparse.ckpt.d/*.h5'))
assert files
for path in files:
    assert os.path.getsize(path) < 2 << 20, os.path.getsize(path)
    with h5py.File(path) as file:
        cells = file['frames/0/cells'][()]
        assert cells.shape == (1 << 20,) and set(cells.nonzero()[0]) == set(range(500_000, 500_007)), cells.nonzero()
",
    );
}
