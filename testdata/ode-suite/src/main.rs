//! Integrates a suite of classic initial value problems with several methods and compares the cost.
//!
//! usage: ode-suite [METHOD|all] [PROBLEM|all]

mod adams;
mod problems;
mod rk;

use problems::{Problem, PROBLEMS};
use std::fs::OpenOptions;
use std::io::{BufWriter, Write};

/// The right-hand side: time, state, derivative (out).
pub type Rhs<'a> = &'a dyn Fn(f64, &[f64], &mut [f64]);

#[derive(Debug, thiserror::Error)]
pub enum OdeError {
    #[error("step size {step:e} underflowed at t = {t}")]
    StepTooSmall { t: f64, step: f64 },
    #[error("the solution is not finite at t = {0}")]
    NotFinite(f64),
    #[error("no {kind} called '{name}'; there are: {known}")]
    Unknown { kind: &'static str, name: String, known: String },
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stats {
    pub steps: usize,
    pub rejected: usize,
    pub evaluations: usize,
}

pub struct Solution {
    pub y: Vec<f64>,
    pub stats: Stats,
    pub trace: Vec<(f64, f64)>,
}

type Method = fn(Rhs, f64, f64, &[f64], f64) -> Result<Solution, OdeError>;

static METHODS: &[(&str, Method)] =
    &[("euler", rk::euler), ("rk4", rk::rk4), ("rkf45", rk::rkf45), ("adams", adams::adams_bashforth_moulton)];

fn choose<'t, T>(
    kind: &'static str,
    table: &'t [T],
    wanted: &str,
    name: impl Fn(&T) -> &str,
) -> Result<Vec<&'t T>, OdeError> {
    if wanted == "all" {
        return Ok(table.iter().collect());
    }
    let found: Vec<&T> = table.iter().filter(|t| name(t) == wanted).collect();
    if found.is_empty() {
        let known = table.iter().map(|t| name(t).to_owned()).collect::<Vec<_>>().join(", ");
        return Err(OdeError::Unknown { kind, name: wanted.to_owned(), known });
    }
    Ok(found)
}

fn solve(method: Method, problem: &Problem, tolerance: f64) -> Result<(Solution, f64), OdeError> {
    let f = problem.rhs;
    let (t0, t1) = problem.span;
    let solution = method(&f, t0, t1, problem.start, tolerance)?;
    let drift = match problem.invariant {
        Some(invariant) => (invariant(&solution.y) - invariant(problem.start)).abs(),
        None => f64::NAN,
    };
    Ok((solution, drift))
}

fn main() -> Result<(), OdeError> {
    let mut argv = std::env::args().skip(1);
    let method = argv.next().unwrap_or_else(|| String::from("all"));
    let problem = argv.next().unwrap_or_else(|| "all".into());

    let methods = choose("method", METHODS, &method, |m| m.0)?;
    let problems = choose("problem", PROBLEMS, &problem, |p| p.name)?;

    let report = OpenOptions::new().write(true).create(true).truncate(true).open("report.txt")?;
    let mut report = BufWriter::new(report);
    let mut lorenz = BufWriter::new(OpenOptions::new().write(true).create(true).truncate(true).open("lorenz.dat")?);
    let mut total = Stats::default();

    for (name, method) in methods {
        for problem in &problems {
            for digits in [3, 5, 8] {
                let tolerance = 10f64.powi(-digits);
                let (solution, drift) = match solve(*method, problem, tolerance) {
                    Ok(done) => done,
                    Err(OdeError::NotFinite(t)) => {
                        writeln!(report, "{name:6} {:12} 1e-{digits} blew up at {t:.4}", problem.name)?;
                        continue;
                    }
                    Err(other) => return Err(other),
                };
                let Solution { y, stats, trace } = solution;
                let y = y.iter().map(|v| format!("{v:+.9e}")).collect::<Vec<_>>().join(" ");
                writeln!(report, "{name:6} {:12} 1e-{digits} [{y}] drift {drift:.2e}", problem.name)?;
                println!("{name:6} {:12} 1e-{digits} {stats:?}", problem.name);
                if problem.name == "lorenz" {
                    for (t, x) in trace.iter().step_by(50) {
                        writeln!(lorenz, "{t:.6} {x:.9}")?;
                    }
                    writeln!(lorenz)?;
                }
                total.steps += stats.steps;
                total.rejected += stats.rejected;
                total.evaluations += stats.evaluations;
            }
        }
    }
    report.flush()?;
    lorenz.flush()?;
    println!("{} steps, {} rejected, {} evaluations", total.steps, total.rejected, total.evaluations);
    Ok(())
}
