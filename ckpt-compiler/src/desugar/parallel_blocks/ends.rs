//! What the last call of a parallel iterator comes to, block by block.

use crate::library::{Blocks, Library, last_name};
use crate::paths::rt;
use crate::syntax::language::is_integer_type;
use crate::syntax::origins::closure_in;
use crate::syntax::purity::is_pure;
use proc_macro2::Ident;
use syn::{Expr, ExprMethodCall, GenericArgument, Type, parse_quote};

/// The last call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct End(Blocks);

impl End {
    /// That of a parallel iterator, if what it gives for blocks can be joined.
    pub fn of(library: &Library, call: &ExprMethodCall) -> Option<Self> {
        use Blocks::*;
        let kind: Blocks = library.key(&call.method.to_string())?;
        let fits = match kind {
            Collects => call.args.len() <= 1,
            Counts | Sums | Multiplies | Largest | Smallest => call.args.is_empty(),
            LargestBy | SmallestBy | ReducesItems | EachEarly | Any | All | Finds => call.args.len() == 1,
            Reduces => call.args.len() == 2,
            Each => matches!(call.args.len(), 1 | 2),
            _ => false,
        };
        // They are evaluated for every block.
        let again = |one: &Expr| closure_in(one).is_some() || is_pure(library, one);
        (fits && call.args.iter().all(again)).then_some(Self(kind))
    }

    /// Whether what it gives may depend on how the items are put together, if they are floats.
    pub fn depends_on_parts(self, call: &ExprMethodCall) -> bool {
        use Blocks::*;
        let exact = match call.turbofish.as_ref().and_then(|list| list.args.first()) {
            Some(GenericArgument::Type(Type::Path(ty))) => is_integer_type(&last_name(&ty.path)),
            _ => false,
        };
        matches!(self.0, Sums | Multiplies | Reduces | ReducesItems) && !exact
    }

    /// What `out` is after a block, which `block` works on; nothing where it gives nothing.
    pub fn join(self, out: &Ident, block: &ExprMethodCall) -> Option<Expr> {
        use Blocks::*;
        let (rt, by) = (rt(), block.args.last());
        Some(match self.0 {
            Each => return None,
            Collects => parse_quote!(#rt::joined(#out, #block)),
            Counts | Sums => parse_quote!(#rt::summed(#out, #block)),
            Multiplies => parse_quote!(#rt::multiplied(#out, #block)),
            Largest => parse_quote!(#rt::largest(#out, #block)),
            Smallest => parse_quote!(#rt::smallest(#out, #block)),
            // As the parallel iterator itself compares them, with the same closure.
            LargestBy | SmallestBy => {
                let method = &block.method;
                parse_quote!(#rt::chosen(#out, #block, |all| all.#method(#by)))
            }
            Reduces => parse_quote!(#rt::reduced(#out, #block, #by)),
            ReducesItems => parse_quote!(#rt::reduced_items(#out, #block, #by)),
            _ => parse_quote!(#rt::last(#out, #block)),
        })
    }

    /// Whether what has been joined so far cannot change any more, where that may be so before the last block.
    pub fn settled(self, out: &Ident) -> Option<Expr> {
        use Blocks::*;
        let rt = rt();
        Some(match self.0 {
            Collects => parse_quote!(#rt::is_settled(&#out)),
            EachEarly => parse_quote!(#rt::is_left(&#out)),
            Any => parse_quote!(#rt::is_answered(&#out, true)),
            All => parse_quote!(#rt::is_answered(&#out, false)),
            Finds => parse_quote!(#rt::is_found(&#out)),
            _ => return None,
        })
    }
}
