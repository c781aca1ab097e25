//! The walk of a restart: how frames take up their records, hand over to their callees, and arrive.

use std::any::type_name;
use std::sync::atomic::Ordering;

use super::Frame;
use super::thread::{Pending, Place, THREAD, site_plan};
use super::visit::position;
use crate::session::exit::{Fatal, exit_code, leave};
use crate::session::resume::Resume;
use crate::session::{active, at_exit};
use crate::value::{Checkpoint, Column, LoadError, Refill, stand_in};

impl Frame {
    /// Takes up the next record, if a restart is walking: from now on this frame walks to the record's site.
    pub(super) fn take_up(&mut self) {
        let taken = active::with_resume(|resume| resume.take_up(self.plan));
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
        match active::arrived() {
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
        let callee = active::with_resume(|resume| resume.next_function()).flatten();
        let callee = callee.unwrap_or_else(|| "a function".into());
        Fatal::refused(format!(
            "E2011: the checkpoint was taken below `{callee}`, which is not instrumented now"
        ))
        .at(position(place))
        .why("the restart called it, and it ran from its beginning instead of from the checkpoint")
        .help(format!(
            "write #[ckpt::instrument] on `{callee}` as it was, or start anew without CKPT_RESTART"
        ))
        .exit()
    }

    /// The function returned although the walk had not arrived. The program may be about to report an error of its own,
    /// such as a missing file: it goes on to its end if it can, and can go no further than to the next site.
    pub(super) fn left_before_arrival(&self) {
        if !at_exit::stranded() {
            active::strand(&lost(self, LEFT));
        }
    }

    /// A call on the walk's way has returned.
    pub(super) fn walked<R>(&self, site: u32, pending: Pending) {
        if pending == Pending::Walking {
            self.not_taken_over(site);
        }
        if at_exit::stranded() && !carries_an_error::<R>() {
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
    let site = site_plan((frame.plan, frame.target));
    Fatal::refused(format!(
        "E2012: the restart did not reach the site at {}:{} in `{}`",
        frame.plan.file, site.line, frame.plan.function
    ))
    .why(what)
    .help("give the program the arguments, input files and environment of the run that was checkpointed; if they are the same, please report this as a bug of ckpt")
}

pub(super) fn restore<T: Checkpoint>(frame: &Frame, key: &str) -> T {
    let restored = active::with_resume(|resume| {
        let value = resume.restored.decode::<T>(frame.record as usize, key);
        let value = value.map_err(|error| refused_value::<T>(resume, frame, frame.record, key, &error))?;
        same_on_all(resume, frame, key, &value)?;
        Ok(value)
    });
    value_or_exit(restored, frame, key)
}

/// The team has another number of members than at the checkpoint: a value that each takes has to be that of all.
fn same_on_all<T: Checkpoint>(resume: &Resume, frame: &Frame, key: &str, value: &T) -> Result<(), Fatal> {
    let column = |value: &T| Column::of(|to| value.save(to));
    for record in resume.alike(frame.record as usize) {
        let other = resume.restored.decode::<T>(record, key);
        let other = other.map_err(|error| refused_value::<T>(resume, frame, frame.record, key, &error))?;
        if column(&other) != column(value) {
            return Err(each_another(frame, key));
        }
    }
    Ok(())
}

/// Refuses what is not compared.
fn one_for_each(resume: &Resume, frame: &Frame, key: &str) -> Result<(), Fatal> {
    match resume.alike(frame.record as usize).is_empty() {
        true => Ok(()),
        false => Err(each_another(frame, key)),
    }
}

fn each_another(frame: &Frame, key: &str) -> Fatal {
    Fatal::refused(format!(
        "E2032: the members of a team had each another `{key}`: there have to be as many of them as at the checkpoint"
    ))
    .at(position((frame.plan, frame.target)))
    .why("at a restart with another number of threads each goes on with what all had, and the loops that they share deal\nthe rest out")
    .help("restart with as many threads as then: without CKPT_THREADS, or with that number in it")
}

pub(super) fn refill<T: Refill>(frame: &Frame, key: &str, mut value: T) -> T {
    let filled = active::with_resume(|resume| {
        one_for_each(resume, frame, key)?;
        let filled = resume.restored.refill(frame.record as usize, key, &mut value);
        filled.map_err(|error| refused_value::<T>(resume, frame, frame.record, key, &error))
    });
    let () = value_or_exit(filled, frame, key);
    value
}

pub(super) fn refill_moved<T: Refill>(frame: &Frame, key: &str, value: T) -> T {
    let is_saved = active::with_resume(|resume| resume.variable(frame.record as usize, key).is_some());
    match is_saved {
        Some(false) => value,
        _ => refill(frame, key, value),
    }
}

pub(super) fn restore_moved<T: Checkpoint>(frame: &Frame, key: &str) -> T {
    let is_saved =
        active::with_resume(|resume| resume.variable(frame.record as usize, key).is_some()).unwrap_or(true);
    if is_saved {
        return restore(frame, key);
    }
    stand_in().unwrap_or_else(|| restore(frame, key))
}

pub(super) fn passed(frame: &Frame, key: &str) -> bool {
    let record = frame.record as usize;
    let found = active::with_resume(|resume| {
        let caller = record.checked_sub(1)?;
        let frames = resume.restored.frames();
        if frames.get(caller)?.thread != frames.get(record)?.thread {
            return Some(false);
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
    let place: Place = (frame.plan, site);
    let restored = active::with_resume(|resume| {
        one_for_each(resume, frame, "an argument")?;
        let value = resume.restored.parameter::<T>(frame.record as usize + 1, index);
        value.map_err(|error| {
            let key = resume.parameter_name(frame.record as usize + 1, index);
            refused_value::<T>(resume, frame, frame.record + 1, &key, &error).at(position(place))
        })
    });
    value_or_exit(restored, frame, "an argument")
}

/// Parameter `index` of this very function, from its own record.
pub(super) fn restore_parameter<T: Checkpoint>(frame: &Frame, index: u32, key: &str) -> T {
    let restored = active::with_resume(|resume| {
        one_for_each(resume, frame, key)?;
        let value = resume.restored.parameter::<T>(frame.record as usize, index);
        value.map_err(|error| refused_value::<T>(resume, frame, frame.record, key, &error))
    });
    value_or_exit(restored, frame, key)
}

fn value_or_exit<T>(restored: Option<Result<T, Fatal>>, frame: &Frame, key: &str) -> T {
    match restored {
        Some(Ok(value)) => value,
        Some(Err(fatal)) => fatal.exit(),
        None => lost(
            frame,
            &format!("`{key}` was to be restored while no restart is walking; this is a bug in ckpt"),
        )
        .exit(),
    }
}

/// The message for a variable that the checkpoint does not hold as the program needs it.
fn refused_value<T>(resume: &Resume, frame: &Frame, record: u32, key: &str, error: &LoadError) -> Fatal {
    let saved = resume.variable(record as usize, key);
    let function = resume
        .function(record as usize)
        .unwrap_or_else(|| frame.plan.function.into());
    let fatal = Fatal::refused(format!(
        "E2013: variable `{key}` of `{function}` cannot be restored: {error}"
    ));
    let fatal = fatal.at(format!(
        "checkpoint {} in {}",
        resume.restored.id(),
        resume.restored.path().display()
    ));
    let types = match saved {
        Some(saved) if saved.rust_type == type_name::<T>() => format!(
            "saved as `{}` (line {}), a type that has changed under its name",
            saved.rust_type, saved.line
        ),
        Some(saved) if !saved.rust_type.is_empty() => {
            format!(
                "saved as `{}` (line {}), the program now expects `{}`",
                saved.rust_type,
                saved.line,
                type_name::<T>()
            )
        }
        _ => format!("the program expects `{}`", type_name::<T>()),
    };
    fatal
        .why(types)
        .help("restart with the program that wrote the checkpoint, or start anew without CKPT_RESTART")
}
