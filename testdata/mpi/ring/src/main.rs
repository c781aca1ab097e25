//! A value goes around the ring of ranks.

use mpi::point_to_point as p2p;
use mpi::traits::*;

fn main() {
    let universe = mpi::initialize().expect("MPI");
    let world = universe.world();
    let (rank, size) = (world.rank(), world.size());
    let next = world.process_at_rank((rank + 1) % size);
    let previous = world.process_at_rank((rank + size - 1) % size);
    let mut value = f64::from(rank);
    for _ in 0..500 {
        let (came, _): (f64, _) = p2p::send_receive(&value, &next, &previous);
        // SITE
        for _ in 0..2000 {
            value = (0.5 * (value + came)).sin() + 1.0;
        }
    }
    println!("rank {rank} {value:.12e}");
}
