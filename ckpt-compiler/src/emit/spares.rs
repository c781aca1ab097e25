//! Functions that stand there twice, so that the optimiser learns from the calls of a run that begins, and from no others.
//!
//! rustc and LLVM build a function by what they see at its calls: the only call is inlined, and an argument that is the
//! same number at all calls becomes that number, which takes bounds checks out of the loops of a kernel. The body for
//! restarts calls the same functions with values that come from a file. So there is a *spare* beside each of them: the same
//! function by another name, for these calls. Interprocedural constant propagation: Callahan, Cooper, Kennedy, Torczon,
//! PLDI 1986.
//!
//! What the optimiser learns of lengths it often learns too late, as a list that is lent at a site stays in memory. So where
//! the `let` of a list says how long it is, by constants, a call that is lent the list asks first: as long as that, the
//! function is called, else the spare.
//!
//! Without optimisation the other name is one of the function itself.

use super::twice::may_stand_twice;
use crate::cfg::Flow;
use crate::library::{Library, last_name, segments};
use crate::names::made;
use crate::parse::options::{HasSpare, Options};
use crate::syntax::macros::repeated_in_list;
use crate::syntax::without_ckpt::without_ckpt;
use crate::visit::{self, Visit, VisitMut};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use std::collections::{BTreeMap, HashSet};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Expr, ExprCall, FnArg, GenericParam, ItemFn, Pat, Path, Token, parse_quote, parse_quote_spanned};

/// What a function with sites knows of others that have spares.
#[derive(Debug, Default)]
pub(crate) struct Spares {
    /// Those that are called by what stands for nothing else.
    all: Vec<HasSpare>,
    /// Those that have sites themselves.
    with_sites: Vec<Path>,
    /// The lists that a `let` makes of a constant length, with the length.
    lengths: BTreeMap<String, Expr>,
}

impl Spares {
    /// Of a function with these variables.
    pub(super) fn of(item: &ItemFn, options: &Options, flow: &Flow) -> Self {
        let lengths = flow.bindings.iter().filter_map(|binding| {
            let Some(Expr::Macro(list)) = &binding.init else {
                return None;
            };
            let (_, length) = repeated_in_list(&options.library, &list.mac)?;
            let is_constant = binding.inputs.is_empty() && !binding.conditional && is_arithmetic(&length);
            is_constant.then(|| (binding.ident.to_string(), length))
        });
        Self {
            all: called_alone(&options.spares, item),
            with_sites: options.calls.clone(),
            lengths: lengths.collect(),
        }
    }

    /// The body of activations that begin: where lengths are asked for, with the spares for other lengths.
    pub(super) fn in_begun(&self, body: &TokenStream) -> TokenStream {
        self.respelled(body, true)
    }

    /// The body of those that may go on from a checkpoint, with the spares in all calls.
    pub(super) fn in_continued(&self, body: &TokenStream) -> TokenStream {
        self.respelled(body, false)
    }

