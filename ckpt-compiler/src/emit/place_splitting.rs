//! Calls that borrow parts of variables: the variable is taken apart before the call, its rest lent to the runtime.

use super::Emitter;
use crate::cfg::{Declaration, Passing};
use crate::names;
use crate::paths::rt;
use crate::plan::{Leaf, Splitting};
use crate::spine::SiteId;
use crate::syntax::places::Projection;
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{Expr, Member, parse_quote};

/// What a splitting comes to.
#[derive(Default)]
pub(super) struct Split {
    /// Statements before the call.
    pub before: TokenStream,
    /// The operands that the call takes instead of the user's.
    pub operands: Vec<(usize, Expr)>,
}

struct Node<'a> {
    path: &'a [Projection],
    leaf: &'a Leaf,
}

struct Cutter<'a> {
    site: SiteId,
    splitting: usize,
    next: u32,
    out: &'a mut Split,
}

/// What a closure that describes a place is given.
fn splitter() -> Ident {
    names::made("splitter")
}

impl Cutter<'_> {
    fn name(&mut self, stem: &str) -> Ident {
        self.next += 1;
        let (site, splitting, next) = (self.site, self.splitting, self.next);
        names::made(format_args!("{stem}_{site}_{splitting}_{next}"))
    }

    /// Takes `whole`, a place of type `T` behind a `&mut`, apart; returns the closure that describes it.
    fn node(&mut self, whole: &TokenStream, nodes: &[Node<'_>]) -> TokenStream {
        let (rt, splitter) = (rt(), splitter());
        if let [Node { path: [], leaf }] = nodes {
            let operand = leaf.operand as u32;
            self.out.operands.push((leaf.operand, lent_operand(leaf, whole)));
            return quote!(&|#splitter: &mut #rt::Splitter<'_>| #splitter.hole(#operand));
        }
        if let [
            Node {
                path: [Projection::Index(index), rest @ ..],
                leaf,
            },
        ] = nodes
        {
            let (position, cut, part) = (self.name("index"), self.name("cut"), self.name("part"));
            self.out.before.extend(quote! {
                let #position = #index;
                let (#cut, #part) = #rt::cut(&mut #whole, #position);
            });
            let inner = self.node(&quote!(*#part), &[Node { path: rest, leaf }]);
            return quote!(&|#splitter: &mut #rt::Splitter<'_>| #splitter.cut(&#cut, #inner));
        }
        let parts = self.name("parts");
        self.out
            .before
            .extend(quote!(#[allow(unused_mut)] let mut #parts = #rt::split(&mut #whole);));
        let mut members: Vec<&Member> = Vec::new();
        for node in nodes {
            if let Some(Projection::Field(member)) = node.path.first()
                && !members.contains(&member)
            {
                members.push(member);
            }
        }
        let mut holes = Vec::new();
        for member in members {
            let of_member =
                |node: &&Node<'_>| matches!(&node.path[0], Projection::Field(other) if other == member);
            let below: Vec<Node<'_>> = nodes
                .iter()
                .filter(of_member)
                .map(|node| Node {
                    path: &node.path[1..],
                    leaf: node.leaf,
                })
                .collect();
            if below.iter().all(|node| node.leaf.shared) {
                for node in below {
                    let rest = node.path.iter().map(projected);
                    let stars = (0..node.leaf.derefs).map(|_| quote!(*));
                    let place: Expr = parse_quote!(&#(#stars)*(*#rt::shared(&#parts.#member))#(#rest)*);
                    self.out.operands.push((node.leaf.operand, place));
                }
                continue;
            }
            let part = self.name("part");
            self.out
                .before
                .extend(quote!(let #part = #rt::part(&mut #parts.#member);));
            let inner = self.node(&quote!(*#part), &below);
            let name = match member {
                Member::Named(ident) => ident.to_string(),
                Member::Unnamed(index) => index.index.to_string(),
            };
            holes.push(quote!((#name, #inner)));
        }
        quote!(&|#splitter: &mut #rt::Splitter<'_>| #splitter.fields(&#parts, &[#(#holes),*]))
    }
}

fn projected(projection: &Projection) -> TokenStream {
    match projection {
        Projection::Field(member) => quote!(.#member),
        Projection::Index(index) => quote!([#index]),
    }
}

/// A receiver is the place itself, an argument a new borrow of it.
fn lent_operand(leaf: &Leaf, whole: &TokenStream) -> Expr {
    let rt = rt();
    let whole = &(0..leaf.derefs).fold(quote!(#whole), |place, _| quote!(*#rt::behind(&mut #place)));
    if leaf.is_receiver {
        parse_quote!((#whole))
    } else {
        parse_quote!(&mut #whole)
    }
}

impl Emitter<'_> {
    /// Everything that the splittings of a call site add before the call, and the operands that they replace.
    pub(super) fn split_for(&self, site: SiteId, call: &Expr) -> Split {
        let mut out = Split::default();
        for (index, splitting) in self.splittings(site).iter().enumerate() {
            if let Splitting::Parts { hoisted, .. } = splitting {
                for operand in hoisted {
                    let name = names::made(format_args!("before_{site}_{operand}"));
                    let operands = crate::plan::operands(call);
                    let value = operands[*operand].0;
                    out.before.extend(quote!(let #name = #value;));
                    out.operands.push((*operand, parse_quote!(#name)));
                }
            }
            let _ = self.splitting_tokens(site, index, splitting, &mut out);
        }
        out
    }

    pub(super) fn splittings(&self, site: SiteId) -> &[Splitting] {
        self.plan
            .loans
            .splittings
            .get(&site)
            .map(Vec::as_slice)
            .unwrap_or_default()
    }

    /// The closure that describes a split variable.
    pub(super) fn description(&self, site: SiteId, binding: usize) -> TokenStream {
        let found = self
            .splittings(site)
            .iter()
            .enumerate()
            .find(|(_, splitting)| splitting.binding() == binding);
        let mut unused = Split::default();
        found
            .map(|(index, splitting)| self.splitting_tokens(site, index, splitting, &mut unused))
            .unwrap_or_default()
    }

    fn splitting_tokens(
        &self,
        site: SiteId,
        index: usize,
        splitting: &Splitting,
        out: &mut Split,
    ) -> TokenStream {
        let rt = rt();
        match splitting {
            Splitting::Parts { binding, leaves, .. } => {
                let name = &self.flow.bindings[*binding].ident;
                let is_reference = matches!(
                    self.flow.bindings[*binding].declaration,
                    Declaration::Parameter {
                        passing: Passing::Exclusive,
                        ..
                    }
                );
                let whole = if is_reference {
                    quote!(*#name)
                } else {
                    quote!(#name)
                };
                let nodes: Vec<_> = leaves
                    .iter()
                    .map(|leaf| Node {
                        path: &leaf.path,
                        leaf,
                    })
                    .collect();
                let mut cutter = Cutter {
                    site,
                    splitting: index,
                    next: 0,
                    out,
                };
                cutter.node(&whole, &nodes)
            }
            Splitting::Halves { halves, .. } => {
                let splitter = splitter();
                let pieces = halves.iter().map(|(half, parameter)| {
                    let name = &self.flow.bindings[*half].ident;
                    let piece = match parameter {
                        Some(parameter) => quote!(#splitter.hole(#parameter)),
                        None => quote!(#splitter.rows(&*#name)),
                    };
                    quote!(&|#splitter: &mut #rt::Splitter<'_>| #piece)
                });
                let pieces: Vec<_> = pieces.collect();
                quote!(&|#splitter: &mut #rt::Splitter<'_>| #splitter.sequence(&[#(#pieces),*]))
            }
        }
    }
}
