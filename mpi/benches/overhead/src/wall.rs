//! himeno's wall times, by the figure of merit that it prints.

use std::path::Path;

use anyhow::{Result, bail, ensure};

use crate::HIMENO;
use crate::built::Built;

/// Bytes at whose multiples loops begin in the layouts that are compared; 0 is what the compiler does by itself.
const LAYOUTS: [u32; 4] = [0, 32, 64, 128];

/// Wall times of a program in one layout: ratios of pairs of runs, figures of merit of the best.
struct Wall {
    ratios: Vec<f64>,
    best: [f64; 2],
    /// The plain program's runs against its own run before: what the machine can tell apart.
    control: Vec<f64>,
    calls: String,
}

/// The program's figure of merit, its answer, and what it says besides.
fn merit(built: &Built, program: &Path) -> Result<(f64, String, String)> {
    for _ in 0..5 {
        let (_, answer, said) = built.timed(program)?;
        let merit = said
            .lines()
            .find_map(|line| line.strip_prefix("MFLOPS measured : "));
        if let Some(merit) = merit.and_then(|word| word.trim().parse().ok()) {
            return Ok((merit, answer, said));
        }
        // What the ranks wrote at the same time stands in one line: the run is done again.
    }
    bail!("himeno prints its figure of merit on a line")
}

fn wall(built: &Built, pairs: usize) -> Result<Wall> {
    let (mut ratios, mut best, mut calls) = (Vec::new(), [0.0_f64; 2], String::new());
    let (mut control, mut before) = (Vec::new(), None);
    for number in 0..pairs {
        let mut merits = [0.0; 2];
        let mut answers = Vec::new();
        // Neither is always the first.
        for program in [number % 2, 1 - number % 2] {
            let (merit, answer, said) = merit(built, built.programs()[program])?;
            merits[program] = merit;
            best[program] = best[program].max(merit);
            answers.push(answer);
            if let Some(line) = said.lines().find(|line| line.contains("calls of MPI")) {
                calls = line.trim_start_matches("ckpt: ").to_owned();
            }
        }
        ensure!(answers[0] == answers[1], "the programs disagree");
        ratios.push(merits[0] / merits[1]);
        control.extend(before.map(|before: f64| before / merits[0]));
        before = Some(merits[0]);
    }
    ensure!(!calls.is_empty(), "the instrumented program has no session");
    Ok(Wall {
        ratios,
        best,
        control,
        calls,
    })
}

/// The quarters of a distribution.
pub fn quarters(ratios: &[f64]) -> [f64; 3] {
    let mut sorted = ratios.to_vec();
    sorted.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| {
        sorted
            .get(sorted.len() * quarter / 4)
            .copied()
            .unwrap_or(f64::NAN)
    })
}

/// Measures it in all layouts, of which the first is built.
pub fn report(pairs: usize, first: &Built) -> Result<()> {
    let (mut ratios, mut control, mut best) = (Vec::new(), Vec::new(), [0.0_f64; 2]);
    let mut calls = String::new();
    for layout in LAYOUTS {
        let other;
        let built = match layout {
            0 => first,
            bytes => {
                other = Built::new(&HIMENO, bytes)?;
                &other
            }
        };
        let one = wall(built, pairs)?;
        let name = match layout {
            0 => "as the compiler lays it out".to_owned(),
            bytes => format!("loops at multiples of {bytes} bytes"),
        };
        println!(
            "himeno, 2 ranks, {name}: wall {:.4} (median of {pairs}), {:.4} (best)",
            quarters(&one.ratios)[1],
            one.best[0] / one.best[1]
        );
        ratios.extend(one.ratios);
        control.extend(one.control);
        best = [0, 1].map(|program| best[program].max(one.best[program]));
        calls = one.calls;
    }
    let [low, median, high] = quarters(&ratios);
    println!(
        "himeno, 2 ranks, all layouts: wall {median:.4} (median of {}, half between {low:.4} and {high:.4}), {:.4} (best)",
        ratios.len(),
        best[0] / best[1]
    );
    let [low, median, high] = quarters(&control);
    println!(
        "the plain program against its own run before: {median:.4} (half between {low:.4} and {high:.4})"
    );
    println!("{calls}");
    Ok(())
}
