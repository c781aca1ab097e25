use rand::seq::SliceRandom;
use rand::Rng;

#[derive(Clone, Debug, Default)]
pub struct Dataset {
    inputs: Vec<[f32; 2]>,
    labels: Vec<usize>,
}

impl Dataset {
    pub fn moons_and_ring<R: Rng + ?Sized>(n: usize, noise: f32, rng: &mut R) -> Self {
        let mut set = Dataset::default();
        for k in 0..n {
            let label = k % 3;
            let a = std::f32::consts::PI * rng.random::<f32>();
            let (x, y) = match label {
                0 => (a.cos(), a.sin()),
                1 => (1.0 - a.cos(), 0.5 - a.sin()),
                _ => (0.5 + 2.2 * (2.0 * a).cos(), 0.25 + 2.2 * (2.0 * a).sin()),
            };
            let mut jitter = || noise * (rng.random::<f32>() + rng.random::<f32>() - 1.0) * 2.0;
            set.inputs.push([x + jitter(), y + jitter()]);
            set.labels.push(label);
        }
        set
    }

    pub fn split(&self, share: f64, rng: &mut impl Rng) -> (Dataset, Dataset) {
        let mut order: Vec<_> = (0..self.len()).collect();
        order.shuffle(rng);
        let (a, b) = order.split_at((self.len() as f64 * share) as usize);
        let pick = |which: &[usize]| Dataset {
            inputs: which.iter().map(|&k| self.inputs[k]).collect(),
            labels: which.iter().map(|&k| self.labels[k]).collect(),
        };
        (pick(a), pick(b))
    }

    pub fn len(&self) -> usize {
        self.inputs.len()
    }

    pub fn get(&self, k: usize) -> (&[f32; 2], usize) {
        (&self.inputs[k], self.labels[k])
    }

    pub fn iter(&self) -> impl Iterator<Item = (&[f32; 2], usize)> + '_ {
        self.inputs.iter().zip(self.labels.iter().copied())
    }
}

/// A map of the plane, one character a point.
pub fn ascii_map(classify: impl Fn(&[f32; 2]) -> Vec<f32>) -> String {
    let mut map = String::new();
    for row in 0..16 {
        for col in 0..48 {
            let p = classify(&[-2.5 + 6.0 * col as f32 / 47.0, 2.8 - 5.2 * row as f32 / 15.0]);
            map.push(if p[0] > 0.5 {
                'a'
            } else if p[1] > 0.5 {
                'b'
            } else if p[2] > 0.5 {
                '.'
            } else {
                '?'
            });
        }
        map.push('\n');
    }
    map
}
