//! A wavefront: columns of a grid are shared among the ranks, and each row needs the one before it and the column to its left.
//! So rank 0 begins a sweep, hands the border of every row to rank 1 when it has it, and so on; the next sweep goes back
//! from the right.
//!
//! The pattern is that of sweeps of transport over ranks, as in mini-apps such as MOCFE-Bone: a rank waits for what flows in,
//! and tells the next what flows out. It has none of that program's angles, groups of energy and trajectories, and no Krylov
//! solver.
//!
//! `sweep ROWS COLUMNS SWEEPS`: columns of every rank.

use mpi::collective::SystemOperation;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

fn source(row: usize, column: usize) -> f64 {
    1.0 + 0.1 * ((row * 7 + column * 3) % 11) as f64
}

/// One sweep to the right or to the left. Every message of a sweep is received in the same sweep.
fn sweep(grid: &mut [Vec<f64>], first: usize, right: bool, world: &SimpleCommunicator) {
    let (rank, size) = (world.rank(), world.size());
    let (before, after) = if right {
        (rank - 1, rank + 1)
    } else {
        (rank + 1, rank - 1)
    };
    let inside = |other: i32| (0..size).contains(&other);
    let columns = grid[0].len();
    let mut above = vec![0.0; columns];
    for (row, cells) in grid.iter_mut().enumerate() {
        let mut border = if inside(before) {
            world.process_at_rank(before).receive::<f64>().0
        } else {
            0.5
        };
        for step in 0..columns {
            let column = if right { step } else { columns - 1 - step };
            let value =
                (source(row, first + column) + 0.9 * border + 0.7 * above[column] + 0.3 * cells[column])
                    / 3.0;
            cells[column] = value;
            above[column] = value;
            border = value;
        }
        if inside(after) {
            world.process_at_rank(after).send(&border);
        }
    }
}

fn main() {
    let numbers: Vec<usize> = std::env::args()
        .skip(1)
        .map(|word| word.parse().expect("a number"))
        .collect();
    let (rows, columns, sweeps) = match numbers[..] {
        [rows, columns, sweeps] => (rows, columns, sweeps),
        _ => (60, 200, 60),
    };
    let universe = mpi::initialize().expect("MPI comes up once");
    let world = universe.world();
    let first = world.rank() as usize * columns;
    let mut grid = vec![vec![0.0_f64; columns]; rows];
    let start = mpi::time();
    let (mut before, mut last) = (0.0, 0.0);
    for number in 0..sweeps {
        sweep(&mut grid, first, number % 2 == 0, &world);
        if (number + 1) % 20 == 0 {
            let own: f64 = grid.iter().flatten().sum();
            let mut total = 0.0;
            world.all_reduce_into(&own, &mut total, SystemOperation::sum());
            if world.rank() == 0 {
                println!("sweep {}: {total:.9}", number + 1);
            }
            (before, last) = (last, total);
        }
    }
    let seconds = mpi::time() - start;
    if world.rank() == 0 {
        let change: f64 = last - before;
        let verdict = if change.abs() <= 1e-9 * last {
            "passed"
        } else {
            "FAILED"
        };
        println!("the last sums are the same: {verdict}");
        let cells = rows as f64 * columns as f64 * f64::from(world.size()) * sweeps as f64;
        eprintln!("cells in a second: {:.3e}", cells / seconds);
    }
}
