//! Conjugate gradients that check themselves: the residual that the method updates from step to step has to be that of the
//! solution. Where a bit of the memory has turned it is not, and the program goes back.
//!
//! -u'' + c u = f on a line (Hestenes and Stiefel 1952). Usage: `cg-selfcheck UNKNOWNS`.

use anyhow::{Context, Result};

/// The residual is computed anew after so many steps.
const LOOKS: u32 = 10;
/// Relative to the load: far above what rounding leaves, far below what is printed.
const TOLERANCE: f64 = 1e-9;

/// The matrix: the diagonal is 2 + `c`, the elements beside it are -1.
fn multiply(c: &[f64], x: &[f64], y: &mut [f64]) {
    for i in 0..x.len() {
        let before = if i > 0 { x[i - 1] } else { 0.0 };
        let behind = x.get(i + 1).copied().unwrap_or(0.0);
        y[i] = (2.0 + c[i]) * x[i] - before - behind;
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// How far the residual is from that of the solution.
fn drift(c: &[f64], f: &[f64], x: &[f64], r: &[f64], scratch: &mut [f64]) -> f64 {
    multiply(c, x, scratch);
    let each = f.iter().zip(r).zip(scratch.iter());
    each.map(|((f, r), ax)| (f - ax - r).powi(2)).sum::<f64>().sqrt()
}

#[ckpt::instrument]
fn solve(c: &[f64], f: &[f64]) -> Vec<f64> {
    let load = dot(f, f).sqrt();
    let mut x = vec![0.0; f.len()];
    let mut r = f.to_vec();
    let mut p = f.to_vec();
    let mut q = vec![0.0; f.len()];
    let mut rho = dot(&r, &r);
    let mut steps = 0;
    while rho.sqrt() > 1e-13 * load {
        ckpt::checkpoint!();
        multiply(c, &p, &mut q);
        let alpha = rho / dot(&p, &q);
        for i in 0..x.len() {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
        let before = rho;
        rho = dot(&r, &r);
        let beta = rho / before;
        for i in 0..x.len() {
            p[i] = r[i] + beta * p[i];
        }
        steps += 1;
        if steps % LOOKS == 0 || rho.sqrt() <= 1e-13 * load {
            let drift = drift(c, f, &x, &r, &mut q);
            ckpt::check!(
                drift <= TOLERANCE * load,
                "the residual of step {steps} is wrong by {drift:e}"
            );
        }
    }
    x
}

#[ckpt::main(calls(solve))]
fn main() -> Result<()> {
    let unknowns: usize = std::env::args()
        .nth(1)
        .context("usage: cg-selfcheck UNKNOWNS")?
        .parse()?;
    let c: Vec<f64> = (0..unknowns).map(|i| 0.01 + 0.001 * (i % 11) as f64).collect();
    let f: Vec<f64> = (0..unknowns).map(|i| 1.0 + (i % 7) as f64).collect();
    let x = solve(&c, &f);
    for part in 1..5 {
        let at = part * unknowns / 5;
        println!("u[{at}] = {:.6}", x[at]);
    }
    Ok(())
}
