//! Makes `membrane.mtx`: a membrane stretched over a square, its stiffness jumping by factors of up to a
//! thousand between patches. `cargo run -p cg --example make-membrane -- examples/cg/membrane.mtx 80`

use std::io::{BufWriter, Write};

/// The stiffness of the patch that a node lies in: a power of ten from 1 to 1000.
fn stiffness(i: usize, j: usize) -> f64 {
    let mut z = ((i / 8) as u64 * 1009 + (j / 8) as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    [1.0, 10.0, 100.0, 1000.0][(z >> 62) as usize]
}

/// The spring between two neighbouring nodes: the harmonic mean of their stiffnesses, so that both halves
/// carry the same force.
fn spring(a: f64, b: f64) -> f64 {
    2.0 * a * b / (a + b)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let path = args.next().ok_or("usage: make-membrane FILE.mtx SIDE")?;
    let side: usize = args.next().ok_or("usage: make-membrane FILE.mtx SIDE")?.parse()?;
    // One node further on every side is fixed, so node (i, j) of the matrix is (i + 1, j + 1) here.
    let mut entries = Vec::new();
    for j in 1..=side {
        for i in 1..=side {
            let node = (j - 1) * side + i;
            let here = stiffness(i, j);
            let [left, right] = [i - 1, i + 1].map(|k| spring(here, stiffness(k, j)));
            let [below, above] = [j - 1, j + 1].map(|k| spring(here, stiffness(i, k)));
            if j > 1 {
                entries.push((node, node - side, -below));
            }
            if i > 1 {
                entries.push((node, node - 1, -left));
            }
            entries.push((node, node, left + right + below + above));
        }
    }
    let mut file = BufWriter::new(std::fs::File::create(path)?);
    writeln!(file, "%%MatrixMarket matrix coordinate real symmetric")?;
    writeln!(
        file,
        "% a membrane of {side} x {side} nodes, fixed at its border, with patches of 8 x 8 nodes"
    )?;
    writeln!(file, "{} {} {}", side * side, side * side, entries.len())?;
    for (row, column, value) in entries {
        writeln!(file, "{row} {column} {value}")?;
    }
    Ok(())
}
