//! What the syntax of one item says.

use super::{Annotation, GlobalKind};
use ckpt_compiler::library::{Library, Macros, last_name, segments};
use ckpt_compiler::syntax::macros::name_of_macro;
use ckpt_compiler::visit::{self, Visit};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::BTreeSet;
use syn::spanned::Spanned;
use syn::{Attribute, Item, Signature, Visibility};

/// The declarations of a `thread_local!`.
pub(super) struct Statics(pub Vec<(syn::Ident, syn::Type, syn::Expr)>);

impl syn::parse::Parse for Statics {
    fn parse(input: syn::parse::ParseStream) -> syn::Result<Self> {
        let mut list = Vec::new();
        while !input.is_empty() {
            input.call(Attribute::parse_outer)?;
            input.parse::<Visibility>()?;
            input.parse::<syn::Token![static]>()?;
            input.parse::<Option<syn::Token![ref]>>()?;
            let name = input.parse()?;
            input.parse::<syn::Token![:]>()?;
            let ty = input.parse()?;
            input.parse::<syn::Token![=]>()?;
            input.parse::<Option<syn::Token![const]>>()?;
            let value = input.parse()?;
            list.push((name, ty, value));
            input.parse::<Option<syn::Token![;]>>()?;
        }
        Ok(Self(list))
    }
}

/// The items among the statements of a body, but not those of inner functions.
pub(super) struct Inner<'l> {
    library: &'l Library,
    pub(super) items: Vec<Item>,
}

impl<'l> Inner<'l> {
    pub(super) fn new(library: &'l Library) -> Self {
        let items = Vec::new();
        Self { library, items }
    }
}

/// The constants of blocks in a body that have the name of something else which the function mentions.
pub(super) fn ambiguous_constants(function: &syn::ItemFn) -> BTreeSet<String> {
    struct OfBlocks {
        all: TokenStream,
        depth: usize,
        found: BTreeSet<String>,
    }
    impl<'ast> Visit<'ast> for OfBlocks {
        fn visit_block(&mut self, block: &'ast syn::Block) {
            for stmt in &block.stmts {
                if let syn::Stmt::Item(Item::Const(one)) = stmt
                    && self.depth > 0
                    && count(&block.to_token_stream(), &one.ident) < count(&self.all, &one.ident)
                {
                    self.found.insert(one.ident.to_string());
                }
            }
            self.depth += 1;
            visit::visit_block(self, block);
            self.depth -= 1;
        }
        fn visit_item(&mut self, _: &'ast Item) {}
    }
    let mut constants = OfBlocks {
        all: function.to_token_stream(),
        depth: 0,
        found: BTreeSet::new(),
    };
    constants.visit_block(&function.block);
    constants.found
}

/// How often a name stands in some tokens.
fn count(tokens: &TokenStream, name: &Ident) -> usize {
    let of_token = |token| match token {
        TokenTree::Ident(ident) => usize::from(ident == *name),
        TokenTree::Group(group) => count(&group.stream(), name),
        _ => 0,
    };
    tokens.clone().into_iter().map(of_token).sum()
}

/// What the statics are that a macro of this name declares, if it declares some.
pub(super) fn kind_of_statics(library: &Library, name: &str) -> Option<GlobalKind> {
    match library.key(name)? {
        Macros::ThreadLocals => Some(GlobalKind::ThreadLocal),
        Macros::LateStatics => Some(GlobalKind::LazyStatic),
        _ => None,
    }
}

impl<'ast> Visit<'ast> for Inner<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        self.items.push(item.clone());
    }
    fn visit_stmt(&mut self, stmt: &'ast syn::Stmt) {
        if let syn::Stmt::Macro(mac) = stmt
            && kind_of_statics(self.library, &name_of_macro(&mac.mac)).is_some()
        {
            self.items.push(Item::Macro(syn::ItemMacro {
                attrs: Vec::new(),
                ident: None,
                mac: mac.mac.clone(),
                semi_token: None,
            }));
        }
        visit::visit_stmt(self, stmt);
    }
}

pub(super) fn as_function(
    attributes: &[Attribute],
    vis: &Visibility,
    sig: &Signature,
    block: &syn::Block,
) -> syn::ItemFn {
    syn::ItemFn {
        attrs: attributes.to_vec(),
        vis: vis.clone(),
        sig: sig.clone(),
        block: Box::new(block.clone()),
    }
}

/// The first token of a trait behind its attributes.
pub(super) fn first_of_trait(one: &syn::ItemTrait) -> Span {
    match (&one.vis, &one.unsafety) {
        (Visibility::Inherited, Some(word)) => word.span,
        (Visibility::Inherited, None) => one.trait_token.span,
        (vis, _) => vis.span(),
    }
}

/// The first token behind the attributes.
pub(super) fn first_token(vis: &Visibility, sig: &Signature) -> Span {
    match vis {
        Visibility::Inherited => sig
            .to_token_stream()
            .into_iter()
            .next()
            .map_or_else(|| sig.ident.span(), |token| token.span()),
        vis => vis.span(),
    }
}

/// The last segment of a type's path, or its text.
pub(crate) fn type_name(ty: &syn::Type) -> String {
    match ty {
        syn::Type::Path(path) => last_name(&path.path),
        syn::Type::Reference(one) => type_name(&one.elem),
        syn::Type::Paren(one) => type_name(&one.elem),
        syn::Type::Group(one) => type_name(&one.elem),
        syn::Type::Slice(_) | syn::Type::Array(_) => "[]".into(),
        syn::Type::TraitObject(one) => one
            .bounds
            .iter()
            .find_map(bound_path)
            .map(|path| last_name(&path))
            .unwrap_or_default(),
        other => other.to_token_stream().to_string(),
    }
}

/// The trait of a bound.
pub(crate) fn bound_path(bound: &syn::TypeParamBound) -> Option<syn::Path> {
    match bound {
        syn::TypeParamBound::Trait(one) => Some(one.path.clone()),
        _ => None,
    }
}

pub fn derives(attributes: &[Attribute]) -> Vec<String> {
    let mut names = Vec::new();
    for attribute in attributes.iter().filter(|one| one.path().is_ident("derive")) {
        let paths = attribute
            .parse_args_with(syn::punctuated::Punctuated::<syn::Path, syn::Token![,]>::parse_terminated);
        for path in paths.into_iter().flatten() {
            names.push(path.to_token_stream().to_string().replace(' ', ""));
        }
    }
    names
}

pub(super) fn annotation(attributes: &[Attribute]) -> Annotation {
    match attributes.iter().find_map(own_attribute) {
        Some(own) if own.opens_session => Annotation::Main(own.arguments.to_string()),
        Some(own) => Annotation::Instrument(own.arguments.to_string()),
        None => Annotation::None,
    }
}

/// `#[ckpt::main]` or `#[ckpt::instrument]` on a function.
#[derive(Debug, Clone)]
pub struct OwnAttribute {
    /// Whether it is that of `main`.
    pub opens_session: bool,
    /// What stands in its parentheses.
    pub arguments: TokenStream,
}

/// The attribute as one of ckpt for functions, if it is one.
pub fn own_attribute(attribute: &Attribute) -> Option<OwnAttribute> {
    let names = segments(attribute.path());
    let [krate, name] = names.as_slice() else {
        return None;
    };
    let is_one = krate == "ckpt" && (name == "main" || name == "instrument");
    is_one.then(|| OwnAttribute {
        opens_session: name == "main",
        arguments: match &attribute.meta {
            syn::Meta::List(list) => list.tokens.clone(),
            _ => TokenStream::new(),
        },
    })
}
