//! Every call of rsmpi in a small pattern: next to it a site that is a safe point, and one that it crosses.

use super::program as sources;
use super::safe_points::{check_with, program};
use crate::{CommunicatingCrate, analyse};

/// With three ranks, which is enough for a call's own sake.
fn check(text: &str) {
    for (index, (safe, verdict)) in check_with(text, Some(3)).into_iter().enumerate() {
        match verdict {
            Ok(found) => assert!(safe, "mark {index}: taken for safe: {found}\n{text}"),
            Err(obstacle) => assert!(!safe, "mark {index}: {obstacle}\n{text}"),
        }
    }
}

/// Rank 0 sends to the last rank, which receives.
fn one_message(send: &str, receive: &str) {
    for (before, between) in [("safe", "unsafe"), ("safe", "")] {
        check(&program(&format!(
            "let mut x = 1.0f64; let mut y = [0.0f64; 3]; let last = size - 1;
             for step in 0..50 {{
                 /*{before}*/
                 if size > 1 && rank == 0 {{ let to = world.process_at_rank(last); {send} }}
                 /*{between}*/
                 if size > 1 && rank == last {{ let from = world.process_at_rank(0); {receive} }}
                 /*{before}*/
                 x += 1.0;
             }}"
        )));
    }
}

const RECEIVE: &str = "from.receive_into(&mut y);";

#[test]
fn blocking_sends() {
    for send in [
        "to.send(&x);",
        "to.buffered_send(&x);",
        "to.synchronous_send(&x);",
        "to.ready_send(&x);",
    ] {
        one_message(send, RECEIVE);
    }
    for send in [
        "to.send_with_tag(&x, 7);",
        "to.buffered_send_with_tag(&x, 7);",
        "to.synchronous_send_with_tag(&x, 7);",
        "to.ready_send_with_tag(&x, 7);",
    ] {
        one_message(send, "from.receive_into_with_tag(&mut y, 7);");
    }
}

#[test]
fn receives_and_probes() {
    for receive in [
        "let (one, _) = from.receive::<f64>(); x = one;",
        "let (one, _) = from.receive_with_tag::<f64>(7); x = one;",
        "let (list, _) = from.receive_vec::<f64>(); x = list[0];",
        "let (list, _) = from.receive_vec_with_tag::<f64>(7); x = list[0];",
        "from.receive_into(&mut y);",
        "from.receive_into_with_tag(&mut y[..], 7);",
        "let status = from.probe(); let n = status.count(f64::equivalent_datatype()); from.receive_into(&mut y[..n as usize]);",
        "let status = from.probe_with_tag(7); from.receive_into_with_tag(&mut y, status.tag());",
        "let (message, status) = from.matched_probe(); message.matched_receive_into(&mut y);",
        "let (message, status) = from.matched_probe_with_tag(7); let (one, _) = message.matched_receive::<f64>(); x = one;",
        "let (list, _) = from.matched_probe().matched_receive_vec::<f64>(); x = list[0];",
        "let request = from.immediate_receive::<f64>(); x = request.get().0;",
        "let request = from.immediate_receive_with_tag::<f64>(7); x = request.get().0;",
        "mpi::request::scope(|scope| { from.immediate_receive_into(scope, &mut y).wait(); });",
        "mpi::request::scope(|scope| { let _guard = mpi::request::WaitGuard::from(from.immediate_receive_into_with_tag(scope, &mut y[..], 7)); });",
    ] {
        one_message("to.send_with_tag(&x, 7);", receive);
    }
    // With another tag it never comes.
    for receive in [
        "from.receive_into_with_tag(&mut y, 8);",
        "from.probe_with_tag(8); from.receive_into(&mut y);",
        "from.matched_probe_with_tag(8).0.matched_receive_into(&mut y);",
        "from.immediate_receive_with_tag::<f64>(8).get();",
    ] {
        check(&program(&format!(
            "let mut x = 1.0f64; let mut y = [0.0f64; 3];
             for step in 0..50 {{
                 /*unsafe*/
                 if size > 1 && rank == 0 {{ world.process_at_rank(1).send_with_tag(&x, 7); }}
                 if size > 1 && rank == 1 {{ let from = world.process_at_rank(0); {receive} }}
             }}"
        )));
    }
    // It looks, and leaves the message where it is.
    check(&program(
        "let x = 1.0f64;
         for step in 0..50 {
             /*safe*/
             if size > 1 && rank == 0 { world.process_at_rank(1).send(&x); }
             if size > 1 && rank == 1 { world.process_at_rank(0).probe(); }
             /*unsafe*/
             if size > 1 && rank == 1 { world.process_at_rank(0).receive::<f64>(); }
         }",
    ));
}

