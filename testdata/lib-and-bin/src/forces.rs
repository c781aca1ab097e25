use crate::{Atom, Vec3};

/// Lennard-Jones, cut and shifted, with cell lists when the box is large enough.
#[derive(Debug)]
pub(crate) struct ForceField {
    side: f64,
    cutoff2: f64,
    shift: f64,
    #[cfg(feature = "cells")]
    cells: Cells,
}

#[cfg(feature = "cells")]
#[derive(Debug)]
struct Cells {
    per_side: usize,
    members: Vec<Vec<usize>>,
}

impl ForceField {
    pub(crate) fn new(side: f64, cutoff: f64) -> Self {
        let i6 = cutoff.powi(-6);
        #[cfg(feature = "cells")]
        let per_side = ((side / cutoff).floor() as usize).max(1);
        ForceField {
            side,
            cutoff2: cutoff * cutoff,
            shift: 4.0 * (i6 * i6 - i6),
            #[cfg(feature = "cells")]
            cells: Cells { per_side, members: vec![Vec::new(); per_side * per_side * per_side] },
        }
    }

    /// Sets every atom's force; returns the potential energy.
    pub(crate) fn compute(&mut self, atoms: &mut [Atom]) -> f64 {
        for atom in atoms.iter_mut() {
            atom.force = Vec3::ZERO;
        }
        let mut potential = 0.0;
        #[cfg(feature = "cells")]
        if self.cells.per_side >= 3 {
            return self.compute_cells(atoms);
        }
        for i in 0..atoms.len() {
            for j in 0..i {
                potential += self.pair(atoms, i, j);
            }
        }
        potential
    }

    fn pair(&self, atoms: &mut [Atom], i: usize, j: usize) -> f64 {
        let d = (atoms[i].pos - atoms[j].pos).nearest_image(self.side);
        let r2 = d.norm2();
        if r2 >= self.cutoff2 {
            return 0.0;
        }
        let i2 = 1.0 / r2;
        let i6 = i2 * i2 * i2;
        let f = d * (48.0 * i2 * i6 * (i6 - 0.5));
        atoms[i].force += f;
        atoms[j].force -= f;
        4.0 * (i6 * i6 - i6) - self.shift
    }

    #[cfg(feature = "cells")]
    fn compute_cells(&mut self, atoms: &mut [Atom]) -> f64 {
        let m = self.cells.per_side;
        let scale = m as f64 / self.side;
        self.cells.members.iter_mut().for_each(Vec::clear);
        for (i, atom) in atoms.iter().enumerate() {
            let [x, y, z] = atom.pos.components().map(|c| ((c * scale) as usize).min(m - 1));
            self.cells.members[(x * m + y) * m + z].push(i);
        }
        let mut potential = 0.0;
        for here in 0..m * m * m {
            let (x, y, z) = (here / (m * m), here / m % m, here % m);
            for (dx, dy, dz) in neighbourhood() {
                let wrap = |c: usize, d: isize| (c as isize + d).rem_euclid(m as isize) as usize;
                let there = (wrap(x, dx) * m + wrap(y, dy)) * m + wrap(z, dz);
                for &i in &self.cells.members[here] {
                    for &j in &self.cells.members[there] {
                        if j < i {
                            potential += self.pair(atoms, i, j);
                        }
                    }
                }
            }
        }
        potential
    }
}

#[cfg(feature = "cells")]
fn neighbourhood() -> impl Iterator<Item = (isize, isize, isize)> {
    (-1..=1).flat_map(|x| (-1..=1).flat_map(move |y| (-1..=1).map(move |z| (x, y, z))))
}
