//! Heat spreading in an insulated plate: u_t = D (u_xx + u_yy).
//!
//! The first temperatures are a picture. Every time step is a Peaceman-Rachford step (alternating
//! directions, implicit, second order): half a step implicit along the rows, half a step implicit along the
//! columns, each a tridiagonal system per line. Edges let no heat through, so the heat content is constant
//! but for rounding, and printing it shows at once whether the solver is sound.

mod picture;

use anyhow::{Context, Result, ensure};
use picture::Picture;
use serde::Deserialize;
use std::path::PathBuf;

/// The input deck, a TOML file.
#[derive(Deserialize, ckpt::Checkpoint)]
#[serde(deny_unknown_fields)]
struct Deck {
    /// Temperatures at the start: a PNG, black is `cold` and white is `hot`.
    picture: PathBuf,
    /// Degrees Celsius of black and of white.
    cold: f64,
    hot: f64,
    /// Width of the plate in metres; its height follows from the picture.
    width: f64,
    /// Thermal diffusivity in square metres a second.
    diffusivity: f64,
    /// Cells along the side of one pixel: memory grows with its square.
    refine: usize,
    /// Seconds: one step, and the end of the run.
    dt: f64,
    end: f64,
    /// Steps between two lines of output.
    report_every: u32,
    /// Where the picture of the last temperatures goes.
    output: PathBuf,
}

impl Deck {
    fn read(path: &str) -> Result<Deck> {
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read the deck {path}"))?;
        let mut deck: Deck = toml::from_str(&text).with_context(|| format!("the deck {path}"))?;
        deck.picture = std::path::Path::new(path).with_file_name(&deck.picture);
        ensure!(
            deck.refine > 0 && deck.report_every > 0,
            "{path}: refine and report_every start at 1"
        );
        ensure!(
            deck.dt > 0.0 && deck.diffusivity > 0.0,
            "{path}: dt and diffusivity must be positive"
        );
        Ok(deck)
    }
}

/// The LU factors of `1 - r d²` along a line of `n` cells with insulated ends (the Thomas algorithm).
#[derive(ckpt::Checkpoint)]
struct Line {
    r: f64,
    upper: Vec<f64>,
    inverse: Vec<f64>,
}

impl Line {
    fn new(n: usize, r: f64) -> Line {
        let (mut upper, mut inverse) = (vec![0.0; n], vec![0.0; n]);
        let mut above = 0.0;
        for i in 0..n {
            let neighbours = if n == 1 {
                0.0
            } else if i == 0 || i == n - 1 {
                1.0
            } else {
                2.0
            };
            inverse[i] = 1.0 / (1.0 + r * neighbours - r * above);
            upper[i] = r * inverse[i];
            above = upper[i];
        }
        Line { r, upper, inverse }
    }

    /// Solves for one contiguous line, in place.
    fn solve(&self, line: &mut [f64]) {
        let mut before = 0.0;
        for (i, u) in line.iter_mut().enumerate() {
            *u = (*u + self.r * before) * self.inverse[i];
            before = *u;
        }
        let mut after = 0.0;
        for (i, u) in line.iter_mut().enumerate().rev() {
            *u += self.upper[i] * after;
            after = *u;
        }
    }

    /// Solves for every column of a row-major grid `nx` wide, all columns abreast.
    fn solve_columns(&self, grid: &mut [f64], nx: usize) {
        let ny = grid.len() / nx;
        for u in &mut grid[..nx] {
            *u *= self.inverse[0];
        }
        for i in 1..ny {
            let (before, row) = grid[(i - 1) * nx..(i + 1) * nx].split_at_mut(nx);
            for (u, b) in row.iter_mut().zip(before) {
                *u = (*u + self.r * *b) * self.inverse[i];
            }
        }
        for i in (1..ny).rev() {
            let (row, after) = grid[(i - 1) * nx..(i + 1) * nx].split_at_mut(nx);
            for (u, a) in row.iter_mut().zip(after) {
                *u += self.upper[i - 1] * *a;
            }
        }
    }
}

/// The plate: temperatures of square cells, row by row.
#[derive(ckpt::Checkpoint)]
struct Plate {
    nx: usize,
    ny: usize,
    steps: u64,
    time: f64,
    /// Root mean square change of temperature in the last step, degrees a second.
    rate: f64,
    now: Vec<f64>,
    next: Vec<f64>,
    along_rows: Line,
    along_columns: Line,
}

