//! The inventory.

use super::analysed;
use crate::items::{Annotation, FnKind, GlobalKind};

const TEXT: &str = "
/// Documented.
#[inline]
pub fn free() { fn inner() {} inner() }
struct Grid { cells: Vec<f64>, pub n: usize }
impl Grid {
    /// Steps.
    pub(crate) fn step(&mut self) {}
    const N: usize = 4;
}
trait Solver { fn solve(&self); fn twice(&self) { self.solve(); self.solve() } }
impl Solver for Grid { fn solve(&self) {} }
#[derive(Clone, serde::Serialize)]
pub enum Kind { A(f64), B { x: u8 } }
static mut COUNT: u32 = 0;
thread_local! { static SEED: std::cell::Cell<u64> = const { std::cell::Cell::new(1) }; }
#[ckpt::main(calls(free))]
fn main() {}
";

#[test]
fn functions_of_all_kinds_are_found() {
    let analysis = analysed(&[("main.rs", TEXT)]);
    let found: Vec<_> = analysis
        .items
        .functions
        .iter()
        .map(|one| (one.display.as_str(), one.kind))
        .collect();
    assert_eq!(
        found,
        [
            ("free", FnKind::Free),
            ("free::inner", FnKind::Nested),
            ("Grid::step", FnKind::Inherent),
            ("Solver::twice", FnKind::TraitDefault),
            ("Grid::solve", FnKind::TraitImpl),
            ("main", FnKind::Free),
        ]
    );
    assert_eq!(
        analysis.items.functions[5].annotation,
        Annotation::Main("calls (free)".into())
    );
}

#[test]
fn an_attribute_goes_before_the_visibility_and_a_site_behind_the_brace() {
    let analysis = analysed(&[("main.rs", TEXT)]);
    let rest = |at: usize| &TEXT[at..];
    let of = |index: usize| &analysis.items.functions[index];
    assert!(rest(of(0).insert_at).starts_with("pub fn free()"));
    assert!(rest(of(0).body_at).starts_with(" fn inner()"));
    assert!(rest(of(2).insert_at).starts_with("pub(crate) fn step"));
    assert!(rest(of(3).insert_at).starts_with("fn twice"));
    assert!(rest(of(4).insert_at).starts_with("fn solve(&self) {}"));
}

#[test]
fn types_and_global_state_are_found() {
    let analysis = analysed(&[("main.rs", TEXT)]);
    let types = &analysis.items.types;
    assert_eq!(
        types[0]
            .fields
            .iter()
            .map(|one| one.name.as_str())
            .collect::<Vec<_>>(),
        ["cells", "n"]
    );
    assert_eq!(types[1].derives, ["Clone", "serde::Serialize"]);
    assert!(TEXT[types[1].insert_at..].starts_with("pub enum Kind"));
    assert!(TEXT[types[0].fields[1].insert_at..].starts_with("pub n: usize"));
    let globals: Vec<_> = analysis
        .items
        .globals
        .iter()
        .map(|one| (one.name.as_str(), one.kind))
        .collect();
    assert_eq!(
        globals,
        [
            ("COUNT", GlobalKind::StaticMut),
            ("SEED", GlobalKind::ThreadLocal)
        ]
    );
}

#[test]
fn a_byte_order_mark_is_counted() {
    let mut program = super::program(&[("main.rs", "fn main() {}")]);
    program.files[0].text.insert(0, '\u{feff}');
    program.files[0].base = 3;
    let analysis = crate::analyse(&program);
    let main = &analysis.items.functions[0];
    assert_eq!((main.insert_at, main.body_at), (3, 14));
}

#[test]
fn a_main_that_the_program_imports_is_its_main() {
    for import in [
        "use my_lib::main;",
        "pub use my_lib::*;",
        "use my_lib::begin as main;",
    ] {
        let analysis = super::analysed(&[
            ("main.rs", import),
            ("lib.rs", "pub fn main() {}\npub fn begin() {}"),
        ]);
        let main = analysis.items.main_of(0).expect("a main");
        let name = if import.contains(" as ") { "begin" } else { "main" };
        assert_eq!(analysis.items.function(main).name, name, "{import}");
        assert_eq!(analysis.items.function(main).krate, 1, "{import}");
    }
}
