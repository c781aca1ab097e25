//! The very end of the process, after `main` has returned: only then is it known with which exit code.
//!
//! A run whose `main` returned an error has not completed, and must be open to a restart. A restart that ended before it
//! reached its site must not end with success, whatever `main` returned.

use std::ffi::c_int;
use std::panic::{self};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, Once, OnceLock};
use std::time::Instant;

use super::again::{self, not_begun};
use super::exit_code;
use super::job::{Record, State};
use super::run::{decide, points_of};
use super::writer::Desk;
use crate::base::current::{self, Owner};
use crate::base::lock::locked;
use crate::base::report::say;
use crate::base::rollback::NotRolledBack;
use crate::base::run_id::{RunId, RunPrefix};
use crate::comm;
use crate::context::rollback::{Asked, GoesOn, Tries};
use crate::format::CheckpointId;
use crate::storage::{Mode, Store};

/// What the end of the process needs of a session, which may have closed by then.
#[derive(Debug, Default)]
pub(super) struct Ending {
    pub record: Record,
    /// Where checkpoints are on their way to the disk, and of which process: one that the program forked has no thread
    /// for it.
    desk: Mutex<Option<(u32, Arc<Desk>)>>,
    /// The program goes back in its process, and has not arrived: how the process goes on where it does not. A leaf lock.
    back: Mutex<Option<GoesOn>>,
    /// What does not change from the beginning of the session on.
    beginning: OnceLock<Beginning>,
}

/// What does not change from the beginning of a session on.
#[derive(Debug)]
pub(super) struct Beginning {
    pub run: RunId,
    /// Where standard input was, if it is a file.
    pub input: Option<u64>,
    /// When its time limit is over, if it has one.
    pub ends: Option<Instant>,
    pub quiet: bool,
    /// The store.
    pub folder: PathBuf,
}

impl Ending {
    /// Checkpoints are written here from now on.
    pub fn writes_at(&self, desk: Arc<Desk>) {
        *locked(&self.desk) = Some((std::process::id(), desk));
    }

    /// The session has opened.
    pub fn begins(&self, beginning: Beginning) {
        let _ = self.beginning.set(beginning);
    }

    /// The functions of the program are being left: where it does not come to their end, the process begins anew.
    pub fn leaves(&self, how: GoesOn) {
        *locked(&self.back) = Some(how);
        // A destructor that panics meanwhile would abort the process, and what panics on the way has found it set up already.
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if let Some(owner) = current::owner() {
                owner.begins_anew_instead("something panicked on its way");
            }
            before(info);
        }));
    }

    /// The session is that of a program that goes back in its process: where it does not arrive, the process begins anew.
    pub fn goes_back(&self, how: GoesOn) {
        *locked(&self.back) = Some(how);
        current::comes_back_now(true);
    }

    /// The walk of the restart has arrived.
    pub fn has_arrived(&self) {
        if locked(&self.back).take().is_some() {
            current::comes_back_now(false);
        }
    }

    /// Waits until the disk has what has been taken.
    fn drain(&self) {
        let desk = locked(&self.desk).take();
        if let Some((process, desk)) = desk
            && process == std::process::id()
        {
            desk.drain();
        }
    }
}

/// The process goes on with another session: what closed before has ended well.
impl Drop for Ending {
    fn drop(&mut self) {
        self.record.completed();
    }
}

impl Owner for Ending {
    fn rank(&self) -> Option<u32> {
        let member = comm::member().filter(|member| member.size > 1)?;
        Some(member.rank)
    }

    fn refused(&self, headline: &str) {
        self.record.ended(State::Refused, headline);
    }

    fn begins_anew_instead(&self, headline: &str) {
        let Some(how) = locked(&self.back).take() else {
            return;
        };
        if comm::goes_back_with().is_some() {
            say(&again::ends_the_job(headline).to_string());
            self.record.ended(State::Failed, headline);
            self.drain();
            comm::abort(comm::FAILED);
            // SAFETY: ends the process at once, before anything that unwinds half way can end it in another way.
            unsafe { libc::_exit(comm::FAILED) }
        }
        again::say_why(headline);
        self.drain();
        let error = again::as_a_new_process(&how);
        say(&not_begun(&error).to_string());
    }

