//! Global state: statics and thread-locals that a run may change are named at the start of `main`, so that they are part
//! of every checkpoint. Modules hide theirs from each other, so each module names its own and calls those inside it.

mod changing;
mod inner;
mod late;
mod mutable;

use changing::Changing;
use late::Late;

pub(super) use mutable::reached;
pub use mutable::{RefusedStatic, refused_statics};

use crate::facts::Facts;
use crate::facts::generators::Seeded;
use crate::items::{FnId, Items, TypeId};
use crate::source::edits::Edit;
use crate::source::locate::bytes;
use crate::source::{CrateKind, CrateSource, FileId, Position, Program};
use ckpt_compiler::library::{Library, Macros, Types, last_name};
use ckpt_compiler::syntax::macros::name_of_macro;
use std::collections::{BTreeSet, HashSet};
use syn::spanned::Spanned;
use syn::{Item, ItemMacro, ItemStatic, StaticMutability, Type};

/// The function that names the globals of a module.
const NAMING: &str = "ckpt_globals";

/// The edits that name all global state of the program, and what cannot be named.
#[derive(Debug, Default)]
pub struct GlobalEdits {
    /// Functions behind the statics, and their calls.
    pub edits: Vec<Edit>,
    /// Statics inside functions that cannot be named from outside: by name, file and byte.
    pub stuck: Vec<(String, FileId, usize)>,
}

/// Works out what has to be put in for a program that begins in `main`.
pub fn global_edits(program: &Program, facts: &Facts, main: FnId) -> GlobalEdits {
    let mut found = GlobalEdits::default();
    let generators = |by: usize, module: &[String], _: Position| {
        let of_crate = facts
            .generators
            .seeded
            .iter()
            .filter(|one| one.by == by && module.is_empty());
        Lines {
            items: Vec::new(),
            statements: of_crate.map(of_generator).collect(),
        }
    };
    name_all(
        &facts.library,
        program,
        &facts.items,
        main,
        NAMING,
        &generators,
        &mut found,
    );
    found
}

/// Names a generator of random numbers that a crate keeps to itself.
fn of_generator(one: &Seeded) -> String {
    let Seeded {
        krate, state, seed, ..
    } = one;
    format!("ckpt::global(\"{krate}\", ckpt::Accessors::new(::{krate}::{state}, ::{krate}::{seed}));")
}

/// What a module says of itself.
#[derive(Debug, Clone, Default)]
pub(super) struct Lines {
    /// Items that it gets.
    pub items: Vec<String>,
    /// Statements in its function.
    pub statements: Vec<String>,
}

/// The edits by which every module says, in a function of this name, what `lines` has for it: for the crate of this number and
/// the path of the module in it, at the place where it says so. `main` begins with that.
pub(super) fn naming_edits(
    program: &Program,
    items: &Items,
    main: FnId,
    naming: &'static str,
    lines: &dyn Fn(usize, &[String], Position) -> Lines,
) -> Vec<Edit> {
    let mut found = GlobalEdits::default();
    name_all(
        Library::builtin(),
        program,
        items,
        main,
        naming,
        lines,
        &mut found,
    );
    found.edits
}

fn name_all(
    library: &Library,
    program: &Program,
    items: &Items,
    main: FnId,
    naming: &'static str,
    lines: &dyn Fn(usize, &[String], Position) -> Lines,
    found: &mut GlobalEdits,
) {
    let changing = Changing::of(library, program, items);
    let mut structs = BTreeSet::new();
    let mut calls = Vec::new();
    for (index, krate) in program.crates.iter().enumerate() {
        let mut namer = Namer {
            library,
            changing: &changing,
            structs: &mut structs,
            program,
            krate,
            naming,
            lines: &|path, place| lines(index, path, place),
            path: Vec::new(),
            found,
        };
        let is_root_of_main = index == items.function(main).krate;
        let list: Vec<&Item> = program.file(krate.root).ast.items.iter().collect();
        let visibility = if krate.kind == CrateKind::Lib {
            "pub"
        } else {
            "pub(crate)"
        };
        if namer.module(krate.root, &mut Vec::new(), &list, visibility) {
            let path = if is_root_of_main {
                naming.to_owned()
            } else {
                let main_crate = &program.crates[items.function(main).krate];
                match main_crate.externs.iter().find(|(_, at)| **at == index) {
                    Some((name, _)) => format!("{name}::{naming}"),
                    None => continue,
                }
            };
            calls.push(path);
        }
    }
    found
        .edits
        .extend(structs.into_iter().filter_map(|id| changing.impl_of(id)));
    let function = items.function(main);
    let text = &program.file(function.place.file).text;
    for call in calls {
        let statement = format!("#[ckpt(reexecute)] {call}();");
        found.edits.push(Edit::first_statement(
            function.place.file,
            text,
            function.body_at,
            &statement,
        ));
    }
}

