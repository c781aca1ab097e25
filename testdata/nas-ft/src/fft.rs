//! Iterative radix-2 transforms along one axis at a time.

use crate::complex::Complex;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Forward,
    Inverse,
}

struct Plan1 {
    n: usize,
    roots: Vec<Complex>,
    reversed: Vec<usize>,
}

impl Plan1 {
    fn new(n: usize) -> Plan1 {
        assert!(n.is_power_of_two(), "{n} is not a power of two");
        let bits = n.trailing_zeros();
        let reversed = (0..n)
            .map(|i| if bits == 0 { 0 } else { i.reverse_bits() >> (usize::BITS - bits) })
            .collect();
        let roots = (0..n / 2)
            .map(|i| Complex::cis(std::f64::consts::TAU * i as f64 / n as f64))
            .collect();
        Plan1 { n, roots, reversed }
    }

    fn run(&self, data: &mut [Complex], direction: Direction) {
        for (i, &j) in self.reversed.iter().enumerate() {
            if i < j {
                data.swap(i, j);
            }
        }
        let mut half = 1;
        while half < self.n {
            let stride = self.n / (2 * half);
            for block in data.chunks_exact_mut(2 * half) {
                let (low, high) = block.split_at_mut(half);
                for (k, (a, b)) in low.iter_mut().zip(high).enumerate() {
                    let mut root = self.roots[k * stride];
                    if direction == Direction::Inverse {
                        root = root.conj();
                    }
                    let t = *b * root;
                    *b = *a - t;
                    *a = *a + t;
                }
            }
            half *= 2;
        }
    }
}

pub struct Plan3 {
    shape: [usize; 3],
    axes: [Plan1; 3],
}

impl Plan3 {
    pub fn new(nx: usize, ny: usize, nz: usize) -> Plan3 {
        let shape = [nx, ny, nz];
        Plan3 { shape, axes: shape.map(Plan1::new) }
    }

    pub fn transform(&self, u: &mut [Complex], direction: Direction) {
        match direction {
            Direction::Forward => (0..3).for_each(|axis| self.along(axis, u, direction)),
            Direction::Inverse => (0..3).rev().for_each(|axis| self.along(axis, u, direction)),
        }
    }

    fn along(&self, axis: usize, u: &mut [Complex], direction: Direction) {
        let [nx, ny, nz] = self.shape;
        let plan = &self.axes[axis];
        let mut line = vec![Complex::ZERO; plan.n];
        let (stride, outer, inner) = match axis {
            0 => {
                u.chunks_exact_mut(nx).for_each(|row| plan.run(row, direction));
                return;
            }
            1 => (nx, nz, nx),
            _ => (nx * ny, 1, nx * ny),
        };
        for o in 0..outer {
            for i in 0..inner {
                let start = o * nx * ny + i;
                for (k, slot) in line.iter_mut().enumerate() {
                    *slot = u[start + k * stride];
                }
                plan.run(&mut line, direction);
                for (k, &value) in line.iter().enumerate() {
                    u[start + k * stride] = value;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let n = 8 * 4 * 2;
        let start: Vec<Complex> = (0..n).map(|i| Complex { re: i as f64, im: -0.5 * i as f64 }).collect();
        let mut u = start.clone();
        let plan = Plan3::new(8, 4, 2);
        plan.transform(&mut u, Direction::Forward);
        plan.transform(&mut u, Direction::Inverse);
        for (a, b) in u.iter().zip(&start) {
            assert!((*a * (1.0 / n as f64) - *b).abs() < 1e-12);
        }
    }
}
