use std::ops::{Index, IndexMut};

#[derive(ckpt::Checkpoint)]
struct Grids {
    all: Vec<Vec<f64>>,
}

impl Index<usize> for Grids {
    type Output = Vec<f64>;
    fn index(&self, at: usize) -> &Vec<f64> {
        &self.all[at]
    }
}

impl IndexMut<usize> for Grids {
    fn index_mut(&mut self, at: usize) -> &mut Vec<f64> {
        &mut self.all[at]
    }
}

#[ckpt::instrument]
fn advance(grid: &mut Vec<f64>) {
    for k in 0..3 {
        ckpt::checkpoint!();
        grid.push(f64::from(k));
    }
}
#[ckpt::main(calls(advance))]
fn main() {
    let mut grids = Grids {
        all: vec![Vec::new(); 4],
    };
    advance(&mut grids[3]);
    println!("{}", grids.all.len());
}
