//! Odd-even transposition sort: neighbours in pairs, other pairs every other turn.

use mpi::traits::*;

fn main() {
    let universe = mpi::initialize().expect("MPI");
    let world = universe.world();
    let (rank, size) = (world.rank(), world.size());
    let count = 400;
    let mut keys: Vec<i64> = (0..count).map(|i| (i * 7919 + i64::from(rank) * 104_729) % 10_007).collect();
    keys.sort_unstable();
    for turn in 0..2 * size {
        // SITE
        let is_lower = (rank + turn) % 2 == 0;
        let partner = if is_lower { rank + 1 } else { rank - 1 };
        if partner >= 0 && partner < size {
            let other = world.process_at_rank(partner);
            let mut theirs = vec![0i64; keys.len()];
            if is_lower {
                other.send(&keys[..]);
                other.receive_into(&mut theirs[..]);
            } else {
                other.receive_into(&mut theirs[..]);
                other.send(&keys[..]);
            }
            let mut both = keys.clone();
            both.extend_from_slice(&theirs);
            both.sort_unstable();
            let from = if is_lower { 0 } else { keys.len() };
            let len = keys.len();
            keys.copy_from_slice(&both[from..from + len]);
        }
    }
    println!("rank {rank} {} .. {}", keys[0], keys[keys.len() - 1]);
}
