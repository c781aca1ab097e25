//! The Himeno benchmark as it is: Poisson's equation on a 3-D grid by a 19-point Jacobi iteration in single precision, with its
//! fourteen arrays, shared among the ranks in up to three dimensions. Prints the residual (`Gosa`) and, as the benchmark does,
//! millions of floating-point operations in a second.
//!
//! `himeno SIZE ITERATIONS [PI PJ PK]`: XS, S, M, L or XL, or `I,J,K`; and the ranks in each dimension.

use mpi::collective::SystemOperation;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

const OMEGA: f32 = 0.8;
/// Operations for one cell in one iteration, as the benchmark counts them.
const OPERATIONS: f64 = 34.0;
/// What a Pentium III of 600 MHz had, in MFLOPS: the benchmark's unit.
const PENTIUM: f64 = 82.84;

/// A field over this rank's part of the grid, with a layer of cells of its neighbours around it.
struct Field {
    size: [usize; 3],
    cells: Vec<f32>,
}

impl Field {
    fn new(size: [usize; 3], value: f32) -> Self {
        let cells = vec![value; size[0] * size[1] * size[2]];
        Field { size, cells }
    }

    #[inline(always)]
    fn at(&self, i: usize, j: usize, k: usize) -> usize {
        (i * self.size[1] + j) * self.size[2] + k
    }

    /// The layer `index` across dimension `dimension`.
    fn layer(&self, dimension: usize, index: usize) -> Vec<f32> {
        let mut layer = Vec::new();
        self.each_of_layer(dimension, index, |at| layer.push(self.cells[at]));
        layer
    }

    fn set_layer(&mut self, dimension: usize, index: usize, layer: &[f32]) {
        let mut places = Vec::with_capacity(layer.len());
        self.each_of_layer(dimension, index, |at| places.push(at));
        for (place, value) in places.into_iter().zip(layer) {
            self.cells[place] = *value;
        }
    }

    fn each_of_layer(&self, dimension: usize, index: usize, mut act: impl FnMut(usize)) {
        let range = |other: usize| {
            if other == dimension {
                index..index + 1
            } else {
                0..self.size[other]
            }
        };
        for i in range(0) {
            for j in range(1) {
                for k in range(2) {
                    act(self.at(i, j, k));
                }
            }
        }
    }
}

/// Where this rank is among the others.
struct Place {
    ranks: [usize; 3],
    own: [usize; 3],
}

impl Place {
    fn new(ranks: [usize; 3], rank: usize) -> Self {
        let own = [
            rank / (ranks[1] * ranks[2]),
            rank / ranks[2] % ranks[1],
            rank % ranks[2],
        ];
        Place { ranks, own }
    }

    fn neighbour(&self, dimension: usize, forward: bool) -> Option<i32> {
        let mut other = self.own;
        if forward {
            other[dimension] += 1;
        } else {
            other[dimension] = other[dimension].checked_sub(1)?;
        }
        let rank = (other[0] * self.ranks[1] + other[1]) * self.ranks[2] + other[2];
        (other[dimension] < self.ranks[dimension]).then_some(rank as i32)
    }

    /// This rank's cells in a dimension of `total`, and where they begin.
    fn share(&self, dimension: usize, total: usize) -> (usize, usize) {
        let (each, more) = (total / self.ranks[dimension], total % self.ranks[dimension]);
        let own = self.own[dimension];
        (own * each + own.min(more), each + usize::from(own < more))
    }
}

/// Exchanges the layers at the borders with the neighbours in one dimension after the other.
fn exchange(p: &mut Field, place: &Place, world: &SimpleCommunicator) {
    for dimension in 0..3 {
        let last = p.size[dimension] - 1;
        for forward in [true, false] {
            let (to, from) = (
                place.neighbour(dimension, forward),
                place.neighbour(dimension, !forward),
            );
            let (sent, received) = if forward { (last - 1, 0) } else { (1, last) };
            let layer = p.layer(dimension, sent);
            let mut other = vec![0.0_f32; layer.len()];
            match (to, from) {
                (Some(to), Some(from)) => {
                    mpi::point_to_point::send_receive_into(
                        &layer[..],
                        &world.process_at_rank(to),
                        &mut other[..],
                        &world.process_at_rank(from),
                    );
                }
                (Some(to), None) => world.process_at_rank(to).send(&layer[..]),
                (None, Some(from)) => {
                    world.process_at_rank(from).receive_into(&mut other[..]);
                }
                (None, None) => {}
            }
            if from.is_some() {
                p.set_layer(dimension, received, &other);
            }
        }
    }
}

