// Heat in a rod; the thread of main works on a part as well.

use std::sync::{Barrier, RwLock};
use std::thread;

const CELLS: usize = 1200;
const STEPS: usize = 500;

fn advance(part: usize, parts: usize, rod: &RwLock<Vec<f64>>, lost: &RwLock<Vec<f64>>, barrier: &Barrier) {
    let size = CELLS / parts;
    let (first, last) = (part * size, if part + 1 == parts { CELLS } else { (part + 1) * size });
    let mut next = vec![0.0; last - first];
    let mut out = 0.0;
    for _step in 0..STEPS {
        {
            let rod = rod.read().unwrap();
            for i in first..last {
                let left = if i == 0 { 0.0 } else { rod[i - 1] };
                let right = if i + 1 == CELLS { 0.0 } else { rod[i + 1] };
                next[i - first] = rod[i] + 0.25 * (left - 2.0 * rod[i] + right);
            }
            if first == 0 {
                out += 0.25 * rod[0];
            }
        }
        barrier.wait();
        rod.write().unwrap()[first..last].copy_from_slice(&next);
        barrier.wait();
    }
    lost.write().unwrap()[part] = out;
}

fn main() {
    let parts: usize = std::env::args().nth(1).map_or(2, |n| n.parse().unwrap());
    let rod = RwLock::new((0..CELLS).map(|i| if i < 400 { 1.0 } else { 0.1 }).collect::<Vec<f64>>());
    let lost = RwLock::new(vec![0.0; parts]);
    let barrier = Barrier::new(parts);
    thread::scope(|s| {
        for part in 1..parts {
            let (rod, lost, barrier) = (&rod, &lost, &barrier);
            s.spawn(move || advance(part, parts, rod, lost, barrier));
        }
        advance(0, parts, &rod, &lost, &barrier);
    });
    let rod = rod.into_inner().unwrap();
    println!("{:.12} left, {:.12} lost", rod.iter().sum::<f64>(), lost.into_inner().unwrap()[0]);
}
