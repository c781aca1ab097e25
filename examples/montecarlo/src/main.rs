//! Photons wandering through layered tissue.
//!
//! The method of L. Wang, S. L. Jacques and L. Zheng, "MCML - Monte Carlo modeling of light transport in
//! multi-layered tissues", Comput. Methods Programs Biomed. 47 (1995): packets of light enter a slab from
//! above, lose weight by absorption at every step, scatter by Henyey and Greenstein's law, are reflected
//! or refracted at the faces, and play roulette once they are faint. Batches give the error of each number.

mod rng;
mod slab;

use anyhow::{Context, Result};
use rng::Rng;
use slab::{Deck, fresnel};
use std::io::Write;

/// Below this weight a packet survives a roulette with a chance of one in ten.
const FAINT: f64 = 1e-4;

/// A packet of light.
struct Photon {
    position: [f64; 3],
    direction: [f64; 3],
    weight: f64,
    layer: usize,
}

/// Where the light of one batch, or of all of them, went.
#[derive(ckpt::Checkpoint)]
struct Tally {
    specular: f64,
    reflected: f64,
    transmitted: f64,
    absorbed: Vec<f64>,
}

impl Tally {
    fn new(layers: usize) -> Tally {
        Tally {
            specular: 0.0,
            reflected: 0.0,
            transmitted: 0.0,
            absorbed: vec![0.0; layers],
        }
    }

    /// Fractions of the incoming light: reflected at once, from within, transmitted, absorbed by layer.
    fn fractions(&self, photons: f64) -> Vec<f64> {
        let mut all = vec![self.specular, self.reflected, self.transmitted];
        all.extend(&self.absorbed);
        all.iter().map(|weight| weight / photons).collect()
    }
}

/// The experiment: the generator and all that was counted.
#[derive(ckpt::Checkpoint)]
struct Experiment {
    rng: Rng,
    tally: Tally,
    /// Absorbed weight by depth (row) and distance from the beam (column).
    map: Vec<f64>,
    /// Fractions of every finished batch.
    batches: Vec<Vec<f64>>,
}

impl Experiment {
    fn new(deck: &Deck) -> Experiment {
        Experiment {
            rng: Rng::new(deck.seed),
            tally: Tally::new(deck.layer.len()),
            map: vec![0.0; deck.map_rows * deck.map_columns],
            batches: Vec::new(),
        }
    }

    #[ckpt::instrument]
    fn run_batch(&mut self, deck: &Deck) {
        self.tally = Tally::new(deck.layer.len());
        for _ in 0..deck.photons_a_batch {
            ckpt::checkpoint!();
            self.follow(deck);
        }
        self.batches
            .push(self.tally.fractions(f64::from(deck.photons_a_batch)));
    }

    /// Follows one photon from the beam to its end.
    fn follow(&mut self, deck: &Deck) {
        let (mirrored, _) = fresnel(deck.outside, deck.layer[0].index, 1.0);
        self.tally.specular += mirrored;
        let mut photon = Photon {
            position: [0.0; 3],
            direction: [0.0, 0.0, 1.0],
            weight: 1.0 - mirrored,
            layer: 0,
        };
        while photon.weight > 0.0 {
            if self.fly(deck, &mut photon) {
                self.absorb(deck, &mut photon);
                self.scatter(deck.layer[photon.layer].anisotropy, &mut photon.direction);
                if photon.weight < FAINT {
                    photon.weight *= if self.rng.uniform() < 0.1 { 10.0 } else { 0.0 };
                }
            }
        }
    }

    /// Flies to the next collision, through as many faces as lie before it. False if the photon left the slab.
    fn fly(&mut self, deck: &Deck, photon: &mut Photon) -> bool {
        let mut free_paths = self.rng.exponential();
        loop {
            let layer = &deck.layer[photon.layer];
            let length = free_paths / (layer.absorption + layer.scattering);
            let top: f64 = deck.layer[..photon.layer]
                .iter()
                .map(|above| above.thickness)
                .sum();
            let slope = photon.direction[2];
            let down = slope > 0.0;
            let face = if down { top + layer.thickness } else { top };
            let to_face = if slope == 0.0 {
                f64::INFINITY
            } else {
                (face - photon.position[2]) / slope
            };
            let step = length.min(to_face.max(0.0));
            for axis in 0..3 {
                photon.position[axis] += step * photon.direction[axis];
            }
            if length <= to_face {
                return true;
            }
            photon.position[2] = face;
            free_paths -= step * (layer.absorption + layer.scattering);
            if self.leaves(deck, photon, down) {
                return false;
            }
        }
    }

