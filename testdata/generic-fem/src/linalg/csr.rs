use crate::Real;
use std::ops::Mul;

/// Entries in any order; equal places add up.
#[derive(Debug, Default)]
pub struct Triplets<T> {
    n: usize,
    entries: Vec<(usize, usize, T)>,
}

impl<T: Real> Triplets<T> {
    pub fn new(n: usize) -> Self {
        Triplets { n, entries: Vec::new() }
    }

    pub fn add(&mut self, i: usize, j: usize, v: T) {
        debug_assert!(i < self.n && j < self.n);
        self.entries.push((i, j, v));
    }

    pub fn compress(mut self) -> Csr<T> {
        self.entries.sort_by_key(|&(i, j, _)| (i, j));
        let mut csr = Csr { start: vec![0; self.n + 1], column: vec![], value: vec![] };
        let mut last = None;
        for (i, j, v) in self.entries {
            if last == Some((i, j)) {
                *csr.value.last_mut().unwrap() += v;
            } else {
                csr.column.push(j);
                csr.value.push(v);
                csr.start[i + 1] += 1;
                last = Some((i, j));
            }
        }
        for i in 0..self.n {
            csr.start[i + 1] += csr.start[i];
        }
        csr
    }
}

#[derive(Debug, Clone)]
pub struct Csr<T> {
    start: Vec<usize>,
    column: Vec<usize>,
    value: Vec<T>,
}

/// One row, borrowed.
#[derive(Clone, Copy)]
pub struct Row<'m, T> {
    columns: &'m [usize],
    values: &'m [T],
}

impl<'m, T: Real> Row<'m, T> {
    pub fn iter(self) -> impl Iterator<Item = (usize, T)> + 'm {
        self.columns.iter().copied().zip(self.values.iter().copied())
    }
}

impl<T: Real> Csr<T> {
    pub fn size(&self) -> usize {
        self.start.len() - 1
    }

    pub fn row(&self, i: usize) -> Row<'_, T> {
        let range = self.start[i]..self.start[i + 1];
        Row { columns: &self.column[range.clone()], values: &self.value[range] }
    }

    pub fn diagonal(&self) -> Vec<T> {
        (0..self.size()).map(|i| self.row(i).iter().find(|(j, _)| *j == i).map_or(T::ZERO, |(_, v)| v)).collect()
    }

    pub fn apply(&self, x: &[T], y: &mut [T]) {
        for i in 0..self.size() {
            let mut sum = T::ZERO;
            for k in self.start[i]..self.start[i + 1] {
                sum += self.value[k] * x[self.column[k]];
            }
            y[i] = sum;
        }
    }

    /// a A + b B, of two matrices with the same pattern.
    pub fn combine(&self, a: T, other: &Csr<T>, b: T) -> Csr<T> {
        assert!(self.column == other.column && self.start == other.start, "patterns differ");
        let value = self.value.iter().zip(&other.value).map(|(x, y)| a * *x + b * *y).collect();
        Csr { value, ..self.clone() }
    }

    /// Rows and columns of fixed unknowns become those of the identity.
    pub fn fix(&mut self, fixed: &[bool]) {
        for i in 0..self.size() {
            for k in self.start[i]..self.start[i + 1] {
                let j = self.column[k];
                if fixed[i] || fixed[j] {
                    self.value[k] = if i == j { T::ONE } else { T::ZERO };
                }
            }
        }
    }
}

impl<T: Real> Mul<&[T]> for &Csr<T> {
    type Output = Vec<T>;
    fn mul(self, x: &[T]) -> Vec<T> {
        let mut y = vec![T::ZERO; x.len()];
        self.apply(x, &mut y);
        y
    }
}
