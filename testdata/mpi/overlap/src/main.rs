//! Messages that are on their way while the ranks compute.

use mpi::traits::*;

fn main() {
    let universe = mpi::initialize().expect("MPI");
    let world = universe.world();
    let (rank, size) = (world.rank(), world.size());
    let right = world.process_at_rank((rank + 1) % size);
    let left = world.process_at_rank((rank + size - 1) % size);
    let mut cells = vec![f64::from(rank); 2000];
    let mut ghost = 0.0f64;
    for _ in 0..300 {
        // SITE
        let edge = cells[cells.len() - 1];
        mpi::request::scope(|scope| {
            let coming = left.immediate_receive_into(scope, &mut ghost);
            let going = right.immediate_send(scope, &edge);
            for i in 1..cells.len() {
                cells[i] = 0.5 * (cells[i] + cells[i - 1]);
            }
            coming.wait();
            going.wait();
        });
        cells[0] = 0.5 * (cells[0] + ghost);
    }
    println!("rank {rank} {:.12e}", cells.iter().sum::<f64>());
}
