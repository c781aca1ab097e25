//! No source brings the analysis down, and it is fast.

use super::{analysed, placed};

#[test]
fn strange_programs_are_no_trouble() {
    for text in [
        "fn main() { main() }",
        "fn a() { b() } fn b() { a() } fn main() { a() }",
        "const A: usize = B; const B: usize = A; fn main() { for i in 0..A {} }",
        "type A = B; type B = A; fn main() { let a: A = make(); a.go(); }",
        "trait A: B { fn a(&self) { self.b() } } trait B: A { fn b(&self) { self.a() } } fn main() {}",
        "struct L { next: Option<Box<L>> } impl L { fn len(&self) -> usize { self.next.as_ref().map_or(0, |n| 1 + n.len()) } } fn main() { L { next: None }.len(); }",
        "fn main() { let f = |x: u32| x; let g = |y| f(f(y)); g(1); for i in 0..0 {} for i in 5..1 {} for i in 0..1/0 {} }",
        "impl<T> std::ops::Deref for W<T> { type Target = W<T>; fn deref(&self) -> &W<T> { self } } struct W<T>(T); fn main() { W(1).foo(); W(2).x.y.z; }",
        "mod m { pub use super::m::*; } use m::*; fn main() { q() }",
        "fn main() { loop { if true { break } } while let Some(x) = y {} 'a: for _ in 0.. { continue 'a } }",
        "extern \"C\" fn main() { unsafe { asm!(\"nop\") } }",
        "macro_rules! t { ($($x:tt)*) => { a(); t!(b() t!(c() t!($($x)*)) t!(d())); t!(t!(t!())); t!(t!(), t!()); } } fn main() { for i in 0..9 { t!(x); } }",
        "union U { a: u32 } enum E {} macro_rules! m { () => { fn hidden() {} } } m!(); fn main() { m!(); }",
    ] {
        let (_, placement) = placed(&[("main.rs", text)]);
        assert!(
            placement.coverage.is_finite() && placement.costs.total.is_finite(),
            "{text}"
        );
    }
}

#[test]
fn an_empty_program_and_one_without_files_are_no_trouble() {
    let analysis = crate::analyse(&crate::Program::default());
    assert_eq!(analysis.items.main_of(0), None);
    assert_eq!(analysed(&[("lib.rs", "")]).items.main_of(0), None);
}

/// Ten thousand lines are to take well under two seconds when optimised; this build is not.
#[test]
fn ten_thousand_lines_are_analysed_in_no_time() {
    let mut text = String::new();
    for k in 0..500 {
        text += &format!(
            "pub struct S{k} {{ v: Vec<f64>, n: usize }}
             impl S{k} {{
                 pub fn new(n: usize) -> Self {{ S{k} {{ v: vec![0.0; n], n }} }}
                 pub fn step(&mut self) {{
                     for i in 0..self.n {{
                         let x = self.v[i] * 2.0 + 1.0;
                         if x > 3.0 {{
                             self.v[i] = x.sqrt();
                         }} else {{
                             self.v[i] = x;
                         }}
                     }}
                     let next = S{next}::new(self.n);
                     next.total();
                 }}
                 pub fn total(&self) -> f64 {{ self.v.iter().map(|x| x * x).sum() }}
             }}
             pub fn run{k}(n: usize) {{
                 let mut s = S{k}::new(n);
                 for step in 0..n {{ s.step(); }}
                 unknown(k).advance{k}(1);
             }}\n",
            next = (k + 1) % 500
        );
    }
    text += "fn main() { ";
    for k in 0..500 {
        text += &format!("run{k}(10 + {k});\n");
    }
    text += "}";
    let program = super::program(&[("main.rs", &text)]);
    let start = std::time::Instant::now();
    let analysis = crate::analyse(&program);
    let main = analysis.items.main_of(0).expect("a main");
    let placement = crate::place(&analysis, main, &Default::default());
    let spent = start.elapsed();
    assert!(text.lines().count() > 10_000);
    assert!(spent.as_secs_f64() < 20.0, "{spent:?} {}", placement.coverage);
}
