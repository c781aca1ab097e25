//! Takes out of a file what its `#[cfg]`s take out, where rustc would: items, statements, fields, variants, arms, parameters
//! and elements of lists. What stays keeps its spans. A `#[cfg]` that holds stays at an item, so that a text edit before the
//! item stands before it; elsewhere it goes, because it no longer says anything. `#[cfg_attr(p, a, b)]` becomes `#[a] #[b]`
//! where `p` holds and stays as it is elsewhere.

use std::ops::Range;

use proc_macro2::Span;
use quote::ToTokens;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{
    AttrStyle, Attribute, Expr, FnArg, ForeignItem, GenericParam, ImplItem, Item, Meta, Stmt, Token,
    TraitItem,
};

use crate::package::read::cfg::Configuration;

/// Strips a file. The result lists the bytes that rustc passes over in functions and lists: nodes that are taken out, and the
/// attributes of others that say they stay. The text without these compiles to the same program.
pub fn strip(file: &mut syn::File, configuration: &Configuration) -> Vec<Range<usize>> {
    let mut strip = Strip {
        configuration,
        passed_over: Vec::new(),
    };
    if !strip.keeps(&mut file.attrs) {
        file.items.clear();
    }
    strip.visit_file_mut(file);
    strip.passed_over.sort_by_key(|range| range.start);
    strip.passed_over
}

struct Strip<'c> {
    configuration: &'c Configuration,
    passed_over: Vec<Range<usize>>,
}

impl Strip<'_> {
    /// Whether a node with these attributes stays.
    fn keeps(&self, attributes: &mut Vec<Attribute>) -> bool {
        self.expand(attributes);
        let stands = |attribute: &Attribute| self.known(attribute) != Some(false);
        attributes.iter().all(stands)
    }

    /// Whether a `#[cfg]` holds, where that is known.
    fn known(&self, attribute: &Attribute) -> Option<bool> {
        match &attribute.meta {
            Meta::List(list) if list.path.is_ident("cfg") => self.configuration.known(&list.tokens),
            _ => None,
        }
    }

    /// Notes what rustc passes over of a node that goes or stays, and takes the attributes that say so off.
    fn note(&mut self, whole: Span, attributes: &mut Vec<Attribute>, stays: bool) {
        if !stays {
            self.passed_over.push(whole.byte_range());
            return;
        }
        let all = std::mem::take(attributes);
        for attribute in all {
            let is_held = self.known(&attribute) == Some(true);
            if is_held && matches!(attribute.style, AttrStyle::Outer) {
                self.passed_over.push(attribute.span().byte_range());
            } else {
                attributes.push(attribute);
            }
        }
    }

    /// Replaces `cfg_attr`s that hold by what they stand for.
    fn expand(&self, attributes: &mut Vec<Attribute>) {
        if !attributes
            .iter()
            .any(|attribute| attribute.path().is_ident("cfg_attr"))
        {
            return;
        }
        let all = std::mem::take(attributes);
        for attribute in all {
            match self.conditional(&attribute) {
                Some(mut held) => {
                    self.expand(&mut held);
                    attributes.append(&mut held);
                }
                None => attributes.push(attribute),
            }
        }
    }

    /// The attributes of a `cfg_attr` that holds.
    fn conditional(&self, attribute: &Attribute) -> Option<Vec<Attribute>> {
        let Meta::List(list) = &attribute.meta else {
            return None;
        };
        if !list.path.is_ident("cfg_attr") {
            return None;
        }
        let parts = |input: ParseStream<'_>| {
            let held = self.configuration.predicate(input)?;
            input.parse::<Option<Token![,]>>()?;
            let metas = Punctuated::<Meta, Token![,]>::parse_terminated(input)?;
            Ok((held, metas))
        };
        let (held, metas) = parts.parse2(list.tokens.clone()).ok()?;
        let one = |meta| Attribute {
            meta,
            ..attribute.clone()
        };
        // One that stands for nothing keeps its place in the text.
        (held && !metas.is_empty()).then(|| metas.into_iter().map(one).collect())
    }

    fn list<T: ToTokens, P: Default + ToTokens>(
        &mut self,
        list: &mut Punctuated<T, P>,
        attributes: impl Fn(&mut T) -> Option<&mut Vec<Attribute>>,
    ) {
        for mut pair in std::mem::take(list).into_pairs() {
            let whole = pair.span();
            let stays = match attributes(pair.value_mut()) {
                Some(found) => {
                    let stays = self.keeps(found);
                    self.note(whole, found, stays);
                    stays
                }
                None => true,
            };
            if stays {
                list.extend([pair]);
            }
        }
    }

    fn items<T>(&self, items: &mut Vec<T>, attributes: impl Fn(&mut T) -> Option<&mut Vec<Attribute>>) {
        items.retain_mut(|item| attributes(item).is_none_or(|found| self.keeps(found)));
    }

    fn keeps_statement(&mut self, statement: &mut Stmt) -> bool {
        let whole = statement.span();
        let attributes = match statement {
            Stmt::Local(local) => Some(&mut local.attrs),
            Stmt::Item(item) => item_attributes(item),
            Stmt::Macro(call) => Some(&mut call.attrs),
            Stmt::Expr(expression, _) => statement_attributes(expression),
        };
        attributes.is_none_or(|found| {
            let stays = self.keeps(found);
            self.note(whole, found, stays);
            stays
        })
    }
}

