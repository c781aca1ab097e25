//! From what was decided to text edits: attributes on functions, types and variables, and the sites.

pub mod marks;

use crate::calls::Wrapped;
use crate::decisions::used_up_readers::as_function;
use crate::decisions::{Decisions, macro_types};
use crate::items::derives;
use crate::source::edits::Edit;
use crate::source::locate::bytes;
use crate::source::{FileId, Position, Program};
use ckpt_compiler::names::made;
use ckpt_compiler::syntax::marks::SiteSort;
use ckpt_compiler::visit::{self, Visit};
use std::ops::Range;
use syn::spanned::Spanned;

/// A function that gets an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionMark {
    /// Its file.
    pub file: FileId,
    /// Where the attribute goes.
    pub at: usize,
    /// The byte behind its body.
    pub end: usize,
    /// `#[ckpt::main]` instead of `#[ckpt::instrument]`.
    pub opens_session: bool,
    /// The arguments of its attribute.
    pub arguments: String,
}

/// A place that gets a site.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SiteMark {
    /// Its file.
    pub file: FileId,
    /// The byte behind the `{` of a loop's body, or the first one of a statement.
    pub at: usize,
    /// Whether the site goes in front of the statement there.
    pub before_statement: bool,
    /// What it is to the ranks of a program: one behind a loop goes behind the statement that ends at `at`.
    pub sort: SiteSort,
    /// The end of the expression in front of which it goes, with braces around both.
    pub wraps: Option<Wrapped>,
}

/// All edits that the marks and decisions come to.
pub fn edits(
    program: &Program,
    functions: &[FunctionMark],
    sites: &[SiteMark],
    decisions: &Decisions,
) -> Vec<Edit> {
    let mut list = Vec::new();
    for mark in functions {
        let text = &program.file(mark.file).text;
        list.push(Edit::line_before(mark.file, text, mark.at, &attribute(mark)));
    }
    for site in sites {
        let text = &program.file(site.file).text;
        if let Some(Wrapped { end, given }) = site.wraps {
            let names: Vec<String> = (1..=given)
                .map(|index| made(format_args!("given{index}")).to_string())
                .collect();
            let (mut before, mut after) = (String::from("{ ckpt::checkpoint!(); "), String::from(" }"));
            if given > 0 {
                let names = names.join(", ");
                before.insert_str(0, &format!("|{names}| "));
                after.insert_str(0, &format!("({names})"));
            }
            list.push(Edit::insert(site.file, site.at, before));
            list.push(Edit::insert(site.file, end, after));
            continue;
        }
        let edit = match site.sort {
            SiteSort::PhaseEnd => Edit::line_behind,
            _ if site.before_statement => Edit::line_before,
            _ => Edit::first_statement,
        };
        list.push(edit(site.file, text, site.at, site.sort.text()));
    }
    // What was decided for a function that is no longer instrumented has no meaning there.
    let is_marked = |place: &Position| {
        functions
            .iter()
            .any(|mark| mark.file == place.0 && (mark.at..mark.end).contains(&place.1))
    };
    let variables = decisions.variables.iter().filter(|(place, _)| is_marked(place));
    for (&(file, at), word) in variables.chain(&decisions.fields) {
        let text = &program.file(file).text;
        let word = decisions.word((file, at), word);
        list.push(Edit::line_before(file, text, at, &format!("#[ckpt({word})]")));
    }
    for &place in decisions.replayed.iter().filter(|place| is_marked(place)) {
        if let Some(range) = initialiser(program, place) {
            list.push(Edit::insert(place.0, range.start, "ckpt::replayed("));
            list.push(Edit::insert(place.0, range.end, ")"));
        }
    }
    for (&(file, at), word) in decisions.parameters.iter().filter(|(place, _)| is_marked(place)) {
        list.push(Edit::insert(file, at, format!("#[ckpt({word})] ")));
    }
    list.extend(decisions.owned.iter().map(|&(file, at)| Edit {
        end: at + 1,
        ..Edit::insert(file, at, "")
    }));
    for (&place, function) in decisions.used_up.iter().filter(|(place, _)| is_marked(place)) {
        list.extend(as_function(program, place, function));
    }
    for (index, _) in program.files.iter().enumerate() {
        let mut types = Types {
            program,
            file: FileId(index),
            decisions,
            edits: &mut list,
        };
        types.visit_file(&program.files[index].ast);
    }
    if !decisions.derives.is_empty() {
        for (place, one) in macro_types::declared(program) {
            if decisions.derives.contains(&place) {
                list.extend(macro_types::edits(program, place, &one));
            }
        }
    }
    // Behind the derives: what makes a type visible stands at the same place, and belongs to the item.
    for edit in decisions.objects.values().flatten() {
        // Two traits may want the same thing of a type.
        if !list.contains(edit) {
            list.push(edit.clone());
        }
    }
    list
}

