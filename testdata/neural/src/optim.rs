use crate::nn::{Gradients, Network};

pub trait Optimizer {
    fn step(&mut self, net: &mut Network, grads: &Gradients);
}

pub struct Momentum {
    rate: f32,
    mu: f32,
    velocity: Vec<f32>,
}

impl Momentum {
    pub fn new(n: usize, rate: f32, mu: f32) -> Self {
        Self { rate, mu, velocity: vec![0.0; n] }
    }
}

impl Optimizer for Momentum {
    fn step(&mut self, net: &mut Network, grads: &Gradients) {
        let Self { rate, mu, velocity } = self;
        net.for_each_parameter(|k, p| {
            velocity[k] = *mu * velocity[k] - *rate * grads.0[k];
            *p += velocity[k];
        });
    }
}

/// Kingma and Ba (2015), algorithm 1.
pub struct Adam {
    rate: f32,
    t: i32,
    m: Vec<f32>,
    v: Vec<f32>,
}

impl Adam {
    const BETA1: f32 = 0.9;
    const BETA2: f32 = 0.999;

    pub fn new(n: usize, rate: f32) -> Self {
        Self { rate, t: 0, m: vec![0.0; n], v: vec![0.0; n] }
    }
}

impl Optimizer for Adam {
    fn step(&mut self, net: &mut Network, Gradients(g): &Gradients) {
        self.t += 1;
        let c1 = 1.0 - Self::BETA1.powi(self.t);
        let c2 = 1.0 - Self::BETA2.powi(self.t);
        let (m, v, rate) = (&mut self.m, &mut self.v, self.rate);
        net.for_each_parameter(|k, p| {
            m[k] = Self::BETA1 * m[k] + (1.0 - Self::BETA1) * g[k];
            v[k] = Self::BETA2 * v[k] + (1.0 - Self::BETA2) * g[k] * g[k];
            *p -= rate * (m[k] / c1) / ((v[k] / c2).sqrt() + 1e-8);
        });
    }
}
