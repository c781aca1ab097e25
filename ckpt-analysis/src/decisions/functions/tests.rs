//! What is named, in which words.

use super::*;
use crate::source::FileId;
use crate::source::edits::Edited;

fn edited(text: &str) -> String {
    let program = Program::of_main(text);
    let analysis = crate::analyse(&program);
    let main = analysis.items.main_of(0).unwrap();
    let edits = function_edits(&program, &analysis, main, &BTreeSet::new());
    let new = Edited::new(
        text,
        &{ edits.into_iter().filter(|edit| edit.file == FileId(0)) }.collect::<Vec<_>>(),
    )
    .text;
    assert!(syn::parse_file(&new).is_ok(), "{new}");
    new
}

fn has(new: &str, value: &str) -> bool {
    new.contains(&format!(", {value});"))
}

#[test]
fn functions_that_are_values_are_named() {
    let new = edited(
        "type Rule = fn(f64) -> f64;\n\
         struct Op { f: fn(f64) -> f64, g: fn(&Op, &mut u8) -> u8, h: fn(&Op) -> &Rule, r: unsafe fn(f64) -> f64 }\n\
         fn halve(x: f64) -> f64 { x / 2.0 }\n\
         unsafe fn raw(x: f64) -> f64 { x }\n\
         fn generic<T: Into<f64>>(x: T) -> f64 { x.into() }\n\
         fn two(a: f64, b: f64) -> f64 { a + b }\n\
         fn many(a: f64, b: f64, c: f64) -> f64 { a + b + c }\n\
         impl Op { fn rule(&self) -> &Rule { &self.f } fn own() -> Op { Op { f: f64::sin, g: <Op as Force>::at, h: Op::rule, r: raw } } }\n\
         trait Force { fn at(&self, y: &mut u8) -> u8; }\n\
         impl Force for Op { fn at(&self, y: &mut u8) -> u8 { *y } }\n\
         mod inner { pub fn cube(x: f64) -> f64 { x * x * x } pub fn table() -> [fn(f64) -> f64; 1] { [self::cube] } }\n\
         static TABLE: [Rule; 2] = [inner::cube, generic::<f32>];\n\
         fn main() { let x = halve(1.0); let v = vec![halve, f64::from, generic]; let w = Some(many); let z = two; }",
    );
    for value in [
        "f64::sin as fn(_) -> _",
        "<Op as Force>::at as fn(& _, & mut _) -> _",
        "Op::rule as for<'r> fn(& 'r _) -> &'r _",
        "raw as unsafe fn(_) -> _",
        "inner::cube as fn(_) -> _",
        "self::cube as fn(_) -> _",
        "generic::<f32> as fn(_) -> _",
        "halve as fn(_) -> _",
        "two as fn(_, _) -> _",
    ] {
        assert!(has(&new, value), "{value}: {new}");
    }
    for value in ["from as", "generic as", "many as"] {
        assert!(!new.contains(value), "{value}: {new}");
    }
    assert!(
        new.contains("fn main() { #[ckpt(reexecute)] ckpt_functions();"),
        "{new}"
    );
    assert!(new.contains("inner::ckpt_functions();"), "{new}");
}

#[test]
fn nothing_is_named_where_no_type_of_a_pointer_is_written() {
    let text = "fn halve(x: f64) -> f64 { x / 2.0 } fn main() { let y: Vec<f64> = vec![1.0].into_iter().map(halve).collect(); }";
    assert_eq!(edited(text), text);
}

#[test]
fn closures_become_constants() {
    let new = edited(
        "use std::collections::HashMap;\n\
         type Rule = fn(f64) -> f64;\n\
         struct Op { f: Rule, name: String }\n\
         impl Op { fn new(name: &str, f: fn(f64) -> f64) -> Self { Op { f, name: name.into() } } }\n\
         fn table() -> Vec<(String, Rule)> { vec![(\"a\".into(), |x| x + 1.0)] }\n\
         const ONE: Op = Op { f: |x| x + 9.0, name: String::new() };\n\
         fn main() {\n\
             let k = 2.0;\n\
             let op = Op { f: |x| x + 2.0, name: String::new() };\n\
             let all: [fn(f64) -> f64; 2] = [|x| x + 3.0, f64::sin];\n\
             let new = Op::new(\"b\", |x| x + 4.0);\n\
             let mut map: HashMap<&str, fn(f64, f64) -> f64> = HashMap::new();\n\
             map.insert(\"c\", |a, b| a + b + 5.0);\n\
             let other: HashMap<String, Rule> = HashMap::from([(\"d\".to_string(), |x| x + 6.0)]);\n\
             let own = |x: f64| x * k;\n\
             let boxed: Box<dyn Fn(f64) -> f64> = Box::new(|x| x + 7.0);\n\
             let cast = (|x| x + 8.0) as fn(f64) -> f64;\n\
         }",
    );
    for number in [1, 2, 3, 4, 6, 8, 9] {
        let item = format!(": fn (f64) -> f64 = |x| x + {number}.0;");
        assert!(new.contains(&item), "{number}: {new}");
    }
    assert!(
        new.contains(": fn (f64 , f64) -> f64 = |a, b| a + b + 5.0;"),
        "{new}"
    );
    assert!(
        new.contains("Box::new(|x| x + 7.0)") && new.contains("let own = |x: f64| x * k;"),
        "{new}"
    );
    assert!(new.contains("Op { f: CKPT_FUNCTION_"), "{new}");
}
