//! The reduction of a restart's negotiation, alone: the largest of seven integers of every rank, on a communicator of its
//! own. Prints the number of ranks and the median time of one, in microseconds.

use mpi::collective::SystemOperation;
use mpi::traits::*;

const TIMES: usize = 2000;

fn main() {
    let universe = mpi::initialize().expect("MPI comes up once");
    let world = universe.world().duplicate();
    let own = [1_i64, -1, 0, 0, 0, 7, -7];
    let mut of_all = [0_i64; 7];
    let mut times: Vec<f64> = (0..TIMES)
        .map(|_| {
            world.barrier();
            let start = mpi::time();
            world.all_reduce_into(&own[..], &mut of_all[..], SystemOperation::max());
            mpi::time() - start
        })
        .collect();
    times.sort_by(f64::total_cmp);
    if world.rank() == 0 {
        println!("{} {:.3}", world.size(), times[TIMES / 2] * 1e6);
    }
}
