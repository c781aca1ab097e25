//! With how many threads a restart may come to a site: with any number outside of regions, with as many as before in a
//! thread of one, and with any number again in a `ckpt::team` whose members have nothing of their own there.

use crate::Analysis;
use crate::items::FnId;
use crate::placement::expressible::with_sites;
use crate::placement::{Holder, PlacedSite, Placement};
use ckpt_compiler::desugar::regions::{Around, around};
use ckpt_compiler::parse::options::Options;
use ckpt_compiler::syntax::marks::Marks;
use std::collections::BTreeMap;

/// What a restart may do with the number of threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TeamSize {
    /// The site is outside of regions: they are started behind it, with any number.
    Free,
    /// The site is in a team that another number of members can go on with.
    Malleable,
    /// The site is in a region that goes on with as many threads as before.
    Fixed,
}

impl TeamSize {
    /// The word for it, as in `--format json`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Free => "free",
            Self::Malleable => "malleable",
            Self::Fixed => "fixed",
        }
    }
}

/// The kind of a site, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteThreads {
    /// What a restart may do.
    pub size: TeamSize,
    /// Why, in a sentence.
    pub why: String,
}

impl SiteThreads {
    fn free() -> Self {
        Self {
            size: TeamSize::Free,
            why: "no thread of a region runs at the site, so a restart may have any number of them".into(),
        }
    }

    fn of(around: Around, function: &str) -> Self {
        let Around { line, team } = around;
        let place = format!("line {line} in `{function}`");
        let (size, why) = match team {
            None => (
                TeamSize::Fixed,
                format!(
                    "the threads that {place} starts go on with what is their own, so there are as many as before; \
                     other regions may have another number"
                ),
            ),
            Some(None) => (
                TeamSize::Malleable,
                format!(
                    "the members of the team in {place} have only where they are in their loops and what reductions gave: \
                     `CKPT_THREADS=n` at a restart"
                ),
            ),
            Some(Some(tied)) => (
                TeamSize::Fixed,
                format!(
                    "the team in {place} has as many members as before: {tied}; other regions may have another number"
                ),
            ),
        };
        Self { size, why }
    }
}

/// The kind of every site of a placement, in its order.
pub fn team_sizes(analysis: &Analysis, placement: &Placement) -> Vec<SiteThreads> {
    let looker = ThreadKinds {
        analysis,
        functions: placement
            .functions
            .iter()
            .zip(placement.candidates())
            .filter_map(|(placed, candidate)| {
                let (arguments, item) = with_sites(analysis, &candidate).ok()?;
                let options = Options::parse(arguments, candidate.opens_session).ok()?;
                Some((placed.function, (item, options)))
            })
            .collect(),
    };
    let reached = looker.reached(placement);
    let of_site = |site: &PlacedSite| {
        let at = (site.site.holder != Holder::User).then_some(site.site.at);
        let own = looker.at(site.function, at);
        own.or_else(|| reached.get(&site.function).cloned())
            .unwrap_or_else(SiteThreads::free)
    };
    placement.sites.iter().map(of_site).collect()
}

struct ThreadKinds<'a> {
    analysis: &'a Analysis,
    /// The instrumented functions with their sites, and what their attributes say.
    functions: BTreeMap<FnId, (syn::ItemFn, Options)>,
}

impl ThreadKinds<'_> {
    /// The kind of a place in a function, if the function itself has threads around it.
    fn at(&self, function: FnId, at: Option<usize>) -> Option<SiteThreads> {
        let (item, options) = self.functions.get(&function)?;
        let marks = Marks {
            library: &self.analysis.library,
            calls: &options.calls,
        };
        let known = self.analysis.items.function(function);
        let base = self.analysis.bases.get(known.place.file.0).copied().unwrap_or(0);
        let at = at.map(|at| at.saturating_sub(base));
        around(item, marks, at).map(|around| SiteThreads::of(around, &known.display))
    }

    /// How the instrumented functions are reached from `main`: what holds for a call holds for all that it leads to. Of
    /// several ways that counts which leaves the least freedom.
    fn reached(&self, placement: &Placement) -> BTreeMap<FnId, SiteThreads> {
        let mut reached = BTreeMap::new();
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for placed in &placement.functions {
                for id in placed.calls.iter().flat_map(|marked| &marked.calls) {
                    let call = self.analysis.graph.call(*id);
                    let own = self.at(placed.function, Some(call.place.bytes.start));
                    let Some(way) = own.or_else(|| reached.get(&placed.function).cloned()) else {
                        continue;
                    };
                    for callee in &call.callees {
                        let known = reached.get(callee).map(|known: &SiteThreads| known.size);
                        if known.is_none_or(|known| known < way.size) {
                            reached.insert(*callee, way.clone());
                            has_changed = true;
                        }
                    }
                }
            }
        }
        reached
    }
}
