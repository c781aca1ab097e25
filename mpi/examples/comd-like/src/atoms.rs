//! The atoms of a rank, by link cell: every cell has the same number of places for them.

use crate::domain::Domain;
use crate::random::Random;

/// Places in a link cell.
pub const PLACES: usize = 64;

/// Those of the unit cell.
const BASIS: [[f64; 3]; 4] = [
    [0.25, 0.25, 0.25],
    [0.25, 0.75, 0.75],
    [0.75, 0.25, 0.75],
    [0.75, 0.75, 0.25],
];

pub struct Atoms {
    /// How many atoms are in each link cell.
    pub count: Vec<usize>,
    /// Which cells are this rank's own, not of the halo.
    pub own_cells: Vec<usize>,
    pub id: Vec<u32>,
    /// All are copper.
    pub species: Vec<u32>,
    pub place: Vec<[f64; 3]>,
    pub momentum: Vec<[f64; 3]>,
    pub force: Vec<[f64; 3]>,
    pub energy: Vec<f64>,
}

impl Atoms {
    fn none(domain: &Domain) -> Atoms {
        let cells: usize = domain.all_cells().iter().product();
        let places = cells * PLACES;
        let mut own_cells = Vec::new();
        for x in 1..=domain.cells[0] {
            for y in 1..=domain.cells[1] {
                for z in 1..=domain.cells[2] {
                    own_cells.push(domain.number([x, y, z]));
                }
            }
        }
        Atoms {
            count: vec![0; cells],
            own_cells,
            id: vec![0; places],
            species: vec![0; places],
            place: vec![[0.0; 3]; places],
            momentum: vec![[0.0; 3]; places],
            force: vec![[0.0; 3]; places],
            energy: vec![0.0; places],
        }
    }

    /// This rank's part of a crystal.
    pub fn of_lattice(domain: &Domain, unit_cells: [usize; 3], width: f64) -> Atoms {
        let mut atoms = Atoms::none(domain);
        let range = |axis: usize| {
            let first = (domain.from[axis] / width) as usize;
            let last = (domain.to[axis] / width) as usize + 1;
            first..last.min(unit_cells[axis])
        };
        for x in range(0) {
            for y in range(1) {
                for z in range(2) {
                    for (number, basis) in BASIS.iter().enumerate() {
                        let corner = [x, y, z];
                        let place = [0, 1, 2].map(|axis| (corner[axis] as f64 + basis[axis]) * width);
                        let is_own = (0..3)
                            .all(|axis| place[axis] >= domain.from[axis] && place[axis] < domain.to[axis]);
                        if is_own {
                            let cell = (x * unit_cells[1] + y) * unit_cells[2] + z;
                            atoms.put(domain, (cell * BASIS.len() + number) as u32, 0, place, [0.0; 3]);
                        }
                    }
                }
            }
        }
        atoms
    }

    /// Puts an atom into the cell where it is.
    pub fn put(&mut self, domain: &Domain, id: u32, species: u32, place: [f64; 3], momentum: [f64; 3]) {
        let cell = domain.cell_at(place);
        assert!(self.count[cell] < PLACES, "a link cell is full");
        let at = cell * PLACES + self.count[cell];
        self.count[cell] += 1;
        self.id[at] = id;
        self.species[at] = species;
        self.place[at] = place;
        self.momentum[at] = momentum;
        self.force[at] = [0.0; 3];
        self.energy[at] = 0.0;
    }

    /// Moves an atom of one place to another.
    fn copy(&mut self, from: usize, to: usize) {
        self.id[to] = self.id[from];
        self.species[to] = self.species[from];
        self.place[to] = self.place[from];
        self.momentum[to] = self.momentum[from];
        self.force[to] = self.force[from];
        self.energy[to] = self.energy[from];
    }

    /// Every atom of this rank comes into the cell where it is now, which may be one of the halo; nothing else is there.
    pub fn update_cells(&mut self, domain: &Domain) {
        let mut is_halo = vec![true; self.count.len()];
        self.own_cells.iter().for_each(|cell| is_halo[*cell] = false);
        for (count, is_halo) in self.count.iter_mut().zip(is_halo) {
            if is_halo {
                *count = 0;
            }
        }
        for number in 0..self.own_cells.len() {
            let cell = self.own_cells[number];
            let mut index = 0;
            while index < self.count[cell] {
                let at = cell * PLACES + index;
                if domain.cell_at(self.place[at]) == cell {
                    index += 1;
                    continue;
                }
                let (id, species, place, momentum) =
                    (self.id[at], self.species[at], self.place[at], self.momentum[at]);
                self.count[cell] -= 1;
                self.copy(cell * PLACES + self.count[cell], at);
                self.put(domain, id, species, place, momentum);
            }
        }
    }

    /// Within each cell by number: what a rank computes does not depend on how its atoms have come to it.
    pub fn sort(&mut self) {
        for cell in 0..self.count.len() {
            for index in 1..self.count[cell] {
                let mut at = cell * PLACES + index;
                while at > cell * PLACES && self.id[at - 1] > self.id[at] {
                    self.swap(at - 1, at);
                    at -= 1;
                }
            }
        }
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.id.swap(a, b);
        self.species.swap(a, b);
        self.place.swap(a, b);
        self.momentum.swap(a, b);
        self.force.swap(a, b);
        self.energy.swap(a, b);
    }

    /// The places of this rank's atoms.
    fn own(&self) -> Vec<usize> {
        let mut own = Vec::new();
        for cell in &self.own_cells {
            own.extend(cell * PLACES..cell * PLACES + self.count[*cell]);
        }
        own
    }

    /// Forces act on momenta.
    pub fn push(&mut self, time: f64) {
        for at in self.own() {
            for axis in 0..3 {
                self.momentum[at][axis] += time * self.force[at][axis];
            }
        }
    }

    /// Momenta carry atoms away; `time` is divided by their mass.
    pub fn drift(&mut self, time: f64) {
        for at in self.own() {
            for axis in 0..3 {
                self.place[at][axis] += time * self.momentum[at][axis];
            }
        }
    }

    /// At random, each atom's by its number.
    pub fn set_momenta(&mut self, width: f64) {
        for at in self.own() {
            let mut random = Random::new(self.id[at]);
            self.momentum[at] = [(); 3].map(|()| width * random.normal());
        }
    }

    /// The sum of momenta, and how many atoms there are.
    pub fn momentum(&self) -> [f64; 4] {
        let (mut sum, mut count) = ([0.0; 3], 0.0);
        for at in self.own() {
            for (sum, one) in sum.iter_mut().zip(self.momentum[at]) {
                *sum += one;
            }
            count += 1.0;
        }
        [sum[0], sum[1], sum[2], count]
    }

    pub fn shift_momenta(&mut self, by: [f64; 3]) {
        for at in self.own() {
            for (one, by) in self.momentum[at].iter_mut().zip(by) {
                *one -= by;
            }
        }
    }

    pub fn scale_momenta(&mut self, factor: f64) {
        for at in self.own() {
            self.momentum[at] = self.momentum[at].map(|one| factor * one);
        }
    }

    /// Potential and kinetic energy, and how many atoms there are.
    pub fn sums(&self, mass: f64) -> [f64; 3] {
        let mut sums = [0.0; 3];
        for at in self.own() {
            let squares: f64 = self.momentum[at].iter().map(|one| one * one).sum();
            sums[0] += self.energy[at];
            sums[1] += 0.5 * squares / mass;
            sums[2] += 1.0;
        }
        sums
    }
}
