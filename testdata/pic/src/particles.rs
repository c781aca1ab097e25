use crate::diag::{CROSSINGS, PUSHES};
use crate::field::Grid;
use std::cell::Cell;
use std::sync::atomic::Ordering;

thread_local! {
    static SEED: Cell<u32> = const { Cell::new(0x2545F491) };
    static SPARE: Cell<Option<f64>> = const { Cell::new(None) };
}

fn uniform() -> f64 {
    SEED.with(|seed| {
        let mut s = seed.get();
        s ^= s << 13;
        s ^= s >> 17;
        s ^= s << 5;
        seed.set(s);
        s as f64 / 4294967296.0
    })
}

/// Marsaglia's polar method; the second number of a pair is kept.
pub fn normal() -> f64 {
    if let Some(z) = SPARE.take() {
        return z;
    }
    loop {
        let (u, v) = (2.0 * uniform() - 1.0, 2.0 * uniform() - 1.0);
        let s = u * u + v * v;
        if s > 0.0 && s < 1.0 {
            let k = (-2.0 * s.ln() / s).sqrt();
            SPARE.set(Some(v * k));
            return u * k;
        }
    }
}

pub struct Species {
    pub name: &'static str,
    pub charge: f64,
    pub mass: f64,
    pub x: Vec<f64>,
    pub v: Vec<f64>,
}

impl Species {
    pub fn beam(name: &'static str, n: usize, length: f64, drift: f64, thermal: f64) -> Self {
        let q = -length / (2 * n) as f64;
        let mut x = Vec::with_capacity(n);
        let mut v = Vec::with_capacity(n);
        for i in 0..n {
            let x0 = (i as f64 + 0.5) * length / n as f64;
            x.push((x0 + 1e-3 * (2.0 * std::f64::consts::PI * x0 / length).cos()).rem_euclid(length));
            v.push(drift + thermal * normal());
        }
        Species { name, charge: q, mass: -q, x, v }
    }

    pub fn accelerate(&mut self, grid: &Grid, dt: f64) {
        let qm = self.charge / self.mass * dt;
        for (x, v) in self.x.iter().zip(self.v.iter_mut()) {
            *v += qm * grid.field_at(*x);
        }
        PUSHES.fetch_add(self.x.len() as u64, Ordering::Relaxed);
    }

    pub fn advance(&mut self, dt: f64, length: f64) {
        let mut crossings = 0;
        for i in 0..self.x.len() {
            let mut x = self.x[i] + self.v[i] * dt;
            if x < 0.0 {
                x += length;
                crossings += 1;
            } else if x >= length {
                x -= length;
                crossings += 1;
            }
            self.x[i] = x;
        }
        CROSSINGS.fetch_add(crossings, Ordering::Relaxed);
        // a weak bath keeps the coldest particles from locking to the grid
        let k = (uniform() * self.v.len() as f64) as usize;
        self.v[k] += 1e-4 * normal();
    }

    pub fn kinetic(&self) -> f64 {
        0.5 * self.mass * self.v.iter().map(|v| v * v).sum::<f64>()
    }
}
