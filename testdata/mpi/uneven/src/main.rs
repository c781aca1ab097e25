//! Ranks that go round a loop more often the higher they are.

use mpi::collective::SystemOperation;
use mpi::traits::*;

fn main() {
    let universe = mpi::initialize().expect("MPI");
    let world = universe.world();
    let rank = world.rank();
    let mut value = 1.0f64;
    for _ in 0..20 {
        for i in 0..10 * (rank + 1) {
            // SITE
            for _ in 0..500 {
                value = (value + f64::from(i)).sqrt();
            }
        }
        let mine = value;
        world.all_reduce_into(&mine, &mut value, SystemOperation::max());
    }
    println!("rank {rank} {value:.12e}");
}
