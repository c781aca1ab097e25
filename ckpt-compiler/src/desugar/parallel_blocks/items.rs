//! What a parallel iterator goes over, and what it does to every item: written for the items of a block.

use crate::library::{Blocks, Library};
use crate::names::{Kind, Names, located};
use crate::paths::rt;
use crate::syntax::origins::closure_in;
use crate::syntax::purity::is_pure;
use proc_macro2::Ident;
use syn::{Expr, ExprClosure, ExprMethodCall, ExprPath, Stmt, parse_quote};

/// The items of a parallel iterator, and of those that it is zipped with.
pub struct Items<'a> {
    library: &'a Library,
    names: &'a Names,
    /// The variable that says which items are in the block.
    pub block: Ident,
    /// Declares what is evaluated once, before the first block.
    pub before: Vec<Stmt>,
    /// What each block begins with.
    pub in_turn: Vec<Stmt>,
    /// Whether the blocks begin at the last item of what is cut.
    from_the_end: bool,
}

impl<'a> Items<'a> {
    /// None yet.
    pub fn new(library: &'a Library, names: &'a Names) -> Self {
        Self {
            library,
            names,
            block: names.fresh(Kind::Block),
            before: Vec::new(),
            in_turn: Vec::new(),
            from_the_end: false,
        }
    }

