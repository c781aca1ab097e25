//! What is made of a function before it is taken apart: attributes where they mean the same, a `let` for each variable
//! without a value, iterators where they are gone over, closures that leave what they capture within reach of a site.

mod apart;
mod attributes;
pub mod chains;
mod closures;
mod counted;
mod elements;
mod own_names;
mod reborrow;
mod shared;

use crate::errors::Diagnostics;
use crate::marks::Marks;
use crate::names::Names;
use crate::spine::Form;
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
    apart::apart(function);
    reborrow::reborrow(function, marks);
    elements::name(function, marks);
    chains::move_in(function, marks, references);
    counted::count(function, marks, references, names);
    closures::open(function, marks, references);
    shared::share(function, marks);
}
