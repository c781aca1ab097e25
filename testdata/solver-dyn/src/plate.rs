use std::fs::File;
use std::io::{self, BufWriter, Write};

/// Temperatures on a square grid with fixed edges, and the sources that heat it.
pub struct Plate {
    n: usize,
    pub(crate) t: Vec<f64>,
    source: Vec<f64>,
}

impl Plate {
    pub fn new(n: usize) -> Self {
        let mut plate = Plate { n, t: vec![0.0; n * n], source: vec![0.0; n * n] };
        for k in 0..n {
            let x = k as f64 / (n - 1) as f64;
            plate.t[k] = 100.0 * (std::f64::consts::PI * x).sin();
            plate.t[(n - 1) * n + k] = 20.0 * x;
        }
        plate
    }

    pub fn side(&self) -> usize {
        self.n
    }

    pub fn len(&self) -> usize {
        self.t.len()
    }

    pub fn heat_spot(&mut self, cx: f64, cy: f64, radius: f64, power: f64) {
        let h = 1.0 / (self.n - 1) as f64;
        for i in 1..self.n - 1 {
            for j in 1..self.n - 1 {
                let (x, y) = (i as f64 * h, j as f64 * h);
                if (x - cx).hypot(y - cy) < radius {
                    self.source[i * self.n + j] += power * h * h;
                }
            }
        }
    }

    /// What the four neighbours and the source say that the point (i, j) should be.
    #[inline]
    pub fn wanted(&self, i: usize, j: usize) -> f64 {
        let k = i * self.n + j;
        0.25 * (self.t[k - 1] + self.t[k + 1] + self.t[k - self.n] + self.t[k + self.n] + self.source[k])
    }

    pub fn interior(&self) -> impl Iterator<Item = (usize, usize)> {
        let n = self.n;
        (1..n - 1).flat_map(move |i| (1..n - 1).map(move |j| (i, j)))
    }

    pub fn residual_norm(&self) -> f64 {
        let sum: f64 = self
            .interior()
            .map(|(i, j)| {
                let r = self.wanted(i, j) - self.t[i * self.n + j];
                r * r
            })
            .sum();
        sum.sqrt()
    }

    pub fn hottest(&self) -> ((usize, usize), f64) {
        let mut best = ((0, 0), f64::NEG_INFINITY);
        for (i, j) in self.interior() {
            let t = self.t[i * self.n + j];
            if t > best.1 {
                best = ((i, j), t);
            }
        }
        best
    }

    pub fn write(&self, path: &str) -> io::Result<()> {
        let mut out = BufWriter::new(File::create(path)?);
        for row in self.t.chunks(self.n) {
            let text: Vec<String> = row.iter().map(|t| format!("{t:.6}")).collect();
            writeln!(out, "{}", text.join(" "))?;
        }
        Ok(())
    }
}
