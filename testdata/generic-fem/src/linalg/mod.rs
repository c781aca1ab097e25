mod cg;
mod csr;

pub use cg::{Cg, NotConverged, Outcome};
pub use csr::{Csr, Triplets};

use crate::Real;

pub fn dot<T: Real>(a: &[T], b: &[T]) -> T {
    a.iter().zip(b).map(|(x, y)| *x * *y).sum()
}

pub fn axpy<T: Real>(y: &mut [T], alpha: T, x: &[T]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += alpha * *x;
    }
}

pub fn norm<T: Real>(a: &[T]) -> T {
    dot(a, a).sqrt()
}
