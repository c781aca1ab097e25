//! Sorts integers that all ranks hold a part of, as NAS IS does: each rank counts its keys, all agree on ranges of keys that
//! are about equally full, and every key goes to the rank of its range in one all-to-all exchange.
//!
//! `sort-mpi KEYS ITERATIONS`: keys of every rank.

use mpi::Count;
use mpi::collective::SystemOperation;
use mpi::datatype::{Partition, PartitionMut};
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

const LARGEST: usize = 1 << 16;
const BUCKETS: usize = 1 << 8;

fn keys(rank: u64, count: usize) -> Vec<u32> {
    let mut state = 314_159_265 + rank * 271_828_183;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % (LARGEST / 4)
    };
    (0..count)
        .map(|_| (next() + next() + next() + next()) as u32)
        .collect()
}

fn bucket(key: u32) -> usize {
    key as usize / (LARGEST / BUCKETS)
}

fn starts(counts: &[Count]) -> Vec<Count> {
    let mut sum = 0;
    counts
        .iter()
        .map(|count| {
            sum += count;
            sum - count
        })
        .collect()
}

/// The rank of every bucket: ranges that are about equally full.
fn owners(all: &[u64], size: usize) -> Vec<usize> {
    let total: u64 = all.iter().sum();
    let mut before = 0;
    all.iter()
        .map(|count| {
            let owner = (before * size as u64 / total.max(1)) as usize;
            before += count;
            owner.min(size - 1)
        })
        .collect()
}

/// One sort: the keys of this rank's range, in order.
fn sort(keys: &[u32], world: &SimpleCommunicator) -> Vec<u32> {
    let size = world.size() as usize;
    let mut own = vec![0_u64; BUCKETS];
    for &key in keys {
        own[bucket(key)] += 1;
    }
    let mut all = vec![0_u64; BUCKETS];
    world.all_reduce_into(&own[..], &mut all[..], SystemOperation::sum());
    let owner = owners(&all, size);
    let mut parts: Vec<Vec<u32>> = vec![Vec::new(); size];
    for &key in keys {
        parts[owner[bucket(key)]].push(key);
    }
    let sent: Vec<Count> = parts.iter().map(|part| part.len() as Count).collect();
    let mut received: Vec<Count> = vec![0; size];
    world.all_to_all_into(&sent[..], &mut received[..]);
    let outgoing = parts.concat();
    let mut incoming = vec![0_u32; received.iter().sum::<Count>() as usize];
    {
        let from = Partition::new(&outgoing[..], &sent[..], starts(&sent));
        let mut to = PartitionMut::new(&mut incoming[..], &received[..], starts(&received));
        world.all_to_all_varcount_into(&from, &mut to);
    }
    incoming.sort_unstable();
    incoming
}

fn main() {
    let numbers: Vec<usize> = std::env::args()
        .skip(1)
        .map(|word| word.parse().expect("a number"))
        .collect();
    let (count, iterations) = match numbers[..] {
        [count, iterations] => (count, iterations),
        _ => (4000, 40),
    };
    let universe = mpi::initialize().expect("MPI comes up once");
    let world = universe.world();
    let mut keys = keys(world.rank() as u64, count);
    let mut checksum = 0_u64;
    for iteration in 0..iterations {
        // As in NAS IS, two keys change before every sort.
        keys[iteration % count] = iteration as u32;
        keys[(iteration + iterations) % count] = (LARGEST - 1 - iteration) as u32;
        let sorted = sort(&keys, &world);
        let own: u64 = sorted
            .iter()
            .zip(1_u64..)
            .map(|(&key, place)| u64::from(key) * (place % 97))
            .sum();
        let mut all = 0;
        world.all_reduce_into(&own, &mut all, SystemOperation::sum());
        checksum = checksum.wrapping_mul(31).wrapping_add(all);
        if world.rank() == 0 && (iteration + 1) % 10 == 0 {
            println!("iteration {}: {checksum:016x}", iteration + 1);
        }
    }
}
