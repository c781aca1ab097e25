use rayon::prelude::*;
use std::env;
use std::fs::File;
use std::io::prelude::*;
use std::io::LineWriter;
use std::sync::atomic::{AtomicU64, Ordering};

// 3D heat equation with a moving laser spot, FTCS, rows in parallel

static CELL_UPDATES: AtomicU64 = AtomicU64::new(0);

#[derive(Clone, Copy)]
struct Material {
    alpha: f64,
    rho_cp: f64,
}

const STEEL: Material = Material { alpha: 1.2e-5, rho_cp: 3.8e6 };

struct Grid {
    nx: usize,
    ny: usize,
    nz: usize,
    h: f64,
}

impl Grid {
    #[inline(always)]
    fn at(&self, i: usize, j: usize, k: usize) -> usize {
        (k * self.ny + j) * self.nx + i
    }
    fn len(&self) -> usize {
        self.nx * self.ny * self.nz
    }
}

struct Laser {
    power: f64,
    radius: f64,
    speed: f64,
}

impl Laser {
    // W / m2 at (x, y) and time t
    fn flux(&self, x: f64, y: f64, y0: f64, t: f64) -> f64 {
        let dx = x - self.speed * t;
        let dy = y - y0;
        let r2 = self.radius * self.radius;
        2.0 * self.power / (std::f64::consts::PI * r2) * (-2.0 * (dx * dx + dy * dy) / r2).exp()
    }
}

fn step(g: &Grid, m: Material, laser: &Laser, t: f64, dt: f64, old: &[f64], new: &mut [f64]) -> f64 {
    let c = m.alpha * dt / (g.h * g.h);
    let plane = g.nx * g.ny;
    new.par_chunks_mut(plane)
        .enumerate()
        .map(|(k, out)| {
            let mut change: f64 = 0.0;
            for j in 0..g.ny {
                for i in 0..g.nx {
                    let here = old[g.at(i, j, k)];
                    // adiabatic walls: a neighbour outside is the cell itself
                    let w = if i > 0 { old[g.at(i - 1, j, k)] } else { here };
                    let e = if i + 1 < g.nx { old[g.at(i + 1, j, k)] } else { here };
                    let s = if j > 0 { old[g.at(i, j - 1, k)] } else { here };
                    let n = if j + 1 < g.ny { old[g.at(i, j + 1, k)] } else { here };
                    let b = if k > 0 { old[g.at(i, j, k - 1)] } else { here };
                    let a = if k + 1 < g.nz { old[g.at(i, j, k + 1)] } else { here };
                    let mut v = here + c * (w + e + s + n + a + b - 6.0 * here);
                    if k == g.nz - 1 {
                        let (x, y) = ((i as f64 + 0.5) * g.h, (j as f64 + 0.5) * g.h);
                        v += laser.flux(x, y, 0.5 * g.ny as f64 * g.h, t) * dt / (m.rho_cp * g.h);
                    }
                    change = change.max((v - here).abs());
                    out[j * g.nx + i] = v;
                }
            }
            CELL_UPDATES.fetch_add(plane as u64, Ordering::Relaxed);
            change
        })
        .reduce(|| 0.0, f64::max)
}

fn mean(t: &[f64]) -> f64 {
    // plane by plane, so that the sum does not depend on how rayon splits the work
    let parts: Vec<f64> = t.par_chunks(4096).map(|c| c.iter().sum::<f64>()).collect();
    parts.iter().sum::<f64>() / t.len() as f64
}

fn main() {
    let args: Vec<usize> = env::args().skip(1).map(|a| a.parse().unwrap()).collect();
    let (n, steps) = match args[..] {
        [] => (112, 240),
        [n] => (n, 240),
        [n, s] => (n, s),
        _ => panic!("usage: heat-rayon [N [STEPS]]"),
    };
    let g = Grid { nx: n, ny: n / 2, nz: n / 4, h: 5e-5 };
    let laser = Laser { power: 180.0, radius: 3e-4, speed: 0.5 };
    let material = STEEL;
    let dt = 0.9 * g.h * g.h / (6.0 * material.alpha);

    println!("grid {}x{}x{}, dt = {:.3e} s", g.nx, g.ny, g.nz, dt);

    let mut temp = vec![293.15f64; g.len()];
    let mut next = temp.clone();
    let mut log = LineWriter::new(File::create("heat.log").unwrap());
    let mut hottest = 0.0f64;

    for s in 0..steps {
        let t = s as f64 * dt;
        let change = step(&g, material, &laser, t, dt, &temp, &mut next);
        std::mem::swap(&mut temp, &mut next);

        let max = temp.par_iter().cloned().reduce(|| f64::MIN, f64::max);
        if max > hottest {
            hottest = max;
        }
        if s % 20 == 19 {
            let avg = mean(&temp);
            println!("{:4} t={:.4e} max={:.3} mean={:.5} change={:.4e}", s + 1, t, max, avg, change);
            write!(log, "{} {:.9e} ", s + 1, t).unwrap();
            write!(log, "{:.9} {:.9}\n", max, avg).unwrap();
        }
    }

    let absorbed = (mean(&temp) - 293.15) * material.rho_cp * g.h.powi(3) * g.len() as f64;
    println!("hottest {:.4} K", hottest);
    println!("energy absorbed {:.6} J", absorbed);
    println!("cell updates {}", CELL_UPDATES.load(Ordering::SeqCst));

    let mut f = File::create("surface.txt").unwrap();
    let top = g.nz - 1;
    for j in 0..g.ny {
        let line: Vec<String> = (0..g.nx).map(|i| format!("{:.3}", temp[g.at(i, j, top)])).collect();
        f.write_all(line.join(" ").as_bytes()).unwrap();
        f.write_all(b"\n").unwrap();
    }
}
