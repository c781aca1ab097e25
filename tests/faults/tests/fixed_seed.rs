//! Some hundred trials of a fixed seed. `cargo run --release -p faults -- --trials 100000 --seed 7` makes as many as one likes,
//! `--all` all of them.

use std::process::ExitCode;

use faults::campaign::{Catalogue, Tally, Trial};
use faults::program::{BOUNDED, PROGRAMS};

const SEED: u64 = 3;
const TRIALS: u64 = 240;

fn main() -> std::io::Result<ExitCode> {
    let catalogue = Catalogue::of(&PROGRAMS, &BOUNDED)?;
    let trials: Vec<Trial> = (0..TRIALS)
        .map(|number| catalogue.draw(SEED, number, None))
        .collect();
    let tally = Tally::of(&catalogue, &trials, None)?;
    for broken in &tally.broken {
        println!("{broken}\n");
    }
    print!("{tally}");
    Ok(match tally.is_sound() && tally.trials() > TRIALS / 2 {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}