    fn goes_back_with_its_process(&self, reason: &str, to: Option<u64>, visits: u64) -> NotRolledBack {
        let Some(Beginning {
            run,
            input,
            ends,
            quiet,
            folder,
        }) = self.beginning.get()
        else {
            return NotRolledBack::NoSession;
        };
        if let Some(member) = comm::goes_back_with() {
            let why = "the thread that waits for the team has not heard of it".to_owned();
            let ranks = member.size;
            return NotRolledBack::Ranks { ranks, why };
        }
        self.drain();
        let asked = Asked {
            reason,
            is_a_test: false,
            is_shown: false,
            to: to.map(CheckpointId),
            visits,
            may_be_alone: false,
        };
        let points = || match Store::open(folder, Mode::ReadOnly) {
            Ok(store) => points_of(&store, *run),
            Err(_) => Vec::new(),
        };
        let (point, is_newest) = match decide(&self.record, points, asked, *quiet) {
            Ok(decided) => decided,
            Err(why) => return why,
        };
        let how = GoesOn {
            id: point.id,
            is_newest,
            visits: point.visits,
            run: RunPrefix::from(*run),
            is_shown: false,
            rollbacks: Vec::new(),
            flips: Vec::new(),
            input: *input,
            snapshot: None,
            is_in_memory: false,
            kept: Vec::new(),
            ends: *ends,
            tries: Tries::default(),
            own_infinities: Vec::new(),
            alone: None,
        };
        let error = again::as_a_new_process(&how);
        NotRolledBack::NotBegun {
            why: error.to_string(),
        }
    }

    fn abort(&self, code: i32) {
        comm::abort(code);
    }

    fn exits(&self, status: Option<c_int>) {
        self.begins_anew_instead("the program ended on its way");
        if let Some(world) = comm::current()
            && status.is_none_or(|status| status == 0)
            && let Err(unheard) = world.wants_nothing()
        {
            say(&unheard.to_string());
            self.record.ended(State::Failed, unheard.headline());
            self.drain();
            comm::abort(comm::FAILED);
            // SAFETY: as below.
            unsafe { libc::_exit(comm::FAILED) }
        }
        self.drain();
        if current::is_stranded() {
            // SAFETY: ends the process at once. The standard library has flushed stdout before it called `exit`; handlers
            // that were registered earlier do not run, which is allowed.
            unsafe { libc::_exit(exit_code::REFUSED) }
        }
        if let Some(status) = status {
            self.record.exited(status);
        }
    }
}

/// Whether [`Ending::exits`] is called with the exit code.
pub(super) use system::HEARS_STATUS;

/// Has the session that is open then, or was the last, hear of the exit of the process. Without it only the exit code of a
/// run that failed is not noticed.
pub(super) fn watch() {
    /// The process exits once, whatever sessions it has.
    static WATCH: Once = Once::new();
    WATCH.call_once(system::register);
}

fn ended(status: Option<c_int>) {
    if let Some(owner) = current::owner() {
        owner.exits(status);
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod system {
    use std::ffi::{c_int, c_void};

    pub(in super::super) const HEARS_STATUS: bool = true;

    unsafe extern "C" {
        fn on_exit(handler: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
    }

    extern "C" fn handler(status: c_int, _: *mut c_void) {
        // As much of it as the parent is told.
        super::ended(Some(status & 0xff));
    }

    pub(super) fn register() {
        // SAFETY: glibc's function of that name and signature; the handler is a function of this program, takes no
        // argument and does not unwind.
        unsafe { on_exit(handler, std::ptr::null_mut()) };
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod system {
    pub(in super::super) const HEARS_STATUS: bool = false;

    extern "C" fn handler() {
        super::ended(None);
    }

    pub(super) fn register() {
        // SAFETY: the handler is a function of this program and does not unwind.
        unsafe { libc::atexit(handler) };
    }
}
