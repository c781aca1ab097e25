//! Where the sites go.

use super::{instrumented, placed, sites};
use crate::placement::Holder;
use crate::placement::expressible::arguments;

fn one(function: &str, calls: &[&str]) -> (String, Vec<String>) {
    (
        function.into(),
        calls.iter().map(|name| (*name).to_owned()).collect(),
    )
}

#[test]
fn the_time_loop_of_main_is_taken() {
    let (analysis, placement) = placed(&[
        (
            "main.rs",
            "mod grid; use grid::Grid;
             fn main() {
                 let n: usize = std::env::args().nth(1).unwrap().parse().unwrap();
                 let mut grid = Grid::new(n);
                 for step in 0..n { grid.step(); if step % 10 == 0 { println!(\"{step}\"); } }
                 println!(\"{}\", grid.sum());
             }",
        ),
        (
            "grid.rs",
            "pub struct Grid { cells: Vec<f64>, n: usize }
             impl Grid {
                 pub fn new(n: usize) -> Self { Grid { cells: vec![1.0; n * n], n } }
                 pub fn step(&mut self) { for i in 1..self.n { for j in 1..self.n { self.cells[i * self.n + j] *= 0.5; } } }
                 pub fn sum(&self) -> f64 { self.cells.iter().sum() }
             }",
        ),
    ]);
    assert_eq!(sites(&placement), ["for step in 0..n"]);
    assert_eq!(instrumented(&analysis, &placement), [one("main", &[])]);
    assert!(placement.coverage > 0.9);
}

#[test]
fn all_functions_on_the_way_are_marked() {
    let (analysis, placement) = placed(&[
        (
            "main.rs",
            "mod sim;
             fn run() -> Result<(), String> { let mut s = sim::Sim { x: vec![0.0; 10] }; s.evolve(1000)?; Ok(()) }
             fn main() { if let Err(e) = run() { eprintln!(\"{e}\"); std::process::exit(1); } }",
        ),
        (
            "sim.rs",
            "pub struct Sim { pub x: Vec<f64> }
             impl Sim {
                 pub fn evolve(&mut self, steps: usize) -> Result<(), String> { for _ in 0..steps { Self::advance(self); } Ok(()) }
                 fn advance(&mut self) { for x in &mut self.x { *x += 1.0; } }
             }",
        ),
    ]);
    assert_eq!(sites(&placement), ["for _ in 0..steps"]);
    assert_eq!(
        instrumented(&analysis, &placement),
        [
            one("main", &["run"]),
            one("run", &["evolve"]),
            one("sim::Sim::evolve", &[])
        ]
    );
}

#[test]
fn few_coarse_repetitions_are_gone_into() {
    let (_, placement) = placed(&[(
        "main.rs",
        "fn solve(n: usize) -> f64 { let mut x = 0.0; for it in 0..n { for i in 0..n { x += (i * it) as f64; } } x }
         fn main() { let n = std::env::args().count(); for rep in 0..3 { println!(\"{}\", solve(n)); } }",
    )]);
    assert_eq!(sites(&placement), ["for it in 0..n"]);
}

#[test]
fn phases_that_follow_each_other_get_one_each() {
    let (_, placement) = placed(&[(
        "main.rs",
        "fn main() {
             let mut v = vec![0.0_f64; 1000];
             for step in 0..1000 { for i in 0..1000 { v[i] += step as f64; } }
             for step in 0..2000 { for i in 0..1000 { v[i] *= 0.5; } }
             for i in 0..10 { println!(\"{}\", v[i]); }
         }",
    )]);
    assert_eq!(sites(&placement), ["for step in 0..1000", "for step in 0..2000"]);
}

#[test]
fn a_loop_in_a_closure_is_left_for_the_one_outside() {
    let (_, placement) = placed(&[(
        "main.rs",
        "fn work(k: usize) -> f64 { let mut s = 0.0; for step in 0..1000 { for j in 0..1000 { s += (j * k + step) as f64; } } s }
         fn main() {
             let mut all = Vec::new();
             for k in 0..4 { all.extend((0..5).map(|i| work(i + k))); }
             println!(\"{all:?}\");
         }",
    )]);
    assert_eq!(sites(&placement), ["for k in 0..4"]);
}

#[test]
fn a_function_may_have_another_name_by_use() {
    let (analysis, placement) = placed(&[
        (
            "main.rs",
            "mod solver; use solver::advance as run;
             fn main() { let mut x = vec![1.0; 100]; run(&mut x, 2); println!(\"{}\", x[3]); }",
        ),
        (
            "solver.rs",
            "pub fn advance(x: &mut Vec<f64>, step: usize) { for turn in 0..10000 { for k in 1..x.len() { x[k] += x[k - 1] * (turn + step) as f64; } } }",
        ),
    ]);
    assert_eq!(sites(&placement), ["for turn in 0..10000"]);
    let main = analysis.items.main_of(0).expect("a main");
    assert_eq!(
        arguments(&analysis, main, &["run".to_owned()]),
        "calls(run), named(run = advance)"
    );
}

#[test]
fn a_function_may_be_chosen_and_kept_in_a_variable() {
    let work = "fn slow(x: &mut Vec<f64>, step: usize) { for turn in 0..10000 { for k in 1..x.len() { x[k] += x[k - 1] * (turn + step) as f64; } } }
         fn fast(x: &mut Vec<f64>, step: usize) { for round in 0..9000 { for k in 1..x.len() { x[k] += (round + step) as f64; } } }
         fn pick(is_slow: bool) -> fn(&mut Vec<f64>, usize) { if is_slow { slow } else { fast } }";
    for run in [
        "let run = if step > 1 { slow } else { fast }; run(&mut x, step);",
        "let run = pick(step > 1); run(&mut x, step);",
    ] {
        let main = format!(
            "fn main() {{ let mut x = vec![1.0; 100]; let step = std::env::args().count(); {run} println!(\"{{}}\", x[3]); }}"
        );
        let (analysis, placement) = placed(&[("main.rs", &format!("{work} {main}"))]);
        assert_eq!(
            sites(&placement),
            ["for turn in 0..10000", "for round in 0..9000"],
            "{run}"
        );
        let main = analysis.items.main_of(0).expect("a main");
        assert_eq!(
            arguments(&analysis, main, &["run".to_owned()]),
            "calls(run), named(run = fast, run = slow)"
        );
    }
}

#[test]
fn a_closure_that_is_called_where_it_stands_is_entered() {
    let (analysis, placement) = placed(&[(
        "main.rs",
        "fn run(n: usize) -> Result<f64, String> { let mut s = 0.0; for step in 0..n { for j in 0..1000 { s += (j * step) as f64; } } Ok(s) }
         fn main() {
             if let Err(why) = (|| -> Result<(), String> { let sum = run(10000)?; println!(\"{sum}\"); Ok(()) })() { eprintln!(\"{why}\"); }
             let all = (move |n: usize| { let mut s = 0.0; for round in 0..n { for j in 0..1000 { s += (j * round) as f64; } } s })(10000);
             println!(\"{all}\");
         }",
    )]);
    assert_eq!(sites(&placement), ["for step in 0..n", "for round in 0..n"]);
    assert_eq!(
        instrumented(&analysis, &placement),
        [one("main", &["run"]), one("run", &[])]
    );
    assert!(placement.coverage > 0.9);
}

#[test]
fn a_function_that_is_also_called_in_a_closure_cannot_hold_a_site() {
    let (_, placement) = placed(&[(
        "main.rs",
        "fn relax(v: &mut Vec<f64>) { for it in 0..100 { for i in 1..1000 { v[i] = 0.5 * (v[i] + v[i - 1]) + it as f64; } } }
         fn main() {
             let mut v = vec![0.0; 1000];
             for rep in 0..3 { relax(&mut v); }
             std::thread::spawn(move || relax(&mut v)).join().unwrap();
         }",
    )]);
    assert_eq!(sites(&placement), ["for rep in 0..3"]);
    let refused = &placement
        .rejected
        .iter()
        .find(|one| one.header.contains("it in"))
        .expect("tried")
        .reasons;
    assert!(
        refused[0]
            .cause
            .words()
            .what
            .to_string()
            .contains("inside a closure"),
        "{refused:?}"
    );
}

#[test]
fn where_a_site_cannot_be_expressed_the_reason_is_kept() {
    let (_, placement) = placed(&[(
        "main.rs",
        "fn main() {
             let mut v = vec![0.0_f64; 1000];
             v.sort_by_cached_key(|x| { let mut y = *x; for step in 0..5000 { for k in 0..100 { y += (step * k) as f64; } } y as u64 });
             println!(\"{}\", v[0]);
         }",
    )]);
    assert!(placement.sites.is_empty(), "{placement}");
    assert!(!placement.rejected.is_empty());
    assert!(
        placement.rejected[0].reasons[0]
            .cause
            .words()
            .what
            .to_string()
            .contains("closure"),
        "{placement}"
    );
}

#[test]
fn a_recursion_gets_a_site_before_it_goes_deeper() {
    let (analysis, placement) = placed(&[(
        "main.rs",
        "fn sort(v: &mut [f64], low: usize, high: usize) {
             if high - low < 2 { return; }
             let mut m = low;
             for i in low..high { if v[i] < v[high - 1] { v.swap(i, m); m += 1; } }
             sort(v, low, m);
             sort(v, m + 1, high);
         }
         fn main() { let mut v = vec![0.5; 1000]; let n = v.len(); sort(&mut v, 0, n); println!(\"{}\", v[0]); }",
    )]);
    assert_eq!(placement.sites.len(), 1, "{placement}");
    let site = &placement.sites[0];
    assert_eq!(site.site.holder, Holder::Recursion);
    assert_eq!(
        instrumented(&analysis, &placement),
        [one("main", &["sort"]), one("sort", &["sort"])]
    );
}

#[test]
fn a_recursion_gets_its_site_where_it_mostly_goes_deeper() {
    let (_, placement) = placed(&[(
        "main.rs",
        "fn run(cells: &mut Vec<u8>, at: usize) -> bool {
             if at == cells.len() { return true; }
             if cells[at] != 0 {
                 return run(cells, at + 1);
             }
             for digit in 1..=9 {
                 cells[at] = digit;
                 if run(cells, at + 1) { return true; }
             }
             false
         }
         fn main() { let mut c = vec![0; 81]; println!(\"{}\", run(&mut c, 0)); }",
    )]);
    assert_eq!(placement.sites[0].place.line, 6, "{placement}");
}

#[test]
fn a_recursion_through_a_loop_gets_its_site_before_the_loop() {
    let (analysis, placement) = placed(&[(
        "main.rs",
        "fn queens(row: usize, columns: &mut Vec<usize>, n: usize) -> u64 {
             if row == n { return 1; }
             let mut found = 0;
             for column in 0..n {
                 if columns.iter().all(|other| *other != column) {
                     columns.push(column);
                     found += queens(row + 1, columns, n);
                     columns.pop();
                 }
             }
             found
         }
         fn main() { let mut c = Vec::new(); println!(\"{}\", queens(0, &mut c, 12)); }",
    )]);
    let site = &placement.sites[0];
    let text = &analysis.items.function(site.function).name;
    assert_eq!((site.site.holder, text.as_str()), (Holder::Recursion, "queens"));
    assert_eq!(site.place.line, 4, "{placement}");
}

#[test]
fn each_command_of_a_program_gets_its_site() {
    let (_, placement) = placed(&[(
        "main.rs",
        "fn simulate(n: usize) -> f64 { let mut s = 0.0; for step in 0..n { for k in 0..n { s += (k * step) as f64; } } s }
         fn bench(n: usize) -> f64 { let mut s = 0.0; for run in 0..n { for k in 0..n { for l in 0..n { s += (k * l * run) as f64; } } } s }
         fn main() {
             let mode = std::env::args().nth(1).unwrap();
             match mode.as_str() { \"bench\" => println!(\"{}\", bench(mode.len())), _ => println!(\"{}\", simulate(mode.len())) }
         }",
    )]);
    assert_eq!(sites(&placement), ["for step in 0..n", "for run in 0..n"]);
}

#[test]
fn many_small_phases_get_one_each() {
    let mut text = String::new();
    let mut main = String::from("fn main() { let n = std::env::args().count();");
    for k in 0..30 {
        text += &format!(
            "fn test{k}(n: usize) -> f64 {{ let mut s = {k}.0; for step in 0..n {{ for j in 0..n {{ s += (j * step) as f64; }} }} s }}\n"
        );
        main += &format!("println!(\"{{}}\", test{k}(n));\n");
    }
    let (_, placement) = placed(&[("main.rs", &(text + &main + "}"))]);
    assert!(placement.sites.len() > 15, "{placement}");
    assert!(placement.coverage > 0.5, "{}", placement.coverage);
}

#[test]
fn threads_that_do_the_work_are_named_as_the_reason() {
    let (_, placement) = placed(&[(
        "main.rs",
        "fn main() {
             let mut image = vec![0.0; 4000];
             image.chunks_mut(40).enumerate().par_bridge().for_each(|(y, row)| for x in row.iter_mut() { for k in 0..1000 { *x += (k * y) as f64; } });
             let handles: Vec<u32> = vec![1, 2, 3];
             for h in handles { println!(\"{h}\"); }
         }",
    )]);
    assert!(placement.sites.is_empty(), "{placement}");
    assert!(
        placement.rejected[0].reasons[0]
            .cause
            .words()
            .what
            .to_string()
            .contains(".for_each(..)"),
        "{placement}"
    );
}

#[test]
fn what_the_user_has_marked_is_kept() {
    let (analysis, placement) = placed(&[(
        "main.rs",
        "#[ckpt::instrument]
         fn advance(v: &mut Vec<f64>) { for i in 0..1000 { ckpt::checkpoint!(); v[i] += 1.0; } }
         fn run(v: &mut Vec<f64>) { for step in 0..100 { advance(v); } }
         fn main() { let mut v = vec![0.0; 1000]; run(&mut v); }",
    )]);
    assert_eq!(
        instrumented(&analysis, &placement),
        [
            one("main", &["run"]),
            one("run", &["advance"]),
            one("advance", &[])
        ]
    );
    assert!(placement.functions[2].by_user && !placement.functions[1].by_user);
    assert_eq!(placement.sites[0].site.holder, Holder::User);
}

#[test]
fn an_async_main_is_refused_with_a_reason() {
    let (_, placement) = placed(&[(
        "main.rs",
        "async fn main() { let mut x = 0.0; for step in 0..1000 { for k in 0..1000 { x += (step * k) as f64; } } println!(\"{x}\"); }",
    )]);
    assert!(placement.sites.is_empty());
    assert!(
        placement.rejected[0].reasons[0]
            .cause
            .words()
            .what
            .to_string()
            .contains("async")
    );
}

#[test]
fn a_program_without_loops_has_nothing_to_place() {
    let (_, placement) = placed(&[("main.rs", "fn main() { println!(\"hello\"); }")]);
    assert!(placement.sites.is_empty() && placement.functions.is_empty());
}

/// How long a recursion takes nobody knows: of two loops that are known to be short, the inner one has more visits.
#[test]
fn a_recursion_in_few_iterations_has_its_site_in_the_innermost_of_the_loops() {
    let text = "const SIX: [char; 6] = ['>', '<', '.', '~', '[', ']'];
         fn search(left: usize, program: &mut Vec<char>, found: &mut u64) {
             if left == 0 { let s: u32 = program.iter().map(|c| *c as u32).sum(); if s % 97 == 0 { *found += 1; } return; }
             let closure = |c: &char| { program.push(*c); search(left - 1, program, found); program.pop(); };
             SIX.iter().for_each(closure);
         }
         fn main() {
             let mut found = 0;
             for a in SIX { for b in SIX { let mut program = vec![a, b]; search(9, &mut program, &mut found); } }
             println!(\"{found}\");
         }";
    let (_, placement) = placed(&[("main.rs", text)]);
    assert_eq!(sites(&placement), ["for b in SIX"], "{placement}");
    // With so many of them the outer one will do.
    let (_, placement) = placed(&[("main.rs", &text.replace("for a in SIX", "for a in ['>'; 200]"))]);
    assert_eq!(sites(&placement), ["for a in ['>'; 200]"], "{placement}");
}

/// What a recursion costs is a guess. Called in a loop over loops, it is not as long as that.
#[test]
fn a_recursion_deep_in_loops_leaves_the_site_to_the_loops() {
    let (_, placement) = placed(&[(
        "main.rs",
        "trait Shape { fn hit(&self, x: f64) -> f64; }
         struct Ball(f64);
         impl Shape for Ball { fn hit(&self, x: f64) -> f64 { (x * x + self.0).sqrt().sin().exp() } }
         struct World { all: Vec<Box<dyn Shape>> }
         impl Shape for World { fn hit(&self, x: f64) -> f64 { let mut best = 0.0; for one in &self.all { best += one.hit(x); } best } }
         fn color(world: &World, x: f64, depth: u32) -> f64 {
             if depth == 0 { return 0.0; }
             let first = world.hit(x);
             0.5 * color(world, first, depth - 1)
         }
         fn main() {
             let world = World { all: vec![Box::new(Ball(1.0)), Box::new(Ball(2.0))] };
             let mut sum = 0.0;
             for j in 0..500 { for i in 0..800 { for _ in 0..10 { sum += color(&world, (i * j) as f64, 50); } println!(\"{sum}\"); } }
         }",
    )]);
    assert_eq!(sites(&placement), ["for j in 0..500"]);
}

/// A parser that calls itself in a loop is not what a program runs for.
#[test]
fn a_recursion_in_a_loop_of_unknown_length_does_not_outweigh_a_long_loop() {
    let (_, placement) = placed(&[(
        "main.rs",
        "enum Node { Leaf(f64), List(Vec<Node>) }
         fn parse(text: &mut std::str::Chars<'_>) -> Node {
             let mut list = Vec::new();
             loop {
                 match text.next() {
                     Some('(') => list.push(parse(text)),
                     Some(c) if c.is_ascii_digit() => list.push(Node::Leaf(c as u8 as f64)),
                     _ => return Node::List(list),
                 }
             }
         }
         fn main() {
             let trees: Vec<Node> = [\"(1)\", \"(2(3))\"].iter().map(|text| parse(&mut text.chars())).collect();
             let mut x = vec![0.0; 500];
             for step in 0..2000 { for i in 0..500 { x[i] += (step as f64).sqrt() * trees.len() as f64; } println!(\"{}\", x[1]); }
         }",
    )]);
    let share = |header: &str| {
        let mut sites = placement.sites.iter();
        sites
            .find(|one| one.header == header)
            .map_or(0.0, |one| one.share)
    };
    assert!(
        share("for step in 0..2000") > 2.0 * share("fn parse"),
        "{placement}"
    );
    assert!(placement.coverage > 0.5, "{}", placement.coverage);
}

#[test]
fn closures_of_iterators_that_run_where_they_stand_are_loops() {
    let functions = "fn simulate(k: usize, rounds: usize) -> f64 {
             let mut x = k as f64;
             for _ in 0..rounds { for j in 0..3000 { x += (j as f64).sin(); } }
             x
         }";
    for (chain, wanted) in [
        (
            "let all: Vec<f64> = (0..400).map(|k| simulate(k, 5)).collect();",
            ".map(|k| simulate(k, 5) ..)",
        ),
        (
            "let all = (0..400).map(|k| { let x = simulate(k, 5); x }).sum::<f64>();",
            ".map(|k| ..)",
        ),
        (
            "let mut all = 0.0; (0..400).for_each(|k| all += simulate(k, 5));",
            ".for_each(|k| all += simulate(k, 5) ..)",
        ),
        (
            "let all = (0..400).fold(0.0, |sum, k| sum + simulate(k, 5));",
            ".fold(|sum, k| sum + simulate(k, 5) ..)",
        ),
        (
            "let all = (0..3).map(|k| simulate(k, 5000)).collect::<Vec<f64>>();",
            "for _ in 0..rounds",
        ),
        (
            "let mut all = 0.0; let it = (0..400).map(|k| simulate(k, 5)); for x in it { all += x; }",
            "for x in it",
        ),
    ] {
        let text = format!("{functions} fn main() {{ {chain} println!(\"{{:?}}\", all); }}");
        let (_, placement) = placed(&[("main.rs", &text)]);
        assert_eq!(sites(&placement), [wanted], "{chain}");
    }
}

#[test]
fn macros_of_the_program_are_looked_through() {
    let text = |leaves: &str| {
        format!(
            "macro_rules! renew {{ ($held:expr, $k:expr) => {{ drop($held); {leaves} $held = step($k); }} }}
             fn step(k: u64) -> Vec<u64> {{ (0..100_000).map(|i| i * k).collect() }}
             fn main() {{
                 let mut held = step(1);
                 for k in 0..1000 {{
                     let old = held;
                     held = step(k + old[1]);
                     renew!(held, k);
                 }}
             }}"
        )
    };
    let told = |leaves: &str| {
        let (analysis, placement) = placed(&[("main.rs", &text(leaves))]);
        let candidates = placement.candidates();
        let main = candidates.iter().find(|one| one.opens_session);
        main.map(|one| arguments(&analysis, one.function, &one.calls))
    };
    assert_eq!(told("").as_deref(), Some("means(stays(renew))"));
    assert_eq!(told("if $k > 900 { break; }").as_deref(), Some(""));
}

#[test]
fn where_a_package_asks_how_many_own_a_value_every_function_keeps_them() {
    let told = |answer: &str| {
        let text = format!(
            "use std::rc::Rc;
             struct Last(Rc<u64>);
             impl Drop for Last {{ fn drop(&mut self) {{ println!(\"{{}}\", {answer}); }} }}
             fn step(k: u64) -> u64 {{ (0..100_000).map(|i| i * k).sum() }}
             fn main() {{
                 let last = Last(Rc::new(1));
                 let mut sum = 0;
                 for k in 0..1000 {{ sum += step(k); }}
                 println!(\"{{sum}}\");
             }}"
        );
        let (analysis, placement) = placed(&[("main.rs", &text)]);
        let candidates = placement.candidates();
        let main = candidates.iter().find(|one| one.opens_session);
        main.map(|one| arguments(&analysis, one.function, &one.calls))
    };
    assert_eq!(told("Rc::strong_count(&self.0)").as_deref(), Some("owners"));
    assert_eq!(
        told("Rc::get_mut(&mut self.0).is_some()").as_deref(),
        Some("owners")
    );
    assert_eq!(told("self.0").as_deref(), Some(""));
}

#[test]
fn a_function_that_a_destructor_calls_holds_no_site() {
    let told = |drop: &str| {
        let text = format!(
            "struct Log {{ lines: Vec<u64>, sum: u64 }}
             impl Log {{
                 fn flush(&mut self) {{
                     let lines = std::mem::take(&mut self.lines);
                     for line in lines {{ self.sum += (0..300_000).map(|i| i * line).sum::<u64>(); }}
                 }}
                 fn end(&mut self) {{ self.flush(); }}
             }}
             impl Drop for Log {{ fn drop(&mut self) {{ {drop} }} }}
             fn main() {{
                 let mut log = Log {{ lines: (0..1000).collect(), sum: 0 }};
                 log.flush();
                 println!(\"{{}}\", log.sum);
             }}"
        );
        placed(&[("main.rs", &text)]).1
    };
    assert_eq!(sites(&told("println!(\"{}\", self.sum);")), ["for line in lines"]);
    for drop in ["self.flush();", "self.end();", "Log::end(self)"] {
        let placement = told(drop);
        assert!(placement.sites.is_empty(), "{drop}");
        let reasons = placement.rejected.iter().flat_map(|one| &one.reasons);
        let words: Vec<_> = reasons.filter_map(|one| one.cause.code()).collect();
        assert!(
            words.contains(&ckpt_compiler::diagnostics::Code(1301)),
            "{drop}: {words:?}"
        );
    }
}

const SCOPED: &str = "fn main() {
         let mut grid = vec![0.0_f64; 4000];
         std::thread::scope(|s| {
             for part in grid.chunks_mut(1000) {
                 s.spawn(move || {
                     for step in 0..500 { for v in part.iter_mut() { *v = 0.5 * *v + step as f64; LOCAL } }
                 });
             }
         });
         println!(\"{}\", grid[7]);
     }";

#[test]
fn the_time_loop_of_scoped_threads_is_chosen() {
    let (_, placement) = placed(&[("main.rs", &SCOPED.replace("LOCAL", ""))]);
    assert_eq!(sites(&placement), ["for step in 0..500"]);
}

#[test]
fn threads_of_a_program_with_thread_locals_have_no_sites() {
    let text = format!(
        "thread_local! {{ static SUM: std::cell::Cell<f64> = const {{ std::cell::Cell::new(0.0) }}; }}\n{}",
        SCOPED.replace("LOCAL", "SUM.set(SUM.get() + *v);")
    );
    let (_, placement) = placed(&[("main.rs", &text)]);
    assert!(sites(&placement).iter().all(|site| !site.contains("step")));
    let refused = placement.rejected.iter().find(|one| one.header.contains("step"));
    let what = &refused.expect("tried").reasons[0].cause.words().what.to_string();
    assert!(what.contains("keeps `SUM` per thread"), "{what}");
}

/// What the refusal says to write instead has a site.
#[test]
fn work_of_a_pool_can_be_given_to_threads_of_a_scope() {
    let text = |scope: &str, given: &str| {
        format!(
            "fn work(part: &mut [f64], turns: usize) {{ for turn in 0..turns {{ for x in part.iter_mut() {{ *x += turn as f64; }} }} }}
             fn main() {{ let turns = std::env::args().count() * 1000; let mut grid = vec![0.0; 4000];
             {scope}::scope(|s| {{ for part in grid.chunks_mut(1000) {{ s.spawn(move |{given}| work(part, turns)); }} }});
             println!(\"{{}}\", grid[7]); }}"
        )
    };
    let (_, placement) = placed(&[("main.rs", &text("rayon", "_"))]);
    assert!(placement.sites.is_empty());
    for rejected in &placement.rejected {
        let reason = &rejected.reasons[0];
        assert!(
            reason
                .cause
                .words()
                .what
                .to_string()
                .contains("inside a closure that a thread of rayon's pool runs"),
            "{reason:?}"
        );
        assert!(
            reason
                .cause
                .words()
                .instead
                .to_string()
                .contains("`std::thread::scope(|s| ..)`"),
            "{reason:?}"
        );
    }
    assert!(!placement.rejected.is_empty());
    let (_, placement) = placed(&[("main.rs", &text("std::thread", ""))]);
    assert_eq!(sites(&placement), ["for turn in 0..turns"]);
}

/// A program whose whole work is one parallel iterator.
fn parallel(chain: &str) -> String {
    format!(
        "use rayon::prelude::*;
         fn work(k: u64) -> u64 {{ let mut x = k; for _ in 0..1000 {{ x = x.wrapping_mul(6364136223846793005).wrapping_add(1); }} x }}
         fn main() {{ let n = std::env::args().count() as u64 * 100; let mut rows = vec![0u64; 5000]; {chain}; println!(\"{{rows:?}}\"); }}"
    )
}

#[test]
fn a_parallel_iterator_that_is_the_whole_program_has_a_site_between_its_blocks() {
    for (chain, site) in [
        (
            "let v: Vec<u64> = (0..n).into_par_iter().map(|k| work(k)).collect(); rows.extend(v)",
            ".map(|k| work(k) ..)",
        ),
        (
            "println!(\"{}\", (0..n).into_par_iter().map(work).sum::<u64>())",
            ".map(work)",
        ),
        (
            "rows.par_chunks_mut(50).enumerate().for_each(|(y, row)| { for x in row.iter_mut() { *x = work(y as u64); } })",
            ".for_each(|(y, row)| ..)",
        ),
        (
            "let old = rows.clone(); rows.par_iter_mut().zip(&old).for_each(|(x, y)| *x = work(*y))",
            ".for_each(|(x, y)| *x = work(*y) ..)",
        ),
        (
            "(0..n).into_par_iter().rev().for_each(|k| { work(k); })",
            ".for_each(|k| ..)",
        ),
    ] {
        let (_, placement) = placed(&[("main.rs", &parallel(chain))]);
        assert_eq!(sites(&placement), [site], "{chain}");
        assert!(placement.coverage > 0.9 && !placement.sites[0].hot, "{chain}");
        assert!(placement.sites[0].why.contains("between blocks"));
    }
}

#[test]
fn short_items_of_a_parallel_iterator_are_no_hindrance() {
    let chain = "rows.par_iter_mut().for_each(|x| *x += n); for _ in 0..2 { rows.par_iter_mut().for_each(|x| *x ^= 3); }";
    let (_, placement) = placed(&[("main.rs", &parallel(chain))]);
    assert!(placement.coverage > 0.5, "{placement}");
}

#[test]
fn what_cannot_be_cut_into_blocks_has_no_site() {
    for chain in [
        "(0..n).into_par_iter().chain(0..n).for_each(|k| { work(k); })",
        "rows.iter_mut().par_bridge().for_each(|x| *x = work(*x))",
        "rows.par_iter_mut().skip(7).enumerate().for_each(|(k, x)| *x = work(k as u64))",
        "rayon::scope(|_| rows.par_iter_mut().for_each(|x| *x = work(*x)))",
    ] {
        let (_, placement) = placed(&[("main.rs", &parallel(chain))]);
        assert!(placement.sites.is_empty(), "{chain}: {placement}");
        assert!(!placement.rejected.is_empty(), "{chain}");
    }
}

#[test]
fn ranks_and_threads_of_a_region_do_not_come_to_sites_between_blocks() {
    let of_ranks = parallel("(0..n).into_par_iter().for_each(|k| { work(k); })")
        .replace(
            "fn main() {",
            "fn main() { let universe = mpi::initialize().unwrap(); let _world = universe.world();",
        )
        .replace("use rayon", "use mpi::traits::*; use rayon");
    let of_threads =
        parallel("std::thread::scope(|s| { s.spawn(|| rows.par_iter_mut().for_each(|x| *x = work(*x))); })");
    for text in [of_ranks, of_threads] {
        let (_, placement) = placed(&[("main.rs", &text)]);
        assert!(placement.sites.is_empty(), "{placement}");
    }
}

#[test]
fn it_is_said_where_sums_of_floats_are_of_parts() {
    let why = |chain: &str| {
        let (_, placement) = placed(&[("main.rs", &parallel(chain))]);
        placement.sites[0].why.contains("last digits")
    };
    assert!(why(
        "let s: f64 = (0..n).into_par_iter().map(|k| work(k) as f64).sum(); println!(\"{s}\")"
    ));
    assert!(!why(
        "println!(\"{}\", (0..n).into_par_iter().map(work).sum::<u64>())"
    ));
    assert!(!why(
        "println!(\"{}\", (0..n).into_par_iter().filter(|k| work(*k) > 9).count())"
    ));
    assert!(why(
        "println!(\"{}\", (0..n).into_par_iter().map(work).reduce(|| 0, |a, b| a + b))"
    ));
}

#[test]
fn an_item_for_each_thread_is_not_reached_by_a_site_between_blocks() {
    for threads in [
        "num_cpus::get()",
        "std::thread::available_parallelism().unwrap().get()",
        "rayon::current_num_threads()",
        "4",
    ] {
        let chain = format!(
            "let data = std::fs::read(\"data\").unwrap();
             let walk = |k: u64| {{ let mut x = k; for turn in 0..5000 {{ for b in &data {{ x = x * 3 + work(*b as u64) + turn; }} }} x }};
             let v: Vec<u64> = (0..{threads} as u64).into_par_iter().map(|k| walk(k)).collect(); rows.extend(v)"
        );
        let (_, placement) = placed(&[("main.rs", &parallel(&chain))]);
        assert_eq!(sites(&placement), [".map(|k| walk(k) ..)"], "{threads}");
        assert!(
            placement.coverage < 0.1 && placement.leaves_most_outside(),
            "{threads}: {placement}"
        );
    }
}

#[test]
fn a_function_that_threads_of_the_pool_call_too_has_no_site() {
    let text = "use rayon::prelude::*;
         fn simulate(n: u64) -> u64 { let mut s = 0; for step in 0..n { for k in 0..100_000 { s = s * 3 + k * step; } } s }
         fn main() {
             let n = std::env::args().count() as u64 * 100;
             println!(\"{}\", simulate(n));
             let all: Vec<u64> = (0..n).into_par_iter().map(|k| simulate(k)).collect();
             println!(\"{all:?}\");
         }";
    let (_, placement) = placed(&[("main.rs", text)]);
    assert_eq!(sites(&placement), [".map(|k| simulate(k) ..)"], "{placement}");
}