#[test]
fn immediate_sends() {
    for send in [
        "to.immediate_send(scope, &x)",
        "to.immediate_send_with_tag(scope, &x, 0)",
        "to.immediate_buffered_send(scope, &x)",
        "to.immediate_buffered_send_with_tag(scope, &x, 0)",
        "to.immediate_synchronous_send(scope, &x)",
        "to.immediate_synchronous_send_with_tag(scope, &x, 0)",
        "to.immediate_ready_send(scope, &x)",
        "to.immediate_ready_send_with_tag(scope, &x, 0)",
    ] {
        for end in [
            "request.wait();",
            "request.wait_without_status();",
            "request.wait_for_data();",
            "let _guard = mpi::request::WaitGuard::from(request);",
        ] {
            one_message(
                &format!("mpi::request::scope(|scope| {{ let request = {send}; {end} }});"),
                RECEIVE,
            );
        }
    }
}

#[test]
fn sends_and_receives_at_once() {
    for exchange in [
        "let (z, _): (f64, _) = p2p::send_receive(&x, &to, &from);",
        "let (z, _): (f64, _) = p2p::send_receive_with_tags(&x, &to, 3, &from, 3);",
        "p2p::send_receive_into(&x, &to, &mut y, &from);",
        "p2p::send_receive_into_with_tags(&x, &to, 3, &mut y, &from, 3);",
        "p2p::send_receive_replace_into(&mut y[..], &to, &from);",
        "p2p::send_receive_replace_into_with_tags(&mut y[..], &to, 3, &from, 3);",
    ] {
        let ring = |after: &str, exchange: &str| {
            check(
                &program(&format!(
                    "let mut x = 1.0f64; let mut y = [0.0f64; 1];
                     let to = world.process_at_rank((rank + 1) % size); let from = world.process_at_rank((rank + size - 1) % size);
                     for step in 0..50 {{ /*{after}*/ {exchange} /*{after}*/ x += 1.0; }}"
                ))
                .replace("use mpi::traits::*;", "use mpi::traits::*; use mpi::point_to_point as p2p;"),
            );
        };
        ring("safe", exchange);
        if exchange.contains("_with_tags") {
            let (first, last) = exchange.rsplit_once('3').unwrap();
            ring("unsafe", &format!("{first}4{last}"));
        }
        // Half of them pass the site before.
        ring(
            "safe",
            &format!("if rank % 2 == 0 {{ {exchange} }} /*unsafe*/ if rank % 2 == 1 {{ {exchange} }}"),
        );
    }
}

/// By root and others: what each calls.
const ROOTED: [(&str, &str); 9] = [
    ("gather_into_root(&x, &mut v[..])", "gather_into(&x)"),
    (
        "gather_varcount_into_root(&v[..], &mut part)",
        "gather_varcount_into(&v[..])",
    ),
    ("scatter_into_root(&v[..], &mut x)", "scatter_into(&mut x)"),
    (
        "scatter_varcount_into_root(&part, &mut v[..])",
        "scatter_varcount_into(&mut v[..])",
    ),
    (
        "reduce_into_root(&x, &mut y, SystemOperation::sum())",
        "reduce_into(&x, SystemOperation::sum())",
    ),
    ("broadcast_into(&mut x)", "broadcast_into(&mut x)"),
    // With an operation of the program's own.
    (
        "reduce_into_root(&x, &mut y, &UserOperation::commutative(|a, b| {}))",
        "reduce_into(&x, &UserOperation::commutative(|a, b| {}))",
    ),
    ("broadcast_into(&mut v[..])", "broadcast_into(&mut v[..])"),
    ("gather_into_root(&v[..], &mut w[..])", "gather_into(&v[..])"),
];

