use std::io;
use std::path::Path;

use crate::deck::{Boundary, Chemistry, Deck, Seed};

#[derive(Debug, Clone)]
struct Field {
    nx: usize,
    ny: usize,
    data: Vec<f64>,
}

impl Field {
    fn filled(nx: usize, ny: usize, value: f64) -> Self {
        Self { nx, ny, data: vec![value; nx * ny] }
    }

    fn mean(&self) -> f64 {
        self.data.iter().sum::<f64>() / self.data.len() as f64
    }
}

pub struct Reactor {
    u: Field,
    v: Field,
    next: (Field, Field),
    chemistry: Chemistry,
    boundary: Boundary,
    elapsed: f64,
}

impl Reactor {
    pub fn from_deck(deck: &Deck) -> Self {
        let (nx, ny) = (deck.grid.nx, deck.grid.ny);
        let mut reactor = Self {
            u: Field::filled(nx, ny, 1.0),
            v: Field::filled(nx, ny, 0.0),
            next: (Field::filled(nx, ny, 0.0), Field::filled(nx, ny, 0.0)),
            chemistry: deck.chemistry.clone(),
            boundary: deck.grid.boundary,
            elapsed: 0.0,
        };
        for seed in &deck.seeds {
            reactor.plant(seed);
        }
        reactor
    }

    fn plant(&mut self, seed: &Seed) {
        let (nx, ny) = (self.u.nx, self.u.ny);
        let mut put = |x: usize, y: usize| {
            if x < nx && y < ny {
                self.u.data[y * nx + x] = 0.5;
                self.v.data[y * nx + x] = 0.25;
            }
        };
        match *seed {
            Seed::Square { at: (cx, cy), size } => {
                let h = size / 2;
                for y in cy.saturating_sub(h)..cy + h {
                    for x in cx.saturating_sub(h)..cx + h {
                        put(x, y);
                    }
                }
            }
            Seed::Disc { at: (cx, cy), radius } => {
                for k in 0..nx * ny {
                    let (x, y) = (k % nx, k / nx);
                    if (x as f64 - cx as f64).hypot(y as f64 - cy as f64) <= radius {
                        put(x, y);
                    }
                }
            }
            Seed::Noise { amplitude, seed } => {
                let mut state = seed;
                self.v.data.iter_mut().for_each(|v| {
                    state = state.wrapping_mul(2862933555777941757).wrapping_add(3037000493);
                    *v += amplitude * ((state >> 40) as f64 / (1u64 << 24) as f64);
                });
            }
        }
    }

    pub fn step(&mut self, dt: f64) {
        let Chemistry { feed, kill, ref diffusion } = self.chemistry;
        let (nx, ny) = (self.u.nx, self.u.ny);
        let wrap = |i: isize, n: usize| -> usize {
            match self.boundary {
                Boundary::Periodic => i.rem_euclid(n as isize) as usize,
                Boundary::Reflecting => i.clamp(0, n as isize - 1) as usize,
            }
        };
        for y in 0..ny {
            let (up, down) = (wrap(y as isize - 1, ny) * nx, wrap(y as isize + 1, ny) * nx);
            for x in 0..nx {
                let (left, right) = (wrap(x as isize - 1, nx), wrap(x as isize + 1, nx));
                let k = y * nx + x;
                let lap = |f: &Field| f.data[y * nx + left] + f.data[y * nx + right] + f.data[up + x] + f.data[down + x] - 4.0 * f.data[k];
                let (u, v) = (self.u.data[k], self.v.data[k]);
                let reaction = u * v * v;
                self.next.0.data[k] = u + dt * (diffusion.u * lap(&self.u) - reaction + feed * (1.0 - u));
                self.next.1.data[k] = v + dt * (diffusion.v * lap(&self.v) + reaction - (feed + kill) * v);
            }
        }
        std::mem::swap(&mut self.u, &mut self.next.0);
        std::mem::swap(&mut self.v, &mut self.next.1);
        self.elapsed += dt;
    }

    pub fn means(&self) -> (f64, f64) {
        (self.u.mean(), self.v.mean())
    }

    pub fn variance_of_v(&self) -> f64 {
        let m = self.v.mean();
        self.v.data.iter().map(|v| (v - m).powi(2)).sum::<f64>() / self.v.data.len() as f64
    }

    pub fn elapsed(&self) -> f64 {
        self.elapsed
    }

    pub fn write_pgm(&self, path: &Path) -> io::Result<()> {
        let peak = self.v.data.iter().copied().fold(1e-12, f64::max);
        let mut bytes = format!("P5 {} {} 255\n", self.v.nx, self.v.ny).into_bytes();
        bytes.extend(self.v.data.iter().map(|v| (255.0 * v / peak).clamp(0.0, 255.0) as u8));
        std::fs::write(path, bytes)
    }
}
