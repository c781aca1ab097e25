// Monte Carlo estimation of pi and of the volumes of n-balls.
use rayon::prelude::*;

const BATCH: u64 = 20_000;

fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e3779b97f4a7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d049bb133111eb);
    z ^ (z >> 31)
}

fn uniform(state: &mut u64) -> f64 {
    (splitmix(state) >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// hits in the quarter circle of one batch of darts
fn throw(batch: u64) -> u64 {
    let mut seed = batch.wrapping_mul(0x2545f4914f6cdd1d) + 1;
    let mut hits = 0;
    for _ in 0..BATCH {
        let x = uniform(&mut seed);
        let y = uniform(&mut seed);
        if x * x + y * y <= 1.0 {
            hits += 1;
        }
    }
    hits
}

fn main() {
    let batches: u64 = std::env::args().nth(1).map_or(6_000, |s| s.parse().expect("number of batches"));

    let hits = (0..batches).into_par_iter().map(throw).sum::<u64>();
    println!("pi ~ {:.8}  ({} of {})", 4.0 * hits as f64 / (batches * BATCH) as f64, hits, batches * BATCH);

    // hits by dimension of the ball
    let dims: Vec<usize> = (2..=7).collect();
    let volumes: Vec<(usize, f64)> = dims
        .iter()
        .map(|&d| {
            let inside: u64 = (0..batches / 20)
                .into_par_iter()
                .map(|b| {
                    let mut seed = (d as u64) << 40 | b;
                    (0..BATCH)
                        .filter(|_| {
                            let mut r2 = 0.0;
                            for _ in 0..d {
                                let x = 2.0 * uniform(&mut seed) - 1.0;
                                r2 += x * x;
                            }
                            r2 <= 1.0
                        })
                        .count() as u64
                })
                .sum();
            let cube = 2f64.powi(d as i32);
            (d, cube * inside as f64 / (batches / 20 * BATCH) as f64)
        })
        .collect();
    for (d, v) in &volumes {
        println!("V_{d} ~ {v:.6}");
    }

    // longest run of hits in any batch, and a histogram of the distances
    let (run, at) = (0..batches / 4)
        .into_par_iter()
        .map(|b| {
            let mut seed = !b;
            let (mut longest, mut now) = (0u32, 0u32);
            for _ in 0..BATCH {
                let (x, y) = (uniform(&mut seed), uniform(&mut seed));
                now = if x * x + y * y <= 1.0 { now + 1 } else { 0 };
                longest = longest.max(now);
            }
            (longest, b)
        })
        .reduce(|| (0, u64::MAX), |a, b| if b.0 > a.0 || (b.0 == a.0 && b.1 < a.1) { b } else { a });
    println!("longest run of hits: {run}, in batch {at}");

    let histogram = (0..batches / 4)
        .into_par_iter()
        .fold(
            || [0u32; 8],
            |mut h, b| {
                let mut seed = b ^ 0xabcdef;
                for _ in 0..BATCH {
                    let r = uniform(&mut seed).hypot(uniform(&mut seed));
                    h[((r * 8.0 / 2f64.sqrt()) as usize).min(7)] += 1;
                }
                h
            },
        )
        .reduce(
            || [0u32; 8],
            |mut a, b| {
                a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
                a
            },
        );
    println!("{histogram:?}");
}