const OF_ALL: [&str; 10] = [
    "barrier()",
    "all_gather_into(&x, &mut v[..])",
    "all_gather_varcount_into(&v[..], &mut part)",
    "all_to_all_into(&v[..], &mut w[..])",
    "all_to_all_varcount_into(&part, &mut other)",
    "all_reduce_into(&x, &mut y, SystemOperation::max())",
    "reduce_scatter_block_into(&v[..], &mut x, SystemOperation::sum())",
    "scan_into(&x, &mut y, SystemOperation::sum())",
    "exclusive_scan_into(&x, &mut y, SystemOperation::sum())",
    "all_reduce_into(&v[..], &mut w[..], SystemOperation::sum())",
];

fn collective(body: &str) {
    check(&program(&format!(
        "let (mut x, mut y) = (1.0f64, 0.0f64); let (mut v, mut w) = (vec![0.0f64; size as usize], vec![0.0f64; size as usize]);
         let root = world.process_at_rank(0);
         for step in 0..50 {{
             let mut part = PartitionMut::new(&mut w[..], vec![1; size as usize], vec![0; size as usize]);
             {body}
         }}"
    )));
}

#[test]
fn collective_calls() {
    for call in OF_ALL {
        collective(&format!("/*safe*/ world.{call}; /*safe*/ x += y;"));
        collective(&format!(
            "/*unsafe*/ if rank == 0 {{ world.{call}; }} /*unsafe*/ if rank != 0 {{ world.{call}; }} world.barrier();"
        ).replacen("unsafe", "", 1));
    }
    for (root, others) in ROOTED {
        let call = format!("if rank == 0 {{ root.{root}; }} else {{ root.{others}; }}");
        collective(&format!("/*safe*/ {call} /*safe*/ x += y;"));
        collective(&format!(
            "if rank == 0 {{ root.{root}; }} /*unsafe*/ if rank != 0 {{ root.{others}; }} world.barrier();"
        ));
    }
    // In another order on one rank, and another operation.
    for (first, second) in [("barrier()", OF_ALL[5]), (OF_ALL[7], OF_ALL[5])] {
        collective(&format!(
            "/*unsafe*/ if rank == 0 {{ world.{first}; world.{second}; }} else {{ world.{second}; world.{first}; }}"
        ).replace("size as usize", "size as usize"));
    }
}

#[test]
fn collective_calls_that_do_not_wait() {
    let begun = |call: &str| {
        collective(&format!(
            "/*safe*/ mpi::request::scope(|scope| {{ let request = {call}; request.wait(); }}); /*safe*/ x += y;"
        ));
        collective(&format!(
            "/*safe*/ mpi::request::scope(|scope| {{ let _guard = mpi::request::WaitGuard::from({call}); }}); /*safe*/ x += y;"
        ));
    };
    for call in OF_ALL {
        let scoped = match call {
            "barrier()" => "world.immediate_barrier()".to_owned(),
            _ => format!("world.immediate_{}", call.replacen('(', "(scope, ", 1)),
        };
        begun(&scoped);
    }
    for (root, others) in ROOTED {
        let scoped = |call: &str| format!("root.immediate_{}", call.replacen('(', "(scope, ", 1));
        begun(&format!(
            "if rank == 0 {{ {} }} else {{ {} }}",
            scoped(root),
            scoped(others)
        ));
    }
}

