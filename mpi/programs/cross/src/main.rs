//! A token goes round: sent at the end of a step, received at the beginning of the next. Between two steps it is under way, so
//! there is no safe point in the loop.

use mpi::traits::*;

fn main() {
    let universe = mpi::initialize().expect("MPI comes up once");
    let world = universe.world();
    let (rank, size) = (world.rank(), world.size());
    let left = world.process_at_rank((rank + size - 1) % size);
    let right = world.process_at_rank((rank + 1) % size);
    let mut token = rank as u64;
    right.send(&token);
    for step in 0..40_u64 {
        let (got, _) = left.receive::<u64>();
        token = got.wrapping_mul(3) + step;
        let mut sum = 0.0;
        for i in 0..20_000_u64 {
            sum += ((i + token % 100) as f64).sqrt();
        }
        token = token.wrapping_add(sum as u64 % 7);
        right.send(&token);
    }
    let (last, _) = left.receive::<u64>();
    println!("rank {rank}: {last}");
}
