//! From places in the sources as they were to the same places in the sources as they are.
//!
//! What is inside a function that reads as before keeps its place in it; everything else follows the lines that both
//! texts have. Whether anything but the insides of functions has changed is [`Change::only_inside`].

use std::ops::Range;

use ckpt_compiler::visit::{self, Visit, VisitMut};
use quote::ToTokens;
use similar::{DiffTag, TextDiff};
use syn::spanned::Spanned;

/// Where a place has gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Now {
    /// In a function that reads as before.
    Unchanged(usize),
    /// On a line that reads as before, of a function that does not read as before.
    Similar(usize),
    /// On a line that reads as before, outside of all functions.
    Outside(usize),
}

/// One file, as it was and as it is.
#[derive(Debug)]
pub struct Change {
    /// Whether the two differ at most inside of functions, in comments and in the numbers behind constants.
    pub only_inside: bool,
    old: Vec<Function>,
    new: Vec<Function>,
    /// Lines that both have: the first byte in the old text, in the new one, and how many bytes.
    common: Vec<(usize, usize, usize)>,
}

/// A function that is in no other one.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Function {
    /// With the modules, types and traits around it.
    name: String,
    bytes: Range<usize>,
    text: String,
}

impl Change {
    /// Compares; nothing where one of the two does not parse.
    pub fn between(old: &str, new: &str) -> Option<Self> {
        let (before, after) = (parsed(old)?, parsed(new)?);
        Some(Self {
            old: functions(&before),
            new: functions(&after),
            only_inside: outside(before) == outside(after),
            common: common_lines(old, new),
        })
    }

    /// Where the place in the old text is in the new one.
    pub fn now(&self, place: usize) -> Option<Now> {
        let at = |list: &[Function], place| list.iter().position(|one| one.bytes.contains(&place));
        if let Some(index) = at(&self.old, place) {
            let old = &self.old[index];
            let same = alone(&self.old, &old.name)
                .then(|| alone_named(&self.new, &old.name))
                .flatten()?;
            // Not by tokens: a comment within would move what is behind it.
            if same.text == old.text {
                return Some(Now::Unchanged(same.bytes.start + (place - old.bytes.start)));
            }
            let line = self.along(place)?;
            return same.bytes.contains(&line).then_some(Now::Similar(line));
        }
        let line = self.along(place)?;
        at(&self.new, line).is_none().then_some(Now::Outside(line))
    }

    fn along(&self, place: usize) -> Option<usize> {
        self.common
            .iter()
            .find(|(old, _, length)| (*old..old + length).contains(&place))
            .map(|(old, new, _)| new + (place - old))
    }
}

fn alone(list: &[Function], name: &str) -> bool {
    alone_named(list, name).is_some()
}

fn alone_named<'f>(list: &'f [Function], name: &str) -> Option<&'f Function> {
    let mut named = list.iter().filter(|one| one.name == name);
    named.next().filter(|_| named.next().is_none())
}

fn parsed(text: &str) -> Option<(syn::File, &str)> {
    // The parser does not count what it leaves out there.
    let counts_all = !text.starts_with('\u{feff}') && !text.starts_with("#!/");
    let file = syn::parse_file(text).ok().filter(|_| counts_all)?;
    Some((file, text))
}

fn common_lines(old: &str, new: &str) -> Vec<(usize, usize, usize)> {
    let starts = |text: &str| -> Vec<usize> {
        let mut at = 0;
        let mut list = vec![0];
        list.extend(text.split_inclusive('\n').map(|line| {
            at += line.len();
            at
        }));
        list
    };
    let (olds, news) = (starts(old), starts(new));
    TextDiff::from_lines(old, new)
        .ops()
        .iter()
        .filter(|op| op.tag() == DiffTag::Equal)
        .map(|op| {
            let (from, to) = (op.old_range(), op.new_range());
            (
                olds[from.start],
                news[to.start],
                olds[from.end] - olds[from.start],
            )
        })
        .collect()
}

fn functions((file, text): &(syn::File, &str)) -> Vec<Function> {
    struct Functions<'t> {
        text: &'t str,
        around: Vec<String>,
        found: Vec<Function>,
    }
    impl Functions<'_> {
        fn add(&mut self, name: &syn::Ident, bytes: Range<usize>) {
            self.found.push(Function {
                name: format!("{}::{name}", self.around.join("::")),
                text: self.text[bytes.clone()].to_owned(),
                bytes,
            });
        }
        fn within(&mut self, name: String, visit: impl FnOnce(&mut Self)) {
            self.around.push(name);
            visit(self);
            self.around.pop();
        }
    }
    impl<'ast> Visit<'ast> for Functions<'_> {
        fn visit_item_fn(&mut self, one: &'ast syn::ItemFn) {
            self.add(&one.sig.ident, one.span().byte_range());
        }
        fn visit_impl_item_fn(&mut self, one: &'ast syn::ImplItemFn) {
            self.add(&one.sig.ident, one.span().byte_range());
        }
        fn visit_trait_item_fn(&mut self, one: &'ast syn::TraitItemFn) {
            self.add(&one.sig.ident, one.span().byte_range());
        }
        fn visit_item_mod(&mut self, one: &'ast syn::ItemMod) {
            self.within(one.ident.to_string(), |this| visit::visit_item_mod(this, one));
        }
        fn visit_item_trait(&mut self, one: &'ast syn::ItemTrait) {
            self.within(one.ident.to_string(), |this| visit::visit_item_trait(this, one));
        }
        fn visit_item_impl(&mut self, one: &'ast syn::ItemImpl) {
            let of = one.trait_.as_ref().map(|(_, path, _)| path);
            let name = format!("<{} as {}>", one.self_ty.to_token_stream(), of.to_token_stream());
            self.within(name, |this| visit::visit_item_impl(this, one));
        }
    }
    let mut functions = Functions {
        text,
        around: Vec::new(),
        found: Vec::new(),
    };
    functions.visit_file(file);
    functions.found
}

