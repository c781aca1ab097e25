//! Arrays on devices, and handles to something there, that change places: two variables of which each gets what the other had,
//! `std::mem::swap(&mut now, &mut next)`, `(now, next) = (next, now)`.
//!
//! A restart makes both arrays again, and whatever was made with them before they changed places for the first time: kernels,
//! groups. So before the statement in which they do, a variable is declared that says which has which array. A restart, which
//! has it as it was at the checkpoint, lets them change places there.

use crate::items::{Function, Items};
use crate::source::edits::Edit;
use crate::source::locate::bytes;
use crate::source::{FileId, Position, Program};
use ckpt_compiler::library::{Functions, Library, last_name};
use ckpt_compiler::names::made;
use ckpt_compiler::visit::{self, Visit};
use std::collections::BTreeSet;
use std::ops::Range;
use syn::spanned::Spanned;
use syn::{Expr, Ident};

use super::devices::stays_the_same;

/// Variables of a function that change places among each other, and in no other way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChangedPlaces {
    variables: Vec<Variable>,
    /// The first byte of the statement before which none of them has changed its place.
    before: usize,
    file: FileId,
    /// Where two of them do, and which.
    changes: Vec<Exchange>,
}

/// The bytes of an expression, and which two variables change places there, one pair after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Exchange {
    range: Range<usize>,
    pairs: Vec<(usize, usize)>,
}

/// What the variables have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    /// Arrays on devices, which have content.
    Arrays,
    /// What leads to something there, which has none.
    Handles,
}

