//! NPB FT.
//!
//! du/dt = alpha * laplacian(u) on a periodic box: one forward FFT of random data, then per time step an
//! evolution of the spectrum and an inverse FFT, of which a checksum is taken.

pub mod complex;
pub mod fft;
pub mod params;
pub mod random;

use complex::Complex;
use fft::{Direction, Plan3};
use params::Params;
use random::Lcg;

const SEED: f64 = 314159265.0;
const A: f64 = 1220703125.0;
const ALPHA: f64 = 1.0e-6;

/// Where in the array the point (i, j, k) is; x runs fastest.
#[inline]
fn index(p: &Params, i: usize, j: usize, k: usize) -> usize {
    (k * p.ny + j) * p.nx + i
}

/// Fills the box, plane by plane, each with a seed of its own.
pub fn initial_conditions(p: &Params) -> Vec<Complex> {
    let mut u = vec![Complex::ZERO; p.total()];
    let per_plane = Lcg::power(A, 2 * p.nx * p.ny);
    let mut start = SEED;
    for plane in u.chunks_exact_mut(p.nx * p.ny) {
        let mut lcg = Lcg::new(start, A);
        for value in plane.iter_mut() {
            let re = lcg.next();
            let im = lcg.next();
            *value = Complex { re, im };
        }
        start = Lcg::new(start, per_plane).skip();
    }
    u
}

/// exp(-4 alpha pi^2 |n|^2): what one time step does to every mode.
pub fn twiddle(p: &Params) -> Vec<f64> {
    let wave = |i: usize, n: usize| ((i + n / 2) % n) as i64 - (n / 2) as i64;
    let ap = -4.0 * ALPHA * std::f64::consts::PI.powi(2);
    let mut factors = vec![0.0; p.total()];
    for k in 0..p.nz {
        let kk = wave(k, p.nz).pow(2);
        for j in 0..p.ny {
            let jj = wave(j, p.ny).pow(2) + kk;
            for i in 0..p.nx {
                let ii = wave(i, p.nx).pow(2);
                factors[index(p, i, j, k)] = (ap * (ii + jj) as f64).exp();
            }
        }
    }
    factors
}

/// One step in spectral space; the result goes to both arrays.
pub fn evolve(spectrum: &mut [Complex], now: &mut [Complex], factors: &[f64]) {
    for ((u0, u1), factor) in spectrum.iter_mut().zip(now).zip(factors) {
        *u0 = *u0 * *factor;
        *u1 = *u0;
    }
}

pub fn checksum(p: &Params, u: &[Complex]) -> Complex {
    let mut sum = Complex::ZERO;
    for j in 1..=1024usize {
        let (q, r, s) = (j % p.nx, 3 * j % p.ny, 5 * j % p.nz);
        sum += u[index(p, q, r, s)];
    }
    sum * (1.0 / p.total() as f64)
}

/// Runs the benchmark; `report` is called with every checksum.
pub fn run<F>(p: &Params, mut report: F) -> Vec<Complex>
where
    F: FnMut(usize, Complex),
{
    let factors = twiddle(p);
    let plan = Plan3::new(p.nx, p.ny, p.nz);
    let mut spectrum = initial_conditions(p);
    plan.transform(&mut spectrum, Direction::Forward);

    let mut now = vec![Complex::ZERO; p.total()];
    let mut sums = Vec::with_capacity(p.iterations);
    for iter in 1..=p.iterations {
        evolve(&mut spectrum, &mut now, &factors);
        plan.transform(&mut now, Direction::Inverse);
        let sum = checksum(p, &now);
        report(iter, sum);
        sums.push(sum);
    }
    sums
}

/// Whether the sums are those of the specification; `None` when it has none for this class.
pub fn verify(p: &Params, sums: &[Complex]) -> Option<bool> {
    let wanted = p.reference?;
    let close = |s: &Complex, &(re, im): &(f64, f64)| {
        let wanted = Complex { re, im };
        (*s - wanted).abs() / wanted.abs() <= 1.0e-12
    };
    Some(sums.len() == wanted.len() && sums.iter().zip(wanted).all(|(s, w)| close(s, w)))
}
