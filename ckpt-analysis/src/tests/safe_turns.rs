//! Loops whose number of turns is not known: what happens in the first three turns is not what happens in all.

use super::safe_points::{check, program};

/// Inside a loop with a site, a loop that goes round until all agree to end it.
fn inner(mark: &str, setup: &str, body: &str) {
    check(&program(&format!(
        "let n: i32 = std::env::args().nth(1).map_or(10, |s| s.parse().unwrap());
         let m: i32 = std::env::args().nth(2).map_or(10, |s| s.parse().unwrap());
         let mut u = vec![local(); 100];
         let mut sum = 0.0f64;
         let next = (rank + 1) % size; let before = (rank + size - 1) % size;
         for step in 0..100 {{
             /*{mark}*/
             sum = 1.0;
             {setup}
             {body}
         }}"
    )));
}

const SEND: &str = "world.process_at_rank(next).send(&u[0]);";
const RECEIVE: &str = "u[1] = world.process_at_rank(before).receive::<f64>().0;";
const REDUCE: &str = "world.all_reduce_into(&u[0], &mut sum, mpi::collective::SystemOperation::sum());";

#[test]
fn something_happens_in_a_late_turn() {
    for guard in [
        "it == 5",
        "it > 4",
        "it % 10 == 9",
        "it >= m && it < m + 1",
        "it == n - 1",
        "it * it == 49",
        "(it & 7) == 7",
        "history.len() == 6",
    ] {
        for (head, tail) in [
            (
                format!("for it in 0..n {{ {SEND} {RECEIVE}"),
                "history.push(it); }",
            ),
            (
                format!("let mut it = 0; while it < n {{ {SEND} {RECEIVE}"),
                "history.push(it); it += 1; }",
            ),
            (
                format!("let mut it = 0; while sum > 0.5 {{ {SEND} {RECEIVE} {REDUCE}"),
                "history.push(it); it += 1; }",
            ),
            (
                format!("let mut it = 0; loop {{ {SEND} {RECEIVE} {REDUCE}"),
                "history.push(it); if sum < 0.5 { break; } it += 1; }",
            ),
            (
                format!("let mut it = 0; loop {{ {SEND} {RECEIVE} {REDUCE}"),
                "history.push(it); if sum < 0.5 || it >= n { break; } it += 1; }",
            ),
        ] {
            // What is sent in one turn only is received when the site has been passed.
            inner(
                "unsafe",
                "if step > 0 && late { let _ = world.process_at_rank(before).receive_with_tag::<f64>(7); } let mut late = false; let mut history = Vec::new();",
                &format!(
                    "{head} if {guard} {{ world.process_at_rank(next).send_with_tag(&u[0], 7); late = true; }} {tail}"
                ),
            );
            inner(
                "unsafe",
                "let mut history = Vec::new();",
                &format!(
                    "{head} if {guard} {{ world.process_at_rank(next).send_with_tag(&u[0], 7); }} {tail}"
                ),
            );
        }
    }
}

#[test]
fn a_reduction_every_so_many_turns_is_safe() {
    for text in [
        format!(
            "let mut it = 0; loop {{ {SEND} {RECEIVE} it += 1; if it % 10 == 0 {{ {REDUCE} if sum < 0.5 {{ break; }} }} }}"
        ),
        format!(
            "let mut it = 0; while sum > 0.5 && it < n {{ {SEND} {RECEIVE} it += 1; if it % 10 == 0 {{ {REDUCE} }} }}"
        ),
        format!(
            "for it in 0..n {{ {SEND} {RECEIVE} if it % m == 0 {{ {REDUCE} if sum < 0.5 {{ break; }} }} }}"
        ),
        format!("for it in 0..n {{ {SEND} {RECEIVE} if it == 5 {{ {REDUCE} }} }}"),
        format!("for it in 0..n {{ {SEND} if it + 1 == n {{ {REDUCE} }} {RECEIVE} }}"),
        format!(
            "for it in 0..1000 {{ {SEND} {RECEIVE} if it % 25 == 0 {{ {REDUCE} if sum < 0.5 {{ break; }} }} }}"
        ),
        format!(
            "let mut it = 0usize; let mut old = 1.0; loop {{ {SEND} {RECEIVE} {REDUCE} if (sum - old).abs() < 1e-6 {{ break; }} old = sum; it += 1; if it == 7 {{ world.barrier(); }} }}"
        ),
    ] {
        inner("safe", "", &text);
    }
}

#[test]
fn buffers_that_change_places_are_safe() {
    inner(
        "safe",
        "let mut new = u.clone();",
        &format!(
            "for it in 0..n {{ {SEND} {RECEIVE} new[0] = 0.5 * u[1]; std::mem::swap(&mut u, &mut new); if it % 10 == 0 {{ {REDUCE} }} }}"
        ),
    );
    inner(
        "safe",
        "let mut now = 0; let mut pages = [vec![0.0; 10], vec![0.0; 10]];",
        "for it in 0..n { world.process_at_rank(next).send(&pages[now][0]); now = 1 - now; pages[now][0] = world.process_at_rank(before).receive::<f64>().0; }",
    );
}

