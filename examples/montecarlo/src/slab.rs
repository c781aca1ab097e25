//! Layers of tissue, and what happens to light at their faces.

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

/// The input deck, a TOML file. Lengths in centimetres, coefficients per centimetre.
#[derive(Deserialize, ckpt::Checkpoint)]
#[serde(deny_unknown_fields)]
pub struct Deck {
    pub seed: u64,
    pub batches: u32,
    pub photons_a_batch: u32,
    /// Cells of the map of absorbed light: rows over the whole depth, columns out to `radius`.
    pub map_rows: usize,
    pub map_columns: usize,
    pub radius: f64,
    /// Where the map goes, as a table of numbers.
    pub output: String,
    /// Refractive index above and below the slab.
    pub outside: f64,
    pub layer: Vec<Layer>,
}

#[derive(Deserialize, ckpt::Checkpoint)]
#[serde(deny_unknown_fields)]
pub struct Layer {
    pub name: String,
    pub thickness: f64,
    /// Refractive index.
    pub index: f64,
    pub absorption: f64,
    pub scattering: f64,
    /// Mean cosine of the angle of scattering.
    pub anisotropy: f64,
}

impl Deck {
    pub fn read(path: &str) -> Result<Deck> {
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read the deck {path}"))?;
        let deck: Deck = toml::from_str(&text).with_context(|| format!("the deck {path}"))?;
        ensure!(!deck.layer.is_empty(), "{path}: the slab needs a layer");
        ensure!(
            deck.map_rows > 0 && deck.map_columns > 0,
            "{path}: the map needs a cell"
        );
        for layer in &deck.layer {
            let sound = layer.thickness > 0.0
                && layer.index >= 1.0
                && layer.absorption > 0.0
                && layer.scattering >= 0.0
                && layer.anisotropy.abs() < 1.0;
            ensure!(sound, "{path}: layer `{}` is not physical", layer.name);
        }
        Ok(deck)
    }

    pub fn depth(&self) -> f64 {
        self.layer.iter().map(|layer| layer.thickness).sum()
    }

    /// The refractive index beyond the upper or lower face of a layer.
    pub fn index_beyond(&self, layer: usize, down: bool) -> f64 {
        let beyond = if down {
            self.layer.get(layer + 1)
        } else {
            layer.checked_sub(1).map(|above| &self.layer[above])
        };
        beyond.map_or(self.outside, |layer| layer.index)
    }
}

/// Fresnel's reflectance for unpolarised light that falls on a face at `cosine` from index `n1` to `n2`, and
/// the cosine beyond it; total reflection gives (1, 0).
pub fn fresnel(n1: f64, n2: f64, cosine: f64) -> (f64, f64) {
    let sine_beyond = n1 / n2 * (1.0 - cosine * cosine).max(0.0).sqrt();
    if sine_beyond >= 1.0 {
        return (1.0, 0.0);
    }
    let beyond = (1.0 - sine_beyond * sine_beyond).sqrt();
    let across = (n1 * cosine - n2 * beyond) / (n1 * cosine + n2 * beyond);
    let along = (n1 * beyond - n2 * cosine) / (n1 * beyond + n2 * cosine);
    (0.5 * (across * across + along * along), beyond)
}
