//! With how many threads a restart may come to each site.

use ckpt_analysis::placement::Placement;
use ckpt_analysis::placement::team_size::{SiteThreads, team_sizes};
use ckpt_analysis::{Analysis, Program};
use serde::Serialize;

/// What a restart may do with the number of threads at a site.
#[derive(Debug, Clone, Serialize)]
pub struct TeamSizePlan {
    /// `free`, `malleable`, `fixed`.
    pub kind: &'static str,
    /// Why.
    pub why: String,
}

/// What a program with threads writes somewhere.
const SIGNS: [&str; 5] = ["thread::", "rayon", "crossbeam", "team(", "ThreadPool"];

/// For every site of the placement, in its order; nothing in a program without threads.
pub fn of_sites(program: &Program, analysis: &Analysis, placement: &Placement) -> Vec<Option<TeamSizePlan>> {
    let mut files = program.files.iter();
    if !files.any(|file| SIGNS.iter().any(|sign| file.text.contains(sign))) {
        return vec![None; placement.sites.len()];
    }
    let plan = |SiteThreads { size, why }| {
        let kind = size.word();
        Some(TeamSizePlan { kind, why })
    };
    team_sizes(analysis, placement).into_iter().map(plan).collect()
}
