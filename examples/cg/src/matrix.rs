//! Sparse symmetric matrices: a reader for the Matrix Market format, and the product with a vector.

use anyhow::{Context, Result, bail, ensure};
use std::io::{BufRead, BufReader};

/// A square matrix by compressed rows: row `i` is `values[starts[i]..starts[i + 1]]` in those `columns`.
#[derive(ckpt::Checkpoint)]
pub struct Matrix {
    pub order: usize,
    pub starts: Vec<usize>,
    pub columns: Vec<u32>,
    pub values: Vec<f64>,
}

impl Matrix {
    /// Reads `coordinate real symmetric` or `general` (NIST, "The Matrix Market Exchange Formats", 1996).
    pub fn read(path: &str) -> Result<Matrix> {
        let file = std::fs::File::open(path).with_context(|| format!("cannot open the matrix {path}"))?;
        let mut lines = BufReader::new(file).lines();
        let header = lines
            .next()
            .with_context(|| format!("{path} is empty"))??
            .to_lowercase();
        let symmetric = match header.split_whitespace().collect::<Vec<_>>()[..] {
            ["%%matrixmarket", "matrix", "coordinate", "real", "symmetric"] => true,
            ["%%matrixmarket", "matrix", "coordinate", "real", "general"] => false,
            _ => {
                bail!("{path}: only `matrix coordinate real symmetric|general` is understood, not `{header}`")
            }
        };
        let mut size = None;
        let mut entries: Vec<(usize, usize, f64)> = Vec::new();
        for (number, line) in lines.enumerate() {
            let line = line?;
            if line.starts_with('%') || line.trim().is_empty() {
                continue;
            }
            let at = || format!("{path}, line {}: `{line}`", number + 2);
            let words: Vec<&str> = line.split_whitespace().collect();
            ensure!(words.len() == 3, "{}: three numbers expected", at());
            let (row, column): (usize, usize) = (
                words[0].parse().with_context(at)?,
                words[1].parse().with_context(at)?,
            );
            let Some((order, _)) = size else {
                ensure!(row == column, "{}: the matrix must be square", at());
                size = Some((row, words[2].parse::<usize>().with_context(at)?));
                continue;
            };
            ensure!(
                (1..=order).contains(&row) && (1..=order).contains(&column),
                "{}: outside",
                at()
            );
            let value = words[2].parse().with_context(at)?;
            entries.push((row - 1, column - 1, value));
        }
        let (order, count) = size.with_context(|| format!("{path} has no size line"))?;
        ensure!(
            entries.len() == count,
            "{path} promises {count} entries and holds {}",
            entries.len()
        );
        if symmetric {
            let mirrored: Vec<_> = entries
                .iter()
                .filter(|(i, j, _)| i != j)
                .map(|(i, j, value)| (*j, *i, *value))
                .collect();
            entries.extend(mirrored);
        }
        let matrix = Matrix::from_entries(order, entries);
        let zero = matrix.diagonal().iter().position(|d| *d <= 0.0);
        ensure!(
            zero.is_none(),
            "{path}: diagonal entry {} is not positive",
            zero.unwrap_or(0) + 1
        );
        Ok(matrix)
    }

    fn from_entries(order: usize, mut entries: Vec<(usize, usize, f64)>) -> Matrix {
        entries.sort_unstable_by_key(|(row, column, _)| (*row, *column));
        let mut starts = vec![0; order + 1];
        for (row, _, _) in &entries {
            starts[row + 1] += 1;
        }
        for row in 0..order {
            starts[row + 1] += starts[row];
        }
        Matrix {
            order,
            starts,
            columns: entries.iter().map(|(_, column, _)| *column as u32).collect(),
            values: entries.iter().map(|(_, _, value)| *value).collect(),
        }
    }

    /// The five-point Laplacian on a square of `side` x `side` nodes, fixed at the border.
    pub fn poisson(side: usize) -> Matrix {
        let order = side * side;
        let mut matrix = Matrix {
            order,
            starts: vec![0],
            columns: Vec::new(),
            values: Vec::new(),
        };
        for node in 0..order {
            let (j, i) = (node / side, node % side);
            let mut push = |present: bool, column: usize, value: f64| {
                if present {
                    matrix.columns.push(column as u32);
                    matrix.values.push(value);
                }
            };
            push(j > 0, node.wrapping_sub(side), -1.0);
            push(i > 0, node.wrapping_sub(1), -1.0);
            push(true, node, 4.0);
            push(i + 1 < side, node + 1, -1.0);
            push(j + 1 < side, node + side, -1.0);
            matrix.starts.push(matrix.values.len());
        }
        matrix
    }

    /// The diagonal; zero where it has no entry.
    pub fn diagonal(&self) -> Vec<f64> {
        (0..self.order)
            .map(|i| self.row(i).find(|(j, _)| *j == i).map_or(0.0, |(_, value)| value))
            .collect()
    }

    /// y = A x
    pub fn multiply(&self, x: &[f64], y: &mut [f64]) {
        for (i, y) in y.iter_mut().enumerate() {
            *y = self.row(i).map(|(j, value)| value * x[j]).sum();
        }
    }

    fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.starts[i]..self.starts[i + 1];
        self.columns[range.clone()]
            .iter()
            .map(|j| *j as usize)
            .zip(self.values[range].iter().copied())
    }
}
