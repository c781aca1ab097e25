//! Sites below destructors: a value is dropped where nothing in the text calls its destructor, so a restart could not walk to a
//! site that the destructor leads to.

use super::{Chooser, PlacedSite, Reason};
use crate::calls::{Call, Trap};
use crate::diagnostics::Cause;
use crate::items::FnId;

impl Chooser<'_, '_> {
    /// Refuses a site that a destructor of the program leads to.
    pub(super) fn not_below_destructor(&self, site: &PlacedSite) -> Result<(), Vec<Reason>> {
        let items = &self.analysis.items;
        let mut seen = vec![false; items.functions.len()];
        let mut open: Vec<FnId> = vec![site.function];
        seen[site.function.0] = true;
        while let Some(function) = open.pop() {
            for id in &self.callers[function.0] {
                let call = self.analysis.graph.call(*id);
                if !call.certain && self.has_certain_caller(call) {
                    continue;
                }
                let caller = items.function(call.caller);
                if caller.is_destructor() {
                    return Err(vec![self.in_destructor(function, call)]);
                }
                if !std::mem::replace(&mut seen[caller.id.0], true) {
                    open.push(caller.id);
                }
            }
        }
        Ok(())
    }

    fn in_destructor(&self, callee: FnId, call: &Call) -> Reason {
        Reason {
            function: call.caller,
            line: Some(call.place.line),
            cause: Cause::CalledInside {
                callee: self.analysis.items.function(callee).display.clone(),
                trap: Trap::Destructor.to_string(),
                way_out: Trap::Destructor.instead(),
            },
        }
    }
}
