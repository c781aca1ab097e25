//! randlc / vranlc, the double precision linear congruential generators
//! of the NAS Parallel Benchmarks.
//!
//!     x_{k+1} = a x_k  mod 2^46
//!
//! Both return numbers in (0, 1).

const T23: f64 = (1u64 << 23) as f64;
const T46: f64 = T23 * T23;
const R23: f64 = 1.0 / T23;
const R46: f64 = R23 * R23;

pub fn randlc(x: &mut f64, a: f64) -> f64 {
    // Break A into two parts such that A = 2^23 * A1 + A2.
    let t1 = R23 * a;
    let a1 = t1 as i64 as f64;
    let a2 = a - T23 * a1;

    // Break X into two parts such that X = 2^23 * X1 + X2, compute
    // Z = A1 * X2 + A2 * X1  (mod 2^23), and then
    // X = 2^23 * Z + A2 * X2  (mod 2^46).
    let t1 = R23 * *x;
    let x1 = t1 as i64 as f64;
    let x2 = *x - T23 * x1;
    let t1 = a1 * x2 + a2 * x1;
    let t2 = (R23 * t1) as i64 as f64;
    let z = t1 - T23 * t2;
    let t3 = T23 * z + a2 * x2;
    let t4 = (R46 * t3) as i64 as f64;
    *x = t3 - T46 * t4;

    R46 * *x
}

pub fn vranlc(n: usize, x_seed: &mut f64, a: f64, y: &mut [f64]) {
    let t1 = R23 * a;
    let a1 = t1 as i64 as f64;
    let a2 = a - T23 * a1;
    let mut x = *x_seed;

    // Generate N results.   This loop is not vectorizable.
    for i in 0..n {
        let t1 = R23 * x;
        let x1 = t1 as i64 as f64;
        let x2 = x - T23 * x1;
        let t1 = a1 * x2 + a2 * x1;
        let t2 = (R23 * t1) as i64 as f64;
        let z = t1 - T23 * t2;
        let t3 = T23 * z + a2 * x2;
        let t4 = (R46 * t3) as i64 as f64;
        x = t3 - T46 * t4;
        y[i] = R46 * x;
    }
    *x_seed = x;
}
