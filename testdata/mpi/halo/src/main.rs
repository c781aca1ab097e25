//! Heat in a bar that is cut into pieces: every rank exchanges its edges with the ranks beside it.

use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

struct Piece {
    rank: i32,
    left: Option<i32>,
    right: Option<i32>,
    cells: Vec<f64>,
}

impl Piece {
    fn new(world: &SimpleCommunicator, cells: usize) -> Self {
        let (rank, size) = (world.rank(), world.size());
        Piece {
            rank,
            left: if rank > 0 { Some(rank - 1) } else { None },
            right: if rank < size - 1 { Some(rank + 1) } else { None },
            cells: vec![f64::from(rank); cells + 2],
        }
    }

    fn exchange(&mut self, world: &SimpleCommunicator) {
        let last = self.cells.len() - 1;
        if let Some(right) = self.right {
            world.process_at_rank(right).send(&self.cells[last - 1]);
        }
        if let Some(left) = self.left {
            self.cells[0] = world.process_at_rank(left).receive::<f64>().0;
            world.process_at_rank(left).send(&self.cells[1]);
        }
        if let Some(right) = self.right {
            self.cells[last] = world.process_at_rank(right).receive::<f64>().0;
        }
    }

    fn relax(&mut self) -> f64 {
        let mut change = 0.0;
        let old = self.cells.clone();
        for i in 1..old.len() - 1 {
            self.cells[i] = 0.25 * old[i - 1] + 0.5 * old[i] + 0.25 * old[i + 1];
            change += (self.cells[i] - old[i]).abs();
        }
        change
    }
}

fn main() {
    let universe = mpi::initialize().expect("MPI");
    let world = universe.world();
    let steps: usize = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(400);
    let mut piece = Piece::new(&world, 1000);
    let mut change = 0.0;
    for step in 0..steps {
        // SITE
        piece.exchange(&world);
        change = piece.relax();
        if piece.rank == 0 && step % 100 == 0 {
            println!("step {step}");
        }
    }
    let sum: f64 = piece.cells.iter().sum();
    println!("rank {} {:.12e} {:.6e}", piece.rank, sum, change);
}