impl Holds {
    /// What stands behind the names of the functions of ckpt's that exchange them.
    pub(crate) fn suffix(self) -> &'static str {
        match self {
            Self::Arrays => "",
            Self::Handles => "_handles",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Variable {
    name: Ident,
    /// What the source calls it.
    in_source: String,
    /// Where its `let` begins.
    place: Position,
    /// Where its name stands there.
    at: usize,
    /// Whether nothing else may change it.
    only_changes_places: bool,
}

impl ChangedPlaces {
    /// Where the variables are declared.
    pub(crate) fn places(&self) -> BTreeSet<Position> {
        self.variables.iter().map(|one| one.place).collect()
    }

    /// Whether this is one of the variables, which is declared there.
    pub(crate) fn is_of(&self, place: Position, name: &Ident) -> bool {
        let mut all = self.variables.iter();
        all.any(|one| one.place == place && one.name == *name)
    }

    /// Whether a variable, by where its name stands where it is declared, is as it was declared for what stands at `place`: of what
    /// `is_made_again`, by where the `let` begins. What is saved has been given another value by then.
    pub(crate) fn is_as_declared(
        &self,
        at: Position,
        place: Position,
        is_made_again: &dyn Fn(Position) -> bool,
    ) -> bool {
        let is = |one: &Variable| one.at == at.1 && one.only_changes_places;
        self.file == at.0
            && self.file == place.0
            && place.1 < self.before
            && self.variables.iter().any(is)
            && self.variables.iter().any(|one| is_made_again(one.place))
    }

    /// The program's own text with what says which variable has which array; `number`: no other of the function has it.
    fn edits(&self, program: &Program, number: usize, holds: Holds) -> Vec<Edit> {
        let of = holds.suffix();
        let places = made(format_args!("places{number}"));
        let lent: Vec<String> = { self.variables.iter() }
            .map(|one| format!("&mut {}", one.in_source))
            .collect();
        let text = &program.file(self.file).text;
        let declared = format!(
            "let mut {places} = ckpt::device::Places::new({});",
            self.variables.len()
        );
        let put = format!(
            "#[ckpt(reexecute)] ckpt::device::put{of}(&{places}, [{}]);",
            lent.join(", ")
        );
        let mut edits = vec![Edit::line_before(
            self.file,
            text,
            self.before,
            &format!("{declared} {put}"),
        )];
        for Exchange { range, pairs } in &self.changes {
            let pairs = pairs.iter().map(|(one, other)| {
                format!(
                    "{places}.swap{of}([{one}, {other}], {}, {});",
                    lent[*one], lent[*other]
                )
            });
            let pairs: Vec<String> = pairs.collect();
            edits.push(Edit {
                end: range.end,
                ..Edit::insert(self.file, range.start, format!("{{ {} }}", pairs.join(" ")))
            });
        }
        edits
    }
}

/// All that there are in the functions of a program, of whatever type the variables are.
pub(crate) fn changed_places(library: &Library, program: &Program, items: &Items) -> Vec<ChangedPlaces> {
    let mut all = Vec::new();
    // One of the program's own may do something else.
    let mut functions = items.functions.iter();
    if functions.any(|one| one.self_type.is_none() && library.says(&one.name, Functions::Swaps)) {
        return all;
    }
    for function in items.once_each() {
        all.extend(of_function(library, program, function));
    }
    all
}

/// The edits for those that have arrays on devices, or handles to something there, by where the variables are declared, in
/// functions that are restarted, which stand at these bytes.
pub(crate) fn place_edits(
    (library, program, items): (&Library, &Program, &Items),
    restarted: &[(FileId, Range<usize>)],
    arrays: &BTreeSet<Position>,
    handles: &BTreeSet<Position>,
) -> Vec<Edit> {
    if arrays.is_empty() && handles.is_empty() {
        return Vec::new();
    }
    let all = changed_places(library, program, items);
    let is_restarted = |one: &ChangedPlaces| {
        { restarted.iter() }.any(|(file, bytes)| *file == one.file && bytes.contains(&one.before))
    };
    // Where there are arrays among them their content changes places as well.
    let holds = |one: &ChangedPlaces| match one.places() {
        places if !places.is_disjoint(arrays) => Some(Holds::Arrays),
        places if !places.is_disjoint(handles) => Some(Holds::Handles),
        _ => None,
    };
    let all = { all.iter() }.filter(|one| is_restarted(one));
    all.filter_map(|one| Some((one, holds(one)?)))
        .enumerate()
        .flat_map(|(number, (one, holds))| one.edits(program, number, holds))
        .collect()
}

fn of_function(library: &Library, program: &Program, function: &Function) -> Vec<ChangedPlaces> {
    let file = function.place.file;
    let mut found = Found {
        library,
        changes: Vec::new(),
    };
    found.visit_block(&function.item.block);
    // Those that are connected by changes.
    let mut groups: Vec<BTreeSet<String>> = Vec::new();
    for change in &found.changes {
        join(
            &mut groups,
            change.names.iter().map(ToString::to_string).collect(),
        );
    }
    let group = |names: &BTreeSet<String>| {
        let names: Vec<&String> = names.iter().collect();
        let changes: Vec<&Change<'_>> = { found.changes.iter() }
            .filter(|change| names.contains(&&change.names[0].to_string()))
            .collect();
        let block = block_of(&function.item.block, &names)?;
        let range = |span| bytes(program, file, span);
        let mut variables = Vec::new();
        let mut behind = 0;
        for name in &names {
            let (local, ident) = declared(block, name)?;
            behind = behind.max(range(local.span()).end);
            variables.push(Variable {
                in_source: function.name_in_source(name),
                place: (file, range(local.span()).start),
                at: range(ident.span()).start,
                only_changes_places: changes_only_so(&function.item.block, ident, changes.len()),
                name: ident.clone(),
            });
        }
        let first = changes.iter().map(|one| range(one.expr.span()).start).min()?;
        let statement = block.stmts.iter().map(|one| range(one.span()));
        let statement = statement.into_iter().find(|one| one.contains(&first))?;
        let is_inside = changes
            .iter()
            .all(|one| range(block.span()).contains(&range(one.expr.span()).start));
        let index = |name: &Ident| names.iter().position(|one| name == one.as_str());
        let changes: Option<Vec<_>> = { changes.iter() }
            .map(|one| {
                let pairs: Option<Vec<_>> = { one.pairs.iter() }
                    .map(|(a, b)| Some((index(a)?, index(b)?)))
                    .collect();
                Some(Exchange {
                    range: range(one.expr.span()),
                    pairs: pairs?,
                })
            })
            .collect();
        let group = ChangedPlaces {
            variables,
            before: statement.start,
            file,
            changes: changes?,
        };
        let stay = group
            .variables
            .iter()
            .all(|one| stays_the_same(library, &function.item, &one.name, &names));
        (is_inside && statement.start >= behind && stay).then_some(group)
    };
    groups.iter().filter_map(group).collect()
}

/// The names of variables that change places there: each pair in turn.
#[derive(Debug)]
struct Change<'p> {
    expr: &'p Expr,
    names: Vec<&'p Ident>,
    pairs: Vec<(&'p Ident, &'p Ident)>,
}

/// What changes places in an expression, if it does nothing but that.
fn change<'p>(library: &Library, expr: &'p Expr) -> Option<Change<'p>> {
    let (names, pairs) = match expr {
        Expr::Call(call) => {
            let (one, other) = swapped(library, call)?;
            let pair = (name_of(one)?, name_of(other)?);
            (vec![pair.0, pair.1], vec![pair])
        }
        Expr::Assign(one) => {
            let (Expr::Tuple(left), Expr::Tuple(right)) = (&*one.left, &*one.right) else {
                return None;
            };
            let names =
                |tuple: &'p syn::ExprTuple| tuple.elems.iter().map(name_of).collect::<Option<Vec<_>>>();
            let (left, right) = (names(left)?, names(right)?);
            (left.clone(), exchanges_of(&left, &right)?)
        }
        _ => return None,
    };
    let is_pair = |(one, other): &(&Ident, &Ident)| one != other;
    (!pairs.is_empty() && pairs.iter().all(is_pair)).then_some(Change { expr, names, pairs })
}