    fn respelled(&self, body: &TokenStream, begins: bool) -> TokenStream {
        let block = match self.all.is_empty() {
            false => syn::parse2::<syn::Block>(quote!({ #body })),
            true => return body.clone(),
        };
        let Ok(mut block) = block else {
            return body.clone();
        };
        Respelling { spares: self, begins }.visit_block_mut(&mut block);
        let statements = block.stmts;
        quote!(#(#statements)*)
    }

    /// The call of the spare of what is called, if it has one.
    fn call_of_spare(&self, expr: &Expr) -> Option<Other> {
        let (expr, called, arguments) = match expr {
            Expr::Call(call) => {
                let mut other = call.clone();
                let called = self.respell(&mut other)?;
                (Expr::Call(other), called, &call.args)
            }
            Expr::MethodCall(call) => {
                let is_it = |one: &HasSpare| matches!(one, HasSpare::Method(name) if *name == call.method);
                self.all.iter().any(is_it).then_some(())?;
                let mut other = call.clone();
                other.method = spare_name(&call.method);
                (Expr::MethodCall(other), call.method.clone(), &call.args)
            }
            _ => return None,
        };
        let has_sites = self.with_sites.iter().any(|one| called == last_name(one));
        let given = (!has_sites && arguments.iter().all(is_simple)).then(|| self.condition(arguments));
        Some(Other {
            expr,
            condition: given.flatten(),
        })
    }

    /// Makes a call by a path one of the spare; the name of what was called, if that has one.
    fn respell(&self, call: &mut ExprCall) -> Option<Ident> {
        let Expr::Path(called) = &*call.func else {
            return None;
        };
        let last = called.path.segments.last().filter(|_| called.qself.is_none())?;
        let path = self.all.iter().find_map(|one| match one {
            HasSpare::Function { written, path } if segments(written) == segments(&called.path) => Some(path),
            _ => None,
        });
        let mut path = path?.clone();
        let renamed = path.segments.last_mut()?;
        renamed.ident = spare_name(&last.ident);
        renamed.arguments = last.arguments.clone();
        let name = last.ident.clone();
        *call.func = parse_quote!(#path);
        Some(name)
    }

    /// What must hold for a call with these arguments to be one with the lengths that are known, if any is.
    fn condition(&self, arguments: &Punctuated<Expr, Token![,]>) -> Option<TokenStream> {
        let ours = Span::mixed_site();
        let known = arguments.iter().filter_map(|argument| {
            let Expr::Reference(lent) = argument else {
                return None;
            };
            let Expr::Path(list) = &*lent.expr else {
                return None;
            };
            let name = list.path.get_ident()?;
            let length = self.lengths.get(&name.to_string())?;
            Some(quote_spanned!(ours => #name.len() == (#length)))
        });
        let known: Vec<TokenStream> = known.collect();
        (!known.is_empty()).then(|| quote!(#(#known)&&*))
    }
}

/// The call of a spare.
struct Other {
    expr: Expr,
    /// Where it is called only unless something holds: that. Without sites, and with a list among the arguments whose length
    /// is known.
    condition: Option<TokenStream>,
}

/// Those whose names stand for nothing else in a function: no variable has the name, and nothing is imported in it.
fn called_alone(all: &[HasSpare], item: &ItemFn) -> Vec<HasSpare> {
    let mut others = Others::default();
    others.visit_item_fn(item);
    let is_free = |one: &&HasSpare| match one {
        HasSpare::Function { written, .. } => !others.variables.contains(&last_name(written)),
        HasSpare::Method(_) => true,
    };
    match others.imports {
        true => Vec::new(),
        false => all.iter().filter(is_free).cloned().collect(),
    }
}

/// What may give a name another meaning in a function.
#[derive(Debug, Default)]
struct Others {
    variables: HashSet<String>,
    imports: bool,
}

impl<'ast> Visit<'ast> for Others {
    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        self.variables.insert(pattern.ident.to_string());
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_item(&mut self, item: &'ast syn::Item) {
        self.imports |= !matches!(item, syn::Item::Const(_));
    }
}

struct Respelling<'s> {
    spares: &'s Spares,
    begins: bool,
}

impl VisitMut for Respelling<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        visit::visit_expr_mut(self, expr);
        let Some(Other {
            expr: other,
            condition,
        }) = self.spares.call_of_spare(expr)
        else {
            return;
        };
        if !self.begins {
            *expr = other;
        } else if let Some(condition) = condition {
            *expr = parse_quote_spanned!(Span::mixed_site() => (if #condition { #expr } else { #other }));
        }
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// Whether an argument may be written twice: nothing is declared in it, and it is short.
fn is_simple(argument: &Expr) -> bool {
    match argument {
        Expr::Lit(_) | Expr::Path(_) => true,
        Expr::Reference(one) => is_simple(&one.expr),
        Expr::Paren(one) => is_simple(&one.expr),
        Expr::Unary(one) => is_simple(&one.expr),
        Expr::Field(one) => is_simple(&one.base),
        Expr::Cast(one) => is_simple(&one.expr),
        Expr::Binary(one) => is_simple(&one.left) && is_simple(&one.right),
        Expr::Index(one) => is_simple(&one.expr) && is_simple(&one.index),
        _ => false,
    }
}

/// Whether an expression without variables is one of numbers and constants.
fn is_arithmetic(expr: &Expr) -> bool {
    match expr {
        Expr::Lit(_) => true,
        Expr::Path(path) => path.qself.is_none(),
        Expr::Paren(one) => is_arithmetic(&one.expr),
        Expr::Cast(one) => is_arithmetic(&one.expr),
        Expr::Binary(one) => is_arithmetic(&one.left) && is_arithmetic(&one.right),
        _ => false,
    }
}

/// The name of a function's spare.
fn spare_name(function: &Ident) -> Ident {
    made(format_args!("spare_{function}"))
}

/// The spare of a function without sites, beside it. `arguments` are those with spares that it calls; `impl` in front of
/// them says that it stands in an `impl`.
pub fn spare(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let written = parts(arguments, item.clone());
    let copy = written.unwrap_or_default();
    quote!(#item #copy)
}

/// What the attribute says.
struct Asked {
    in_impl: bool,
    called: Vec<HasSpare>,
}

impl Parse for Asked {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let in_impl = input.parse::<Option<Token![impl]>>()?.is_some();
        if in_impl {
            input.parse::<Option<Token![,]>>()?;
        }
        Ok(Self {
            in_impl,
            called: HasSpare::list(input)?,
        })
    }
}

fn parts(arguments: TokenStream, item: TokenStream) -> Option<TokenStream> {
    let Asked { in_impl, called } = syn::parse2(arguments).ok()?;
    let library = Library::default();
    let mut function = syn::parse2::<ItemFn>(crate::parse::dialect::modern(without_ckpt(item))).ok()?;
    let other_name = match in_impl {
        true => handing_on(&function),
        false => {
            let alias = alias(&function.vis, &function.sig.ident);
            quote!(#[allow(unused_imports)] #alias)
        }
    };
    if !may_stand_twice(&library, &function) {
        return Some(other_name);
    }
    let spares = Spares {
        all: called_alone(&called, &function),
        with_sites: Vec::new(),
        lengths: BTreeMap::new(),
    };
    Respelling {
        spares: &spares,
        begins: false,
    }
    .visit_block_mut(&mut function.block);
    function.sig.ident = spare_name(&function.sig.ident);
    function.attrs.retain(is_kept);
    Some(quote! {
        #[cfg(debug_assertions)]
        #other_name
        #[cfg(not(debug_assertions))]
        #[allow(dead_code, clippy::all)]
        #function
    })
}

/// In an `impl`, where a function has one name: another that hands on what it is given.
fn handing_on(function: &ItemFn) -> TokenStream {
    let (vis, name) = (&function.vis, &function.sig.ident);
    let mut signature = function.sig.clone();
    signature.ident = spare_name(name);
    let mut given: Vec<TokenStream> = Vec::new();
    for (index, input) in signature.inputs.iter_mut().enumerate() {
        match input {
            FnArg::Receiver(receiver) => {
                if receiver.reference.is_none() {
                    receiver.mutability = None;
                }
                given.push(receiver.self_token.to_token_stream());
            }
            FnArg::Typed(typed) => {
                let argument = made(format_args!("argument{index}"));
                *typed.pat = parse_quote!(#argument);
                given.push(quote!(#argument));
            }
        }
    }
    let parameters = generic_arguments(&signature);
    let attributes = function.attrs.iter().filter(|one| is_kept(one)).map(super::outer);
    quote! {
        #[allow(dead_code, clippy::all)]
        #(#attributes)*
        #vis #signature { Self::#name #parameters (#(#given),*) }
    }
}

/// The type parameters and constants of a function, to call it with: its arguments need not tell.
fn generic_arguments(signature: &syn::Signature) -> Option<TokenStream> {
    let parameters = signature.generics.params.iter().filter_map(|one| match one {
        GenericParam::Type(one) => Some(&one.ident),
        GenericParam::Const(one) => Some(&one.ident),
        GenericParam::Lifetime(_) => None,
    });
    let parameters: Vec<&Ident> = parameters.collect();
    (!parameters.is_empty()).then(|| quote!(::<#(#parameters),*>))
}

/// The other name of the function itself.
fn alias(vis: &syn::Visibility, name: &Ident) -> TokenStream {
    let other = spare_name(name);
    quote!(#vis use self::#name as #other;)
}

/// Attributes that say how a function is built, or without which a crate would not take it.
const KEPT: [&str; 6] = ["inline", "cold", "target_feature", "allow", "cfg", "doc"];

fn is_kept(attribute: &syn::Attribute) -> bool {
    KEPT.iter().any(|kept| attribute.path().is_ident(kept))
}

/// The parts of a function with sites that has a spare. Restarts walk through the part that both have in common.
pub(super) struct Apart {
    /// The static that describes it.
    pub(super) plan: Ident,
    /// What may go on from a checkpoint, given the frame.
    continued: Ident,
    name: Ident,
    vis: syn::Visibility,
    attributes: Vec<syn::Attribute>,
    parameters: Option<TokenStream>,
    arguments: Vec<TokenStream>,
}

impl Apart {
    /// Of a function that is asked to have a spare. Its parameters have to be plain names, to be handed on.
    pub(super) fn of(item: &ItemFn, options: &Options) -> Option<Self> {
        let is_asked = options.has_spare && !options.opens_session && !options.is_recursive;
        let arguments = item.sig.inputs.iter().map(|input| match input {
            FnArg::Typed(typed) => match &*typed.pat {
                Pat::Ident(one) if one.by_ref.is_none() && one.subpat.is_none() => {
                    Some(one.ident.to_token_stream())
                }
                _ => None,
            },
            FnArg::Receiver(_) => None,
        });
        let arguments: Vec<TokenStream> = arguments.collect::<Option<_>>()?;
        let name = &item.sig.ident;
        is_asked.then(|| Self {
            plan: made(format_args!("PLAN_{name}")),
            continued: made(format_args!("continued_{name}")),
            name: name.clone(),
            vis: item.vis.clone(),
            attributes: item
                .attrs
                .iter()
                .filter(|one| is_kept(one))
                .map(super::outer)
                .collect(),
            parameters: generic_arguments(&item.sig),
            arguments,
        })
    }

    /// The call of what goes on from a checkpoint.
    pub(super) fn call(&self, frame: &Ident) -> TokenStream {
        let (continued, arguments, parameters) = (&self.continued, &self.arguments, &self.parameters);
        quote!(#continued #parameters (#frame, #(#arguments),*))
    }

    /// What stands beside the function: the spare, and what both call where they go on from a checkpoint.
    pub(super) fn beside(
        &self,
        signature: &syn::Signature,
        lints: &TokenStream,
        body: &TokenStream,
    ) -> TokenStream {
        let (rt, frame) = (crate::paths::rt(), crate::names::frame());
        let (plan, vis, name) = (&self.plan, &self.vis, &self.name);
        let (call, alias) = (self.call(&frame), alias(vis, name));
        let attributes = &self.attributes;
        let mut continued = signature.clone();
        continued.ident = self.continued.clone();
        continued.inputs.insert(0, parse_quote!(mut #frame: #rt::Frame));
        let mut entered = signature.clone();
        entered.ident = spare_name(name);
        for input in &mut entered.inputs {
            if let FnArg::Typed(typed) = input
                && let Pat::Ident(one) = &mut *typed.pat
            {
                one.mutability = None;
            }
        }
        quote! {
            #[cfg(debug_assertions)]
            #[allow(unused_imports)]
            #alias
            #[cfg(not(debug_assertions))]
            #[allow(dead_code, clippy::all)]
            #(#attributes)*
            #vis #entered {
                let #frame = #rt::Frame::enter(&#plan);
                #call
            }
            #[cfg(not(debug_assertions))]
            #lints
            #[allow(clippy::too_many_arguments)]
            #continued { #body }
        }
    }
}

/// Where a function has no parts but is asked for a spare: its other name.
pub(super) fn other_name(item: &ItemFn, options: &Options) -> TokenStream {
    if !options.has_spare {
        return TokenStream::new();
    }
    let alias = alias(&item.vis, &item.sig.ident);
    quote!(#[allow(unused_imports)] #alias)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_has_a_spare_that_is_called_as_it_is() {
        let item = quote! {
            fn step(&mut self, (from, to): (usize, usize), mut by: f64) { self.shift(by); Self::count(from); other(to); by = 0.0; }
        };
        let written = without_space(&spare(quote!(impl, .shift, Self::count), item.clone()));
        assert!(written.contains(
            "fn__ckpt_spare_step(&mutself,(from,to):(usize,usize),mutby:f64){self.__ckpt_spare_shift(by);Self::__ckpt_spare_count(from);other(to);by=0.0;}"
        ), "{written}");
        assert!(written.contains(
            "fn__ckpt_spare_step(&mutself,__ckpt_argument1:(usize,usize),__ckpt_argument2:f64){Self::step(self,__ckpt_argument1,__ckpt_argument2)}"
        ), "{written}");
    }

    fn without_space(tokens: &TokenStream) -> String {
        tokens.to_string().split_whitespace().collect()
    }

    #[test]
    fn a_kernel_has_a_spare_that_calls_spares() {
        let item = quote! {
            /// Sweeps.
            #[inline]
            pub fn sweep(cells: &mut [f64]) { smooth(cells); other(cells); }
        };
        let written = without_space(&spare(quote!(smooth = crate::grid::smooth), item));
        assert!(written.contains("pubfnsweep(cells:&mut[f64]){smooth(cells);other(cells);}"));
        assert!(written.contains(
            "#[cfg(debug_assertions)]#[allow(unused_imports)]pubuseself::sweepas__ckpt_spare_sweep;"
        ));
        assert!(written.contains(
            r##"#[allow(dead_code,clippy::all)]#[doc=r"Sweeps."]#[inline]pubfn__ckpt_spare_sweep(cells:&mut[f64]){crate::grid::__ckpt_spare_smooth(cells);other(cells);}"##
        ));
    }

    #[test]
    fn what_must_not_stand_there_twice_gets_another_name_only() {
        let item = quote! { fn count() -> usize { static SEEN: AtomicUsize = AtomicUsize::new(0); SEEN.load(Relaxed) } };
        let written = without_space(&spare(TokenStream::new(), item));
        assert!(written.ends_with("#[allow(unused_imports)]useself::countas__ckpt_spare_count;"));
    }

    #[test]
    fn a_call_asks_for_the_lengths_that_its_lists_were_made_with() {
        let item = quote! {
            fn main() {
                let n = 3;
                let mut x = vec![0.0; N + 1];
                let y = vec![0.0; n];
                for step in 0..9 { ckpt::checkpoint!(); sweep(&mut x, &y, step); norm(&x); }
            }
        };
        let arguments = quote!(spares(sweep = crate::sweep));
        let written = without_space(&crate::try_expand(arguments, &item, true).unwrap());
        let call = "(ifx.len()==(N+1){sweep(&mutx,&y,step)}else{crate::__ckpt_spare_sweep(&mutx,&y,step)});norm(&x);";
        assert_eq!(written.matches(call).count(), 1, "{written}");
        let continued = "crate::__ckpt_spare_sweep(&mutx,&y,step);norm(&x);";
        assert_eq!(written.matches(continued).count(), 1, "{written}");
    }

    #[test]
    fn of_a_loop_in_strips_the_copy_alone_calls_what_has_a_spare() {
        let item = quote! {
            fn main() {
                let mut steps = 0_u64;
                while steps < 9 { ckpt::checkpoint!(short); steps = next(steps); }
            }
        };
        let written = without_space(&crate::try_expand(quote!(spares(next)), &item, true).unwrap());
        let count = |call: &str| written.matches(call).count();
        assert_eq!(
            (count("=next(steps)"), count("=__ckpt_spare_next(steps)")),
            (1, 2),
            "{written}"
        );
    }
}
