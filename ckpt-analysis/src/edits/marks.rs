//! From the placement to marks in files.

use super::{FunctionMark, SiteMark};
use crate::Analysis;
use crate::decisions::spares::Spares;
use crate::placement::expressible::arguments;
use crate::placement::{Holder, Placement};

/// The functions that get an attribute, with what it says of spares; those that the user has annotated stay as they are.
pub fn function_marks(
    analysis: &Analysis,
    placement: &Placement,
    spares: Option<&Spares>,
) -> Vec<FunctionMark> {
    placement
        .functions
        .iter()
        .filter(|one| !one.by_user)
        .map(|one| {
            let function = analysis.items.function(one.function);
            FunctionMark {
                file: function.place.file,
                at: function.insert_at,
                end: function.place.bytes.end,
                opens_session: one.opens_session,
                arguments: {
                    let calls: Vec<String> = one.calls.iter().map(|name| name.name.clone()).collect();
                    let plain = arguments(analysis, one.function, &calls);
                    let more = spares.map(|spares| spares.arguments(analysis, one.function, &calls));
                    let plain = (!plain.is_empty()).then_some(plain);
                    let all: Vec<String> = plain.into_iter().chain(more.into_iter().flatten()).collect();
                    all.join(", ")
                },
            }
        })
        .collect()
}

/// The sites that are put in.
pub fn site_marks(placement: &Placement) -> Vec<SiteMark> {
    placement
        .sites
        .iter()
        .filter(|one| one.site.holder != Holder::User)
        .map(|one| SiteMark {
            file: one.place.file,
            at: one.site.at,
            before_statement: one.site.holder.before_statement(),
            sort: one.sort(),
            wraps: one.site.wraps,
        })
        .collect()
}
