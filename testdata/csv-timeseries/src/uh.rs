use std::collections::VecDeque;

/// Spreads a day's water over the days that follow it.
#[derive(Debug)]
pub struct UnitHydrograph {
    weights: Vec<f64>,
    pending: VecDeque<f64>,
}

impl UnitHydrograph {
    pub fn triangle(days: usize) -> Self {
        let raw: Vec<f64> = (1..=days).map(|d| d.min(days + 1 - d) as f64).collect();
        let total: f64 = raw.iter().sum();
        Self { weights: raw.into_iter().map(|w| w / total).collect(), pending: std::iter::repeat(0.0).take(days).collect() }
    }

    pub fn push(&mut self, water: f64) -> f64 {
        for (p, w) in self.pending.iter_mut().zip(&self.weights) {
            *p += water * w;
        }
        let out = self.pending.pop_front().unwrap_or(0.0);
        self.pending.push_back(0.0);
        out
    }
}
