//! Operators that use up what they are given: values of types that are not `Copy`.

use std::ops::{Add, AddAssign, Index, Mul, Neg, Not, Shl, Sub};

#[derive(Clone, Debug, PartialEq, ckpt::Checkpoint)]
struct Tally {
    parts: Vec<u64>,
}

impl Tally {
    fn of(parts: &[u64]) -> Self {
        Self {
            parts: parts.to_vec(),
        }
    }

    fn each(self, other: Self, combine: fn(u64, u64) -> u64) -> Self {
        let pairs = self.parts.into_iter().zip(other.parts);
        Self {
            parts: pairs.map(|(one, other)| combine(one, other)).collect(),
        }
    }
}

impl Add for Tally {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        self.each(other, u64::wrapping_add)
    }
}

impl Sub for Tally {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self.each(other, u64::wrapping_sub)
    }
}

impl Mul<u64> for Tally {
    type Output = Self;
    fn mul(mut self, by: u64) -> Self {
        self.parts
            .iter_mut()
            .for_each(|part| *part = part.wrapping_mul(by));
        self
    }
}

impl Shl<u64> for Tally {
    type Output = Self;
    fn shl(mut self, part: u64) -> Self {
        self.parts.push(part);
        self
    }
}

impl Neg for Tally {
    type Output = Self;
    fn neg(mut self) -> Self {
        self.parts.reverse();
        self
    }
}

impl Not for Tally {
    type Output = bool;
    fn not(self) -> bool {
        self.parts.is_empty()
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        for (part, more) in self.parts.iter_mut().zip(other.parts) {
            *part = part.wrapping_add(more);
        }
    }
}

impl AddAssign<u64> for Tally {
    fn add_assign(&mut self, more: u64) {
        self.parts[0] = self.parts[0].wrapping_add(more);
    }
}

struct Book {
    pages: Vec<u64>,
}

impl Index<Tally> for Book {
    type Output = u64;
    fn index(&self, key: Tally) -> &u64 {
        &self.pages[key.parts[0] as usize % self.pages.len()]
    }
}

#[ckpt::instrument]
fn step(mut of: Tally) -> Tally {
    for part in 0..of.parts.len() {
        ckpt::checkpoint!();
        of.parts[part] += part as u64 + 1;
        println!("step {of:?}");
    }
    of
}

#[ckpt::instrument]
fn made(first: u64) -> Tally {
    let mut made = Tally::of(&[first]);
    for k in 0..2 {
        ckpt::checkpoint!();
        made = made << (first + k);
        println!("made {made:?}");
    }
    made
}

#[ckpt::instrument]
pub fn used_up_between_loops() {
    let one = Tally::of(&[1, 2, 3]);
    let other = Tally::of(&[4, 5, 6]);
    for k in 0..2 {
        ckpt::checkpoint!();
        println!("{k} {one:?} {other:?}");
    }
    let mut sum = one + other;
    for k in 0..2 {
        ckpt::checkpoint!();
        sum += k;
        println!("{sum:?}");
    }
    let less = sum - Tally::of(&[1, 1, 1]);
    for k in 0..2 {
        ckpt::checkpoint!();
        println!("{k} {less:?}");
    }
    println!("= {:?}", less * 3);
}

#[ckpt::instrument(calls(parameters))]
pub fn used_up_parameters() {
    println!("= {:?}", parameters(Tally::of(&[1, 2]), Tally::of(&[3, 4]), 3));
}

#[ckpt::instrument]
fn parameters(one: Tally, other: Tally, turns: u64) -> Tally {
    let mut sum = one + other * turns;
    for k in 0..turns {
        ckpt::checkpoint!();
        sum = sum + Tally::of(&[k, 1]);
        println!("{sum:?}");
    }
    -sum
}

impl Tally {
    #[ckpt::instrument]
    fn plus(self, other: Self) -> Self {
        let mut sum = self + other;
        for k in 0..2 {
            ckpt::checkpoint!();
            sum += k;
            println!("plus {sum:?}");
        }
        sum
    }
}

#[ckpt::instrument(calls(plus))]
pub fn a_receiver_that_is_used_up() {
    let sum = Tally::of(&[1, 2]).plus(Tally::of(&[3, 4]));
    println!("= {sum:?}");
}

#[ckpt::instrument]
pub fn under_the_name_of_one_of_them() {
    let sum = Tally::of(&[1, 2]);
    let more = Tally::of(&[7, 8]);
    println!("{sum:?} {more:?}");
    let sum = sum + more;
    for k in 0..2 {
        ckpt::checkpoint!();
        println!("{k} {sum:?}");
    }
    let sum = -sum;
    let sum = sum * 2;
    for k in 0..2 {
        ckpt::checkpoint!();
        println!("{k} {sum:?}");
    }
}

