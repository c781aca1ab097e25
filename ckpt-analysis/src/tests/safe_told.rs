//! Crates of which the user tells what their calls exchange.

use super::program as sources;
use super::safe_points::program;
use crate::{CommunicatingCrate, analyse_with};
use ckpt_compiler::library::CallTable;
use ckpt_safepoints::{Obstacle, Safe};

/// Each mark of a program that uses the crate `solver`: whether it is to be a safe point, and whether it is one.
fn verdicts(table: &str, text: &str) -> Vec<(bool, Result<Safe, Obstacle>)> {
    let mut program = sources(&[("main.rs", text)]);
    program.communicating = vec![CommunicatingCrate {
        name: "solver".into(),
        library: "mpi".into(),
    }];
    let table = CallTable::of_user(table).unwrap_or_else(|error| panic!("{error}\n{table}"));
    let analysis = analyse_with(&program, &table);
    let main = analysis.items.main_of(0).expect("a main");
    let points = analysis
        .safe_points(main, Some(3))
        .expect("it exchanges messages");
    let mut wanted: Vec<(usize, bool)> = Vec::new();
    for (mark, safe) in [("/*safe*/", true), ("/*unsafe*/", false)] {
        wanted.extend(text.match_indices(mark).map(|(at, _)| (at, safe)));
    }
    wanted.sort_unstable();
    let loops = || analysis.graph.loops.iter();
    let places: Vec<_> = loops()
        .filter_map(|one| Some((one.function.0, one.body_at?)))
        .flat_map(|(function, at)| {
            points
                .boundaries_of(function, at)
                .into_iter()
                .map(move |(at, _)| (function, at))
        })
        .collect();
    let near = |mark: usize| {
        *places
            .iter()
            .min_by_key(|(_, at)| at.abs_diff(mark))
            .expect("a loop")
    };
    wanted
        .into_iter()
        .map(|(mark, safe)| (safe, points.check(&[near(mark)])))
        .collect()
}

fn check(calls: &str, text: &str) {
    let table = format!("[calls.messages.solver]\n{calls}");
    let found = verdicts(&table, text);
    assert!(!found.is_empty(), "a mark in\n{text}");
    for (index, (safe, verdict)) in found.into_iter().enumerate() {
        match verdict {
            Ok(found) => assert!(safe, "mark {index}: taken for safe: {found}\n{table}\n{text}"),
            Err(obstacle) => assert!(!safe, "mark {index}: {obstacle}\n{table}\n{text}"),
        }
    }
}

/// What stands in the way at the one mark.
fn refused(calls: &str, text: &str) -> String {
    let found = verdicts(&format!("[calls.messages.solver]\n{calls}"), text);
    let [(false, Err(obstacle))] = &found[..] else {
        panic!("{found:?}\n{calls}\n{text}")
    };
    obstacle.to_string()
}

#[test]
fn a_call_of_all_ranks_is_followed() {
    let calls = "norm = { collective = \"all\", comm = 0, same = true }";
    for call in [
        "solver::norm(&world, &x)",
        "norm(&world, &x)",
        "again(&world, &x)",
    ] {
        check(
            calls,
            &format!(
                "use solver::norm; use solver::norm as again;\n{}",
                program(&format!(
                    "let x = vec![1.0; 9]; let mut error = 1.0;
                     while error > 1e-9 {{ /*safe*/ error = {call}; /*safe*/ world.barrier(); }}"
                ))
            ),
        );
    }
    // On one rank alone, or in another order than on the others.
    check(
        calls,
        &program(
            "let x = vec![1.0; 9]; for step in 0..50 { /*unsafe*/ if rank == 0 { solver::norm(&world, &x); } }",
        ),
    );
    check(
        calls,
        &program(
            "let x = vec![1.0; 9]; for step in 0..50 { /*unsafe*/ if rank == 0 { solver::norm(&world, &x); world.barrier(); } else { world.barrier(); solver::norm(&world, &x); } }",
        ),
    );
    // What it gives is not said to be the same on all ranks.
    check(
        "norm = { collective = \"all\", comm = 0 }",
        &program(
            "let x = vec![1.0; 9]; let mut e = 1.0; while e > 1e-9 { /*unsafe*/ e = solver::norm(&world, &x); }",
        ),
    );
    // What else is in the crate exchanges nothing.
    check(
        calls,
        &program("for step in 0..50 { /*safe*/ world.barrier(); if rank == 0 { solver::print(step); } }"),
    );
}

