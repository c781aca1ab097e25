//! Hares and lynxes on a line of meadows: two threads with work of their own, that take turns at a barrier.

use std::fmt;
use std::fs;
use std::sync::{Barrier, Mutex, RwLock};
use std::thread;

const MEADOWS: usize = 200;
const SEASONS: usize = 800;

#[derive(Default)]
struct Census {
    hares: Vec<f64>,
    lynxes: Vec<f64>,
}

struct Island {
    hares: RwLock<Vec<f64>>,
    lynxes: RwLock<Vec<f64>>,
    census: Mutex<Census>,
    dusk: Barrier,
}

impl Island {
    fn new() -> Self {
        let hares = (0..MEADOWS).map(|i| 10.0 + (i as f64 * 0.1).sin()).collect();
        let lynxes = (0..MEADOWS).map(|i| 4.0 + (i as f64 * 0.07).cos()).collect();
        Self {
            hares: RwLock::new(hares),
            lynxes: RwLock::new(lynxes),
            census: Mutex::default(),
            dusk: Barrier::new(2),
        }
    }

    fn evening(&self) {
        self.dusk.wait();
    }
}

impl fmt::Display for Census {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (season, (h, l)) in self.hares.iter().zip(&self.lynxes).enumerate() {
            writeln!(f, "{season},{h:.9},{l:.9}")?;
        }
        Ok(())
    }
}

fn spread(values: &[f64], i: usize) -> f64 {
    let left = values[i.saturating_sub(1)];
    let right = values[(i + 1).min(values.len() - 1)];
    0.05 * (left - 2.0 * values[i] + right)
}

fn main() {
    let island = Island::new();
    let dt = 0.01;
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut born = 0.0;
            for season in 0..SEASONS {
                let next: Vec<f64> = {
                    let (h, l) = (island.hares.read().unwrap(), island.lynxes.read().unwrap());
                    (0..MEADOWS).map(|i| h[i] + dt * (1.1 * h[i] - 0.4 * h[i] * l[i]) + spread(&h, i)).collect()
                };
                born += next.iter().sum::<f64>() * dt;
                island.evening();
                *island.hares.write().unwrap() = next;
                if season % 10 == 0 {
                    let mean = island.hares.read().unwrap().iter().sum::<f64>() / MEADOWS as f64;
                    island.census.lock().unwrap().hares.push(mean);
                }
                island.evening();
            }
            println!("born: {born:.9}");
            island.evening();
        });
        scope.spawn(|| {
            let mut starved = 0usize;
            for season in 0..SEASONS {
                let mut next = island.lynxes.read().unwrap().clone();
                {
                    let (h, l) = (island.hares.read().unwrap(), island.lynxes.read().unwrap());
                    for (i, value) in next.iter_mut().enumerate() {
                        *value += dt * (0.1 * h[i] * l[i] - 0.4 * l[i]) + spread(&l, i);
                        if h[i] < 1.0 {
                            starved += 1;
                        }
                    }
                }
                island.evening();
                *island.lynxes.write().unwrap() = next;
                if season % 10 == 0 {
                    let mean = island.lynxes.read().unwrap().iter().sum::<f64>() / MEADOWS as f64;
                    island.census.lock().unwrap().lynxes.push(mean);
                }
                island.evening();
            }
            island.evening();
            println!("hungry: {starved}");
        });
    });
    let census = island.census.into_inner().unwrap();
    fs::write("census.csv", census.to_string()).unwrap();
}
