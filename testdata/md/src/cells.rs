//! Linked cells: who may be near whom.

use crate::system::System;

const NONE: usize = usize::MAX;

pub struct CellList {
    per_side: usize,
    head: Vec<usize>,
    next: Vec<usize>,
}

impl CellList {
    pub fn build(system: &System, range: f64) -> CellList {
        let per_side = ((system.side() / range) as usize).max(1);
        let mut head = vec![NONE; per_side.pow(3)];
        let mut next = vec![NONE; system.len()];
        let width = system.side() / per_side as f64;
        for (i, p) in system.positions.iter().enumerate() {
            let c = p.map(|c| ((c / width) as usize).min(per_side - 1));
            let cell = (c[0] * per_side + c[1]) * per_side + c[2];
            next[i] = head[cell];
            head[cell] = i;
        }
        CellList { per_side, head, next }
    }

    fn chain(&self, cell: usize) -> impl Iterator<Item = usize> + '_ {
        let mut at = self.head[cell];
        std::iter::from_fn(move || {
            let i = at;
            (i != NONE).then(|| {
                at = self.next[i];
                i
            })
        })
    }

    /// Calls `f` once for every pair of atoms in the same or in neighbouring cells.
    pub fn for_each_pair(&self, mut f: impl FnMut(usize, usize)) {
        let n = self.per_side as isize;
        let index = |x: isize, y: isize, z: isize| {
            let wrap = |c: isize| c.rem_euclid(n) as usize;
            (wrap(x) * self.per_side + wrap(y)) * self.per_side + wrap(z)
        };
        if n < 3 {
            // neighbours would be visited twice
            let all = self.next.len();
            (0..all).for_each(|i| (i + 1..all).for_each(|j| f(i, j)));
            return;
        }
        for x in 0..n {
            for y in 0..n {
                for z in 0..n {
                    let here = index(x, y, z);
                    for i in self.chain(here) {
                        for d in -13..=13isize {
                            let (dx, dy, dz) = ((d + 13) / 9 - 1, (d + 13) / 3 % 3 - 1, (d + 13) % 3 - 1);
                            let there = index(x + dx, y + dy, z + dz);
                            for j in self.chain(there) {
                                if j > i {
                                    f(i, j);
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