/// The file without the insides of its functions, its comments and the numbers behind its constants.
fn outside((mut file, _): (syn::File, &str)) -> String {
    struct Outside;
    impl VisitMut for Outside {
        fn visit_block_mut(&mut self, block: &mut syn::Block) {
            block.stmts.clear();
        }
        fn visit_item_const_mut(&mut self, one: &mut syn::ItemConst) {
            visit::visit_item_const_mut(self, one);
            let is_number = |lit: &syn::ExprLit| matches!(lit.lit, syn::Lit::Int(_) | syn::Lit::Float(_));
            if matches!(&*one.expr, syn::Expr::Lit(lit) if is_number(lit)) {
                *one.expr = syn::Expr::Verbatim(proc_macro2::TokenStream::new());
            }
        }
        fn visit_file_mut(&mut self, file: &mut syn::File) {
            visit::visit_file_mut(self, file);
            forget_comments(&mut file.attrs);
        }
        fn visit_item_struct_mut(&mut self, one: &mut syn::ItemStruct) {
            visit::visit_item_struct_mut(self, one);
            forget_comments(&mut one.attrs);
        }
        fn visit_item_fn_mut(&mut self, one: &mut syn::ItemFn) {
            visit::visit_item_fn_mut(self, one);
            forget_comments(&mut one.attrs);
        }
        fn visit_impl_item_fn_mut(&mut self, one: &mut syn::ImplItemFn) {
            visit::visit_impl_item_fn_mut(self, one);
            forget_comments(&mut one.attrs);
        }
    }
    Outside.visit_file_mut(&mut file);
    file.into_token_stream().to_string()
}

fn forget_comments(attributes: &mut Vec<syn::Attribute>) {
    attributes.retain(|one| !one.path().is_ident("doc"));
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "\
const N: usize = 10;
struct Sim { cells: Vec<f64> }
impl Sim {
    fn step(&mut self) {
        let rate = 2.0;
        self.cells[0] *= rate;
    }
}
fn main() {
    let mut sim = Sim { cells: vec![1.0; N] };
    for _ in 0..N {
        sim.step();
    }
}
";

    fn place(text: &str, what: &str) -> usize {
        text.find(what).unwrap()
    }

    fn now(new: &str, what: &str) -> Option<Now> {
        Change::between(OLD, new).unwrap().now(place(OLD, what))
    }

    #[test]
    fn what_is_in_a_function_that_reads_as_before_keeps_its_place() {
        let new = OLD.replace("2.0", "2.5").replace("= 10", "= 100");
        let change = Change::between(OLD, &new).unwrap();
        assert!(change.only_inside);
        let at = place(&new, "let mut sim");
        assert_eq!(now(&new, "let mut sim"), Some(Now::Unchanged(at)));
        assert_eq!(now(&new, "let rate"), None);
        let at = place(&new, "self.cells[0]");
        assert_eq!(now(&new, "self.cells[0]"), Some(Now::Similar(at)));
        let at = place(&new, "struct Sim");
        assert_eq!(now(&new, "struct Sim"), Some(Now::Outside(at)));
    }

    #[test]
    fn what_is_more_than_the_inside_of_a_function_is_told_apart() {
        for (from, to) in [
            ("Vec<f64>", "Vec<f32>"),
            ("struct Sim", "#[derive(Clone)] struct Sim"),
            ("fn step(&mut self)", "fn step(&mut self, more: usize)"),
            ("const N", "use std::fmt; const N"),
            ("= 10", "= size_of::<u8>()"),
        ] {
            let new = OLD.replace(from, to);
            assert!(!Change::between(OLD, &new).unwrap().only_inside, "{to}");
        }
        let commented = OLD.replace("struct Sim", "// a plate\n/// A plate.\nstruct Sim");
        assert!(Change::between(OLD, &commented).unwrap().only_inside);
    }

    #[test]
    fn a_place_does_not_move_into_another_function() {
        let other = OLD.replace("fn step", "fn advance");
        assert_eq!(now(&other, "let rate"), None);
        let two = OLD.replace("fn main", "fn step2() { let rate = 2.0; }\nfn main");
        assert_eq!(
            now(&two, "let rate"),
            Some(Now::Unchanged(place(OLD, "let rate")))
        );
        assert!(Change::between(OLD, "fn main() {").is_none());
    }
}
