//! Types of the program of which a value may do something when it is dropped: because they say so (`impl Drop`), or hold a
//! writer with a buffer, an object, or another such type; where the program asks how many pointers to one value there are, also
//! because they hold such a pointer. A value of theirs that no one uses any more is refused at a site
//! as far as the runtime knows what they hold. A derived `Checkpoint` tells it; those without get a derive that does.

use crate::facts::Facts;
use crate::source::edits::Edit;
use crate::source::locate::bytes;
use crate::source::{FileId, Position, Program};
use ckpt_compiler::library::Types;
use ckpt_compiler::visit::{self, Visit};
use std::collections::BTreeSet;
use syn::spanned::Spanned;

/// The derives, but for types that `derived` has already, by their first bytes.
pub fn destructor_edits(facts: &Facts, program: &Program, derived: &BTreeSet<Position>) -> Vec<Edit> {
    let library = &facts.library;
    let mut items = Items {
        program,
        file: FileId(0),
        all: Vec::new(),
        dropped: BTreeSet::new(),
    };
    for (index, file) in program.files.iter().enumerate() {
        items.file = FileId(index);
        items.visit_file(&file.ast);
    }
    let Items { all, mut dropped, .. } = items;
    let mut holders = BTreeSet::new();
    loop {
        let before = (holders.len(), dropped.len());
        for (index, one) in all.iter().enumerate() {
            let is_known = |name: &String| {
                let counts = facts.counts_owners && library.says(name, Types::Counted);
                counts || dropped.contains(name) || library.says(name, Types::Flushes)
            };
            if one.holds.object || one.holds.names.iter().any(is_known) {
                holders.insert(index);
                dropped.insert(one.name.clone());
            }
        }
        if before == (holders.len(), dropped.len()) {
            break;
        }
    }
    let holders = holders.into_iter().map(|index| &all[index]);
    let unknown = holders.filter(|one| !one.is_alias && !one.is_checkpoint && !derived.contains(&one.place));
    unknown
        .map(|one| {
            let file = one.place.0;
            let text = &program.file(file).text;
            Edit::line_before(file, text, one.head, "#[derive(ckpt::__rt::Holds)]")
        })
        .collect()
}

/// A struct or an enum.
struct Item {
    name: String,
    place: Position,
    /// Where a derive goes.
    head: usize,
    is_checkpoint: bool,
    /// Another name for a type gets no derive.
    is_alias: bool,
    holds: Holds,
}

/// What the types of fields are made of.
#[derive(Default)]
struct Holds {
    names: BTreeSet<String>,
    /// An object, or what a parameter stands for.
    object: bool,
    parameters: BTreeSet<String>,
}

impl<'ast> Visit<'ast> for Holds {
    fn visit_path_segment(&mut self, segment: &'ast syn::PathSegment) {
        let name = segment.ident.to_string();
        self.object |= self.parameters.contains(&name);
        self.names.insert(name);
        visit::visit_path_segment(self, segment);
    }

    fn visit_type_trait_object(&mut self, _: &'ast syn::TypeTraitObject) {
        self.object = true;
    }

    fn visit_type_reference(&mut self, _: &'ast syn::TypeReference) {}
    fn visit_type_ptr(&mut self, _: &'ast syn::TypePtr) {}
    fn visit_type_bare_fn(&mut self, _: &'ast syn::TypeBareFn) {}
}

struct Items<'p> {
    program: &'p Program,
    file: FileId,
    all: Vec<Item>,
    /// The types with a destructor of their own.
    dropped: BTreeSet<String>,
}

impl Items<'_> {
    fn note<'f>(
        &mut self,
        item: &impl Spanned,
        (ident, generics): (&syn::Ident, &syn::Generics),
        attributes: &[syn::Attribute],
        (visibility, keyword): (&syn::Visibility, proc_macro2::Span),
        fields: impl Iterator<Item = &'f syn::Field>,
    ) {
        let parameters = generics.type_params().map(|one| one.ident.to_string());
        let mut holds = Holds {
            parameters: parameters.collect(),
            ..Holds::default()
        };
        fields.for_each(|field| holds.visit_type(&field.ty));
        let head = match visibility {
            syn::Visibility::Inherited => keyword,
            written => written.span(),
        };
        let start = |span| bytes(self.program, self.file, span).start;
        self.all.push(Item {
            name: ident.to_string(),
            place: (self.file, start(item.span())),
            head: start(head),
            is_checkpoint: super::saved_types::derived(attributes).contains("Checkpoint"),
            is_alias: false,
            holds,
        });
    }
}

impl<'ast> Visit<'ast> for Items<'_> {
    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.note(
            item,
            (&item.ident, &item.generics),
            &item.attrs,
            (&item.vis, item.struct_token.span),
            item.fields.iter(),
        );
        visit::visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        let fields = item.variants.iter().flat_map(|variant| &variant.fields);
        self.note(
            item,
            (&item.ident, &item.generics),
            &item.attrs,
            (&item.vis, item.enum_token.span),
            fields,
        );
        visit::visit_item_enum(self, item);
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        let mut holds = Holds::default();
        holds.visit_type(&item.ty);
        let head = bytes(self.program, self.file, item.span()).start;
        self.all.push(Item {
            name: item.ident.to_string(),
            place: (self.file, head),
            head,
            is_checkpoint: false,
            is_alias: true,
            holds,
        });
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let of_trait = item.trait_.as_ref().and_then(|(_, path, _)| path.segments.last());
        if let (Some(name), syn::Type::Path(path)) = (of_trait, &*item.self_ty)
            && name.ident == "Drop"
        {
            let last = path.path.segments.last();
            self.dropped.extend(last.map(|last| last.ident.to_string()));
        }
        visit::visit_item_impl(self, item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::edits::Edited;

    #[test]
    fn what_holds_a_buffer_or_an_object_is_told_to_the_runtime() {
        let text = "\
struct Log { out: BufWriter<File> }
pub enum Either { Log(Vec<Option<Log>>), None }
struct Any { out: Box<dyn Write> }
struct Of<W> { out: W }
struct Guard { n: u64 }
impl Drop for Guard { fn drop(&mut self) {} }
struct Guarded(Guard);
#[derive(ckpt::Checkpoint)]
struct Known { log: Log }
struct Grid { cells: Vec<f64>, name: String, log: &'static Log }
";
        assert_eq!(told(text), ["Log", "Either", "Any", "Of", "Guarded"]);
    }

    #[test]
    fn what_counts_as_an_owner_is_told_where_somebody_asks() {
        let types = "\
type Shared = Rc<RefCell<f64>>;
struct Cell { heat: Shared }
struct Row { cells: Vec<Cell> }
struct Plain { heat: f64 }
";
        assert_eq!(told(types), Vec::<String>::new());
        let asked = format!("{types}fn main() {{ Shared::get_mut(&mut cell); }}");
        assert_eq!(told(&asked), ["Cell", "Row"]);
    }

    fn told(text: &str) -> Vec<String> {
        let program = Program::of_text(text);
        let facts = Facts::of(&program, &Default::default());
        let edits = destructor_edits(&facts, &program, &BTreeSet::new());
        let now = Edited::new(text, &edits).text;
        let lines: Vec<&str> = now.lines().collect();
        lines
            .windows(2)
            .filter(|pair| pair[0].contains("__rt::Holds"))
            .map(|pair| {
                pair[1]
                    .split([' ', '(', '<'])
                    .find(|word| word.starts_with(char::is_uppercase))
                    .unwrap()
                    .to_owned()
            })
            .collect()
    }
}