#[test]
fn messages_go_where_the_arguments_say() {
    let calls = "post = { send = 1, comm = 0, tag = 2 }\nfetch = { receive = 1, comm = 0, tag = 2, into = 3 }\n\
                 give = { send = 0 }\ntake = { receive = 0 }\nswap = [{ send = 1, comm = 0 }, { receive = 2, comm = 0 }]";
    let ring = |post: &str, fetch: &str, between: &str| {
        program(&format!(
            "let mut x = [0.0; 4]; let (left, right) = ((rank + size - 1) % size, (rank + 1) % size);
             for step in 0..50 {{ /*safe*/ {post} /*{between}*/ {fetch} /*safe*/ x[0] += 1.0; }}"
        ))
    };
    check(
        calls,
        &ring(
            "solver::post(&world, right, 7, &x);",
            "solver::fetch(&world, left, 7, &mut x);",
            "unsafe",
        ),
    );
    check(
        calls,
        &ring(
            "solver::give(&world.process_at_rank(right), &x);",
            "solver::take(&world.process_at_rank(left), &mut x);",
            "unsafe",
        ),
    );
    check(
        calls,
        &ring("solver::swap(&world, right, left, &mut x);", "", "safe"),
    );
    // Another tag: what is sent is not what is received.
    let other = ring(
        "solver::post(&world, right, 7, &x);",
        "solver::fetch(&world, left, 8, &mut x);",
        "unsafe",
    );
    check(calls, &other.replace("/*safe*/", "/*unsafe*/"));
    // The crate's own tag is none of the program's.
    let mixed = ring(
        "solver::give(&world.process_at_rank(right), &x);",
        "world.process_at_rank(left).receive_into_with_tag(&mut x, 0);",
        "unsafe",
    );
    check(calls, &mixed.replace("/*safe*/", "/*unsafe*/"));
    // And if it is said which number it is, it may be.
    let mixed = mixed.replace("/*safe*/", "");
    check(
        "give = { send = 0, tag = \"0\" }",
        &mixed
            .replace("/*unsafe*/", "")
            .replacen("{  solver", "{ /*safe*/ solver", 1),
    );
}

#[test]
fn an_exchange_among_some_holds_nobody_back() {
    let calls = "swap = { collective = \"some\", comm = 0 }";
    check(
        calls,
        &program("for step in 0..50 { /*safe*/ solver::swap(&world); /*safe*/ let x = step; }"),
    );
    check(
        calls,
        &program("for step in 0..50 { /*unsafe*/ if rank < 2 { solver::swap(&world); } }"),
    );
    // It is no barrier between one turn's messages from any rank and those of the next.
    let workers = "let x = 1.0;
         for step in 0..50 {
             /*HERE*/
             if rank == 0 { for _ in 1..size { world.any_process().receive::<f64>(); } } else { world.process_at_rank(0).send(&x); }
             solver::swap(&world);
         }";
    check(calls, &program(&workers.replace("HERE", "unsafe")));
    check(
        "swap = { collective = \"all\", comm = 0 }",
        &program(&workers.replace("HERE", "safe")),
    );
}

