//! A string that swings: scoped threads, each with its part of the two buffers, and the largest elongation in an atomic.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Barrier, RwLock};
use std::thread;

struct Config {
    points: usize,
    steps: usize,
    courant: f64,
    threads: usize,
}

impl Config {
    fn from_args() -> Config {
        let mut config = Config { points: 4000, steps: 600, courant: 0.9, threads: 2 };
        let args: Vec<String> = std::env::args().skip(1).collect();
        for pair in args.chunks(2) {
            match (pair[0].as_str(), &pair[1]) {
                ("--threads", n) => config.threads = n.parse().unwrap(),
                ("--points", n) => config.points = n.parse().unwrap(),
                ("--steps", n) => config.steps = n.parse().unwrap(),
                (other, _) => panic!("unknown option {other}"),
            }
        }
        config
    }
}

fn largest(slot: &AtomicU64, value: f64) {
    let mut seen = slot.load(Ordering::SeqCst);
    while f64::from_bits(seen) < value {
        match slot.compare_exchange(seen, value.to_bits(), Ordering::SeqCst, Ordering::SeqCst) {
            Ok(_) => break,
            Err(other) => seen = other,
        }
    }
}

fn main() {
    let config = Config::from_args();
    let n = config.points;
    let initial: Vec<f64> = (0..n)
        .map(|i| {
            let x = i as f64 / (n - 1) as f64;
            (-200.0 * (x - 0.3) * (x - 0.3)).exp()
        })
        .collect();
    let shape = RwLock::new(initial.clone());
    let peak = AtomicU64::new(0);
    let peaks = RwLock::new(Vec::with_capacity(config.steps));
    let barrier = Barrier::new(config.threads);
    let mut before = initial;
    let share = n.div_ceil(config.threads);
    let r2 = config.courant * config.courant;
    thread::scope(|s| {
        for (k, old) in before.chunks_mut(share).enumerate() {
            let (shape, peak, peaks, barrier, config) = (&shape, &peak, &peaks, &barrier, &config);
            s.spawn(move || {
                let first = k * share;
                let mut new = vec![0.0; old.len()];
                for step in 0..config.steps {
                    {
                        let u = shape.read().unwrap();
                        for (j, value) in new.iter_mut().enumerate() {
                            let i = first + j;
                            *value = if i == 0 || i == n - 1 {
                                0.0
                            } else {
                                2.0 * u[i] - old[j] + r2 * (u[i - 1] - 2.0 * u[i] + u[i + 1])
                            };
                        }
                        old.copy_from_slice(&u[first..first + new.len()]);
                    }
                    barrier.wait();
                    shape.write().unwrap()[first..first + new.len()].copy_from_slice(&new);
                    largest(peak, new.iter().fold(0.0, |a: f64, b| a.max(b.abs())));
                    if barrier.wait().is_leader() {
                        let top = f64::from_bits(peak.swap(0, Ordering::SeqCst));
                        peaks.write().unwrap().push(top);
                        if step % 100 == 0 {
                            println!("step {step}: {top:.9}");
                        }
                    }
                    barrier.wait();
                }
            });
        }
    });
    let shape = shape.into_inner().unwrap();
    let energy: f64 = shape.iter().zip(&before).map(|(a, b)| (a - b) * (a - b)).sum();
    let peaks = peaks.into_inner().unwrap();
    println!("kinetic energy {energy:.12e}, {} peaks, sum {:.12}", peaks.len(), peaks.iter().sum::<f64>());
}