impl Plate {
    fn new(deck: &Deck, picture: &Picture) -> Plate {
        let (nx, ny) = (picture.width * deck.refine, picture.height * deck.refine);
        let h = deck.width / nx as f64;
        let r = deck.diffusivity * deck.dt / (2.0 * h * h);
        let now: Vec<f64> = picture
            .refined(deck.refine)
            .map(|brightness| deck.cold + (deck.hot - deck.cold) * brightness)
            .collect();
        Plate {
            nx,
            ny,
            steps: 0,
            time: 0.0,
            rate: 0.0,
            next: vec![0.0; now.len()],
            now,
            along_rows: Line::new(nx, r),
            along_columns: Line::new(ny, r),
        }
    }

    /// Advances by `report_every` steps, or to the end of the run.
    #[ckpt::instrument]
    fn advance(&mut self, deck: &Deck) {
        for _ in 0..deck.report_every {
            ckpt::checkpoint!();
            if self.time >= deck.end {
                break;
            }
            self.step(deck.dt);
        }
    }

    /// One Peaceman-Rachford step.
    fn step(&mut self, dt: f64) {
        self.explicit_along_columns();
        for row in self.next.chunks_exact_mut(self.nx) {
            self.along_rows.solve(row);
        }
        self.explicit_along_rows();
        self.along_columns.solve_columns(&mut self.next, self.nx);

        let square: f64 = self
            .next
            .iter()
            .zip(&self.now)
            .map(|(a, b)| (a - b) * (a - b))
            .sum();
        self.rate = (square / self.now.len() as f64).sqrt() / dt;
        self.steps += 1;
        self.time = self.steps as f64 * dt;
        std::mem::swap(&mut self.now, &mut self.next);
    }

    /// `next = (1 + r d²) now`, with the second difference taken down the columns.
    fn explicit_along_columns(&mut self) {
        let (nx, r) = (self.nx, self.along_columns.r);
        for j in 0..self.ny {
            let above = &self.now[j.saturating_sub(1) * nx..][..nx];
            let row = &self.now[j * nx..][..nx];
            let below = &self.now[(j + 1).min(self.ny - 1) * nx..][..nx];
            let next = &mut self.next[j * nx..][..nx];
            for i in 0..nx {
                next[i] = row[i] + r * ((above[i] - row[i]) + (below[i] - row[i]));
            }
        }
    }

    /// `next = (1 + r d²) next`, with the second difference taken along the rows.
    fn explicit_along_rows(&mut self) {
        let r = self.along_rows.r;
        for row in self.next.chunks_exact_mut(self.nx) {
            let mut left = row[0];
            for i in 0..row.len() {
                let (here, right) = (row[i], row[(i + 1).min(row.len() - 1)]);
                row[i] = here + r * ((left - here) + (right - here));
                left = here;
            }
        }
    }

    fn report(&self) {
        let mean = self.now.iter().sum::<f64>() / self.now.len() as f64;
        let coldest = self.now.iter().copied().fold(f64::INFINITY, f64::min);
        let hottest = self.now.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        println!(
            "{:9.3} {mean:18.12} {coldest:12.6} {hottest:12.6} {:14.6e}",
            self.time, self.rate
        );
    }
}

#[ckpt::main(calls(advance))]
fn main() -> Result<()> {
    let path = std::env::args().nth(1).context("usage: heat DECK.toml")?;
    let deck = Deck::read(&path)?;
    let picture = Picture::read(&deck.picture)?;
    let mut plate = Plate::new(&deck, &picture);
    println!(
        "# {} x {} cells, {} s in steps of {} s",
        plate.nx, plate.ny, deck.end, deck.dt
    );
    println!("#  time/s             mean/C    coldest/C    hottest/C     rate/(C/s)");
    plate.report();
    while plate.time < deck.end {
        plate.advance(&deck);
        plate.report();
    }
    picture::write(
        &deck.output,
        &plate.now,
        plate.nx,
        deck.refine,
        (deck.cold, deck.hot),
    )?;
    println!("# wrote {}", deck.output.display());
    Ok(())
}
