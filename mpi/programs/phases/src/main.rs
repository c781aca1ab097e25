//! Loops in which nothing is sent, and which ranks go round unequally often: a chunk for each rank, of which the first is
//! empty, every so many-th, and one that ends by the data of each.
//!
//! `phases ROUNDS ITEMS [MILLISECONDS]`: in each round so many items are shared out, with a pause for each.

use mpi::collective::SystemOperation;
use mpi::traits::*;

fn main() {
    let universe = mpi::initialize().expect("MPI comes up once");
    let world = universe.world();
    let (rank, size) = (world.rank() as usize, world.size() as usize);
    let mut arguments = std::env::args()
        .skip(1)
        .map(|word| word.parse::<u64>().expect("a number"));
    let rounds = arguments.next().unwrap_or(2);
    let items = arguments.next().unwrap_or(6) as usize;
    let pause = arguments.next().unwrap_or(0);
    let mut total = 0.0;
    for round in 0..rounds {
        let chunk = items * rank;
        let mut sum = total + round as f64;
        for item in chunk..2 * chunk {
            sum += work(item, pause);
        }
        world.all_reduce_into(&sum, &mut total, SystemOperation::sum());
        for item in (rank..items).step_by(size) {
            sum = sum * 0.5 + work(item, pause);
        }
        let mut left = sum.abs() + rank as f64;
        while left > 0.25 {
            left -= 0.5 + work(2, pause).abs();
        }
        sum += left;
        let (right, before) = ((rank + 1) % size, (rank + size - 1) % size);
        let mut given = 0.0;
        mpi::request::scope(|scope| {
            let coming = world
                .process_at_rank(before as i32)
                .immediate_receive_into(scope, &mut given);
            world.process_at_rank(right as i32).send(&sum);
            coming.wait();
        });
        total += given;
        println!("rank {rank}, round {round}: {total:.12}");
    }
}

/// Costs something.
fn work(item: usize, pause: u64) -> f64 {
    std::thread::sleep(std::time::Duration::from_millis(pause));
    let mut value = item as f64 + 0.5;
    for step in 0..20_000 {
        value = (value + f64::from(step)).sin();
    }
    value
}
