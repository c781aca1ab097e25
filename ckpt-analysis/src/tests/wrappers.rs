//! Calls of functions that do nothing with a closure but call it, written out.

use crate::decisions::closure_callers::calls_to_write_out;
use crate::{Edited, analyse};

/// The text of each file with all such calls written out.
fn written_out(files: super::Files<'_>) -> Vec<String> {
    let program = super::program(files);
    let analysis = analyse(&program);
    let calls = calls_to_write_out(&program, &analysis);
    let edits: Vec<_> = calls.into_iter().flat_map(|call| call.edits).collect();
    let texts = program.files.iter().enumerate().map(|(index, file)| {
        let own = edits.iter().filter(|edit| edit.file.0 == index).cloned();
        let text = Edited::new(&file.text, &own.collect::<Vec<_>>()).text;
        ckpt_compiler::parse::dialect::parse_file(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(text.lines().count(), file.text.lines().count(), "no line moves");
        text
    });
    texts.collect()
}

const TIMED: &str = "fn timed<R>(label: &str, work: impl FnOnce() -> R) -> (R, f64) {\n    \
    // From here.\n    let start = std::time::Instant::now();\n    let result = work();\n    \
    println!(\"{label}\");\n    (result, start.elapsed().as_secs_f64())\n}\n";

/// What becomes of `main` with this body.
fn main_with(body: &str) -> String {
    let text = written_out(&[("main.rs", &format!("{TIMED}fn main() {{\n{body}\n}}\n"))]).remove(0);
    let (_, main) = text.split_once("fn main() {\n").expect("it is there");
    main.trim_end().trim_end_matches('}').trim_end().to_owned()
}

#[test]
fn the_body_stays_where_it_is() {
    assert_eq!(
        main_with(
            "    let (sum, _) = timed(\"steps\", || {\n        for i in 0..3 { g(i); }\n        4\n    });"
        ),
        "    let (sum, _) = { let value_of_timed: (_, f64) = { let label: &str = \"steps\"; let start = std::time::Instant::now(); let result = {\n        \
         for i in 0..3 { g(i); }\n        4\n    }; println!(\"{label}\"); (result, start.elapsed().as_secs_f64()) }; value_of_timed };"
    );
    assert_eq!(
        main_with("    timed(\n        \"x\",\n        || step(1),\n    );"),
        "    { let value_of_timed: (_, f64) = { let label: &str = \"x\"; let start = std::time::Instant::now(); let result = \n\n        step(1)\n    ; \
         println!(\"{label}\"); (result, start.elapsed().as_secs_f64()) }; value_of_timed };"
    );
}

#[test]
fn names_do_not_meet() {
    let written = main_with(
        "    let start = 1; let label = \"l\"; timed(label, || { g(start); println!(\"{label}\") });",
    );
    assert_eq!(
        written,
        "    let start = 1; let label = \"l\"; { let value_of_timed: (_, f64) = { let label_of_timed: &str = label; let start_of_timed = \
         std::time::Instant::now(); let result = { g(start); println!(\"{label}\") }; println!(\"{label_of_timed}\"); \
         (result, start_of_timed.elapsed().as_secs_f64()) }; value_of_timed };"
    );
}

#[test]
fn a_new_name_is_one_that_nothing_has() {
    let written =
        main_with("    let start = 1; let start_of_timed = 2; timed(\"l\", || g(start, start_of_timed));");
    let made = "let start_of_timed_2 = std::time::Instant::now(); let result = g(start, start_of_timed);";
    assert!(written.contains(made), "{written}");
}

#[test]
fn what_a_format_string_captures_gets_its_new_name_and_nothing_else() {
    let text = "fn noted(width: usize, f: impl FnOnce()) { f(); println!(\"{{width}} {:>width$} {width}\", 1); }\n\
                fn main() { let width = 2; noted(width, || g(width)); }\n";
    let written = written_out(&[("main.rs", text)]).remove(0);
    let printed = "println!(\"{{width}} {:>width_of_noted$} {width_of_noted}\", 1);";
    assert!(written.contains(printed), "{written}");
}

#[test]
fn closures_of_other_kinds_stay() {
    for call in [
        "timed(\"x\", move || g(1))",
        "timed(\"x\", || { if a { return 1; } 2 })",
        "timed(\"x\", || { h()?; Some(1) })",
        "timed(\"x\", step)",
        "other(\"x\", || g(1))",
    ] {
        assert_eq!(main_with(&format!("    {call};")), format!("    {call};"));
    }
}

#[test]
fn functions_of_other_kinds_stay() {
    for function in [
        "fn tied<T: Copy>(first: T, f: impl Fn() -> T) -> T { let _ = first; f() }",
        "fn sized<const N: usize>(a: [u8; N], f: impl Fn()) { let _ = a; f(); }",
        "fn twice(mut f: impl FnMut()) { f(); f(); }",
        "fn held(f: impl FnOnce()) { let g = || f(); g(); }",
        "fn left(f: impl FnOnce()) { if early() { return; } f(); }",
        "fn kept(f: impl FnOnce()) { keep(f); }",
        "fn typed<R: Default>(f: impl FnOnce() -> R) -> R { let mut r = R::default(); r = f(); r }",
        "fn calls(f: impl FnOnce()) { now(); f(); }",
    ] {
        let name = &function[3..function.find(['(', '<']).unwrap()];
        let text = format!(
            "{function}\nfn now() {{}}\nfn main() {{ let now = |x: i32| x; {name}(|| g(now(1))); }}\n"
        );
        assert_eq!(written_out(&[("main.rs", &text)])[0], text, "{function}");
    }
}

#[test]
fn what_the_closure_is_given_is_bound() {
    let text = "fn repeat<F>(n: usize, mut f: F) where F: FnMut(usize, f64) {\n    \
                for i in 0..n {\n        f(i, 0.5);\n    }\n}\n\
                fn main() { let mut a = 0.0; repeat(10, |i, x: f64| { a += x; h(i); }); }\n";
    let main = "fn main() { let mut a = 0.0; { let n: usize = 10; for i_of_repeat in 0..n { { let i: usize = i_of_repeat; \
                let x: f64 = 0.5; { a += x; h(i); } }; } }; }\n";
    assert!(
        written_out(&[("main.rs", text)])[0].ends_with(main),
        "{:?}",
        written_out(&[("main.rs", text)])
    );
}

#[test]
fn methods_keep_to_their_receiver() {
    let timers = "use std::time::Instant;\npub struct Timers { pub total: f64, calls: u32 }\nimpl Timers {\n    \
                  pub fn time<R>(&mut self, work: impl FnOnce() -> R) -> R {\n        \
                  let start = Instant::now();\n        let result = work();\n        \
                  self.total += start.elapsed().as_secs_f64();\n        self.calls += 1;\n        result\n    }\n}\n";
    let main = "mod timers;\nuse timers::Timers;\nstruct App { timers: Timers, n: u32 }\nimpl App {\n    \
                fn run(&mut self) { let x = self.timers.time(|| self.n + 1); }\n}\nfn main() {}\n";
    let written = written_out(&[("main.rs", main), ("timers.rs", timers)]);
    assert!(
        written[0].contains(
            "let x = { let start = std::time::Instant::now(); let result = { self.n + 1 }; self.timers.total += \
             start.elapsed().as_secs_f64(); self.timers.calls += 1; result };"
        ),
        "{}",
        written[0]
    );
    assert_eq!(written[1], timers);
}

#[test]
fn names_of_another_module_stay_where_they_are_known() {
    let util = "pub fn noted(f: impl FnOnce()) { begin(); f(); }\nfn begin() {}\n";
    let main = "mod util;\nfn main() { util::noted(|| g(1)); }\n";
    assert_eq!(written_out(&[("main.rs", main), ("util.rs", util)])[0], main);
    let util = util.replace("fn begin", "pub(crate) fn begin");
    let written = written_out(&[("main.rs", main), ("util.rs", &util)]).remove(0);
    assert!(written.contains("{ crate::util::begin(); g(1); }"), "{written}");
}

/// The caller may have a type of that name as well, which is another one.
#[test]
fn a_method_that_names_a_type_of_its_impl_stays() {
    let text = "struct Timer<T>(T);\nimpl<T: From<u8>> Timer<T> {\n    fn time(&self, f: impl FnOnce()) { let t = T::from(1); f(); drop(t); }\n}\n\
                fn run<T>(timer: &Timer<T>) { timer.time(|| g(1)); }\nfn main() {}\n";
    assert_eq!(written_out(&[("main.rs", text)])[0], text);
}

/// A number without a type is what the signature says, not what it would be by itself.
#[test]
fn types_of_the_signature_are_kept() {
    let text = "fn total<F: FnMut(u64, &[f32]) -> f32>(n: u64, mut f: F) -> f32 {\n    let mut sum = 0.0;\n    \
                for i in 0..n {\n        sum += f(i, &[0.5]);\n    }\n    sum\n}\n\
                fn main() { let x = total(3, |k, _| 0.1); }\n";
    let main = "fn main() { let x = { let value_of_total: f32 = { let n: u64 = 3; let mut sum = 0.0; for i in 0..n { sum \
                += { let k: u64 = i; let _: &[f32] = &[0.5]; let result_of_total: f32 = 0.1; result_of_total }; } sum }; \
                value_of_total }; }\n";
    let written = written_out(&[("main.rs", text)]).remove(0);
    assert!(written.ends_with(main), "{written}");
}
