use std::fmt;
use std::mem;

use crate::lattice::{equilibrium, moments, CX, CY, OPPOSITE, Q};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    Fluid,
    Solid,
    Inlet { profile: bool },
    Outlet,
}

/// Everything that the user can set.
#[derive(Clone, Debug)]
pub struct Params {
    pub nx: usize,
    pub ny: usize,
    pub reynolds: f64,
    pub u_in: f64,
    pub steps: usize,
    pub every: usize,
}

impl Default for Params {
    fn default() -> Self {
        Params { nx: 180, ny: 64, reynolds: 120.0, u_in: 0.08, steps: 1000, every: 200 }
    }
}

impl Params {
    pub fn diameter(&self) -> f64 {
        self.ny as f64 / 5.0
    }

    pub fn omega(&self) -> f64 {
        let nu = self.u_in * self.diameter() / self.reynolds;
        1.0 / (3.0 * nu + 0.5)
    }
}

pub struct Lbm {
    params: Params,
    omega: f64,
    cells: Vec<Cell>,
    /// Populations, now and next; swapped after every step.
    f: Vec<f64>,
    f_next: Vec<f64>,
    step: usize,
    drag_history: Vec<(usize, f64)>,
}

impl Lbm {
    pub fn new(params: Params) -> Result<Self, String> {
        let omega = params.omega();
        if !(0.1..1.98).contains(&omega) {
            return Err(format!("omega = {omega:.3} will not be stable: lower Re or refine"));
        }
        let n = params.nx * params.ny;
        let mut lbm = Lbm {
            omega,
            cells: vec![Cell::Fluid; n],
            f: vec![0.0; n * Q],
            f_next: vec![0.0; n * Q],
            step: 0,
            drag_history: Vec::new(),
            params,
        };
        lbm.draw_geometry();
        lbm.fill();
        Ok(lbm)
    }

    fn idx(&self, x: usize, y: usize) -> usize {
        y * self.params.nx + x
    }

    fn draw_geometry(&mut self) {
        let (nx, ny) = (self.params.nx, self.params.ny);
        let radius = self.params.diameter() / 2.0;
        let (cx, cy) = (nx as f64 / 5.0, ny as f64 / 2.0 + 1.5);
        for y in 0..ny {
            for x in 0..nx {
                let d2 = (x as f64 - cx).powi(2) + (y as f64 - cy).powi(2);
                let i = self.idx(x, y);
                self.cells[i] = match (x, y) {
                    (_, 0) => Cell::Solid,
                    (_, y) if y == ny - 1 => Cell::Solid,
                    _ if d2 <= radius * radius => Cell::Solid,
                    (0, _) => Cell::Inlet { profile: true },
                    (x, _) if x == nx - 1 => Cell::Outlet,
                    _ => Cell::Fluid,
                };
            }
        }
    }

    fn inlet_velocity(&self, y: usize) -> f64 {
        let h = (self.params.ny - 1) as f64;
        let s = y as f64 / h;
        6.0 * self.params.u_in * s * (1.0 - s)
    }

    fn fill(&mut self) {
        for y in 0..self.params.ny {
            let u = self.inlet_velocity(y);
            for x in 0..self.params.nx {
                let at = self.idx(x, y) * Q;
                for q in 0..Q {
                    self.f[at + q] = equilibrium(q, 1.0, u, 0.0);
                }
            }
        }
        self.f_next.copy_from_slice(&self.f);
    }

    fn collide(&mut self) {
        let omega = self.omega;
        for (i, cell) in self.cells.iter().enumerate() {
            if *cell == Cell::Solid {
                continue;
            }
            let f = &mut self.f[i * Q..(i + 1) * Q];
            let (rho, ux, uy) = moments(f);
            for q in 0..Q {
                f[q] += omega * (equilibrium(q, rho, ux, uy) - f[q]);
            }
        }
    }

    /// Moves populations along, bouncing them off walls; returns the force on what is solid.
    fn stream(&mut self) -> f64 {
        let (nx, ny) = (self.params.nx as i32, self.params.ny as i32);
        let mut fx = 0.0;
        for y in 0..ny {
            for x in 0..nx {
                let here = (y * nx + x) as usize;
                if self.cells[here] == Cell::Solid {
                    continue;
                }
                for q in 0..Q {
                    let (sx, sy) = (x - CX[q], y - CY[q]);
                    let value = if sx < 0 || sx >= nx || sy < 0 || sy >= ny {
                        self.f[here * Q + q]
                    } else {
                        let from = (sy * nx + sx) as usize;
                        if self.cells[from] == Cell::Solid {
                            let bounced = self.f[here * Q + OPPOSITE[q]];
                            if sy > 0 && sy < ny - 1 {
                                fx -= 2.0 * bounced * CX[q] as f64;
                            }
                            bounced
                        } else {
                            self.f[from * Q + q]
                        }
                    };
                    self.f_next[here * Q + q] = value;
                }
            }
        }
        mem::swap(&mut self.f, &mut self.f_next);
        fx
    }

    fn boundaries(&mut self) {
        let nx = self.params.nx;
        for y in 1..self.params.ny - 1 {
            let i = self.idx(0, y);
            if let Cell::Inlet { profile } = self.cells[i] {
                let u = if profile { self.inlet_velocity(y) } else { self.params.u_in };
                for q in 0..Q {
                    self.f[i * Q + q] = equilibrium(q, 1.0, u, 0.0);
                }
            }
            let o = self.idx(nx - 1, y);
            if matches!(self.cells[o], Cell::Outlet) {
                for q in [3, 6, 7] {
                    self.f[o * Q + q] = self.f[(o - 1) * Q + q];
                }
            }
        }
    }

    pub fn step(&mut self) -> f64 {
        self.collide();
        let force = self.stream();
        self.boundaries();
        self.step += 1;
        if self.step % 10 == 0 {
            self.drag_history.push((self.step, force));
        }
        force
    }

    pub fn steps_done(&self) -> usize {
        self.step
    }

    pub fn speed(&self, x: usize, y: usize) -> f64 {
        let i = self.idx(x, y);
        if self.cells[i] == Cell::Solid {
            return 0.0;
        }
        let (_, ux, uy) = moments(&self.f[i * Q..(i + 1) * Q]);
        ux.hypot(uy)
    }

    pub fn is_solid(&self, x: usize, y: usize) -> bool {
        self.cells[self.idx(x, y)] == Cell::Solid
    }

    pub fn mass(&self) -> f64 {
        self.f.iter().sum()
    }

    pub fn params(&self) -> &Params {
        &self.params
    }

    pub fn drag_history(&self) -> impl Iterator<Item = &(usize, f64)> {
        self.drag_history.iter()
    }
}

impl fmt::Display for Lbm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Params { nx, ny, .. } = self.params;
        write!(f, "{nx} x {ny} cells, omega {:.4}, step {}", self.omega, self.step)
    }
}
