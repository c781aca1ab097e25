//  NAME:    nstream
//
//  PURPOSE: To compute memory bandwidth when adding a vector of a given
//           number of double precision values to the scalar multiple of
//           another vector of the same length, and storing the result in
//           a third vector.

use prk_serial::{die, wtime, Args, VERSION};

const SCALAR: f64 = 3.0;

fn triad(a: &mut [f64], b: &[f64], c: &[f64]) {
    a.iter_mut().zip(b.iter().zip(c)).for_each(|(a, (b, c))| *a += b + SCALAR * c);
}

fn check(a: &[f64], iterations: u64) -> Result<f64, (f64, f64)> {
    let (mut ar, br, cr) = (0.0, 2.0, 2.0);
    for _ in 0..=iterations {
        ar += br + SCALAR * cr;
    }
    let ar = ar * a.len() as f64;
    let asum: f64 = a.iter().map(|x| x.abs()).sum();
    let relative = (ar - asum).abs() / asum;
    if relative > 1.0e-8 { Err((ar, asum)) } else { Ok(relative) }
}

fn main() {
    println!("Parallel Research Kernels version {VERSION}");
    println!("Rust STREAM triad: A = B + scalar * C");

    let mut args = Args::new("nstream");
    let iterations: u64 = args.take("# iterations", 300, 1);
    let length: usize = args.take("vector length", 500_000, 1);
    let offset: usize = args.take("offset", 0, 0);
    args.done();

    println!("Number of iterations = {iterations}");
    println!("Vector length        = {length}");
    println!("Offset               = {offset}");

    let space = length + offset;
    let mut a = vec![0.0; space];
    let b = vec![2.0; space];
    let c = vec![2.0; space];

    let mut nstream_time = 0.0;
    let mut iter = 0;
    loop {
        if iter == 1 {
            nstream_time = wtime();
        }
        triad(&mut a[offset..], &b[offset..], &c[offset..]);
        if iter == iterations {
            break;
        }
        iter += 1;
    }
    nstream_time = wtime() - nstream_time;

    match check(&a[offset..], iterations) {
        Ok(_) => {
            println!("Solution validates");
            let avgtime = nstream_time / iterations as f64;
            let nbytes = 4.0 * length as f64 * 8.0;
            println!("Rate (MB/s): {:.1} Avg time (s): {avgtime:.6}", 1.0e-6 * nbytes / avgtime);
        }
        Err((expected, observed)) => {
            println!("Failed Validation on output array");
            println!("        Expected checksum: {expected}");
            println!("        Observed checksum: {observed}");
            die!("solution did not validate");
        }
    }
}
