//! Rank r works on block it - r in turn it: what it sends is received one turn later.

use mpi::traits::*;

const BLOCKS: i32 = 40;

fn main() {
    let universe = mpi::initialize().expect("MPI");
    let world = universe.world();
    let (rank, size) = (world.rank(), world.size());
    let mut value = 0.0f64;
    for turn in 0..BLOCKS + size - 1 {
        // SITE
        let block = turn - rank;
        if block >= 0 && block < BLOCKS {
            if rank > 0 {
                value += world.process_at_rank(rank - 1).receive::<f64>().0;
            }
            for i in 0..5000 {
                value = (value + f64::from(i % 7)).sqrt();
            }
            if rank + 1 < size {
                world.process_at_rank(rank + 1).send(&value);
            }
        }
    }
    println!("rank {rank} {value:.12e}");
}
