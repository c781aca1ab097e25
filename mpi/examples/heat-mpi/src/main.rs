//! Heat in a plate, explicit in time: rows are shared among the ranks, and each step exchanges the rows at the borders while
//! the rows inside are being worked on.
//!
//! `heat-mpi ROWS COLUMNS STEPS`

use mpi::collective::SystemOperation;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

const ALPHA: f64 = 0.2;

/// The rows of one rank, with a row of each neighbour at the ends.
struct Plate {
    columns: usize,
    rows: usize,
    now: Vec<f64>,
    next: Vec<f64>,
}

impl Plate {
    fn new(first_row: usize, rows: usize, columns: usize) -> Self {
        let mut now = vec![0.0; (rows + 2) * columns];
        for row in 0..rows {
            for column in 0..columns {
                let (y, x) = ((first_row + row) as f64, column as f64);
                now[(row + 1) * columns + column] = (0.05 * y).sin() * (0.03 * x).cos() + 1.0;
            }
        }
        let next = now.clone();
        Plate {
            columns,
            rows,
            now,
            next,
        }
    }

    fn row(&self, row: usize) -> &[f64] {
        &self.now[row * self.columns..(row + 1) * self.columns]
    }

    fn update(&mut self, row: usize) {
        let width = self.columns;
        for column in 1..width - 1 {
            let at = row * width + column;
            let around = self.now[at - 1] + self.now[at + 1] + self.now[at - width] + self.now[at + width];
            self.next[at] = self.now[at] + ALPHA * (around - 4.0 * self.now[at]);
        }
    }

    fn heat(&self) -> f64 {
        (1..=self.rows).flat_map(|row| self.row(row)).sum()
    }
}

/// The rank's share of `total` rows: where it begins and how many there are.
fn share(total: usize, rank: usize, size: usize) -> (usize, usize) {
    let (each, more) = (total / size, total % size);
    (rank * each + rank.min(more), each + usize::from(rank < more))
}

fn step(plate: &mut Plate, world: &SimpleCommunicator) {
    let (rank, size) = (world.rank(), world.size());
    let width = plate.columns;
    let rows = plate.rows;
    let (mut above, mut below) = (vec![0.0; width], vec![0.0; width]);
    let (top, bottom) = (plate.row(1).to_vec(), plate.row(rows).to_vec());
    mpi::request::scope(|scope| {
        let mut requests = Vec::new();
        if rank > 0 {
            let neighbour = world.process_at_rank(rank - 1);
            requests.push(neighbour.immediate_receive_into(scope, &mut above[..]));
            requests.push(neighbour.immediate_send(scope, &top[..]));
        }
        if rank < size - 1 {
            let neighbour = world.process_at_rank(rank + 1);
            requests.push(neighbour.immediate_receive_into(scope, &mut below[..]));
            requests.push(neighbour.immediate_send(scope, &bottom[..]));
        }
        for row in 2..rows {
            plate.update(row);
        }
        for request in requests {
            request.wait();
        }
    });
    if rank > 0 {
        plate.now[..width].copy_from_slice(&above);
        plate.update(1);
    }
    if rank < size - 1 {
        plate.now[(rows + 1) * width..].copy_from_slice(&below);
        plate.update(rows);
    }
    std::mem::swap(&mut plate.now, &mut plate.next);
}

fn main() {
    let numbers: Vec<usize> = std::env::args()
        .skip(1)
        .map(|word| word.parse().expect("a number"))
        .collect();
    let (rows, columns, steps) = match numbers[..] {
        [rows, columns, steps] => (rows, columns, steps),
        _ => (120, 100, 200),
    };
    let universe = mpi::initialize().expect("MPI comes up once");
    let world = universe.world();
    let (first_row, own_rows) = share(rows, world.rank() as usize, world.size() as usize);
    let mut plate = Plate::new(first_row, own_rows, columns);
    for number in 1..=steps {
        step(&mut plate, &world);
        if number % (steps / 5).max(1) == 0 {
            let own = plate.heat();
            let mut total = 0.0;
            world.all_reduce_into(&own, &mut total, SystemOperation::sum());
            if world.rank() == 0 {
                println!("step {number:5}: heat {total:.10}");
            }
        }
    }
}
