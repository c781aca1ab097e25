//! What is written for traits in several places of a program, and what is refused.

use super::*;
use crate::decisions::saved_types::Types;
use crate::items;
use crate::source::edits::Edited;
use crate::source::{CrateKind, CrateSource, SourceFile};

fn program(text: &str) -> Program {
    let file = SourceFile {
        path: "main.rs".into(),
        text: text.into(),
        ast: syn::parse_file(text).unwrap(),
        base: 0,
    };
    let root = CrateSource {
        name: "main".into(),
        package: "main".into(),
        kind: CrateKind::Bin,
        edition: 2021,
        root: FileId(0),
        modules: BTreeMap::new(),
        externs: BTreeMap::new(),
    };
    Program {
        files: vec![file],
        crates: vec![root],
        ..Program::default()
    }
}

fn edited(text: &str, name: &str) -> Result<(String, Vec<String>), String> {
    let program = program(text);
    let types = Types::of(Library::builtin(), &program);
    let found = object_edits(
        Library::builtin(),
        &program,
        &items::collect(Library::builtin(), &program),
        &types,
        name,
    )?;
    let derives = found
        .derives
        .iter()
        .map(|place| types.get(*place).unwrap().name.clone())
        .collect();
    Ok((Edited::new(text, &found.edits).text, derives))
}

#[test]
fn one_line_in_front_of_the_trait() {
    let text = "\
/// How to go on.
pub trait Solver: Send {
    fn step(&mut self);
}
struct Explicit(Inner);
struct Inner;
#[derive(ckpt::Checkpoint)]
struct Implicit;
impl Solver for Explicit { fn step(&mut self) {} }
impl Solver for Implicit { fn step(&mut self) {} }
impl Solver for Vec<f64> { fn step(&mut self) {} }
";
    let (now, derives) = edited(text, "(dyn Solver + Send + 'static)").unwrap();
    let attribute = "#[ckpt::object(Explicit, Implicit, Vec<f64>)]\npub trait";
    assert_eq!(now, text.replace("pub trait", attribute));
    assert_eq!(derives, ["Explicit", "Inner"]);
}

#[test]
fn paths_are_those_that_hold_where_the_trait_is() {
    let text = "\
mod laws {
    use crate::bodies::Comet;
    pub trait Law {}
    impl Law for Comet {}
}
pub mod bodies {
    pub struct Comet;
    mod deep {
        struct Hidden;
        impl crate::laws::Law for Hidden {}
    }
    use std::collections::BTreeMap;
    impl crate::laws::Law for BTreeMap<u8, Comet> {}
    impl super::laws::Law for [(Comet, f64); 3] {}
}
";
    let (now, derives) = edited(text, "dyn laws::Law").unwrap();
    let attribute = "#[ckpt::object(Comet, crate::bodies::deep::Hidden, \
        std::collections::BTreeMap<u8, Comet>, [(Comet, f64,); 3])]";
    let expected = text
        .replace("    pub trait", &format!("    {attribute}\n    pub trait"))
        .replace("    mod deep", "    pub(crate) mod deep")
        .replace("struct Hidden", "pub(crate) struct Hidden");
    assert_eq!(now, expected);
    assert_eq!(derives, ["Comet", "Hidden"]);
}

#[test]
fn generic_types_stand_for_what_their_bounds_are_implemented_by() {
    let text = "\
trait Law {}
struct Spring; impl Law for Spring {}
struct Gravity; impl Law for Gravity {}
trait Force {}
struct Pair<L> { law: L }
impl<L: Law> Force for Pair<L> {}
struct Wall; impl Force for Wall {}
impl<F: Force + ?Sized> Force for Box<F> {}
";
    let (now, derives) = edited(text, "Force").unwrap();
    let expected = text
        .replace(
            "trait Force",
            "#[ckpt::object(Pair<Spring>, Pair<Gravity>, Wall, ..)]\ntrait Force",
        )
        .replace("impl<L: Law>", "impl<L: Law + 'static>");
    assert_eq!(now, expected);
    assert_eq!(derives, ["Spring", "Gravity", "Pair", "Wall"]);
}

#[test]
fn what_macros_and_tests_may_implement_leaves_the_list_open() {
    let text = "trait Law {}\nstruct A;\nimpl Law for A {}\nmacro_rules! law { ($t:ty) => { impl Law for $t {} } }\n";
    let (now, _) = edited(text, "Law").unwrap();
    assert!(now.starts_with("#[ckpt::object(A, ..)]\ntrait"), "{now}");
}

#[test]
fn refusals_name_the_reason() {
    let refused = |text: &str, name: &str| edited(text, name).unwrap_err();
    assert_eq!(refused("", "dyn Write"), "`Write` is not a trait of this package");
    assert_eq!(
        refused("trait S<T> {} struct A; impl S<u8> for A {}", "S")
            .split(',')
            .next(),
        Some("`S` is a generic trait")
    );
    assert!(refused("trait S<T> {}", "dyn S<f64>").contains("with arguments"));
    assert_eq!(refused("trait S { type T; }", "S"), "`S` has an associated type");
    assert_eq!(
        refused("trait S {}", "S"),
        "no type of this package implements `S`"
    );
    assert!(refused("#[ckpt::object(A)] trait S {} struct A; impl S for A {}", "S").contains("already"));
    let borrows = "trait S {} struct A<'a>(&'a [f64]); impl<'a> S for A<'a> {}";
    assert!(refused(borrows, "S").starts_with("`A<'a>` borrows"));
    let function = "trait S {} struct A { rule: fn(Vec<&f64>) -> f64 } impl S for A {}";
    assert_eq!(
        refused(function, "S"),
        "`A` cannot be saved: A.rule: fn(Vec<&f64>) -> f64"
    );
    let closure = "trait S {} struct A<F>(F); impl<F: Fn()> S for A<F> {}";
    assert!(refused(closure, "S").contains("generic over `F`"));
    let inner = "trait S {} fn f() { struct A; impl S for A {} }";
    assert!(refused(inner, "S").contains("inside a function"));
}

