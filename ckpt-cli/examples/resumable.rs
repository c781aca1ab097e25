//! A small restartable program: relaxes a ring of cells and writes what it found. `cargo ckpt run --example resumable -- 40`
//!
//! Arguments: the number of sweeps, then optionally the milliseconds to rest in each, and a script that the process becomes when it
//! has written what it found.

use std::os::unix::process::CommandExt;
use std::time::Duration;

#[ckpt::instrument]
fn sweep(cells: &mut Vec<f64>, parts: usize, rest: Duration) {
    let length = cells.len();
    for part in 0..parts {
        ckpt::checkpoint!();
        for index in (part..length).step_by(parts) {
            let (left, right) = (cells[(index + length - 1) % length], cells[(index + 1) % length]);
            cells[index] = 0.5 * cells[index] + 0.25 * (left + right);
        }
        std::thread::sleep(rest);
    }
}

#[ckpt::main(calls(sweep))]
fn main() -> std::io::Result<()> {
    let number = |index, default| {
        std::env::args()
            .nth(index)
            .and_then(|text| text.parse().ok())
            .unwrap_or(default)
    };
    let sweeps: u64 = number(1, 20);
    let rest = Duration::from_millis(number(2, 0));
    let mut cells: Vec<f64> = (0..48).map(|index| f64::from(index % 7)).collect();
    let mut names: Vec<String> = Vec::new();
    for index in 0..sweeps {
        sweep(&mut cells, 3, rest);
        println!("sweep {index}: {:.17}", cells[0]);
        names.push(format!("sweep {index}"));
    }
    std::fs::write("cells.txt", format!("{cells:?}\n{}\n", names.join(",")))?;
    match std::env::args().nth(3) {
        Some(script) => Err(std::process::Command::new("sh").args(["-c", &script]).exec()),
        None => Ok(()),
    }
}