struct Namer<'p> {
    library: &'p Library,
    changing: &'p Changing<'p>,
    /// Structs of the program that statics have in them.
    structs: &'p mut BTreeSet<TypeId>,
    program: &'p Program,
    krate: &'p CrateSource,
    /// What the functions that do it are called.
    naming: &'static str,
    /// What else is to be said, by the path of the module in its crate, at this place.
    lines: &'p dyn Fn(&[String], Position) -> Lines,
    path: Vec<String>,
    found: &'p mut GlobalEdits,
}

impl Namer<'_> {
    /// Whether the module, or one inside it, has anything to name. `inline` are the names of the inline modules of the
    /// file around it.
    fn module(&mut self, file: FileId, inline: &mut Vec<String>, items: &[&Item], visibility: &str) -> bool {
        let mut taken = HashSet::new();
        let place_of = |item: &Item| bytes(self.program, file, item.span()).end;
        let mut end = items.last().map_or(0, |last| place_of(last));
        let Lines {
            items: new,
            statements: mut lines,
        } = (self.lines)(&self.path, (file, end));
        if lines.is_empty() {
            end = 0;
        }
        let names_globals = self.naming == NAMING;
        for item in items {
            let before = lines.len();
            match item {
                Item::Static(one) if names_globals => {
                    self.changing.structs_in(&one.ty, self.structs);
                    let named = of_static(self.library, self.changing, one);
                    self.late(file, item, &named.late);
                    lines.extend(named.lines);
                }
                Item::Macro(one) if names_globals && holds_statics(self.library, one) => {
                    for declared in statics_in(one) {
                        self.changing.structs_in(&declared.ty, self.structs);
                    }
                    let named = of_macro(self.library, self.changing, one);
                    self.late(file, item, &named.late);
                    lines.extend(named.lines);
                }
                Item::Mod(one) => {
                    inline.push(one.ident.to_string());
                    self.path.push(one.ident.to_string());
                    let has = match &one.content {
                        Some((_, inner)) => {
                            let inner: Vec<&Item> = inner.iter().collect();
                            self.module(file, inline, &inner, "pub(crate)")
                        }
                        None => self.file_module(file, inline),
                    };
                    inline.pop();
                    self.path.pop();
                    if has {
                        lines.push(format!("{}::{}();", one.ident, self.naming));
                    }
                }
                Item::Fn(_) | Item::Impl(_) | Item::Trait(_) if names_globals => {
                    let inner =
                        inner::of_item(self.library, self.changing, self.program, file, item, &mut taken);
                    for ty in &inner.types {
                        self.changing.structs_in(ty, self.structs);
                    }
                    let stuck = inner.stuck.into_iter().map(|(name, at)| (name, file, at));
                    self.found.stuck.extend(stuck);
                    self.found.edits.extend(inner.edits);
                    lines.extend(inner.lines);
                }
                _ => {}
            }
            if lines.len() > before {
                end = end.max(bytes(self.program, file, item.span()).end);
            }
        }
        if lines.is_empty() {
            return false;
        }
        let body: String = lines.iter().map(|line| format!("    {line}\n")).collect();
        let new: String = new.iter().map(|item| format!("\n\n{item}")).collect();
        let text = format!(
            "{new}\n\n#[doc(hidden)]\n{visibility} fn {}() {{\n{body}}}",
            self.naming
        );
        self.found.edits.push(Edit::insert(file, end, text));
        true
    }

    /// Statics of an item that are computed late note when they are.
    fn late(&mut self, file: FileId, item: &Item, all: &[Late]) {
        let behind = bytes(self.program, file, item.span()).end;
        for late in all {
            let range = bytes(self.program, file, late.computed.span());
            let (before, after) = late.around(&late.name.to_string());
            self.found.edits.push(Edit::insert(file, range.start, before));
            self.found.edits.push(Edit::insert(file, range.end, after));
            let note = format!(" {}", late.note(&late.name.to_string()));
            self.found.edits.push(Edit::insert(file, behind, note));
        }
    }

    fn file_module(&mut self, file: FileId, inline: &[String]) -> bool {
        let Some(&inner) = self.krate.modules.get(&(file, inline.to_vec())) else {
            return false;
        };
        let program = self.program;
        let items: Vec<&Item> = program.file(inner).ast.items.iter().collect();
        self.module(inner, &mut Vec::new(), &items, "pub(crate)")
    }
}

