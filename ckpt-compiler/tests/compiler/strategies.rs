//! How the variables of the usual initialisers come back at a restart.

use crate::function::Function;
use ckpt_compiler::strategies::Strategy;

const AGAIN: Strategy = Strategy::Reexecuted { exclusive: false };
const AGAIN_EXCLUSIVELY: Strategy = Strategy::Reexecuted { exclusive: true };

/// The class of `x`, declared by the statement and used after a site.
fn class_of(declaration: &str) -> Strategy {
    let source = format!(
        "fn f(&self, deck: &Deck, grid: &mut Vec<f64>, n: usize) {{ {declaration} checkpoint!(); g(&x); }}"
    );
    Function::of(&source).class("x")
}

#[test]
fn values_are_saved() {
    for declaration in [
        "let x = n + 1;",
        "let x = deck.compute();",
        "let x = vec![0.0; n];",
        "let x = grid.clone();",
        "let x = String::new();",
        "let x = Simulation::new(deck);",
        "let x = if n > 3 { 1 } else { 2 };",
        "let x = grid.iter().sum::<f64>();",
        "let x; x = n * 2;",
        "let mut x = 0;",
        "let (x, y) = (n, 2 * n);",
        "let x = std::time::Instant::now();",
        "let x = std::time::SystemTime::now();",
        "let x = std::fs::File::create(\"table\").unwrap();",
        "let x = std::fs::OpenOptions::new().append(true).open(\"table\").unwrap();",
        "let mut x = std::io::BufReader::new(std::fs::File::open(\"deck\").unwrap());",
        "let x = std::io::read_to_string(std::io::stdin()).unwrap();",
    ] {
        assert_eq!(class_of(declaration), Strategy::Saved, "{declaration}");
    }
}

#[test]
fn shared_borrows_closures_and_constants_are_made_again() {
    for declaration in [
        "let x = &deck.cells;",
        "let x = &deck;",
        "let x = deck.cells.as_slice();",
        "let x = deck.name.as_str();",
        "let x = \"text\";",
        "let x = |k: usize| k + n;",
        "let x = move |k: usize| k + n;",
        "let x: &Deck = deck;",
    ] {
        assert_eq!(class_of(declaration), AGAIN, "{declaration}");
    }
}

#[test]
fn what_is_tied_to_the_process_is_made_again() {
    for declaration in [
        "let x = std::env::args();",
        "let x = std::fs::File::open(\"deck\").unwrap();",
        "let x = std::io::stdout();",
    ] {
        assert_eq!(class_of(declaration), AGAIN, "{declaration}");
    }
}

#[test]
fn parameters_come_from_the_caller_unless_passed_by_value() {
    let function = Function::of(
        "fn f(&mut self, deck: &Deck, grid: &mut Vec<f64>, n: usize) { checkpoint!(); g(self, deck, grid, n); }",
    );
    assert_eq!(function.class("self"), Strategy::Exclusive);
    assert_eq!(function.class("deck"), Strategy::Given);
    assert_eq!(function.class("grid"), Strategy::Exclusive);
    assert_eq!(function.class("n"), Strategy::Saved);
    let function = Function::of("fn f(&self) { checkpoint!(); g(self); }");
    assert_eq!(function.class("self"), Strategy::Given);
}

#[test]
fn exclusive_borrows_are_taken_again() {
    let function =
        Function::of("fn f() { let mut grid = g(); let x = &mut grid; h(x); checkpoint!(); h(&mut grid); }");
    assert_eq!(function.class("x"), AGAIN_EXCLUSIVELY);
    let function = Function::of(
        "fn f(grid: &mut Vec<f64>) { let (x, y) = grid.split_at_mut(3); h(x, y); checkpoint!(); h(grid); }",
    );
    assert_eq!(function.class("x"), AGAIN_EXCLUSIVELY);
    assert_eq!(function.class("y"), AGAIN_EXCLUSIVELY);
}

#[test]
fn what_the_user_says_on_a_let_counts() {
    assert_eq!(class_of("#[ckpt(save)] let x = &deck.cells;"), Strategy::Saved);
    assert_eq!(
        class_of("#[ckpt(skip)] let x = deck.compute();"),
        Strategy::Skipped
    );
    assert_eq!(class_of("#[ckpt(reexecute)] let x = deck.compute();"), AGAIN);
    assert_eq!(
        class_of("#[ckpt(reexecute)] let x = &mut deck.cells;"),
        AGAIN_EXCLUSIVELY
    );
}

#[test]
fn a_result_that_only_looks_like_a_borrow_is_a_value() {
    let source =
        "fn f() { let mut grid = g(); let x = grid.first(); grid.push(1); checkpoint!(); h(&grid, &x); }";
    assert_eq!(Function::of(source).class("x"), Strategy::Saved);
}

#[test]
fn the_iterator_of_a_range_is_saved_and_that_of_a_slice_is_made_again() {
    let function = Function::of("fn f(n: u32) { for i in 0..n { checkpoint!(); g(i); } }");
    assert_eq!(function.class("__ckpt_iterator1"), Strategy::Saved);
    let function = Function::of("fn f(list: &[u32]) { for i in list.iter() { checkpoint!(); g(i); } }");
    assert_eq!(function.class("__ckpt_iterator1"), AGAIN);
}

