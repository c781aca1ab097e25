//! Ranks in two groups, even and odd: each has a communicator of its own, on which columns of a matrix go round by a
//! derived datatype, while a reduction over all ranks is under way. None of these can be saved; all are made again.
//!
//! `groups STEPS`

use mpi::collective::SystemOperation;
use mpi::datatype::{UserDatatype, View};
use mpi::topology::Color;
use mpi::traits::*;

const ROWS: usize = 12;
const COLUMNS: usize = 8;

fn main() {
    let universe = mpi::initialize().expect("MPI comes up once");
    let world = universe.world();
    let group = world
        .split_by_color(Color::with_value(world.rank() % 2))
        .expect("every rank is in one");
    let column = UserDatatype::vector(ROWS as i32, 1, COLUMNS as i32, &f64::equivalent_datatype());
    let steps: usize = std::env::args()
        .nth(1)
        .map_or(30, |word| word.parse().expect("a number"));
    let mut matrix: Vec<f64> = (0..ROWS * COLUMNS)
        .map(|at| (at as f64 * 0.1 + f64::from(world.rank())).sin())
        .collect();
    let (rank, size) = (group.rank(), group.size());
    let (left, right) = ((rank + size - 1) % size, (rank + 1) % size);
    let mut total = 0.0_f64;
    for step in 0..steps {
        let own: f64 = matrix.iter().map(|cell| cell * cell).sum();
        let mut received = [0.0; ROWS];
        mpi::request::scope(|scope| {
            let reduction = world.immediate_all_reduce_into(scope, &own, &mut total, SystemOperation::sum());
            // SAFETY: the datatype has the rows of the matrix, one element of each.
            let last = unsafe { View::with_count_and_datatype(&matrix[COLUMNS - 1..], 1, &column) };
            mpi::point_to_point::send_receive_into(
                &last,
                &group.process_at_rank(right),
                &mut received[..],
                &group.process_at_rank(left),
            );
            reduction.wait();
        });
        for (row, from_left) in received.iter().enumerate() {
            let cells = &mut matrix[row * COLUMNS..(row + 1) * COLUMNS];
            cells.rotate_right(1);
            cells[0] = 0.9 * from_left + 1e-3 * total.sqrt();
        }
        if step % 10 == 9 && world.rank() == 0 {
            println!("step {}: {total:.9}", step + 1);
        }
    }
    let of_group = {
        let own: f64 = matrix.iter().sum();
        let mut sum = 0.0;
        group.all_reduce_into(&own, &mut sum, SystemOperation::sum());
        sum
    };
    println!("rank {}: {of_group:.9}", world.rank());
}
