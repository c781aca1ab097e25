//! From a place in a file back to the sites that it stands for.

use crate::Analysis;
use crate::calls::CallId;
use crate::items::FnId;
use crate::placement::{Holder, PlacedSite, Placement};
use crate::source::locate::{scope_of, statement_at};
use crate::source::{FileId, Position, Program};
use std::collections::BTreeSet;
use std::ops::Range;

/// The instrumented function around a place, the innermost.
pub fn function_at(analysis: &Analysis, placement: &Placement, place: Position) -> Option<FnId> {
    placement
        .functions
        .iter()
        .filter(|one| !one.by_user)
        .map(|one| analysis.items.function(one.function))
        .filter(|function| {
            // An error of the attribute itself points to where the attribute goes.
            let starts = function.insert_at.min(function.place.bytes.start);
            function.place.file == place.0 && (starts..function.place.bytes.end).contains(&place.1)
        })
        .min_by_key(|function| function.place.bytes.len())
        .map(|function| function.id)
}

/// The sites that an error at a place of the function is about. At the declaration of a variable: those where it is in
/// scope. Otherwise those that the marked call around the place leads to; where there is none, those of the function, or,
/// where it has none of its own, of all its marked calls.
pub fn sites_behind<'p>(
    program: &Program,
    analysis: &Analysis,
    placement: &'p Placement,
    function: FnId,
    place: Position,
) -> Vec<&'p PlacedSite> {
    if let Some(scope) = scope_of(program, place.0, place.1) {
        let within = sites_within(analysis, placement, function, &scope);
        if !within.is_empty() {
            return within;
        }
    }
    let around = marked_calls(placement, function)
        .map(|call| analysis.graph.call(call))
        .filter(|call| call.place.file == place.0 && call.place.bytes.contains(&place.1))
        .min_by_key(|call| call.place.bytes.len());
    match around {
        Some(call) => sites_below(analysis, placement, call.callees.clone()),
        None => {
            let near = statement_at(program, place.0, place.1)
                .map(|statement| sites_within(analysis, placement, function, &statement))
                .unwrap_or_default();
            if near.is_empty() {
                sites_of(analysis, placement, function)
            } else {
                near
            }
        }
    }
}

/// The sites in a part of a function, and those that the calls in it lead to.
fn sites_within<'p>(
    analysis: &Analysis,
    placement: &'p Placement,
    function: FnId,
    part: &Range<usize>,
) -> Vec<&'p PlacedSite> {
    let own = placement.sites.iter().filter(|site| {
        site.function == function && site.site.holder != Holder::User && part.contains(&site.site.at)
    });
    let callees = marked_calls(placement, function)
        .map(|call| analysis.graph.call(call))
        .filter(|call| part.contains(&call.place.bytes.start))
        .flat_map(|call| call.callees.clone());
    let mut found: Vec<_> = own.collect();
    found.extend(sites_below(analysis, placement, callees.collect()));
    found
}

/// The sites of the function, or, where it has none of its own, those that its marked calls lead to.
pub fn sites_of<'p>(analysis: &Analysis, placement: &'p Placement, function: FnId) -> Vec<&'p PlacedSite> {
    sites_below(analysis, placement, vec![function])
}

fn marked_calls(placement: &Placement, function: FnId) -> impl Iterator<Item = CallId> {
    placement
        .functions
        .iter()
        .filter(move |one| one.function == function)
        .flat_map(|one| &one.calls)
        .flat_map(|name| name.calls.clone())
}

fn sites_below<'p>(
    analysis: &Analysis,
    placement: &'p Placement,
    functions: Vec<FnId>,
) -> Vec<&'p PlacedSite> {
    let mut seen = BTreeSet::new();
    let mut pending = functions;
    let mut found = Vec::new();
    while let Some(next) = pending.pop() {
        if !seen.insert(next) {
            continue;
        }
        let own: Vec<_> = placement
            .sites
            .iter()
            .filter(|site| site.function == next && site.site.holder != Holder::User)
            .collect();
        if !own.is_empty() {
            found.extend(own);
            continue;
        }
        let called = marked_calls(placement, next).flat_map(|call| analysis.graph.call(call).callees.clone());
        pending.extend(called);
    }
    found
}

/// The key under which the compiler is told that a site cannot be there.
pub fn key(site: &PlacedSite) -> (usize, usize) {
    let FileId(file) = site.place.file;
    (file, site.site.at)
}
