//! What happens at a site that has to look up: is the way to it sound, and is a checkpoint due?

use std::cell::Cell;
use std::sync::atomic::Ordering;

use super::registrar::Missing;
use super::thread::{FunctionSite, Lent, THREAD, Thread, UnmarkedFrame, Way, site_bit, site_plan};
use super::{Frame, Registrar};
use crate::base::current;
use crate::base::report::{Fatal, Headline, headline};
use crate::base::sorted::SortedSet;
use crate::comm;
use crate::plan::{FunctionPlan, SiteKind, SitePlan};
use crate::state::snapshot::SnapshotBuilder;
use crate::team::{self};

impl Frame {
    pub(super) fn visit(&mut self, site: u32, registrar: &dyn Fn(&mut Registrar)) {
        // Somebody has caught what unwinds, and the program has gone on to here.
        leave_if_asked();
        THREAD.with(|thread| {
            if let Err(fatal) = self.look(thread, site, registrar) {
                fatal.exit();
            }
        });
        leave_if_asked();
    }

    fn look(&mut self, thread: &Thread, site: u32, registrar: &dyn Fn(&mut Registrar)) -> Result<(), Fatal> {
        if std::thread::panicking() {
            // A destructor visits a site while the program unwinds: its functions are being left, not checkpointed.
            return Ok(());
        }
        let place = (self.plan, site);
        if !team::is_here() {
            return Err(wrong_thread(place));
        }
        if let Some(found) = thread.unmarked.get() {
            return Err(unmarked(found, place));
        }
        if team::walks() {
            return Err(too_early(place));
        }
        let kind = site_plan(place).kind;
        if matches!(kind, SiteKind::Phase | SiteKind::PhaseEnd) && team::is_member() {
            return Err(wrong_thread(place));
        }
        let world = comm::current();
        if world.as_ref().is_some_and(|world| world.is_up()) && kind == SiteKind::Chosen {
            return Err(chosen_unseen(place));
        }
        if self.fresh & site_bit(site) != 0 && self.still_fresh(site) {
            gather(thread, place, &self.activation, registrar, None)?;
            verified(thread, place);
            self.fresh &= !site_bit(site);
        }
        let world = world.filter(|_| !team::is_member());
        let mut gather = |builder| gather(thread, place, &self.activation, registrar, Some(builder));
        match kind {
            SiteKind::Phase => {
                if let Some(world) = world {
                    world.verify_quiet(thread.visits(), &|| position(place))?;
                }
                team::visit_in_phase(thread.visits(), &mut gather)
            }
            SiteKind::PhaseEnd => {
                if let Some(world) = &world {
                    world.verify_quiet(thread.visits(), &|| position(place))?;
                }
                let visits = team::end_phase(thread.visits(), &mut gather)?;
                thread.visits.store(visits, Ordering::Relaxed);
                comm::passes_site(self.plan.layout, site);
                match world {
                    Some(world) => world.verify_end_of_phase(visits, &|| position(place)),
                    None => Ok(()),
                }
            }
            _ => {
                if let Some(world) = world {
                    world.verify(thread.visits(), &|| position(place))?;
                }
                team::visit(thread.visits(), &mut gather)
            }
        }
    }
}

/// Leaves the functions of a program that goes back. What a destructor visits meanwhile is left with its caller.
fn leave_if_asked() {
    if current::rolls_back() && !std::thread::panicking() {
        super::leave();
    }
}

/// A frame at its site, and the number of its activation.
type Speaker<'a> = (FunctionSite, &'a Cell<u64>, &'a dyn Fn(&mut Registrar));

/// Lets every frame of the thread speak, from the outermost to the one at the site.
pub(super) fn gather(
    thread: &Thread,
    place: FunctionSite,
    activation: &Cell<u64>,
    registrar: &dyn Fn(&mut Registrar),
    builder: Option<SnapshotBuilder>,
) -> Result<SnapshotBuilder, Fatal> {
    thread.chain(|calls| {
        let mut gathering = Registrar::new(builder);
        team::captures().iter().for_each(|index| gathering.wants(*index));
        team::moved_in()
            .iter()
            .for_each(|(index, _)| gathering.moved_in(*index));
        let mut caller = None;
        for call in calls {
            let frame = (call.place(), call.activation(), call.registrar());
            heard(&mut gathering, caller, frame, place)?;
            caller = Some(call.place());
        }
        heard(&mut gathering, caller, (place, activation, registrar), place)?;
        Ok(gathering.finish().unwrap_or_default())
    })
}