/// Whether it does nothing but have variables of these names change places.
pub(crate) fn changes_places(library: &Library, expr: &Expr, names: &[&String]) -> bool {
    let is = |name: &&Ident| names.iter().any(|one| **name == one.as_str());
    change(library, expr).is_some_and(|change| change.names.iter().all(is))
}

/// One pair after the other, until `left` has what `right` had.
fn exchanges_of<'p>(left: &[&'p Ident], right: &[&'p Ident]) -> Option<Vec<(&'p Ident, &'p Ident)>> {
    let distinct: BTreeSet<&&Ident> = left.iter().collect();
    if left.len() != right.len() || distinct.len() != left.len() {
        return None;
    }
    let mut now = left.to_vec();
    let mut pairs = Vec::new();
    for at in 0..now.len() {
        let from = at + now[at..].iter().position(|name| *name == right[at])?;
        if from != at {
            pairs.push((left[at], left[from]));
            now.swap(at, from);
        }
    }
    Some(pairs)
}

/// What changes places in `mem::swap(&mut a, &mut b)`.
pub(crate) fn swapped<'p>(library: &Library, call: &'p syn::ExprCall) -> Option<(&'p Expr, &'p Expr)> {
    let Expr::Path(path) = &*call.func else {
        return None;
    };
    let lent = |expr: &'p Expr| match expr {
        Expr::Reference(one) if one.mutability.is_some() => Some(&*one.expr),
        _ => None,
    };
    let mut arguments = call.args.iter();
    let pair = (lent(arguments.next()?)?, lent(arguments.next()?)?);
    let is_swap = library.says(&last_name(&path.path), Functions::Swaps);
    (is_swap && arguments.next().is_none()).then_some(pair)
}

/// Adds names that belong together to the groups, with those of all groups that have one of them.
pub(crate) fn join(groups: &mut Vec<BTreeSet<String>>, mut names: BTreeSet<String>) {
    groups.retain(|group| {
        let is_apart = group.is_disjoint(&names);
        if !is_apart {
            names.extend(group.iter().cloned());
        }
        is_apart
    });
    groups.push(names);
}