/// What one item has to be named.
#[derive(Debug, Default)]
struct Named {
    lines: Vec<String>,
    /// Those of its statics that are computed late, with effects.
    late: Vec<Late>,
}

impl Named {
    fn add(&mut self, is_late: bool, one: &Declared, late: Option<Late>) {
        let name = one.name.to_string();
        self.lines.push(registration(
            &name,
            &name,
            is_late,
            late.as_ref().map(|late| late.asks(&name)),
        ));
        self.late.extend(late);
    }
}

fn of_static(library: &Library, changing: &Changing<'_>, item: &ItemStatic) -> Named {
    let mut named = Named::default();
    if is_shared(item) && changing.says(&item.ty) {
        let is_late = is_late(library, &item.ty);
        named.add(is_late, &Declared::of(item), late::of_static(library, item));
    }
    named
}

/// Whether a library computes it when it is first used.
fn is_late(library: &Library, ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if library.says(&last_name(&path.path), Types::Late))
}

fn is_shared(item: &ItemStatic) -> bool {
    !matches!(item.mutability, StaticMutability::Mut(_))
}

/// Names a static for checkpoints: under which path, and what it is called in its module. One that a library computes late
/// is reached by a function, so that naming it does not compute it; `late` passes on what knows whether it has been.
fn registration(path: &str, name: &str, is_late: bool, late: Option<String>) -> String {
    let place = match (is_late, late) {
        (false, None) => format!("&{name}"),
        (true, None) => format!("(|| &*{name}) as fn() -> &'static _"),
        (is_late, Some(late)) => {
            let place = match is_late {
                true => format!("ckpt::__rt::reached(|| &*{name})"),
                false => format!("&{name}"),
            };
            format!(
                "{{ use ckpt::__rt::{{MadeInPlace as _, MadeOfCheckpoint as _}}; (&ckpt::__rt::Lately::new({place}, {late})).place() }}"
            )
        }
    };
    format!("ckpt::global(concat!(module_path!(), \"::{path}\"), {place});")
}

/// The statics that an item declares and that may change, if it declares nothing else.
fn statics_of(library: &Library, changing: &Changing<'_>, item: &Item) -> Vec<Declared> {
    match item {
        Item::Static(one) if is_shared(one) && changing.says(&one.ty) => vec![Declared::of(one)],
        Item::Macro(one) if holds_statics(library, one) => {
            let all = statics_in(one);
            let changes = all.iter().any(|one| changing.says(&one.ty));
            if changes { all } else { Vec::new() }
        }
        _ => Vec::new(),
    }
}

/// `thread_local!` and `lazy_static!`.
fn holds_statics(library: &Library, item: &ItemMacro) -> bool {
    library.says(&name_of_macro(&item.mac), Macros::ThreadLocals) || is_lazy(library, item)
}

fn is_lazy(library: &Library, item: &ItemMacro) -> bool {
    library.says(&name_of_macro(&item.mac), Macros::LateStatics)
}

/// Those of `thread_local! { static A: Cell<u64> = ..; }` that change.
fn of_macro(library: &Library, kinds: &Changing<'_>, item: &ItemMacro) -> Named {
    let mut named = Named::default();
    let is_lazy = is_lazy(library, item);
    for one in statics_in(item).iter().filter(|one| kinds.says(&one.ty)) {
        named.add(is_lazy, one, late::of_macro(library, one, is_lazy));
    }
    named
}

/// A static as it is declared.
#[derive(Debug)]
struct Declared {
    name: syn::Ident,
    ty: Type,
    /// Under which conditions it is there.
    conditions: Vec<syn::Attribute>,
    /// What computes it, where that is not a constant.
    value: Option<syn::Expr>,
}

impl Declared {
    fn of(item: &ItemStatic) -> Declared {
        Declared {
            name: item.ident.clone(),
            ty: (*item.ty).clone(),
            conditions: conditions(&item.attrs),
            value: None,
        }
    }
}

