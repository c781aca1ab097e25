//! Generic functions, `impl Trait` arguments, marked calls with type arguments.

use std::fmt::Debug;
use std::ops::{Add, Mul};

#[ckpt::instrument]
fn power<T>(base: T, count: u32, one: T) -> T
where
    T: Copy + Mul<Output = T> + Debug + ckpt::Checkpoint,
{
    let mut result = one;
    for i in 0..count {
        result = result * base;
        ckpt::checkpoint!();
        println!("{i} {result:?}");
    }
    result
}

#[ckpt::instrument(calls(power))]
pub fn several_types() {
    let a = power(3u32, 3, 1);
    let b = power::<f64>(1.5, 3, 1.0);
    let c: i64 = power(-2, 3, 1);
    println!("= {a} {b:?} {c}");
}

#[ckpt::instrument]
fn sum_all<T: Copy + Add<Output = T> + Debug + Default + ckpt::Checkpoint>(items: &[T]) -> T {
    let mut sum = T::default();
    for &item in items {
        sum = sum + item;
        ckpt::checkpoint!();
        println!("{item:?} {sum:?}");
    }
    sum
}

#[ckpt::instrument(calls(sum_all))]
pub fn generic_slices() {
    let whole = vec![1i32, -5, 9];
    let real = [0.1f32, 0.2, 0.3];
    let a = sum_all(&whole);
    let b = sum_all(&real);
    println!("= {a} {:08x}", b.to_bits());
}

#[ckpt::instrument]
fn drain(source: impl Iterator<Item = u64>) -> u64 {
    let mut sum = 0;
    for item in source {
        sum = sum * 2 + item;
        ckpt::checkpoint!();
        println!("{item} {sum}");
    }
    sum
}

#[ckpt::instrument(calls(drain))]
pub fn impl_iterator_argument() {
    let list = vec![3u64, 1, 2];
    let a = drain(list.iter().copied());
    println!("{a}");
    let b = drain((0..10).filter(|i| i % 4 == 1));
    println!("= {a} {b}");
}

#[ckpt::instrument]
fn apply(f: impl Fn(u64) -> u64, n: u64) -> u64 {
    let mut value = n;
    for _ in 0..3 {
        value = f(value);
        ckpt::checkpoint!();
        println!("{value}");
    }
    value
}

#[ckpt::instrument(calls(apply))]
pub fn impl_fn_argument() {
    let shift = 4;
    let a = apply(|x| x * 2 + shift, 1);
    let b = apply(u64::isqrt, 1000);
    println!("= {a} {b} {shift}");
}

#[ckpt::instrument]
fn apply_generic<F>(f: &F, n: u64) -> u64
where
    F: Fn(u64) -> u64,
{
    let first = f(n);
    ckpt::checkpoint!();
    let second = f(first);
    ckpt::checkpoint!();
    println!("{first} {second}");
    first + second
}

#[ckpt::instrument(calls(apply_generic))]
pub fn closure_by_reference() {
    let factor = 3;
    let triple = |x| x * factor;
    let a = apply_generic(&triple, 5);
    println!("{a}");
    let b = apply_generic(&triple, a);
    println!("= {b}");
}

#[ckpt::instrument]
fn show_all(items: &[impl Debug]) -> usize {
    let mut size = 0;
    for item in items {
        size += format!("{item:?}").len();
        ckpt::checkpoint!();
        println!("{item:?} {size}");
    }
    size
}

#[ckpt::instrument(calls(show_all))]
pub fn impl_debug_elements() {
    let a = show_all(&["x", "yz"]);
    let b = show_all(&[1.5, 2.25]);
    println!("= {a} {b}");
}

#[derive(Debug, Clone, ckpt::Checkpoint)]
struct Stack<T> {
    items: Vec<T>,
}

impl<T: Clone + Debug + ckpt::Checkpoint> Stack<T> {
    #[ckpt::instrument]
    fn double(&mut self) {
        let count = self.items.len();
        for i in 0..count {
            let copy = self.items[i].clone();
            ckpt::checkpoint!();
            self.items.push(copy);
            println!("{:?}", self.items);
        }
    }
}

#[ckpt::instrument(calls(double))]
pub fn generic_struct_method() {
    let mut words = Stack {
        items: vec![String::from("a"), String::from("b")],
    };
    words.double();
    let mut pairs = Stack {
        items: vec![(1u8, 'x')],
    };
    pairs.double();
    println!("= {words:?} {pairs:?}");
}

#[ckpt::instrument]
fn read_by(reader: &dyn Fn(usize) -> u64, count: usize) -> u64 {
    let mut sum = 0;
    for i in 0..count {
        sum += reader(i);
        ckpt::checkpoint!();
        println!("{i} {sum}");
    }
    sum
}