#[test]
fn the_result_of_a_statement_with_a_site_is_saved() {
    let source = "fn f() { let x = loop { checkpoint!(); if g() { break 3; } }; checkpoint!(); h(x); }";
    assert_eq!(Function::of(source).class("x"), Strategy::Saved);
}

#[test]
fn conditions_that_ckpt_adds_are_given_by_it() {
    let function = Function::of("fn f(n: u32) { if n > 3 { checkpoint!(); } }");
    assert_eq!(function.class("__ckpt_condition1"), Strategy::Synthetic);
}

#[test]
fn variables_inside_a_statement_without_a_site_do_not_matter() {
    let function = Function::of("fn f() { for i in 0..3 { let inner = i; g(inner); } checkpoint!(); }");
    assert_eq!(function.class("i"), Strategy::Transient);
    assert_eq!(function.class("inner"), Strategy::Transient);
}

#[test]
fn the_plan_does_not_say_that_a_site_needs_what_only_other_branches_use() {
    use ckpt_compiler::explain::explain;
    let item = "fn f(long: bool) { let text = header(); if long { for i in 0..9 { checkpoint!(); step(i); } } else { show(&text); } }";
    let sites = explain(Default::default(), &item.parse().expect("tokens"), false);
    let variables = sites.expect("a plan").remove(0).variables;
    let why = |name: &str| variables.iter().find(|one| one.name == name).expect(name).why;
    assert!(why("i").starts_with("its value is needed after the site"));
    assert!(why("text").starts_with("not after the site"), "{}", why("text"));
}

#[test]
fn what_the_user_says_is_made_again() {
    use ckpt_compiler::explain::explain;
    let saved = |arguments: &str| -> Vec<String> {
        let item = "fn f(path: &str) { let mesh = read_mesh(path); let rule = Rule::of(path); for i in 0..9 { checkpoint!(); step(&mesh, &rule, i); } }";
        let sites = explain(
            arguments.parse().expect("tokens"),
            &item.parse().expect("tokens"),
            false,
        );
        let variables = sites.expect("a plan").remove(0).variables;
        variables
            .into_iter()
            .filter(|one| one.fate.is_saved())
            .map(|one| one.name)
            .collect()
    };
    assert_eq!(saved(""), ["mesh", "rule", "i"]);
    assert_eq!(saved("means(reexecute(read_mesh))"), ["rule", "i"]);
    assert_eq!(saved("means(reexecute(read_mesh, Rule::of))"), ["i"]);
}

#[test]
fn what_is_made_again_may_have_been_changed() {
    use ckpt_compiler::Fate;
    use ckpt_compiler::explain::explain;
    let of = |arguments: &str, made: &str| {
        let item = format!(
            "fn f() {{ let mut it = {made}; for i in 0..9 {{ checkpoint!(); step(i); it.change(); }} }}"
        );
        let sites = explain(
            arguments.parse().expect("tokens"),
            &item.parse().expect("tokens"),
            false,
        );
        sites.expect("a plan").remove(0).variables.remove(0)
    };
    for made in ["rand::thread_rng()", "thread_rng()"] {
        let it = of("", made);
        assert_eq!(it.fate, Fate::Reexecuted, "{made}");
        assert!(it.why.contains("one of many"), "{}", it.why);
    }
    assert_eq!(of("", "Pool::new(4)").fate, Fate::Saved);
    for made in [
        "Pool::new(4)",
        "Pool::new(4).unwrap()",
        "(Pool::new(4)?)",
        "unsafe { Pool::new(4)? }",
        "unsafe { Pool::new(4) }.unwrap()",
    ] {
        let it = of("means(reexecute(Pool::new))", made);
        assert_eq!(it.fate, Fate::Reexecuted, "{made}");
        assert!(!it.why.contains("one of many"), "{}", it.why);
    }
    // What has been drawn is not what it was drawn from.
    for made in [
        "rand::thread_rng().random::<u64>()",
        "Walk { rng: thread_rng(), at: 0 }",
    ] {
        assert_eq!(of("", made).fate, Fate::Saved, "{made}");
    }
}

/// The class of `x`, declared by the statement, and moved on behind a site.
fn class_of_moving(declaration: &str) -> Strategy {
    let source = format!(
        "fn f(text: &str, deck: &Deck) {{ {declaration} loop {{ checkpoint!(); g(&x); x = next(x); }} }}"
    );
    Function::of(&source).class("x")
}

#[test]
fn parts_that_move_are_saved() {
    for declaration in [
        "let mut x: &str = text;",
        "let mut x: &[u8] = text.as_bytes();",
        "let mut x: &[f64] = &deck.cells;",
        "let mut x = &deck.cells[1..];",
    ] {
        assert_eq!(class_of_moving(declaration), Strategy::Saved, "{declaration}");
    }
}
