//! Copper atoms that move (as in the mini-app CoMD): a Lennard-Jones potential with a cutoff, link cells of the cutoff's
//! width, and steps of velocity Verlet.
//!
//! What it has of the original: the arrays, sixty-four places for atoms in each cell, its halo included; the exchange, in
//! which what has left a rank's cells and what its neighbours need of them goes in one message to each side, dimension after
//! dimension; a sum over all ranks every ten steps; its constants and its checks. What it has not: the embedded-atom
//! potential, and the original's random numbers.
//!
//! `comd-like NX NY NZ STEPS [I J K]`: unit cells of four atoms and, if need be, ranks in each dimension.

mod atoms;
mod domain;
mod exchange;
mod force;
mod random;

use std::process::ExitCode;

use mpi::collective::SystemOperation;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

use atoms::Atoms;
use domain::Domain;

/// Angstrom.
const LATTICE: f64 = 3.615;
/// Femtoseconds.
const TIME_STEP: f64 = 1.0;
/// Kelvin.
const TEMPERATURE: f64 = 600.0;
/// Of an atom, in eV fs² / Å².
const MASS: f64 = 63.55 * 103.642_691_902_686_76;
/// eV / K.
const BOLTZMANN: f64 = 8.617_332_4e-5;
/// Steps between two lines of the report.
const REPORT: usize = 10;

/// Energies of an atom, potential and kinetic, and how many atoms all ranks have.
struct Sums {
    potential: f64,
    kinetic: f64,
    atoms: usize,
}

impl Sums {
    fn of(atoms: &Atoms, world: &SimpleCommunicator) -> Sums {
        let own = atoms.sums(MASS);
        let mut all = [0.0; 3];
        world.all_reduce_into(&own[..], &mut all[..], SystemOperation::sum());
        Sums {
            potential: all[0] / all[2],
            kinetic: all[1] / all[2],
            atoms: all[2] as usize,
        }
    }

    fn total(&self) -> f64 {
        self.potential + self.kinetic
    }

    fn print(&self, step: usize) {
        println!(
            "{step:6} {:9.2} {:18.12} {:18.12} {:18.12} {:12.4} {:10}",
            step as f64 * TIME_STEP,
            self.total(),
            self.potential,
            self.kinetic,
            self.kinetic / (1.5 * BOLTZMANN),
            self.atoms
        );
    }
}

/// Moves all atoms on by one step.
fn step(atoms: &mut Atoms, domain: &Domain, world: &SimpleCommunicator) {
    atoms.push(0.5 * TIME_STEP);
    atoms.drift(TIME_STEP / MASS);
    exchange::redistribute(atoms, domain, world);
    force::compute(atoms, domain);
    atoms.push(0.5 * TIME_STEP);
}

/// Gives the atoms momenta at random, none on the whole and of the temperature that is wanted.
fn warm(atoms: &mut Atoms, world: &SimpleCommunicator) {
    atoms.set_momenta((MASS * BOLTZMANN * TEMPERATURE).sqrt());
    let own = atoms.momentum();
    let mut all = [0.0; 4];
    world.all_reduce_into(&own[..], &mut all[..], SystemOperation::sum());
    atoms.shift_momenta([0, 1, 2].map(|axis| all[axis] / all[3]));
    let now = Sums::of(atoms, world).kinetic / (1.5 * BOLTZMANN);
    atoms.scale_momenta((TEMPERATURE / now).sqrt());
}

fn main() -> ExitCode {
    let numbers: Vec<usize> = std::env::args()
        .skip(1)
        .map(|word| word.parse().expect("a number"))
        .collect();
    let (unit_cells, steps) = match numbers[..] {
        [x, y, z, steps, ..] => ([x, y, z], steps),
        _ => ([8, 8, 8], 40),
    };
    let universe = mpi::initialize().expect("MPI comes up once");
    let world = universe.world();
    let (rank, size) = (world.rank() as usize, world.size() as usize);
    let ranks = match numbers[..] {
        [_, _, _, _, i, j, k] => [i, j, k],
        _ => [size, 1, 1],
    };
    assert_eq!(
        ranks[0] * ranks[1] * ranks[2],
        size,
        "the ranks in each dimension make up all of them"
    );
    let domain = Domain::new(unit_cells.map(|cells| cells as f64 * LATTICE), ranks, rank);
    let mut atoms = Atoms::of_lattice(&domain, unit_cells, LATTICE);
    warm(&mut atoms, &world);
    exchange::redistribute(&mut atoms, &domain, &world);
    force::compute(&mut atoms, &domain);
    let first = Sums::of(&atoms, &world);
    if rank == 0 {
        println!(
            "  step        fs       energy of an atom          potential            kinetic  temperature      atoms"
        );
        first.print(0);
    }
    let start = mpi::time();
    let mut done = 0;
    let mut last = Sums::of(&atoms, &world);
    while done < steps {
        let next = steps.min(done + REPORT);
        for _ in done..next {
            step(&mut atoms, &domain, &world);
        }
        done = next;
        last = Sums::of(&atoms, &world);
        if rank == 0 {
            last.print(done);
        }
    }
    let seconds = mpi::time() - start;
    let change = last.total() / first.total() - 1.0;
    let passed = change.abs() <= 1e-4 && last.atoms == first.atoms;
    if rank == 0 {
        let lost = first.atoms as i64 - last.atoms as i64;
        let verdict = if passed { "passed" } else { "FAILED" };
        println!("the energy has changed by {change:.3e} of itself, {lost} atoms were lost: {verdict}");
        let updates = (last.atoms * steps) as f64 / (seconds * 1e6);
        eprintln!("average all-atom update rate: {:.6} us/atom", 1.0 / updates);
        eprintln!("average atom rate: {updates:.6} atoms/us");
    }
    if passed {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
