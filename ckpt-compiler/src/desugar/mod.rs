//! What is made of a function before it is taken apart: attributes where they mean the same, a `let` for each variable
//! without a value, iterators where they are gone over, closures that leave what they capture within reach of a site.

mod attributes;
mod changes;
pub mod chosen_site;
mod closures;
mod counted;
mod elements;
pub mod form;
mod gathered_lists;
pub mod inlined_closures;
pub mod iterator_replay;
mod late_arguments;
mod lent_readers;
mod messages;
pub mod named_iterators;
pub mod parallel_blocks;
mod reborrow;
pub mod regions;
mod shared_captures;
mod split_declarations;
pub mod streams;

use crate::diagnostics::Diagnostics;

use crate::names::{LocalSet, Names};
use crate::parse::options::Options;
use crate::resolve::references::references;
use crate::syntax::marks::Marks;
use crate::syntax::origins::Known;
use regions::Regions;
use syn::ItemFn;

/// A function in the form that is taken apart.
#[derive(Debug)]
pub struct Desugared {
    /// The function, with its sites.
    pub function: ItemFn,
    /// Whether its site stands in a loop that the compiler has chosen, with none marked.
    pub chosen: bool,
    /// The variables that stand for references.
    pub references: LocalSet,
}

/// Brings a function, of which the bodies of threads have been taken out, into the form that is taken apart.
pub fn desugar(
    mut function: ItemFn,
    options: &Options,
    regions: &Regions,
    names: &Names,
    errors: &mut Diagnostics,
) -> Desugared {
    let marks = Marks {
        calls: &options.calls,
        library: &options.library,
    };
    // Before the chains around them: what is in a closure of one has a site then.
    parallel_blocks::cut(&mut function, marks, names);
    inlined_closures::inline(&mut function, marks, names);
    let chosen = chosen_site::choose_sites(&mut function, options, regions, errors);
    if errors.is_empty() {
        messages::receive(&mut function, marks, &names.locals());
        streams::show_values(marks.library, &names.read(), &mut function.block);
        rewrite(&mut function, marks, names, errors);
    }
    Desugared {
        references: references(marks.library, &names.locals(), &function),
        function,
        chosen,
    }
}

fn rewrite(function: &mut ItemFn, marks: Marks<'_>, names: &Names, errors: &mut Diagnostics) {
    let locals = names.locals();
    let references = references(marks.library, &locals, function);
    let known = Known::with(marks.library, &locals, &references);
    gathered_lists::fill_behind(function, marks, errors);
    attributes::gather(function, marks, errors);
    late_arguments::decide_first(function, marks, names, errors);
    split_declarations::split(function);
    reborrow::reborrow(function, marks, &locals);
    elements::name(function, marks, names);
    named_iterators::move_in(function, marks, known, &locals);
    lent_readers::take_turns(function, marks, names);
    counted::count(function, marks, known, names);
    closures::open(function, marks, known, names);
    shared_captures::share(function, marks, names);
}
