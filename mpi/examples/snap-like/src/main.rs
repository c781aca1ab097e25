//! Particles in a slab by discrete ordinates (after the benchmark SNAP): for every direction a wavefront goes over the
//! grid, each cell needing the one above it and the one to its left.
//!
//! What it has of the original: fluxes of the last iteration, from which the source of the next is made; inner iterations
//! within outer ones; threads; the diamond difference with negative fluxes set to nothing; and the figure of merit, the time
//! for a cell and direction. What it has not: a third dimension, groups of energy, moments, and the wavefront across ranks,
//! in whose place is block Jacobi.
//!
//! Ranks share the rows and tell each other what flows over their borders once in each outer iteration (block Jacobi).
//! Within a rank a team shares its rows: the wavefront goes through the members as through a pipeline, a block of columns
//! at a time, and they meet at a barrier after each.
//!
//! `snap-like THREADS ROWS COLUMNS OUTER INNER`

use mpi::collective::SystemOperation;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use std::sync::{Barrier, Mutex};
use std::thread;

/// Columns that a member works on between two barriers.
const BLOCK: usize = 8;
/// Directions in each quarter: cosines to the columns and to the rows, and weight.
const DIRECTIONS: [(f64, f64, f64); 3] = [(0.35, 0.87, 0.17), (0.6, 0.6, 0.16), (0.87, 0.35, 0.17)];
/// What is scattered, of what collides.
const SCATTERED: f64 = 0.7;

/// What flows over the upper and over the lower border of something, by direction and column.
type Border = Vec<f64>;

/// The rows of one member.
struct Part {
    first_row: usize,
    columns: usize,
    flux: Vec<f64>,
}

impl Part {
    fn source(&self, row: usize, column: usize) -> f64 {
        let bright = (self.first_row + row) % 17 < 5 && column % 13 < 4;
        if bright { 1.0 } else { 0.05 }
    }

    /// The wavefront goes over some columns, from above (or from below). `across` has what flows from row to row;
    /// `along` what flows from column to column, by direction and row; `next` gathers the new flux.
    fn sweep(&self, from: usize, down: bool, across: &mut [f64], along: &mut [f64], next: &mut [f64]) {
        let rows = self.flux.len() / self.columns;
        for (number, (mu, eta, weight)) in DIRECTIONS.into_iter().enumerate() {
            let across = &mut across[number * self.columns..(number + 1) * self.columns];
            let along = &mut along[number * rows..(number + 1) * rows];
            for step in 0..rows {
                let row = if down { step } else { rows - 1 - step };
                for (offset, across) in across[from..self.columns.min(from + BLOCK)]
                    .iter_mut()
                    .enumerate()
                {
                    let column = from + offset;
                    let at = row * self.columns + column;
                    let emitted = self.source(row, column) + SCATTERED * self.flux[at];
                    let psi = (emitted + 2.0 * mu * along[row] + 2.0 * eta * *across)
                        / (1.0 + 2.0 * mu + 2.0 * eta);
                    along[row] = (2.0 * psi - along[row]).max(0.0);
                    *across = (2.0 * psi - *across).max(0.0);
                    next[at] += weight * psi;
                }
            }
        }
    }
}

/// What all members of a team see.
struct Team {
    barrier: Barrier,
    /// What flows down, and up, between members; the first and the last are the rank's own borders.
    down: Vec<Mutex<Border>>,
    up: Vec<Mutex<Border>>,
}

/// The inner iterations of one member.
fn iterate(member: usize, members: usize, part: &mut Part, inner: usize, team: &Team) -> f64 {
    let columns = part.columns;
    let rows = part.flux.len() / columns;
    let mut change = 0.0;
    for _ in 0..inner {
        let mut next = vec![0.0; part.flux.len()];
        for down in [true, false] {
            let place = if down { member } else { members - 1 - member };
            let (inflow, outflow) = match down {
                true => (&team.down[member], &team.down[member + 1]),
                false => (&team.up[member + 1], &team.up[member]),
            };
            let mut along = vec![0.0; DIRECTIONS.len() * rows];
            let blocks = columns.div_ceil(BLOCK);
            for stage in 0..blocks + members - 1 {
                if let Some(block) = stage.checked_sub(place)
                    && block < blocks
                {
                    let mut across = inflow.lock().unwrap().clone();
                    part.sweep(block * BLOCK, down, &mut across, &mut along, &mut next);
                    let mut border = outflow.lock().unwrap();
                    for number in 0..DIRECTIONS.len() {
                        let from = number * columns + block * BLOCK;
                        let to = (number + 1) * columns;
                        border[from..to.min(from + BLOCK)]
                            .copy_from_slice(&across[from..to.min(from + BLOCK)]);
                    }
                }
                team.barrier.wait();
            }
        }
        change = part
            .flux
            .iter()
            .zip(&next)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f64::max);
        part.flux = next;
    }
    change
}

