//! What is re-executed instead of saved: scratch space that is written before it is read.

use super::{analysed, program};
use crate::decisions::effects::Effects;
use crate::decisions::reexecution::{Why, reexecuted};
use crate::{ChooseOptions, place};

/// The lines of the `let`s that are re-executed, cut down to their names.
fn reexecuted_lets(text: &str, recompute: bool) -> Vec<(String, Why)> {
    let files = [("main.rs", text)];
    let (program, analysis) = (program(&files), analysed(&files));
    let main = analysis.items.main_of(0).expect("a main");
    let placement = place(&analysis, main, &ChooseOptions::default());
    assert!(!placement.sites.is_empty(), "no site in\n{text}");
    let effects = Effects::of(&program, &analysis);
    let found = reexecuted(&analysis, &placement, recompute.then_some(&effects));
    let name = |at: usize| {
        let rest = text[at..].trim_start_matches("let ").trim_start_matches("mut ");
        rest.split([' ', ':', ';']).next().unwrap_or_default().to_owned()
    };
    found.into_iter().map(|((_, at), why)| (name(at), why)).collect()
}

/// Whether `x` is scratch space in a time loop with this body.
fn is_scratch(declaration: &str, body: &str, functions: &str) -> bool {
    let text = format!(
        "{functions}
         fn main() {{
             let n = 1000; let m = 10;
             let mut u = vec![1.0; n];
             let mut other = vec![1.0; n];
             {declaration}
             for step in 0..100000 {{
                 {body}
                 for i in 0..n {{ u[i] += 1e-3 * step as f64; }}
             }}
             println!(\"{{}} {{}}\", u[0], other[1]);
         }}"
    );
    reexecuted_lets(&text, false).contains(&("x".to_owned(), Why::Rewritten))
}

const VECTOR: &str = "let mut x = vec![0.0; n];";
const USE: &str = "for i in 0..n { u[i] += x[i]; }";

#[test]
fn what_is_written_as_a_whole_before_it_is_read_is_not_saved() {
    for fill in [
        "x.fill(0.0);",
        "for i in 0..n { x[i] = u[i] * 2.0; }",
        "for i in 0..x.len() { x[i] = 0.0; }",
        "for e in &mut x { *e = 1.0; }",
        "for e in x.iter_mut() { let v = 2.0; *e = v * u[0]; }",
        "for (i, e) in x.iter_mut().enumerate() { *e = u[i]; }",
        "for i in 0..n { if u[i] > 0.0 { x[i] = 1.0; } else { x[i] = 2.0; } }",
        "x.copy_from_slice(&u);",
        "if step % 2 == 0 { x.fill(1.0); } else { x.fill(2.0); }",
    ] {
        assert!(is_scratch(VECTOR, &format!("{fill} {USE}"), ""), "{fill}");
    }
}

#[test]
fn what_may_still_be_read_is_saved() {
    for body in [
        "for i in 1..n { x[i] = 0.0; }",
        "for i in 0..m { x[i] = 0.0; }",
        "for i in 0..n { if u[i] > 0.0 { x[i] = 0.0; } }",
        "for i in 0..n { if u[i] > 5.0 { break; } x[i] = 0.0; }",
        "for i in 0..n { x[i] += 1.0; }",
        "for i in 0..n { x[i] = x[0] + 1.0; }",
        "for i in 0..n { { let i = 0; x[i] = 1.0; } }",
        "for i in 0..n { for i in 0..m { x[i] = 1.0; } }",
        "if step % 2 == 0 { x.fill(1.0); }",
        "if step % 10 == 9 { u[1] += x[1]; continue; } x.fill(0.0);",
        "for e in &mut x { if *e > 0.0 { *e = 1.0; } else { *e = 2.0; } }",
        "let r = &x; other[0] = r[0]; x.fill(0.0);",
        "other.push(x[0]); x.fill(0.0);",
    ] {
        assert!(!is_scratch(VECTOR, &format!("{body} {USE}"), ""), "{body}");
    }
    // A reference that is kept, a length that changes, another shape after a trade, an initial value that is looked at.
    let kept = "let mut x = vec![0.0; n]; x.fill(3.0); let r = &x;";
    assert!(!is_scratch(kept, "u[0] += r[0];", ""));
    assert!(!is_scratch(
        VECTOR,
        &format!("x.fill(0.0); {USE} x.push(1.0);"),
        ""
    ));
    assert!(!is_scratch(
        "let mut x = vec![0.0; n]; let mut y = vec![0.0; m];",
        "x.fill(0.0); u[0] += x[0]; std::mem::swap(&mut x, &mut y);",
        ""
    ));
    assert!(!is_scratch(
        VECTOR,
        &format!("if step > 5 {{ x.fill(0.0); }} {USE}"),
        ""
    ));
    assert!(!is_scratch(
        "let mut k = 3; k += 1; let mut x = vec![0.0; k];",
        "x.fill(0.0); u[0] += x[0];",
        ""
    ));
}

#[test]
fn two_buffers_that_trade_places_and_have_two_dimensions() {
    let rows = "let mut x = vec![vec![0.0; m]; n];";
    assert!(is_scratch(
        rows,
        "for i in 0..n { for j in 0..m { x[i][j] = u[i]; } } u[0] += x[0][0];",
        ""
    ));
    assert!(is_scratch(
        rows,
        "for row in x.iter_mut() { for e in row.iter_mut() { *e = 0.0; } } u[0] += x[0][0];",
        ""
    ));
    assert!(!is_scratch(
        rows,
        "for i in 0..n { for j in 1..m { x[i][j] = u[i]; } } u[0] += x[0][0];",
        ""
    ));
    let flat = "let mut x = vec![0.0; n * m];";
    assert!(is_scratch(
        flat,
        "for i in 0..n { for j in 0..m { x[i * m + j] = u[i]; } } u[0] += x[0];",
        ""
    ));
    assert!(is_scratch(
        flat,
        "for i in 0..n { for j in 0..m { let k = i * m + j; x[k] = u[i]; } } u[0] += x[0];",
        ""
    ));
    assert!(!is_scratch(
        flat,
        "for i in 0..m { for j in 0..m { x[i * m + j] = u[i]; } } u[0] += x[0];",
        ""
    ));
    assert!(is_scratch(
        VECTOR,
        "for i in 0..n { x[i] = other[i] * 0.5; } std::mem::swap(&mut x, &mut other);",
        ""
    ));
}

#[test]
fn callees_are_looked_into() {
    let with = |function: &str, body: &str| is_scratch(VECTOR, &format!("{body} {USE}"), function);
    for (function, body) in [
        ("fn f(x: &mut [f64]) { x.fill(0.0); }", "f(&mut x);"),
        (
            "fn f(y: &[f64], x: &mut [f64]) { for i in 0..x.len() { x[i] = y[i]; } }",
            "f(&u, &mut x);",
        ),
        (
            "fn f(x: &mut [f64], n: usize) { for i in 0..n { x[i] = 1.0; } }",
            "f(&mut x, n);",
        ),
        (
            "fn f(x: &mut Vec<f64>) { for e in x.iter_mut() { *e = 1.0; } }",
            "f(&mut x[..]);",
        ),
        (
            "fn g(x: &mut [f64]) { x.fill(0.0); } fn f(x: &mut [f64]) { g(x); }",
            "f(&mut x);",
        ),
    ] {
        let ok = !body.contains("[..]");
        assert_eq!(with(function, body), ok, "{function} {body}");
    }
    for (function, body) in [
        ("fn f(x: &mut [f64]) { x[0] = 0.0; }", "f(&mut x);"),
        (
            "fn f(x: &mut [f64]) { if x[0] > 0.0 { return; } x.fill(0.0); }",
            "f(&mut x);",
        ),
        (
            "fn f(x: &mut [f64], n: usize) { for i in 0..n { x[i] = 1.0; } }",
            "f(&mut x, m);",
        ),
        (
            "fn f(x: &mut [f64]) { if x.len() < 3 { f(x) } else { x[0] = 1.0; } }",
            "f(&mut x);",
        ),
        (
            "fn f<'a>(list: &mut Vec<&'a [f64]>, x: &'a mut [f64]) { x.fill(0.0); list.push(x); }",
            "let mut l = Vec::new(); f(&mut l, &mut x);",
        ),
    ] {
        assert!(!with(function, body), "{function} {body}");
    }
    let value = "fn f(y: f64, x: &mut f64) { *x = y * y; }";
    assert!(is_scratch(
        "let mut x = 0.0;",
        "f(u[0], &mut x); u[0] += x;",
        value
    ));
    assert!(!is_scratch(
        "let mut x = 0.0;",
        "u[0] += x; f(u[0], &mut x);",
        value
    ));
    let list = "fn f(y: f64, x: &mut Vec<f64>) { x.clear(); x.push(y); }";
    assert!(is_scratch(
        "let mut x: Vec<f64> = Vec::new();",
        "f(u[0], &mut x); u[0] += x[0];",
        list
    ));
}

#[test]
fn what_is_cheap_and_pure_is_made_again_if_asked() {
    let program = |more: &str| {
        format!(
            "static COUNT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
             struct Rule {{ w: f64 }}
             impl Rule {{ fn of(n: usize) -> Rule {{ Rule {{ w: (n as f64).sqrt() }} }} }}
             fn draw() -> f64 {{ COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed) as f64 }}
             fn main() {{
                 let n = 1000;
                 let mut u = vec![1.0; n];
                 {more}
                 for step in 0..100000 {{ for i in 0..n {{ u[i] += x.w * step as f64; }} }}
                 println!(\"{{}}\", u[0]);
             }}"
        )
    };
    let names = |more: &str, recompute| -> Vec<String> {
        let found = reexecuted_lets(&program(more), recompute).into_iter();
        found
            .filter(|(name, _)| name == "x")
            .map(|(name, _)| name)
            .collect()
    };
    assert_eq!(names("let x = Rule::of(n);", true), ["x"]);
    assert!(names("let x = Rule::of(n);", false).is_empty());
    // The `i` of the closure is not that of the loops.
    let by_closure = "let x = Rule { w: (0..n).map(|i| (i as f64).sin()).sum() };";
    assert_eq!(names(by_closure, true), ["x"]);
    for more in [
        "let mut k = 0; let x = Rule { w: (0..n).map(|i| { k += i; k as f64 }).sum() };",
        "let mut k = 1.0; k += 1.0; let x = Rule { w: (0..n).map(|i| i as f64 * k).sum() };",
        "let x = Rule { w: (0..n).map(|_| draw()).sum() };",
        "let mut x = Rule::of(n); x.w = 3.0;",
        "let x = Rule { w: draw() };",
        "let x = Rule { w: u.len() as f64 };",
        "let x = Rule { w: elsewhere::number() };",
    ] {
        assert!(names(more, true).is_empty(), "{more}");
    }
}

#[test]
fn what_is_filled_around_a_site_is_saved() {
    let filled = |fill: &str| {
        let text = format!(
            "fn start(n: usize) -> f64 {{
                 let mut s = 0.0;
                 for k in 0..100000 {{ s += (n * k) as f64; }}
                 s
             }}
             fn main() {{
                 let n = 1000;
                 let mut x = vec![0.0; n];
                 let mut u = vec![0.0; n];
                 for round in 0..2 {{
                     {fill}
                     for i in 0..n {{ u[i] += x[i] * round as f64; }}
                 }}
                 println!(\"{{}}\", u[0]);
             }}"
        );
        reexecuted_lets(&text, false).contains(&("x".to_owned(), Why::Rewritten))
    };
    for fill in [
        "for i in 0..n { x[i] = start(i); }",
        "for i in 0..x.len() { x[i] = start(i); }",
        "for (i, e) in x.iter_mut().enumerate() { *e = start(i); }",
        "x.fill(1.0); for e in &x { u[1] += start(*e as usize); } x.fill(2.0);",
        "x.fill(1.0); for (a, b) in x.iter().zip(&mut u) { *b += start(*a as usize); } x.fill(2.0);",
        "x.fill(1.0); let it = x.iter(); for e in it { u[1] += start(*e as usize); } x.fill(2.0);",
        "x.fill(1.0); for e in x.clone() { u[1] += start(e as usize) + x[0]; } x.fill(2.0);",
        "x.fill(1.0); for p in x.chunks(2) { u[1] += start(p[0] as usize); } x.fill(2.0);",
        "x.fill(1.0); if let Some(p) = x.last() { for k in 0..n { u[1] += start(*p as usize + k); } } x.fill(2.0);",
        "x.fill(1.0); match x.first() { Some(p) => for k in 0..n { u[1] += start(*p as usize + k); }, None => {} } x.fill(2.0);",
        "x.fill(1.0); while let [p, ..] = &x[..] { u[1] += start(*p as usize); if u[1] > 0.0 { break; } } x.fill(2.0);",
    ] {
        assert!(!filled(fill), "{fill}");
    }
}

