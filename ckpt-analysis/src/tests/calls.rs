//! The call graph.

use super::{analysed, callees, function};
use crate::calls::Trap;

#[test]
fn methods_are_found_by_the_type_of_their_receiver() {
    let analysis = analysed(&[(
        "main.rs",
        "struct A { b: B, many: Vec<B> } struct B;
         impl A { fn new() -> A { A { b: B, many: vec![B] } } fn go(&mut self) { self.b.go(); for one in &self.many { one.go(); } } }
         impl B { fn go(&self) {} }
         fn made() -> B { B }
         fn main() {
             let mut a = A::new();
             a.go();
             made().go();
             let boxed: Box<B> = Box::new(B);
             boxed.go();
             a.many.iter().enumerate().for_each(|(_, b)| b.go());
             if let Some(b) = a.many.first() { b.go(); }
         }",
    )]);
    assert_eq!(
        callees(&analysis, "main"),
        ["A::new", "A::go", "made", "B::go", "B::go", "B::go", "B::go"]
    );
    assert_eq!(callees(&analysis, "A::go"), ["B::go", "B::go"]);
}

#[test]
fn a_method_of_an_unknown_type_is_any_of_its_name() {
    let analysis = analysed(&[(
        "main.rs",
        "struct A; struct B; impl A { fn relax(&self, w: f64) {} } impl B { fn relax(&self, w: f64) {} fn len(&self) -> usize { 0 } }
         fn main() { let x = outside::make(); x.relax(0.5); x.relax(); x.len(); }",
    )]);
    assert_eq!(callees(&analysis, "main"), ["A::relax", "B::relax"]);
    assert!(!analysis.graph.calls[0].certain);
}

#[test]
fn a_trait_object_may_be_any_implementation() {
    let analysis = analysed(&[(
        "main.rs",
        "trait Solver { fn step(&mut self); fn run(&mut self) { self.step() } }
         struct A; struct B;
         impl Solver for A { fn step(&mut self) {} }
         impl Solver for B { fn step(&mut self) {} fn run(&mut self) {} }
         fn main() { let mut s: Box<dyn Solver> = Box::new(A); s.run(); generic(&mut A); }
         fn generic<S: Solver>(s: &mut S) { s.step(); S::run(s); }
         fn exact(mut a: A) { a.run(); }",
    )]);
    assert_eq!(callees(&analysis, "main"), ["B::run", "Solver::run", "generic"]);
    assert_eq!(
        callees(&analysis, "generic"),
        ["A::step", "B::step", "B::run", "Solver::run"]
    );
    assert_eq!(callees(&analysis, "Solver::run"), ["A::step", "B::step"]);
    assert_eq!(callees(&analysis, "exact"), ["Solver::run"]);
}

#[test]
fn calls_in_closures_and_macros_are_told_apart() {
    let analysis = analysed(&[(
        "main.rs",
        "fn f(x: u32) -> u32 { x }
         fn main() {
             println!(\"{}\", f(1));
             let v = (0..3).map(|x| f(x)).scan((), |_, x| Some(x)).max();
             strange!(f(2));
             let w: Vec<u32> = (0..3).map(f).scan((), |_, x| Some(x)).collect();
         }",
    )]);
    let traps: Vec<_> = analysis
        .graph
        .calls
        .iter()
        .map(|call| call.trap.clone())
        .collect();
    assert_eq!(traps[0], None);
    assert_eq!(traps[1], Some(Trap::Closure));
    assert!(
        traps[2..traps.len() - 1]
            .iter()
            .all(|trap| *trap == Some(Trap::Macro("strange".into())))
    );
    assert_eq!(traps.last(), Some(&Some(Trap::Handed)));
}

#[test]
fn calls_in_what_a_macro_may_not_evaluate_are_trapped() {
    let analysis = analysed(&[(
        "main.rs",
        "fn f(x: u32) -> u32 { x }
         fn main() {
             assert!(f(1) > 0, \"{}\", f(2));
             debug_assert_eq!(f(3), f(4));
             assert_eq!(f(5), f(6), \"{}\", f(7));
             log::debug!(\"{}\", f(8));
             panic!(\"{}\", f(9));
         }",
    )]);
    let traps: Vec<_> = analysis
        .graph
        .calls
        .iter()
        .map(|call| call.trap.clone())
        .collect();
    let trapped = |name: &str| Some(Trap::Macro(name.into()));
    assert_eq!(
        traps,
        [
            None,
            None,
            None,
            None,
            None,
            None,
            trapped("assert_eq"),
            trapped("debug"),
            None
        ]
    );
}

#[test]
fn a_function_given_as_an_argument_is_called_by_the_one_that_gets_it() {
    let analysis = analysed(&[(
        "main.rs",
        "fn square(x: f64) -> f64 { x * x }
         fn cube(x: f64) -> f64 { x * x * x }
         fn integrate(f: impl Fn(f64) -> f64, n: usize) -> f64 { (f)(0.0); let mut s = 0.0; for i in 0..n { s += f(i as f64); } s }
         const TABLE: [fn(f64) -> f64; 1] = [cube];
         fn main() { integrate(square, 10); for f in TABLE { f(1.0); } }",
    )]);
    assert_eq!(callees(&analysis, "integrate"), ["square", "square"]);
    assert_eq!(callees(&analysis, "main"), ["integrate", "cube"]);
}

#[test]
fn operators_and_iterators_of_the_program_are_calls_that_cannot_be_marked() {
    let analysis = analysed(&[(
        "main.rs",
        "struct M; impl std::ops::Mul for M { type Output = M; fn mul(self, o: M) -> M { M } }
         struct It; impl Iterator for It { type Item = u32; fn next(&mut self) -> Option<u32> { None } }
         fn main() { let a = M * M; for x in It {} }",
    )]);
    assert_eq!(callees(&analysis, "main"), ["M::mul", "It::next"]);
    assert!(
        analysis
            .graph
            .calls
            .iter()
            .all(|call| matches!(call.trap, Some(Trap::Implicit(_))))
    );
}

#[test]
fn a_call_knows_the_loops_around_it() {
    let analysis = analysed(&[(
        "main.rs",
        "fn f() {} fn main() { for i in 0..3 { while true { f(); } } loop { f(); break; } }",
    )]);
    let main = function(&analysis, "main");
    let nests: Vec<Vec<String>> = analysis
        .graph
        .calls
        .iter()
        .filter(|call| call.caller == main)
        .map(|call| {
            let nest = analysis.graph.nest(call.within);
            nest.iter()
                .map(|id| analysis.graph.one_loop(*id).header.clone())
                .collect()
        })
        .collect();
    assert_eq!(nests, [vec!["for i in 0..3", "while true"], vec!["loop"]]);
}

#[test]
fn what_the_macros_of_the_program_call_is_called_where_they_are_used() {
    let analysis = analysed(&[(
        "main.rs",
        "macro_rules! relax { ($g:expr) => { inner!($g) }; }
         macro_rules! inner { ($g:expr) => { smooth($g); $g.sharpen(2); }; }
         struct G; impl G { fn sharpen(&mut self, k: u32) {} }
         fn smooth(g: &mut G) {}
         fn main() { let mut g = G; relax!(&mut g); }",
    )]);
    assert_eq!(callees(&analysis, "main"), ["smooth", "G::sharpen"]);
    assert!(
        analysis
            .graph
            .calls
            .iter()
            .all(|call| call.trap == Some(Trap::Macro("relax".into())))
    );
}
