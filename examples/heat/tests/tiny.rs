//! Runs the program on a tiny input and compares everything it says with what is kept beside this file.

use std::path::Path;
use std::process::Command;

fn run(folder: &Path, args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_heat"))
        .args(args)
        .current_dir(folder)
        .output()
        .expect("the program starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("the output is text")
}

/// The pixels of a PNG, whatever compressed them.
fn pixels(path: &Path) -> Vec<u8> {
    let file = std::io::BufReader::new(std::fs::File::open(path).expect("the picture was written"));
    let mut reader = png::Decoder::new(file).read_info().expect("the picture is a PNG");
    let mut bytes = vec![0; reader.output_buffer_size().expect("the picture is small")];
    reader.next_frame(&mut bytes).expect("the picture is whole");
    bytes
}

#[test]
fn a_small_plate() {
    let folder = tempfile::tempdir().expect("a folder");
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let said = run(
        folder.path(),
        &[concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tiny.toml")],
    );
    assert_eq!(said, include_str!("tiny.out"));
    assert!(pixels(&folder.path().join("tiny.out.png")) == pixels(&tests.join("tiny.expected.png")));
}
