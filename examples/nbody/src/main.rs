//! The solar system and a belt of massless asteroids, by Yoshida's symplectic integrator of fourth order.
//!
//! H. Yoshida, "Construction of higher order symplectic integrators", Phys. Lett. A 150 (1990): three
//! leapfrog steps of lengths w1, w0, w1 cancel the leading error. Energy and angular momentum of the massive
//! bodies are printed as relative errors; both must stay small and must not drift. Asteroids start on
//! circular orbits in the plane of Jupiter's; resonances with Jupiter empty some orbits (Kirkwood's gaps),
//! and the histogram at the end shows where the belt is.

mod vector;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use vector::{Vector, add_scaled, attraction, cross, direction, dot, minus, norm, unit};

const DAYS_A_YEAR: f64 = 365.25;
/// Yoshida's weights: w1 = 1 / (2 - 2^(1/3)), w0 = 1 - 2 w1.
const W1: f64 = 1.351_207_191_959_657_8;
const WEIGHTS: [f64; 3] = [W1, 1.0 - 2.0 * W1, W1];

/// The input deck, a TOML file; lengths in AU, times in days.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Deck {
    dt: f64,
    years: f64,
    report_every: f64,
    /// How many asteroids.
    belt: usize,
    body: Vec<Body>,
}

#[derive(Deserialize, ckpt::Checkpoint)]
struct Body {
    name: String,
    /// Newton's constant times the mass.
    gm: f64,
    position: Vector,
    velocity: Vector,
}

#[derive(ckpt::Checkpoint)]
struct Asteroid {
    position: Vector,
    velocity: Vector,
}

impl Deck {
    fn read(path: &str) -> Result<Deck> {
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read the deck {path}"))?;
        let deck: Deck = toml::from_str(&text).with_context(|| format!("the deck {path}"))?;
        ensure!(deck.body.len() >= 2, "{path}: needs a sun and a planet");
        ensure!(
            deck.dt > 0.0 && deck.report_every >= deck.dt,
            "{path}: dt > 0 and report_every >= dt"
        );
        Ok(deck)
    }

    fn steps(&self) -> u64 {
        (self.years * DAYS_A_YEAR / self.dt).ceil() as u64
    }
}

/// Everything that moves. The first body is the sun.
#[derive(ckpt::Checkpoint)]
struct System {
    steps: u64,
    bodies: Vec<Body>,
    belt: Vec<Asteroid>,
    /// Energy and angular momentum at the start.
    energy: f64,
    momentum: Vector,
}

impl System {
    fn new(bodies: Vec<Body>, belt: usize) -> System {
        let mut system = System {
            steps: 0,
            bodies,
            belt: Vec::new(),
            energy: 0.0,
            momentum: [0.0; 3],
        };
        system.rest_at_barycentre();
        system.seed_belt(belt);
        system.energy = system.total_energy();
        system.momentum = system.total_momentum();
        system
    }

    /// Shifts to the frame in which the centre of mass rests at the origin.
    fn rest_at_barycentre(&mut self) {
        let total: f64 = self.bodies.iter().map(|b| b.gm).sum();
        for axis in 0..3 {
            let place = self.bodies.iter().map(|b| b.gm * b.position[axis]).sum::<f64>() / total;
            let speed = self.bodies.iter().map(|b| b.gm * b.velocity[axis]).sum::<f64>() / total;
            for body in &mut self.bodies {
                body.position[axis] -= place;
                body.velocity[axis] -= speed;
            }
        }
    }

    /// Asteroids on circular orbits from 2.1 to 3.5 AU, in the plane of the fifth planet (or of the last).
    fn seed_belt(&mut self, count: usize) {
        let sun = &self.bodies[0];
        let guide = &self.bodies[5.min(self.bodies.len() - 1)];
        let normal = unit(cross(
            minus(guide.position, sun.position),
            minus(guide.velocity, sun.velocity),
        ));
        let across = unit(minus(guide.position, sun.position));
        let along = cross(normal, across);
        let mut seed = 1;
        for k in 0..count {
            let radius = 2.1 + 1.4 * (k as f64 + 0.5) / count as f64;
            let (x, y) = direction(&mut seed);
            let speed = (sun.gm / radius).sqrt();
            self.belt.push(Asteroid {
                position: [0, 1, 2].map(|i| sun.position[i] + radius * (x * across[i] + y * along[i])),
                velocity: [0, 1, 2].map(|i| sun.velocity[i] + speed * (x * along[i] - y * across[i])),
            });
        }
    }

