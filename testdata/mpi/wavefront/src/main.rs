//! Sweeps over a plane whose rows are spread over the ranks: a pipeline, block by block.

use mpi::traits::*;

const BLOCKS: usize = 8;
const WIDTH: usize = 50;

fn main() {
    let universe = mpi::initialize().expect("MPI");
    let world = universe.world();
    let (rank, size) = (world.rank(), world.size());
    let upstream = (rank > 0).then(|| world.process_at_rank(rank - 1));
    let downstream = (rank + 1 < size).then(|| world.process_at_rank(rank + 1));
    let mut flux = vec![0.0f64; BLOCKS * WIDTH];
    for sweep in 0..200 {
        // SITE
        for block in 0..BLOCKS {
            let mut edge = vec![1.0f64; WIDTH];
            if let Some(upstream) = &upstream {
                upstream.receive_into_with_tag(&mut edge[..], block as i32);
            }
            for i in 0..WIDTH {
                let at = block * WIDTH + i;
                flux[at] = 0.5 * (flux[at] + edge[i]);
                edge[i] = flux[at];
            }
            if let Some(downstream) = &downstream {
                downstream.send_with_tag(&edge[..], block as i32);
            }
        }
        if rank == 0 && sweep % 50 == 0 {
            println!("sweep {sweep}");
        }
    }
    println!("rank {rank} {:.12e}", flux.iter().sum::<f64>());
}
