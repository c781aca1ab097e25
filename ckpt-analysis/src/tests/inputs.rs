//! What would be another value if it were made a second time.

use super::{analysed, program};
use crate::decisions::changed_inputs::inputs_change;
use crate::{ChooseOptions, FileId, place};

/// Whether what `made` is made from changes, in a program that goes on with `rest` in its loop.
fn change(before: &str, made: &str, after: &str, rest: &str) -> bool {
    changes(false, [before, made, after, rest])
}

/// The same; and whether it owns all that it has.
fn changes(owns: bool, [before, made, after, rest]: [&str; 4]) -> bool {
    let text = format!(
        "fn work(mut x: u64) -> u64 {{ for _ in 0..40_000 {{ x ^= x << 13; }} x }}
         struct Settings {{ weight: u64, steps: u64 }}
         fn of(one: &Settings) -> Box<dyn Fn(u64) -> u64> {{ let n = one.weight; Box::new(move |x| x + n) }}
         fn of_weight(n: &u64) -> Box<dyn Fn(u64) -> u64> {{ let n = *n; Box::new(move |x| x + n) }}
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
    // What may borrow changes in no more cases than what owns all that it has.
    assert!(
        input_changes(&text, "let made", true) || !input_changes(&text, "let made", false),
        "{text}"
    );
    input_changes(&text, "let made", owns)
}

/// Whether what the `let` is made from changes that begins so in this program; and whether it owns all that it has.
fn input_changes(text: &str, made: &str, owns: bool) -> bool {
    input_changes_with(text, (made, owns), &[])
}

/// The same with attributes of other variables, of which the text says where their `let`s begin.
fn input_changes_with(text: &str, (made, owns): (&str, bool), words: &[(&str, &str)]) -> bool {
    let files = [("main.rs", text)];
    let (program, analysis) = (program(&files), analysed(&files));
    let main = analysis.items.main_of(0).unwrap();
    let placement = place(&analysis, main, &ChooseOptions::default());
    assert!(!placement.sites.is_empty(), "{text}");
    let at = (FileId(0), text.find(made).unwrap());
    let marks = words
        .iter()
        .map(|(made, word)| ((FileId(0), text.find(made).unwrap()), (*word).to_owned()));
    let marks = marks.collect();
    inputs_change(&program, &analysis, (&placement, &marks), (at, owns), &|_, _| {
        false
    })
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

/// Whether what `f` is made from changes in the call that has the loop with the site, which `call` makes.
fn changes_in_call(call: &str) -> bool {
    let text = format!(
        "struct P {{ k: u64 }}
         fn adder(n: u64) -> impl Fn(u64) -> u64 {{ move |x| x + n }}
         fn work(mut x: u64) -> u64 {{ for _ in 0..40_000 {{ x ^= x << 13; }} x }}
         fn run(f: &dyn Fn(u64) -> u64, p: &mut P) -> u64 {{
             let mut s = 1;
             for i in 0..60 {{ s = f(work(s + i)); p.k += s; }}
             s
         }}
         fn turned(p: &mut P, f: &dyn Fn(u64) -> u64) -> u64 {{ run(f, p) }}
         fn given(f: impl Fn(u64) -> u64, mut p: P) -> P {{ run(&f, &mut p); p }}
         fn main() {{
             let mut p = P {{ k: 3 }};
             let mut q = P {{ k: 4 }};
             let f = adder(p.k);
             {call}
             println!(\"{{}} {{}}\", p.k, q.k);
         }}"
    );
    input_changes(&text, "let f =", true)
}

#[test]
fn what_a_call_is_lent_is_in_use_until_it_returns() {
    for call in [
        "run(&f, &mut p);",
        "turned(&mut p, &f);",
        "let s = run(&f, &mut p); println!(\"{s}\");",
        "p = given(f, p);",
    ] {
        assert!(changes_in_call(call), "{call}");
    }
    assert!(!changes_in_call("run(&f, &mut q); p.k += 1;"));
    let boxed = "let of = |k: &u64| { let k = *k; Box::new(move |x| x + k) as Box<dyn Fn(u64) -> u64> };";
    let listed = change(
        &format!("{boxed} let mut p = vec![3, 5];"),
        "p.iter().map(of).collect::<Vec<_>>()",
        "let run = |list: &[Box<dyn Fn(u64) -> u64>], p: &mut Vec<u64>| { p[0] += list[0](1); }; run(&made, &mut p);",
        "s += p[0];",
    );
    assert!(listed, "what a list owns that was made from another");
}

#[test]
fn what_only_made_another_is_in_use_while_that_is_made_again() {
    let text = |rest: &str| {
        format!(
            "fn adder(n: &u64) -> impl Fn(u64) -> u64 {{ let n = *n; move |x| x + n }}
             fn twice(f: &impl Fn(u64) -> u64) -> Box<dyn Fn(u64) -> u64> {{ let n = f(0); Box::new(move |x| x + 2 * n) }}
             fn work(mut x: u64) -> u64 {{ for _ in 0..40_000 {{ x ^= x << 13; }} x }}
             fn main() {{
                 let mut n = 5;
                 let once = adder(&n);
                 let both = twice(&once);
                 let mut s = 1;
                 for i in 0..60 {{ s = both(work(s + i)); {rest} }}
                 println!(\"{{s}} {{n}}\");
             }}"
        )
    };
    for word in ["reexecute", "refill"] {
        let changes = |rest, made| {
            let both = [("let once", "reexecute"), ("let both", word)];
            input_changes_with(&text(rest), (made, true), &both)
        };
        for made in ["let once", "let both"] {
            assert!(changes("n += s;", made), "{word} {made}");
            assert!(!changes("", made), "{word} {made}");
        }
    }
    let alone = input_changes_with(&text("n += s;"), ("let once", true), &[]);
    assert!(!alone, "what is saved is not made from it again");
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

#[test]
fn what_is_lent_counts_for_what_owns_all_that_it_has() {
    let before = "let mut one = Settings { weight: 3, steps: 0 };";
    let of_weight = "of_weight(&one.weight)";
    for (before, made, after, rest) in [
        (before, "of(&one)", "", "s = made(s); one.weight += 1;"),
        (before, "of(&one)", "one.weight = 7;", "s = made(s);"),
        (before, of_weight, "", "s = made(s); one.weight += 1;"),
        (
            before,
            "{ let of_it = &one; of(of_it) }",
            "",
            "s = made(s); one.weight += 1;",
        ),
    ] {
        assert!(
            changes(true, [before, made, after, rest]),
            "{before} {made} {after} {rest}"
        );
        assert!(
            !changes(false, [before, made, after, rest]),
            "{before} {made} {after} {rest}"
        );
    }
    let through = "let mut one = Settings { weight: 3, steps: 0 }; let of_it = &one;";
    assert!(changes(
        true,
        [through, "of(of_it)", "", "s = made(s); one.weight += 1;"]
    ));
    let closure = "let mut one = Settings { weight: 3, steps: 0 }; let make = || of(&one);";
    assert!(changes(
        true,
        [closure, "make()", "", "s = made(s); one.weight += 1;"]
    ));
    for rest in ["s = made(s); one.steps += 1;", "s = made(s + one.weight);"] {
        assert!(!changes(true, [before, of_weight, "", rest]), "{rest}");
    }
}

#[test]
fn what_is_lent_of_self_counts() {
    let change = |made: &str, rest: &str| {
        let text = format!(
            "struct Sim {{ weight: Params, steps: u64 }}
             struct Params {{ scale: u64 }}
             fn work(mut x: u64) -> u64 {{ for _ in 0..40_000 {{ x ^= x << 13; }} x }}
             fn of(one: &Params) -> Box<dyn Fn(u64) -> u64> {{ let n = one.scale; Box::new(move |x| x + n) }}
             impl Sim {{ fn run(&mut self, n: u64) -> u64 {{
                 let made = {made};
                 let mut s = 1;
                 while self.steps < n {{ s = work(made(s)); self.steps += 1; {rest} }}
                 s }} }}
             fn main() {{ let mut sim = Sim {{ weight: Params {{ scale: 1 }}, steps: 0 }}; println!(\"{{}}\", sim.run(60)); }}"
        );
        input_changes(&text, "let made", true)
    };
    assert!(change("of(&self.weight)", "self.weight.scale *= 3;"));
    assert!(!change("of(&self.weight)", ""));
}
