//! What a parallel iterator goes over or collects in has to be put together of blocks. (Its methods alone are looked at.)

use std::collections::LinkedList;
use std::rc::Rc;

trait IntoParallelIterator: IntoIterator + Sized {
    fn into_par_iter(self) -> Self::IntoIter {
        self.into_iter()
    }
}

impl<I: IntoIterator> IntoParallelIterator for I {}

#[ckpt::main]
fn main() {
    let list: LinkedList<u64> = (0..9).collect();
    let sum: u64 = list
        .into_par_iter()
        .map(|x| {
            ckpt::checkpoint!();
            x * x
        })
        .sum();
    let squares: Rc<[u64]> = (0..sum)
        .into_par_iter()
        .map(|x| {
            ckpt::checkpoint!();
            x * x
        })
        .collect();
    println!("{sum} {squares:?}");
}
