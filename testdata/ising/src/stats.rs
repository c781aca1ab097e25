/// Running mean and variance.
#[derive(Debug, Default, Clone, Copy)]
pub struct Welford {
    n: u64,
    mean: f64,
    m2: f64,
}

impl Welford {
    pub fn add(&mut self, x: f64) {
        self.n += 1;
        let d = x - self.mean;
        self.mean += d / self.n as f64;
        self.m2 += d * (x - self.mean);
    }

    pub fn mean(&self) -> f64 {
        self.mean
    }

    pub fn variance(&self) -> f64 {
        if self.n < 2 {
            0.0
        } else {
            self.m2 / (self.n - 1) as f64
        }
    }
}

/// Standard error of the mean from the means of `bins` bins.
pub fn binned_error(series: &[f64], bins: usize) -> f64 {
    let size = series.len() / bins;
    if size == 0 {
        return f64::NAN;
    }
    let mut w = Welford::default();
    for bin in series.chunks_exact(size) {
        w.add(bin.iter().sum::<f64>() / size as f64);
    }
    (w.variance() / bins as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn welford_agrees_with_two_passes() {
        let xs = [1.0, 4.0, 9.0, 16.0, 25.0];
        let mut w = Welford::default();
        xs.iter().for_each(|&x| w.add(x));
        assert!((w.mean() - 11.0).abs() < 1e-12);
        assert!((w.variance() - 93.5).abs() < 1e-12);
    }
}
