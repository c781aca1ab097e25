//  NAME:    transpose
//
//  PURPOSE: This program measures the time for the transpose of a
//           column-major stored matrix into a row-major stored matrix.
//
//  USAGE:   transpose <iterations> <order> <tile size>
//
//  B += A^T;  A += 1.0;   many times over

use prk_serial::{die, wtime, Args, VERSION};

fn transpose_tiled(order: usize, tile: usize, a: &mut [f64], b: &mut [f64]) {
    for it in (0..order).step_by(tile) {
        for jt in (0..order).step_by(tile) {
            let (imax, jmax) = ((it + tile).min(order), (jt + tile).min(order));
            for i in it..imax {
                for j in jt..jmax {
                    b[i * order + j] += a[j * order + i];
                    a[j * order + i] += 1.0;
                }
            }
        }
    }
}

fn transpose_plain(order: usize, a: &mut [f64], b: &mut [f64]) {
    for i in 0..order {
        for j in 0..order {
            b[i * order + j] += a[j * order + i];
            a[j * order + i] += 1.0;
        }
    }
}

fn main() {
    println!("Parallel Research Kernels version {VERSION}");
    println!("Rust Matrix transpose: B = A^T");

    let mut args = Args::new("transpose");
    let iterations = args.take("# iterations", 100u32, 1);
    let order = args.take("matrix order", 600usize, 1);
    let tile = args.take("tile size", 32usize, 0);
    args.done();
    let tile = if tile == 0 || tile > order { order } else { tile };

    println!("Number of iterations = {iterations}");
    println!("Matrix order         = {order}");
    if tile < order {
        println!("Tile size            = {tile}");
    } else {
        println!("Untiled");
    }

    let bytes = match order.checked_mul(order).and_then(|n| n.checked_mul(std::mem::size_of::<f64>())) {
        Some(bytes) => bytes,
        None => die!("matrix of order {order} does not fit into memory"),
    };

    let mut a: Vec<f64> = (0..order * order).map(|k| k as f64).collect();
    let mut b = vec![0.0_f64; order * order];

    let mut trans_time = 0.0;
    for iter in 0..=iterations {
        // start timer after a warmup iteration
        if iter == 1 {
            trans_time = wtime();
        }
        if tile < order {
            transpose_tiled(order, tile, &mut a, &mut b);
        } else {
            transpose_plain(order, &mut a, &mut b);
        }
    }
    trans_time = wtime() - trans_time;

    let addit = (iterations as f64 + 1.0) * iterations as f64 / 2.0;
    let mut abserr = 0.0;
    for i in 0..order {
        for j in 0..order {
            let temp = (order * j + i) as f64 * (iterations as f64 + 1.0) + addit;
            abserr += (b[i * order + j] - temp).abs();
        }
    }

    let epsilon = 1.0e-8;
    if abserr >= epsilon {
        die!("Aggregate squared error {abserr} exceeds threshold {epsilon}");
    }
    println!("Solution validates");
    println!("Sum of squares: {abserr}");
    let avgtime = trans_time / iterations as f64;
    println!("Rate (MB/s): {:.3} Avg time (s): {:.6}", 1.0e-06 * 2.0 * bytes as f64 / avgtime, avgtime);
}
