//! Argon: molecular dynamics of a Lennard-Jones liquid in reduced units.
//!
//! The deck is read from `argon.in` when there is one:
//!
//! ```text
//! cells    5        # fcc unit cells per side
//! density  0.8442
//! temp     0.728
//! steps    400
//! dt       0.005
//! dump     20       # steps between two frames of traj.xyz
//! thermo   10
//! ```

mod cells;
mod deck;
mod integrator;
mod potential;
mod system;
mod vec3;
mod xyz;

use std::path::Path;
use std::process::ExitCode;

use deck::{Deck, DeckError};
use integrator::{Berendsen, Integrator, Thermostat, VelocityVerlet};
use potential::{Cut, LennardJones, Potential};
use system::System;
use xyz::Trajectory;

fn simulate<P: Potential, T: Thermostat>(
    deck: &Deck,
    potential: P,
    thermostat: T,
) -> std::io::Result<System> {
    let mut system = System::fcc(deck.cells, deck.density);
    system.maxwell(deck.temperature, deck.seed);
    println!("{} atoms in a box of side {:.5}", system.len(), system.side());
    println!("potential: {}", potential.name());

    let mut integrator = VelocityVerlet::new(potential, thermostat, deck.dt);
    integrator.prime(&mut system);

    let mut trajectory = Trajectory::create("traj.xyz")?;
    println!("{:>6} {:>12} {:>14} {:>14} {:>14}", "step", "T", "E_pot", "E_kin", "E_tot");
    for step in 1..=deck.steps {
        let potential_energy = integrator.step(&mut system);
        if step % deck.thermo == 0 {
            let kinetic = system.kinetic();
            let n = system.len() as f64;
            println!(
                "{step:>6} {:>12.6} {:>14.8} {:>14.8} {:>14.8}",
                system.temperature(),
                potential_energy / n,
                kinetic / n,
                (potential_energy + kinetic) / n
            );
        }
        if step % deck.dump == 0 {
            trajectory.frame(step, &system)?;
        }
    }
    println!("{} frames written", trajectory.frames());
    Ok(system)
}

fn run() -> Result<(), DeckError> {
    let deck = match Path::new("argon.in") {
        path if path.exists() => Deck::read(path)?,
        _ => Deck::default(),
    };
    let lj = Cut::shifted(LennardJones::REDUCED, 2.5);
    let system = simulate(&deck, lj, Berendsen { target: deck.temperature, tau: 0.5 })?;
    let p = system.momentum();
    println!("momentum at the end: {:.1e}", p.norm().max(1e-12));
    println!("mean square displacement: {:.8}", system.mean_square_displacement());
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("argon: {e}");
            ExitCode::from(match e {
                DeckError::Syntax { .. } => 2,
                _ => 1,
            })
        }
    }
}
