//! Photons in a sphere of hot plasma (as in the benchmark SPhot): absorbed, scattered, or away through its surface.
//! Every thread follows photons with random numbers and tallies of its own, and has its site in its own loop.

mod rng;

use rng::Rng;
use std::env;
use std::sync::{Barrier, Mutex};
use std::thread;

/// Radius of the sphere.
const RADIUS: f64 = 1.0;
/// Opacity of each shell, from the centre.
const OPACITY: [f64; 10] = [24.0, 20.0, 17.0, 14.0, 11.0, 8.5, 6.0, 4.0, 2.5, 1.0];
/// The part of the collisions that absorb.
const ABSORBS: [f64; 10] = [0.5, 0.45, 0.4, 0.35, 0.3, 0.25, 0.2, 0.15, 0.1, 0.05];

/// What has become of photons.
#[derive(Clone, Debug, Default, ckpt::Checkpoint)]
struct Tally {
    photons: u64,
    escaped: u64,
    collisions: u64,
    /// Energy left in each shell.
    deposit: [f64; 10],
}

impl Tally {
    fn add(&mut self, other: &Tally) {
        self.photons += other.photons;
        self.escaped += other.escaped;
        self.collisions += other.collisions;
        for (sum, energy) in self.deposit.iter_mut().zip(other.deposit) {
            *sum += energy;
        }
    }
}

/// Follows one photon by delta tracking (Woodcock et al. 1965): it flies through the densest material everywhere, and
/// some of its collisions are none.
// By itself, not in the loop with the site: its variables stay in registers.
#[inline(never)]
fn follow(rng: &mut Rng, tally: &mut Tally) {
    let densest = OPACITY[0];
    let mut r = RADIUS * rng.uniform().max(rng.uniform()).max(rng.uniform());
    let mut mu = 2.0 * rng.uniform() - 1.0;
    let energy = 1.0 + rng.uniform();
    tally.photons += 1;
    loop {
        let way = rng.exponential() / densest;
        let next = (r * r + way * way + 2.0 * r * way * mu).max(0.0).sqrt();
        if next >= RADIUS {
            tally.escaped += 1;
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

/// What one thread does: batches of photons, with a word from the first about all after each.
#[ckpt::instrument]
fn transport(
    member: usize,
    batches: usize,
    photons: usize,
    tallies: &Mutex<Vec<Tally>>,
    barrier: &Barrier,
) -> u64 {
    let mut rng = Rng::new(member as u64);
    let mut longest = 0;
    for batch in 1..=batches {
        ckpt::checkpoint!();
        let mut own = Tally::default();
        for _ in 0..photons {
            let before = own.collisions;
            follow(&mut rng, &mut own);
            longest = longest.max(own.collisions - before);
        }
        tallies.lock().unwrap()[member].add(&own);
        barrier.wait();
        if member == 0 {
            let all = sum(&tallies.lock().unwrap());
            let escaped = all.escaped as f64 / all.photons as f64;
            println!(
                "batch {batch:3}: {escaped:.6} of {} photons have escaped",
                all.photons
            );
        }
        barrier.wait();
    }
    longest
}

fn sum(tallies: &[Tally]) -> Tally {
    let mut all = Tally::default();
    tallies.iter().for_each(|one| all.add(one));
    all
}

#[ckpt::main(calls(transport))]
fn main() {
    let numbers: Vec<usize> = env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let [threads, batches, photons] = numbers[..] else {
        eprintln!("usage: sphot-like THREADS BATCHES PHOTONS");
        std::process::exit(2);
    };
    let tallies = Mutex::new(vec![Tally::default(); threads]);
    let barrier = Barrier::new(threads);
    let longest: Vec<u64> = thread::scope(|s| {
        let mut members = Vec::new();
        for member in 0..threads {
            let (tallies, barrier) = (&tallies, &barrier);
            members.push(s.spawn(move || transport(member, batches, photons, tallies, barrier)));
        }
        members.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let all = sum(&tallies.into_inner().unwrap());
    println!("collisions of one photon at most: {longest:?}");
    println!("shell  energy per photon");
    for (shell, energy) in all.deposit.iter().enumerate() {
        println!("{shell:5}  {:.9}", energy / all.photons as f64);
    }
}
