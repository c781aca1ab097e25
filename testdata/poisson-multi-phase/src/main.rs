//! Stationary heat in a plate, from a mesh file to temperatures and fluxes, in five phases.
//!
//!     plate-heat [MESH [TOLERANCE [ssor|gs]]]

#[macro_use]
extern crate log;

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::time::Instant;

mod error;
mod matrix;
mod mesh;
mod post;

use error::Error;
use matrix::SparseRows;
use mesh::Mesh;

const MAX_ITER: usize = 50_000;

macro_rules! phase {
    ($name:literal, $body:expr) => {{
        let start = Instant::now();
        info!("{} ...", $name);
        let result = $body;
        info!("{} took {:.3} s", $name, start.elapsed().as_secs_f64());
        result
    }};
}

fn main() {
    env_logger::init();
    if let Err(e) = try_main() {
        error!("{e}");
        eprintln!("plate-heat: {e}");
        std::process::exit(e.exit_code());
    }
}

fn try_main() -> Result<(), Error> {
    let args: Vec<String> = std::env::args().collect();
    let path = args.get(1).map(|s| s.as_str()).unwrap_or("data/lshape.msh");
    let tol = match args.get(2) {
        Some(t) => t.parse::<f64>().map_err(|_| Error::Argument(t.clone()))?,
        None => 1e-6,
    };
    let symmetric = match args.get(3).map(String::as_str) {
        None | Some("ssor") => true,
        Some("gs") => false,
        Some(other) => return Err(Error::Argument(other.to_string())),
    };

    // phase 1: read
    let mesh = phase!("reading", {
        let file = File::open(path).map_err(|e| Error::Open(path.to_string(), e))?;
        Mesh::read(BufReader::new(file))?
    });
    println!("{}: {} nodes, {} triangles, {} materials", path, mesh.nodes.len(), mesh.triangles.len(), mesh.materials.len());

    // phase 2: assemble
    let (a, b) = phase!("assembling", assemble(&mesh)?);
    println!("{} entries in the matrix, bandwidth {}", a.entries(), a.bandwidth());
    #[cfg(feature = "dump-matrix")]
    a.dump("matrix.mtx")?;

    // phase 3: iterate
    let mut x: Vec<f64> = mesh.nodes.iter().map(|n| n.given.unwrap_or(0.0)).collect();
    let mut conv = BufWriter::new(File::create("convergence.txt")?);
    let mut omega = 1.0;
    let mut iter = 0;
    let mut last = f64::MAX;
    let err0 = a.residual(&x, &b);
    let err = loop {
        a.relax(&mut x, &b, omega, false);
        if symmetric {
            a.relax(&mut x, &b, omega, true);
        }
        iter += 1;
        let err = a.residual(&x, &b) / err0;
        if iter % 10 == 0 {
            writeln!(conv, "{:6} {:.6e} {:.3}", iter, err, omega)?;
        }
        if err < tol {
            break err;
        }
        if iter >= MAX_ITER {
            warn!("stopped at the limit of {MAX_ITER} iterations");
            break err;
        }
        if !err.is_finite() {
            return Err(Error::Diverged { iterations: iter, omega });
        }
        // creep towards over-relaxation as long as it pays
        if iter % 25 == 0 {
            let rate = err / last;
            debug!("iteration {iter}: error {err:.3e}, rate {rate:.4}, omega {omega:.3}");
            omega = if rate > 0.2 { f64::min(omega + 0.04, 1.9) } else { omega };
            last = err;
        }
    };
    conv.flush()?;
    println!("{} iterations, error {:.3e}, omega {:.2}", iter, err, omega);

    // phase 4: fluxes, smoothed a few times
    let mut flux = phase!("fluxes", post::fluxes(&mesh, &x));
    for pass in 0..20 {
        let change = post::smooth(&mesh, &mut flux);
        trace!("pass {pass}: {change:e}");
        if change < 1e-4 {
            break;
        }
    }

    // phase 5: write
    phase!("writing", {
        post::write_temperatures("temperature.txt", &mesh, &x)?;
        post::write_fluxes("flux.txt", &mesh, &flux)?;
    });
    let (lo, hi) = x.iter().fold((f64::MAX, f64::MIN), |(lo, hi), v| (lo.min(*v), hi.max(*v)));
    println!("temperatures from {lo:.6} to {hi:.6}");
    for (name, total) in post::heat_by_material(&mesh, &x) {
        println!("  {name:12} {total:+.9}");
    }
    Ok(())
}

/// Stiffness matrix and right-hand side of linear triangles; rows of given temperatures are those of the identity.
fn assemble(mesh: &Mesh) -> Result<(SparseRows, Vec<f64>), Error> {
    let n = mesh.nodes.len();
    let mut a = SparseRows::new(n);
    let mut b = vec![0.0; n];
    for (number, t) in mesh.triangles.iter().enumerate() {
        let (grad, area) = mesh.gradients(t);
        if area <= 0.0 {
            return Err(Error::Degenerate(number + 1));
        }
        let k = mesh.conductivity(t);
        for (i, gi) in t.nodes.iter().zip(&grad) {
            if mesh.nodes[*i].given.is_some() {
                continue;
            }
            for (j, gj) in t.nodes.iter().zip(&grad) {
                a.add(*i, *j, k * area * (gi.0 * gj.0 + gi.1 * gj.1));
            }
            b[*i] += 0.05 * area / 3.0;
        }
    }
    for (i, node) in mesh.nodes.iter().enumerate() {
        if let Some(value) = node.given {
            a.add(i, i, 1.0);
            b[i] = value;
        }
    }
    a.finish();
    Ok((a, b))
}
