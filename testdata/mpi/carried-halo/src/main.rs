//! Edges that are sent at the end of a turn and received in the next.

use mpi::traits::*;

fn main() {
    let universe = mpi::initialize().expect("MPI");
    let world = universe.world();
    let (rank, size) = (world.rank(), world.size());
    let right = world.process_at_rank((rank + 1) % size);
    let left = world.process_at_rank((rank + size - 1) % size);
    let mut cells = vec![f64::from(rank); 500];
    right.send(&cells[499]);
    for _ in 0..200 {
        // SITE
        cells[0] = left.receive::<f64>().0;
        for i in 1..cells.len() {
            cells[i] = 0.5 * (cells[i] + cells[i - 1]);
        }
        right.send(&cells[499]);
    }
    cells[0] = left.receive::<f64>().0;
    println!("rank {rank} {:.12e}", cells.iter().sum::<f64>());
}