    /// Takes `count` steps of `dt` days.
    #[ckpt::instrument]
    fn advance(&mut self, dt: f64, count: u64) {
        for _ in 0..count {
            ckpt::checkpoint!();
            for weight in WEIGHTS {
                self.drift(0.5 * weight * dt);
                self.kick(weight * dt);
                self.drift(0.5 * weight * dt);
            }
            self.steps += 1;
        }
    }

    fn drift(&mut self, dt: f64) {
        for body in &mut self.bodies {
            add_scaled(&mut body.position, dt, body.velocity);
        }
        for asteroid in &mut self.belt {
            add_scaled(&mut asteroid.position, dt, asteroid.velocity);
        }
    }

    fn kick(&mut self, dt: f64) {
        for asteroid in &mut self.belt {
            for body in &self.bodies {
                let pull = attraction(minus(body.position, asteroid.position));
                add_scaled(&mut asteroid.velocity, dt * body.gm, pull);
            }
        }
        for i in 1..self.bodies.len() {
            let (before, rest) = self.bodies.split_at_mut(i);
            let body = &mut rest[0];
            for other in before {
                let pull = attraction(minus(other.position, body.position));
                add_scaled(&mut body.velocity, dt * other.gm, pull);
                add_scaled(&mut other.velocity, -dt * body.gm, pull);
            }
        }
    }

    /// Energy of the massive bodies, times Newton's constant.
    fn total_energy(&self) -> f64 {
        let mut energy = 0.0;
        for (i, body) in self.bodies.iter().enumerate() {
            energy += 0.5 * body.gm * dot(body.velocity, body.velocity);
            for other in &self.bodies[..i] {
                energy -= body.gm * other.gm / norm(minus(body.position, other.position));
            }
        }
        energy
    }

    fn total_momentum(&self) -> Vector {
        let mut total = [0.0; 3];
        for body in &self.bodies {
            add_scaled(&mut total, body.gm, cross(body.position, body.velocity));
        }
        total
    }

    fn report(&self, dt: f64) {
        let energy = (self.total_energy() - self.energy) / self.energy.abs();
        let momentum = norm(minus(self.total_momentum(), self.momentum)) / norm(self.momentum);
        let years = self.steps as f64 * dt / DAYS_A_YEAR;
        println!(
            "{years:10.2} {energy:14.6e} {momentum:14.6e} {:8}",
            self.belt_members()
        );
    }

    /// Semi-major axis of an asteroid's orbit around the sun; negative when it escapes.
    fn semi_major_axis(&self, asteroid: &Asteroid) -> f64 {
        let sun = &self.bodies[0];
        let speed = minus(asteroid.velocity, sun.velocity);
        1.0 / (2.0 / norm(minus(asteroid.position, sun.position)) - dot(speed, speed) / sun.gm)
    }

    fn belt_members(&self) -> usize {
        self.belt
            .iter()
            .filter(|a| (2.0..3.6).contains(&self.semi_major_axis(a)))
            .count()
    }

    fn conclude(&self) {
        println!("# last positions, AU");
        for body in &self.bodies {
            let [x, y, z] = body.position;
            println!("{:<15} {x:20.15} {y:20.15} {z:20.15}", body.name);
        }
        println!("# asteroids by semi-major axis, AU");
        let mut bins = [0_u32; 32];
        for axis in self.belt.iter().map(|asteroid| self.semi_major_axis(asteroid)) {
            let bin = (axis - 2.0) / 0.05;
            if (0.0..32.0).contains(&bin) {
                bins[bin as usize] += 1;
            }
        }
        for (bin, count) in bins.iter().enumerate() {
            println!("{:5.2} {count:6}", 2.0 + 0.05 * bin as f64);
        }
    }
}

#[ckpt::main(calls(advance))]
fn main() -> Result<()> {
    let path = std::env::args().nth(1).context("usage: nbody DECK.toml")?;
    let deck = Deck::read(&path)?;
    let (dt, steps) = (deck.dt, deck.steps());
    let every = (deck.report_every / dt) as u64;
    let mut system = System::new(deck.body, deck.belt);
    println!(
        "# {} bodies, {} asteroids, {steps} steps",
        system.bodies.len(),
        system.belt.len()
    );
    println!("#    years   energy error momentum error  in belt");
    system.report(dt);
    while system.steps < steps {
        system.advance(dt, every.min(steps - system.steps));
        system.report(dt);
    }
    system.conclude();
    Ok(())
}
