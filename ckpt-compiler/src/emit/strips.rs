//! Strip-mining: of a loop of quick iterations, most run in a copy of its body that has no site.
//!
//! ```text
//! let mut strip = Strip::new();
//! 'loop: loop {
//!     { BODY }                                  // its site looks up, and says how many visits need no look
//!     while strip.goes_on() { BODY }            // counts its visits; a `break` leaves the loop
//! }
//! ```
//!
//! In the copy the variables of the loop stay in registers: nothing in it is called that could see them. It is made where
//! no restart comes to, in the body for activations that run from their beginning. What the runtime does is told in its
//! module `frame::strips`.

use super::Emitter;
use crate::names::made;
use crate::paths::rt;
use crate::spine::{Block, SiteId, Spine, StepKind, for_each_block};
use crate::syntax::marks::SiteSort;
use crate::syntax::mentions::names_in;
use crate::visit::{self, Visit, VisitMut};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::{Expr, ExprAsync, ExprClosure, Label, Lifetime, Macro};

/// Where a site in strips is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Strips {
    /// In a body that restarts come to: there are none.
    #[default]
    None,
    /// In the body for activations that run from their beginning, outside of a loop that runs in strips.
    Outside,
    /// In the body of such a loop.
    LookUp,
    /// In the copy that does not.
    Pass,
}

/// The variable that has the strip.
fn strip() -> Ident {
    made("strip")
}

/// How long strips are.
fn pace() -> Ident {
    made("PACE")
}

impl Emitter<'_> {
    /// A site in strips, with what else a look needs before and behind it; nothing for others.
    pub(super) fn in_strips(
        &self,
        site: SiteId,
        look: impl FnOnce(TokenStream) -> TokenStream,
    ) -> Option<TokenStream> {
        if !self.is_short(site) {
            return None;
        }
        let (strip, pace) = (strip(), pace());
        match self.strips.get() {
            Strips::None | Strips::Outside => None,
            Strips::Pass => Some(quote!(#strip.counts();)),
            Strips::LookUp => {
                let look = look(quote!(&#pace, #strip.take()));
                Some(quote!(if !#strip.passes() { #look }))
            }
        }
    }

    /// What keeps the strip that a look gives.
    pub(super) fn begins_strip(&self, look: TokenStream) -> TokenStream {
        let (strip, length) = (strip(), made("length"));
        quote!(let #length = #look; #strip.begin(#length);)
    }

    /// A loop that runs in strips; nothing for others.
    pub(super) fn strip_mined(&self, label: Option<&Label>, body: &Block) -> Option<TokenStream> {
        let site = only_site(body)?;
        if self.strips.get() != Strips::Outside || !self.is_short(site) {
            return None;
        }
        let copy = self.with_strips(Strips::Pass, body);
        let mut copy: syn::Block = syn::parse2(quote!({ #copy })).ok()?;
        if Unfit::is_in(&copy) {
            return None;
        }
        let name = label.map_or_else(
            || Lifetime::new(&format!("'{}", made("strips")), Span::mixed_site()),
            |label| label.name.clone(),
        );
        let mut breaks = Breaks { name, found: false };
        breaks.visit_block_mut(&mut copy);
        let name = breaks.name;
        let label = match (label, breaks.found) {
            (None, true) => quote!(#name:),
            (label, _) => quote!(#label),
        };
        let (rt, strip, pace) = (rt(), strip(), pace());
        // Most calls are those of the copy: what is called at one place there becomes part of it, as in the plain program.
        let statements = self.spares.in_continued(&self.with_strips(Strips::LookUp, body));
        Some(quote! {
            {
                #[allow(non_upper_case_globals)]
                static #pace: #rt::Pace = #rt::Pace::new();
                let mut #strip = #rt::Strip::new();
                #label loop {
                    { #statements }
                    while #strip.goes_on() #copy
                }
            }
        })
    }

    /// A block in which sites of short loops are written so.
    pub(super) fn with_strips(&self, strips: Strips, body: &Block) -> TokenStream {
        let before = self.strips.replace(strips);
        let written = self.block(body);
        self.strips.set(before);
        written
    }

    fn is_short(&self, site: SiteId) -> bool {
        self.lowered.sites[site as usize - 1].sort == SiteSort::Short
    }

    /// Whether a loop of the function may run in strips.
    pub(super) fn has_short_loops(&self) -> bool {
        self.lowered.sites.iter().any(|site| site.sort == SiteSort::Short)
    }
}

/// The site of a loop that has one, and no loop around that inside.
fn only_site(body: &Block) -> Option<SiteId> {
    let mut found = Found::default();
    found.look(body);
    match found.sites[..] {
        [site] if !found.has_loop => Some(site),
        _ => None,
    }
}

/// What there is in a block.
#[derive(Default)]
struct Found {
    sites: Vec<SiteId>,
    has_loop: bool,
}

impl Found {
    fn look(&mut self, block: &Block) {
        for step in &block.steps {
            let StepKind::Spine(step) = &step.kind else {
                continue;
            };
            match step.spine.innermost() {
                Spine::Site(site) | Spine::Call { site, .. } => self.sites.push(*site),
                Spine::Loop { .. } => self.has_loop = true,
                _ => {}
            }
            for_each_block(&step.spine, &mut |inner| self.look(inner));
        }
    }
}

/// What there cannot be twice in a function, or in another loop: the type of a closure is its own, and a macro may leave the loop
/// that it stands in.
#[derive(Default)]
struct Unfit(bool);

impl Unfit {
    fn is_in(block: &syn::Block) -> bool {
        let mut unfit = Self::default();
        unfit.visit_block(block);
        unfit.0
    }
}

impl Visit<'_> for Unfit {
    fn visit_expr_closure(&mut self, _: &ExprClosure) {
        self.0 = true;
    }

    fn visit_expr_async(&mut self, _: &ExprAsync) {
        self.0 = true;
    }

    fn visit_macro(&mut self, mac: &Macro) {
        let names = names_in(&mac.tokens);
        self.0 |= names.contains("break") || names.contains("continue");
    }
}

/// Has what leaves the loop leave the one around it.
struct Breaks {
    name: Lifetime,
    found: bool,
}

impl VisitMut for Breaks {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            // They are left by what is in them.
            Expr::Loop(_) => {}
            Expr::While(one) => self.visit_expr_mut(&mut one.cond),
            Expr::ForLoop(one) => self.visit_expr_mut(&mut one.expr),
            Expr::Break(one) => {
                self.found |= one.label.is_none();
                one.label.get_or_insert_with(|| self.name.clone());
                if let Some(value) = &mut one.expr {
                    self.visit_expr_mut(value);
                }
            }
            _ => visit::visit_expr_mut(self, expr),
        }
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}