    /// Reflects or refracts a photon at the face it has reached. True if it left the slab.
    fn leaves(&mut self, deck: &Deck, photon: &mut Photon, down: bool) -> bool {
        let (here, beyond) = (
            deck.layer[photon.layer].index,
            deck.index_beyond(photon.layer, down),
        );
        let (mirrored, cosine) = fresnel(here, beyond, photon.direction[2].abs());
        if self.rng.uniform() < mirrored {
            photon.direction[2] = -photon.direction[2];
            return false;
        }
        let [x, y, _] = photon.direction;
        photon.direction = [
            x * here / beyond,
            y * here / beyond,
            if down { cosine } else { -cosine },
        ];
        let out = if down {
            photon.layer + 1 == deck.layer.len()
        } else {
            photon.layer == 0
        };
        if out {
            let side = if down {
                &mut self.tally.transmitted
            } else {
                &mut self.tally.reflected
            };
            *side += std::mem::take(&mut photon.weight);
        } else if down {
            photon.layer += 1;
        } else {
            photon.layer -= 1;
        }
        out
    }

    fn absorb(&mut self, deck: &Deck, photon: &mut Photon) {
        let layer = &deck.layer[photon.layer];
        let lost = photon.weight * layer.absorption / (layer.absorption + layer.scattering);
        photon.weight -= lost;
        self.tally.absorbed[photon.layer] += lost;
        let [x, y, z] = photon.position;
        let row = (z / deck.depth() * deck.map_rows as f64) as usize;
        let column = ((x * x + y * y).sqrt() / deck.radius * deck.map_columns as f64) as usize;
        if row < deck.map_rows && column < deck.map_columns {
            self.map[row * deck.map_columns + column] += lost;
        }
    }

    /// Turns a direction by Henyey and Greenstein's law (Astrophys. J. 93, 1941).
    fn scatter(&mut self, g: f64, direction: &mut [f64; 3]) {
        let xi = 2.0 * self.rng.uniform() - 1.0;
        let cosine = if g == 0.0 {
            xi
        } else {
            let ratio = (1.0 - g * g) / (1.0 + g * xi);
            ((1.0 + g * g - ratio * ratio) / (2.0 * g)).clamp(-1.0, 1.0)
        };
        let sine = (1.0 - cosine * cosine).sqrt();
        let (a, b) = self.rng.direction();
        let [x, y, z] = *direction;
        let across = (1.0 - z * z).max(0.0).sqrt();
        let turned = if across < 1e-5 {
            [sine * a, sine * b, if z > 0.0 { cosine } else { -cosine }]
        } else {
            [
                sine * (x * z * a - y * b) / across + x * cosine,
                sine * (y * z * a + x * b) / across + y * cosine,
                -sine * a * across + z * cosine,
            ]
        };
        let length = (turned[0] * turned[0] + turned[1] * turned[1] + turned[2] * turned[2]).sqrt();
        *direction = turned.map(|component| component / length);
    }

    /// Mean of every fraction over the batches so far, and the standard error of that mean.
    fn estimates(&self) -> Vec<(f64, f64)> {
        let n = self.batches.len() as f64;
        (0..self.batches[0].len())
            .map(|k| {
                let mean = self.batches.iter().map(|batch| batch[k]).sum::<f64>() / n;
                let square: f64 = self
                    .batches
                    .iter()
                    .map(|batch| (batch[k] - mean) * (batch[k] - mean))
                    .sum();
                (mean, (square / (n * (n - 1.0).max(1.0))).sqrt())
            })
            .collect()
    }

    fn conclude(&self, deck: &Deck) -> Result<()> {
        let names = ["mirrored", "reflected", "transmitted"].into_iter();
        let names = names.chain(deck.layer.iter().map(|layer| layer.name.as_str()));
        for (name, (mean, error)) in names.zip(self.estimates()) {
            println!("{name:<24} {mean:.9} +- {error:.9}");
        }
        let mut file = std::fs::File::create(&deck.output)
            .map(std::io::BufWriter::new)
            .with_context(|| format!("cannot write {}", deck.output))?;
        for row in self.map.chunks_exact(deck.map_columns) {
            let cells: Vec<String> = row.iter().map(|weight| format!("{weight:e}")).collect();
            writeln!(file, "{}", cells.join(" "))?;
        }
        file.flush()?;
        println!("# the map of absorbed light is in {}", deck.output);
        Ok(())
    }
}

#[ckpt::main(calls(run_batch))]
fn main() -> Result<()> {
    let path = std::env::args().nth(1).context("usage: montecarlo DECK.toml")?;
    let deck = Deck::read(&path)?;
    let mut experiment = Experiment::new(&deck);
    println!(
        "# {} batches of {} photons, {} layers",
        deck.batches,
        deck.photons_a_batch,
        deck.layer.len()
    );
    for batch in 1..=deck.batches {
        experiment.run_batch(&deck);
        if batch % deck.batches.div_ceil(20) == 0 {
            let (reflected, error) = experiment.estimates()[1];
            println!("{batch:6} reflected {reflected:.9} +- {error:.9}");
        }
    }
    experiment.conclude(&deck)
}