/// Tells the neighbours what flows over the borders, and hears it from them.
fn exchange(world: &SimpleCommunicator, down: &[f64], up: &[f64], above: &mut [f64], below: &mut [f64]) {
    let (rank, size) = (world.rank(), world.size());
    mpi::request::scope(|scope| {
        let mut requests = Vec::new();
        if rank > 0 {
            let neighbour = world.process_at_rank(rank - 1);
            requests.push(neighbour.immediate_receive_into(scope, &mut above[..]));
            requests.push(neighbour.immediate_send(scope, up));
        }
        if rank < size - 1 {
            let neighbour = world.process_at_rank(rank + 1);
            requests.push(neighbour.immediate_receive_into(scope, &mut below[..]));
            requests.push(neighbour.immediate_send(scope, down));
        }
        for request in requests {
            request.wait();
        }
    });
}

/// The share of `total` that one of `count` has: where it begins and how many there are.
fn share(total: usize, number: usize, count: usize) -> (usize, usize) {
    let (each, more) = (total / count, total % count);
    (
        number * each + number.min(more),
        each + usize::from(number < more),
    )
}

fn main() {
    let numbers: Vec<usize> = std::env::args()
        .skip(1)
        .map(|word| word.parse().expect("a number"))
        .collect();
    let (threads, rows, columns, outer, inner) = match numbers[..] {
        [threads, rows, columns, outer, inner] => (threads, rows, columns, outer, inner),
        _ => (2, 48, 64, 10, 8),
    };
    let universe = mpi::initialize().expect("MPI comes up once");
    let world = universe.world();
    let (first, own) = share(rows, world.rank() as usize, world.size() as usize);
    let mut parts: Vec<Part> = Vec::new();
    for member in 0..threads {
        let (from, count) = share(own, member, threads);
        parts.push(Part {
            first_row: first + from,
            columns,
            flux: vec![0.0; count * columns],
        });
    }
    let width = DIRECTIONS.len() * columns;
    let (mut above, mut below) = (vec![0.0; width], vec![0.0; width]);
    let start = mpi::time();
    let (mut first_change, mut last_change) = (0.0, 0.0);
    for number in 1..=outer {
        let team = Team {
            barrier: Barrier::new(threads),
            down: (0..=threads).map(|_| Mutex::new(above.clone())).collect(),
            up: (0..=threads).map(|_| Mutex::new(below.clone())).collect(),
        };
        let changes: Vec<f64> = thread::scope(|s| {
            let mut members = Vec::new();
            for (member, part) in parts.iter_mut().enumerate() {
                let team = &team;
                members.push(s.spawn(move || iterate(member, threads, part, inner, team)));
            }
            members.into_iter().map(|one| one.join().unwrap()).collect()
        });
        let down = team.down[threads].lock().unwrap().clone();
        let up = team.up[0].lock().unwrap().clone();
        exchange(&world, &down, &up, &mut above, &mut below);
        let change = changes.into_iter().fold(0.0, f64::max);
        let total: f64 = parts.iter().flat_map(|part| &part.flux).sum();
        let (mut largest, mut all) = (0.0, 0.0);
        world.all_reduce_into(&change, &mut largest, SystemOperation::max());
        world.all_reduce_into(&total, &mut all, SystemOperation::sum());
        if number == 1 {
            first_change = largest;
        }
        last_change = largest;
        if world.rank() == 0 {
            println!("outer {number:3}: flux {all:.9}, last change {largest:.3e}");
        }
    }
    let seconds = mpi::time() - start;
    if world.rank() == 0 {
        let verdict = if last_change <= 1e-3 * first_change {
            "passed"
        } else {
            "FAILED"
        };
        println!("the last change is at most a thousandth of the first: {verdict}");
        // Each direction is swept downwards and upwards.
        let work = (rows * columns * 2 * DIRECTIONS.len() * outer * inner) as f64;
        eprintln!(
            "grind time: {:.3} ns for a cell and direction",
            1e9 * seconds / work
        );
    }
}
