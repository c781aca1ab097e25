//! Names resolved to variables, and what happens to them.

use crate::function::Function;
use ckpt_compiler::cfg::{Declaration, Passing, Use};

#[test]
fn a_shadowed_name_is_two_variables() {
    let function = Function::of("fn f() { let x = 1; let x = vec![x]; checkpoint!(); g(x); }");
    assert_ne!(function.binding("x"), function.binding("x#2"));
    assert_eq!(function.uses("x"), [Use::Write, Use::Move]);
    assert_eq!(function.uses("x#2"), [Use::Write, Use::Move]);
    assert_eq!(function.scope(1), ["x", "x#2"]);
    assert!(!function.flow.nameable(1, function.binding("x")));
    assert!(function.flow.nameable(1, function.binding("x#2")));
}

#[test]
fn a_name_of_an_inner_block_is_gone_after_it() {
    let function =
        Function::of("fn f() { let x = a(); { let x = b(); checkpoint!(); g(&x); } checkpoint!(); g(&x); }");
    assert_eq!(function.scope(1), ["x", "x#2"]);
    assert_eq!(function.scope(2), ["x"]);
    assert_eq!(function.uses("x"), [Use::Write, Use::Read]);
    assert_eq!(function.uses("x#2"), [Use::Write, Use::Read]);
}

#[test]
fn the_initialiser_of_a_name_sees_the_older_one() {
    let function = Function::of("fn f(n: Vec<u8>) { let n = n.len(); checkpoint!(); g(n); }");
    assert_eq!(function.uses("n"), [Use::Write, Use::Read]);
    let inputs: Vec<_> = function.flow.bindings[function.binding("n#2")]
        .inputs
        .iter()
        .map(|(input, _)| *input)
        .collect();
    assert_eq!(inputs, [function.binding("n")]);
}

#[test]
fn a_pattern_of_an_arm_shadows_in_that_arm_only() {
    let source = "fn f(x: u32) { match g(x) { Some(x) => { checkpoint!(); h(&x); } None => { checkpoint!(); h(&x); } } }";
    let function = Function::of(source);
    let nameable = |site| {
        let mut same = function
            .scope(site)
            .into_iter()
            .filter(|name| name.starts_with('x'));
        same.rfind(|name| function.flow.nameable(site, function.binding(name)))
    };
    assert_ne!(nameable(1).as_deref(), Some("x"));
    assert_eq!(nameable(2).as_deref(), Some("x"));
}

#[test]
fn passing_by_value_moves_and_borrowing_does_not() {
    let function = Function::of(
        "fn f() { let a = g(); let b = g(); let mut c = g(); h(a, &b, &mut c); checkpoint!(); }",
    );
    assert_eq!(function.uses("a"), [Use::Write, Use::Move]);
    assert_eq!(function.uses("b"), [Use::Write, Use::Read]);
    assert_eq!(function.uses("c"), [Use::Write, Use::Lend]);
}

#[test]
fn a_field_or_a_method_changes_a_part() {
    let function = Function::of(
        "fn f() { let mut a = g(); let mut b = g(); a.x = 1; b.push(2); h(a.y); checkpoint!(); }",
    );
    assert_eq!(function.uses("a"), [Use::Write, Use::Change, Use::MovePart]);
    assert_eq!(function.uses("b"), [Use::Write, Use::Change]);
}

#[test]
fn an_assignment_writes_the_whole() {
    let function = Function::of("fn f() { let mut a = g(); a = h(); checkpoint!(); i(&a); }");
    assert_eq!(function.uses("a"), [Use::Write, Use::Write, Use::Read]);
}

#[test]
fn names_in_format_strings_are_read() {
    let source = r#"fn f() { let a = g(); let b = g(); let width = 3; checkpoint!(); println!("{a:?} {:>width$}", b); }"#;
    let function = Function::of(source);
    assert_eq!(function.uses("a"), [Use::Write, Use::Read]);
    assert_eq!(function.uses("b"), [Use::Write, Use::Read]);
    assert_eq!(function.uses("width"), [Use::Write, Use::Read]);
}

#[test]
fn a_closure_uses_what_it_captures_where_it_is_made() {
    let function = Function::of("fn f() { let a = g(); let b = |x: u32| h(&a, x); checkpoint!(); b(1); }");
    let captures = function
        .flow
        .events()
        .find(|event| event.binding == function.binding("a") && event.in_closure);
    let captures = captures.expect("the closure uses `a`");
    assert_eq!((captures.kind, captures.step), (Use::Read, 1));
    let inputs = &function.flow.bindings[function.binding("b")].inputs;
    assert!(inputs.contains(&(function.binding("a"), Use::Read)), "{inputs:?}");
}

#[test]
fn parameters_know_how_they_are_passed() {
    let function = Function::of(
        "fn f(&mut self, a: Vec<u8>, b: &Deck, c: &mut Grid, (d, e): (u8, u8), g: impl Fn(), h: &[&str]) { checkpoint!(); }",
    );
    let passing = |name: &str| match function.flow.bindings[function.binding(name)].declaration {
        Declaration::Parameter {
            index,
            passing,
            whole,
        } => (index, passing, whole),
        ref other => panic!("`{name}` is {other:?}"),
    };
    assert_eq!(passing("self"), (0, Passing::Exclusive, true));
    assert_eq!(passing("a"), (1, Passing::Value, true));
    assert_eq!(passing("b"), (2, Passing::Shared, true));
    assert_eq!(passing("c"), (3, Passing::Exclusive, true));
    assert_eq!(passing("e"), (4, Passing::Value, false));
    assert_eq!(passing("g"), (5, Passing::Given, true));
    assert_eq!(
        passing("h"),
        (6, Passing::Given, true),
        "its lifetimes are not to be `'static`"
    );
}

#[test]
fn variables_that_trade_places_are_known() {
    let function = Function::of(
        "fn f() { let mut a = g(); let mut b = g(); loop { checkpoint!(); std::mem::swap(&mut a, &mut b); } }",
    );
    assert_eq!(
        function.flow.swaps,
        [(function.binding("a"), function.binding("b"))]
    );
}

#[test]
fn nothing_goes_on_behind_what_does_not_end() {
    let function =
        Function::of("fn f() { let a; loop { checkpoint!(); a = g(); break; } h(a); checkpoint!(); }");
    assert_eq!(function.live(1), [""; 0]);
    let function = Function::of(
        "fn f() { let a; if c { a = g(); } else { std::process::exit(1); } checkpoint!(); h(a); panic!(); checkpoint!(); }",
    );
    assert_eq!(function.live(1), ["a"]);
}
