//! What paths stand for.

use super::{analysed, callees};

#[test]
fn imports_renames_globs_and_reexports_are_followed() {
    let analysis = analysed(&[
        (
            "main.rs",
            "mod a; mod b; mod prelude { pub use crate::b::*; }
             use a::{first as one, self, deep::third};
             use prelude::*;
             fn main() { one(); a::second(); third(); fourth(); crate::a::deep::up(); self::local(); }
             fn local() {}",
        ),
        (
            "a.rs",
            "pub fn first() {} pub fn second() {}
             pub mod deep { pub fn third() {} pub fn up() { super::first(); } }",
        ),
        ("b.rs", "pub fn fourth() {}"),
    ]);
    assert_eq!(
        callees(&analysis, "main"),
        [
            "a::first",
            "a::second",
            "a::deep::third",
            "b::fourth",
            "a::deep::up",
            "local"
        ]
    );
    assert_eq!(callees(&analysis, "a::deep::up"), ["a::first"]);
}

#[test]
fn other_crates_of_the_program_are_known_by_their_names() {
    let analysis = analysed(&[
        (
            "main.rs",
            "use my_lib::{Grid, run}; fn main() { run(); let g = Grid::new(); g.step(); ::my_lib::run(); }",
        ),
        ("lib.rs", "mod grid; pub use grid::Grid; pub fn run() {}"),
        (
            "grid.rs",
            "pub struct Grid; impl Grid { pub fn new() -> Self { Grid } pub fn step(&self) {} }",
        ),
    ]);
    assert_eq!(
        callees(&analysis, "main"),
        ["run", "grid::Grid::new", "grid::Grid::step", "run"]
    );
}

#[test]
fn an_import_that_leads_to_itself_is_no_trouble() {
    let analysis = analysed(&[(
        "main.rs",
        "use self::x::y as x; use b::*; mod b { pub use super::*; } fn main() { z(); y(); x(); }",
    )]);
    assert!(callees(&analysis, "main").is_empty());
}

#[test]
fn modules_that_import_all_of_one_another_are_looked_through_once() {
    let names: Vec<String> = (0..24).map(|k| format!("m{k}")).collect();
    let globs = |own: &str| -> String {
        let others = names.iter().filter(|name| *name != own);
        others.map(|name| format!("pub use super::{name}::*; ")).collect()
    };
    let modules: String = names
        .iter()
        .map(|name| {
            format!(
                "mod {name} {{ {} pub fn of_{name}() {{ nowhere(); }} }}\n",
                globs(name)
            )
        })
        .collect();
    let main = format!("{modules} use m0::*; fn main() {{ of_m0(); of_m23(); nowhere(); }}");
    let analysis = analysed(&[("main.rs", &main)]);
    assert_eq!(callees(&analysis, "main"), ["m0::of_m0", "m23::of_m23"]);
}
