//! What takes the time.

use std::ops::{Add, Mul};

/// One sweep into `y`, and back.
pub fn smooth(x: &mut [f64], y: &mut [f64], width: usize) {
    for at in 1..width - 1 {
        y[at] = 0.25 * (x[at - 1] + 2.0 * x[at] + x[at + 1]);
    }
    mix(x, y, 0.5);
    super::scale(x, 0.999);
}

pub fn mix(x: &mut [f64], y: &[f64], by: f64) {
    assert_eq!(x.len(), y.len(), "{}", line!());
    for (one, other) in x.iter_mut().zip(y) {
        *one += by * (other - *one) / (1.0 + by);
    }
}

pub fn norm(x: &[f64]) -> f64 {
    let mut sum = 0.0;
    for value in x {
        sum += value * value;
    }
    sum.sqrt()
}

/// Of any number.
#[inline]
pub(crate) fn step<T: Copy + From<u8> + Add<Output = T> + Mul<Output = T> + Reduced>(state: T, by: u8) -> T {
    let mut now = state.reduced();
    for _ in 0..20 {
        now = (now * T::from(by) + T::from(3)).reduced();
    }
    now
}

pub trait Reduced {
    fn reduced(self) -> Self;
}

impl Reduced for u64 {
    fn reduced(self) -> Self {
        self % 1_000_003
    }
}
