//! What would be another value if it were made a second time.

use super::{analysed, program};
use crate::decisions::changed_inputs::inputs_change;
use crate::{ChooseOptions, FileId, place};

/// Whether what `made` is made from changes, in a program that goes on with `rest` in its loop.
fn change(before: &str, made: &str, after: &str, rest: &str) -> bool {
    let text = format!(
        "fn work(mut x: u64) -> u64 {{ for _ in 0..40_000 {{ x ^= x << 13; }} x }}
         fn adder(n: u64) -> impl Fn(u64) -> u64 {{ move |x| x + n }}
         fn main() {{
             let data = [1u64, 2, 3, 4, 5, 6, 7, 8];
             {before}
             let made = {made};
             {after}
             let mut s = 1;
             for i in 0..60 {{ s = work(s + i); {rest} }}
             println!(\"{{s}}\");
         }}"
    );
    let files = [("main.rs", text.as_str())];
    let (program, analysis) = (program(&files), analysed(&files));
    let main = analysis.items.main_of(0).unwrap();
    let placement = place(&analysis, main, &ChooseOptions::default());
    assert!(!placement.sites.is_empty(), "{text}");
    let at = (FileId(0), text.find("let made").unwrap());
    inputs_change(&program, &analysis, &placement, at, &[])
}

#[test]
fn what_changes_in_the_initialiser_or_while_it_is_in_use_is_seen() {
    for (before, made, after, rest) in [
        ("let mut n = 5;", "adder(n)", "n += 7;", "s = made(s);"),
        ("let mut n = 5;", "adder(n)", "", "n += 1; s = made(s);"),
        (
            "let mut n = 5;",
            "adder(n)",
            "let mut up = || n += 1; up();",
            "s = made(s);",
        ),
        (
            "let mut n = 3;",
            "if n > 2 { n *= 2; &data[..n] } else { &data[..] }",
            "",
            "s += made[1];",
        ),
        (
            "let mut n = 0;",
            "data.iter().filter(|x| { n += 1; **x > 3 }).collect::<Vec<_>>()",
            "",
            "s += made[0];",
        ),
        (
            "let mut left = vec![1, 2];",
            "adder(left.pop().unwrap())",
            "",
            "s = made(s);",
        ),
    ] {
        assert!(
            change(before, made, after, rest),
            "{before} {made} {after} {rest}"
        );
    }
}

#[test]
fn what_stays_as_it_is_may_be_made_again() {
    for (before, made, after, rest) in [
        ("let n = 5;", "adder(n)", "", "s = made(s);"),
        ("let mut n = 5; n += 7;", "adder(n)", "", "s = made(s);"),
        ("let mut n = 5;", "adder(n)", "s_of(made(1));", "n += 1;"),
        (
            "let mut own = data.to_vec(); own.push(9);",
            "own.iter().filter(|x| **x > 3).collect::<Vec<_>>()",
            "",
            "s += made[0];",
        ),
    ] {
        assert!(
            !change(before, made, after, rest),
            "{before} {made} {after} {rest}"
        );
    }
}