/// The first and the last turn are not like the others.
#[test]
fn a_pipeline_that_is_filled_and_drained_is_safe_outside() {
    inner(
        "safe",
        "",
        &format!("{SEND} for it in 0..n {{ {RECEIVE} {SEND} }} {RECEIVE}"),
    );
    inner(
        "safe",
        "",
        &format!("for it in 0..n {{ if it > 0 {{ {RECEIVE} }} {SEND} }} if n > 0 {{ {RECEIVE} }}"),
    );
    inner(
        "unsafe",
        "",
        &format!("for it in 0..n {{ if it > 0 {{ {RECEIVE} }} {SEND} }}"),
    );
    inner(
        "unsafe",
        "",
        &format!("for it in 0..n {{ if it > 4 {{ {RECEIVE} }} {SEND} }} for _ in 0..4 {{ {RECEIVE} }}"),
    );
}

/// As many messages as are sent in one loop are received in the next.
#[test]
fn what_one_loop_sends_the_next_receives() {
    inner(
        "safe",
        "",
        &format!("for it in 0..n {{ {SEND} }} for it in 0..n {{ {RECEIVE} }}"),
    );
    inner(
        "unsafe",
        "",
        &format!("for it in 0..n {{ {SEND} }} for it in 0..n.min(4) {{ {RECEIVE} }}"),
    );
    inner(
        "unsafe",
        "",
        &format!("for it in 0..n {{ {SEND} }} for it in 0..n {{ if it < 5 {{ {RECEIVE} }} }}"),
    );
    inner(
        "unsafe",
        "",
        &format!(
            "for it in 0..n {{ if it < 6 {{ {SEND} }} }} for it in 0..n {{ if it < 5 {{ {RECEIVE} }} }}"
        ),
    );
}

/// A state that goes from one to the next, and sends in the last.
#[test]
fn a_machine_of_states_is_followed_to_its_end() {
    let text = format!(
        "enum Phase {{ A, B, C, D, E, F }} {}",
        program(&format!(
            "let n: i32 = std::env::args().nth(1).map_or(10, |s| s.parse().unwrap());
             let u = [1.0f64]; let next = (rank + 1) % size;
             for step in 0..100 {{
                 /*unsafe*/
                 let mut phase = Phase::A;
                 for it in 0..n {{
                     world.barrier();
                     phase = match phase {{ Phase::A => Phase::B, Phase::B => Phase::C, Phase::C => Phase::D, Phase::D => Phase::E, Phase::E => Phase::F,
                         Phase::F => {{ {SEND} Phase::A }} }};
                 }}
             }}"
        ))
    );
    check(&text);
}

/// The site is in the loop itself: the visits come late as well.
#[test]
fn a_late_visit_is_not_like_the_first() {
    for guard in [
        "it == 40",
        "it % 50 == 49",
        "it > 30 && it < 32",
        "it * it == 1600",
    ] {
        for head in ["for it in 0..1000", "for it in 0..n", "for it in 0.."] {
            check(&program(&format!(
                "let n: i32 = std::env::args().nth(1).map_or(10, |s| s.parse().unwrap());
                 let mut late = false;
                 {head} {{
                     /*unsafe*/
                     if late {{ let _ = world.process_at_rank((rank + size - 1) % size).receive::<f64>(); late = false; }}
                     if {guard} {{ world.process_at_rank((rank + 1) % size).send(&1.0); late = true; }}
                     world.barrier();
                 }}"
            )));
        }
    }
}

/// Loops that work until something is small enough, and have nothing to do with other ranks.
#[test]
fn a_loop_without_messages_ends_when_it_likes() {
    let ring = "world.process_at_rank((rank + 1) % size).send(&x); world.process_at_rank((rank + size - 1) % size).receive_into(&mut y);";
    let turn = |mark: &str, body: &str, after: &str| {
        check(&program(&format!(
            "let x = 1.0f64; let (mut y, mut n) = (0.0f64, 0); for step in 0..50 {{ /*{mark}*/ {ring} let mut err = y; {body} {after} }}"
        )));
    };
    for body in [
        "loop { err = f(err); n += 1; if err < 1e-6 { break; } }",
        "loop { if err < 1e-6 { break; } n += 1; err = f(err); }",
        "n = loop { err = f(err); if err < 1e-6 { break n + 1; } };",
        "'outer: loop { loop { err = f(err); n += 1; if err < 1e-6 { break 'outer; } if err > 9.0 { break; } } }",
        "for turn in 0..1000 { err = f(err); n = turn; if err < 1e-6 { break; } if err > 1.0 { continue; } err *= 2.0; }",
        "while err > 1e-6 { err = f(err); n += 1; if err > 9.0 { break; } }",
    ] {
        turn("safe", body, "");
        // What comes of it differs between the ranks.
        turn("unsafe", body, "if n > 5 { world.barrier(); }");
        turn("unsafe", body, "if err > 1e-9 { break; }");
    }
    turn(
        "unsafe",
        "loop { err = f(err); if err < 1e-6 { break; } world.barrier(); }",
        "",
    );
    turn(
        "unsafe",
        "loop { loop { err = f(err); if err < 1e-6 { break; } } world.barrier(); if err > 9.0 { break; } }",
        "",
    );
}
