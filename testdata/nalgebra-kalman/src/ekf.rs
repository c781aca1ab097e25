use nalgebra::{SMatrix, SVector};

/// An extended Kalman filter for `N` states.
#[derive(Debug, Clone)]
pub struct Ekf<const N: usize> {
    pub x: SVector<f64, N>,
    pub p: SMatrix<f64, N, N>,
    q: SMatrix<f64, N, N>,
}

impl<const N: usize> Ekf<N> {
    pub fn new(x: SVector<f64, N>, p: SMatrix<f64, N, N>, q: SMatrix<f64, N, N>) -> Self {
        Self { x, p, q }
    }

    pub fn predict<F>(&mut self, f: F, dt: f64)
    where
        F: Fn(&SVector<f64, N>) -> SVector<f64, N>,
    {
        let eps = 1e-5;
        let base = f(&self.x);
        let mut jacobian = SMatrix::<f64, N, N>::zeros();
        for c in 0..N {
            let mut shifted = self.x;
            shifted[c] += eps;
            jacobian.set_column(c, &((f(&shifted) - base) / eps));
        }
        self.x = base;
        self.p = jacobian * self.p * jacobian.transpose() + self.q * dt;
    }

    pub fn update<const M: usize>(
        &mut self,
        innovation: SVector<f64, M>,
        h: SMatrix<f64, M, N>,
        r: SMatrix<f64, M, M>,
    ) {
        let s = h * self.p * h.transpose() + r;
        let Some(inverse) = s.cholesky().map(|c| c.inverse()) else {
            return;
        };
        let gain = self.p * h.transpose() * inverse;
        self.x += gain * innovation;
        let i = SMatrix::<f64, N, N>::identity();
        self.p = (i - gain * h) * self.p;
        self.p = (self.p + self.p.transpose()) * 0.5;
    }
}
