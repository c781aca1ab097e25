//! Trips and shares.

use super::{analysed, function};
use crate::cost::LoopCost;

/// Trips of the loops of a program, in order; `None` where they are guessed.
fn trips(text: &str) -> Vec<Option<f64>> {
    let (analysis, costs) = costs(text);
    let of = |one: &crate::calls::Loop| {
        let cost: LoopCost = costs.loops[one.id.0];
        cost.known.then_some(cost.trips)
    };
    analysis.graph.loops.iter().map(of).collect()
}

fn costs(text: &str) -> (crate::Analysis, crate::cost::Costs) {
    let analysis = analysed(&[("main.rs", text)]);
    let costs = analysis.costs(function(&analysis, "main"));
    (analysis, costs)
}

#[test]
fn constants_are_folded() {
    let found = trips(
        "const N: usize = 1 << 4; const M: usize = N * 2; const T: [f64; 3] = [1.0, 2.0, 3.0];
         struct G; impl G { const K: usize = 7; }
         fn main() {
             let half = M / 2;
             for i in 0..N {}
             for i in (0..=half).rev() {}
             for i in (0..M).step_by(4) {}
             for t in T {}
             for t in T.iter().zip(0..9) {}
             for i in 0..G::K {}
             let v = vec![0.0; N + 1];
             for i in 1..v.len() - 1 {}
             let mut i = 0;
             while i < M { i += 2; }
             for x in [1, 2] {}
         }",
    );
    let expected = [16.0, 17.0, 8.0, 3.0, 3.0, 7.0, 15.0, 16.0, 2.0];
    assert_eq!(found, expected.map(Some));
}

#[test]
fn parameters_and_fields_have_the_values_that_the_program_gives_them() {
    let found = trips(
        "struct Grid { n: usize, steps: usize }
         impl Grid { fn go(&mut self) { for i in 0..self.n {} while self.steps > 0 { self.steps -= 1; } } }
         fn f(n: usize, v: &[f64]) { for i in 0..n { } for x in v {} }
         fn main() { f(12, &[0.0; 5]); let mut g = Grid { n: 8, steps: 3 }; g.go(); }",
    );
    assert_eq!(found, [Some(8.0), None, Some(12.0), Some(5.0)]);
}

#[test]
fn an_exponent_that_is_a_guess_makes_no_number_that_no_run_could_reach() {
    let (_, costs) = costs(
        "fn main() {
             let n: usize = read().trim().parse().unwrap();
             for set in 0..1 << n {}
             let k: usize = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(4);
             for set in 0..1_usize << k {}
             for set in 0..1_u64 << 30 {}
         }
         fn read() -> String { String::new() }",
    );
    let found: Vec<f64> = costs.loops.iter().map(|one| one.trips).collect();
    assert!(found[0] <= 1e6, "{found:?}");
    assert_eq!(found[1..], [16.0, f64::from(1 << 30)], "{found:?}");
}

#[test]
fn what_the_user_may_change_is_a_guess() {
    let (_, costs) = costs(
        "fn main() {
             let n: usize = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(250);
             for i in 0..n {}
             for line in text.lines() {}
         }",
    );
    let found: Vec<_> = costs
        .loops
        .iter()
        .filter(|one| one.entries > 0.0)
        .map(|one| (one.trips, one.known))
        .collect();
    assert!(found.contains(&(250.0, false)), "{found:?}");
    assert!(found.contains(&(100.0, false)), "{found:?}");
}

#[test]
fn defaults_of_the_command_line_are_guesses() {
    let (_, costs) = costs(
        "struct Cli { #[arg(long, default_value_t = 1_200)] steps: usize, #[arg(default_value = \"64\")] n: usize }
         fn main() { let cli = Cli::parse(); for _ in 0..cli.steps { for i in 0..cli.n {} } }",
    );
    let found: Vec<_> = costs.loops.iter().map(|one| (one.trips, one.known)).collect();
    assert_eq!(found, [(1200.0, false), (64.0, false)]);
}

#[test]
fn shares_are_of_the_whole_run() {
    let (analysis, costs) = costs(
        "fn sweep(v: &mut [f64]) { for i in 1..1000 { v[i] = 0.5 * (v[i - 1] + v[i]); } }
         fn main() {
             let mut v = vec![0.0; 1000];
             for step in 0..500 { sweep(&mut v); }
             for x in &v { println!(\"{x}\"); }
         }",
    );
    let share = |header: &str| {
        let one = analysis
            .graph
            .loops
            .iter()
            .find(|one| one.header == header)
            .expect("the loop");
        costs.loops[one.id.0].share
    };
    assert!(share("for step in 0..500") > 0.9);
    assert!(share("for i in 1..1000") > 0.9);
    assert!(share("for x in &v") < 0.1);
    assert_eq!(
        costs.candidates.len(),
        2,
        "the curve bends behind the two costly loops"
    );
}

#[test]
fn a_recursion_is_costly() {
    let (analysis, costs) = costs(
        "fn queens(row: usize, n: usize) -> u64 { if row == n { return 1; } let mut c = 0; for col in 0..n { if col % 2 == 0 { c += queens(row + 1, n); } } c }
         fn main() { println!(\"{}\", queens(0, 12)); for i in 0..100 { println!(\"{i}\"); } }",
    );
    let id = function(&analysis, "queens");
    assert!(costs.functions[id.0].is_recursive());
    assert!(costs.functions[id.0].share > 0.9);
}
