//! Conjugate gradients on a symmetric matrix from a Matrix Market file: rows are shared among the ranks, each iteration
//! gathers the vector that the matrix is applied to, and sums two products over all ranks.
//!
//! `cg-mpi MATRIX ITERATIONS`

use mpi::Count;
use mpi::collective::SystemOperation;
use mpi::datatype::PartitionMut;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

/// The rows of one rank: for each, columns and values.
struct Rows {
    total: usize,
    rows: Vec<Vec<(usize, f64)>>,
}

/// The rank's share of `total` rows: where it begins and how many there are.
fn share(total: usize, rank: usize, size: usize) -> (usize, usize) {
    let (each, more) = (total / size, total % size);
    (rank * each + rank.min(more), each + usize::from(rank < more))
}

fn read(text: &str, rank: usize, size: usize) -> Rows {
    let numbers = |line: &str| -> Vec<f64> {
        let words = line.split_whitespace();
        words.map(|word| word.parse().expect("a number")).collect()
    };
    let lines = text.lines().filter(|line| !line.starts_with('%'));
    let entries: Vec<Vec<f64>> = lines.map(numbers).collect();
    let total = entries[0][0] as usize;
    let (first, count) = share(total, rank, size);
    let mut rows = vec![Vec::new(); count];
    for entry in &entries[1..] {
        let (row, column, value) = (entry[0] as usize - 1, entry[1] as usize - 1, entry[2]);
        if (first..first + count).contains(&row) {
            rows[row - first].push((column, value));
        }
        if row != column && (first..first + count).contains(&column) {
            rows[column - first].push((row, value));
        }
    }
    Rows { total, rows }
}

fn sum(own: f64, world: &SimpleCommunicator) -> f64 {
    let mut all = 0.0;
    world.all_reduce_into(&own, &mut all, SystemOperation::sum());
    all
}

fn dot(a: &[f64], b: &[f64], world: &SimpleCommunicator) -> f64 {
    sum(a.iter().zip(b).map(|(a, b)| a * b).sum(), world)
}

/// The matrix times a vector of which every rank has its part.
fn apply(matrix: &Rows, part: &[f64], world: &SimpleCommunicator) -> Vec<f64> {
    let size = world.size() as usize;
    let shares: Vec<(usize, usize)> = (0..size).map(|rank| share(matrix.total, rank, size)).collect();
    let counts: Vec<Count> = shares.iter().map(|share| share.1 as Count).collect();
    let starts: Vec<Count> = shares.iter().map(|share| share.0 as Count).collect();
    let mut whole = vec![0.0; matrix.total];
    {
        let mut parts = PartitionMut::new(&mut whole[..], counts, starts);
        world.all_gather_varcount_into(part, &mut parts);
    }
    matrix
        .rows
        .iter()
        .map(|row| row.iter().map(|&(column, value)| value * whole[column]).sum())
        .collect()
}

fn main() {
    let mut words = std::env::args().skip(1);
    let path = words.next().unwrap_or_else(|| "matrix.mtx".into());
    let most: usize = words.next().map_or(60, |word| word.parse().expect("a number"));
    let universe = mpi::initialize().expect("MPI comes up once");
    let world = universe.world();
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let matrix = read(&text, world.rank() as usize, world.size() as usize);
    let count = matrix.rows.len();
    let mut x = vec![0.0; count];
    let mut residual = vec![1.0; count];
    let mut direction = residual.clone();
    let mut square = dot(&residual, &residual, &world);
    for iteration in 1..=most {
        let image = apply(&matrix, &direction, &world);
        let alpha = square / dot(&direction, &image, &world);
        for i in 0..count {
            x[i] += alpha * direction[i];
            residual[i] -= alpha * image[i];
        }
        let next = dot(&residual, &residual, &world);
        let beta = next / square;
        square = next;
        for i in 0..count {
            direction[i] = residual[i] + beta * direction[i];
        }
        if world.rank() == 0 && iteration % 10 == 0 {
            println!("iteration {iteration}: residual {:.9e}", square.sqrt());
        }
    }
    let own: f64 = x.iter().sum();
    let total = sum(own, &world);
    if world.rank() == 0 {
        println!("sum of the solution: {total:.12}");
    }
}
