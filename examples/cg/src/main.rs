//! Conjugate gradients on a sparse symmetric matrix: one structure under many loads.
//!
//! Reads a matrix in Matrix Market format (or makes a large one in memory), and solves A u = f for many
//! loads f, each a unit force at one node, by conjugate gradients with Jacobi's preconditioner (Hestenes and
//! Stiefel 1952; Saad, "Iterative Methods for Sparse Linear Systems", algorithm 9.1). The answer to each
//! load is the node's flexibility: how far it gives way under its own unit force, `u[node]`.

mod matrix;

use anyhow::{Context, Result, bail, ensure};
use matrix::Matrix;
use std::io::Write;

const USAGE: &str = "usage: cg (FILE.mtx | --poisson SIDE) [--loads K] [--tolerance T] [--output FILE.csv]";

/// What the command line says.
#[derive(ckpt::Checkpoint)]
struct Options {
    source: Source,
    loads: usize,
    tolerance: f64,
    output: String,
}

#[derive(ckpt::Checkpoint)]
enum Source {
    File(String),
    /// The five-point Laplacian on a square of so many nodes a side.
    Poisson(usize),
}

impl Options {
    fn parse(mut args: impl Iterator<Item = String>) -> Result<Options> {
        let mut source = None;
        let mut options = Options {
            source: Source::Poisson(0),
            loads: 1,
            tolerance: 1e-10,
            output: "flexibility.csv".into(),
        };
        while let Some(arg) = args.next() {
            let mut value = || {
                args.next()
                    .with_context(|| format!("{arg} needs a value\n{USAGE}"))
            };
            match arg.as_str() {
                "--poisson" => source = Some(Source::Poisson(value()?.parse()?)),
                "--loads" => options.loads = value()?.parse()?,
                "--tolerance" => options.tolerance = value()?.parse()?,
                "--output" => options.output = value()?,
                flag if flag.starts_with("--") => bail!("unknown option {flag}\n{USAGE}"),
                _ => source = Some(Source::File(arg)),
            }
        }
        options.source = source.context(USAGE)?;
        Ok(options)
    }
}

/// One finished solution.
#[derive(ckpt::Checkpoint)]
struct Answer {
    node: usize,
    iterations: u32,
    residual: f64,
    flexibility: f64,
}

impl Answer {
    fn report(&self) {
        let Answer {
            node,
            iterations,
            residual,
            flexibility,
        } = self;
        println!(
            "{:9} {iterations:10} {residual:12.3e} {flexibility:20.15}",
            node + 1
        );
    }
}

/// Solves A u = f for a unit force at `node`.
#[ckpt::instrument]
fn solve(a: &Matrix, node: usize, tolerance: f64) -> Result<Answer> {
    let scale: Vec<f64> = a.diagonal().iter().map(|d| 1.0 / d).collect();
    let mut u = vec![0.0; a.order];
    let mut r = vec![0.0; a.order];
    r[node] = 1.0;
    let mut z = precondition(&scale, &r);
    let mut p = z.clone();
    let mut q = vec![0.0; a.order];
    let mut rho = dot(&r, &z);
    let mut iterations = 0;
    let mut residual = 1.0;
    while residual > tolerance {
        ckpt::checkpoint!();
        a.multiply(&p, &mut q);
        let curvature = dot(&p, &q);
        ensure!(
            curvature > 0.0,
            "the matrix is not positive definite (load at node {node})"
        );
        let alpha = rho / curvature;
        add_scaled(&mut u, alpha, &p);
        add_scaled(&mut r, -alpha, &q);
        z = precondition(&scale, &r);
        let before = rho;
        rho = dot(&r, &z);
        let beta = rho / before;
        for (p, z) in p.iter_mut().zip(&z) {
            *p = z + beta * *p;
        }
        residual = dot(&r, &r).sqrt();
        iterations += 1;
        ensure!(
            iterations < 100_000,
            "no convergence for the load at node {node}: residual {residual:e}"
        );
        if iterations % 1000 == 0 {
            println!("#   {iterations:6} iterations, residual {residual:.3e}");
        }
    }
    Ok(Answer {
        node,
        iterations,
        residual,
        flexibility: u[node],
    })
}

fn precondition(scale: &[f64], r: &[f64]) -> Vec<f64> {
    scale.iter().zip(r).map(|(s, r)| s * r).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add_scaled(a: &mut [f64], factor: f64, b: &[f64]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a += factor * b;
    }
}

/// Writes the table of all loads.
fn write(path: &str, answers: &[Answer]) -> Result<()> {
    let mut file = std::fs::File::create(path).with_context(|| format!("cannot write {path}"))?;
    writeln!(file, "node,iterations,residual,flexibility")?;
    for a in answers {
        writeln!(
            file,
            "{},{},{:e},{:e}",
            a.node + 1,
            a.iterations,
            a.residual,
            a.flexibility
        )?;
    }
    Ok(())
}

#[ckpt::main(calls(solve))]
fn main() -> Result<()> {
    let options = Options::parse(std::env::args().skip(1))?;
    let a = match &options.source {
        Source::File(path) => Matrix::read(path)?,
        Source::Poisson(side) => Matrix::poisson(*side),
    };
    println!(
        "# {} unknowns, {} entries, {} loads",
        a.order,
        a.values.len(),
        options.loads
    );
    println!("#    node iterations     residual          flexibility");
    let mut answers = Vec::new();
    for load in 0..options.loads {
        let node = (2 * load + 1) * a.order / (2 * options.loads);
        let answer = solve(&a, node, options.tolerance)?;
        if load % options.loads.div_ceil(20) == 0 {
            answer.report();
        }
        answers.push(answer);
    }
    let total: u64 = answers.iter().map(|answer| u64::from(answer.iterations)).sum();
    println!("# {total} iterations; the table is in {}", options.output);
    write(&options.output, &answers)
}
