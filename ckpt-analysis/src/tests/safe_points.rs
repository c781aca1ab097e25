//! Which sites no message crosses.

use super::analysed;
use ckpt_safepoints::{Obstacle, Safe};

/// Whether the boundaries that are written `/*safe*/` and `/*unsafe*/` in a program's loops are that.
pub fn check_with(text: &str, ranks: Option<usize>) -> Vec<(bool, Result<Safe, Obstacle>)> {
    let analysis = analysed(&[("main.rs", text)]);
    let main = analysis.items.main_of(0).expect("a main");
    let points = analysis.safe_points(main, ranks).expect("it uses MPI");
    let mut wanted: Vec<(usize, bool)> = Vec::new();
    for (mark, safe) in [("/*safe*/", true), ("/*unsafe*/", false)] {
        wanted.extend(text.match_indices(mark).map(|(at, _)| (at, safe)));
    }
    wanted.sort_unstable();
    assert!(!wanted.is_empty(), "a mark in the program");
    let mut results = Vec::new();
    for (mark, safe) in wanted {
        let all = analysis
            .graph
            .loops
            .iter()
            .filter_map(|one| one.body_at.map(|at| (one.function.0, at)));
        let all = all.flat_map(|(function, at)| {
            let list = points.boundaries_of(function, at);
            list.into_iter().map(move |(at, _)| (function, at))
        });
        let near = all.min_by_key(|(_, at)| at.abs_diff(mark)).expect("a loop");
        results.push((safe, points.check(&[near])));
    }
    results
}

pub fn check(text: &str) {
    for (index, (safe, verdict)) in check_with(text, None).into_iter().enumerate() {
        match verdict {
            Ok(found) => assert!(safe, "mark {index}: taken for safe: {found}\n{text}"),
            Err(obstacle) => assert!(!safe, "mark {index}: {obstacle}\n{text}"),
        }
    }
}

