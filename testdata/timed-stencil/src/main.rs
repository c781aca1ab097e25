// Star-shaped stencil of radius R on a square grid, after the Parallel Research Kernel of that name.
// usage: timed-stencil [ITERATIONS [N]]

mod timers;

use timers::Timers;

const R: usize = 2;

struct Stencil {
    n: usize,
    weights: [f64; R],
    input: Vec<f64>,
    output: Vec<f64>,
}

impl Stencil {
    fn new(n: usize) -> Self {
        let mut weights = [0.0; R];
        for (k, w) in weights.iter_mut().enumerate() {
            *w = 1.0 / (2.0 * (k + 1) as f64 * R as f64);
        }
        let mut input = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                input[i * n + j] = i as f64 + j as f64;
            }
        }
        Stencil { n, weights, input, output: vec![0.0; n * n] }
    }

    fn apply(&mut self) {
        let n = self.n;
        for i in R..n - R {
            for j in R..n - R {
                let mut sum = 0.0;
                for k in 1..=R {
                    let w = self.weights[k - 1];
                    sum += w * (self.input[(i + k) * n + j] - self.input[(i - k) * n + j]);
                    sum += w * (self.input[i * n + j + k] - self.input[i * n + j - k]);
                }
                self.output[i * n + j] += sum;
            }
        }
    }

    fn increment(&mut self) {
        self.input.iter_mut().for_each(|x| *x += 1.0);
    }

    fn norm(&self) -> f64 {
        let n = self.n;
        let mut sum = 0.0;
        for i in R..n - R {
            for j in R..n - R {
                sum += self.output[i * n + j].abs();
            }
        }
        sum / ((n - 2 * R) * (n - 2 * R)) as f64
    }
}

fn main() {
    let args: Vec<usize> = std::env::args().skip(1).map(|a| a.parse().expect("a number")).collect();
    let iterations = args.first().copied().unwrap_or(100);
    let n = args.get(1).copied().unwrap_or(300);

    let mut timers = Timers::default();
    let mut stencil = timers.time("setup", || Stencil::new(n));
    let mut t = 0usize;

    // The first iteration only warms up, as the kernel's rules have it.
    let rate = timers.time("stencil", || {
        let mut slowest = 0;
        timers::repeat(iterations + 1, |i| {
            stencil.apply();
            stencil.increment();
            t += 1;
            if i % 25 == 0 {
                println!("iteration {i}: {:.6}", stencil.norm() / t as f64);
                slowest = slowest.max(i);
            }
        })
    });

    let norm = timers.time("check", || stencil.norm());
    let expected = (iterations + 1) as f64 * 2.0;
    if (norm - expected).abs() > 1e-8 {
        eprintln!("ERROR: L1 norm = {norm} Reference L1 norm = {expected}");
        std::process::exit(1);
    }
    println!("Solution validates: {norm:.6} after {t}");
    eprintln!("Rate (iterations/s): {rate:.1}");
    timers.report();
}
