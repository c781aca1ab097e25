//! What the last call of a chain makes of its items, turn by turn.

use super::exits::{label, written_out};
use crate::library::{Ending, Library};
use crate::names::{Kind, Names, located, plain};
use crate::paths::rt;
use crate::syntax::origins::closure_in;
use syn::{Block, Expr, ExprClosure, ExprForLoop, ExprMethodCall, Lifetime, Stmt, parse_quote};

/// A chain as a loop: what is before it, what it does with an item, what it comes to.
pub struct Unfolded {
    /// Declares what is gathered.
    pub before: Vec<Stmt>,
    /// The loop, over what is in front of the last call.
    pub one: ExprForLoop,
    /// The value of the whole.
    pub end: Option<Expr>,
    /// The block that the loop may leave with the value.
    pub label: Option<Lifetime>,
}

/// How many arguments the last call of a chain has; nothing for calls that end none.
pub fn arguments_of_end(library: &Library, call: &ExprMethodCall) -> Option<usize> {
    use Ending::*;
    let ending = library.key::<Ending>(&call.method.to_string())?;
    let is_plain = call.turbofish.is_none();
    let takes_no_types = matches!(ending, Unzips | Partitions | FindsSome | EachEarly | FoldsEarly);
    (is_plain || !takes_no_types).then_some(match ending {
        Collects | Unzips | Sums | Multiplies | Counts | Largest | Smallest | Last => 0,
        Each | EachEarly | Any | All | Finds | FindsSome | Position | Partitions => 1,
        LargestBy | SmallestBy | LargestByKey | SmallestByKey | Reduces => 1,
        Folds | FoldsEarly => 2,
    })
}

/// The parameters of the closure that the last call of a chain is given.
pub fn parameters_of_end(library: &Library, method: &str) -> usize {
    use Ending::*;
    match library.key(method) {
        Some(LargestBy | SmallestBy | Reduces | Folds | FoldsEarly) => 2,
        _ => 1,
    }
}

