//! Cells on a ring of ranks: each step exchanges the cells at the ends, without blocking, and smooths the rest.
//!
//! `ring STEPS [MILLISECONDS [STEP [BESIDE]]]`: so many steps, with a pause in each; in step STEP the last rank gets a
//! SIGTERM, which has a thread beside it for the first BESIDE milliseconds. After step 20 the first rank waits as long as the
//! working folder has a file `hold`.

use mpi::collective::SystemOperation;
use mpi::traits::*;

const CELLS: usize = 500;

fn main() {
    let universe = mpi::initialize().expect("MPI comes up once");
    let world = universe.world();
    let (rank, size) = (world.rank(), world.size());
    let mut arguments = std::env::args()
        .skip(1)
        .map(|word| word.parse::<u64>().expect("a number"));
    let steps = arguments.next().unwrap_or(100);
    let pause = std::time::Duration::from_millis(arguments.next().unwrap_or(0));
    let signalled = arguments.next().filter(|_| rank == size - 1);
    if let Some(beside) = arguments.next().filter(|_| rank == size - 1) {
        std::thread::spawn(move || std::thread::sleep(std::time::Duration::from_millis(beside)));
    }
    let (left, right) = ((rank + size - 1) % size, (rank + 1) % size);
    let mut cells: Vec<f64> = (0..CELLS)
        .map(|i| (i as f64 * 0.01 + f64::from(rank)).sin())
        .collect();
    for step in 0..steps {
        std::thread::sleep(pause);
        if signalled == Some(step) {
            terminate_myself();
        }
        let (mut from_left, mut from_right) = (0.0, 0.0);
        let (first, last) = (cells[0], cells[CELLS - 1]);
        mpi::request::scope(|scope| {
            let a = world
                .process_at_rank(left)
                .immediate_receive_into_with_tag(scope, &mut from_left, 1);
            let b = world
                .process_at_rank(right)
                .immediate_receive_into_with_tag(scope, &mut from_right, 2);
            world.process_at_rank(left).send_with_tag(&first, 2);
            world.process_at_rank(right).send_with_tag(&last, 1);
            a.wait();
            b.wait();
        });
        let old = cells.clone();
        for i in 0..CELLS {
            let before = if i == 0 { from_left } else { old[i - 1] };
            let after = if i == CELLS - 1 { from_right } else { old[i + 1] };
            cells[i] += 0.2 * (before - 2.0 * old[i] + after);
        }
        if step % 10 == 9 {
            let own: f64 = cells.iter().map(|cell| cell * cell).sum();
            let mut total = 0.0;
            world.all_reduce_into(&own, &mut total, SystemOperation::sum());
            if rank == 0 {
                println!("step {}: {total:.9}", step + 1);
                if step == 19 {
                    wait_while_held();
                }
            }
        }
    }
    println!("rank {rank}: {:.12}", cells[CELLS / 2]);
}

fn wait_while_held() {
    while std::path::Path::new("hold").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

fn terminate_myself() {
    let mut kill = std::process::Command::new("kill");
    kill.arg("-TERM").arg(std::process::id().to_string());
    assert!(kill.status().is_ok_and(|status| status.success()));
}