/// The bytes of the initialiser of the `let` that begins there.
fn initialiser(program: &Program, place: Position) -> Option<Range<usize>> {
    let init = crate::decisions::refill::initialiser(program, place)?;
    Some(bytes(program, place.0, init.span()))
}

/// The attribute of a function, as a person would write it.
pub fn attribute(mark: &FunctionMark) -> String {
    let name = if mark.opens_session {
        "ckpt::main"
    } else {
        "ckpt::instrument"
    };
    if mark.arguments.is_empty() {
        format!("#[{name}]")
    } else {
        format!("#[{name}({})]", mark.arguments)
    }
}

/// Puts derives in front of items and bounds behind type parameters.
struct Types<'p> {
    program: &'p Program,
    file: FileId,
    decisions: &'p Decisions,
    edits: &'p mut Vec<Edit>,
}

impl Types<'_> {
    fn derive(
        &mut self,
        item: &impl Spanned,
        attributes: &[syn::Attribute],
        visibility: &syn::Visibility,
        keyword: proc_macro2::Span,
    ) {
        let has_own_derive = derives(attributes).iter().any(|one| one.ends_with("Checkpoint"));
        let start = bytes(self.program, self.file, item.span()).start;
        let place = (self.file, start);
        let derive = self
            .decisions
            .derives
            .contains(&place)
            .then_some("#[derive(ckpt::Checkpoint)]");
        let detector = self.decisions.detectors.get(&place).map(String::as_str);
        // A type that nothing saves is given no detector either.
        let text_of = match (derive, detector) {
            (None, Some(detector)) if has_own_derive => detector.to_owned(),
            (None, _) => return,
            (Some(derive), None) => derive.to_owned(),
            (Some(derive), Some(detector)) => format!("{derive} {detector}"),
        };
        let head = match visibility {
            syn::Visibility::Inherited => keyword,
            written => written.span(),
        };
        let at = bytes(self.program, self.file, head).start;
        let text = &self.program.file(self.file).text;
        self.edits.push(Edit::line_before(self.file, text, at, &text_of));
    }

    /// The bound of a parameter `impl Trait`; behind a `&` such a type with several bounds is in parentheses.
    fn anonymous(&mut self, ty: &syn::Type, is_behind_reference: bool) {
        let range = bytes(self.program, self.file, ty.span());
        let is_meant = matches!(ty, syn::Type::ImplTrait(_));
        if !is_meant || !self.decisions.bounds.contains(&(self.file, range.start)) {
            return;
        }
        let behind = match is_behind_reference {
            true => {
                self.edits.push(Edit::insert(self.file, range.start, "("));
                " + ckpt::Checkpoint)"
            }
            false => " + ckpt::Checkpoint",
        };
        self.edits.push(Edit::insert(self.file, range.end, behind));
    }
}