/// The loop that a chain comes to. With `early` it collects into a `Result` or `Option`, and ends at the first item that
/// is none.
pub fn unfolded(library: &Library, call: &ExprMethodCall, names: &Names, early: bool) -> Option<Unfolded> {
    let parts = Parts {
        names,
        over: &call.receiver,
        item: names.fresh(Kind::Item),
        out: located(&names.fresh(Kind::Gathered), call.method.span()),
    };
    let argument = call.args.first();
    let closure = call.args.last().and_then(closure_in);
    use Ending::*;
    let ending = library.key::<Ending>(&call.method.to_string())?;
    match ending {
        Collects if early => Some(parts.collected_early(call)),
        Collects | Unzips | Sums | Multiplies | Counts | Largest | Smallest | Last => {
            Some(parts.gathered(ending, call))
        }
        Each => {
            let turn = parts.run(library, closure?, &[&parts.given()]);
            Some(parts.looped(parse_quote!({ #turn; }), None, None))
        }
        Any | All | Finds | FindsSome | Position => parts.sought(library, ending, closure?),
        Folds => Some(parts.folded(library, argument?, closure?)),
        FoldsEarly => Some(parts.folded_early(library, argument?, closure?)),
        EachEarly => Some(parts.each_early(library, closure?)),
        LargestBy | SmallestBy | LargestByKey | SmallestByKey | Reduces => {
            parts.best(library, ending, closure?)
        }
        Partitions => Some(parts.parted(library, closure?)),
    }
}

struct Parts<'a> {
    names: &'a Names,
    over: &'a Expr,
    item: syn::Ident,
    out: syn::Ident,
}

impl Parts<'_> {
    fn given(&self) -> Expr {
        let item = &self.item;
        parse_quote!(#item)
    }

    fn run(&self, library: &Library, closure: &ExprClosure, given: &[&Expr]) -> Expr {
        let given: Vec<Expr> = given.iter().map(|one| (*one).clone()).collect();
        written_out(library, closure, &given, self.names)
    }

    fn looped(&self, turn: Block, before: Option<Stmt>, end: Option<Expr>) -> Unfolded {
        let (item, over) = (&self.item, self.over);
        Unfolded {
            before: before.into_iter().collect(),
            one: parse_quote!(for #item in #over #turn),
            end,
            label: None,
        }
    }

    fn left(&self, label: Lifetime, turn: Block, before: Option<Stmt>, end: Expr) -> Unfolded {
        Unfolded {
            label: Some(label),
            ..self.looped(turn, before, Some(end))
        }
    }

    fn gathered(&self, ending: Ending, call: &ExprMethodCall) -> Unfolded {
        let (rt, item, out, turbofish) = (rt(), &self.item, &self.out, &call.turbofish);
        let (start, turn, end): (Expr, Block, Expr) = match ending {
            Ending::Collects | Ending::Unzips => (
                parse_quote!(#rt::gathered #turbofish()),
                parse_quote!({ #rt::gather(&mut #out, #item); }),
                parse_quote!(#out),
            ),
            Ending::Sums => (
                parse_quote!(#rt::none #turbofish()),
                parse_quote!({ #out = #rt::add(#out, #item); }),
                parse_quote!(#rt::sum_of(#out)),
            ),
            Ending::Multiplies => (
                parse_quote!(#rt::none #turbofish()),
                parse_quote!({ #out = #rt::multiply(#out, #item); }),
                parse_quote!(#rt::product_of(#out)),
            ),
            Ending::Largest => (
                parse_quote!(#rt::none()),
                parse_quote!({ #out = #rt::larger(#out, #item); }),
                parse_quote!(#out),
            ),
            Ending::Smallest => (
                parse_quote!(#rt::none()),
                parse_quote!({ #out = #rt::smaller(#out, #item); }),
                parse_quote!(#out),
            ),
            Ending::Last => (
                parse_quote!(#rt::none()),
                parse_quote!({ #out = ::core::option::Option::Some(#item); }),
                parse_quote!(#out),
            ),
            _ => (
                parse_quote!(0usize),
                parse_quote!({ let _ = #item; #out += 1; }),
                parse_quote!(#out),
            ),
        };
        self.looped(turn, Some(parse_quote!(let mut #out = #start;)), Some(end))
    }

    fn collected_early(&self, call: &ExprMethodCall) -> Unfolded {
        let (rt, item, out, label) = (rt(), &self.item, &self.out, label(self.names, Kind::Whole));
        let (value, rest) = (plain(Kind::Value), plain(Kind::Rest));
        let turn = parse_quote!({
            match #rt::attempt(#item) {
                ::core::ops::ControlFlow::Continue(#value) => #rt::gather(&mut #out, #value),
                ::core::ops::ControlFlow::Break(#rest) => break #label (#rt::ended(#rest)),
            }
        });
        let end: Expr = match call.turbofish.as_ref().and_then(|list| list.args.first()) {
            Some(ty) => parse_quote!(#rt::done::<#ty>(#out)),
            None => parse_quote!(#rt::done(#out)),
        };
        let before = parse_quote!(let mut #out = #rt::gathered(););
        self.left(label, turn, Some(before), end)
    }

    /// What ends with the first item that fits.
    fn sought(&self, library: &Library, ending: Ending, closure: &ExprClosure) -> Option<Unfolded> {
        let (item, out, label) = (&self.item, &self.out, label(self.names, Kind::Whole));
        let given = match ending {
            Ending::Finds => parse_quote!(&#item),
            _ => self.given(),
        };
        let hit = self.run(library, closure, &[&given]);
        let some: Expr = parse_quote!(::core::option::Option::Some);
        let none: Expr = parse_quote!(::core::option::Option::None);
        let (turn, end): (Block, Expr) = match ending {
            Ending::Any => (
                parse_quote!({ if #hit { break #label true; } }),
                parse_quote!(false),
            ),
            Ending::All => (
                parse_quote!({ if !#hit { break #label false; } }),
                parse_quote!(true),
            ),
            Ending::Finds => (parse_quote!({ if #hit { break #label (#some(#item)); } }), none),
            Ending::FindsSome => {
                let hit_name = self.names.fresh(Kind::Hit);
                (
                    parse_quote!({ let #hit_name = #hit; if #hit_name.is_some() { break #label #hit_name; } }),
                    none,
                )
            }
            Ending::Position => (
                parse_quote!({ if #hit { break #label (#some(#out)); } #out += 1; }),
                none,
            ),
            _ => return None,
        };
        let before = (ending == Ending::Position).then(|| parse_quote!(let mut #out = 0usize;));
        Some(self.left(label, turn, before, end))
    }

    fn folded(&self, library: &Library, start: &Expr, closure: &ExprClosure) -> Unfolded {
        let out = &self.out;
        let turn = self.run(library, closure, &[&parse_quote!(#out), &self.given()]);
        self.looped(
            parse_quote!({ #out = #turn; }),
            Some(parse_quote!(let mut #out = #start;)),
            Some(parse_quote!(#out)),
        )
    }

    fn folded_early(&self, library: &Library, start: &Expr, closure: &ExprClosure) -> Unfolded {
        let (rt, out, label) = (rt(), &self.out, label(self.names, Kind::Whole));
        let turn = self.run(library, closure, &[&parse_quote!(#out), &self.given()]);
        let value = self.names.fresh(Kind::Value);
        self.left(
            label.clone(),
            parse_quote!({
                let #value = #turn;
                if #rt::is_end(&#value) { break #label #value; }
                #out = #rt::value_of(#value);
            }),
            Some(parse_quote!(let mut #out = #start;)),
            parse_quote!(#rt::done(#out)),
        )
    }

    fn each_early(&self, library: &Library, closure: &ExprClosure) -> Unfolded {
        let (rt, label) = (rt(), label(self.names, Kind::Whole));
        let turn = self.run(library, closure, &[&self.given()]);
        let value = self.names.fresh(Kind::Value);
        self.left(
            label.clone(),
            parse_quote!({
                let #value = #turn;
                if #rt::is_end(&#value) { break #label #value; }
            }),
            None,
            parse_quote!(#rt::done(())),
        )
    }

    /// What keeps one item of all. As in the standard library, of equals `max` keeps the last and `min` the first.
    fn best(&self, library: &Library, ending: Ending, closure: &ExprClosure) -> Option<Unfolded> {
        let (rt, item, out, best) = (rt(), &self.item, &self.out, self.names.fresh(Kind::Best));
        let some: Expr = parse_quote!(::core::option::Option::Some);
        let none: Expr = parse_quote!(::core::option::Option::None);
        let compared = match ending {
            Ending::LargestBy | Ending::SmallestBy => {
                Some(self.run(library, closure, &[&parse_quote!(&#best), &parse_quote!(&#item)]))
            }
            _ => None,
        };
        let kept: Expr = match ending {
            Ending::LargestBy => {
                parse_quote!(if #compared == ::core::cmp::Ordering::Greater { #best } else { #item })
            }
            Ending::SmallestBy => {
                parse_quote!(if #compared == ::core::cmp::Ordering::Greater { #item } else { #best })
            }
            Ending::Reduces => self.run(library, closure, &[&parse_quote!(#best), &self.given()]),
            _ => return self.best_by_key(library, ending, closure),
        };
        let turn = parse_quote!({
            #out = #some(match #rt::as_of(#out, &#item) { #none => #item, #some(#best) => #kept });
        });
        let before = parse_quote!(let mut #out = #rt::none(););
        Some(self.looped(turn, Some(before), Some(parse_quote!(#out))))
    }

    fn best_by_key(&self, library: &Library, ending: Ending, closure: &ExprClosure) -> Option<Unfolded> {
        let (rt, item, out, key) = (rt(), &self.item, &self.out, self.names.fresh(Kind::Key));
        let run = self.run(library, closure, &[&parse_quote!(&#item)]);
        let keeps: Expr = match ending {
            Ending::LargestByKey => parse_quote!(#rt::larger_by_key),
            Ending::SmallestByKey => parse_quote!(#rt::smaller_by_key),
            _ => return None,
        };
        let turn = parse_quote!({ let #key = #run; #out = #keeps(#out, #key, #item); });
        let before = parse_quote!(let mut #out = #rt::none(););
        let given = plain(Kind::Item);
        let end = parse_quote!(#out.map(|(_, #given)| #given));
        Some(self.looped(turn, Some(before), Some(end)))
    }

    fn parted(&self, library: &Library, closure: &ExprClosure) -> Unfolded {
        let (rt, item, out, rest) = (rt(), &self.item, &self.out, self.names.fresh(Kind::Rest));
        let run = self.run(library, closure, &[&parse_quote!(&#item)]);
        let turn = parse_quote!({
            if #run { #rt::gather(&mut #out, #item); } else { #rt::gather(&mut #rest, #item); }
        });
        let mut unfolded = self.looped(
            turn,
            Some(parse_quote!(let mut #out = #rt::gathered();)),
            Some(parse_quote!((#out, #rest))),
        );
        unfolded
            .before
            .push(parse_quote!(let mut #rest = #rt::gathered();));
        unfolded
    }
}