#[ckpt::instrument(calls(step))]
pub fn operands_with_sites() {
    let one = Tally::of(&[1, 2]);
    let other = Tally::of(&[3, 4]);
    let sum = step(one) + step(other);
    println!("{sum:?}");
    let third = Tally::of(&[5, 6]);
    let sum = sum - step(third);
    println!("= {sum:?}");
}

#[ckpt::instrument]
fn looked_at(of: &Tally, turns: u64) -> u64 {
    let mut sum = 0;
    for k in 0..turns {
        ckpt::checkpoint!();
        sum += of.parts[0] + k;
        println!("looked {sum}");
    }
    sum
}

#[ckpt::instrument(calls(step, looked_at))]
pub fn arguments_of_calls_with_sites() {
    let one = Tally::of(&[1, 2]);
    let other = Tally::of(&[3, 4]);
    let third = Tally::of(&[5, 6]);
    let count = third.parts.len() as u64;
    let sum = step(one + other);
    println!("{sum:?}");
    let turned = step(-sum);
    println!("{turned:?}");
    println!("{}", looked_at(&(turned - third), count + 1));
}

#[ckpt::instrument(calls(looked_at))]
pub fn arguments_computed_from_numbers() {
    let limit: u64 = "12".parse().unwrap_or_default();
    let one = Tally::of(&[1, 2]);
    let part = limit / 4;
    for share in (1..=3).step_by(2) {
        println!("{}", looked_at(&one, limit / 6 * share - part / 3));
    }
}

#[ckpt::instrument(calls(step))]
pub fn operands_with_sites_in_a_loop() {
    let mut sum = Tally::of(&[0, 0]);
    for k in 0..3 {
        let one = Tally::of(&[k, k + 1]);
        let other = Tally::of(&[k * k, 2]);
        sum = sum + step(one) * k + step(other);
        println!("{k} {sum:?}");
    }
    println!("= {sum:?}");
}

#[ckpt::instrument(calls(step))]
fn total(one: Tally, other: Tally) -> Tally {
    step(one) + step(other)
}

#[ckpt::instrument(calls(total))]
pub fn operands_with_sites_as_the_value() {
    let sum = total(Tally::of(&[1, 2]), Tally::of(&[3, 4]));
    println!("= {sum:?}");
}

#[ckpt::instrument(calls(made))]
pub fn added_to_what_is_there() {
    let mut sum = Tally::of(&[1, 2, 3]);
    let mut list = vec![Tally::of(&[1, 1, 1]), Tally::of(&[2, 2, 2])];
    for k in 0..2 {
        sum += made(k);
        list[k as usize] += made(k + 1);
        println!("{sum:?} {list:?}");
    }
    println!("= {sum:?}");
}

#[ckpt::instrument]
pub fn given_again_in_a_loop() {
    let mut sum = Tally::of(&[1, 2]);
    for k in 0..3 {
        let more = Tally::of(&[k, k]);
        let next = sum + more;
        for m in 0..2 {
            ckpt::checkpoint!();
            println!("{m} {next:?}");
        }
        sum = next * 2;
        println!("{sum:?}");
    }
    println!("= {sum:?}");
}

#[ckpt::instrument]
pub fn used_up_on_one_way() {
    for turn in 0..3 {
        let one = Tally::of(&[turn, 2]);
        let other = Tally::of(&[5, turn]);
        let sum = if turn % 2 == 0 {
            one + other
        } else {
            Tally::of(&[turn])
        };
        for k in 0..2 {
            ckpt::checkpoint!();
            println!("{k} {sum:?}");
        }
    }
}

#[ckpt::instrument]
pub fn by_one_operand() {
    let one = Tally::of(&[1, 2, 3]);
    let other = Tally::of(&[4, 5, 6]);
    for k in 0..2 {
        ckpt::checkpoint!();
        println!("{k} {one:?}");
    }
    let turned = -one;
    let is_empty = !other;
    for k in 0..2 {
        ckpt::checkpoint!();
        println!("{k} {turned:?} {is_empty}");
    }
}

#[ckpt::instrument]
pub fn keys_by_value() {
    let key = Tally::of(&[7]);
    for k in 0..2 {
        ckpt::checkpoint!();
        println!("{k} {key:?}");
    }
    let book = Book { pages: vec![3, 4, 5] };
    let mut page = book[key];
    drop(book);
    for k in 0..2 {
        ckpt::checkpoint!();
        page += k;
        println!("{page}");
    }
}

/// The same operators of numbers, which are copied.
#[ckpt::instrument]
pub fn numbers_that_are_not_known_to_be_any() {
    let half = "4".parse::<f64>().unwrap_or_default();
    let count: u64 = "3".parse().unwrap_or_default();
    let count = count + 1;
    let width = half * 2.0;
    for k in 0..count {
        ckpt::checkpoint!();
        println!("{k} {width} {half}");
    }
    let less = width - 1.0;
    let range = count - 2..count;
    for k in range {
        ckpt::checkpoint!();
        println!("{k} {less}");
    }
    println!("= {width}");
}
