//  MG: V-cycle multigrid for the scalar Poisson problem on a periodic cube.
//  After mg.f of the NAS Parallel Benchmarks; three-dimensional arrays are
//  flat, all levels of a quantity in one vector, level k from ir[k] on.

use std::time::Instant;

mod grid;
mod zran;

use grid::*;
use zran::zran3;

const MAXLEVEL: usize = 11;

struct Class { name: &'static str, lt: usize, nit: usize, rnm2: Option<f64>, c: [f64; 4] }

const SMALL: [f64; 4] = [-3.0/8.0, 1.0/32.0, -1.0/64.0, 0.0];
const LARGE: [f64; 4] = [-3.0/17.0, 1.0/33.0, -1.0/61.0, 0.0];

static CLASSES: [Class; 4] = [
    Class { name: "S", lt: 5, nit: 4, rnm2: Some(0.5307707005734e-04), c: SMALL },
    Class { name: "W", lt: 6, nit: 40, rnm2: Some(0.2503914064395e-17), c: SMALL },
    Class { name: "W3", lt: 7, nit: 4, rnm2: Some(0.6467329375339e-05), c: SMALL },
    Class { name: "B", lt: 8, nit: 20, rnm2: None, c: LARGE },
];

#[allow(clippy::too_many_arguments)]
fn mg3p(
    u: &mut [f64], v: &[f64], r: &mut [f64], a: &[f64; 4], c: &[f64; 4],
    m: &[usize; MAXLEVEL], ir: &[usize; MAXLEVEL], lb: usize, lt: usize,
) {
    // down cycle: restrict the residual from the fine grid to the coarse
    for k in (lb + 1..=lt).rev() {
        let j = k - 1;
        // coarse levels lie behind the fine ones
        let (fine, coarse) = r.split_at_mut(ir[j]);
        rprj3(&fine[ir[k]..], m[k], coarse, m[j]);
    }

    // compute an approximate solution on the coarsest grid
    let mut k = lb;
    zero3(&mut u[ir[k]..], m[k]);
    psinv(&r[ir[k]..], &mut u[ir[k]..], m[k], c);

    k += 1;
    while k < lt {
        let j = k - 1;
        // prolongate from level k-1 to k
        zero3(&mut u[ir[k]..], m[k]);
        let (fine, coarse) = u.split_at_mut(ir[j]);
        interp(coarse, m[j], &mut fine[ir[k]..], m[k]);
        // compute residual for level k
        let rk = r[ir[k]..ir[k] + cube(m[k])].to_vec();
        resid(&u[ir[k]..], &rk, &mut r[ir[k]..], m[k], a);
        // apply smoother
        psinv(&r[ir[k]..], &mut u[ir[k]..], m[k], c);
        k += 1;
    }

    let j = lt - 1;
    {
        let (fine, coarse) = u.split_at_mut(ir[j]);
        interp(coarse, m[j], fine, m[lt]);
    }
    resid(u, v, r, m[lt], a);
    psinv(r, u, m[lt], c);
}

fn main() {
    let which = std::env::args().nth(1).unwrap_or_else(|| "W".to_string());
    let class = match CLASSES.iter().filter(|c| c.name == which).next() {
        Some(c) => c,
        None => { println!("no class {}", which); return }
    };
    let (lt, nit) = (class.lt, class.nit);
    let lb = 1;
    let a = [-8.0/3.0, 0.0, 1.0/6.0, 1.0/12.0];
    let c = class.c;

    // setup
    let mut m = [0usize; MAXLEVEL];
    let mut ir = [0usize; MAXLEVEL];
    for k in lb..=lt { m[k] = 2 + (1 << k); }
    for k in (lb..lt).rev() { ir[k] = ir[k + 1] + cube(m[k + 1]); }
    let total = ir[lb] + cube(m[lb]);
    let nx = 1usize << lt;

    let mut u = vec![0.0; total];
    let mut r = vec![0.0; total];
    let mut v = vec![0.0; cube(m[lt])];

    println!(" NAS Parallel Benchmarks - MG Benchmark");
    println!(" Size: {:4}x{:4}x{:4}  (class {})", nx, nx, nx, class.name);
    println!(" Iterations: {:3}", nit);

    zran3(&mut v, m[lt], nx);
    let (rnm2, rnmu) = norm2u3(&v, m[lt], nx);
    println!(" charges: {:.6e} {:.1}", rnm2, rnmu);

    // one iteration for warm-up
    resid(&u, &v, &mut r, m[lt], &a);
    mg3p(&mut u, &v, &mut r, &a, &c, &m, &ir, lb, lt);
    resid(&u, &v, &mut r, m[lt], &a);

    zero3(&mut u, m[lt]);
    zran3(&mut v, m[lt], nx);

    let start = Instant::now();
    resid(&u, &v, &mut r, m[lt], &a);
    let (mut rnm2, mut rnmu) = norm2u3(&r, m[lt], nx);
    println!(" initially L2 {:.13e} max {:.13e}", rnm2, rnmu);

    for it in 1..=nit {
        if it == 1 || it == nit || it % 5 == 0 {
            println!("  iter {:3}", it);
        }
        mg3p(&mut u, &v, &mut r, &a, &c, &m, &ir, lb, lt);
        resid(&u, &v, &mut r, m[lt], &a);
    }
    let norms = norm2u3(&r, m[lt], nx);
    rnm2 = norms.0;
    rnmu = norms.1;
    let t = start.elapsed();

    println!(" L2 Norm is {:.13e}", rnm2);
    println!(" Max norm is {:.13e}", rnmu);
    if let Some(want) = class.rnm2 {
        let err = (rnm2 - want).abs() / want;
        // for W the residual is down at rounding level
        let epsilon = if want < 1e-15 { 1.0e-1 } else { 1.0e-8 };
        if err <= epsilon {
            println!(" VERIFICATION SUCCESSFUL");
        } else {
            println!(" VERIFICATION FAILED: {:.13e} expected, off by {:.3e}", want, err);
            std::process::exit(3);
        }
    } else {
        println!(" No verification for this class");
    }
    let nn = (nx as f64).powi(3);
    println!(" {:.2} s, {:.1} Mop/s", t.as_secs_f64(), 58.0 * nit as f64 * nn * 1.0e-6 / t.as_secs_f64());
}