/// A library with the trait, and a program with a type of it.
fn library_and_program(of_library: &str, of_program: &str) -> Program {
    let mut whole = program(of_library);
    let more = program(of_program);
    whole.files.extend(more.files);
    whole.crates[0].name = "shapes".into();
    whole.crates[0].kind = CrateKind::Lib;
    whole.crates.push(CrateSource {
        root: FileId(1),
        externs: [("shapes".to_string(), 0)].into(),
        ..more.crates.into_iter().next().unwrap()
    });
    whole
}

#[test]
fn why_the_types_of_objects_are_not_listed() {
    let library = Library::builtin();
    let why = |program: &Program, name: &str| {
        let (items, types) = (items::collect(library, program), Types::of(library, program));
        why_unlisted(library, program, &items, &types, name)
    };
    let both = |of_library: &str| {
        library_and_program(
            of_library,
            "use shapes::Shape; struct Disc; impl Shape for Disc {} fn main() {}",
        )
    };
    assert_eq!(
        why(&both("pub trait Shape {}"), "dyn Shape").as_deref(),
        Some("`Disc` implements `Shape` in another crate, which the crate of the trait cannot name")
    );
    let in_one = program("trait Shape {} struct Disc; impl Shape for Disc {}");
    for name in ["dyn Shape", "Disc", "dyn Write", "Vec<Box<dyn Shape>>"] {
        assert_eq!(why(&in_one, name), None, "{name}");
    }
    let by_hand = both("#[ckpt::object(Square)] pub trait Shape {}");
    assert_eq!(why(&by_hand, "dyn Shape"), None);
}

#[test]
fn a_list_of_objects_that_is_one_itself_is_listed() {
    let text = "\
trait Shape { fn area(&self) -> f64; }
struct Disc { r: f64 }
impl Shape for Disc { fn area(&self) -> f64 { self.r } }
impl Shape for Vec<Box<dyn Shape>> { fn area(&self) -> f64 { 0.0 } }
";
    let (now, _) = edited(text, "dyn Shape").unwrap();
    assert!(
        now.starts_with("#[ckpt::object(Disc, Vec<Box<dyn Shape>>)]\ntrait"),
        "{now}"
    );
    let with_more = text.replace("Box<dyn Shape>", "Box<dyn Shape + Send>");
    assert!(edited(&with_more, "dyn Shape").is_err());
}

/// The commonest layout of a package: the trait in its library, what implements it in its program.
#[test]
fn a_type_of_the_program_is_listed_where_it_begins() {
    let library = "pub trait Shape { fn area(&self) -> f64; }\npub struct Round;\nimpl Shape for Round {}\n";
    let main = "use shapes::Shape;\nmod more {\n    pub struct Square(f64);\n    impl shapes::Shape for Square {}\n}\nstruct Flat(Part);\nstruct Part;\nimpl Shape for Flat {}\nfn main() {\n    run();\n}\n";
    let mut program = program(main);
    program.files.push(SourceFile {
        path: "lib.rs".into(),
        text: library.into(),
        ast: syn::parse_file(library).unwrap(),
        base: 0,
    });
    program.crates.push(CrateSource {
        name: "shapes".into(),
        package: "shapes".into(),
        kind: CrateKind::Lib,
        edition: 2021,
        root: FileId(1),
        modules: BTreeMap::new(),
        externs: BTreeMap::new(),
    });
    program.crates[0].externs.insert("shapes".into(), 1);
    let analysis = crate::analyse(&program);
    let types = Types::of(Library::builtin(), &program);
    let name = "dyn shapes::Shape".to_owned();
    let found = object_edits(Library::builtin(), &program, &analysis.items, &types, &name).unwrap();
    let now = Edited::new(library, &found.edits).text;
    assert!(now.starts_with("#[ckpt::object(Round, ..)]\npub trait"), "{now}");
    let derives: Vec<_> = { found.derives.iter() }
        .map(|place| types.get(*place).unwrap().name.as_str())
        .collect();
    assert_eq!(derives, ["Square", "Flat", "Part", "Round"]);
    let edits = late_edits(
        &program,
        &analysis,
        analysis.items.main_of(0).unwrap(),
        [&name].into_iter(),
    );
    let now = Edited::new(main, &edits).text;
    for expected in [
        "ckpt::objects!(dyn shapes::Shape: Square);",
        "ckpt::objects!(dyn Shape: Flat);",
        "#[ckpt(reexecute)] ckpt_objects();",
        "more::ckpt_objects();",
    ] {
        assert!(now.contains(expected), "{expected} in\n{now}");
    }
}