impl<'ast> Visit<'ast> for Types<'_> {
    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.derive(item, &item.attrs, &item.vis, item.struct_token.span);
        visit::visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.derive(item, &item.attrs, &item.vis, item.enum_token.span);
        visit::visit_item_enum(self, item);
    }

    fn visit_trait_item_type(&mut self, item: &'ast syn::TraitItemType) {
        let range = bytes(self.program, self.file, item.ident.span());
        if self.decisions.bounds.contains(&(self.file, range.start)) {
            let (at, text) = match item.bounds.last() {
                Some(last) => (
                    bytes(self.program, self.file, last.span()).end,
                    " + ckpt::Checkpoint",
                ),
                None => (range.end, ": ckpt::Checkpoint"),
            };
            self.edits.push(Edit::insert(self.file, at, text));
        }
        visit::visit_trait_item_type(self, item);
    }

    fn visit_type(&mut self, ty: &'ast syn::Type) {
        if let syn::Type::Reference(one) = ty {
            self.anonymous(&one.elem, true);
            // What is behind the `&` has its bound now; only what is in it is left.
            return match &*one.elem {
                elem @ syn::Type::ImplTrait(_) => visit::visit_type(self, elem),
                elem => self.visit_type(elem),
            };
        }
        self.anonymous(ty, false);
        visit::visit_type(self, ty);
    }

    fn visit_type_param(&mut self, parameter: &'ast syn::TypeParam) {
        let range = bytes(self.program, self.file, parameter.span());
        let place = (self.file, range.start);
        let all = [
            (&self.decisions.bounds, "ckpt::Checkpoint"),
            (&self.decisions.fixed, "ckpt::__rt::Fixed"),
        ];
        let added: Vec<&str> = { all.iter() }
            .filter(|(places, _)| places.contains(&place))
            .map(|(_, bound)| *bound)
            .collect();
        if !added.is_empty() {
            let (end, before) = match parameter.bounds.last() {
                Some(last) => (last.span(), " + "),
                None => (parameter.ident.span(), ": "),
            };
            let at = bytes(self.program, self.file, end).end;
            let text = format!("{before}{}", added.join(" + "));
            self.edits.push(Edit::insert(self.file, at, text));
        }
        visit::visit_type_param(self, parameter);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decisions::bounds::{anonymous_parameters, associated_type, type_parameter};
    use crate::source::SourceFile;
    use crate::source::edits::Edited;
    use std::collections::BTreeMap;

    #[test]
    fn attributes_go_where_a_person_would_put_them() {
        let text = "\
/// A run.
#[derive(Clone)]
pub struct Sim<T> {
    grid: Vec<T>,
}
fn run<T, U: Copy>(a: T, b: U, c: impl Read, d: Bytes<&mut impl Read>) {
    let clock = start();
    for i in 0..3 {
        step();
    }
}
";
        let program = Program::of_text(text);
        let file = FileId(0);
        let at = |wanted: &str| text.find(wanted).unwrap();
        let decisions = Decisions {
            derives: [(file, 0)].into(),
            variables: [((file, at("let clock")), "reexecute")].into(),
            bounds: { ["T", "U"].iter() }
                .map(|name| type_parameter(&program, file, at("step"), name).unwrap())
                .chain(anonymous_parameters(&program, file, at("step"), "impl Read"))
                .collect(),
            fixed: [type_parameter(&program, file, at("step"), "U").unwrap()].into(),
            ..Decisions::default()
        };
        let functions = [FunctionMark {
            file,
            at: at("fn run"),
            end: text.len(),
            opens_session: false,
            arguments: "calls(step)".into(),
        }];
        let sites = [SiteMark {
            file,
            at: at("0..3 {") + 6,
            before_statement: false,
            sort: SiteSort::Common,
            wraps: None,
        }];
        let list = edits(&program, &functions, &sites, &decisions);
        let expected = "\
/// A run.
#[derive(Clone)]
#[derive(ckpt::Checkpoint)]
pub struct Sim<T> {
    grid: Vec<T>,
}
#[ckpt::instrument(calls(step))]
fn run<T: ckpt::Checkpoint, U: Copy + ckpt::Checkpoint + ckpt::__rt::Fixed>(a: T, b: U, c: impl Read + ckpt::Checkpoint, d: Bytes<&mut (impl Read + ckpt::Checkpoint)>) {
    #[ckpt(reexecute)]
    let clock = start();
    for i in 0..3 {
        ckpt::checkpoint!();
        step();
    }
}
";
        assert_eq!(Edited::new(text, &list).text, expected);
    }

    #[test]
    fn what_is_made_visible_stands_behind_its_derive() {
        let text = "struct Hidden {\n    n: u32,\n}\n";
        let program = Program::of_text(text);
        let decisions = Decisions {
            derives: [(FileId(0), 0)].into(),
            objects: [("Law".to_owned(), vec![Edit::insert(FileId(0), 0, "pub(crate) ")])].into(),
            ..Decisions::default()
        };
        let list = edits(&program, &[], &[], &decisions);
        let expected = "#[derive(ckpt::Checkpoint)]\npub(crate) struct Hidden {\n    n: u32,\n}\n";
        assert_eq!(Edited::new(text, &list).text, expected);
    }

    #[test]
    fn associated_types_get_their_bound_in_the_trait() {
        let text = "trait Model { type State: Clone; type Obs; fn f(&self); }";
        let program = Program {
            files: vec![SourceFile {
                path: "a.rs".into(),
                text: text.into(),
                ast: syn::parse_file(text).unwrap(),
                base: 0,
            }],
            crates: vec![crate::source::CrateSource {
                name: "p".into(),
                package: "p".into(),
                kind: crate::source::CrateKind::Bin,
                edition: 2021,
                root: FileId(0),
                modules: BTreeMap::new(),
                externs: BTreeMap::new(),
            }],
            ..Program::default()
        };
        let analysis = crate::analyse(&program);
        let items = &analysis.items;
        let place = |name| associated_type(&program, items, name);
        assert_eq!(place("<M as Other>::State"), None);
        let decisions = Decisions {
            bounds: ["<M as Model>::State", "<M as a::Model>::Obs"]
                .map(|name| place(name).unwrap())
                .into(),
            ..Decisions::default()
        };
        let list = edits(&program, &[], &[], &decisions);
        let expected =
            "trait Model { type State: Clone + ckpt::Checkpoint; type Obs: ckpt::Checkpoint; fn f(&self); }";
        assert_eq!(Edited::new(text, &list).text, expected);
    }
}
