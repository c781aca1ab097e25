//! Signatures that have to say that what is lent can be saved.

use super::{placed, program};
use crate::decisions::mutable_loans::{lent_edits, lent_objects};
use crate::{Edited, FileId};
use std::collections::BTreeSet;

/// The first line of `step` after the edits, where `main` calls it in a long loop.
fn signature(line: &str, more: &str) -> String {
    let text = format!(
        "{line} {{ for i in 0..100000 {{ for k in 0..1000 {{ work(i, k); }} }} }}
         fn work(_: usize, _: usize) {{}}
         fn main() {{ let mut a = open(); step(&mut a); }}
         {more}"
    );
    let files = [("main.rs", text.as_str())];
    let (analysis, placement) = placed(&files);
    let edited = Edited::new(
        &text,
        &lent_edits(&program(&files), &analysis, &placement, &BTreeSet::new()),
    )
    .text;
    edited.split(" { for").next().unwrap().to_owned()
}

#[test]
fn what_is_lent_without_a_name_gets_the_bound() {
    let cases = [
        (
            "fn step(out: &mut dyn Write)",
            "fn step(out: &mut (impl Write + ckpt::Checkpoint))",
        ),
        (
            "fn step(out: &mut (dyn Write + Send))",
            "fn step(out: &mut (impl Write + Send + ckpt::Checkpoint))",
        ),
        (
            "fn step(r: &mut impl Rng)",
            "fn step(r: &mut (impl Rng + ckpt::Checkpoint))",
        ),
        (
            "fn step<W: Write>(out: &mut W)",
            "fn step<W: Write + ckpt::Checkpoint>(out: &mut W)",
        ),
        (
            "fn step<W>(out: &mut W) where W: Write",
            "fn step<W: ckpt::Checkpoint>(out: &mut W) where W: Write",
        ),
    ];
    for (line, expected) in cases {
        assert_eq!(signature(line, ""), expected);
    }
}

#[test]
fn what_has_a_name_or_is_made_again_stays_as_it_is() {
    for line in [
        "fn step(out: &mut Vec<f64>)",
        "fn step(f: &mut dyn FnMut(f64))",
        "fn step<F: FnMut(f64)>(f: &mut F)",
        "fn step<F>(f: &mut F) where F: FnMut(f64)",
        "fn step<W: Write + ckpt::Checkpoint>(out: &mut W)",
        "fn step(out: &dyn Write)",
    ] {
        assert_eq!(signature(line, ""), line);
    }
    let own = "fn step(solver: &mut dyn Solver)";
    assert_eq!(signature(own, "trait Solver {}"), own);
    assert_eq!(
        signature("fn step(solver: &mut impl Solver)", "trait Solver {}"),
        "fn step(solver: &mut (impl Solver + ckpt::Checkpoint))"
    );
}

#[test]
fn a_function_that_others_call_too_or_by_pointer_stays_as_it_is() {
    let line = "fn step(out: &mut dyn Write)";
    let unmarked = "fn other(out: &mut dyn Write) { step(out); }";
    assert_eq!(signature(line, unmarked), line);
    let pointer = "const STEP: fn(&mut dyn Write) = step; fn other() { let f: fn(&mut dyn Write) = step; f(&mut open()); }";
    assert_eq!(signature(line, pointer), line);
}

#[test]
fn what_hangs_on_parameters_is_asked_of_them() {
    let own = "trait Own {}";
    let line = "fn step<S: Own>(solver: &mut S)";
    assert_eq!(
        signature(line, own),
        "fn step<S: Own + ckpt::Checkpoint>(solver: &mut S)"
    );
    let line = "fn step(solver: &mut dyn Own)";
    assert_eq!(signature(line, own), line);
    let cases = [
        (
            "fn step<T: Copy>(grid: &mut Grid<T>)",
            "fn step<T: Copy>(grid: &mut Grid<T>) where T: ckpt::Checkpoint",
        ),
        (
            "fn step<T, U>(list: &mut [(T, u8)], other: &mut U) -> T where U: Copy,",
            "fn step<T, U: ckpt::Checkpoint>(list: &mut [(T, u8)], other: &mut U) -> T where U: Copy, T: ckpt::Checkpoint,",
        ),
        (
            "fn step<F: Fn(u8)>(rule: &mut Rule<F>)",
            "fn step<F: Fn(u8)>(rule: &mut Rule<F>)",
        ),
    ];
    for (line, expected) in cases {
        assert_eq!(signature(line, ""), expected);
    }
}

#[test]
fn a_method_of_a_generic_type_asks_for_the_whole() {
    let text = "struct Sim<S, M> { s: S, m: M }
         trait Runs { fn run(&mut self); }
         impl<S: Copy, M> Sim<S, M> {
             fn evolve(&mut self) { for i in 0..100000 { for k in 0..1000 { work(i, k); } } }
         }
         impl<S, M: Copy> Runs for Sim<S, M> {
             fn run(&mut self) { for i in 0..100000 { for k in 0..1000 { work(i, k); } } }
         }
         fn work(_: usize, _: usize) {}
         fn main() { let mut sim = Sim { s: 1, m: 2 }; sim.evolve(); sim.run(); }";
    let files = [("main.rs", text)];
    let (analysis, placement) = placed(&files);
    let edited = Edited::new(
        text,
        &lent_edits(&program(&files), &analysis, &placement, &BTreeSet::new()),
    )
    .text;
    assert!(
        edited.contains("fn evolve(&mut self) where Self: ckpt::Checkpoint { for"),
        "{edited}"
    );
    assert!(
        edited.contains("impl<S: ckpt::Checkpoint, M: Copy + ckpt::Checkpoint> Runs for"),
        "{edited}"
    );
}

#[test]
fn a_type_that_is_filled_is_not_asked_for_as_a_whole() {
    let text = "struct Sim<'a, S> { s: S, rule: &'a dyn Fn() }
         impl<'a, S: Copy> Sim<'a, S> {
             fn evolve(&mut self) { for i in 0..100000 { for k in 0..1000 { work(i, k); } } }
         }
         fn work(_: usize, _: usize) {}
         fn main() { let mut sim = Sim { s: 1, rule: &|| () }; sim.evolve(); }";
    let files = [("main.rs", text)];
    let (analysis, placement) = placed(&files);
    let edits = |filled: &BTreeSet<_>| lent_edits(&program(&files), &analysis, &placement, filled).len();
    assert_eq!(edits(&BTreeSet::new()), 1);
    assert_eq!(edits(&BTreeSet::from([(FileId(0), 0)])), 0);
}

#[test]
fn objects_of_own_traits_are_named() {
    let text = "trait Solver { fn advance(&mut self); }
        fn step(solver: &mut dyn Solver, out: &mut dyn Write) { for _ in 0..100000 { for _ in 0..1000 { solver.advance(); } } }
        fn main() { let mut a = Explicit; step(&mut a, &mut open()); }";
    let (analysis, placement) = placed(&[("main.rs", text)]);
    assert_eq!(
        lent_objects(&analysis, &placement),
        ["dyn Solver".to_owned()].into()
    );
}