    /// Makes of a parallel iterator, without its last call, that over the items of a block; how many items there are.
    /// Nothing where it cannot be cut.
    pub fn cut(&mut self, over: &mut Expr) -> Option<Expr> {
        let Expr::MethodCall(call) = bare_mut(over) else {
            return None;
        };
        let rt = rt();
        let part: Blocks = self.library.key(&call.method.to_string())?;
        match (part, call.args.len()) {
            (Blocks::Elements, 0) => self.elements(&mut call.receiver),
            (Blocks::Chunks | Blocks::WholeChunks | Blocks::Windows, 1) => self.stretches(part, call),
            (Blocks::UsesUp, 0) => self.values(&mut call.receiver),
            (Blocks::Alike, _) if call.args.iter().all(|one| self.is_the_same_again(one)) => {
                self.cut(&mut call.receiver)
            }
            (Blocks::Numbers, 0) => {
                let count = self.cut(&mut call.receiver)?;
                let (inner, block) = (&*call, &self.block);
                *over = parse_quote!(#inner.map(#rt::numbered(#block)));
                Some(count)
            }
            (Blocks::Turns, 0) => self.turned(&mut call.receiver),
            (Blocks::Shows, 1) => {
                let shown = self.shared(bare_mut(&mut call.args[0]));
                call.args[0] = parse_quote!(::core::clone::Clone::clone(&#shown));
                self.cut(&mut call.receiver)
            }
            (Blocks::Pairs, 1) => {
                let own = self.cut(&mut call.receiver)?;
                let other = match bare_mut(&mut call.args[0]) {
                    chain @ Expr::MethodCall(_) => self.cut(chain)?,
                    other => self.lent(other)?,
                };
                Some(parse_quote!(::core::cmp::min(#own, #other)))
            }
            _ => None,
        }
    }

    /// What is turned around: the block of the items that are given stands as far from the end as it would from the beginning.
    fn turned(&mut self, inner: &mut Expr) -> Option<Expr> {
        let at = syn::spanned::Spanned::span(&*inner);
        let (rt, total) = (rt(), located(&self.names.fresh(Kind::Size), at));
        let turned = self.names.fresh(Kind::Block);
        let given = std::mem::replace(&mut self.block, turned.clone());
        self.in_turn
            .push(parse_quote!(let #turned = #rt::turned(#given, #total);));
        self.from_the_end = !self.from_the_end;
        let count = self.cut(inner);
        self.from_the_end = !self.from_the_end;
        self.block = given;
        let count = count?;
        self.before.push(parse_quote!(let #total: u64 = #count;));
        Some(parse_quote!(#total))
    }

    /// What stands for a handle that every block has a clone of.
    fn shared(&mut self, handle: &Expr) -> Expr {
        if is_place(self.library, handle) {
            return handle.clone();
        }
        let own = located(
            &self.names.fresh(Kind::Handle),
            syn::spanned::Spanned::span(handle),
        );
        self.before.push(parse_quote!(let #own = #handle;));
        parse_quote!(#own)
    }

    /// Whether an argument may be evaluated for every block.
    fn is_the_same_again(&self, argument: &Expr) -> bool {
        closure_in(argument).is_some() || is_pure(self.library, argument)
    }

    /// What stands for a list in front of the brackets: itself, if it may be evaluated for every block.
    fn list(&mut self, list: &Expr) -> Expr {
        if is_place(self.library, list) {
            return match list {
                Expr::Unary(_) => parse_quote!((#list)),
                other => other.clone(),
            };
        }
        let source = located(&self.names.fresh(Kind::Source), syn::spanned::Spanned::span(list));
        self.before.push(parse_quote!(let #source = #list;));
        parse_quote!(#source)
    }

    /// The elements of a list that are in the block.
    fn elements(&mut self, list: &mut Expr) -> Option<Expr> {
        let (rt, block, whole) = (rt(), &self.block.clone(), self.list(bare_mut(list)));
        *list = parse_quote!(#whole[#rt::places(#block)]);
        Some(parse_quote!(#rt::elements(&#whole[..])))
    }

    /// `&list` and `&mut list`, where they are gone over.
    fn lent(&mut self, given: &mut Expr) -> Option<Expr> {
        match given {
            Expr::Reference(one) => self.elements(&mut one.expr),
            range @ Expr::Range(_) => self.values(range),
            _ => None,
        }
    }

    /// Lists of elements of the same length, beside each other or overlapping.
    fn stretches(&mut self, part: Blocks, call: &mut ExprMethodCall) -> Option<Expr> {
        let (rt, block) = (rt(), self.block.clone());
        let (size, places) = (self.names.fresh(Kind::Size), self.names.fresh(Kind::Places));
        let length = std::mem::replace(&mut call.args[0], parse_quote!(#size));
        let whole = self.list(bare_mut(&mut call.receiver.clone()));
        self.before.push(parse_quote!(let #size: usize = #length;));
        let (count, cut): (Expr, Expr) = match part {
            Blocks::Chunks => (
                parse_quote!(#rt::chunks(&#whole[..], #size)),
                parse_quote!(#rt::places_of_chunks(#block, #size, &#whole[..])),
            ),
            Blocks::WholeChunks => (
                parse_quote!(#rt::whole_chunks(&#whole[..], #size)),
                parse_quote!(#rt::places_of_chunks(#block, #size, &#whole[..])),
            ),
            _ => (
                parse_quote!(#rt::windows(&#whole[..], #size)),
                parse_quote!(#rt::places_of_windows(#block, #size)),
            ),
        };
        self.in_turn.push(parse_quote!(let #places = #cut;));
        *call.receiver = parse_quote!(#whole[#places]);
        Some(count)
    }

    /// What the iterator takes out of something that it uses up: a range, a list.
    fn values(&mut self, given: &mut Expr) -> Option<Expr> {
        let (rt, block) = (rt(), &self.block.clone());
        if let one @ Expr::Reference(_) = bare_mut(given) {
            return self.lent(one);
        }
        let at = syn::spanned::Spanned::span(given);
        let source = located(&self.names.fresh(Kind::Source), at);
        let all = bare_mut(given).clone();
        self.before
            .push(parse_quote!(let mut #source = #rt::values(#all);));
        *given = match self.from_the_end {
            false => parse_quote!(#rt::values_of(&mut #source, #block)),
            true => parse_quote!(#rt::values_from_the_end(&mut #source, #block)),
        };
        Some(parse_quote!(#rt::count_of_values(&#source)))
    }
}

/// What stands in parentheses, or an expression without any.
pub fn bare_mut(expr: &mut Expr) -> &mut Expr {
    match expr {
        Expr::Paren(inner) => bare_mut(&mut inner.expr),
        Expr::Group(inner) => bare_mut(&mut inner.expr),
        other => other,
    }
}

/// Whether an expression stands for the same place each time, and nothing else happens: `grid.cells`, `rows[k]`, `*list`,
/// `image.as_mut_slice()`.
fn is_place(library: &Library, expr: &Expr) -> bool {
    match expr {
        Expr::Path(_) => true,
        Expr::Paren(inner) => is_place(library, &inner.expr),
        Expr::Field(one) => is_place(library, &one.base),
        Expr::Index(one) => is_place(library, &one.expr) && is_pure(library, &one.index),
        Expr::Unary(one) => matches!(one.op, syn::UnOp::Deref(_)) && is_place(library, &one.expr),
        Expr::MethodCall(call) => {
            let method = call.method.to_string();
            let lends = library.is_pure(&method) && library.borrows(&method);
            lends && call.args.is_empty() && is_place(library, &call.receiver)
        }
        _ => false,
    }
}

/// The closures that are called for each item, the last call's among them.
pub fn closures_in<'e>(library: &Library, call: &'e ExprMethodCall) -> Vec<&'e ExprClosure> {
    let closures = links(library, call).into_iter();
    closures
        .filter_map(|call| call.args.last().and_then(closure_in))
        .collect()
}

/// The functions that are named in the place of such closures.
pub fn functions_in<'e>(library: &Library, call: &'e ExprMethodCall) -> Vec<&'e ExprPath> {
    let path = |call: &'e ExprMethodCall| match call.args.last() {
        Some(Expr::Path(path)) if call.args.len() == 1 => Some(path),
        _ => None,
    };
    links(library, call).into_iter().filter_map(path).collect()
}

/// The calls of a parallel iterator that are given a closure for each item.
fn links<'e>(library: &Library, call: &'e ExprMethodCall) -> Vec<&'e ExprMethodCall> {
    let mut found = Vec::new();
    let mut at = call;
    loop {
        let part: Option<Blocks> = library.key(&at.method.to_string());
        match part {
            Some(
                Blocks::Alike | Blocks::Each | Blocks::EachEarly | Blocks::Any | Blocks::All | Blocks::Finds,
            ) => found.push(at),
            Some(Blocks::Pairs) => {
                if let Some(Expr::MethodCall(other)) = at.args.first() {
                    found.extend(links(library, other));
                }
            }
            _ => {}
        }
        let mut next = &*at.receiver;
        while let Expr::Paren(inner) = next {
            next = &inner.expr;
        }
        match next {
            Expr::MethodCall(inner) => at = inner,
            _ => return found,
        }
    }
}
