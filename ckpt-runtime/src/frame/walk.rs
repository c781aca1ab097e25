//! The walk of a restart: how frames take up their records, hand over to their callees, and arrive.

use std::any::type_name;
use std::sync::atomic::Ordering;

use super::Frame;
use super::thread::{FunctionSite, Pending, THREAD, site_plan};
use super::visit::position;
use crate::base::current;
use crate::base::report::{Fatal, exit_code, headline, leave};
use crate::base::typed::{right_program, start_anew};
use crate::context::resume::Resume;
use crate::devices::{self, NoMemory};
use crate::format::{Load, VariableInfo};
use crate::state::journal::FILES_NEEDED;
use crate::team::{self};
use crate::value::{Checkpoint, Column, Decoder, Encoder, LoadError, LoadProblem, Parts, Refill, stand_in};

impl Frame {
    /// Takes up the next record, if a restart is walking: from now on this frame walks to the record's site.
    pub(super) fn take_up(&mut self) {
        let taken = team::with_resume(|resume| resume.take_up(team::thread_number(), self.plan));
        match taken {
            Some(Ok((record, target))) => (self.record, self.target) = (record, target),
            Some(Err(fatal)) => fatal.exit(),
            None => {}
        }
    }

    /// The walk comes by a site: it ends here if this is the one, or goes on if it is a later one.
    pub(super) fn arrive(&mut self, site: u32) {
        if site < self.target {
            return;
        }
        if site > self.target {
            lost(self, "it came to a later site first").exit();
        }
        match team::arrived() {
            Ok(visits) => THREAD.with(|thread| thread.visits.store(visits, Ordering::Relaxed)),
            Err(fatal) => fatal.exit(),
        }
        self.target = 0;
    }

    /// The walk goes on in the callee of this call.
    pub(super) fn hand_over(&mut self, site: u32) -> Pending {
        if site != self.target {
            lost(self, "it came to another call first").exit();
        }
        self.target = 0;
        Pending::Walking
    }

    /// The callee of a walking call returned and was no instrumented function.
    pub(super) fn not_taken_over(&self, site: u32) -> ! {
        let place = (self.plan, site);
        let callee = team::with_resume(|resume| resume.next_function(team::thread_number())).flatten();
        let callee = callee.unwrap_or_else(|| "a function".into());
        Fatal::refused(headline!(
            "E2011: the checkpoint was taken below `{callee}`, which is not instrumented now"
        ))
        .at(position(place))
        .why("the restart called it, and it ran from its beginning instead of from the checkpoint")
        .help(format!(
            "write #[ckpt::instrument] on `{callee}` as it was, or {}",
            start_anew()
        ))
        .exit()
    }

    /// The function returned although the walk had not arrived. The program may be about to report an error of its own,
    /// such as a missing file: it goes on to its end if it can, and can go no further than to the next site.
    pub(super) fn left_before_arrival(&self) {
        if !current::is_stranded() {
            team::strand(&lost(self, LEFT));
        }
    }

    /// A call on the walk's way has returned.
    pub(super) fn walked<R>(&self, site: u32, pending: Pending) {
        if pending == Pending::Walking {
            self.not_taken_over(site);
        }
        if current::is_stranded() && !carries_an_error::<R>() {
            leave(exit_code::REFUSED);
        }
    }
}

const LEFT: &str = "the function returned before: a `return`, `?` or `break` in code that a restart executes again (such as opening a file) took another way than in the run that was checkpointed";

/// Whether a callee that returns an `R` may have ended with an error, to be handed on to `main`.
fn carries_an_error<R>() -> bool {
    let name = type_name::<R>();
    [
        "core::result::Result<",
        "core::option::Option<",
        "core::ops::control_flow::ControlFlow<",
    ]
    .iter()
    .any(|prefix| name.starts_with(prefix))
}

pub(super) fn lost(frame: &Frame, what: &str) -> Fatal {
    if let Some(refused) = devices::no_memory() {
        return no_memory(frame, &refused);
    }
    let site = site_plan((frame.plan, frame.target));
    Fatal::refused(headline!(
        "E2012: the restart did not reach the site at {}:{} in `{}`",
        frame.plan.file, site.line, frame.plan.function
    ))
    .why(what)
    .help("give the program the arguments, input files and environment of the run that was checkpointed; if they are the same, please report this as a bug of ckpt")
}

