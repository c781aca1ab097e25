use super::{axpy, dot, norm, Csr};
use crate::Real;
use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome<T> {
    pub iterations: usize,
    pub residual: T,
}

#[derive(Debug)]
pub struct NotConverged {
    pub iterations: usize,
    pub residual: f64,
}

impl fmt::Display for NotConverged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CG did not converge: residual {:.3e} after {} iterations", self.residual, self.iterations)
    }
}

impl std::error::Error for NotConverged {}

/// Conjugate gradients with Jacobi's preconditioner. The work vectors are kept from one solve to the next.
pub struct Cg<'a, T> {
    matrix: &'a Csr<T>,
    inverse_diagonal: Vec<T>,
    tolerance: T,
    r: Vec<T>,
    z: Vec<T>,
    p: Vec<T>,
    ap: Vec<T>,
}

impl<'a, T: Real> Cg<'a, T> {
    pub fn new(matrix: &'a Csr<T>, tolerance: T) -> Self {
        let n = matrix.size();
        let inverse_diagonal = matrix.diagonal().into_iter().map(|d| T::ONE / d).collect();
        let zero = || vec![T::ZERO; n];
        Cg { matrix, inverse_diagonal, tolerance, r: zero(), z: zero(), p: zero(), ap: zero() }
    }

    pub fn solve(&mut self, b: &[T], x: &mut [T]) -> Result<Outcome<T>, NotConverged> {
        self.matrix.apply(x, &mut self.r);
        for (r, b) in self.r.iter_mut().zip(b) {
            *r = *b - *r;
        }
        let goal = self.tolerance * norm(b) + T::EPSILON * T::EPSILON;
        self.precondition();
        self.p.copy_from_slice(&self.z);
        let mut rz = dot(&self.r, &self.z);
        let limit = 10 * b.len();
        for iteration in 0..limit {
            let residual = norm(&self.r);
            if residual <= goal {
                return Ok(Outcome { iterations: iteration, residual });
            }
            self.matrix.apply(&self.p, &mut self.ap);
            let alpha = rz / dot(&self.p, &self.ap);
            axpy(x, alpha, &self.p);
            axpy(&mut self.r, -alpha, &self.ap);
            self.precondition();
            let next = dot(&self.r, &self.z);
            let beta = next / rz;
            rz = next;
            for (p, z) in self.p.iter_mut().zip(&self.z) {
                *p = *z + beta * *p;
            }
        }
        Err(NotConverged { iterations: limit, residual: norm(&self.r).get() })
    }

    fn precondition(&mut self) {
        for ((z, r), d) in self.z.iter_mut().zip(&self.r).zip(&self.inverse_diagonal) {
            *z = *r * *d;
        }
    }
}