/// One iteration: the new pressures in `wrk2`, and this rank's part of the residual.
fn jacobi(
    p: &Field,
    a: &[Field; 4],
    b: &[Field; 3],
    c: &[Field; 3],
    bnd: &Field,
    wrk1: &Field,
    wrk2: &mut Field,
) -> f64 {
    let (row, plane) = (p.size[2], p.size[1] * p.size[2]);
    let v = &p.cells;
    let mut residual = 0.0_f64;
    for i in 1..p.size[0] - 1 {
        for j in 1..p.size[1] - 1 {
            for k in 1..p.size[2] - 1 {
                let at = p.at(i, j, k);
                let s0 = a[0].cells[at] * v[at + plane]
                    + a[1].cells[at] * v[at + row]
                    + a[2].cells[at] * v[at + 1]
                    + b[0].cells[at]
                        * (v[at + plane + row] - v[at + plane - row] - v[at - plane + row]
                            + v[at - plane - row])
                    + b[1].cells[at]
                        * (v[at + row + 1] - v[at - row + 1] - v[at + row - 1] + v[at - row - 1])
                    + b[2].cells[at]
                        * (v[at + plane + 1] - v[at - plane + 1] - v[at + plane - 1] + v[at - plane - 1])
                    + c[0].cells[at] * v[at - plane]
                    + c[1].cells[at] * v[at - row]
                    + c[2].cells[at] * v[at - 1]
                    + wrk1.cells[at];
                let ss = (s0 * a[3].cells[at] - v[at]) * bnd.cells[at];
                residual += f64::from(ss * ss);
                wrk2.cells[at] = v[at] + OMEGA * ss;
            }
        }
    }
    residual
}

/// The new pressures become the pressures; the border of the grid stays.
fn take_over(p: &mut Field, wrk2: &Field) {
    for i in 1..p.size[0] - 1 {
        for j in 1..p.size[1] - 1 {
            let (first, last) = (p.at(i, j, 1), p.at(i, j, p.size[2] - 1));
            p.cells[first..last].copy_from_slice(&wrk2.cells[first..last]);
        }
    }
}

/// The grid, with its border, of a size of the benchmark.
fn grid_of(size: &str) -> [usize; 3] {
    match size {
        "XS" => [32, 32, 64],
        "S" => [64, 64, 128],
        "M" => [128, 128, 256],
        "L" => [256, 256, 512],
        "XL" => [512, 512, 1024],
        numbers => {
            let numbers: Vec<usize> = numbers
                .split(',')
                .map(|word| word.parse().expect("a size is XS, S, M, L, XL or `I,J,K`"))
                .collect();
            numbers.try_into().expect("three dimensions")
        }
    }
}

fn main() {
    let mut words = std::env::args().skip(1);
    let grid = grid_of(&words.next().unwrap_or_else(|| "XS".into()));
    let iterations: usize = words
        .next()
        .map_or(60, |word| word.parse().expect("iterations are a number"));
    let ranks: Vec<usize> = words
        .map(|word| word.parse().expect("ranks are a number"))
        .collect();
    let universe = mpi::initialize().expect("MPI comes up once");
    let world = universe.world();
    let size = world.size() as usize;
    let ranks = match ranks[..] {
        [pi, pj, pk] => [pi, pj, pk],
        _ => [size, 1, 1],
    };
    assert_eq!(
        ranks[0] * ranks[1] * ranks[2],
        size,
        "the ranks in each dimension make up all of them"
    );
    let place = Place::new(ranks, world.rank() as usize);
    // The border of the grid lies around the parts of the ranks, as the layers of their neighbours do.
    let shares = [0, 1, 2].map(|dimension| place.share(dimension, grid[dimension] - 2));
    let own = shares.map(|(_, cells)| cells + 2);

    let mut p = Field::new(own, 0.0);
    (0..own[0]).for_each(|i| {
        let depth = (shares[0].0 + i) as f32 / (grid[0] - 1) as f32;
        p.set_layer(0, i, &vec![depth * depth; own[1] * own[2]]);
    });
    let a = [1.0, 1.0, 1.0, 1.0 / 6.0].map(|value| Field::new(own, value));
    let b = [0.0; 3].map(|value| Field::new(own, value));
    let c = [1.0; 3].map(|value| Field::new(own, value));
    let bnd = Field::new(own, 1.0);
    let wrk1 = Field::new(own, 0.0);
    let mut wrk2 = Field::new(own, 0.0);

    if world.rank() == 0 {
        println!("imax = {} jmax = {} kmax = {}", grid[0], grid[1], grid[2]);
    }
    let start = mpi::time();
    let mut gosa = 0.0;
    for iteration in 1..=iterations {
        exchange(&mut p, &place, &world);
        let own_part = jacobi(&p, &a, &b, &c, &bnd, &wrk1, &mut wrk2);
        take_over(&mut p, &wrk2);
        world.all_reduce_into(&own_part, &mut gosa, SystemOperation::sum());
        if world.rank() == 0 && iteration % 20 == 0 {
            println!("iteration {iteration}: Gosa {gosa:.9e}");
        }
    }
    let seconds = mpi::time() - start;
    if world.rank() == 0 {
        let cells = grid.iter().map(|&n| (n - 2) as f64).product::<f64>();
        let mflops = cells * OPERATIONS * iterations as f64 / seconds / 1e6;
        println!("Loop executed for {iterations} times");
        println!("Gosa : {gosa:.12e}");
        eprintln!("MFLOPS measured : {mflops:.6}");
        eprintln!("Score based on Pentium III 600MHz : {:.6}", mflops / PENTIUM);
    }
}
