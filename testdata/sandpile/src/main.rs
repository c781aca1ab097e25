//! Grains fall on a table, one after the other. Where four lie on each other, they topple to their neighbours, or off the
//! table: P. Bak, C. Tang, K. Wiesenfeld, Phys. Rev. Lett. 59 (1987) 381.

use std::fs::File;
use std::io::{self, Write};

struct Sandpile {
    side: usize,
    heights: Vec<u32>,
    /// Grains that have fallen off the table.
    fallen: u64,
    dropped: u64,
}

/// No grain appears, and none is lost.
fn keeps_all_grains(pile: &Sandpile) -> bool {
    let lying: u64 = pile.heights.iter().map(|height| u64::from(*height)).sum();
    lying + pile.fallen == pile.dropped
}

impl Sandpile {
    fn new(side: usize) -> Self {
        Self { side, heights: vec![0; side * side], fallen: 0, dropped: 0 }
    }

    /// One more grain; gives how many columns have toppled.
    fn drop_grain(&mut self, at: usize) -> u64 {
        self.heights[at] += 1;
        self.dropped += 1;
        let mut toppled = 0;
        let mut steep = vec![at];
        while let Some(at) = steep.pop() {
            if self.heights[at] < 4 {
                continue;
            }
            self.heights[at] -= 4;
            toppled += 1;
            let (row, column) = (at / self.side, at % self.side);
            let neighbours = [
                (row > 0).then(|| at - self.side),
                (row + 1 < self.side).then(|| at + self.side),
                (column > 0).then(|| at - 1),
                (column + 1 < self.side).then(|| at + 1),
            ];
            for neighbour in neighbours {
                match neighbour {
                    Some(next) => {
                        self.heights[next] += 1;
                        steep.push(next);
                    }
                    None => self.fallen += 1,
                }
            }
            steep.push(at);
        }
        toppled
    }
}

/// The place of the next grain (L'Ecuyer's congruential generator).
fn next_place(state: &mut u64, places: usize) -> usize {
    *state = state.wrapping_mul(2862933555777941757).wrapping_add(3037000493);
    (*state >> 33) as usize % places
}

fn main() -> io::Result<()> {
    let mut pile = Sandpile::new(16);
    let mut state = 20_u64;
    let mut largest = 0;
    let mut csv = File::create("avalanches.csv")?;
    writeln!(csv, "grains,largest,fallen")?;
    for grain in 1..=1500 {
        let place = next_place(&mut state, pile.heights.len());
        largest = largest.max(pile.drop_grain(place));
        if grain % 50 == 0 {
            writeln!(csv, "{grain},{largest},{}", pile.fallen)?;
            largest = 0;
        }
        if grain % 375 == 0 {
            println!("{grain:6} grains, {} have fallen off the table", pile.fallen);
        }
    }
    assert!(keeps_all_grains(&pile), "a grain is lost");
    let heights = [0, 1, 2, 3].map(|of| pile.heights.iter().filter(|height| **height == of).count());
    println!("columns of 0, 1, 2 and 3 grains: {heights:?}");
    Ok(())
}
