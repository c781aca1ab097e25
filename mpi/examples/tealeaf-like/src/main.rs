//! Heat in two materials (as in the mini-app TeaLeaf): in each step the implicit equation of conduction, five points to a
//! cell, is solved by conjugate gradients. Ranks share the rows of the grid and exchange those at their borders before each
//! product with the matrix; the dot products are sums over all ranks.
//!
//! `tealeaf-like COLUMNS ROWS STEPS`: verifies at its end that no heat was lost.

use mpi::collective::SystemOperation;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

/// Width and height of the plate.
const LENGTH: f64 = 10.0;
const TIME_STEP: f64 = 0.004;
/// Of the residual, compared with that of the beginning of the step.
const PRECISION: f64 = 1e-10;
const MOST_ITERATIONS: usize = 10_000;

/// This rank's rows, with one of each neighbour above and below.
#[derive(Clone)]
struct Field {
    columns: usize,
    cells: Vec<f64>,
}

impl Field {
    fn new(columns: usize, rows: usize) -> Self {
        Field {
            columns,
            cells: vec![0.0; columns * (rows + 2)],
        }
    }

    fn rows(&self) -> usize {
        self.cells.len() / self.columns - 2
    }

    /// Row `row` of this rank's; row 0 is the neighbour's.
    fn row(&self, row: usize) -> &[f64] {
        &self.cells[row * self.columns..(row + 1) * self.columns]
    }

    fn row_mut(&mut self, row: usize) -> &mut [f64] {
        &mut self.cells[row * self.columns..(row + 1) * self.columns]
    }

    /// This rank's own rows.
    fn own(&self) -> &[f64] {
        &self.cells[self.columns..self.cells.len() - self.columns]
    }

    fn own_mut(&mut self) -> &mut [f64] {
        let (first, last) = (self.columns, self.cells.len() - self.columns);
        &mut self.cells[first..last]
    }
}

/// Gets the rows at the borders from the neighbours.
fn exchange(field: &mut Field, world: &SimpleCommunicator) {
    let (rank, size, rows) = (world.rank(), world.size(), field.rows());
    if rank + 1 < size {
        let below = world.process_at_rank(rank + 1);
        let sent = field.row(rows).to_vec();
        mpi::point_to_point::send_receive_into(&sent[..], &below, field.row_mut(rows + 1), &below);
    }
    if rank > 0 {
        let above = world.process_at_rank(rank - 1);
        let sent = field.row(1).to_vec();
        mpi::point_to_point::send_receive_into(&sent[..], &above, field.row_mut(0), &above);
    }
}

fn dot(a: &Field, b: &Field, world: &SimpleCommunicator) -> f64 {
    let own: f64 = a.own().iter().zip(b.own()).map(|(a, b)| a * b).sum();
    let mut all = 0.0;
    world.all_reduce_into(&own, &mut all, SystemOperation::sum());
    all
}

/// How well heat goes over the left and the upper side of each cell, times what one step has of it; nothing over the edge.
fn conductivity(density: &Field, first: usize, total: usize) -> [Field; 2] {
    let (columns, rows) = (density.columns, density.rows());
    let width = LENGTH / columns as f64;
    let height = LENGTH / total as f64;
    let between = |a: f64, b: f64| (a + b) / (2.0 * a * b);
    let (mut kx, mut ky) = (Field::new(columns, rows), Field::new(columns, rows));
    for row in 1..=rows + 1 {
        for column in 0..columns {
            let at = row * columns + column;
            if column > 0 && row <= rows {
                kx.cells[at] =
                    TIME_STEP / (width * width) * between(density.cells[at - 1], density.cells[at]);
            }
            if first + row > 1 && first + row <= total {
                ky.cells[at] =
                    TIME_STEP / (height * height) * between(density.cells[at - columns], density.cells[at]);
            }
        }
    }
    [kx, ky]
}

