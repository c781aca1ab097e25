//! Variables of a type that ckpt does not know and serde does.

use serde::{Deserialize, Serialize};
use std::collections::HashMap;

#[derive(Debug, Clone, Serialize, Deserialize)]
enum Shape {
    Ball { radius: f64 },
    Box(f64, f64),
    Nothing,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Deck {
    name: String,
    shapes: Vec<Shape>,
    weights: HashMap<u8, f64>,
}

fn new_deck() -> Deck {
    Deck {
        name: "two".into(),
        shapes: vec![Shape::Ball { radius: 1.0 / 3.0 }, Shape::Box(f64::INFINITY, -0.0)],
        weights: [(3, 0.1), (1, f64::MIN_POSITIVE)].into(),
    }
}

#[ckpt::instrument]
pub fn a_variable() {
    #[ckpt(serde)]
    let mut deck = new_deck();
    for k in 0..4 {
        ckpt::checkpoint!();
        deck.shapes.push(Shape::Nothing);
        *deck.weights.entry(1).or_default() += f64::from(k);
        println!(
            "{} {:?} {:?} {:?}",
            deck.name, deck.shapes, deck.weights[&1], deck.weights[&3]
        );
    }
}

#[ckpt::instrument]
pub fn some_of_a_pattern() {
    #[ckpt(serde)]
    let (first, mut second) = (new_deck(), Shape::Nothing);
    let mut sum = 0;
    for k in 0..3 {
        ckpt::checkpoint!();
        sum += first.shapes.len();
        second = match second {
            Shape::Ball { radius } => Shape::Box(radius, f64::from(k)),
            _ => Shape::Ball { radius: 0.5 },
        };
        println!("{sum} {second:?}");
    }
}

#[ckpt::instrument(calls(grow, consume))]
pub fn parameters() {
    #[ckpt(serde)]
    let mut deck = new_deck();
    for k in 0..2 {
        grow(&mut deck, k);
        println!("{:?}", deck.shapes);
    }
    #[ckpt(serde)]
    let last = deck.shapes.pop();
    consume(deck);
    println!("{last:?}");
}

#[ckpt::instrument]
fn grow(#[ckpt(serde)] deck: &mut Deck, by: u64) {
    for k in 0..2 {
        ckpt::checkpoint!();
        deck.shapes.push(Shape::Box(by as f64, k as f64));
        println!("{}", deck.shapes.len());
    }
}

#[ckpt::instrument]
fn consume(#[ckpt(serde)] deck: Deck) {
    for k in 0..2 {
        ckpt::checkpoint!();
        println!("{k} {}", deck.name);
    }
    println!("{:?}", deck.shapes);
}

#[ckpt::instrument(calls(used_up, passed_on))]
pub fn arguments_used_up_before_the_site() {
    #[ckpt(serde)]
    let deck = new_deck();
    println!("{}", used_up(deck));
    #[ckpt(serde)]
    let deck = new_deck();
    println!("{}", passed_on(deck));
}

#[ckpt::instrument]
fn used_up(#[ckpt(serde)] deck: Deck) -> usize {
    let count = deck.shapes.len();
    println!("{}", deck.name);
    drop(deck);
    for k in 0..3 {
        ckpt::checkpoint!();
        println!("{k} {count}");
    }
    count
}

#[ckpt::instrument(calls(used_up))]
fn passed_on(#[ckpt(serde)] deck: Deck) -> usize {
    used_up(deck) + 1
}
