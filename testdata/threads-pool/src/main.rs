// Spectral norm with a thread pool of the program's own, in the style of the Rust book; one pool for every phase.

mod pool;

use pool::ThreadPool;
use std::sync::{mpsc, Arc};

fn a(i: usize, j: usize) -> f64 {
    1.0 / (((i + j) * (i + j + 1) / 2 + i + 1) as f64)
}

fn multiply(pool: &ThreadPool, v: &Arc<Vec<f64>>, transposed: bool, parts: usize) -> Vec<f64> {
    let n = v.len();
    let chunk = n.div_ceil(parts);
    let (tx, rx) = mpsc::channel();
    for k in 0..parts {
        let v = Arc::clone(v);
        let tx = tx.clone();
        pool.execute(move || {
            let rows = k * chunk..((k + 1) * chunk).min(n);
            let part: Vec<f64> = rows
                .map(|i| (0..n).map(|j| if transposed { a(j, i) * v[j] } else { a(i, j) * v[j] }).sum())
                .collect();
            tx.send((k, part)).expect("somebody listens");
        });
    }
    drop(tx);
    let mut parts: Vec<(usize, Vec<f64>)> = rx.iter().collect();
    parts.sort_by_key(|(k, _)| *k);
    parts.into_iter().flat_map(|(_, part)| part).collect()
}

fn phase(u: Vec<f64>, threads: usize) -> (Vec<f64>, Vec<f64>) {
    let pool = ThreadPool::new(threads);
    let u = Arc::new(u);
    let t = Arc::new(multiply(&pool, &u, false, 8));
    let v = Arc::new(multiply(&pool, &t, true, 8));
    let t = Arc::new(multiply(&pool, &v, false, 8));
    let w = multiply(&pool, &t, true, 8);
    (v.to_vec(), w)
}

fn main() {
    let threads = std::env::args().nth(1).map_or(2, |n| n.parse().unwrap());
    let n = 120;
    let mut u = vec![1.0; n];
    let mut v = vec![0.0; n];
    for turn in 0..30 {
        (v, u) = phase(u, threads);
        let length = u.iter().map(|x| x * x).sum::<f64>().sqrt();
        if turn % 5 == 4 {
            println!("{turn:2}: {length:.12e}");
        }
        let scale = 1.0 / length;
        u.iter_mut().for_each(|x| *x *= scale);
        v.iter_mut().for_each(|x| *x *= scale);
    }
    let (uv, vv) = u.iter().zip(&v).fold((0.0, 0.0), |(uv, vv), (x, y)| (uv + x * y, vv + y * y));
    println!("{:.9}", (uv / vv).sqrt());
}