/// `w = A p`, the matrix of one implicit step.
fn product(p: &Field, [kx, ky]: &[Field; 2], w: &mut Field) {
    let columns = p.columns;
    for row in 1..=p.rows() {
        for column in 0..columns {
            let at = row * columns + column;
            let (here, left, above) = (p.cells[at], kx.cells[at], ky.cells[at]);
            let (right, from_right) = match column + 1 < columns {
                true => (kx.cells[at + 1], p.cells[at + 1]),
                false => (0.0, 0.0),
            };
            let from_left = if column > 0 { p.cells[at - 1] } else { 0.0 };
            let below = ky.cells[at + columns];
            w.cells[at] = (1.0 + left + right + above + below) * here
                - left * from_left
                - right * from_right
                - above * p.cells[at - columns]
                - below * p.cells[at + columns];
        }
    }
}

/// One step: `u` becomes the solution; the iterations that it took.
fn solve(u: &mut Field, k: &[Field; 2], world: &SimpleCommunicator) -> usize {
    let mut w = Field::new(u.columns, u.rows());
    exchange(u, world);
    product(u, k, &mut w);
    let mut r = Field::new(u.columns, u.rows());
    for ((r, u), w) in r.own_mut().iter_mut().zip(u.own()).zip(w.own()) {
        *r = u - w;
    }
    let mut p = r.clone();
    let mut rr = dot(&r, &r, world);
    let wanted = PRECISION * PRECISION * rr;
    for iteration in 0..MOST_ITERATIONS {
        if rr <= wanted {
            return iteration;
        }
        exchange(&mut p, world);
        product(&p, k, &mut w);
        let alpha = rr / dot(&p, &w, world);
        for (u, p) in u.own_mut().iter_mut().zip(p.own()) {
            *u += alpha * p;
        }
        for (r, w) in r.own_mut().iter_mut().zip(w.own()) {
            *r -= alpha * w;
        }
        let before = rr;
        rr = dot(&r, &r, world);
        let beta = rr / before;
        for (p, r) in p.own_mut().iter_mut().zip(r.own()) {
            *p = r + beta * *p;
        }
    }
    MOST_ITERATIONS
}

fn main() {
    let numbers: Vec<usize> = std::env::args()
        .skip(1)
        .map(|word| word.parse().expect("a number"))
        .collect();
    let (columns, total, steps) = match numbers[..] {
        [columns, rows, steps] => (columns, rows, steps),
        _ => (96, 96, 20),
    };
    let universe = mpi::initialize().expect("MPI comes up once");
    let world = universe.world();
    let (rank, size) = (world.rank() as usize, world.size() as usize);
    assert!(total >= size, "every rank has a row");
    let first = rank * total / size;
    let rows = (rank + 1) * total / size - first;

    // A dense, cold plate, with a light and hot corner and a bar of what conducts well.
    let mut density = Field::new(columns, rows);
    let mut u = Field::new(columns, rows);
    for row in 0..rows + 2 {
        let y = (first + row) as f64 / total as f64;
        for column in 0..columns {
            let x = column as f64 / columns as f64;
            let (dense, energy) = match (x, y) {
                (x, y) if x < 0.5 && y < 0.2 => (0.1, 25.0),
                (x, _) if (0.55..0.65).contains(&x) => (0.1, 0.1),
                (_, y) if (0.8..0.9).contains(&y) => (0.1, 0.1),
                _ => (100.0, 0.0001),
            };
            density.row_mut(row)[column] = dense;
            u.row_mut(row)[column] = energy * dense;
        }
    }
    let k = conductivity(&density, first, total);
    let ones = {
        let mut ones = Field::new(columns, rows);
        ones.own_mut().fill(1.0);
        ones
    };
    let before = dot(&u, &ones, &world);
    let start = mpi::time();
    let mut iterations = 0;
    for step in 1..=steps {
        let taken = solve(&mut u, &k, &world);
        iterations += taken;
        let heat = dot(&u, &ones, &world);
        if rank == 0 {
            println!("step {step}: {taken} iterations, heat {heat:.9e}");
        }
    }
    let seconds = mpi::time() - start;
    let after = dot(&u, &ones, &world);
    let squares = dot(&u, &u, &world);
    if rank == 0 {
        let verdict = if (after - before).abs() <= 1e-8 * before {
            "passed"
        } else {
            "FAILED"
        };
        println!("squares {squares:.9e}; heat {before:.9e} before and {after:.9e} after: {verdict}");
        let cells = (columns * total * iterations) as f64;
        eprintln!("cells and iterations in a second: {:.3e}", cells / seconds);
    }
}
