//! Rank 0 takes one result of each turn from whoever sends one; nobody waits for an answer.

use mpi::traits::*;

fn main() {
    let universe = mpi::initialize().expect("MPI");
    let world = universe.world();
    let (rank, size) = (world.rank(), world.size());
    let mut total = 0.0;
    for turn in 0..300 {
        // SITE
        if rank == 0 {
            for _ in 1..size {
                total += world.any_process().receive::<f64>().0;
            }
        } else {
            let mut result = 0.0;
            for i in 1..1000 * rank {
                result += f64::from(turn) / f64::from(i);
            }
            world.process_at_rank(0).send(&result);
        }
    }
    if rank == 0 {
        println!("{total:.6e}");
    }
}
