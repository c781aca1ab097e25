use crate::particles::Species;

pub struct Grid {
    n: usize,
    dx: f64,
    pub rho: Vec<f64>,
    pub phi: Vec<f64>,
    pub e: Vec<f64>,
}

impl Grid {
    pub fn new(n: usize, length: f64) -> Self {
        Grid { n, dx: length / n as f64, rho: vec![0.0; n], phi: vec![0.0; n], e: vec![0.0; n] }
    }

    #[inline]
    fn weights(&self, x: f64) -> (usize, usize, f64) {
        let s = x / self.dx;
        let i = s as usize;
        (i % self.n, (i + 1) % self.n, s - i as f64)
    }

    #[inline]
    pub fn field_at(&self, x: f64) -> f64 {
        let (i, j, w) = self.weights(x);
        (1.0 - w) * self.e[i] + w * self.e[j]
    }

    /// Poisson's equation with periodic edges, by Gauss-Seidel from the last potential, then E = -grad phi.
    pub fn solve(&mut self) {
        let n = self.n;
        let h2 = self.dx * self.dx;
        let mean = self.rho.iter().sum::<f64>() / n as f64;
        let mut sweeps = 0;
        loop {
            let mut change: f64 = 0.0;
            for i in 0..n {
                let (l, r) = ((i + n - 1) % n, (i + 1) % n);
                let new = 0.5 * (self.phi[l] + self.phi[r] + h2 * (self.rho[i] - mean));
                let d = 1.9 * (new - self.phi[i]);
                self.phi[i] += d;
                change = change.max(d.abs());
            }
            sweeps += 1;
            if change < 1e-10 || sweeps == 2000 {
                break;
            }
        }
        let level = self.phi.iter().sum::<f64>() / n as f64;
        self.phi.iter_mut().for_each(|p| *p -= level);
        for i in 0..n {
            self.e[i] = (self.phi[(i + n - 1) % n] - self.phi[(i + 1) % n]) / (2.0 * self.dx);
        }
        crate::diag::SWEEPS.fetch_add(sweeps, std::sync::atomic::Ordering::Relaxed);
    }

    pub fn energy(&self) -> f64 {
        0.5 * self.dx * self.e.iter().map(|e| e * e).sum::<f64>()
    }
}

pub fn deposit(grid: &mut Grid, species: &[Species]) {
    grid.rho.fill(1.0);
    for s in species {
        let q = s.charge / grid.dx;
        for &x in &s.x {
            let (i, j, w) = grid.weights(x);
            grid.rho[i] += q * (1.0 - w);
            grid.rho[j] += q * w;
        }
    }
}
