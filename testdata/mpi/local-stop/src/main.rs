//! Every rank stops when it finds for itself that it has converged.

use mpi::traits::*;

fn main() {
    let universe = mpi::initialize().expect("MPI");
    let world = universe.world();
    let (rank, size) = (world.rank(), world.size());
    let partner = rank ^ 1;
    let step = 0.1 * f64::from(rank / 2 + 1);
    let mut value = 10.0 + f64::from(rank / 2);
    for turn in 0..1000 {
        // SITE
        let old = value;
        if partner < size {
            let other = world.process_at_rank(partner);
            if rank < partner {
                other.send(&value);
                value = 0.5 * (value + other.receive::<f64>().0) - step / f64::from(turn + 1);
            } else {
                let theirs = other.receive::<f64>().0;
                other.send(&value);
                value = 0.5 * (value + theirs) - step / f64::from(turn + 1);
            }
        } else {
            value -= step / f64::from(turn + 1);
        }
        if (old - value).abs() < 1e-3 {
            break;
        }
    }
    println!("rank {rank} {value:.12e}");
}