#[test]
fn methods_are_known_by_what_they_are_called_on() {
    let calls = "\"Solver::new\" = { handle = 0 }\n\"Solver::apart\" = { duplicate = 0 }\n\
                 norm = { collective = \"all\", comm = 0, same = true }\npost = { send = 1, comm = 0 }\nfetch = { receive = 1, comm = 0 }\n\
                 sum = { collective = \"all\", comm = 1, same = true }";
    for make in [
        "solver::Solver::new(&world)",
        "Solver::new(&world).unwrap()",
        "Solver::new(&world).expect(\"one\")",
        "Solver::apart(&world)",
    ] {
        check(
            calls,
            &format!(
                "use solver::Solver;\n{}",
                program(&format!(
                    "let mut s = {make}; s.set_limit(1e-9); let (left, right) = ((rank + size - 1) % size, (rank + 1) % size);
                     while s.norm() > 1.0 {{ /*safe*/ s.post(right); /*unsafe*/ s.set_limit(1e-9); s.fetch(left); /*safe*/ Solver::norm(&s); }}"
                ))
            ),
        );
    }
    // A struct of the program's that has one, and a function that gets one.
    check(
        calls,
        &format!(
            "use solver::Solver; struct Sim {{ solver: Solver, left: i32, right: i32 }}
             impl Sim {{ fn step(&mut self) {{ self.solver.post(self.right); fetch(&mut self.solver, self.left); }} }}
             fn fetch(solver: &mut Solver, from: i32) {{ solver.fetch(from); }}\n{}",
            program(
                "let mut sim = Sim { solver: Solver::new(&world), left: (rank + size - 1) % size, right: (rank + 1) % size };
                 for step in 0..50 { /*safe*/ sim.step(); /*safe*/ let x = step; }"
            )
        ),
    );
    // The communicator is an argument: what it is called on does not matter.
    check(
        calls,
        &program("let t = solver::Table::load(); while t.sum(&world) > 1 { /*safe*/ world.barrier(); }"),
    );
    // On another communicator there are other messages.
    check(
        calls,
        &format!(
            "use solver::Solver;\n{}",
            program(
                "let (a, b) = (Solver::new(&world), Solver::apart(&world)); let (left, right) = ((rank + size - 1) % size, (rank + 1) % size);
                 for step in 0..50 { /*unsafe*/ a.post(right); b.fetch(left); }"
            )
        ),
    );
}

#[test]
fn what_cannot_be_told_is_refused_by_name() {
    let calls = "norm = { collective = \"all\", comm = 0, same = true }\npost = { send = 1, comm = 0 }\n\"Solver::new\" = { handle = 0 }";
    for (text, told) in [
        (
            "let s = solver::Solver::default(); for step in 0..9 { /*unsafe*/ s.norm(); }",
            "whether this is `solver::norm` cannot be told",
        ),
        (
            "for step in 0..9 { /*unsafe*/ solver::norm(&solver::somewhere()); }",
            "line 6: `norm`: it cannot be told on which communicator this is",
        ),
        (
            "let to = std::process::id() as i32; for step in 0..9 { /*unsafe*/ solver::post(&world, to); }",
            "line 6: `post`: it cannot be told where the message goes",
        ),
        (
            "for step in 0..9 { /*unsafe*/ solver::post(&world); }",
            "`solver::post` has no argument 1 here",
        ),
        (
            "for step in 0..9 { /*unsafe*/ let f = solver::norm; f(&world); }",
            "`solver::norm` is a value here",
        ),
        (
            "for step in 0..9 { /*unsafe*/ some_macro!(solver::norm => &world); }",
            "`solver::norm` is in a macro whose meaning is not known",
        ),
    ] {
        let found = refused(calls, &program(text));
        assert!(found.contains(told), "{found}\n{text}");
    }
    // A crate under another name, and a function that another module passes on.
    for start in [
        "extern crate solver as other;\nfn norm(x: &mpi::topology::SimpleCommunicator) -> f64 { other::norm(x) }\n",
        "mod inner { pub use solver::norm; } use inner::norm;\n",
        "mod inner { pub use solver::*; } use inner::*;\n",
        "type S = solver::Solver; fn norm(x: &mpi::topology::SimpleCommunicator) -> f64 { S::norm(x) }\n",
    ] {
        let text = program("for step in 0..9 { /*unsafe*/ if rank == 0 { norm(&world); } }");
        check(calls, &format!("{start}{text}"));
    }
    // Names that come by an import of everything.
    check(
        calls,
        &format!(
            "use solver::*;\n{}",
            program("for step in 0..9 { /*unsafe*/ if rank == 0 { norm(&world); } }")
        ),
    );
}

#[test]
fn a_crate_of_which_nothing_is_told_stays_in_the_way() {
    let text = program("for step in 0..9 { /*unsafe*/ world.barrier(); solver::norm(&world); }");
    let found = verdicts(
        "[calls.messages.other]\nnorm = { collective = \"all\", comm = 0 }",
        &text,
    );
    let Err(obstacle) = &found[0].1 else {
        panic!("taken for safe")
    };
    assert_eq!(obstacle.call, "solver");
    // Told to exchange nothing at all.
    check("", &text.replace("unsafe", "safe"));
}
