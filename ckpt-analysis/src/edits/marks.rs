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

/// The function that opens the session says that nothing which is saved hangs on the number of devices.
pub fn on_any_devices(functions: &mut [FunctionMark]) {
    for mark in functions.iter_mut().filter(|mark| mark.opens_session) {
        let before = std::mem::take(&mut mark.arguments);
        let all = [before, "any_devices".to_owned()];
        let all: Vec<String> = all.into_iter().filter(|one| !one.is_empty()).collect();
        mark.arguments = all.join(", ");
    }
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
