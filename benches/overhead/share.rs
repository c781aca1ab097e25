//! Two threads that share a large array, all of which changes between two visits. In every step they copy it together, each
//! its half into memory of its own, and say how long that takes: what packing it by all members would take.

use std::sync::{Barrier, RwLock};
use std::thread;
use std::time::{Duration, Instant};

const MEMBERS: usize = 2;

#[ckpt::main]
fn main() {
    let mut numbers = std::env::args()
        .skip(1)
        .filter_map(|word| word.parse::<usize>().ok());
    let (mebibytes, steps) = (numbers.next().unwrap_or(256), numbers.next().unwrap_or(8));
    let cells = mebibytes << 17;
    let grid: RwLock<Vec<f64>> = RwLock::new((0..cells).map(|k| 1.0 + k as f64).collect());
    let barrier = Barrier::new(MEMBERS);
    thread::scope(|s| {
        for member in 0..MEMBERS {
            let (grid, barrier) = (&grid, &barrier);
            s.spawn(move || {
                let half = cells / MEMBERS;
                #[ckpt(skip)]
                let mut own: Vec<f64> = vec![1.0; half];
                for step in 0..steps {
                    ckpt::checkpoint!();
                    barrier.wait();
                    let begin = Instant::now();
                    own.copy_from_slice(&grid.read().unwrap()[member * half..][..half]);
                    barrier.wait();
                    if member == 0 {
                        println!("{}", begin.elapsed().as_secs_f64());
                        grid.write().unwrap().iter_mut().for_each(|x| *x += step as f64);
                        // The checkpoint is on its way to the disk.
                        thread::sleep(Duration::from_millis(4 * mebibytes as u64));
                    }
                    barrier.wait();
                }
            });
        }
    });
    println!("{}", grid.into_inner().unwrap().iter().sum::<f64>());
}