#[ckpt::instrument(calls(read_by))]
pub fn dyn_reference_argument() {
    let table = vec![5u64, 6, 7];
    let sum = read_by(&|i| table[i] * 2, 3);
    println!("= {sum} {table:?}");
}

trait Model {
    fn advance(&mut self, by: u64) -> u64;
}

#[derive(Debug, ckpt::Checkpoint)]
struct Counter(u64);

impl Model for Counter {
    fn advance(&mut self, by: u64) -> u64 {
        self.0 = self.0 * 3 + by;
        self.0
    }
}

#[ckpt::instrument]
fn anonymous(model: &mut impl Model) {
    for k in 0..3 {
        model.advance(k);
        ckpt::checkpoint!();
        println!("{}", model.advance(1));
    }
}

#[ckpt::instrument(calls(anonymous))]
fn named<M>(model: &mut M, turns: u64)
where
    M: Model + std::fmt::Debug,
{
    for _ in 0..turns {
        anonymous(model);
        println!("{model:?}");
    }
}

#[ckpt::instrument]
fn elements<T: Copy + std::ops::AddAssign + std::fmt::Debug>(list: &mut [T], by: T) {
    for i in 0..list.len() {
        list[i] += by;
        ckpt::checkpoint!();
        println!("{list:?}");
    }
}

#[ckpt::instrument]
fn with_closure(n: &mut u64, apply: &mut impl FnMut(u64) -> u64) {
    for k in 0..2 {
        *n = apply(*n + k);
        ckpt::checkpoint!();
        println!("{n}");
    }
}

#[ckpt::instrument(calls(anonymous, named, elements, with_closure))]
pub fn exclusive_arguments_of_any_type() {
    let mut counter = Counter(1);
    anonymous(&mut counter);
    named(&mut counter, 2);
    let mut list = vec![vec![1.5], vec![2.5, 3.5]];
    elements(list[1].as_mut_slice(), 1.0);
    elements(list.get_mut(0).unwrap(), 2.0);
    elements(list.last_mut().unwrap(), 4.0);
    let (mut n, mut sum) = (1, 0);
    with_closure(&mut n, &mut |x| x * 2);
    let mut add = |x: u64| {
        sum += x;
        x + 1
    };
    with_closure(&mut n, &mut add);
    println!("{counter:?} {list:?} {n} {sum}");
}

/// Nothing in its methods says that a `T` can be saved.
#[derive(Debug, ckpt::Checkpoint)]
struct Solver<T> {
    values: Vec<T>,
    steps: u64,
}

impl<T: Copy + Add<Output = T> + From<u8> + Debug> Solver<T> {
    #[ckpt::instrument(calls(step))]
    fn run(&mut self, by: u8) {
        for _ in 0..2 {
            self.step(by);
            println!("{:?}", self.values);
        }
        let list = &mut self.values;
        list.rotate_left(1);
    }

    #[ckpt::instrument]
    fn step(&mut self, by: u8) {
        for i in 0..self.values.len() {
            self.values[i] = self.values[i] + T::from(by);
            self.steps += 1;
            ckpt::checkpoint!();
            println!("{} {:?}", self.steps, self.values[i]);
        }
    }
}

#[ckpt::instrument(calls(run))]
fn run_twice<T: Copy + Add<Output = T> + From<u8> + Debug>(solver: &mut Solver<T>, by: u8) {
    solver.run(by);
    solver.run(by);
}

#[ckpt::instrument(calls(run, step, run_twice))]
pub fn methods_without_a_bound() {
    let mut solver = Solver {
        values: vec![1u64, 2],
        steps: 0,
    };
    solver.run(3);
    run_twice(&mut solver, 4);
    let mut other = Solver {
        values: vec![0.5],
        steps: 10,
    };
    let lent = &mut other;
    lent.values.push(1.5);
    other.step(25);
    println!("= {solver:?} {other:?}");
}

#[ckpt::instrument]
fn advance_any(model: &mut dyn Model, turns: u64) {
    for k in 0..turns {
        model.advance(k);
        ckpt::checkpoint!();
        println!("{}", model.advance(1));
    }
}

#[ckpt::instrument(calls(advance_any))]
fn advance_twice(model: &mut dyn Model) {
    advance_any(model, 1);
    advance_any(model, 2);
}

#[ckpt::instrument(calls(advance_any, advance_twice))]
pub fn exclusive_objects_of_the_programs_own() {
    let mut counter = Counter(2);
    advance_any(&mut counter, 2);
    advance_twice(&mut counter);
    println!("= {counter:?}");
}
