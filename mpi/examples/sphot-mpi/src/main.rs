//! Photons in a sphere of hot plasma (after the benchmark SPhot), on several ranks with several threads each: absorbed,
//! scattered, or away through the surface. Every thread follows photons with random numbers and tallies of its own; when
//! all are done, the ranks add up.
//!
//! What it has of the original: a list with a place for the outcome of each of the most runs that there may be, nearly all of
//! which are zeros; sums over the ranks at the end; the mean probability of escape and its standard deviation, by which the
//! original is verified; and the figure of merit, tracks in a second. What it has not: frequencies, weights and splitting, and
//! the message in which every rank tells the first, after each run, how long that took.
//!
//! `sphot-mpi THREADS BATCHES PHOTONS`: of every rank, of every thread, of every batch

mod rng;

use mpi::collective::SystemOperation;
use mpi::traits::*;
use rng::Rng;
use std::sync::{Barrier, Mutex};
use std::thread;

/// Radius of the sphere.
const RADIUS: f64 = 1.0;
/// Opacity of each shell, from the centre.
const OPACITY: [f64; 10] = [24.0, 20.0, 17.0, 14.0, 11.0, 8.5, 6.0, 4.0, 2.5, 1.0];
/// The part of the collisions that absorb.
const ABSORBS: [f64; 10] = [0.5, 0.45, 0.4, 0.35, 0.3, 0.25, 0.2, 0.15, 0.1, 0.05];

/// Places for the outcomes of batches of a rank, as SPhot has them: for the most that there may be.
const MOST_BATCHES: usize = 1 << 20;

/// What has become of photons.
#[derive(Clone, Debug, Default)]
struct Tally {
    photons: u64,
    escaped: u64,
    collisions: u64,
    /// Straight parts of their ways.
    tracks: u64,
    /// Energy that they were born with, and that left with them.
    born: f64,
    away: f64,
    /// Energy left in each shell.
    deposit: [f64; 10],
}

impl Tally {
    fn add(&mut self, other: &Tally) {
        self.photons += other.photons;
        self.escaped += other.escaped;
        self.collisions += other.collisions;
        self.tracks += other.tracks;
        self.born += other.born;
        self.away += other.away;
        for (sum, energy) in self.deposit.iter_mut().zip(other.deposit) {
            *sum += energy;
        }
    }
}

/// Follows one photon by delta tracking (Woodcock et al. 1965): it flies through the densest material everywhere, and
/// some of its collisions are none.
fn follow(rng: &mut Rng, tally: &mut Tally) {
    let densest = OPACITY[0];
    let mut r = RADIUS * rng.uniform().max(rng.uniform()).max(rng.uniform());
    let mut mu = 2.0 * rng.uniform() - 1.0;
    let energy = 1.0 + rng.uniform();
    tally.photons += 1;
    tally.born += energy;
    loop {
        tally.tracks += 1;
        let way = rng.exponential() / densest;
        let next = (r * r + way * way + 2.0 * r * way * mu).max(0.0).sqrt();
        if next >= RADIUS {
            tally.escaped += 1;
            tally.away += energy;
            return;
        }
        if next > 0.0 {
            mu = ((r * mu + way) / next).clamp(-1.0, 1.0);
        }
        r = next;
        let shell = ((r / RADIUS * 10.0) as usize).min(9);
        if rng.uniform() * densest >= OPACITY[shell] {
            continue;
        }
        tally.collisions += 1;
        if rng.uniform() < ABSORBS[shell] {
            tally.deposit[shell] += energy;
            return;
        }
        mu = 2.0 * rng.uniform() - 1.0;
    }
}

/// What one thread does. After every tenth batch the first says how it stands with those of its rank.
fn transport(
    first: usize,
    member: usize,
    batches: usize,
    photons: usize,
    tallies: &Mutex<Vec<Tally>>,
    outcomes: &Mutex<Vec<f64>>,
    barrier: &Barrier,
) {
    let mut rng = Rng::new((first + member) as u64);
    for batch in 1..=batches {
        let mut own = Tally::default();
        for _ in 0..photons {
            follow(&mut rng, &mut own);
        }
        tallies.lock().unwrap()[member].add(&own);
        outcomes.lock().unwrap()[member * batches + batch - 1] = own.escaped as f64 / own.photons as f64;
        barrier.wait();
        if member == 0 && first == 0 && batch % 10 == 0 {
            let all = sum(&tallies.lock().unwrap());
            let escaped = all.escaped as f64 / all.photons as f64;
            println!(
                "batch {batch:3}: {escaped:.6} of {} photons have escaped",
                all.photons
            );
        }
        barrier.wait();
    }
}

fn sum(tallies: &[Tally]) -> Tally {
    let mut all = Tally::default();
    tallies.iter().for_each(|one| all.add(one));
    all
}

fn main() {
    let numbers: Vec<usize> = std::env::args()
        .skip(1)
        .map(|word| word.parse().expect("a number"))
        .collect();
    let (threads, batches, photons) = match numbers[..] {
        [threads, batches, photons] => (threads, batches, photons),
        _ => (2, 40, 500),
    };
    let universe = mpi::initialize().expect("MPI comes up once");
    let world = universe.world();
    let first = world.rank() as usize * threads;
    let tallies = Mutex::new(vec![Tally::default(); threads]);
    assert!(
        threads * batches <= MOST_BATCHES,
        "there is a place for every batch"
    );
    let outcomes = Mutex::new(vec![0.0; MOST_BATCHES]);
    let barrier = Barrier::new(threads);
    let start = mpi::time();
    thread::scope(|s| {
        for member in 0..threads {
            let (tallies, outcomes, barrier) = (&tallies, &outcomes, &barrier);
            s.spawn(move || transport(first, member, batches, photons, tallies, outcomes, barrier));
        }
    });
    let seconds = mpi::time() - start;
    let own = sum(&tallies.into_inner().unwrap());
    let counts = [own.photons, own.escaped, own.collisions, own.tracks];
    let (mut all, mut deposit) = ([0_u64; 4], [0.0; 10]);
    world.all_reduce_into(&counts[..], &mut all[..], SystemOperation::sum());
    world.all_reduce_into(&own.deposit[..], &mut deposit[..], SystemOperation::sum());
    let outcomes = outcomes.into_inner().unwrap();
    let outcomes = &outcomes[..threads * batches];
    let squares = outcomes.iter().map(|one| one * one).sum::<f64>();
    let sums = [own.born, own.away, outcomes.iter().sum(), squares];
    let mut totals = [0.0; 4];
    world.all_reduce_into(&sums[..], &mut totals[..], SystemOperation::sum());
    if world.rank() == 0 {
        println!("{} photons, {} away, {} collisions", all[0], all[1], all[2]);
        println!("shell  energy per photon");
        for (shell, energy) in deposit.iter().enumerate() {
            println!("{shell:5}  {:.9}", energy / all[0] as f64);
        }
        let runs = f64::from(world.size()) * (threads * batches) as f64;
        let mean = totals[2] / runs;
        let deviation = (totals[3] / runs - mean * mean).max(0.0).sqrt();
        println!("probability of escape {mean:.6}, standard deviation {deviation:.6}");
        let (born, away) = (totals[0], totals[1]);
        let lost = born - away - deposit.iter().sum::<f64>();
        let verdict = if lost.abs() <= 1e-9 * born {
            "passed"
        } else {
            "FAILED"
        };
        println!("energy {born:.6}, {away:.6} of it away, the rest left in the sphere: {verdict}");
        eprintln!("tracks in a second: {:.3e}", all[3] as f64 / seconds);
    }
}
