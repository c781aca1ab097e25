//! Sites that have to go because of what rustc says.

use crate::Analysis;
use crate::decisions::knowledge::{Refused, RefusedSite};
use crate::diagnostics::RustcObstacle;
use crate::placement::{Placement, behind};
use crate::source::{Position, Program};
use std::collections::BTreeSet;

/// Notes the sites that have to go because of errors at these places; whether there are any.
pub(super) fn give_up(
    program: &Program,
    analysis: &Analysis,
    placement: &Placement,
    given_up: &[(Position, RustcObstacle)],
    refused: &mut Refused,
) -> bool {
    let before: BTreeSet<_> = refused.keys().copied().collect();
    for (place, obstacle) in given_up {
        let Some(function) = behind::function_at(analysis, placement, *place) else {
            continue;
        };
        // What is said of the attribute alone may be about any site: what is said more exactly goes first.
        let body_at = analysis.items.function(function).body_at;
        let is_exact = |one: &(Position, RustcObstacle)| {
            one.0.1 >= body_at && behind::function_at(analysis, placement, one.0) == Some(function)
        };
        if place.1 < body_at && given_up.iter().any(is_exact) {
            continue;
        }
        let mut sites = behind::sites_behind(program, analysis, placement, function, *place);
        if sites.iter().all(|site| before.contains(&behind::key(site))) {
            sites = behind::sites_of(analysis, placement, function);
        }
        let at = &analysis.items.function(function).place;
        for site in sites {
            refused.entry(behind::key(site)).or_insert_with(|| RefusedSite {
                obstacle: obstacle.clone(),
                place: *place,
                function: (at.file, at.bytes.start),
            });
        }
    }
    refused.len() > before.len()
}
