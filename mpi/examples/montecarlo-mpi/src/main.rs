//! Photons through a slab of tissue. Rank 0 hands out batches and takes the results from whichever worker has one; the
//! workers are asked for until a round is over. What a batch gives depends on its number alone, so the sum does not depend
//! on who has done what.
//!
//! `montecarlo-mpi ROUNDS BATCHES PHOTONS`

use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

const WORK: i32 = 1;
const RESULT: i32 = 2;
/// Sent in place of a batch: the round is over.
const OVER: u64 = u64::MAX;

/// Photons that were reflected, absorbed and let through.
#[derive(Clone, Copy, Default)]
struct Tally {
    counts: [u64; 3],
}

fn random(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

fn batch(number: u64, photons: u64) -> [u64; 3] {
    let mut state = number.wrapping_mul(0xD134_2543_DE82_EF95);
    let mut counts = [0; 3];
    for _ in 0..photons {
        let (mut depth, mut direction) = (0.0_f64, 1.0_f64);
        let end = loop {
            depth += direction * -random(&mut state).max(1e-12).ln() * 0.1;
            if depth < 0.0 {
                break 0;
            }
            if depth > 1.0 {
                break 2;
            }
            if random(&mut state) < 0.1 {
                break 1;
            }
            direction = 2.0 * random(&mut state) - 1.0;
        };
        counts[end] += 1;
    }
    counts
}

/// Hands out the batches of a round and adds up what comes back.
fn master(world: &SimpleCommunicator, first: u64, batches: u64, tally: &mut Tally) {
    let workers = world.size() - 1;
    let mut next = first;
    let mut working = 0;
    for worker in 1..=workers {
        let number = if next < first + batches { next } else { OVER };
        world.process_at_rank(worker).send_with_tag(&number, WORK);
        if number != OVER {
            next += 1;
            working += 1;
        }
    }
    while working > 0 {
        let (counts, status) = world.any_process().receive_vec_with_tag::<u64>(RESULT);
        for (sum, count) in tally.counts.iter_mut().zip(counts) {
            *sum += count;
        }
        let number = if next < first + batches { next } else { OVER };
        world
            .process_at_rank(status.source_rank())
            .send_with_tag(&number, WORK);
        if number == OVER {
            working -= 1;
        } else {
            next += 1;
        }
    }
}

fn worker(world: &SimpleCommunicator, photons: u64) {
    let master = world.process_at_rank(0);
    loop {
        let (number, _) = master.receive_with_tag::<u64>(WORK);
        if number == OVER {
            return;
        }
        master.send_with_tag(&batch(number, photons)[..], RESULT);
    }
}

fn main() {
    let numbers: Vec<u64> = std::env::args()
        .skip(1)
        .map(|word| word.parse().expect("a number"))
        .collect();
    let (rounds, batches, photons) = match numbers[..] {
        [rounds, batches, photons] => (rounds, batches, photons),
        _ => (30, 10, 300),
    };
    let universe = mpi::initialize().expect("MPI comes up once");
    let world = universe.world();
    let rank = world.rank();
    let mut tally = Tally::default();
    for round in 0..rounds {
        let first = round * batches;
        if world.size() == 1 {
            for number in first..first + batches {
                for (sum, count) in tally.counts.iter_mut().zip(batch(number, photons)) {
                    *sum += count;
                }
            }
        } else if rank == 0 {
            master(&world, first, batches, &mut tally);
        } else {
            worker(&world, photons);
        }
        if rank == 0 && (round + 1) % 10 == 0 {
            let [reflected, absorbed, through] = tally.counts;
            println!(
                "round {}: {reflected} reflected, {absorbed} absorbed, {through} through",
                round + 1
            );
        }
    }
}