/// Memory that a device does not have.
const MEMORY_NEEDED: &str = "free memory of the device, or have the program take one that has more, and restart again: the checkpoint stays as it is";

/// An array could not be made again, and the program has given up.
fn no_memory(frame: &Frame, refused: &NoMemory) -> Fatal {
    let fatal = Fatal::refused(headline!(
        "E2449: device `{}` has no memory for an array of {} bytes",
        refused.device,
        refused.bytes
    ));
    let of = team::with_resume(|resume| {
        let saved = resume.restored.frames().get(frame.record as usize)?;
        let has_as_many = |one: &&VariableInfo| one.bytes == refused.bytes as u64;
        let has_more = |one: &&VariableInfo| {
            let is_of_std = ["alloc::", "core::", "std::"]
                .iter()
                .any(|of| one.rust_type.starts_with(of));
            one.bytes > refused.bytes as u64 && (!is_of_std || one.rust_type.contains("Buffer<"))
        };
        let named = |those: Vec<&VariableInfo>| {
            let names: Vec<String> = those.iter().map(|one| format!("`{}`", one.key)).collect();
            (!names.is_empty()).then(|| names.join(" or "))
        };
        named(saved.variables.iter().filter(has_as_many).collect()).or_else(|| {
            named(saved.variables.iter().filter(has_more).collect()).map(|names| format!("a part of {names}"))
        })
    });
    let of = of.flatten().unwrap_or_else(|| "an array".to_owned());
    fatal
        .why(format!(
            "a restart makes {of} of `{}` again: {}",
            frame.plan.function, refused.answer
        ))
        .help(MEMORY_NEEDED)
}