fn heard(
    gathering: &mut Registrar,
    caller: Option<FunctionSite>,
    (frame, activation, registrar): Speaker<'_>,
    visited: FunctionSite,
) -> Result<(), Fatal> {
    gathering
        .hear(frame, activation, registrar)
        .map_err(|missing| match missing {
            Missing::Consumed { parameter } => consumed(parameter, caller, frame, visited),
            Missing::Unsaveable { key, rust_type, .. } => {
                unsaveable((key, rust_type), caller, frame, visited)
            }
        })
}

/// Remembers that every call on the way to this site is sound.
fn verified(thread: &Thread, place: FunctionSite) {
    thread.chain(|calls| {
        let mut caller = None;
        for call in calls {
            thread.verify(caller, call.place());
            call.fresh.set(false);
            caller = Some(call.place());
        }
        thread.verify(caller, place);
    });
}

/// Whether a call site is one of `plan`'s function, as far as names tell.
pub(super) fn calls(site: &SitePlan, plan: &FunctionPlan) -> bool {
    match site.kind {
        SiteKind::Call { callee } => plain_name(callee) == plan.function,
        SiteKind::CallOfHeld { functions, .. } => functions.contains(&plan.function),
        _ => false,
    }
}

/// The function's name in `self.grid.advance::<f64>`.
fn plain_name(callee: &str) -> &str {
    let path = callee.split("::<").next().unwrap_or(callee).trim();
    let name = path
        .rsplit(|c: char| !(c.is_alphanumeric() || c == '_'))
        .find(|part| !part.is_empty());
    name.unwrap_or(path)
}

pub(super) fn position((plan, site): FunctionSite) -> String {
    let site = site_plan((plan, site));
    format!(
        "{}:{}:{}, in `{}`",
        plan.file, site.line, site.column, plan.function
    )
}

fn too_early(place: FunctionSite) -> Fatal {
    Fatal::refused(headline!(
        "E2003: a site of `{}` was visited before the restart had arrived at its own",
        place.0.function
    ))
    .at(position(place))
    .why("code that a restart executes again took another way than in the run that was checkpointed")
    .help("give the program the arguments, input files and environment of the run that was checkpointed")
}

fn chosen_unseen(place: FunctionSite) -> Fatal {
    let (plan, _) = place;
    Fatal::site(headline!(
        "E2004: nobody has looked whether messages cross the site that `#[{}]` has chosen in `{}`",
        plan.attribute, plan.function
    ))
    .at(position(place))
    .why("the ranks take their checkpoints at the same visit, without a message: one that is on its way there would be\nlost or sent twice by a restart, and an attribute that sees one function cannot tell")
    .help(format!(
        "take `#[{}]` out, and `cargo ckpt run` chooses a loop that no message crosses; or write\n`ckpt::checkpoint!();` into the loop, which `cargo ckpt run` looks at; or `ckpt::checkpoint!(safe);`,\nwhere you know that none does",
        plan.attribute
    ))
}

fn wrong_thread(place: FunctionSite) -> Fatal {
    let thread = std::thread::current();
    let thread = thread
        .name()
        .map_or("an unnamed thread".into(), |name| format!("thread `{name}`"));
    Fatal::site(headline!(
        "E2005: a site of `{}` was visited on {thread}, not on the thread of `main`",
        place.0.function
    ))
    .at(position(place))
    .why("a checkpoint holds the calls of one thread; what the others do at that moment would be lost")
    .help("visit sites on the thread of `main`, or in threads that an instrumented function starts in a region and waits for: see the book's page on threads")
}