const START: &str = "use mpi::traits::*;
fn main() {
    let universe = mpi::initialize().unwrap();
    let world = universe.world();
    let (rank, size) = (world.rank(), world.size());
";

pub fn program(rest: &str) -> String {
    format!("{START}{rest}\n}}")
}

#[test]
fn halo_exchange_with_guards() {
    check(&program(
        "let mut u = vec![0.0f64; 100];
         for step in 0..10 {
             /*safe*/
             if rank > 0 { world.process_at_rank(rank - 1).send(&u[1]); }
             /*unsafe*/
             if rank < size - 1 { u[99] = world.process_at_rank(rank + 1).receive::<f64>().0; }
             /*safe*/
             for i in 1..99 { u[i] = 0.5 * (u[i - 1] + u[i + 1]); }
         }",
    ));
}

#[test]
fn ring_with_send_receive_and_pairs() {
    check(&program(
        "let next = world.process_at_rank((rank + 1) % size);
         let previous = world.process_at_rank((rank + size - 1) % size);
         let mut x = rank as f64;
         for _ in 0..20 {
             /*safe*/
             let (y, _): (f64, _) = mpi::point_to_point::send_receive(&x, &next, &previous);
             /*safe*/
             x += y;
             let partner = if rank % 2 == 0 { rank + 1 } else { rank - 1 };
             if partner < size {
                 let p = world.process_at_rank(partner);
                 if rank % 2 == 0 { p.send(&x); x = p.receive::<f64>().0; } else { let (z, _) = p.receive::<f64>(); p.send(&x); x = z; }
             }
             /*safe*/
             x *= 0.5;
         }",
    ));
}

#[test]
fn a_message_that_is_received_in_the_next_turn_crosses() {
    check(&program(
        "let mut x = 1.0f64;
         for it in 0..10 {
             /*unsafe*/
             if it > 0 && rank > 0 { x = world.process_at_rank(rank - 1).receive::<f64>().0; }
             /*safe*/
             x += 1.0;
             if rank + 1 < size { world.process_at_rank(rank + 1).send(&x); }
             /*unsafe*/
             x *= 2.0;
         }
         if rank > 0 { x = world.process_at_rank(rank - 1).receive::<f64>().0; }
         println!(\"{x}\");",
    ));
}

/// A pipeline: rank `r` handles block `it - r` in turn `it`.
#[test]
fn a_wavefront_is_safe_where_it_is_empty() {
    let blocks = "for b in 0..4 {
                 /*unsafe*/
                 if let Some(up) = up { edge = world.process_at_rank(up).receive::<f64>().0; }
                 work += edge;
                 if let Some(down) = down { world.process_at_rank(down).send(&work); }
             }";
    let rest = format!(
        "let up = if rank > 0 {{ Some(rank - 1) }} else {{ None }};
         let down = if rank < size - 1 {{ Some(rank + 1) }} else {{ None }};
         let mut work = 0.0f64; let mut edge = 0.0f64;
         for sweep in 0..100 {{
             /*safe*/
             {blocks}
             /*safe*/
             work *= 0.5;
         }}"
    );
    // Inside the blocks a checkpoint at the same visit is a diagonal through the pipeline: no message crosses it.
    check(&program(&rest.replace("/*unsafe*/", "/*safe*/")));
}

#[test]
fn a_skewed_pipeline_crosses_its_turns() {
    check(&program(
        "let mut x = 0.0f64;
         for it in 0..(6 + size - 1) {
             /*unsafe*/
             let block = it - rank;
             if block >= 0 && block < 6 {
                 if rank > 0 { x = world.process_at_rank(rank - 1).receive::<f64>().0; }
                 x += 1.0;
                 if rank < size - 1 { world.process_at_rank(rank + 1).send(&x); }
             }
         }",
    ));
}

const MASTER: &str = "let tasks = 12;
         for round in 0..5 {
             /*safe*/
             if rank == 0 {
                 let mut next = 0; let mut open = 0;
                 for w in 1..size {
                     if next < tasks { world.process_at_rank(w).send(&next); next += 1; open += 1; }
                     else { world.process_at_rank(w).send(&-1); }
                 }
                 while open > 0 {
                     let (result, status) = world.any_process().receive::<f64>();
                     open -= 1;
                     let to = world.process_at_rank(status.source_rank());
                     if next < tasks { to.send(&next); next += 1; open += 1; } else { to.send(&-1); }
                 }
             } else {
                 loop {
                     let (task, _) = world.process_at_rank(0).receive::<i32>();
                     if task < 0 { break; }
                     let value = compute(task);
                     world.process_at_rank(0).send(&value);
                 }
             }
             /*safe*/
             world.barrier();
         }";

#[test]
fn master_and_workers_with_any_source() {
    check(&format!(
        "{} fn compute(task: i32) -> f64 {{ let mut s = 0.0; for i in 0..task * 1000 {{ s += i as f64; }} s }}",
        program(MASTER)
    ));
    // Without the barrier the end of a round is told by the master's last message: still nothing crosses.
    let without = MASTER.replace("world.barrier();", "let _ = round;");
    check(&format!(
        "{} fn compute(task: i32) -> f64 {{ task as f64 }}",
        program(&without)
    ));
}

/// Workers that do not wait for an answer may be a round ahead.
#[test]
fn any_source_without_an_answer_is_overtaken() {
    let text = program(
        "for round in 0..5 {
             /*unsafe*/
             if rank == 0 {
                 for _ in 1..size { let (x, _) = world.any_process().receive::<f64>(); println!(\"{x}\"); }
             } else {
                 world.process_at_rank(0).send(&1.0);
             }
         }",
    );
    check(&text);
    // With a barrier between the rounds nobody is.
    check(&text.replace("/*unsafe*/", "world.barrier(); /*safe*/"));
    // With two ranks there is one sender alone, and its messages come in order.
    let alone = check_with(&text, Some(2));
    assert!(alone[0].1.is_ok(), "{:?}", alone[0].1);
}

#[test]
fn tags_tell_messages_apart() {
    let body = |first: i32, second: i32| {
        program(&format!(
            "let right = (rank + 1) % size; let left = (rank + size - 1) % size;
             let mut a = 0.0f64;
             for _ in 0..7 {{
                 /*mark*/
                 world.process_at_rank(right).send_with_tag(&a, 7);
                 world.process_at_rank(right).send_with_tag(&a, 8);
                 a = world.process_at_rank(left).receive_with_tag::<f64>({first}).0;
                 a = world.process_at_rank(left).receive_with_tag::<f64>({second}).0;
             }}"
        ))
    };
    check(&body(8, 7).replace("mark", "safe"));
    check(&body(8, 8).replace("mark", "unsafe"));
}

#[test]
fn hypercube_and_recursive_doubling() {
    check(&program(
        "let mut x = 1.0f64; let mut err = 1.0;
         while err > 1e-6 {
             /*safe*/
             let mut bit = 1;
             while bit < size {
                 let partner = rank ^ bit;
                 if partner < size {
                     let p = world.process_at_rank(partner);
                     let (y, _): (f64, _) = mpi::point_to_point::send_receive(&x, &p, &p);
                     x += y;
                 }
                 bit <<= 1;
             }
             let mut all = 0.0;
             world.all_reduce_into(&x, &mut all, mpi::collective::SystemOperation::sum());
             err = all * 0.5;
             /*safe*/
             x *= 0.1;
         }",
    ));
}

#[test]
fn what_ends_a_loop_must_be_the_same_on_all_ranks() {
    let body = |of: &str| {
        program(&format!(
            "let mut x = 1.0f64; let n: usize = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(50);
             let mut steps = 0;
             loop {{
                 /*mark*/
                 x = 0.5 * x + f64::from(rank);
                 let mut most = 0.0f64;
                 world.all_reduce_into(&x, &mut most, SystemOperation::max());
                 steps += 1;
                 if {of} < 1e-3 || steps >= n {{ break; }}
                 if steps % 10 == 0 && rank == 0 {{ println!(\"{{steps}} {{most}}\"); }}
             }}"
        ))
    };
    check(&body("most").replace("mark", "safe"));
    check(&body("x").replace("mark", "unsafe"));
}

#[test]
fn a_command_line_that_a_module_describes_is_the_same_on_all_ranks() {
    for (declared, used) in [
        (
            "mod args { #[derive(Parser)] pub struct Args { pub steps: u32 } }",
            "args::Args::parse()",
        ),
        (
            "mod a { pub mod b { #[derive(Parser)] pub struct Cli { pub steps: u32 } } }",
            "crate::a::b::Cli::parse()",
        ),
    ] {
        check(&format!(
            "use mpi::traits::*; {declared}
             fn main() {{
                 let universe = mpi::initialize().unwrap(); let world = universe.world();
                 let args = {used}; let mut x = world.rank() as f64;
                 world.barrier();
                 for _ in 0..args.steps {{ /*safe*/ x = x.sqrt(); }}
                 world.barrier();
             }}"
        ));
    }
}

#[test]
fn non_blocking_overlap() {
    check(&program(
        "let right = world.process_at_rank((rank + 1) % size); let left = world.process_at_rank((rank + size - 1) % size);
         let mut u = vec![0.0f64; 1000]; let mut ghost = 0.0f64;
         for step in 0..1000 {
             /*safe*/
             let edge = u[999];
             mpi::request::scope(|scope| {
                 let receive = left.immediate_receive_into(scope, &mut ghost);
                 let send = right.immediate_send(scope, &edge);
                 for i in 1..1000 { u[i] = u[i - 1] * 0.5; }
                 receive.wait();
                 send.wait();
             });
             /*safe*/
             u[0] = ghost;
         }",
    ));
}

#[test]
fn a_request_that_is_open_is_in_the_way() {
    check(&program(
        "let right = world.process_at_rank((rank + 1) % size); let left = world.process_at_rank((rank + size - 1) % size);
         let mut x = 0.0f64;
         for step in 0..30 {
             /*safe*/
             let coming = left.immediate_receive::<f64>();
             /*unsafe*/
             right.send(&x);
             /*unsafe*/
             x += 1.0;
             let (y, _) = coming.get();
             /*safe*/
             x += y;
         }",
    ));
}

#[test]
fn structs_and_helpers_are_followed() {
    check(
        "use mpi::traits::*; use mpi::topology::SimpleCommunicator;
         struct Domain { rank: i32, size: i32, up: Option<i32>, down: Option<i32>, cells: Vec<f64> }
         impl Domain {
             fn new(world: &SimpleCommunicator, n: usize) -> Self {
                 let rank = world.rank(); let size = world.size();
                 let local = n / size as usize;
                 Domain { rank, size, up: (rank > 0).then(|| rank - 1), down: if rank + 1 < size { Some(rank + 1) } else { None }, cells: vec![0.0; local + 2] }
             }
             fn exchange(&mut self, world: &SimpleCommunicator) {
                 let last = self.cells.len() - 1;
                 if let Some(up) = self.up { world.process_at_rank(up).send(&self.cells[1]); }
                 if let Some(down) = self.down {
                     let (value, _) = world.process_at_rank(down).receive::<f64>();
                     self.cells[last] = value;
                     world.process_at_rank(down).send(&self.cells[last - 1]);
                 }
                 if let Some(up) = self.up { self.cells[0] = world.process_at_rank(up).receive::<f64>().0; }
             }
             fn relax(&mut self) -> f64 {
                 let mut change = 0.0;
                 for i in 1..self.cells.len() - 1 {
                     let new = 0.5 * (self.cells[i - 1] + self.cells[i + 1]);
                     change += (new - self.cells[i]).abs();
                     self.cells[i] = new;
                 }
                 change
             }
         }
         struct Solver<'a> { world: &'a SimpleCommunicator, domain: Domain, tolerance: f64 }
         impl Solver<'_> {
             fn run(&mut self, steps: usize) -> usize {
                 for step in 0..steps {
                     /*safe*/
                     self.domain.exchange(self.world);
                     let change = self.domain.relax();
                     let mut total = 0.0;
                     self.world.all_reduce_into(&change, &mut total, mpi::collective::SystemOperation::sum());
                     if total < self.tolerance { return step; }
                     if self.domain.rank == 0 && step % 100 == 0 { println!(\"{step} {total} {}\", self.domain.size); }
                 }
                 steps
             }
         }
         fn main() {
             let universe = mpi::initialize().unwrap();
             let world = universe.world();
             let args: Vec<String> = std::env::args().collect();
             let n = args.get(1).map(|s| s.parse().unwrap()).unwrap_or(1000);
             let steps = if args.len() > 2 { args[2].parse().unwrap() } else { 500 };
             let mut solver = Solver { domain: Domain::new(&world, n), world: &world, tolerance: 1e-9 };
             let used = solver.run(steps);
             if world.rank() == 0 { println!(\"{used}\"); }
         }",
    );
}

#[test]
fn rows_and_columns_of_a_grid_of_ranks() {
    check(&program(
        "let mut columns = 1;
         for c in 1..=size { if size % c == 0 && c * c <= size { columns = c; } }
         let rows = size / columns;
         let (row, column) = (rank / columns, rank % columns);
         let of_row = world.split_by_color(mpi::topology::Color::with_value(row)).unwrap();
         let of_column = world.split_by_color_with_key(mpi::topology::Color::with_value(column), row).unwrap();
         let mut x = 1.0f64;
         for _ in 0..40 {
             /*safe*/
             let mut sum = 0.0f64;
             of_row.all_reduce_into(&x, &mut sum, SystemOperation::sum());
             let down = of_column.process_at_rank((of_column.rank() + 1) % of_column.size());
             let up = of_column.process_at_rank((of_column.rank() + rows - 1) % rows);
             let (y, _): (f64, _) = p2p::send_receive(&sum, &down, &up);
             /*safe*/
             x = y;
         }",
    ).replace("use mpi::traits::*;", "use mpi::traits::*; use mpi::point_to_point as p2p; use mpi::collective::SystemOperation;"));
}

#[test]
fn a_grid_of_ranks_made_by_mpi() {
    check(&program(
        "let grid = world.create_cartesian_communicator(&[size], &[false], false).unwrap();
         let (source, destination) = grid.shift(0, 1);
         let mut x = 1.0f64;
         for _ in 0..40 {
             /*safe*/
             if let Some(to) = destination { grid.process_at_rank(to).send(&x); }
             /*unsafe*/
             if let Some(from) = source { x = grid.process_at_rank(from).receive::<f64>().0; }
         }",
    ));
}

#[test]
fn what_is_not_followed_is_not_safe() {
    for line in [
        "if let Some(status) = world.any_process().immediate_probe() { world.process_at_rank(status.source_rank()).receive::<i32>(); }",
        "if x > 0.5 { world.barrier(); }",
        "let to = (x * 10.0) as i32; world.process_at_rank(to).send(&x);",
        "unsafe { mpi::ffi::MPI_Win_fence(0, win); }",
        "xs.iter().map(|p| p.send(&x)).count();",
        "for _ in 0..counts[rank as usize] { world.this_process().send(&x); let _ = world.this_process().receive::<f64>(); }",
        "trade!(world, x);",
    ] {
        check(&format!(
            "macro_rules! trade {{ ($w:expr, $x:expr) => {{ $w.this_process().send(&$x) }} }} {}",
            program(&format!(
                "let counts = local_counts(); let xs = processes(); let mut x = read();
                 for step in 0..100 {{ /*unsafe*/ x += 1.0; {line} }}"
            ))
        ));
    }
}

#[test]
fn ranks_that_come_more_often_than_others_are_refused() {
    check(&program(
        "for i in 0..10 + rank { /*unsafe*/ work(i); } world.barrier();",
    ));
    check(&program(
        "let mine = count(rank); for i in 0..mine { /*unsafe*/ work(i); } world.barrier();",
    ));
    check(&program(
        "if rank == 0 { for i in 0..10 { /*unsafe*/ work(i); } } world.barrier();",
    ));
    check(&program(
        "for i in 0..10 { /*safe*/ work(i); } if rank > 0 { world.process_at_rank(0).send(&results()); } else { for _ in 0..unknown() { world.any_process().receive_vec::<f64>(); } }",
    ));
}

#[test]
fn collective_calls_must_be_aligned() {
    check(&program(
        "let mut x = 0.0f64; let root = world.process_at_rank(0);
         for step in 0..20 {
             /*safe*/
             if rank == 0 { x += 1.0; root.broadcast_into(&mut x); } else { root.broadcast_into(&mut x); }
             /*safe*/
             let mut all = vec![0.0f64; size as usize];
             if rank == 0 { root.gather_into_root(&x, &mut all[..]); } else { root.gather_into(&x); }
         }",
    ));
    check(&program(
        "let mut x = 0.0f64;
         for step in 0..20 { /*unsafe*/ if rank == 0 { world.barrier(); } else { world.process_at_rank(0).broadcast_into(&mut x); } }",
    ));
}

#[test]
fn a_probe_before_a_receive_is_followed() {
    check(&program(
        "for step in 0..20 {
             /*safe*/
             if rank == 0 {
                 for _ in 1..size {
                     let status = world.any_process().probe();
                     let (data, _) = world.process_at_rank(status.source_rank()).receive_vec::<f64>();
                     drop(data);
                 }
             } else { world.process_at_rank(0).send(&[1.0, 2.0][..]); }
             world.barrier();
         }
         for step in 0..20 {
             /*unsafe*/
             if rank == 0 {
                 for _ in 1..size {
                     let (message, status) = world.any_process().matched_probe();
                     let (data, _) = message.matched_receive::<f64>();
                     world.process_at_rank(status.source_rank()).send(&data);
                 }
             } else { let p = world.process_at_rank(0); p.send(&1.0); p.receive::<f64>(); }
         }",
    ));
}

/// Messages that are sent by what no call names.
#[test]
fn hidden_communication_is_found() {
    let with = |items: &str, setup: &str, line: &str| {
        check(&format!(
            "use mpi::topology::SimpleCommunicator; {items} {}",
            program(&format!(
                "{setup} let mut x = 1.0f64; for step in 0..100 {{ /*unsafe*/ x += 1.0; {line} }}"
            ))
        ));
    };
    // A method of a common name, whose receiver's type is not seen; an iterator; a destructor; an operator of a value.
    with(
        "struct Link<'a> { world: &'a SimpleCommunicator, n: i32 }
         impl Iterator for Link<'_> { type Item = i32; fn next(&mut self) -> Option<i32> { self.world.process_at_rank(0).send(&self.n); self.n -= 1; if self.n < 0 { None } else { Some(self.n) } } }",
        "",
        "for i in (Link { world: &world, n: 3 }) { x += f64::from(i); }",
    );
    with(
        "struct Guard<'a>(&'a SimpleCommunicator);
         impl Drop for Guard<'_> { fn drop(&mut self) { self.0.process_at_rank(0).send(&1); } }",
        "",
        "let _guard = Guard(&world);",
    );
    with(
        "struct Step<'a> { run: Box<dyn Fn(f64) + 'a> }",
        "let steps = vec![Step { run: Box::new(|x| world.process_at_rank(0).send(&x)) }; unknown()];",
        "for one in &steps { (one.run)(x); }",
    );
    with(
        "trait Halo { fn swap(&self, world: &SimpleCommunicator); } struct Plain; struct Ring;
         impl Halo for Plain { fn swap(&self, _: &SimpleCommunicator) {} }
         impl Halo for Ring { fn swap(&self, world: &SimpleCommunicator) { world.process_at_rank(0).send(&1); } }
         fn all<T: Halo>(t: &T, world: &SimpleCommunicator) { t.swap(world); } fn pick() -> Box<dyn Halo> { if true { Box::new(Plain) } else { Box::new(Ring) } }",
        "let halo = outside::choose();",
        "halo.swap(&world);",
    );
}

/// What is the same on all ranks must be that for certain.
#[test]
fn values_of_unknown_origin_do_not_decide() {
    for line in [
        "let c = std::cell::Cell::new(0); c.set(rank); if c.get() > 0 { break; }",
        "if std::time::Instant::now().elapsed().as_secs() > 5 { break; }",
        "if std::env::var(\"STOP\").is_ok() { break; }",
        "if fastrand::Rng::new().f64() > 0.5 { break; }",
        "let map = std::collections::HashMap::from([(1, 2), (3, 4)]); if let Some((k, _)) = map.iter().next() { if *k > 1 { break; } }",
        "match x.partial_cmp(&f64::from(rank)) { Some(Less) => break, _ => {} }",
        "let mut line = String::new(); std::io::stdin().read_line(&mut line).unwrap(); if line.len() > 3 { break; }",
    ] {
        check(&format!(
            "use std::cmp::Ordering::*; {}",
            program(&format!(
                "let mut x = local(); for step in 0..100 {{ /*unsafe*/ x += 1.0; {line} world.barrier(); }} world.barrier();"
            ))
        ));
    }
}

#[test]
fn a_list_that_is_lent_as_a_slice_is_still_that_list() {
    let sends = |lists: &str| {
        program(&format!(
            "let n = std::env::args().count();
             let (mut x, mut y) = (vec![0u8; n], vec![1u8; n]);
             {lists}
             for _ in 0..4 {{
                 /*unsafe*/
                 if a != b && rank == 0 && size > 1 {{ world.process_at_rank(1).send(&1u8); }}
             }}"
        ))
    };
    let slices = "let (a, b) = (x.as_mut_slice(), y.as_mut_slice());";
    check(&sends(slices));
    // Three parts are not nothing.
    let parts = "let (a, b) = (x.select_nth_unstable(0), y.select_nth_unstable(0));";
    check(&sends(parts));
}

/// Whoever leaves by its own data ends without another message, and the others wait for it in the next collective call for
/// ever: no line can be one of both.
#[test]
fn a_rank_that_leaves_for_good_by_its_own_data() {
    for leaves in [
        "break;",
        "println!(\"diverged\"); break;",
        "return;",
        "panic!(\"diverged\");",
        "std::process::exit(3);",
    ] {
        check(&program(&format!(
            "let mut x = f64::from(rank); let mut total = 0.0;
             for step in 0..30 {{
                 /*safe*/
                 x = x * 1.01 + f64::from(step);
                 if x > 1e9 {{ {leaves} }}
                 world.all_reduce_into(&x, &mut total, mpi::collective::SystemOperation::sum());
             }}
             println!(\"{{x}} {{total}}\");"
        )));
    }
    // In a function, and by the other arm.
    check(&format!(
        "{}}} fn run(world: &SimpleCommunicator, rank: i32) -> f64 {{
            let mut x = f64::from(rank); let mut total = 0.0;
            for step in 0..30 {{
                /*safe*/
                x = x * 1.01;
                if x < 1e9 {{ x += 1.0; }} else {{ return x; }}
                world.all_reduce_into(&x, &mut total, mpi::collective::SystemOperation::sum());
            }}
            total
        }}",
        program("println!(\"{}\", run(&world, rank));").trim_end_matches('}')
    ));
}

/// The others do not wait for it: they go on to the site without it.
#[test]
fn a_rank_that_leaves_others_to_go_on() {
    check(&program(
        "let mut x = f64::from(rank);
         for step in 0..30 {
             /*unsafe*/
             x = x * 1.01 + f64::from(step);
             if x > 1e9 { break; }
             if rank == 0 && size > 1 { world.process_at_rank(1).send(&x); }
             if rank == 1 { let (y, _) = world.process_at_rank(0).receive::<f64>(); x += y; }
         }",
    ));
    check(&program(
        "let mut x = f64::from(rank); let mut total = 0.0;
         for step in 0..30 {
             /*unsafe*/
             x = x * 1.01 + f64::from(step);
             if x > 1e9 { break; }
             world.all_reduce_into(&x, &mut total, mpi::collective::SystemOperation::sum());
         }
         world.all_reduce_into(&x, &mut total, mpi::collective::SystemOperation::sum());",
    ));
}

/// Nothing is exchanged in the loop, whatever each rank does in it, and all come to behind it.
#[test]
fn loops_that_each_rank_goes_round_as_often_as_it_does() {
    let chunk = "for item in rank * 10..(rank + 1) * rank { x += f64::from(item); }";
    let step =
        "for item in (rank..100).step_by(size as usize) { x += f64::from(item); if x > 1e9 { break; } }";
    let data = "while x < 1e3 { x = x * 1.5 + 1.0; }";
    let sends = "while x < 1e3 { x = x * 1.5 + 1.0; if rank == 0 && size > 1 { world.process_at_rank(1).send(&x); } }";
    let leaves = "for item in 0..rank { x += 1.0; if x > 5.0 { return; } }";
    for (of_loop, is_one) in [
        (chunk, true),
        (step, true),
        (data, true),
        (sends, false),
        (leaves, false),
    ] {
        let text = program(&format!(
            "let mut x = 1.0; let mut total = 0.0; {of_loop} world.all_reduce_into(&x, &mut total, mpi::collective::SystemOperation::sum());"
        ));
        let analysis = analysed(&[("main.rs", &text)]);
        let main = analysis.items.main_of(0).expect("a main");
        let points = analysis.safe_points(main, None).expect("it uses MPI");
        let body = analysis.graph.loops[0].body_at.expect("a body");
        let end = points.behind_quiet(main.0, body);
        assert_eq!(end.is_some(), is_one, "{of_loop}");
        if let Some(end) = end {
            assert_eq!(&text[end - of_loop.len()..end], of_loop);
            points
                .check(&[(main.0, end)])
                .unwrap_or_else(|obstacle| panic!("{of_loop}: {obstacle}"));
        }
    }
}