#[test]
fn what_stands_beside_a_call_that_leads_to_a_site_is_saved() {
    let is_saved = |declarations: &str, body: &str| {
        let text = format!(
            "#[derive(Clone, Default)] struct Pair {{ a: u64, b: u64 }}
             fn mix(a: u64, b: u64) -> u64 {{ a * 31 + b }}
             fn work(n: u64) -> u64 {{
                 let mut s = 0;
                 for k in 0..100000 {{ ckpt::checkpoint!(); s += (n * k) % 7; }}
                 s
             }}
             fn main() {{
                 {declarations}
                 for step in 0..2 {{ {body} }}
                 println!(\"{{x}}\");
             }}"
        );
        !reexecuted_lets(&text, false).iter().any(|(name, _)| name == "x")
    };
    for body in [
        "x = x + work(step);",
        "x = (x + 3 + work(step)) % 1009;",
        "x = mix(x, work(step));",
        "x = x.wrapping_add(work(step));",
        "x = if x > work(step) { 1 } else { 2 };",
        "x = match (x, work(step)) { (a, b) => a + b };",
        "x = Some(x + work(step)).unwrap();",
        "x = Pair { a: x, b: work(step) }.a;",
        "x = Pair { b: work(step), ..Pair { a: x, b: 0 } }.a;",
        "x = [x, work(step)][0];",
        "x = (x, work(step)).0;",
        "x = [1, 2, 3, 4, 5, 6, 7][x as usize % 7..][work(step) as usize % 1];",
        "x = (x..work(step)).count() as u64;",
        "x = format!(\"{}{}\", x, work(step)).len() as u64;",
        "x = x + { let w = work(step); w + 1 };",
        "x = x + if step > 3 { work(step) } else { 1 };",
        "x = mix(mix(x, 1), mix(work(step), 2));",
        "x = x as u64 + (work(step));",
        "let y = x + work(step); x = y;",
        "println!(\"{} {}\", x, work(step)); x = step;",
        "x = work(step); println!(\"{}\", work(step)); println!(\"{}\", x);",
        "x = step; let p = Pair { a: work(step), ..Pair::default() }; x += p.a;",
        "x = step; let p = [work(step); 2]; x += p[0];",
    ] {
        assert!(is_saved("let mut x = 0;", body), "{body}");
    }
    for body in [
        "x = step; list[x as usize % 3] += work(step);",
        "x = step; list[x as usize % 3] = work(step);",
        "x = step; list[work(step) as usize % 3] = x;",
        "list[0] = list[x as usize % 3] + work(step); x = step;",
    ] {
        assert!(is_saved("let mut x = 0; let mut list = [0; 3];", body), "{body}");
    }
    assert!(!is_saved(
        "let mut x = 0; let mut sum = 0;",
        "x = work(step); sum += x;"
    ));
    assert!(!is_saved(
        "let mut x = 0; let mut sum = 0;",
        "x = 1 + work(step); sum += x;"
    ));
}

#[test]
fn two_variables_of_one_name_are_told_apart() {
    // What is overwritten is another variable, or another element.
    let flat = "let mut x = vec![0.0; n * m];";
    for body in [
        "for i in 0..n { for j in 0..m { let j = j / 2; x[i * m + j] = u[i]; } }",
        "for i in 0..n { for j in 0..m { x[i * m + { let j = 0; j }] = u[i]; } }",
        "let k = 3; for i in 0..n { for j in 0..m { x[k] = 1.0; let k = i * m + j; u[0] += k as f64; } }",
    ] {
        assert!(!is_scratch(flat, &format!("{body} {USE}"), ""), "{body}");
    }
    for body in [
        "{ let mut x = vec![0.0; n]; x.fill(1.0); }",
        "let other = |x: &mut Vec<f64>| x.fill(0.0); other(&mut u);",
        "if let Some(x) = u.first_mut() { *x = 0.0; }",
    ] {
        assert!(!is_scratch(VECTOR, &format!("{body} {USE}"), ""), "{body}");
    }
    // Another variable of that name is in no one's way.
    for (body, function) in [
        ("{ let x = u[0]; other[0] += x; } x.fill(0.0);", ""),
        (
            "let m = step; for i in 0..n { let n = i; x[n] = m as f64; x[i] = 1.0; }",
            "",
        ),
        (
            "f(&mut x);",
            "fn f(x: &mut [f64]) { { let x = 1; drop(x); } x.fill(0.0); }",
        ),
        (
            "f(&mut x);",
            "fn f(x: &mut [f64]) { fn g(x: f64) -> f64 { x } x.fill(g(0.0)); }",
        ),
    ] {
        assert!(
            is_scratch(VECTOR, &format!("{body} {USE}"), function),
            "{body} {function}"
        );
    }
    let n_again = "let mut x = vec![0.0; n]; let keep = n; { let n = keep / 2; drop(n); }";
    assert!(is_scratch(
        n_again,
        &format!("for i in 0..n {{ x[i] = 0.0; }} {USE}"),
        ""
    ));
    let shorter = "let mut x = vec![0.0; n]; let n = n / 2;";
    assert!(!is_scratch(
        shorter,
        &format!("for i in 0..n {{ x[i] = 0.0; }} {USE}"),
        ""
    ));
}

#[test]
fn a_constant_of_a_block_is_another() {
    let declaration = "const K: usize = 100; let mut x = vec![0.0; K];";
    let fill = "for i in 0..K { x[i] = 0.0; }";
    let others = "u[0] += x[5];";
    assert!(is_scratch(declaration, &format!("{fill} {others}"), ""));
    let in_block = format!("{{ const K: usize = 4; {fill} }} {others}");
    assert!(!is_scratch(declaration, &in_block, ""));
    let with = |inside: &str| {
        let function = format!("const K: usize = 100; fn f(x: &mut [f64; K]) {{ {inside} {fill} }}");
        is_scratch(
            "let mut x = [0.0; K];",
            &format!("f(&mut x); {others}"),
            &function,
        )
    };
    assert!(with(""));
    assert!(!with("const K: usize = 4;"));
}

/// Every form of expression with the variable to the left of the call, in every other.
#[test]
fn what_stands_beside_such_a_call_is_saved_however_deep_the_call_is() {
    let forms = [
        "(A + B)",
        "mix(A, B)",
        "A.wrapping_add(B)",
        "(A, B).1",
        "[A, B][1]",
        "(Pair { a: A, b: B }).b",
        "Some(A + B).unwrap()",
        "(if A > B { 1 } else { 2 })",
        "({ let b = A * 2 + B; b })",
        "(match (A, B) { (a, b) => a + b })",
        "((A * 3 + B) as u64)",
        "format!(\"{} {}\", A, B).len() as u64",
    ];
    let functions = forms.iter().flat_map(|outer| {
        forms.iter().map(move |inner| {
            let inside = inner.replace('A', "1").replace('B', "work(step)");
            outer.replace('A', "x").replace('B', &inside)
        })
    });
    let functions: Vec<String> = functions.collect();
    let (mut text, mut calls) = (String::new(), String::new());
    for (index, value) in functions.iter().enumerate() {
        text += &format!(
            "fn f{index}() {{ let mut x = 0; for step in 0..2 {{ x = {value}; }} println!(\"{{x}}\"); }}\n"
        );
        calls += &format!("f{index}(); ");
    }
    text += &format!(
        "struct Pair {{ a: u64, b: u64 }}
         fn mix(a: u64, b: u64) -> u64 {{ a * 31 + b }}
         fn work(n: u64) -> u64 {{
             let mut s = 0;
             for k in 0..100000 {{ ckpt::checkpoint!(); s += (n * k) % 7; }}
             s
         }}
         fn main() {{ {calls} }}"
    );
    assert_eq!(reexecuted_lets(&text, false), [], "{functions:?}");
}

/// Names or words at which statements begin that install something, in a program with a time loop.
fn installing(before: &str, inside: &str, functions: &str) -> Vec<String> {
    let text = format!(
        "use std::sync::Arc; use std::sync::atomic::{{AtomicBool, Ordering}};
         {functions}
         fn main() {{
             let args = 3;
             let running = Arc::new(AtomicBool::new(true));
             let mut u = vec![1.0; 1000];
             {before}
             for step in 0..100000 {{
                 {inside}
                 for i in 0..1000 {{ u[i] += 1e-3 * step as f64; }}
             }}
             println!(\"{{}}\", u[0]);
         }}"
    );
    let found = reexecuted_lets(&text, false).into_iter();
    let installs = found.filter(|(_, why)| *why == Why::Installs);
    installs.map(|(name, _)| name).collect()
}

#[test]
fn what_installs_a_handler_is_executed_again_with_what_it_takes() {
    let looks = "if !running.load(Ordering::SeqCst) { break; }";
    let begins = |before: &str, expected: &[&str]| {
        let found = installing(before, looks, "fn install(flag: &Arc<AtomicBool>) { let flag = Arc::clone(flag); ctrlc::set_handler(move || flag.store(false, Ordering::SeqCst)).unwrap(); }
            fn install_if(wanted: bool, level: Option<u32>, flag: &Arc<AtomicBool>) { if let Some(level) = level { if wanted && level > 1 { let flag = Arc::clone(flag); ctrlc::set_handler(move || flag.store(false, Ordering::SeqCst)).unwrap(); } } }
            fn install_unless(flag: &AtomicBool) { if flag.load(Ordering::SeqCst) { ctrlc::set_handler(|| {}).unwrap(); } }
            fn install_and_tell() { ctrlc::set_handler(|| {}).unwrap(); println!(\"installed\"); }");
        assert_eq!(found, expected, "{before}");
    };
    begins(
        "let r = running.clone(); ctrlc::set_handler(move || { r.store(false, Ordering::SeqCst); }).expect(\"no\");",
        &["r", "ctrlc"],
    );
    begins(
        "signal_hook::flag::register(15, Arc::clone(&running)).unwrap();",
        &["signal_hook"],
    );
    begins("env_logger::init();", &["env_logger"]);
    begins("install(&running);", &["install(&running)"]);
    begins("if args > 2 { ctrlc::set_handler(|| {}).unwrap(); }", &["if"]);
    begins("let _ = ctrlc::set_handler(|| {});", &["_"]);
    begins("install_if(true, Some(args as u32), &running);", &[]);
    begins("let wanted = args > 2; install_if(wanted, None, &running);", &[]);
    begins(
        "let wanted = args > 2; install_if(wanted, LEVEL, &running);",
        &["install_if(wanted,"],
    );
    // It may look at another value the second time.
    begins(
        "let mut wanted = u[0] > 2.0; wanted = !wanted; install_if(wanted, LEVEL, &running);",
        &[],
    );
    begins("install_unless(&running);", &[]);
    // It does more, which would be done twice.
    begins("install_and_tell();", &[]);
    begins("if u[0] > 2.0 { ctrlc::set_handler(|| {}).unwrap(); }", &[]);
    begins("let value = 3; record(value);", &[]);
}

#[test]
fn a_channel_whose_end_a_handler_takes_is_made_again() {
    let ends = "let (tx, rx) = std::sync::mpsc::channel(); ctrlc::set_handler(move || tx.send(()).unwrap()).unwrap();";
    let found = installing(ends, "if rx.try_recv().is_ok() { break; }", "");
    assert_eq!(found, ["(tx,", "ctrlc"]);
    // The program sends as well: what is under way would be lost.
    let found = installing(
        &ends.replace("ctrlc", "let own = tx.clone(); ctrlc"),
        "own.send(()).unwrap(); if rx.try_recv().is_ok() { break; }",
        "",
    );
    assert!(!found.contains(&"(tx,".to_owned()), "{found:?}");
}
