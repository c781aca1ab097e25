//! The Lennard-Jones potential of copper, cut off and shifted so that it is nothing there.

use crate::atoms::{Atoms, PLACES};
use crate::domain::Domain;

/// Angstrom.
const SIGMA: f64 = 2.315;
/// eV.
const EPSILON: f64 = 0.167;
pub const CUTOFF: f64 = 2.5 * SIGMA;

/// Forces and potential energies of this rank's atoms, from all that are near in their cells and in those around them.
pub fn compute(atoms: &mut Atoms, domain: &Domain) {
    let s6 = SIGMA.powi(6);
    let at_cutoff = s6 / CUTOFF.powi(6);
    let shift = at_cutoff * (at_cutoff - 1.0);
    let all = domain.all_cells();
    for number in 0..atoms.own_cells.len() {
        let cell = atoms.own_cells[number];
        let near = around(cell, all);
        for at in cell * PLACES..cell * PLACES + atoms.count[cell] {
            let here = atoms.place[at];
            let (mut force, mut energy) = ([0.0; 3], 0.0);
            for other_cell in near {
                let first = other_cell * PLACES;
                for (other, there) in atoms.place[first..first + atoms.count[other_cell]]
                    .iter()
                    .enumerate()
                {
                    let way = [here[0] - there[0], here[1] - there[1], here[2] - there[2]];
                    let square = way[0] * way[0] + way[1] * way[1] + way[2] * way[2];
                    if square > CUTOFF * CUTOFF || first + other == at {
                        continue;
                    }
                    let inverse = 1.0 / square;
                    let r6 = s6 * inverse * inverse * inverse;
                    // Half of a pair's energy is each atom's.
                    energy += 0.5 * (r6 * (r6 - 1.0) - shift);
                    let strength = 4.0 * EPSILON * r6 * inverse * (12.0 * r6 - 6.0);
                    for axis in 0..3 {
                        force[axis] += strength * way[axis];
                    }
                }
            }
            atoms.force[at] = force;
            atoms.energy[at] = 4.0 * EPSILON * energy;
        }
    }
}

/// A cell and the twenty-six around it.
fn around(cell: usize, all: [usize; 3]) -> [usize; 27] {
    let corner = cell - (all[1] + 1) * all[2] - 1;
    std::array::from_fn(|number| corner + (number / 9 * all[1] + number / 3 % 3) * all[2] + number % 3)
}