#[test]
fn communicators_that_are_made() {
    let ring = |comm: &str| {
        check(
            &program(&format!(
                "let mut x = 1.0f64; {comm}
             let (me, all) = (comm.rank(), comm.size());
             for step in 0..50 {{
                 /*safe*/
                 comm.process_at_rank((me + 1) % all).send(&x);
                 /*unsafe*/
                 x += comm.process_at_rank((me + all - 1) % all).receive::<f64>().0;
             }}"
            ))
            .replace(
                "use mpi::traits::*;",
                "use mpi::traits::*; use mpi::topology::Color;",
            ),
        );
    };
    for comm in [
        "let comm = world.duplicate();",
        "let comm = world.split_by_color(Color::with_value(rank % 2)).unwrap();",
        "let comm = world.split_by_color_with_key(Color::with_value(0), -rank).unwrap();",
        "let comm = world.create_cartesian_communicator(&[size], &[true], false).unwrap();",
        "let comm = world.split_by_subgroup(&world.group()).unwrap();",
        "let comm = world.split_by_subgroup_collective(&world.group()).unwrap();",
        "let comm = world.split_by_subgroup_with_tag(&world.group(), 5).unwrap();",
        "let grid = world.create_cartesian_communicator(&[size, 1], &[true, false], false).unwrap(); let comm = grid.subgroup(&[true, false]);",
    ] {
        ring(comm);
    }
    // A message on another communicator is another message.
    check(&program(
        "let other = world.duplicate(); let x = 1.0f64;
         for step in 0..50 {
             /*unsafe*/
             world.process_at_rank((rank + 1) % size).send(&x);
             other.process_at_rank((rank + size - 1) % size).receive::<f64>();
         }",
    ));
    // In each turn one is made, by all ranks or by half of them.
    check(&program(
        "for step in 0..50 { /*safe*/ let comm = world.duplicate(); comm.barrier(); }",
    ));
    check(&program(
        "for step in 0..std::env::args().count() { /*safe*/ if let Some(half) = world.split_by_color(Color::with_value(rank % 2)) { half.barrier(); } }",
    ));
    check(&program(
        "for step in 0..50 { if rank == 0 { let comm = world.duplicate(); } /*unsafe*/ if rank != 0 { let comm = world.duplicate(); } world.barrier(); }",
    ));
}

/// Whether these messages come, and to whom, is not in the program.
#[test]
fn what_is_not_followed_is_refused() {
    for body in [
        "let comm = world.split_shared(0); comm.barrier();",
        "let child = world.process_at_rank(0).spawn(&mut command, 2).unwrap(); child.merge(mpi::topology::MergeOrder::High).barrier();",
        "let child = world.process_at_rank(0).spawn_multiple(vec![command], &[2]).unwrap(); child.process_at_rank(0).send(&x);",
        "if let Some(parent) = world.parent() { parent.process_at_rank(0).send(&x); }",
        "if let Some(parent) = world.parent() { parent.merge(mpi::topology::MergeOrder::Low).barrier(); }",
        "let raw = world.as_raw(); unsafe { mpi::ffi::MPI_Barrier(raw); }",
        "unsafe { mpi::ffi::MPI_Win_fence(0, window); }",
        "unsafe { mpi_sys::MPI_Put(p, 1, t, 1, 0, 1, t, window); }",
        "mpi::request::scope(|scope| { let r = world.process_at_rank(rank).immediate_receive_into(scope, &mut y); r.cancel(); r.wait(); });",
        "mpi::request::scope(|scope| { let g = mpi::request::CancelGuard::from(world.process_at_rank(rank).immediate_receive_into(scope, &mut y)); });",
    ] {
        check(&program(&format!(
            "let mut x = 1.0f64; let mut y = 0.0f64; for step in 0..50 {{ /*unsafe*/ {body} x += 1.0; }}"
        )));
    }
}

/// Requests that are kept together: closed by the end of their scope at the latest, and not known to be done before.
#[test]
fn collections_of_requests() {
    for wait in [
        "open.wait_all(&mut done);",
        "while open.incomplete() > 0 { open.wait_some(&mut done); }",
        "while let Some((index, status, data)) = open.wait_any() { seen += 1; }",
        "while !open.test_all(&mut done) { seen += 1; }",
        "loop { open.test_some(&mut done); if open.incomplete() == 0 { break; } }",
    ] {
        let text = program(&format!(
                "let x = 1.0f64; let mut y = 0.0f64; let mut done = Vec::new(); let mut seen = 0;
                 for step in 0..50 {{
                     /*safe*/
                     mpi::request::multiple_scope(2, |scope, open| {{
                         open.add(world.process_at_rank((rank + size - 1) % size).immediate_receive_into(scope, &mut y));
                         open.add(world.process_at_rank((rank + 1) % size).immediate_send(scope, &x));
                         {wait}
                     }});
                     /*safe*/
                     done.clear();
                 }}"
        ));
        check(&text);
    }
    // How many there are at a time is a matter of time.
    check(&program(
        "let x = 1.0f64; let mut y = 0.0f64; let mut done = Vec::new();
         for step in 0..50 {
             /*unsafe*/
             mpi::request::multiple_scope(2, |scope, open| {
                 open.add(world.process_at_rank((rank + size - 1) % size).immediate_receive_into(scope, &mut y));
                 open.add(world.process_at_rank((rank + 1) % size).immediate_send(scope, &x));
                 open.wait_some(&mut done); let n = done.len(); open.wait_all(&mut done);
                 if n > 1 { world.barrier(); }
             });
         }",
    ));
}

