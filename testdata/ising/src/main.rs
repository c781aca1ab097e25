//! Two-dimensional Ising model: Metropolis with a temperature sweep.
//!
//! usage: ising [L] [SWEEPS] [SEED]

use anyhow::{bail, ensure, Context, Result};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::fs::File;
use std::io::{BufWriter, Write};

mod stats;
use stats::{binned_error, Welford};

const T_MIN: f64 = 1.6;
const T_MAX: f64 = 3.2;
const N_TEMPS: usize = 9;

#[derive(Debug, Clone)]
struct Lattice {
    l: usize,
    spins: Vec<i8>,
}

impl Lattice {
    fn random<R: Rng + ?Sized>(l: usize, rng: &mut R) -> Self {
        let spins = (0..l * l).map(|_| if rng.random::<bool>() { 1 } else { -1 }).collect();
        Self { l, spins }
    }

    fn neighbours(&self, i: usize) -> i32 {
        let l = self.l;
        let (x, y) = (i % l, i / l);
        let right = y * l + (x + 1) % l;
        let left = y * l + (x + l - 1) % l;
        let down = ((y + 1) % l) * l + x;
        let up = ((y + l - 1) % l) * l + x;
        [right, left, down, up].iter().map(|&j| i32::from(self.spins[j])).sum()
    }

    /// Energy in units of J, every bond once.
    fn energy(&self) -> i64 {
        let mut e = 0i64;
        for i in 0..self.spins.len() {
            e -= i64::from(self.spins[i]) * i64::from(self.neighbours(i));
        }
        e / 2
    }

    fn magnetisation(&self) -> i64 {
        self.spins.iter().map(|&s| i64::from(s)).sum()
    }

    /// One attempted flip per site on average; returns how many were accepted.
    fn sweep(&mut self, boltzmann: &[f64; 5], rng: &mut StdRng) -> usize {
        let n = self.spins.len();
        let mut accepted = 0;
        for _ in 0..n {
            let i = rng.random_range(0..n);
            let de = 2 * i32::from(self.spins[i]) * self.neighbours(i);
            if de <= 0 || rng.random::<f64>() < boltzmann[(de / 2) as usize] {
                self.spins[i] = -self.spins[i];
                accepted += 1;
            }
        }
        accepted
    }
}

#[derive(Debug)]
struct Row {
    temperature: f64,
    energy: f64,
    energy_error: f64,
    abs_m: f64,
    heat: f64,
    chi: f64,
    acceptance: f64,
}

fn measure(lattice: &mut Lattice, t: f64, sweeps: usize, rng: &mut StdRng) -> Row {
    let mut table = [0.0; 5];
    for (k, p) in table.iter_mut().enumerate() {
        *p = (-(2.0 * k as f64) / t).exp();
    }

    // equilibrate
    let mut burnt = 0;
    loop {
        lattice.sweep(&table, rng);
        burnt += 1;
        if burnt >= sweeps / 5 {
            break;
        }
    }

    let n = (lattice.l * lattice.l) as f64;
    let mut energy = Welford::default();
    let mut m = Welford::default();
    let mut series = Vec::with_capacity(sweeps);
    let mut accepted = 0;
    for _ in 0..sweeps {
        accepted += lattice.sweep(&table, rng);
        let e = lattice.energy() as f64 / n;
        energy.add(e);
        m.add(lattice.magnetisation().abs() as f64 / n);
        series.push(e);
    }

    Row {
        temperature: t,
        energy: energy.mean(),
        energy_error: binned_error(&series, 16),
        abs_m: m.mean(),
        heat: energy.variance() * n / (t * t),
        chi: m.variance() * n / t,
        acceptance: accepted as f64 / (n * sweeps as f64),
    }
}

fn arguments() -> Result<(usize, usize, u64)> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.len() > 3 {
        bail!("usage: ising [L] [SWEEPS] [SEED]");
    }
    let get = |k: usize, name: &str, default: u64| -> Result<u64> {
        match args.get(k) {
            Some(text) => text.parse().with_context(|| format!("{name} must be a number, not `{text}`")),
            None => Ok(default),
        }
    };
    let l = get(0, "L", 56)? as usize;
    let sweeps = get(1, "SWEEPS", 400)? as usize;
    let seed = get(2, "SEED", 20_240_229)?;
    ensure!(l >= 4, "the lattice must be at least 4 x 4");
    ensure!(sweeps >= 20, "at least 20 sweeps");
    Ok((l, sweeps, seed))
}

fn main() -> Result<()> {
    let (l, sweeps, seed) = arguments()?;
    let mut rng = StdRng::seed_from_u64(seed);
    let mut lattice = Lattice::random(l, &mut rng);

    let path = "ising.csv";
    let file = File::create(path).with_context(|| format!("cannot create {path}"))?;
    let mut csv = BufWriter::new(file);
    writeln!(csv, "T,energy,error,abs_m,heat,chi,acceptance")?;

    println!("L = {l}, {sweeps} sweeps at each of {N_TEMPS} temperatures, seed {seed}");
    let mut peak: Option<(f64, f64)> = None;
    for k in 0..N_TEMPS {
        // from hot to cold
        let t = T_MAX - (T_MAX - T_MIN) * k as f64 / (N_TEMPS - 1) as f64;
        let row = measure(&mut lattice, t, sweeps, &mut rng);
        println!(
            "T = {:.2}  e = {:+.5} ± {:.5}  |m| = {:.4}  C = {:.4}",
            row.temperature, row.energy, row.energy_error, row.abs_m, row.heat
        );
        writeln!(
            csv,
            "{},{:.10},{:.10},{:.10},{:.10},{:.10},{:.6}",
            row.temperature, row.energy, row.energy_error, row.abs_m, row.heat, row.chi, row.acceptance
        )?;
        peak = match peak {
            Some((_, c)) if c >= row.heat => peak,
            _ => Some((t, row.heat)),
        };
    }
    csv.flush()?;

    let (t, c) = peak.context("no temperature was measured")?;
    println!("specific heat is largest at T = {t:.2}: {c:.4} (Onsager: 2.269)");
    println!("final magnetisation {}", lattice.magnetisation());
    Ok(())
}