/// Where a value goes that is restored. All that is not in here is compiled once, and not for every type.
trait Room {
    /// Takes it; or, into another place, what it is compared with.
    fn load(&mut self, from: &mut Decoder<'_>, place: Place) -> Result<(), LoadError>;

    /// Saves what is there.
    fn save(&self, to: &mut Encoder<'_>, place: Place);
}

#[derive(Clone, Copy)]
enum Place {
    Value,
    Compared,
}

struct RoomFor<T> {
    value: Option<T>,
    compared: Option<T>,
}

impl<T: Checkpoint> Room for RoomFor<T> {
    fn load(&mut self, from: &mut Decoder<'_>, place: Place) -> Result<(), LoadError> {
        // Each `?` would be two functions more for every type.
        match (T::load(from), place) {
            (Ok(value), Place::Value) => self.value = Some(value),
            (Ok(value), Place::Compared) => self.compared = Some(value),
            (Err(error), _) => return Err(error),
        }
        Ok(())
    }

    fn save(&self, to: &mut Encoder<'_>, place: Place) {
        let there = match place {
            Place::Value => &self.value,
            Place::Compared => &self.compared,
        };
        if let Some(value) = there {
            value.save(to);
        }
    }
}

impl<T> RoomFor<T> {
    fn new() -> Self {
        RoomFor {
            value: None,
            compared: None,
        }
    }

    /// What was loaded.
    fn value(self, frame: &Frame, key: &str) -> T {
        match self.value {
            Some(value) => value,
            None => nowhere_to(frame, key).exit(),
        }
    }
}

/// Whether the next value is saved as the one that was taken.
fn is_same(room: &mut dyn Room, from: &mut Decoder<'_>) -> Result<bool, LoadError> {
    room.load(from, Place::Compared)?;
    let saved = |place| Column::of(&|to| room.save(to, place));
    Ok(saved(Place::Value) == saved(Place::Compared))
}

pub(super) fn restore<T: Checkpoint>(frame: &Frame, key: &str) -> T {
    let mut room = RoomFor::new();
    restore_into(frame, key, type_name::<T>(), &mut room);
    room.value(frame, key)
}

fn restore_into(frame: &Frame, key: &str, rust_type: &str, room: &mut dyn Room) {
    let restored = team::with_resume(|resume| {
        let refused = |error| refused_value(rust_type, resume, frame, frame.record, key, &error);
        let restored = &resume.restored;
        restored
            .load(frame.record as usize, key, &mut |from| {
                room.load(from, Place::Value)
            })
            .map_err(refused)?;
        // The team has another number of members than at the checkpoint: a value that each takes has to be that of all.
        for record in resume.alike(frame.record as usize) {
            let mut is_alike = false;
            let loaded = restored.load(record, key, &mut |from| {
                is_alike = is_same(room, from)?;
                Ok(())
            });
            loaded.map_err(refused)?;
            if !is_alike {
                return Err(each_another(frame, key));
            }
        }
        Ok(())
    });
    or_exit(restored, frame, key);
}

/// Refuses what is not compared.
fn one_for_each(resume: &Resume, frame: &Frame, key: &str) -> Result<(), Fatal> {
    match resume.alike(frame.record as usize).is_empty() {
        true => Ok(()),
        false => Err(each_another(frame, key)),
    }
}

fn each_another(frame: &Frame, key: &str) -> Fatal {
    Fatal::refused(headline!(
        "E2032: the members of a team had each another `{key}`: there have to be as many of them as at the checkpoint"
    ))
    .at(position((frame.plan, frame.target)))
    .why("at a restart with another number of threads each goes on with what all had, and the loops that they share deal\nthe rest out")
    .help("restart with as many threads as then: without CKPT_THREADS, or with that number in it")
}

pub(super) fn refill<T: Refill>(frame: &Frame, key: &str, mut value: T) -> T {
    refill_by(frame, key, type_name::<T>(), &mut |from| value.refill(from));
    value
}

fn refill_by(frame: &Frame, key: &str, rust_type: &str, refill: Load<'_>) {
    let filled = team::with_resume(|resume| {
        one_for_each(resume, frame, key)?;
        let filled = resume.restored.load(frame.record as usize, key, refill);
        filled.map_err(|error| refused_value(rust_type, resume, frame, frame.record, key, &error))
    });
    or_exit(filled, frame, key);
}

pub(super) fn refill_moved<T: Refill>(frame: &Frame, key: &str, value: T) -> T {
    match is_saved(frame, key) {
        Some(false) => value,
        _ => refill(frame, key, value),
    }
}

fn is_saved(frame: &Frame, key: &str) -> Option<bool> {
    team::with_resume(|resume| resume.variable(frame.record as usize, key).is_some())
}

pub(super) fn fill<T: Parts<How>, How>(frame: &Frame, key: &str, mut value: T) -> T {
    refill_by(frame, key, type_name::<T>(), &mut |from| value.fill(from));
    value
}

pub(super) fn fill_moved<T: Parts<How>, How>(frame: &Frame, key: &str, value: T) -> T {
    match is_saved(frame, key) {
        Some(false) => value,
        _ => fill(frame, key, value),
    }
}

pub(super) fn restore_moved<T: Checkpoint>(frame: &Frame, key: &str) -> T {
    let is_saved =
        team::with_resume(|resume| resume.variable(frame.record as usize, key).is_some()).unwrap_or(true);
    if is_saved {
        return restore(frame, key);
    }
    stand_in().unwrap_or_else(|| restore(frame, key))
}

pub(super) fn passed(frame: &Frame, key: &str) -> bool {
    let record = frame.record as usize;
    let found = team::with_resume(|resume| {
        let caller = record.checked_sub(1)?;
        let frames = resume.restored.frames();
        if frames.get(caller)?.thread != frames.get(record)?.thread {
            // What has moved into a member its region has restored, or something that stands in for it.
            return Some(team::moved_in().iter().any(|(_, moved)| *moved == key));
        }
        if resume.variable(record, key).is_none() {
            // Used up below: what the caller has passed stands in for it here as well.
            return Some(true);
        }
        let own = resume.home(record, key);
        let variables = &resume.restored.frames().get(caller)?.variables;
        Some(
            variables
                .iter()
                .any(|variable| resume.home(caller, &variable.key) == own),
        )
    });
    found.flatten().unwrap_or(false)
}

pub(super) fn argument<T: Checkpoint>(frame: &Frame, site: u32, index: u32) -> T {
    let place: FunctionSite = (frame.plan, site);
    let mut room = RoomFor::new();
    argument_into(frame, place, index, type_name::<T>(), &mut room);
    room.value(frame, ARGUMENT)
}

const ARGUMENT: &str = "an argument";

fn argument_into(frame: &Frame, place: FunctionSite, index: u32, rust_type: &str, room: &mut dyn Room) {
    let restored = team::with_resume(|resume| {
        one_for_each(resume, frame, ARGUMENT)?;
        let record = frame.record + 1;
        let loaded = resume
            .restored
            .load_parameter(record as usize, index, &mut |from| room.load(from, Place::Value));
        loaded.map_err(|error| {
            let key = resume.parameter_name(record as usize, index);
            refused_value(rust_type, resume, frame, record, &key, &error).at(position(place))
        })
    });
    or_exit(restored, frame, ARGUMENT);
}

/// Parameter `index` of this very function, from its own record.
pub(super) fn restore_parameter<T: Checkpoint>(frame: &Frame, index: u32, key: &str) -> T {
    let mut room = RoomFor::new();
    parameter_into(frame, index, key, type_name::<T>(), &mut room);
    room.value(frame, key)
}

fn parameter_into(frame: &Frame, index: u32, key: &str, rust_type: &str, room: &mut dyn Room) {
    let restored = team::with_resume(|resume| {
        one_for_each(resume, frame, key)?;
        let record = frame.record;
        let loaded = resume
            .restored
            .load_parameter(record as usize, index, &mut |from| room.load(from, Place::Value));
        loaded.map_err(|error| refused_value(rust_type, resume, frame, record, key, &error))
    });
    or_exit(restored, frame, key);
}

fn or_exit(restored: Option<Result<(), Fatal>>, frame: &Frame, key: &str) {
    match restored {
        Some(Ok(())) => {}
        Some(Err(fatal)) => fatal.exit(),
        None => nowhere_to(frame, key).exit(),
    }
}

fn nowhere_to(frame: &Frame, key: &str) -> Fatal {
    lost(
        frame,
        &format!("`{key}` was to be restored while no restart is walking; this is a bug in ckpt"),
    )
}

/// The message for a variable that the checkpoint does not hold as the program needs it.
fn refused_value(
    rust_type: &str,
    resume: &Resume,
    frame: &Frame,
    record: u32,
    key: &str,
    error: &LoadError,
) -> Fatal {
    let saved = resume.variable(record as usize, key);
    let function = resume
        .function(record as usize)
        .unwrap_or_else(|| frame.plan.function.into());
    // It has nothing to do with the variable, which is only the first to ask for its file.
    if let LoadProblem::Files { error } = &error.problem {
        return Fatal::refused(headline!("E2029: {error}")).help(FILES_NEEDED);
    }
    let fatal = Fatal::refused(headline!(
        "E2013: variable `{key}` of `{function}` cannot be restored: {error}"
    ));
    let fatal = fatal.at(format!(
        "checkpoint {} in {}",
        resume.restored.id(),
        resume.restored.path().display()
    ));
    if let LoadProblem::NoMemory { .. } = &error.problem {
        return fatal.help(MEMORY_NEEDED);
    }
    let types = match saved {
        // The value itself says what is wrong, such as a missing file, and what to do.
        Some(saved) if saved.rust_type == rust_type && error.problem.is_of_the_value() => {
            return fatal
                .why(format!(
                    "saved as `{}` (line {}), as which the program expects it",
                    saved.rust_type, saved.line
                ))
                .help(format!("do what it says, or {}", start_anew()));
        }
        Some(saved) if saved.rust_type == rust_type => format!(
            "saved as `{}` (line {}), a type that has changed under its name",
            saved.rust_type, saved.line
        ),
        Some(saved) if !saved.rust_type.is_empty() => {
            format!(
                "saved as `{}` (line {}), the program now expects `{rust_type}`",
                saved.rust_type, saved.line
            )
        }
        _ => format!("the program expects `{rust_type}`"),
    };
    fatal.why(types).help(right_program())
}
