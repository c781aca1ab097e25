//! A small restartable program that adds lines to a file: `cargo ckpt run --example appending -- 40 lines.txt`

use std::io::Write;

#[ckpt::main]
fn main() -> std::io::Result<()> {
    let lines: u64 = std::env::args()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .unwrap_or(20);
    let path = std::env::args().nth(2).unwrap_or_else(|| "lines.txt".into());
    for line in 0..lines {
        ckpt::checkpoint!();
        let mut file = std::fs::File::options().create(true).append(true).open(&path)?;
        writeln!(file, "line {line}")?;
    }
    Ok(())
}
