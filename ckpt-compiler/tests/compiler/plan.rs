//! What every site registers, and how variables get out of the statements that a restart skips.

use crate::function::Function;
use ckpt_compiler::plan::Mode;

#[test]
fn a_site_saves_what_is_live() {
    let function = Function::of("fn f() { let a = g(); let b = h(&a); checkpoint!(); i(&b); }");
    assert_eq!(function.entries(1), ["b: saved"]);
    assert_eq!(function.mode("b"), Some(Mode::Deferred));
}

#[test]
fn what_a_live_reference_borrows_from_is_saved_too() {
    let function = Function::of("fn f() { let a = g(); let b = &a; checkpoint!(); i(b); }");
    assert_eq!(function.entries(1), ["a: saved"]);
    assert_eq!(function.plan.schedule.runs.reexecuted.len(), 1);
}

#[test]
fn an_exclusively_borrowed_argument_lives_in_the_callee() {
    let function = Function::calling(
        "step",
        "fn f() { let mut a = g(); let b = g(); step(&b, &mut a); h(&a, &b); }",
    );
    assert_eq!(function.entries(1), ["a: in argument 1", "b: saved"]);
}

#[test]
fn the_receiver_of_a_method_is_argument_0() {
    let function = Function::calling(
        "step",
        "fn f() { let mut a = g(); let mut b = g(); a.step(&mut b); h(&a, &b); }",
    );
    assert_eq!(function.entries(1), ["a: in argument 0", "b: in argument 1"]);
}

#[test]
fn an_argument_passed_by_value_is_wanted_from_the_callee() {
    let function = Function::calling("step", "fn f() { let a = g(); step(a); }");
    assert_eq!(function.entries(1), ["a: moved into argument 0"]);
}

#[test]
fn a_field_that_is_lent_is_carved_out() {
    let function = Function::calling(
        "step",
        "fn f() { let mut a = g(); step(&mut a.x, &mut a.y); h(&a); }",
    );
    assert_eq!(function.entries(1), ["a: split, required"]);
    assert_eq!(function.plan.loans.splittings[&1].len(), 1);
}

#[test]
fn parameters_are_offered_and_saved_where_needed() {
    let function = Function::of("fn f(&mut self, deck: &Deck, n: usize) { checkpoint!(); self.g(deck, n); }");
    assert_eq!(
        function.entries(1),
        [
            "self: parameter 0",
            "deck: parameter 1",
            "n: parameter 2, required"
        ]
    );
}

#[test]
fn an_exclusive_parameter_that_is_lent_on_is_linked() {
    let function = Function::calling("step", "fn f(grid: &mut Grid) { step(1, grid); grid.g(); }");
    assert_eq!(function.entries(1), ["grid: parameter 0, in argument 1"]);
}

#[test]
fn what_is_made_for_a_field_is_called_by_it() {
    let function = Function::calling(
        "step",
        "fn f() -> World { World { bodies: make(), energy: step(1), last: 0 } }",
    );
    let keys: Vec<&str> = function.plan.keys.values().map(String::as_str).collect();
    assert!(keys.contains(&"ckpt.field1_bodies"), "{keys:?}");
}

#[test]
fn a_second_variable_of_a_name_has_a_key_of_its_own() {
    let function = Function::of(
        "fn f() { let x = g(); let y = h(&x); { let x = g(); checkpoint!(); h(&x); } i(&x, y); }",
    );
    assert_eq!(function.entries(1), ["x: saved", "y: saved", "x#2: saved"]);
    assert_eq!(
        (function.key("x"), function.key("x#2"), function.key("y")),
        ("x", "x#2", "y")
    );
}

#[test]
fn a_shadowed_variable_that_a_site_needs_gets_an_alias() {
    let function = Function::of(
        "fn f() { let x = g(); let y = h(&x); { let x = g(); checkpoint!(); h(&x); } i(&x, y); }",
    );
    let aliases: Vec<String> = function
        .plan
        .schedule
        .aliases
        .values()
        .flatten()
        .map(|alias| function.name(alias.binding))
        .collect();
    assert_eq!(aliases, ["x"]);
}

#[test]
fn a_name_used_twice_in_one_run_is_moved_out_of_it() {
    let function = Function::of("fn f() { let x = 1; let x = g(x); checkpoint!(); h(&x); }");
    assert_eq!(function.mode("x#2"), Some(Mode::MovedOut));
    assert_eq!(function.entries(1), ["x#2: saved"]);
}

#[test]
fn a_value_that_is_dead_at_one_site_and_moved_at_another_is_carried() {
    let function = Function::of(
        "fn f(n: u32) { let a = g(); if n > 3 { h(a); checkpoint!(); return; } checkpoint!(); i(a); }",
    );
    assert_eq!(function.entries(1), ["n: parameter 0"]);
    assert_eq!(function.mode("a"), Some(Mode::InSlot));
}

#[test]
fn a_loop_takes_what_travels_once_where_all_its_sites_save_it() {
    let source = "fn f() { let mut a = g(); loop { checkpoint!(); if h(&a) { break; } } i(a); checkpoint!(); a = g(); loop { i(a); checkpoint!(); a = g(); } }";
    let function = Function::of(source);
    let a = function.binding("a");
    let stops = |step| function.plan.option_slots.stop(step);
    assert_eq!(function.mode("a"), Some(Mode::InSlot));
    let (first, second) = (stops(1), stops(7));
    assert_eq!(
        (first.take, first.put),
        (vec![a], vec![a]),
        "{:?}",
        function.plan.option_slots
    );
    assert!(
        second.take.is_empty() && second.put.is_empty(),
        "{:?}",
        function.plan.option_slots
    );
}

#[test]
fn what_is_of_the_process_is_given_back_at_the_end_of_its_scope_also_where_nobody_uses_it_any_more() {
    let function = Function::of(
        "fn f() { let universe = mpi::initialize(); let rank = universe.g(); loop { checkpoint!(); h(rank); } }",
    );
    assert_eq!(function.mode("universe"), Some(Mode::Deferred));
}

#[test]
fn what_comes_behind_a_name_used_twice_comes_behind_its_run_too() {
    let function =
        Function::of("fn f(x: Deck) { let a = g(); let x = h(x); let b = g(); checkpoint!(); i(a, x, b); }");
    assert_eq!(function.mode("a"), Some(Mode::Deferred));
    assert_eq!(function.mode("x#2"), Some(Mode::MovedOut));
    assert_eq!(function.mode("b"), Some(Mode::MovedOut));
}

#[test]
fn variables_that_trade_places_sit_together() {
    let source = "fn f() { let mut a = g(); let mut b = g(); loop { checkpoint!(); std::mem::swap(&mut a, &mut b); h(&a); } }";
    let function = Function::of(source);
    assert_eq!(function.entries(1), ["a: saved", "b: saved"]);
}

#[test]
fn an_exclusive_borrow_that_ends_at_a_site_is_taken_again() {
    let source =
        "fn f(grid: &mut Vec<f64>) { let (x, y) = grid.split_at_mut(3); loop { checkpoint!(); h(x, y); } }";
    let function = Function::of(source);
    let remade: Vec<String> = function
        .plan
        .reborrows
        .at(1)
        .references
        .iter()
        .map(|id| function.name(*id))
        .collect();
    assert_eq!(remade, ["x", "y"]);
}
