//! A program that travels: killed on one machine and continued on another, with everything in its variables that
//! differs between machines. It calculates with what IEEE 754 rounds exactly (`+`, `-`, `*`, `/`, square roots) and with
//! whole numbers, so that its output is the same everywhere, bit for bit.
//!
//! `traveller TURNS TRACE LOG` writes a line for every turn to TRACE, which it holds open, and one to LOG, which it
//! opens for that and closes again, and prints what it has become. `too-wide` as a fourth word puts a number into a
//! `usize` that has no place in 32 bits.

mod luggage;

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use luggage::Luggage;

#[ckpt::main(calls(stay))]
fn main() -> std::io::Result<()> {
    let words: Vec<String> = std::env::args().collect();
    let turns: u32 = words[1].parse().expect("a number of turns");
    let log = PathBuf::from(&words[3]);
    // With 64 bits this is the number, with 32 it is not.
    let wide = usize::try_from(1_u64 << 40).unwrap_or(7);
    let size: usize = if words.len() > 4 { wide } else { 7 };
    let mut trace = BufWriter::new(File::create(&words[2])?);
    let mut luggage = Luggage::pack(size);
    for turn in 0..turns {
        stay(&mut luggage, turn);
        writeln!(trace, "{turn} {}", luggage.seal())?;
        note(&log, turn, &luggage)?;
    }
    trace.flush()?;
    println!("size {size}");
    luggage.show();
    Ok(())
}

/// A turn, with the site in a function of its own.
#[ckpt::instrument]
fn stay(luggage: &mut Luggage, turn: u32) {
    let mut weight = 0.25;
    for day in 0..3_u32 {
        ckpt::checkpoint!();
        weight = luggage.change(turn, day, weight);
    }
    luggage.weights.push(weight);
}

/// Adds a line to a file that is closed at every site.
fn note(log: &Path, turn: u32, luggage: &Luggage) -> std::io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(log)?;
    writeln!(file, "{turn} {}", luggage.weights.len())
}
