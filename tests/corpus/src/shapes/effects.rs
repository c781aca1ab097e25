//! Side effects in what a restart might be tempted to do again: iterator expressions, arguments, receivers, operands,
//! initialisers of references.

use super::draw;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

#[ckpt::instrument]
pub fn iterator_that_empties_its_source() {
    let mut items = vec![1u64, 2, 3];
    let mut sum = 0;
    for item in std::mem::take(&mut items) {
        sum = sum * 3 + item;
        items.push(sum);
        ckpt::checkpoint!();
        println!("{item} {items:?}");
    }
    println!("= {sum}");
}

#[ckpt::instrument]
pub fn iterator_split_off() {
    let mut items = vec![1u64, 2, 3, 4, 5];
    for item in items.split_off(2) {
        items.push(item * 10);
        ckpt::checkpoint!();
        println!("{item} {items:?}");
    }
    println!("= {items:?}");
}

#[ckpt::instrument]
pub fn iterator_made_with_a_draw() {
    let mut seed = 3;
    let mut sum = 0;
    for item in drawn(&mut seed, 3) {
        sum = sum * 7 + item;
        ckpt::checkpoint!();
        println!("{item} {sum} {seed}");
    }
    println!("= {sum} {seed}");
}

fn drawn(seed: &mut u64, count: usize) -> Vec<u64> {
    (0..count).map(|_| draw(seed) % 100).collect()
}

#[ckpt::instrument]
pub fn range_made_with_a_draw() {
    let mut seed = 3;
    let mut sum = 0;
    for item in 0..draw(&mut seed) % 3 + 3 {
        sum = sum * 7 + item;
        ckpt::checkpoint!();
        println!("{item} {sum} {seed}");
    }
    println!("= {sum} {seed}");
}

#[ckpt::instrument]
fn work(n: u64) -> u64 {
    println!("work {n}");
    ckpt::checkpoint!();
    n * 2 + 1
}

#[ckpt::instrument(calls(work))]
pub fn argument_with_effect() {
    let mut seed = 9;
    let mut stack = vec![5u64, 6, 7];
    let mut sum = 0;
    while sum < 60 {
        sum += work(draw(&mut seed) % 10);
        sum += work(stack.pop().unwrap_or(20));
        println!("{sum} {seed} {stack:?}");
    }
    println!("= {sum}");
}

#[ckpt::instrument(calls(work))]
pub fn operand_with_effect() {
    let mut seed = 9;
    let mut stack = vec![5u64, 6, 7];
    let first = draw(&mut seed) % 10 + work(1);
    println!("{first} {seed}");
    let second = stack.pop().unwrap_or(0) * work(stack.len() as u64);
    println!("= {first} {second} {stack:?} {seed}");
}

#[ckpt::instrument]
fn bump(counter: &Cell<u64>) -> u64 {
    counter.set(counter.get() + 10);
    ckpt::checkpoint!();
    counter.set(counter.get() + 1);
    counter.get()
}

#[ckpt::instrument(calls(bump))]
pub fn operand_changed_by_the_call() {
    let counter = Cell::new(1);
    let sum = counter.get() * 100 + bump(&counter);
    println!("{sum}");
    let pair = (counter.get(), bump(&counter), counter.get());
    println!("= {sum} {pair:?}");
}

#[ckpt::instrument(calls(work))]
pub fn assignment_to_a_place_with_effect() {
    let mut seed = 2;
    let mut table = [0u64; 4];
    for i in 0..3 {
        table[(draw(&mut seed) % 4) as usize] = work(i);
        table[i as usize] += work(i + 10);
        println!("{table:?} {seed}");
    }
    println!("= {table:?}");
}

#[ckpt::instrument]
pub fn reference_made_with_a_draw() {
    let mut seed = 5;
    let value = &draw(&mut seed);
    for i in 0..2 {
        ckpt::checkpoint!();
        println!("{i} {value} {seed}");
    }
    println!("= {}", draw(&mut seed));
}

#[ckpt::instrument]
pub fn closure_over_a_cell() {
    let count = Cell::new(0u64);
    let step = |by: u64| {
        count.set(count.get() + by);
        count.get()
    };
    let mut log = vec![];
    for i in 0..3 {
        log.push(step(i + 1));
        ckpt::checkpoint!();
        println!("{log:?} {}", step(10));
    }
    println!("= {}", count.get());
}

#[ckpt::instrument(calls(append))]
pub fn shared_pointer_in_two_frames() {
    let log = Rc::new(RefCell::new(vec![1u64]));
    for i in 0..2 {
        append(&log, i);
        log.borrow_mut().push(i * 100);
        println!("{:?} {}", log.borrow(), Rc::strong_count(&log));
    }
    println!("= {:?}", log.borrow());
}

#[ckpt::instrument]
fn append(log: &Rc<RefCell<Vec<u64>>>, i: u64) {
    let mine = Rc::clone(log);
    mine.borrow_mut().push(i);
    ckpt::checkpoint!();
    mine.borrow_mut().push(i + 50);
    println!("{:?} {}", log.borrow(), Rc::strong_count(&mine));
}

#[ckpt::instrument]
pub fn text_of_an_environment() {
    let words: Vec<String> = std::env::args().skip(2).collect();
    let name = std::env::args().next().map_or(0, |name| name.len().min(1));
    for i in 0..2 {
        ckpt::checkpoint!();
        println!("{i} {words:?} {name}");
    }
    println!("=");
}
