//! Acoustic waves in a layered medium: second order in time, fourth order in space, with a sponge around.
//! A Ricker wavelet is fired in the middle and recorded by a line of geophones.

use std::f64::consts::PI;
use std::fs::File;
use std::io::{BufWriter, Write};

use ndarray::{azip, s, Array1, Array2, ArrayView2, Axis, Zip};

mod medium;
use medium::Medium;

/// Coefficients of the fourth-order second derivative.
const W: [f64; 3] = [-5.0 / 2.0, 4.0 / 3.0, -1.0 / 12.0];

struct Wave {
    u: Array2<f64>,
    u_prev: Array2<f64>,
    lap: Array2<f64>,
    medium: Medium,
    dt: f64,
    h: f64,
}

impl Wave {
    fn new(medium: Medium, h: f64) -> Self {
        let dim = medium.c2.raw_dim();
        let cmax = medium.c2.iter().fold(0.0f64, |m, &c| m.max(c)).sqrt();
        let dt = 0.5 * h / cmax;
        Wave { u: Array2::zeros(dim), u_prev: Array2::zeros(dim), lap: Array2::zeros(dim), medium, dt, h }
    }

    fn laplacian(&mut self) {
        let (ny, nx) = self.u.dim();
        let u = self.u.view();
        let part = |dy: isize, dx: isize| -> ArrayView2<'_, f64> {
            let (y0, x0) = (2 + dy, 2 + dx);
            u.slice_move(s![y0..y0 + ny as isize - 4, x0..x0 + nx as isize - 4])
        };
        let centre = part(0, 0);
        let mut inner = self.lap.slice_mut(s![2..-2, 2..-2]);
        azip!((l in &mut inner, &c in &centre) *l = 2.0 * W[0] * c);
        for (d, w) in [(1, W[1]), (2, W[2])] {
            azip!((l in &mut inner, &n in &part(-d, 0), &s in &part(d, 0), &w_ in &part(0, -d), &e in &part(0, d)) {
                *l += w * (n + s + w_ + e);
            });
        }
        inner /= self.h * self.h;
    }

    fn step(&mut self, source: Option<((usize, usize), f64)>) {
        self.laplacian();
        let dt2 = self.dt * self.dt;
        Zip::from(&mut self.u_prev)
            .and(&self.u)
            .and(&self.lap)
            .and(&self.medium.c2)
            .and(&self.medium.damping)
            .for_each(|prev, &now, &lap, &c2, &g| {
                let next = 2.0 * now - *prev + dt2 * c2 * lap;
                *prev = (next + g * *prev) / (1.0 + g);
            });
        if let Some((at, amplitude)) = source {
            self.u_prev[at] += dt2 * amplitude;
        }
        std::mem::swap(&mut self.u, &mut self.u_prev);
    }

    fn energy(&self) -> f64 {
        let kinetic: f64 = Zip::from(&self.u).and(&self.u_prev).fold(0.0, |acc, &a, &b| {
            let v = (a - b) / self.dt;
            acc + 0.5 * v * v
        });
        let dx = &self.u.slice(s![.., 1..]) - &self.u.slice(s![.., ..-1]);
        let dy = &self.u.slice(s![1.., ..]) - &self.u.slice(s![..-1, ..]);
        let strain = dx.mapv(|v| v * v).sum() + dy.mapv(|v| v * v).sum();
        (kinetic + 0.5 * strain / (self.h * self.h)) * self.h * self.h
    }
}

fn ricker(t: f64, f0: f64) -> f64 {
    let a = (PI * f0 * (t - 1.2 / f0)).powi(2);
    (1.0 - 2.0 * a) * (-a).exp()
}

fn write_pgm(path: &str, field: &Array2<f64>) -> std::io::Result<()> {
    let peak = field.iter().map(|v| v.abs()).fold(1e-300, f64::max);
    let mut out = BufWriter::new(File::create(path)?);
    write!(out, "P5\n{} {}\n255\n", field.ncols(), field.nrows())?;
    for row in field.rows() {
        let bytes: Vec<u8> = row.iter().map(|v| (127.5 + 127.5 * v / peak) as u8).collect();
        out.write_all(&bytes)?;
    }
    out.flush()
}

fn main() -> std::io::Result<()> {
    let n: usize = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(180);
    let n_steps = std::env::args().nth(2).and_then(|a| a.parse().ok()).unwrap_or(500usize);

    let h = 10.0;
    let medium = Medium::layered((n, n), &[(0.0, 1500.0), (0.45, 2200.0), (0.7, 3100.0)], n / 8);
    let mut wave = Wave::new(medium, h);
    let source = (n / 3, n / 2);
    let f0 = 12.0;
    println!("{n} x {n} points, {n_steps} steps of {:.4} ms", wave.dt * 1e3);

    let geophones: Array1<usize> = Array1::from_iter((n / 8..n - n / 8).step_by(n / 12));
    let mut records = Array2::<f64>::zeros((n_steps, geophones.len()));
    let mut energies = File::create("energy.csv")?;
    writeln!(energies, "t,energy")?;

    for (step, mut record) in records.axis_iter_mut(Axis(0)).enumerate() {
        let t = step as f64 * wave.dt;
        let shot = (t < 3.0 / f0).then(|| (source, 1e6 * ricker(t, f0)));
        wave.step(shot);
        for (r, &x) in record.iter_mut().zip(&geophones) {
            *r = wave.u[[n / 8, x]];
        }
        if (step + 1) % 25 == 0 {
            let e = wave.energy();
            writeln!(energies, "{:.6},{:.9e}", t, e)?;
            if (step + 1) % 100 == 0 {
                println!("step {:5}  t = {:.3} s  energy {:.6e}", step + 1, t, e);
            }
        }
    }

    let mut out = BufWriter::new(File::create("seismograms.txt")?);
    for (k, trace) in records.axis_iter(Axis(1)).enumerate() {
        let (arrival, peak) =
            trace.indexed_iter().fold((0, 0.0f64), |best, (i, &v)| if v.abs() > best.1 { (i, v.abs()) } else { best });
        writeln!(out, "geophone {k} at {}: peak {peak:.6e} at step {arrival}, mean {:.6e}", geophones[k], trace.mean().unwrap())?;
    }
    out.flush()?;
    write_pgm("field.pgm", &wave.u)?;
    println!("sum of squares {:.12e}", wave.u.mapv(|v| v * v).sum());
    Ok(())
}
