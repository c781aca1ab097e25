use rayon::prelude::*;
use rayon::ThreadPoolBuilder;

/// Bodies in a galaxy: forces by rayon in a pool of a size of its own.
#[derive(Clone, Copy, Debug)]
struct Body {
    at: [f64; 3],
    speed: [f64; 3],
    mass: f64,
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

fn force(bodies: &[Body], on: &Body) -> [f64; 3] {
    let mut total = [0.0; 3];
    for other in bodies {
        let d: [f64; 3] = std::array::from_fn(|k| other.at[k] - on.at[k]);
        let r2 = d.iter().map(|x| x * x).sum::<f64>() + 0.01;
        let scale = other.mass / (r2 * r2.sqrt());
        (0..3).for_each(|k| total[k] += scale * d[k]);
    }
    total
}

fn energy(bodies: &[Body]) -> f64 {
    let (left, right) = rayon::join(
        || bodies.iter().map(|b| 0.5 * b.mass * b.speed.iter().map(|v| v * v).sum::<f64>()).sum::<f64>(),
        || {
            let mut sum = 0.0;
            for (i, a) in bodies.iter().enumerate() {
                for b in &bodies[..i] {
                    let r2: f64 = (0..3).map(|k| (a.at[k] - b.at[k]).powi(2)).sum();
                    sum -= a.mass * b.mass / (r2 + 0.01).sqrt();
                }
            }
            sum
        },
    );
    left + right
}

fn main() {
    let threads = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(2);
    let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
    let mut random = Random(42);
    let mut bodies: Vec<Body> = (0..200)
        .map(|_| Body {
            at: std::array::from_fn(|_| random.next() * 2.0 - 1.0),
            speed: std::array::from_fn(|_| 0.2 * (random.next() - 0.5)),
            mass: 0.5 + random.next(),
        })
        .collect();
    let dt = 1e-3;
    println!("start {:.12}", energy(&bodies));
    for step in 1..=60 {
        let forces: Vec<[f64; 3]> = pool.install(|| bodies.par_iter().map(|b| force(&bodies, b)).collect());
        pool.install(|| {
            bodies.par_chunks_mut(16).zip(forces.par_chunks(16)).for_each(|(bodies, forces)| {
                for (body, force) in bodies.iter_mut().zip(forces) {
                    for k in 0..3 {
                        body.speed[k] += dt * force[k];
                        body.at[k] += dt * body.speed[k];
                    }
                }
            })
        });
        if step % 20 == 0 {
            println!("{step} {:.12}", energy(&bodies));
        }
    }
}
