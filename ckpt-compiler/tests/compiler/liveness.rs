//! Which values a site must keep, and which may have been moved away.

use crate::function::Function;

#[test]
fn what_is_used_after_a_site_is_live_there() {
    let function =
        Function::of("fn f() { let a = g(); let b = h(&a); checkpoint!(); i(&b); checkpoint!(); }");
    assert_eq!(function.live(1), ["b"]);
    assert_eq!(function.live(2), [""; 0]);
}

#[test]
fn an_assignment_ends_the_life_of_the_old_value() {
    let function = Function::of("fn f() { let mut a = g(); checkpoint!(); a = h(); checkpoint!(); i(&a); }");
    assert_eq!(function.live(1), [""; 0]);
    assert_eq!(function.live(2), ["a"]);
}

#[test]
fn an_assignment_in_one_branch_only_does_not() {
    let function =
        Function::of("fn f(n: u32) { let mut a = g(); checkpoint!(); if n > 3 { a = h(); } i(&a); }");
    assert_eq!(function.live(1), ["n", "a"]);
}

#[test]
fn an_assignment_to_a_part_does_not() {
    let function = Function::of("fn f() { let mut a = g(); checkpoint!(); a.x = 1; }");
    assert_eq!(function.live(1), ["a"]);
}

#[test]
fn what_the_next_round_of_a_loop_reads_is_live_at_its_end() {
    let function = Function::of(
        "fn f() { let mut sum = 0; let mut last = 0; while sum < 10 { last = sum; sum += g(last); checkpoint!(); } }",
    );
    assert_eq!(function.live(1), ["sum"]);
}

#[test]
fn what_the_code_after_a_loop_reads_is_live_in_it() {
    let function =
        Function::of("fn f() { let a = g(); loop { checkpoint!(); if done() { break; } } h(&a); }");
    assert_eq!(function.live(1), ["a"]);
}

#[test]
fn a_break_to_a_label_leaves_the_outer_loop() {
    let source = "fn f() { let a = g(); 'out: loop { loop { checkpoint!(); break 'out; } h(&a); } }";
    assert_eq!(Function::of(source).live(1), [""; 0]);
}

#[test]
fn a_return_ends_everything() {
    assert_eq!(
        Function::of("fn f() { let a = g(); if b() { checkpoint!(); return; } h(&a); }").live(1),
        [""; 0]
    );
}

#[test]
fn a_question_mark_may_go_on_or_not() {
    let source =
        "fn f() -> Option<()> { let a = g(); let mut b = g(); checkpoint!(); b = h()?; i(&a, &b); None }";
    assert_eq!(Function::of(source).live(1), ["a"]);
}

#[test]
fn a_moved_variable_is_gone_until_it_is_assigned() {
    let function = Function::of(
        "fn f() { let mut a = g(); checkpoint!(); h(a); checkpoint!(); a = g(); checkpoint!(); h(a); }",
    );
    assert!(!function.moved(1, "a"));
    assert!(function.moved(2, "a"));
    assert!(!function.moved(3, "a"));
}

#[test]
fn what_an_operator_takes_last_is_gone() {
    let function = Function::of(
        "fn f(a: Matrix, more: Matrix) { let b = g(); checkpoint!(); let c = a + (b * more); checkpoint!(); h(&c); }",
    );
    for name in ["a", "b", "more"] {
        assert!(!function.moved(1, name), "{name}");
        assert!(function.moved(2, name), "{name}");
    }
    assert!(!function.moved(2, "c"));
}

#[test]
fn what_is_used_again_behind_an_operator_was_copied() {
    let source = "fn f(a: Vector, v: &[Vector], of: &Grid) { let n = 3; let m = v[0]; let w = of.width; let b = a + m * n * w; checkpoint!(); h(a, b); }";
    let function = Function::of(source);
    for name in ["a", "n", "m", "w"] {
        assert!(!function.moved(1, name), "{name}");
    }
    let in_a_loop = Function::of("fn f(a: Vector) { let mut b = g(); loop { checkpoint!(); b = b + a; } }");
    assert!(!in_a_loop.moved(1, "a") && !in_a_loop.moved(1, "b"));
}

#[test]
fn a_variable_moved_in_one_branch_may_be_gone() {
    let function = Function::of("fn f(n: u32) { let a = g(); if n > 3 { h(a); } checkpoint!(); }");
    assert!(function.moved(1, "a"));
}

#[test]
fn a_number_is_copied_and_never_gone() {
    let function = Function::of("fn f(n: u32) { let k = 3; h(n, k); checkpoint!(); }");
    assert!(!function.moved(1, "n"));
    assert!(!function.moved(1, "k"));
}

#[test]
fn what_a_marked_call_consumes_is_not_live_below_it() {
    let function = Function::calling("step", "fn f() { let a = g(); let b = g(); step(a, &b); }");
    assert_eq!(function.live(1), [""; 0]);
}

#[test]
fn a_variable_written_in_a_loop_may_have_no_value_behind_it() {
    let function = Function::of(
        "fn f(n: u32) { let mut a: f64; for _ in 0..n { a = g(); h(a); } for _ in 0..n { checkpoint!(); a = g(); h(a); } }",
    );
    let a = function.binding("a");
    assert!(!function.liveness.has_value(&function.flow, 1, a));
}

#[test]
fn a_loop_that_may_not_run_leaves_what_it_would_write_live() {
    for head in ["while n > 0", "for _ in 0..n"] {
        let source =
            format!("fn f(n: u32) {{ let mut a = g(); checkpoint!(); {head} {{ a = g(); }} h(a); }}");
        assert!(Function::of(&source).live(1).contains(&"a".to_owned()), "{head}");
    }
}

#[test]
fn numbers_are_seen_through_tuples_names_and_calls() {
    let function = Function::of(
        "fn f(n: u32) { let (rho, mut beta) = (28.0, 8.0 / 3.0); let step = (rho - 1.0) / n as f64; let root = f64::sqrt(step).max(beta);
        let (low, high): (f64, u8) = g(); let angle = 2.0 * std::f64::consts::PI * LENGTH; let list = g();
        h(rho, beta, step, root, low, high, angle, list); checkpoint!(); }",
    );
    for name in ["rho", "beta", "step", "root", "low", "high", "angle"] {
        assert!(!function.moved(1, name), "{name}");
    }
    assert!(function.moved(1, "list"));
}