/// A long loop of a method is given up, and what the method counts besides is not.
#[test]
fn what_a_method_counts_beside_its_long_loop() {
    let simulation = |counts: &str, loops: &str| {
        let text = program(
            "let n: usize = std::env::args().nth(1).unwrap().parse().unwrap();
             let mut sim = Sim { rank, grid: vec![0.0; 5000], turn: 0 };
             while sim.turn < n { /*HERE*/ sim.step(); if sim.turn % 20 == 0 { world.barrier(); } }",
        );
        format!(
            "{text} struct Sim {{ rank: i32, grid: Vec<f64>, turn: usize }}
             impl Sim {{
                 fn step(&mut self) {{ {loops} {counts} }}
                 fn work(&mut self) {{ for x in 0..5000 {{ self.grid[x] += self.rank as f64; }} }}
             }}"
        )
    };
    let safe = |text: String| check(&text.replace("/*HERE*/", "/*safe*/"));
    let not = |text: String| check(&text.replace("/*HERE*/", "/*unsafe*/"));
    let own = "for x in 0..5000 { self.grid[x] += self.rank as f64; }";
    safe(simulation("self.turn += 1;", own));
    safe(simulation("self.turn += 1;", "self.work();"));
    safe(simulation("self.turn += 1;", "for _ in 0..3 { self.work(); }"));
    safe(simulation("", "self.turn += 1; self.work();"));
    safe(simulation(
        "self.turn += 1;",
        "let rank = self.rank; self.grid = (0..5000).map(|x| x as f64 + rank as f64).collect();",
    ));
    // Here the loop itself counts.
    not(simulation(
        "",
        "let mut t = 0; let n = 2 + self.rank; self.grid = (0..5000).map(|x| { t += x % n; 1.0 }).collect(); self.turn += t as usize;",
    ));
    not(simulation(
        "",
        "let (n, turn) = (self.rank as usize, &mut self.turn); (0..5000).map(|x| { *turn += n; x }).sum::<usize>();",
    ));
    not(simulation("", "for x in 0..self.rank * 5000 { self.turn += 1; }"));
    not(simulation("self.turn += self.rank as usize;", own));
    not(simulation("self.turn += (self.grid[0] > 9.0) as usize;", own));
}

/// A crate that is not read may exchange anything, whether the program speaks of messages itself or not.
#[test]
fn a_crate_of_others_that_depends_on_the_library_is_named() {
    let silent = "fn main() { for step in 0..10 { solver::post(step); } }";
    let speaks = program("for step in 0..10 { world.barrier(); println!(\"{}\", solver::norm(step)); }");
    let other = program("for step in 0..10 { world.barrier(); let solver = step; }");
    for (text, is_named) in [(silent, true), (&speaks, true), (&other, false)] {
        let mut program = sources(&[("main.rs", text)]);
        program.communicating = vec![CommunicatingCrate {
            name: "solver".into(),
            library: "mpi".into(),
        }];
        let analysis = analyse(&program);
        let main = analysis.items.main_of(0).expect("a main");
        let points = analysis
            .safe_points(main, Some(2))
            .expect("it exchanges messages");
        let body = analysis.graph.loops[0].body_at.expect("a body");
        let verdict = points.check(&[(main.0, body)]);
        let named = verdict.as_ref().err().map(|obstacle| obstacle.call.as_str());
        assert_eq!(named, is_named.then_some("solver"), "{text}: {verdict:?}");
    }
}
