use ndarray::{Array2, Ix2, IntoDimension};

pub struct Medium {
    /// Squared speed of sound.
    pub c2: Array2<f64>,
    /// Sponge: 0 inside, growing towards the edge.
    pub damping: Array2<f64>,
}

impl Medium {
    /// Flat layers, each from a depth (as a share of the whole) downwards.
    pub fn layered<D>(shape: D, layers: &[(f64, f64)], sponge: usize) -> Self
    where
        D: IntoDimension<Dim = Ix2>,
    {
        let dim = shape.into_dimension();
        let (ny, nx) = (dim[0], dim[1]);
        let c2 = Array2::from_shape_fn(dim, |(y, x)| {
            // a gentle dip to the right
            let depth = (y as f64 + 0.08 * x as f64) / ny as f64;
            let (_, c) = layers.iter().rev().find(|(top, _)| depth >= *top).unwrap_or(&layers[0]);
            c * c
        });
        let damping = Array2::from_shape_fn((ny, nx), |(y, x)| {
            let edge = y.min(x).min(ny - 1 - y).min(nx - 1 - x);
            match sponge.checked_sub(edge) {
                Some(d) if d > 0 => 0.25 * (d as f64 / sponge as f64).powi(2),
                _ => 0.0,
            }
        });
        Medium { c2, damping }
    }
}
