//! The program that everything happens to. It computes in steps, each with a site, and says before each how far it is.
//!
//! `faults-victim STEPS SIZE FILES`: how many steps, how long its large list is, and which files of its own it keeps: `none`,
//! or those of [`files`].

mod files;
mod state;

use files::Files;
use state::State;

fn argument<T: std::str::FromStr>(nth: usize, otherwise: T) -> T {
    let text = std::env::args().nth(nth);
    text.and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// One step, apart from its site.
fn advance(state: &mut State, files: Files, step: u64) {
    state.advance(step);
    files.step(step, state.digest());
}

#[ckpt::main]
fn main() {
    let (steps, size) = (argument(1, 8_u64), argument(2, 1_000_usize));
    let files: Files = argument(3, Files::None);
    let mut state = State::new(size);
    let mut held = files.held();
    let mut step = 0;
    while step < steps {
        step += 1;
        advance(&mut state, files, step);
        files::write_held(&mut held, step);
        println!("step {step}: {:016x}", state.digest());
        ckpt::checkpoint!();
        println!("passed {step}");
    }
    println!("end: {:016x} {}", state.digest(), files.sum());
}
