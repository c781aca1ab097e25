use crate::plate::Plate;

pub trait Solver {
    fn name(&self) -> &str;

    /// One pass over the whole plate.
    fn sweep(&mut self, plate: &mut Plate);

    /// Points updated so far.
    fn updates(&self) -> u64;
}

pub struct Jacobi {
    next: Vec<f64>,
    updates: u64,
}

impl Jacobi {
    pub fn new(len: usize) -> Self {
        Jacobi { next: vec![0.0; len], updates: 0 }
    }
}

impl Solver for Jacobi {
    fn name(&self) -> &str {
        "Jacobi"
    }

    fn sweep(&mut self, plate: &mut Plate) {
        self.next.copy_from_slice(&plate.t);
        let n = plate.side();
        for (i, j) in plate.interior() {
            self.next[i * n + j] = plate.wanted(i, j);
            self.updates += 1;
        }
        std::mem::swap(&mut self.next, &mut plate.t);
    }

    fn updates(&self) -> u64 {
        self.updates
    }
}

#[derive(Default)]
pub struct GaussSeidel {
    updates: u64,
}

impl Solver for GaussSeidel {
    fn name(&self) -> &str {
        "Gauss-Seidel"
    }

    fn sweep(&mut self, plate: &mut Plate) {
        let n = plate.side();
        for i in 1..n - 1 {
            for j in 1..n - 1 {
                plate.t[i * n + j] = plate.wanted(i, j);
            }
        }
        self.updates += ((n - 2) * (n - 2)) as u64;
    }

    fn updates(&self) -> u64 {
        self.updates
    }
}

/// Red-black successive over-relaxation, with Chebyshev acceleration of omega.
pub struct Sor {
    rho: f64,
    omega: f64,
    updates: u64,
}

impl Sor {
    pub fn for_grid(n: usize) -> Self {
        let rho = (std::f64::consts::PI / (n as f64 - 1.0)).cos();
        Sor { rho, omega: 1.0, updates: 0 }
    }
}

impl Solver for Sor {
    fn name(&self) -> &str {
        "red-black SOR"
    }

    fn sweep(&mut self, plate: &mut Plate) {
        let n = plate.side();
        for colour in 0..2 {
            for i in 1..n - 1 {
                let mut j = 1 + (i + colour) % 2;
                while j < n - 1 {
                    let k = i * n + j;
                    plate.t[k] += self.omega * (plate.wanted(i, j) - plate.t[k]);
                    self.updates += 1;
                    j += 2;
                }
            }
            self.omega = if self.omega == 1.0 {
                1.0 / (1.0 - 0.5 * self.rho * self.rho)
            } else {
                1.0 / (1.0 - 0.25 * self.rho * self.rho * self.omega)
            };
        }
    }

    fn updates(&self) -> u64 {
        self.updates
    }
}

pub struct ConjugateGradient {
    r: Vec<f64>,
    p: Vec<f64>,
    rr: f64,
    updates: u64,
}

impl ConjugateGradient {
    pub fn new(plate: &Plate) -> Self {
        let n = plate.side();
        let mut r = vec![0.0; plate.len()];
        for (i, j) in plate.interior() {
            r[i * n + j] = plate.wanted(i, j) - plate.t[i * n + j];
        }
        let p = r.clone();
        let rr = r.iter().map(|v| v * v).sum();
        ConjugateGradient { r, p, rr, updates: 0 }
    }

    fn apply(&self, n: usize) -> Vec<f64> {
        let p = &self.p;
        let mut ap = vec![0.0; p.len()];
        for i in 1..n - 1 {
            for j in 1..n - 1 {
                let k = i * n + j;
                ap[k] = p[k] - 0.25 * (p[k - 1] + p[k + 1] + p[k - n] + p[k + n]);
            }
        }
        ap
    }
}

impl Solver for ConjugateGradient {
    fn name(&self) -> &str {
        "conjugate gradients"
    }

    fn sweep(&mut self, plate: &mut Plate) {
        let ap = self.apply(plate.side());
        let pap: f64 = self.p.iter().zip(&ap).map(|(a, b)| a * b).sum();
        if pap == 0.0 {
            return;
        }
        let alpha = self.rr / pap;
        for ((t, r), (p, ap)) in plate.t.iter_mut().zip(&mut self.r).zip(self.p.iter().zip(&ap)) {
            *t += alpha * p;
            *r -= alpha * ap;
        }
        let rr: f64 = self.r.iter().map(|v| v * v).sum();
        let beta = rr / std::mem::replace(&mut self.rr, rr);
        for (p, r) in self.p.iter_mut().zip(&self.r) {
            *p = r + beta * *p;
        }
        self.updates += self.p.len() as u64;
    }

    fn updates(&self) -> u64 {
        self.updates
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solve(solver: &mut dyn Solver, plate: &mut Plate, sweeps: usize) -> f64 {
        for _ in 0..sweeps {
            solver.sweep(plate);
        }
        plate.residual_norm()
    }

    #[test]
    fn all_methods_agree() {
        let mut a = Plate::new(12);
        let mut b = Plate::new(12);
        assert!(solve(&mut Jacobi::new(144), &mut a, 2000) < 1e-9);
        assert!(solve(&mut Sor::for_grid(12), &mut b, 200) < 1e-9);
        for (x, y) in a.t.iter().zip(&b.t) {
            assert!((x - y).abs() < 1e-6);
        }
    }
}
