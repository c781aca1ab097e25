use std::rc::{Rc, Weak};
use std::sync::Arc;

#[derive(ckpt::Checkpoint)]
struct Cell {
    label: Rc<String>,
}

#[derive(ckpt::Checkpoint)]
struct Row {
    cells: Vec<Cell>,
}

fn made(label: &Rc<String>) -> Row {
    let cell = Cell { label: label.clone() };
    Row { cells: vec![cell] }
}

#[ckpt::instrument]
pub fn made_by_a_function(label: Rc<String>) {
    let row = made(&label);
    println!("{}", row.cells.len());
    for _ in 0..3 {
        ckpt::checkpoint!();
        println!("{}", Rc::strong_count(&label));
    }
}

#[ckpt::instrument]
pub fn weak_pointer(grid: Arc<Vec<f64>>) {
    let weak = Arc::downgrade(&grid);
    println!("{}", weak.upgrade().is_some());
    for _ in 0..3 {
        ckpt::checkpoint!();
        println!("{}", Arc::weak_count(&grid));
    }
}

#[ckpt::instrument]
pub fn owned_by_a_closure(mut grid: Rc<Vec<f64>>) {
    let mine = Rc::clone(&grid);
    let first = move || mine[0];
    println!("{}", first());
    for _ in 0..3 {
        ckpt::checkpoint!();
        println!("{:?}", Rc::get_mut(&mut grid));
    }
}

#[ckpt::instrument(owners)]
pub fn asked_by_others(weak: &Weak<String>) {
    let label;
    label = weak.upgrade();
    println!("{label:?}");
    for _ in 0..3 {
        ckpt::checkpoint!();
    }
}

struct Guard(u64);

impl Guard {
    fn size(&self) -> u64 {
        self.0
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        println!("drop {}", self.0);
    }
}

#[ckpt::instrument]
pub fn guard_in_a_closure(size: u64) {
    let guard = Guard(size);
    let sum = move || guard.size() + 1;
    println!("{}", sum());
    for _ in 0..3 {
        ckpt::checkpoint!();
    }
}

#[ckpt::instrument]
pub fn nobody_asks(label: &Rc<String>) {
    let row = made(label);
    println!("{}", row.cells[0].label);
    for _ in 0..3 {
        ckpt::checkpoint!();
    }
}

fn main() {}