fn conditions(attributes: &[syn::Attribute]) -> Vec<syn::Attribute> {
    let all = attributes.iter();
    all.filter(|one| one.path().is_ident("cfg")).cloned().collect()
}

fn statics_in(item: &ItemMacro) -> Vec<Declared> {
    struct Statics(Vec<Declared>);
    impl syn::parse::Parse for Statics {
        fn parse(input: syn::parse::ParseStream<'_>) -> syn::Result<Self> {
            let mut list = Vec::new();
            while !input.is_empty() {
                let attributes = input.call(syn::Attribute::parse_outer)?;
                input.parse::<syn::Visibility>()?;
                input.parse::<syn::Token![static]>()?;
                input.parse::<Option<syn::Token![ref]>>()?;
                let name: syn::Ident = input.parse()?;
                input.parse::<syn::Token![:]>()?;
                let ty: Type = input.parse()?;
                input.parse::<syn::Token![=]>()?;
                let is_constant = input.peek(syn::Token![const]) && input.peek2(syn::token::Brace);
                if is_constant {
                    input.parse::<syn::Token![const]>()?;
                }
                let value: syn::Expr = input.parse()?;
                list.push(Declared {
                    name,
                    ty,
                    conditions: conditions(&attributes),
                    value: (!is_constant).then_some(value),
                });
                if !input.is_empty() {
                    input.parse::<syn::Token![;]>()?;
                }
            }
            Ok(Self(list))
        }
    }
    syn::parse2::<Statics>(item.mac.tokens.clone()).map_or_else(|_| Vec::new(), |list| list.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceFile;
    use crate::source::edits::Edited;
    use std::collections::BTreeMap;

    #[test]
    fn every_module_names_its_own() {
        let text = "\
use std::cell::Cell;
static COUNT: AtomicU64 = AtomicU64::new(0);
static NAME: &str = \"fixed\";
mod inner {
    thread_local! { static DRAWN: Cell<u64> = const { Cell::new(0) }; }
}
fn main() {
    run();
}
";
        let program = Program {
            files: vec![SourceFile {
                path: "main.rs".into(),
                text: text.into(),
                ast: syn::parse_file(text).unwrap(),
                base: 0,
            }],
            crates: vec![CrateSource {
                name: "p".into(),
                package: "p".into(),
                kind: CrateKind::Bin,
                edition: 2021,
                root: FileId(0),
                modules: BTreeMap::new(),
                externs: BTreeMap::new(),
            }],
            ..Program::default()
        };
        let analysis = crate::analyse(&program);
        let main = analysis.items.main_of(0).unwrap();
        let edits = global_edits(&program, &analysis, main).edits;
        let new = Edited::new(text, &edits).text;
        let expected = [
            "ckpt::global(concat!(module_path!(), \"::COUNT\"), &COUNT);\n    inner::ckpt_globals();\n}",
            "ckpt::global(concat!(module_path!(), \"::DRAWN\"), &DRAWN);",
            "fn main() {\n    #[ckpt(reexecute)] ckpt_globals();\n    run();",
        ];
        for part in expected {
            assert!(new.contains(part), "{new}");
        }
        assert!(!new.contains("NAME)") && syn::parse_file(&new).is_ok(), "{new}");
    }

    #[test]
    fn what_a_library_computes_late_is_named_by_a_function() {
        let (program, items) = (Program::default(), Items::default());
        let changing = Changing::of(Library::builtin(), &program, &items);
        let named = |text: &str| match syn::parse_str::<Item>(text).unwrap() {
            Item::Macro(one) => of_macro(Library::builtin(), &changing, &one).lines,
            Item::Static(one) => of_static(Library::builtin(), &changing, &one).lines,
            _ => Vec::new(),
        };
        let lazy = "ckpt::global(concat!(module_path!(), \"::A\"), (|| &*A) as fn() -> &'static _);";
        let text = "lazy_static::lazy_static! { pub static ref A: Mutex<Vec<u8>> = Mutex::new(vec![]); static ref B: u8 = 1; }";
        assert_eq!(named(text), [lazy]);
        assert_eq!(
            named("static A: Lazy<Mutex<u8>> = Lazy::new(|| Mutex::new(1));"),
            [lazy]
        );
        assert_eq!(
            named("static A: LazyLock<Mutex<u8>> = LazyLock::new(|| Mutex::new(1));"),
            ["ckpt::global(concat!(module_path!(), \"::A\"), &A);"]
        );
    }
}
