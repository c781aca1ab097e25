//! Steady heat conduction on a unit square plate. The linear system is solved by whichever method the
//! user names: `solver-dyn [jacobi|gauss-seidel|sor|cg] [N] [TOL]`.

mod plate;
mod solvers;

use anyhow::{bail, Context, Result};
use plate::Plate;
use solvers::{ConjugateGradient, GaussSeidel, Jacobi, Solver, Sor};
use std::fs::File;
use std::io::{BufWriter, Write};

struct Options {
    method: String,
    n: usize,
    tolerance: f64,
}

fn parse_options() -> Result<Options> {
    let mut args = std::env::args().skip(1);
    let method = args.next().unwrap_or_else(|| "sor".to_string());
    let n = match args.next() {
        Some(text) => text.parse().with_context(|| format!("not a grid size: {text}"))?,
        None => 250,
    };
    let tolerance = match args.next() {
        Some(text) => text.parse().with_context(|| format!("not a tolerance: {text}"))?,
        None => 1e-9,
    };
    if n < 4 {
        bail!("the grid needs at least 4 points a side, not {n}");
    }
    Ok(Options { method, n, tolerance })
}

fn make_solver(name: &str, plate: &Plate) -> Result<Box<dyn Solver>> {
    Ok(match name {
        "jacobi" => Box::new(Jacobi::new(plate.len())),
        "gauss-seidel" | "gs" => Box::new(GaussSeidel::default()),
        "sor" => Box::new(Sor::for_grid(plate.side())),
        "cg" => Box::new(ConjugateGradient::new(plate)),
        other => bail!("unknown method '{other}' (jacobi, gauss-seidel, sor, cg)"),
    })
}

fn main() -> Result<()> {
    let options = parse_options()?;
    let mut plate = Plate::new(options.n);
    plate.heat_spot(0.3, 0.6, 0.1, 40.0);
    plate.heat_spot(0.75, 0.25, 0.15, -25.0);

    let mut solver = make_solver(&options.method, &plate)?;
    println!("{} on a {}x{} plate", solver.name(), options.n, options.n);

    let mut log = BufWriter::new(File::create("residuals.dat")?);
    let first = plate.residual_norm();
    let mut iteration = 0usize;
    let mut norm = first;
    while norm > options.tolerance * first {
        iteration += 1;
        if iteration > 200_000 {
            bail!("no convergence after {} sweeps", iteration - 1);
        }
        solver.sweep(&mut plate);
        norm = plate.residual_norm();
        writeln!(log, "{iteration} {norm:.12e}")?;
        if iteration % 50 == 0 {
            println!("  {iteration:6} residual {norm:.3e}  hottest {:.6}", plate.hottest().1);
        }
    }
    log.flush()?;

    let ((i, j), t) = plate.hottest();
    println!("converged after {iteration} sweeps, {} updates of points", solver.updates());
    println!("hottest point ({i}, {j}): {t:.9}");
    plate.write("plate.dat").context("cannot write plate.dat")?;
    Ok(())
}
