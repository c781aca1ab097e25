//! Atoms that go to the neighbours: those that have left this rank's cells, and copies of those near its borders.

use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

use crate::atoms::{Atoms, PLACES};
use crate::domain::Domain;

/// Numbers that say what an atom is: which and what, where, and its momentum.
const NUMBERS: usize = 8;

/// All atoms come to the ranks and cells where they are, and copies of them into the halos.
pub fn redistribute(atoms: &mut Atoms, domain: &Domain, world: &SimpleCommunicator) {
    atoms.update_cells(domain);
    for axis in 0..3 {
        let down = pack(atoms, domain, axis, false);
        let up = pack(atoms, domain, axis, true);
        let from_above = swap(&down, axis, false, domain, world);
        let from_below = swap(&up, axis, true, domain, world);
        unpack(atoms, domain, &from_below);
        unpack(atoms, domain, &from_above);
    }
    atoms.sort();
}

/// Sends to one side and receives from the other, first how much it is.
fn swap(sent: &[f64], axis: usize, up: bool, domain: &Domain, world: &SimpleCommunicator) -> Vec<f64> {
    let to = world.process_at_rank(domain.neighbour(axis, up));
    let from = world.process_at_rank(domain.neighbour(axis, !up));
    let mut length = 0_u64;
    mpi::point_to_point::send_receive_into(&(sent.len() as u64), &to, &mut length, &from);
    let mut received = vec![0.0; length as usize];
    mpi::point_to_point::send_receive_into(sent, &to, &mut received[..], &from);
    received
}

/// The atoms in the outermost layer of this rank's cells and in that of the halo beside it, where those are that have left.
/// What goes over the end of the box comes in at the other.
fn pack(atoms: &Atoms, domain: &Domain, axis: usize, up: bool) -> Vec<f64> {
    let all = domain.all_cells();
    let layers = if up { all[axis] - 2..all[axis] } else { 0..2 };
    let range = |other: usize| {
        if other == axis {
            layers.clone()
        } else {
            0..all[other]
        }
    };
    let extent = domain.extent[axis];
    let is_at_end = domain.is_at_end(axis, up);
    let mut packed = Vec::new();
    for x in range(0) {
        for y in range(1) {
            for z in range(2) {
                let cell = [x, y, z];
                let has_left = cell[axis] == 0 || cell[axis] == all[axis] - 1;
                let number = domain.number(cell);
                for at in number * PLACES..number * PLACES + atoms.count[number] {
                    let mut place = atoms.place[at];
                    match (is_at_end, up) {
                        (true, true) => place[axis] -= extent,
                        // What has left by next to nothing must not be rounded to the end itself, which is outside.
                        (true, false) if has_left => {
                            place[axis] = (place[axis] + extent).min(extent.next_down());
                        }
                        (true, false) => place[axis] += extent,
                        (false, _) => {}
                    }
                    packed.push(f64::from(atoms.id[at]));
                    packed.push(f64::from(atoms.species[at]));
                    packed.extend(place);
                    packed.extend(atoms.momentum[at]);
                }
            }
        }
    }
    packed
}

fn unpack(atoms: &mut Atoms, domain: &Domain, packed: &[f64]) {
    for one in packed.chunks_exact(NUMBERS) {
        atoms.put(
            domain,
            one[0] as u32,
            one[1] as u32,
            [one[2], one[3], one[4]],
            [one[5], one[6], one[7]],
        );
    }
}
