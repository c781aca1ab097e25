//! A receive that is begun before the place where the site is, and waited for behind it.

use mpi::traits::*;

fn main() {
    let universe = mpi::initialize().expect("MPI");
    let world = universe.world();
    let (rank, size) = (world.rank(), world.size());
    let right = world.process_at_rank((rank + 1) % size);
    let left = world.process_at_rank((rank + size - 1) % size);
    let mut value = f64::from(rank);
    for _ in 0..300 {
        let coming = left.immediate_receive::<f64>();
        // SITE
        for _ in 0..1000 {
            value = (value + 1.0).sqrt();
        }
        right.send(&value);
        let (theirs, _) = coming.get();
        value += theirs;
    }
    println!("rank {rank} {value:.12e}");
}
