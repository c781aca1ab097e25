//! Lengths flow: to go over a collection costs what has been put there, not a number for everything that is not known.

use super::{analysed, function, placed, sites};

/// The share of the whole run of each loop, by its first line.
fn share(text: &str, header: &str) -> f64 {
    let analysis = analysed(&[("main.rs", text)]);
    let costs = analysis.costs(function(&analysis, "main"));
    let mut loops = analysis.graph.loops.iter();
    let one = loops.find(|one| one.header.starts_with(header));
    costs.loops[one.unwrap_or_else(|| panic!("{header}")).id.0].share
}

/// Trips of the loop with this first line, and whether they are certain.
fn trips(text: &str, header: &str) -> (f64, bool) {
    let analysis = analysed(&[("main.rs", text)]);
    let costs = analysis.costs(function(&analysis, "main"));
    let mut loops = analysis.graph.loops.iter();
    let one = loops.find(|one| one.header.starts_with(header));
    let cost = costs.loops[one.unwrap_or_else(|| panic!("{header}")).id.0];
    (cost.trips, cost.known)
}

const SIZE: &str = "let n: usize = std::env::args().nth(1).unwrap().parse().unwrap();";

/// A sparse matrix, filled once in n^3 turns, and gone over 150 times.
const SPARSE: &str = "
    fn main() {
        let n: usize = std::env::args().nth(1).unwrap().parse().unwrap();
        let mut cols: Vec<usize> = Vec::new();
        let mut vals: Vec<f64> = Vec::new();
        let mut ptr = vec![0];
        for z in 0..n {
            for y in 0..n {
                for x in 0..n {
                    let row = (z * n + y) * n + x;
                    if x > 0 { cols.push(row - 1); vals.push(-1.0); }
                    cols.push(row);
                    vals.push(6.0);
                    if x < n - 1 { cols.push(row + 1); vals.push(-1.0); }
                    ptr.push(cols.len());
                }
            }
        }
        let mut p = vec![1.0; n * n * n];
        for _ in 0..150 {
            let q: Vec<f64> = cols.iter().zip(&vals).map(|(c, v)| p[*c] * v).collect();
            let sum: f64 = q.iter().map(|x| x * x).sum();
            for (x, y) in p.iter_mut().zip(&q) { *x += y / sum.sqrt(); }
        }
        println!(\"{}\", p[0]);
    }";

#[test]
fn a_solver_outweighs_the_loops_that_fill_its_matrix() {
    assert!(
        share(SPARSE, "for z in 0..n") < 0.2,
        "{}",
        share(SPARSE, "for z in 0..n")
    );
    assert!(share(SPARSE, "for _ in 0..150") > 0.8);
    let (_, placement) = placed(&[("main.rs", SPARSE)]);
    assert!(sites(&placement).contains(&"for _ in 0..150"), "{placement}");
}

/// The same, with the matrix in a struct, built by a function and gone over by a method.
#[test]
fn lengths_go_through_fields_arguments_and_results() {
    let text = "
        struct Matrix { cols: Vec<usize>, vals: Vec<f64>, rows: Vec<Vec<usize>> }
        impl Matrix {
            fn build(n: usize) -> Matrix {
                let mut cols = Vec::with_capacity(n);
                let mut m = Matrix { cols: Vec::new(), vals: Vec::new(), rows: Vec::new() };
                for z in 0..n { for y in 0..n { for x in 0..n {
                    cols.push(x + y * z);
                    m.add(x as f64);
                    m.rows.push(vec![x, y, z]);
                } } }
                m.cols = cols;
                m
            }
            fn add(&mut self, x: f64) { self.vals.push(x); }
            fn apply(&self, p: &[f64]) -> Vec<f64> {
                let mut sum = vec![0.0; p.len()];
                for c in &self.cols { sum[*c] += p[*c]; }
                for v in self.vals.iter() { sum[0] += v; }
                for row in &self.rows { for i in row { sum[*i] += 1.0; } }
                sum
            }
        }
        fn dot(a: &[f64], b: &[f64]) -> f64 { let mut s = 0.0; for (x, y) in a.iter().zip(b) { s += x * y; } s }
        fn make(n: usize) -> (Vec<f64>, usize) { let v = vec![0.0; n * n * n]; (v, n) }
        fn main() {
            let m = Matrix::build(30);
            let (p, k) = make(30);
            for turn in 0..150 { let q = m.apply(&p); println!(\"{}\", dot(&q, &p)); }
            for one in 0..k { println!(\"{one}\"); }
        }";
    assert_eq!(trips(text, "for c in &self.cols").0, 27000.0);
    assert_eq!(trips(text, "for v in self.vals.iter()").0, 27000.0);
    assert_eq!(trips(text, "for row in &self.rows").0, 27000.0);
    assert_eq!(trips(text, "for i in row").0, 3.0);
    assert_eq!(trips(text, "for (x, y) in a.iter().zip(b)"), (27000.0, true));
    assert_eq!(trips(text, "for one in 0..k"), (30.0, true));
    assert!(share(text, "for turn in 0..150") > 0.8);
}

#[test]
fn iterators_are_as_long_as_what_they_go_over() {
    let text = "
        fn main() {
            let n = 40;
            let squares: Vec<usize> = (0..n * n).map(|i| i * i).collect();
            let grid: Vec<Vec<f64>> = (0..n).map(|i| vec![i as f64; 7]).collect();
            for a in squares.iter().enumerate() {}
            for b in squares.chunks(16) { for c in b {} }
            for d in squares.windows(3) { for e in d {} }
            for (f, g) in squares.iter().zip(&grid) { for h in g {} }
            for i in &squares[n..3 * n] {}
            for j in squares.iter().skip(100).step_by(5) {}
            for k in grid[0].iter() {}
            for row in &grid { for l in row.iter().rev() {} }
            for m in grid.iter().flat_map(|row| row.iter()) {}
            let mut flat = Vec::new();
            for row in &grid { flat.extend_from_slice(row); }
            for o in &flat {}
            let copy = flat.clone();
            for p in copy.iter().filter(|x| **x > 1.0) {}
            for q in squares.split_at(100).0 {}
            for r in [1.0; 9].into_iter().chain([2.0; 4]) {}
        }";
    let all = [
        ("for a in", 1600.0),
        ("for b in", 100.0),
        ("for c in", 16.0),
        ("for d in", 1598.0),
        ("for e in", 3.0),
        ("for (f, g) in", 40.0),
        ("for h in", 7.0),
        ("for i in", 80.0),
        ("for j in", 300.0),
        ("for k in", 7.0),
        ("for l in", 7.0),
        ("for m in", 280.0),
        ("for o in", 280.0),
        ("for p in", 280.0),
        ("for r in", 13.0),
    ];
    let wrong: Vec<_> = all
        .iter()
        .map(|(header, wanted)| (header, trips(text, header).0, wanted))
        .filter(|(_, found, wanted)| found != *wanted)
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// A list that is emptied for every step holds what one step puts there, however the source is ordered.
#[test]
fn a_list_that_is_emptied_is_as_long_as_what_is_put_there_meanwhile() {
    let text = "
        struct Cells { near: Vec<usize> }
        impl Cells {
            fn renew(&mut self) { self.near.clear(); for i in 0..50 { self.near.push(i); } }
            fn sum(&self) -> usize { let mut s = 0; for i in &self.near { s += i; } s }
        }
        fn fill(into: &mut Vec<f64>, k: usize) { into.clear(); for i in 0..k { into.push(i as f64); } }
        fn main() {
            let mut list = Vec::new();
            let mut kept = Vec::new();
            let mut cells = Cells { near: Vec::new() };
            let mut given = Vec::new();
            for step in 0..1000 {
                for x in &list {}
                for y in &kept {}
                list.clear();
                for i in 0..20 { list.push(i); }
                kept.push(step);
                cells.renew();
                println!(\"{}\", cells.sum());
                fill(&mut given, 12);
                for z in &given {}
            }
        }";
    let near = |header: &str, wanted: f64| {
        let (found, _) = trips(text, header);
        assert!((found / wanted - 1.0).abs() < 0.2, "{header}: {found}");
    };
    near("for x in &list", 20.0);
    near("for y in &kept", 1000.0);
    near("for i in &self.near", 50.0);
    near("for z in &given", 12.0);
}

/// A number that nobody knows is the same one wherever it stands: `n * n` elements are as many as two nested loops find.
#[test]
fn what_is_not_known_multiplies() {
    let text = format!(
        "fn main() {{ {SIZE}
             let a = vec![0.0; n * n];
             let mut graph = vec![Vec::new(); n];
             for i in 0..n {{ for j in 0..n {{ graph[i].push(j); }} }}
             for x in &a {{}}
             for near in &graph {{ for y in near {{}} }}
             for z in 0..1usize << n {{}}
             for w in 0..n / 8 {{}}
             let m: usize = std::env::args().nth(2).unwrap().parse().unwrap();
             for v in n..m {{}}
             for u in 0..n / m {{}}
         }}"
    );
    for (header, wanted) in [
        ("for i in", 100.0),
        ("for x in", 10000.0),
        ("for near in", 100.0),
        ("for y in", 100.0),
        ("for z in", 100.0),
        ("for w in", 12.0),
        ("for v in", 100.0),
        ("for u in", 100.0),
    ] {
        let (found, known) = trips(&text, header);
        assert!((found - wanted).abs() <= 1.0 && !known, "{header}: {found}");
    }
}

/// Pieces are no more than the whole, whatever their size; what doubles has its end soon.
#[test]
fn a_transform_costs_what_its_array_has_elements() {
    let text = "
        struct Plan { n: usize }
        fn run(plan: &Plan, data: &mut [f64]) {
            let mut half = 1;
            while half < plan.n {
                for block in data.chunks_exact_mut(2 * half) {
                    let (low, high) = block.split_at_mut(half);
                    for (a, b) in low.iter_mut().zip(high) { *a += *b; }
                }
                half *= 2;
            }
        }
        fn main() {
            let plans = [4096, 4096].map(|n| Plan { n });
            let mut data = vec![0.0; 4096];
            let mut bytes = Vec::new();
            for turn in 0..50 { run(&plans[0], &mut data); bytes.extend_from_slice(&[1, 2, 3]); }
            println!(\"{}\", bytes.len());
        }";
    assert_eq!(trips(text, "while half").0, 12.0);
    let pieces = trips(text, "for block").0 * trips(text, "for (a, b)").0;
    assert!(pieces > 1000.0 && pieces < 5000.0, "{pieces}");
}

/// Which of several sizes a run will have is not known: the largest is as good as any, and a guess.
#[test]
fn one_of_several_sizes_is_a_guess() {
    let text = "
        fn main() {
            let (n, turns) = match std::env::args().nth(1).unwrap().as_str() {
                \"S\" => (16, 4),
                \"A\" => (256, 6),
                _ => std::process::exit(2),
            };
            let m = if n > 16 { 8 } else { 3 };
            for i in 0..n {}
            for j in 0..turns {}
            for k in 0..m {}
        }";
    assert_eq!(trips(text, "for i in"), (256.0, false));
    assert_eq!(trips(text, "for j in"), (6.0, false));
    assert_eq!(trips(text, "for k in"), (8.0, false));
}

/// What grows out of itself has no length that could be told.
#[test]
fn lists_that_feed_each_other_end() {
    let text = "
        fn grow(v: &mut Vec<u64>, depth: usize) { if depth == 0 { return; } for i in 0..v.len() { v.push(i as u64); } grow(v, depth - 1); }
        fn main() {
            let mut old = vec![1u64];
            for turn in 0..10 {
                let mut new = Vec::new();
                for x in &old { new.push(*x); new.push(x + 1); }
                old = new;
            }
            let mut v = vec![1]; grow(&mut v, 3);
            for y in &v {}
            for z in &old {}
        }";
    for header in ["for x in", "for y in", "for z in", "for i in"] {
        let (found, _) = trips(text, header);
        assert!(found.is_finite() && found < 1e7, "{header}: {found}");
    }
}

/// What a loop is called decides nothing where its cost is known.
#[test]
fn names_decide_nothing_that_costs_tell() {
    let text = |outer: &str, inner: &str| {
        format!(
            "fn main() {{
                 let mut v = vec![0.0_f64; 1000];
                 for {outer} in 0..20 {{
                     for {inner} in 0..1000 {{ for i in 0..1000 {{ v[i] += ({outer} * {inner}) as f64; }} }}
                 }}
                 println!(\"{{}}\", v[0]);
             }}"
        )
    };
    let mut chosen = Vec::new();
    for (outer, inner) in [("a", "b"), ("case", "step"), ("step", "case"), ("t", "iter")] {
        let (_, placement) = placed(&[("main.rs", &text(outer, inner))]);
        let lines: Vec<_> = placement.sites.iter().map(|one| one.place.line).collect();
        chosen.push(lines);
    }
    assert!(chosen.iter().all(|one| *one == chosen[0]), "{chosen:?}");
}

#[test]
fn a_number_that_a_macro_reads_is_not_what_it_began_with() {
    for (read, known) in [
        ("scan!(\"{}\\n\", n);", false),
        ("println!(\"{n}\");", true),
        ("assert!(n < 9);", true),
    ] {
        let text = format!("fn main() {{ let mut n = 0; {read} for _ in 0..n {{ work(); }} }}");
        assert_eq!(trips(&text, "for _ in 0..n").1, known, "{read}");
    }
}
