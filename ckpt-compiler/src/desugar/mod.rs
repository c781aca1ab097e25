//! What is made of a function before it is taken apart: attributes where they mean the same, a `let` for each variable
//! without a value, iterators where they are gone over, closures that leave what they capture within reach of a site.

mod attributes;
pub mod chosen_site;
mod closures;
mod counted;
mod elements;
pub mod form;
pub mod inlined_closures;
pub mod iterator_replay;
pub mod named_iterators;
mod own_names;
mod reborrow;
pub mod regions;
mod shared_captures;
mod split_declarations;
pub mod streams;

use crate::diagnostics::Diagnostics;

use crate::names::Names;
use crate::syntax::marks::Marks;
use form::Form;
use std::collections::HashSet;
use syn::ItemFn;

/// Prepares a function. `references` are the names known to stand for references wherever they are declared.
pub fn prepare(
    function: &mut ItemFn,
    form: Form,
    marks: Marks<'_>,
    references: &HashSet<String>,
    names: &Names,
    errors: &mut Diagnostics,
) {
    attributes::gather(function, marks, errors);
    if form.own_names {
        own_names::give(function);
    }
    split_declarations::split(function);
    reborrow::reborrow(function, marks);
    elements::name(function, marks);
    named_iterators::move_in(function, marks, references);
    counted::count(function, marks, references, names);
    closures::open(function, marks, references);
    shared_captures::share(function, marks);
}