/// `visit(Node): field, attributes`, for each the visit of a node with elements that may go.
macro_rules! visits {
    ($how:ident: $($visit:ident($node:ty): $field:ident, $attributes:expr;)*) => {$(
        fn $visit(&mut self, node: &mut $node) {
            self.$how(&mut node.$field, $attributes);
            visit_mut::$visit(self, node);
        }
    )*};
}

impl VisitMut for Strip<'_> {
    fn visit_attributes_mut(&mut self, attributes: &mut Vec<Attribute>) {
        self.expand(attributes);
    }

    visits! {
        items:
        visit_file_mut(syn::File): items, item_attributes;
        visit_item_impl_mut(syn::ItemImpl): items, impl_attributes;
        visit_item_trait_mut(syn::ItemTrait): items, trait_attributes;
        visit_item_foreign_mod_mut(syn::ItemForeignMod): items, foreign_attributes;
    }

    visits! {
        list:
        visit_item_enum_mut(syn::ItemEnum): variants, |variant| Some(&mut variant.attrs);
        visit_fields_named_mut(syn::FieldsNamed): named, |field| Some(&mut field.attrs);
        visit_fields_unnamed_mut(syn::FieldsUnnamed): unnamed, |field| Some(&mut field.attrs);
        visit_generics_mut(syn::Generics): params, parameter_attributes;
        visit_signature_mut(syn::Signature): inputs, input_attributes;
        visit_expr_struct_mut(syn::ExprStruct): fields, |field| Some(&mut field.attrs);
        visit_pat_struct_mut(syn::PatStruct): fields, |field| Some(&mut field.attrs);
        visit_expr_array_mut(syn::ExprArray): elems, expression_attributes;
        visit_expr_tuple_mut(syn::ExprTuple): elems, expression_attributes;
        visit_expr_call_mut(syn::ExprCall): args, expression_attributes;
        visit_expr_method_call_mut(syn::ExprMethodCall): args, expression_attributes;
    }

    fn visit_item_mod_mut(&mut self, module: &mut syn::ItemMod) {
        if let Some((_, items)) = &mut module.content {
            self.items(items, item_attributes);
        }
        visit_mut::visit_item_mod_mut(self, module);
    }

    fn visit_block_mut(&mut self, block: &mut syn::Block) {
        block
            .stmts
            .retain_mut(|statement| self.keeps_statement(statement));
        visit_mut::visit_block_mut(self, block);
    }

    fn visit_expr_match_mut(&mut self, expression: &mut syn::ExprMatch) {
        expression.arms.retain_mut(|arm| {
            let (whole, stays) = (arm.span(), self.keeps(&mut arm.attrs));
            self.note(whole, &mut arm.attrs, stays);
            stays
        });
        visit_mut::visit_expr_match_mut(self, expression);
    }
}

/// `name(Node): Variant Variant`, for each a function that finds the attributes of a node.
macro_rules! attributes_of {
    ($($name:ident($node:ident): $($variant:ident)*;)*) => {$(
        #[allow(unreachable_patterns, reason = "of some nodes all variants have attributes")]
        fn $name(node: &mut $node) -> Option<&mut Vec<Attribute>> {
            match node {
                $($node::$variant(one) => Some(&mut one.attrs),)*
                _ => None,
            }
        }
    )*};
}

attributes_of! {
    input_attributes(FnArg): Receiver Typed;
    parameter_attributes(GenericParam): Lifetime Type Const;
    item_attributes(Item): Const Enum ExternCrate Fn ForeignMod Impl Macro Mod Static Struct Trait
        TraitAlias Type Union Use;
    impl_attributes(ImplItem): Const Fn Type Macro;
    trait_attributes(TraitItem): Const Fn Type Macro;
    foreign_attributes(ForeignItem): Fn Static Type Macro;
    expression_attributes(Expr): Array Assign Async Await Binary Block Break Call Cast Closure Const
        Continue Field ForLoop Group If Index Infer Let Lit Loop Macro Match MethodCall Paren Path Range
        RawAddr Reference Repeat Return Struct Try TryBlock Tuple Unary Unsafe While Yield;
}