fn name_of(expr: &Expr) -> Option<&Ident> {
    match expr {
        Expr::Path(path) => path.path.get_ident(),
        _ => None,
    }
}

/// Changes in a function that happen where they stand: a closure may be called anywhere.
struct Found<'a, 'p> {
    library: &'a Library,
    changes: Vec<Change<'p>>,
}

impl<'p> Visit<'p> for Found<'_, 'p> {
    fn visit_expr(&mut self, expr: &'p Expr) {
        match change(self.library, expr) {
            Some(change) => self.changes.push(change),
            None => visit::visit_expr(self, expr),
        }
    }

    fn visit_expr_closure(&mut self, _: &'p syn::ExprClosure) {}

    fn visit_expr_async(&mut self, _: &'p syn::ExprAsync) {}

    fn visit_item(&mut self, _: &'p syn::Item) {}
}

/// The block in which all of these are declared by a `let`, each once in the whole function.
fn block_of<'p>(body: &'p syn::Block, names: &[&String]) -> Option<&'p syn::Block> {
    struct Blocks<'a, 'p>(&'a [&'a String], Option<&'p syn::Block>, Vec<usize>);
    impl<'p> Visit<'p> for Blocks<'_, 'p> {
        fn visit_block(&mut self, block: &'p syn::Block) {
            if self.0.iter().all(|name| declared(block, name).is_some()) {
                self.1 = Some(block);
            }
            visit::visit_block(self, block);
        }
        fn visit_pat_ident(&mut self, pattern: &'p syn::PatIdent) {
            for (name, count) in self.0.iter().zip(&mut self.2) {
                *count += usize::from(pattern.ident == name.as_str());
            }
            visit::visit_pat_ident(self, pattern);
        }
    }
    let mut blocks = Blocks(names, None, vec![0; names.len()]);
    blocks.visit_block(body);
    blocks.1.filter(|_| blocks.2.iter().all(|count| *count == 1))
}

/// The `let` of a block that declares a variable, alone or in a tuple.
fn declared<'p>(block: &'p syn::Block, name: &str) -> Option<(&'p syn::Local, &'p Ident)> {
    fn find<'p>(pattern: &'p syn::Pat, name: &str) -> Option<&'p Ident> {
        match pattern {
            syn::Pat::Ident(one) if one.by_ref.is_none() && one.subpat.is_none() => {
                (one.ident == name).then_some(&one.ident)
            }
            syn::Pat::Type(typed) => find(&typed.pat, name),
            syn::Pat::Tuple(tuple) => tuple.elems.iter().find_map(|one| find(one, name)),
            _ => None,
        }
    }
    block.stmts.iter().find_map(|statement| match statement {
        syn::Stmt::Local(local) if local.init.is_some() => Some((local, find(&local.pat, name)?)),
        _ => None,
    })
}

