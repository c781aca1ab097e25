//! The loops of a plan, with what they cost.

use std::collections::BTreeSet;

use ckpt_analysis::{FnId, PackageAnalysis, Placement};
use serde::Serialize;

use super::Shown;

/// A loop with its estimate.
#[derive(Debug, Serialize)]
pub struct LoopPlan {
    /// The function.
    pub function: String,
    /// The file, below the workspace.
    pub file: String,
    /// The line.
    pub line: usize,
    /// Its first line.
    pub header: String,
    /// Share of the run, 0 to 1.
    pub share: f64,
    /// Iterations each time that it is reached.
    pub trips: f64,
    /// Whether that number is certain.
    pub trips_known: bool,
    /// Operations of an iteration; nanoseconds where they were measured.
    pub operations: f64,
    /// Whether it has a site.
    pub chosen: bool,
    /// What the instrumented run has seen of it, if it came there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured: Option<MeasuredLoop>,
    /// The share as the estimate has it, where it was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimated_share: Option<f64>,
}

/// What an instrumented run has seen of a loop.
#[derive(Debug, Serialize)]
pub struct MeasuredLoop {
    /// How often it was reached.
    pub entries: f64,
    /// Iterations in all.
    pub iterations: f64,
    /// Seconds in all, over all threads.
    pub seconds: f64,
    /// Seconds without the loops and functions inside that were measured.
    pub own_seconds: f64,
}

/// All loops that `main` reaches, the costliest first.
pub(super) fn loops(analysis: &PackageAnalysis, placement: &Placement, shown: &Shown<'_>) -> Vec<LoopPlan> {
    let chosen: BTreeSet<(FnId, usize)> = placement
        .sites
        .iter()
        .map(|site| (site.function, site.place.bytes.start))
        .collect();
    let estimated = analysis.estimated();
    let mut list: Vec<LoopPlan> = analysis
        .loops()
        .iter()
        .filter_map(|one| {
            let cost = placement.costs.loops.get(one.id.0)?;
            if one.body_at.is_none() || cost.entries <= 0.0 {
                return None;
            }
            let (file, line) = shown.at(one.place.file, one.place.line);
            Some(LoopPlan {
                function: analysis.function(one.function).display.clone(),
                file,
                line,
                header: one.header.clone(),
                share: cost.share,
                trips: cost.trips,
                trips_known: cost.known,
                operations: cost.per_iteration,
                chosen: chosen.contains(&(one.function, one.place.bytes.start)),
                measured: cost.seen.map(|seen| MeasuredLoop {
                    entries: seen.entries,
                    iterations: seen.turns,
                    seconds: seen.nanos / 1e9,
                    own_seconds: seen.own / 1e9,
                }),
                estimated_share: estimated.map(|costs| costs.loops[one.id.0].share),
            })
        })
        .collect();
    list.sort_by(|a, b| b.share.total_cmp(&a.share));
    list
}