/// The attributes of an expression statement: syn keeps those of `#[cfg(x)] a += 1;` at `a`.
fn statement_attributes(expression: &mut Expr) -> Option<&mut Vec<Attribute>> {
    match expression {
        Expr::Assign(one) => statement_attributes(&mut one.left),
        Expr::Binary(one) => statement_attributes(&mut one.left),
        Expr::Cast(one) => statement_attributes(&mut one.expr),
        other => expression_attributes(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stripped(text: &str) -> String {
        let mut file = syn::parse_file(text).expect("a file");
        let configuration = Configuration::printed("unix").with_features(["fast"]);
        strip(&mut file, &configuration);
        file.to_token_stream().to_string()
    }

    /// The text without what is between `[-` and `-]`, as tokens.
    fn expect(marked: &str) {
        let mut whole = String::new();
        let mut left = String::new();
        let mut rest = marked;
        while let Some((before, after)) = rest.split_once("[-") {
            let (gone, after) = after.split_once("-]").expect("closed");
            whole += &format!("{before}{gone}");
            left += before;
            rest = after;
        }
        whole += rest;
        left += rest;
        let left = syn::parse_file(&left)
            .expect("a file")
            .to_token_stream()
            .to_string();
        assert_eq!(stripped(&whole), left, "{marked}");
    }

    #[test]
    fn items_go_wherever_they_stand() {
        expect(
            "#[cfg(unix)] fn a() {} [-#[cfg(windows)] mod win;-] [-#[cfg(test)] mod tests { fn t() {} }-]",
        );
        expect("mod m { [-#[cfg(not(unix))] use x::y;-] fn f() { [-#[cfg(test)] fn g() {}-] } }");
        expect(
            "impl A { [-#[cfg(test)] fn a() {}-] fn b() {} } trait T { [-#[cfg(test)] type X;-] fn c(); }",
        );
        expect("extern \"C\" { [-#[cfg(windows)] fn w();-] fn u(); }");
        expect("enum E { [-#[cfg(windows)] A,-] B { [-#[cfg(windows)] x: u8,-] y: u8 } }");
    }

    #[test]
    fn statements_go_with_attributes_that_syn_keeps_deep_inside() {
        expect("fn f() { [-#[cfg(windows)] let a = 1;-] [-#[cfg(unix)]-] let a = 2; }");
        expect("fn f() { [-#[cfg(windows)] a.b += 1;-] [-#[cfg(windows)] a = b as u8;-] b = 2; }");
        expect("fn f() { [-#[cfg(windows)] { g() }-] [-#[cfg(unix)]-] { h() } }");
        expect("fn f() { [-#[cfg(windows)] println!(\"x\");-] [-#[cfg(test)] for i in 0..3 { g() }-] h() }");
    }

    #[test]
    fn elements_of_lists_go() {
        expect("fn f([-#[cfg(windows)] a: u8,-] b: u8) { g([-#[cfg(windows)] 1,-] 2); }");
        expect("fn f() { match x { [-#[cfg(windows)] 1 => {}-] _ => {} } }");
        expect(
            "fn f() { let p = P { [-#[cfg(windows)] a: 1,-] b: 2 }; let P { [-#[cfg(windows)] a,-] b } = p; }",
        );
        expect("fn f() -> [u8; 1] { [ [-#[cfg(windows)] 1,-] [-#[cfg(unix)]-] 2] }");
    }

    #[test]
    fn conditional_attributes_become_plain_ones() {
        assert_eq!(
            stripped("#[cfg_attr(feature = \"fast\", derive(Clone), cfg_attr(unix, repr(C)))] struct S;"),
            stripped("#[derive(Clone)] #[repr(C)] struct S;")
        );
        expect("#[cfg_attr(windows, derive(Clone))] struct S;");
        expect(
            "[-#[cfg_attr(unix, cfg(windows))] struct S;-] fn f() { [-#[cfg_attr(unix, cfg(test))] g();-] }",
        );
    }

    #[test]
    fn a_file_can_take_itself_out() {
        assert_eq!(stripped("#![cfg(windows)] fn a() {}"), "# ! [cfg (windows)]");
    }

    #[test]
    fn spans_are_those_of_the_text() {
        let text = "#[cfg(windows)] fn a() {}\n#[cfg_attr(unix, inline)] fn b() { let é = 1; let x = é; }";
        let mut file = syn::parse_file(text).expect("a file");
        strip(&mut file, &Configuration::printed("unix"));
        let [Item::Fn(function)] = file.items.as_slice() else {
            panic!("one function");
        };
        let range = function.block.span().byte_range();
        assert_eq!(&text[range], "{ let é = 1; let x = é; }");
        assert_eq!(function.attrs[0].pound_token.span.start().line, 2);
    }

    #[test]
    fn what_rustc_passes_over_can_be_left_out_of_the_text() {
        let text = "#[cfg(unix)] fn f(#[cfg(windows)] a: u8, b: u8) {\n\
            #[cfg(unix)] let n = 1; #[cfg(windows)] let n = 2;\n\
            #[cfg(windows)] é.x += 1; #[cfg(unix)] y += 1; match n { #[cfg(unix)] 1 => {} #[cfg(windows)] 2 => (), _ => {} }\n\
            #[cfg(version(\"1.0\"))] g(); #[cfg(all(unix))] { h(#[cfg(windows)] 1, 2) } }";
        let mut file = syn::parse_file(text).expect("a file");
        let ranges = strip(&mut file, &Configuration::printed("unix"));
        let mut left = text.to_owned();
        for range in ranges.into_iter().rev() {
            left.replace_range(range, "");
        }
        assert_eq!(
            left,
            "#[cfg(unix)] fn f( b: u8) {\n let n = 1; \n  y += 1; match n {  1 => {}  _ => {} }\n\
             #[cfg(version(\"1.0\"))] g();  { h( 2) } }"
        );
    }
}
