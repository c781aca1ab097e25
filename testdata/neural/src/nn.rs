use std::fmt;

use rand::Rng;

#[derive(Clone, Debug)]
struct Layer {
    inputs: usize,
    w: Vec<f32>,
    b: Vec<f32>,
}

#[derive(Clone, Debug)]
pub struct Network {
    layers: Vec<Layer>,
}

/// One slot for each parameter, in the order of `Network::for_each_parameter`.
pub struct Gradients(pub Vec<f32>);

impl Gradients {
    pub fn scale(&mut self, k: f32) {
        for g in &mut self.0 {
            *g *= k;
        }
    }
}

fn softmax(z: &mut [f32]) {
    let top = z.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for v in z.iter_mut() {
        *v = (*v - top).exp();
        sum += *v;
    }
    z.iter_mut().for_each(|v| *v /= sum);
}

impl Layer {
    fn forward(&self, x: &[f32]) -> Vec<f32> {
        self.w
            .chunks_exact(self.inputs)
            .zip(&self.b)
            .map(|(row, b)| row.iter().zip(x).fold(*b, |acc, (w, x)| acc + w * x))
            .collect()
    }
}

impl Network {
    pub fn new(sizes: &[usize], rng: &mut impl Rng) -> Self {
        let layers = sizes
            .windows(2)
            .map(|pair| {
                let [inputs, outputs] = [pair[0], pair[1]];
                let limit = (6.0 / (inputs + outputs) as f32).sqrt();
                let w = (0..inputs * outputs).map(|_| rng.random_range(-limit..limit)).collect();
                Layer { inputs, w, b: vec![0.0; outputs] }
            })
            .collect();
        Network { layers }
    }

    pub fn parameters(&self) -> usize {
        self.layers.iter().map(|l| l.w.len() + l.b.len()).sum()
    }

    pub fn zero_grads(&self) -> Gradients {
        Gradients(vec![0.0; self.parameters()])
    }

    pub fn for_each_parameter(&mut self, mut f: impl FnMut(usize, &mut f32)) {
        let mut k = 0;
        for layer in &mut self.layers {
            for p in layer.w.iter_mut().chain(layer.b.iter_mut()) {
                f(k, p);
                k += 1;
            }
        }
    }

    fn activations(&self, x: &[f32]) -> Vec<Vec<f32>> {
        let mut acts = vec![x.to_vec()];
        let last = self.layers.len() - 1;
        for (k, layer) in self.layers.iter().enumerate() {
            let mut z = layer.forward(&acts[k]);
            if k == last {
                softmax(&mut z);
            } else {
                z.iter_mut().for_each(|v| *v = v.tanh());
            }
            acts.push(z);
        }
        acts
    }

    pub fn infer(&self, x: &[f32]) -> Vec<f32> {
        self.activations(x).pop().unwrap()
    }

    /// Adds the gradients of the cross-entropy of one example; returns its loss.
    pub fn backprop(&self, x: &[f32], label: usize, grads: &mut Gradients) -> f32 {
        let acts = self.activations(x);
        let out = &acts[self.layers.len()];
        let loss = -out[label].max(1e-9).ln();
        let mut delta: Vec<f32> = out.clone();
        delta[label] -= 1.0;

        let mut end = grads.0.len();
        for (k, layer) in self.layers.iter().enumerate().rev() {
            let start = end - layer.w.len() - layer.b.len();
            let (gw, gb) = grads.0[start..end].split_at_mut(layer.w.len());
            end = start;
            let input = &acts[k];
            for (row, d) in gw.chunks_exact_mut(layer.inputs).zip(&delta) {
                for (g, x) in row.iter_mut().zip(input) {
                    *g += d * x;
                }
            }
            for (g, d) in gb.iter_mut().zip(&delta) {
                *g += d;
            }
            if k > 0 {
                delta = (0..layer.inputs)
                    .map(|i| {
                        let back: f32 = delta.iter().enumerate().map(|(o, d)| d * layer.w[o * layer.inputs + i]).sum();
                        back * (1.0 - input[i] * input[i])
                    })
                    .collect();
            }
        }
        loss
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (k, layer) in self.layers.iter().enumerate() {
            writeln!(f, "layer {k}: {} -> {}", layer.inputs, layer.b.len())?;
            for (row, b) in layer.w.chunks(layer.inputs).zip(&layer.b) {
                for w in row {
                    write!(f, "{w:+.6} ")?;
                }
                writeln!(f, "| {b:+.6}")?;
            }
        }
        Ok(())
    }
}