/// Whether a variable is lent exclusively, or set, by so many changes of places at most.
fn changes_only_so(block: &syn::Block, name: &Ident, changes: usize) -> bool {
    struct Changes<'a>(&'a Ident, usize);
    impl<'ast> Visit<'ast> for Changes<'_> {
        fn visit_expr_reference(&mut self, one: &'ast syn::ExprReference) {
            let is = name_of(&one.expr).is_some_and(|name| name == self.0);
            self.1 += usize::from(is && one.mutability.is_some());
            visit::visit_expr_reference(self, one);
        }
        fn visit_expr_assign(&mut self, one: &'ast syn::ExprAssign) {
            let names =
                ckpt_compiler::syntax::mentions::names_in(&quote::ToTokens::to_token_stream(&one.left));
            self.1 += usize::from(names.contains(&self.0.to_string()));
            visit::visit_expr_assign(self, one);
        }
    }
    let mut found = Changes(name, 0);
    found.visit_block(block);
    found.1 <= changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::edits::Edited;
    use crate::tests::{analysed, program};

    /// What becomes of a function with three arrays.
    fn edited(rest: &str) -> Option<String> {
        let text = format!("fn main() {{ let mut a = f(1); let mut b = f(2); let mut c = f(3); {rest} }}");
        let files = [("main.rs", text.as_str())];
        let (program, analysis) = (program(&files), analysed(&files));
        let all = changed_places(&analysis.library, &program, &analysis.items);
        let edits: Vec<Edit> = all
            .iter()
            .flat_map(|one| one.edits(&program, 0, Holds::Arrays))
            .collect();
        let changed = Edited::new(&text, &edits).text;
        let at = changed.find("f(3); ")? + "f(3); ".len();
        (!edits.is_empty()).then(|| changed[at..changed.len() - 2].to_owned())
    }

    #[test]
    fn what_says_which_is_which_stands_before_the_first_exchange() {
        assert_eq!(
            edited("g(&a); loop { g(&a); std::mem::swap(&mut a, &mut b); }").as_deref(),
            Some(
                "g(&a); let mut __ckpt_places0 = ckpt::device::Places::new(2); \
                 #[ckpt(reexecute)] ckpt::device::put(&__ckpt_places0, [&mut a, &mut b]); \
                 loop { g(&a); { __ckpt_places0.swap([0, 1], &mut a, &mut b); }; }"
            )
        );
        assert!(edited("loop { std::mem::swap(&mut a, &mut b); } println!(\"{} {a}\", g(&b));").is_some());
        let around = edited("loop { (a, b, c) = (b, c, a); }").expect("all of them");
        assert!(
            around.contains("swap([0, 1], &mut a, &mut b); __ckpt_places0.swap([1, 2], &mut b, &mut c);"),
            "{around}"
        );
    }

    #[test]
    fn what_handles_have_has_no_content() {
        let text = "fn main() { let mut a = f(1); let (mut b, c) = f(2); loop { (a, b) = (b, a); } }";
        let files = [("main.rs", text)];
        let (program, analysis) = (program(&files), analysed(&files));
        let main = (FileId(0), 0..text.len());
        let places = changed_places(&analysis.library, &program, &analysis.items)[0].places();
        let edited = |arrays: &BTreeSet<Position>, handles: &BTreeSet<Position>| {
            let all = (&analysis.library, &program, &analysis.items);
            Edited::new(
                text,
                &place_edits(all, std::slice::from_ref(&main), arrays, handles),
            )
            .text
        };
        let none = BTreeSet::new();
        let of_handles = edited(&none, &places);
        assert!(
            of_handles.contains("ckpt::device::put_handles(&__ckpt_places0, [&mut a, &mut b]);"),
            "{of_handles}"
        );
        assert!(
            of_handles.contains("__ckpt_places0.swap_handles([0, 1], &mut a, &mut b);"),
            "{of_handles}"
        );
        // What has both has content.
        assert!(edited(&places, &places).contains("ckpt::device::put(&"));
        assert_eq!(edited(&none, &none), text);
    }

    #[test]
    fn what_nobody_follows_is_left_alone() {
        for rest in [
            "let mut turn = || std::mem::swap(&mut a, &mut b); turn(); std::mem::swap(&mut a, &mut b);",
            "loop { std::mem::swap(&mut a, &mut b); g(&mut a); }",
            "loop { std::mem::swap(&mut a, &mut b); b = f(4); }",
            "loop { std::mem::swap(&mut a, &mut x.b); }",
            "loop { (a, b) = (b, f(1)); }",
            "loop { (a, b) = (b, b); }",
            "loop { let mut d = f(4); std::mem::swap(&mut a, &mut d); }",
            "loop { std::mem::swap(&mut a, &mut b); h!(a); }",
            "loop { std::mem::swap(&mut a, &mut b); println!(\"{}\", { std::mem::swap(&mut a, &mut b); 1 }); }",
            "loop { std::mem::swap(&mut a, &mut b); let d = std::mem::replace(&mut a, f(1)); }",
            "fn swap(a: &mut A, b: &mut A) {} loop { swap(&mut a, &mut b); }",
        ] {
            assert_eq!(edited(rest), None, "{rest}");
        }
    }
}
