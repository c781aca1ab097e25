/// A sparse matrix, each row a sorted list of (column, value).
pub struct SparseRows {
    rows: Vec<Vec<(u32, f64)>>,
    diagonal: Vec<f64>,
}

impl SparseRows {
    pub fn new(n: usize) -> Self {
        SparseRows { rows: vec![Vec::with_capacity(8); n], diagonal: vec![0.0; n] }
    }

    pub fn add(&mut self, i: usize, j: usize, v: f64) {
        if i == j {
            self.diagonal[i] += v;
            return;
        }
        match self.rows[i].iter_mut().find(|e| e.0 as usize == j) {
            Some(e) => e.1 += v,
            None => self.rows[i].push((j as u32, v)),
        }
    }

    pub fn finish(&mut self) {
        for row in &mut self.rows {
            row.sort_unstable_by_key(|e| e.0);
            row.shrink_to_fit();
        }
    }

    pub fn entries(&self) -> usize {
        self.diagonal.len() + self.rows.iter().map(Vec::len).sum::<usize>()
    }

    pub fn bandwidth(&self) -> usize {
        let width = |(i, row): (usize, &Vec<(u32, f64)>)| row.iter().map(|e| i.abs_diff(e.0 as usize)).max().unwrap_or(0);
        self.rows.iter().enumerate().map(width).max().unwrap_or(0)
    }

    /// A sweep of successive over-relaxation, forwards or backwards.
    pub fn relax(&self, x: &mut [f64], b: &[f64], omega: f64, backwards: bool) {
        let order: Box<dyn Iterator<Item = usize>> =
            if backwards { Box::new((0..x.len()).rev()) } else { Box::new(0..x.len()) };
        for i in order {
            let sum: f64 = self.rows[i].iter().map(|&(j, v)| v * x[j as usize]).sum();
            x[i] += omega * ((b[i] - sum) / self.diagonal[i] - x[i]);
        }
    }

    pub fn residual(&self, x: &[f64], b: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (i, row) in self.rows.iter().enumerate() {
            let mut r = b[i] - self.diagonal[i] * x[i];
            for (j, v) in row {
                r -= v * x[*j as usize];
            }
            sum += r * r;
        }
        sum.sqrt()
    }

    #[cfg(feature = "dump-matrix")]
    pub fn dump(&self, path: &str) -> std::io::Result<()> {
        use std::io::Write;
        let mut out = std::io::BufWriter::new(std::fs::File::create(path)?);
        writeln!(out, "%%MatrixMarket matrix coordinate real general")?;
        writeln!(out, "{0} {0} {1}", self.rows.len(), self.entries())?;
        for (i, row) in self.rows.iter().enumerate() {
            writeln!(out, "{0} {0} {1:e}", i + 1, self.diagonal[i])?;
            for (j, v) in row {
                writeln!(out, "{} {} {v:e}", i + 1, j + 1)?;
            }
        }
        out.flush()
    }
}
