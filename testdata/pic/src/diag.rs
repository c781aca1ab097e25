use crate::field::Grid;
use crate::particles::Species;
use std::fmt;
use std::fs::File;
use std::io::{self, LineWriter, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Instant;

pub static PUSHES: AtomicU64 = AtomicU64::new(0);
pub static CROSSINGS: AtomicU64 = AtomicU64::new(0);
pub static SWEEPS: AtomicU64 = AtomicU64::new(0);
pub static STEPS: AtomicU64 = AtomicU64::new(0);

static PEAK: Mutex<(f64, f64)> = Mutex::new((0.0, 0.0));
static STARTED: OnceLock<Instant> = OnceLock::new();

pub struct Counter {
    pushes: u64,
    crossings: u64,
    sweeps: u64,
    steps: u64,
}

impl Counter {
    pub fn all() -> Counter {
        Counter {
            pushes: PUSHES.load(Ordering::Relaxed),
            crossings: CROSSINGS.load(Ordering::Relaxed),
            sweeps: SWEEPS.load(Ordering::Relaxed),
            steps: STEPS.load(Ordering::Relaxed),
        }
    }
}

impl fmt::Display for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counter { pushes, crossings, sweeps, steps } = self;
        write!(f, "{steps} steps, {pushes} pushes, {crossings} crossings, {sweeps} sweeps")
    }
}

pub struct History {
    out: LineWriter<File>,
    rows: Vec<[f64; 3]>,
}

impl History {
    pub fn open(path: &str) -> io::Result<History> {
        STARTED.get_or_init(Instant::now);
        Ok(History { out: LineWriter::new(File::create(path)?), rows: vec![] })
    }

    pub fn record(&mut self, t: f64, grid: &Grid, species: &[Species]) -> io::Result<()> {
        let field = grid.energy();
        let kinetic: f64 = species.iter().map(Species::kinetic).sum();
        {
            let mut peak = PEAK.lock().unwrap();
            if field > peak.1 {
                *peak = (t, field);
            }
        }
        self.rows.push([t, field, kinetic]);
        writeln!(self.out, "{t:.3} {field:.9e} {kinetic:.9e} {:.9e}", field + kinetic)
    }

    /// The growth rate of the field over the linear phase, fitted to the logarithm.
    pub fn close(mut self) -> io::Result<()> {
        let linear: Vec<_> = self.rows.iter().filter(|r| (16.0..24.0).contains(&r[0])).collect();
        let n = linear.len() as f64;
        let (mut sx, mut sy, mut sxx, mut sxy) = (0., 0., 0., 0.);
        for [t, e, _] in linear.iter().copied() {
            let y = 0.5 * e.ln();
            sx += t;
            sy += y;
            sxx += t * t;
            sxy += t * y;
        }
        let rate = (n * sxy - sx * sy) / (n * sxx - sx * sx);
        let peak = *PEAK.lock().unwrap();
        writeln!(self.out, "# growth rate {rate:.6}; peak {:.6e} at {:.3}", peak.1, peak.0)?;
        println!("growth rate {rate:.6} (theory 0.35), peak at t = {:.3}", peak.0);
        Ok(())
    }
}

pub fn phase_space(path: &str, species: &[Species]) -> io::Result<()> {
    let mut out = io::BufWriter::new(File::create(path)?);
    for s in species {
        for (x, v) in s.x.iter().zip(&s.v).step_by(50) {
            writeln!(out, "{} {x:.9} {v:.9}", s.name)?;
        }
    }
    out.flush()
}

pub fn timing_report() {
    if let Some(start) = STARTED.get() {
        eprintln!("wall time {:.2} s", start.elapsed().as_secs_f64());
    }
}
