//! What a variable's memory needs against errors that nobody has made: how its value comes back where it turns out wrong.

use crate::cfg::{BindingId, Declaration, Passing};
use crate::explain::{Fate, SiteReport, of_stages};
use crate::liveness::clean::Clean;
use crate::passes::Stages;
use crate::spine::SiteId;
use proc_macro2::TokenStream;
use syn::{Expr, Type};

/// The class of a variable at a site, from the one that needs least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Nobody reads its value any more: an error in it is masked.
    Dead,
    /// A restart has it again without a checkpoint: its statement runs again, or the caller passes it again.
    MadeAgain,
    /// It is in the checkpoint, and is not written to between two visits of the site in the same call of its function: a
    /// checksum tells an error.
    Clean,
    /// It is in the checkpoint, and is written to; or it is a number of a caller, of which the called function has a copy:
    /// nothing looks at the number itself meanwhile.
    MustBeSaved,
}

impl Class {
    /// All of them, in their order.
    pub const ALL: [Class; 4] = [Self::Dead, Self::MadeAgain, Self::Clean, Self::MustBeSaved];

    /// The word for it, as in `--format json`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Dead => "dead",
            Self::MadeAgain => "made again",
            Self::Clean => "clean",
            Self::MustBeSaved => "must be saved",
        }
    }
}

/// Whose memory a variable is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// The variable's own, and what it owns.
    Own,
    /// The caller's, which is passed by reference.
    OfCaller,
    /// Another variable's, which it borrows.
    Borrowed,
    /// Another variable's, or the called function's, into which its value has moved.
    MovedAway,
}

impl Memory {
    /// The word for it, as in `--format json`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::OfCaller => "of the caller",
            Self::Borrowed => "borrowed",
            Self::MovedAway => "moved away",
        }
    }
}

/// What the compiler knows of the memory of a variable at a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Protection {
    /// What it needs.
    pub class: Class,
    /// Whose memory it is.
    pub memory: Memory,
    /// Why it is in its class, where that is not why it is in a checkpoint or not.
    pub why: Option<&'static str>,
}

/// For every site what is known of its variables, in the order of [`SiteReport::variables`]. `item` is the function that the stages were
/// asked about.
///
/// ```
/// use ckpt_compiler::protection::{Class, of_sites};
/// let item = "fn f(n: usize) { let m = matrix(n); let mut x = start(n); let k = 2; for i in 0..n { ckpt::checkpoint!(); step(&m, &mut x); } show(x); }";
/// let item = item.parse().unwrap();
/// let stages = ckpt_compiler::passes::analyse(Default::default(), &item, false).unwrap();
/// let (site, protection) = &of_sites(&stages, &item)[0];
/// let class = |name: &str| protection[site.variables.iter().position(|one| one.name == name).unwrap()].class;
/// assert_eq!([class("m"), class("x"), class("k")], [Class::Clean, Class::MustBeSaved, Class::Dead]);
/// ```
pub fn of_sites(stages: &Stages, item: &TokenStream) -> Vec<(SiteReport, Vec<Protection>)> {
    let clean = Clean::of(&stages.options.library, &stages.flow, item);
    let sites = of_stages(stages).into_iter().zip(1 as SiteId..);
    sites
        .map(|(report, site)| {
            let variables = report.variables.iter();
            let protection = variables.map(|one| {
                let (class, why) = class(stages, &clean, (site, one.binding), one.fate);
                let memory = memory(stages, (site, one.binding), one.fate);
                Protection { class, memory, why }
            });
            let protection = protection.collect();
            (report, protection)
        })
        .collect()
}

fn class(
    stages: &Stages,
    clean: &Clean,
    (site, id): (SiteId, BindingId),
    fate: Fate,
) -> (Class, Option<&'static str>) {
    match fate {
        Fate::NotNeeded => (Class::Dead, None),
        Fate::Reexecuted | Fate::PassedAgain | Fate::Skipped => (Class::MadeAgain, None),
        Fate::SavedByCallee | Fate::SavedForCaller => (Class::MustBeSaved, None),
        Fate::Saved if !is_clean(stages, clean, (site, id)) => (Class::MustBeSaved, None),
        Fate::Saved => {
            let is_call = stages.lowered.sites[site as usize - 1].callee.is_some();
            let is_copied = is_call && stages.flow.bindings[id].is_plainly_copy();
            match is_copied {
                true => (
                    Class::MustBeSaved,
                    Some("a checkpoint below has a copy: nothing looks at the number itself"),
                ),
                false => (
                    Class::Clean,
                    Some("no statement writes to it between two visits of the site"),
                ),
            }
        }
    }
}

/// Whether a variable that is saved is not written to between two visits of the site.
fn is_clean(stages: &Stages, clean: &Clean, (site, id): (SiteId, BindingId)) -> bool {
    let flow = &stages.flow;
    let entries = &stages.plan.sites[site as usize - 1].entries;
    let entry = entries.iter().find(|entry| entry.binding() == id);
    let region = stages.lowered.sites[site as usize - 1].region;
    let local = flow.locals.id(&flow.bindings[id].ident);
    let is_kept = stages.regions.lends(region, local) || stages.regions.moves(region, local).is_some();
    !is_kept && entry.is_some_and(|entry| stages.plan.saves_as_clean(clean, flow, site, entry))
}

fn memory(stages: &Stages, (site, id): (SiteId, BindingId), fate: Fate) -> Memory {
    let binding = &stages.flow.bindings[id];
    let moves = stages.plan.sites[site as usize - 1].moves(id) && !binding.is_number;
    let has_moved = fate == Fate::NotNeeded && stages.liveness.is_moved(&stages.flow, site, id);
    let is_reference = matches!(binding.ty, Some(Type::Reference(_)));
    let borrows = is_reference || matches!(binding.init, Some(Expr::Reference(_)));
    match binding.declaration {
        Declaration::Parameter { passing, .. } if passing != Passing::Value => Memory::OfCaller,
        Declaration::Arm => Memory::Borrowed,
        _ if borrows => Memory::Borrowed,
        _ if moves || has_moved => Memory::MovedAway,
        _ => Memory::Own,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::analyse;

    #[test]
    fn a_number_of_a_caller_is_not_looked_at_and_its_lists_are() {
        let source = "fn f(cells: usize) -> f64 {
            let mesh = vec![0.5; cells];
            let width: f64 = read();
            let mut field = vec![1.0; cells];
            for _ in 0..9 {
                relax(&mut field, &mesh);
                field[0] *= width;
            }
            norm(&field) + norm(&mesh)
        }";
        let item: TokenStream = source.parse().expect("tokens");
        let stages = analyse("calls(relax)".parse().expect("tokens"), &item, false).expect("a plan");
        let (site, protection) = &of_sites(&stages, &item)[0];
        let class = |name: &str| {
            let at = site.variables.iter().position(|one| one.name == name);
            protection[at.expect(name)].class
        };
        assert_eq!(class("mesh"), Class::Clean);
        assert_eq!(class("width"), Class::MustBeSaved);
        assert_eq!(class("field"), Class::MustBeSaved);
    }
}
