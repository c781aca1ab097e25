//! A sum by recursive doubling, until all agree that it is enough.

use mpi::collective::SystemOperation;
use mpi::point_to_point as p2p;
use mpi::traits::*;

fn main() {
    let universe = mpi::initialize().expect("MPI");
    let world = universe.world();
    let (rank, size) = (world.rank(), world.size());
    let mut value = 1.0 + f64::from(rank);
    let mut error = 1.0;
    let mut turns = 0;
    while error > 1e-9 && turns < 1000 {
        // SITE
        let mut sum = value;
        let mut bit = 1;
        while bit < size {
            let partner = rank ^ bit;
            if partner < size {
                let other = world.process_at_rank(partner);
                let (theirs, _): (f64, _) = p2p::send_receive(&sum, &other, &other);
                sum += theirs;
            }
            bit *= 2;
        }
        value = 0.5 * value + 1e-3 * sum.sqrt();
        let mut most = 0.0;
        let change = (sum - value).abs().min(1.0 / f64::from(turns + 1));
        world.all_reduce_into(&change, &mut most, SystemOperation::max());
        error = most * most;
        turns += 1;
    }
    println!("rank {rank} {turns} {value:.12e}");
}
