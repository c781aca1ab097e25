//! The part of the box that a rank has, and its link cells. The box goes on periodically.

use crate::force::CUTOFF;

#[derive(Clone, Debug)]
pub struct Domain {
    /// Of the whole box, in each dimension.
    pub extent: [f64; 3],
    ranks: [usize; 3],
    own: [usize; 3],
    /// Where this rank's part begins and ends.
    pub from: [f64; 3],
    pub to: [f64; 3],
    /// How many link cells it has in each dimension, without the halo.
    pub cells: [usize; 3],
}

impl Domain {
    pub fn new(extent: [f64; 3], ranks: [usize; 3], rank: usize) -> Domain {
        let own = [
            rank / (ranks[1] * ranks[2]),
            rank / ranks[2] % ranks[1],
            rank % ranks[2],
        ];
        // Neighbours compute the border between them from the same numbers.
        let border = |axis: usize, number: usize| extent[axis] * number as f64 / ranks[axis] as f64;
        let from = [0, 1, 2].map(|axis| border(axis, own[axis]));
        let to = [0, 1, 2].map(|axis| border(axis, own[axis] + 1));
        let cells = [0, 1, 2].map(|axis| ((to[axis] - from[axis]) / CUTOFF) as usize);
        assert!(
            cells.iter().all(|cells| *cells >= 2),
            "every rank is at least two cutoffs wide in each dimension: {cells:?} cells"
        );
        Domain {
            extent,
            ranks,
            own,
            from,
            to,
            cells,
        }
    }

    /// The rank beside this one, upwards or downwards in a dimension.
    pub fn neighbour(&self, axis: usize, up: bool) -> i32 {
        let mut place = self.own;
        let count = self.ranks[axis];
        place[axis] = (place[axis] + if up { 1 } else { count - 1 }) % count;
        ((place[0] * self.ranks[1] + place[1]) * self.ranks[2] + place[2]) as i32
    }

    /// Whether this rank is the last upwards or downwards.
    pub fn is_at_end(&self, axis: usize, up: bool) -> bool {
        self.own[axis] == if up { self.ranks[axis] - 1 } else { 0 }
    }

    /// Link cells, with one of the halo on each side.
    pub fn all_cells(&self) -> [usize; 3] {
        self.cells.map(|cells| cells + 2)
    }

    /// The number of a link cell; 0 is the halo's.
    pub fn number(&self, [x, y, z]: [usize; 3]) -> usize {
        let all = self.all_cells();
        (x * all[1] + y) * all[2] + z
    }

    /// The link cell in which a place lies that is no further away than the halo.
    pub fn cell_at(&self, place: [f64; 3]) -> usize {
        self.number([0, 1, 2].map(|axis| {
            let (from, to, cells) = (self.from[axis], self.to[axis], self.cells[axis]);
            if place[axis] < from {
                return 0;
            }
            if place[axis] >= to {
                return cells + 1;
            }
            let inside = (place[axis] - from) * (cells as f64 / (to - from));
            1 + (inside as usize).min(cells - 1)
        }))
    }
}