fn consumed(
    parameter: u32,
    caller: Option<FunctionSite>,
    callee: FunctionSite,
    visited: FunctionSite,
) -> Fatal {
    let (callee_plan, _) = callee;
    let at = site_plan(callee);
    let (file, line) = caller.map_or((callee_plan.file, callee_plan.line), |call| {
        (call.0.file, site_plan(call).line)
    });
    let fatal = Fatal::site(headline!(
        "E2006: argument {parameter} of `{}` ({file}:{line}) is consumed before the site at {}:{}",
        callee_plan.function,
        callee_plan.file,
        at.line
    ));
    let caller = caller.map_or("its caller", |call| call.0.function);
    fatal
        .at(position(visited))
        .why(format!(
            "a restart calls `{}` again from `{caller}` and needs the argument for that, and ckpt cannot make another value of its type",
            callee_plan.function
        ))
        .help("pass it by reference, or mark its `let` in the caller `#[ckpt(reexecute)]`")
}

fn unsaveable(
    (key, rust_type): (&str, &str),
    caller: Option<FunctionSite>,
    callee: FunctionSite,
    visited: FunctionSite,
) -> Fatal {
    let function = callee.0.function;
    let caller = caller.map_or("its caller", |call| call.0.function);
    Fatal::site(headline!("E2007: `{key}` of `{function}` cannot be saved: its type `{rust_type}` is not known to be `Checkpoint`"))
        .at(position(visited))
        .why(format!("`{caller}` lends it to `{function}`, so that only `{function}` can save it at this site"))
        .help(format!(
            "if the type is generic in `{function}`, add `ckpt::Checkpoint` to its bounds;\nif it is `dyn Trait` of a trait that is not yours, write `&mut (impl Trait + ckpt::Checkpoint)`;\nif it is yours, derive it: #[derive(ckpt::Checkpoint)]"
        ))
}

/// A site that was reached through a function which the walk of a restart would not enter.
pub(super) fn unmarked(found: UnmarkedFrame, visited: FunctionSite) -> Fatal {
    let UnmarkedFrame { plan, parent, how } = found;
    let (function, caller) = (plan.function, parent.function);
    let attribute = |of: &FunctionPlan, callee: &str| with_call(of.attribute, of, callee);
    let fatal = match how {
        Way::NotMarked => {
            Fatal::site(headline!("E2008: `{function}` was reached from `{caller}` through a call that `{caller}` does not mark"))
                .help(format!(
                    "write {} on `{caller}` ({}:{});\nif `{caller}` calls `{function}` through another function, mark the call of that one, \
                     and write #[ckpt::instrument(calls({function}))] on it",
                    attribute(parent, function), parent.file, parent.line
                ))
        }
        Way::Second(call) => Fatal::site(headline!(
            "E2009: `{function}` was reached as the second instrumented function under one marked call of `{caller}` ({}:{})",
            parent.file, call.line
        ))
        .help(format!(
            "give each its own call: take the calls apart so that `{caller}` makes one of them per statement"
        )),
        Way::Between(call) => {
            let Some(callee) = call.kind.callee() else { return Fatal::site(Headline::bug("a call without a callee; this is a bug in ckpt")) };
            let between = plain_name(callee);
            Fatal::site(headline!(
                "E2010: `{function}` was reached from `{caller}` through `{between}` ({}:{}), which is not instrumented",
                parent.file, call.line
            ))
            .help(format!(
                "write #[ckpt::instrument(calls({function}))] on `{between}`;\nif `{between}` is only another name of `{function}`, call it `{function}`"
            ))
        }
    };
    fatal.at(position(visited)).why(format!(
        "a restart could not walk from `{caller}` back to this site, and would give another result"
    ))
}

/// The attribute of a function with one more call marked.
fn with_call(attribute: &str, plan: &FunctionPlan, callee: &str) -> String {
    let others = plan.sites.iter().filter_map(|site| site.kind.callee());
    let calls: SortedSet<&str> = others.map(plain_name).chain([callee]).collect();
    format!("#[{attribute}(calls({}))]", calls.join(", "))
}

impl Lent {
    /// The plan of the call site.
    pub(super) fn site_plan(&self) -> &'static SitePlan {
        site_plan(self.place())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_callee_is_its_last_word() {
        for callee in [
            "advance",
            "sim.advance",
            "Simulation::advance",
            "self.grid.advance::<f64>",
            "<T as Solver>::advance",
        ] {
            assert_eq!(plain_name(callee), "advance");
        }
    }
}
