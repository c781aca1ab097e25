//! Rank 0 hands out tasks to whoever is done, round by round.

use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

const TASKS: i32 = 12;

fn work(task: i32) -> f64 {
    let mut sum = 0.0;
    for i in 1..5000 {
        sum += f64::from(task) / f64::from(i);
    }
    sum
}

fn master(world: &SimpleCommunicator) -> f64 {
    let mut next = 0;
    let mut open = 0;
    let mut total = 0.0;
    for worker in 1..world.size() {
        if next < TASKS {
            world.process_at_rank(worker).send(&next);
            next += 1;
            open += 1;
        } else {
            world.process_at_rank(worker).send(&-1);
        }
    }
    while open > 0 {
        let (result, status) = world.any_process().receive::<f64>();
        total += result;
        open -= 1;
        let worker = world.process_at_rank(status.source_rank());
        if next < TASKS {
            worker.send(&next);
            next += 1;
            open += 1;
        } else {
            worker.send(&-1);
        }
    }
    total
}

fn worker(world: &SimpleCommunicator) {
    let master = world.process_at_rank(0);
    loop {
        let (task, _) = master.receive::<i32>();
        if task < 0 {
            break;
        }
        master.send(&work(task));
    }
}

fn main() {
    let universe = mpi::initialize().expect("MPI");
    let world = universe.world();
    let mut total = 0.0;
    for _round in 0..20 {
        // SITE
        if world.rank() == 0 {
            total += master(&world);
        } else {
            worker(&world);
        }
    }
    if world.rank() == 0 {
        println!("{}", total.round());
    }
}
