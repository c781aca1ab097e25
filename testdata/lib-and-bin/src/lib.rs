//! A Lennard-Jones gas in a periodic box, integrated by velocity Verlet.
//!
//! ```
//! use verlet_gas::{Settings, Simulation};
//! let mut sim = Simulation::new(Settings { atoms_per_side: 3, steps: 5, ..Settings::default() });
//! sim.run(|_| Ok(())).unwrap();
//! assert_eq!(sim.step_no(), 5);
//! ```
#![forbid(unsafe_code)]
#![warn(missing_debug_implementations)]

mod error;
mod forces;
mod output;
mod settings;
mod vec3;

pub use error::Error;
pub use output::Recorder;
pub use settings::Settings;
pub use vec3::Vec3;

use forces::ForceField;

#[derive(Debug, Clone)]
pub struct Atom {
    pub pos: Vec3,
    pub vel: Vec3,
    force: Vec3,
}

#[derive(Debug)]
pub struct Simulation {
    settings: Settings,
    side: f64,
    atoms: Vec<Atom>,
    field: ForceField,
    potential: f64,
    step: u64,
}

impl Simulation {
    pub fn new(settings: Settings) -> Simulation {
        let m = settings.atoms_per_side;
        let spacing = settings.density.powf(-1.0 / 3.0);
        let side = spacing * m as f64;
        let mut seed = settings.seed;
        let mut next = move || {
            // Numerical Recipes' quick and dirty one: good enough for starting velocities.
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as f64 / (1u64 << 31) as f64 - 0.5
        };
        let mut atoms = Vec::with_capacity(m * m * m);
        for x in 0..m {
            for y in 0..m {
                for z in 0..m {
                    let pos = Vec3::new(x as f64 + 0.5, y as f64 + 0.5, z as f64 + 0.5) * spacing;
                    let vel = Vec3::new(next(), next(), next()) * settings.temperature.sqrt();
                    atoms.push(Atom { pos, vel, force: Vec3::ZERO });
                }
            }
        }
        let mean = atoms.iter().map(|a| a.vel).sum::<Vec3>() / atoms.len() as f64;
        atoms.iter_mut().for_each(|a| a.vel -= mean);

        let mut sim = Simulation { field: ForceField::new(side, settings.cutoff), settings, side, atoms, potential: 0.0, step: 0 };
        sim.potential = sim.field.compute(&mut sim.atoms);
        sim
    }

    /// Integrates to the last step, calling `on_step` after each.
    pub fn run<F>(&mut self, mut on_step: F) -> Result<(), Error>
    where
        F: FnMut(&Simulation) -> Result<(), Error>,
    {
        while self.step < self.settings.steps {
            self.advance()?;
            on_step(self)?;
        }
        Ok(())
    }

    fn advance(&mut self) -> Result<(), Error> {
        let dt = self.settings.dt;
        for atom in &mut self.atoms {
            atom.vel += atom.force * (0.5 * dt);
            atom.pos += atom.vel * dt;
            atom.pos = atom.pos.wrapped(self.side);
        }
        self.potential = self.field.compute(&mut self.atoms);
        for atom in self.atoms.iter_mut() {
            atom.vel += atom.force * (0.5 * dt);
        }
        self.step += 1;
        if !self.potential.is_finite() {
            return Err(Error::BlewUp { step: self.step });
        }
        Ok(())
    }

    pub fn step_no(&self) -> u64 {
        self.step
    }

    pub fn kinetic(&self) -> f64 {
        self.atoms.iter().map(|a| 0.5 * a.vel.norm2()).sum()
    }

    pub fn potential(&self) -> f64 {
        self.potential
    }

    pub fn atoms(&self) -> &[Atom] {
        &self.atoms
    }

    pub fn report(&self) -> String {
        let k = self.kinetic();
        format!("kinetic {:12.6}  potential {:12.6}  total {:12.6}", k, self.potential, k + self.potential)
    }

    /// FNV-1a over the bits of every position and velocity.
    pub fn checksum(&self) -> u64 {
        let mut hash = 0xcbf29ce484222325u64;
        for a in &self.atoms {
            for c in a.pos.components().into_iter().chain(a.vel.components()) {
                for byte in c.to_bits().to_le_bytes() {
                    hash = (hash ^ u64::from(byte)).wrapping_mul(0x100000001b3);
                }
            }
        }
        hash
    }

    pub fn write_xyz(&self, path: &str) -> Result<(), Error> {
        output::write_xyz(path, &self.atoms).map_err(|source| Error::Io { path: path.into(), source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn energy_is_conserved() {
        let mut sim = Simulation::new(Settings { atoms_per_side: 4, steps: 50, ..Settings::default() });
        let before = sim.kinetic() + sim.potential();
        sim.run(|_| Ok(())).unwrap();
        let after = sim.kinetic() + sim.potential();
        assert!((before - after).abs() < 0.05 * before.abs());
    }
}
