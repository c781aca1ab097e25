//! D2Q9 lattice Boltzmann with BGK or two-relaxation-time collisions.

pub mod collision;
pub mod geometry;

pub use collision::{Bgk, Collision, Trt};
pub use geometry::{Node, Obstacle};

#[cfg(feature = "single")]
pub type Real = f32;
#[cfg(not(feature = "single"))]
pub type Real = f64;

pub const Q: usize = 9;
pub const CX: [i32; Q] = [0, 1, 0, -1, 0, 1, -1, -1, 1];
pub const CY: [i32; Q] = [0, 0, 1, 0, -1, 1, 1, -1, -1];
pub const WEIGHT: [Real; Q] = [
    4.0 / 9.0,
    1.0 / 9.0,
    1.0 / 9.0,
    1.0 / 9.0,
    1.0 / 9.0,
    1.0 / 36.0,
    1.0 / 36.0,
    1.0 / 36.0,
    1.0 / 36.0,
];
pub const OPPOSITE: [usize; Q] = [0, 3, 4, 1, 2, 7, 8, 5, 6];

pub fn equilibrium(rho: Real, ux: Real, uy: Real) -> [Real; Q] {
    let usq = 1.5 * (ux * ux + uy * uy);
    std::array::from_fn(|q| {
        let cu = 3.0 * (CX[q] as Real * ux + CY[q] as Real * uy);
        WEIGHT[q] * rho * (1.0 + cu + 0.5 * cu * cu - usq)
    })
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Macro {
    pub rho: Real,
    pub ux: Real,
    pub uy: Real,
}

pub struct Lattice<C> {
    pub nx: usize,
    pub ny: usize,
    nodes: Vec<Node>,
    f: Vec<[Real; Q]>,
    post: Vec<[Real; Q]>,
    collision: C,
    inflow: Real,
    force: (Real, Real),
}

impl<C: Collision> Lattice<C> {
    pub fn channel(nx: usize, ny: usize, obstacles: &[Obstacle], inflow: Real, collision: C) -> Self {
        let nodes = geometry::channel(nx, ny, obstacles);
        let f = vec![equilibrium(1.0, inflow, 0.0); nx * ny];
        Lattice { nx, ny, nodes, post: f.clone(), f, collision, inflow, force: (0.0, 0.0) }
    }

    pub fn node(&self, x: usize, y: usize) -> Node {
        self.nodes[y * self.nx + x]
    }

    pub fn macroscopic(&self, x: usize, y: usize) -> Macro {
        moments(&self.f[y * self.nx + x])
    }

    /// Force on the obstacles in the last step, by momentum exchange.
    pub fn force(&self) -> (Real, Real) {
        self.force
    }

    pub fn step(&mut self) {
        self.collide();
        self.stream();
        self.boundaries();
    }

    fn collide(&mut self) {
        for (k, node) in self.nodes.iter().enumerate() {
            self.post[k] = match node {
                Node::Fluid | Node::Inlet | Node::Outlet => self.collision.relax(&self.f[k], moments(&self.f[k])),
                Node::Wall | Node::Obstacle => self.f[k],
            };
        }
    }

    fn stream(&mut self) {
        let (mut fx, mut fy) = (0.0, 0.0);
        for y in 0..self.ny {
            for x in 0..self.nx {
                let k = y * self.nx + x;
                if matches!(self.nodes[k], Node::Wall | Node::Obstacle) {
                    continue;
                }
                for q in 0..Q {
                    let sx = x as i32 - CX[q];
                    let sy = y as i32 - CY[q];
                    if sx < 0 || sy < 0 || sx >= self.nx as i32 || sy >= self.ny as i32 {
                        self.f[k][q] = self.post[k][q];
                        continue;
                    }
                    let s = sy as usize * self.nx + sx as usize;
                    match self.nodes[s] {
                        Node::Wall => self.f[k][q] = self.post[k][OPPOSITE[q]],
                        Node::Obstacle => {
                            let out = self.post[k][OPPOSITE[q]];
                            self.f[k][q] = out;
                            fx -= 2.0 * CX[q] as Real * out;
                            fy -= 2.0 * CY[q] as Real * out;
                        }
                        _ => self.f[k][q] = self.post[s][q],
                    }
                }
            }
        }
        self.force = (fx, fy);
    }

    fn boundaries(&mut self) {
        for y in 1..self.ny - 1 {
            let row = y * self.nx;
            let rho = moments(&self.f[row + 1]).rho;
            self.f[row] = equilibrium(rho, self.profile(y), 0.0);
            let last = row + self.nx - 1;
            let m = moments(&self.f[last - 1]);
            self.f[last] = equilibrium(1.0, m.ux, m.uy);
        }
    }

    fn profile(&self, y: usize) -> Real {
        let h = (self.ny - 2) as Real;
        let s = y as Real - 0.5;
        4.0 * self.inflow * s * (h - s) / (h * h)
    }

    pub fn mass(&self) -> Real {
        self.nodes.iter().zip(&self.f).filter(|(n, _)| **n == Node::Fluid).map(|(_, f)| f.iter().sum::<Real>()).sum()
    }
}

fn moments(f: &[Real; Q]) -> Macro {
    let mut m = Macro::default();
    for q in 0..Q {
        m.rho += f[q];
        m.ux += CX[q] as Real * f[q];
        m.uy += CY[q] as Real * f[q];
    }
    m.ux /= m.rho;
    m.uy /= m.rho;
    m
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equilibrium_has_the_moments_it_was_made_of() {
        let m = moments(&equilibrium(1.1, 0.05, -0.02));
        assert!((m.rho - 1.1).abs() < 1e-12 && (m.ux - 0.05).abs() < 1e-12 && (m.uy + 0.02).abs() < 1e-12);
    }
}
