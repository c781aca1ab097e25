//! Failures of single calls: which errors a call can have, and a watcher that makes the call of a number fail.

use std::path::{Path, PathBuf};

use crate::tracer::{Action, Call, Kind, Tracee, Watcher};

/// How a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Failure {
    /// With this error.
    Error(Errno),
    /// It does less than was asked for.
    Short,
    /// The program is killed before it.
    Kill,
}

/// The errors that are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "they are called so")]
pub enum Errno {
    EIO,
    ENOSPC,
    EDQUOT,
    EROFS,
    EACCES,
    EMFILE,
    ENOMEM,
    ENOLCK,
    EINTR,
}

impl Errno {
    fn number(self) -> i32 {
        match self {
            Errno::EIO => libc::EIO,
            Errno::ENOSPC => libc::ENOSPC,
            Errno::EDQUOT => libc::EDQUOT,
            Errno::EROFS => libc::EROFS,
            Errno::EACCES => libc::EACCES,
            Errno::EMFILE => libc::EMFILE,
            Errno::ENOMEM => libc::ENOMEM,
            Errno::ENOLCK => libc::ENOLCK,
            Errno::EINTR => libc::EINTR,
        }
    }
}

impl Failure {
    /// All, in the order in which they are counted.
    pub const ALL: [Failure; 11] = [
        Failure::Error(Errno::EIO),
        Failure::Error(Errno::ENOSPC),
        Failure::Error(Errno::EDQUOT),
        Failure::Error(Errno::EROFS),
        Failure::Error(Errno::EACCES),
        Failure::Error(Errno::EMFILE),
        Failure::Error(Errno::ENOMEM),
        Failure::Error(Errno::ENOLCK),
        Failure::Error(Errno::EINTR),
        Failure::Short,
        Failure::Kill,
    ];

    /// What it is called in tables.
    pub fn name(self) -> String {
        match self {
            Failure::Error(errno) => format!("{errno:?}"),
            Failure::Short => "short".to_owned(),
            Failure::Kill => "kill".to_owned(),
        }
    }

    /// Whether a call can fail so.
    pub fn fits(self, call: &Call) -> bool {
        match self {
            Failure::Kill => true,
            Failure::Short => call.length_at().is_some_and(|at| call.arguments[at] > 1),
            // Nothing was written to it, and std takes for granted that this cannot fail.
            Failure::Error(_) if call.kind == Kind::Close && call.is_folder => false,
            Failure::Error(_) => self.may_fit(call.kind),
        }
    }

    /// Whether some calls of a kind can fail so.
    fn may_fit(self, kind: Kind) -> bool {
        use Errno::{EACCES, EDQUOT, EINTR, EIO, EMFILE, ENOLCK, ENOMEM, ENOSPC, EROFS};
        let errno = match self {
            Failure::Kill => return true,
            Failure::Short => return matches!(kind, Kind::Read | Kind::Write | Kind::Copy),
            Failure::Error(errno) => errno,
        };
        let possible: &[Errno] = match kind {
            Kind::Open { creates: true, .. } => &[EIO, ENOSPC, EDQUOT, EROFS, EACCES, EMFILE, EINTR],
            Kind::Open { writes: true, .. } => &[EIO, EROFS, EACCES, EMFILE, EINTR],
            Kind::Open { .. } => &[EIO, EACCES, EMFILE, EINTR],
            Kind::Read => &[EIO, EINTR],
            Kind::Write => &[EIO, ENOSPC, EDQUOT, EINTR],
            Kind::Sync => &[EIO, ENOSPC, EDQUOT, EINTR],
            Kind::Rename | Kind::Link | Kind::MakeFolder => &[EIO, ENOSPC, EDQUOT, EROFS, EACCES],
            Kind::Unlink => &[EIO, EROFS, EACCES],
            Kind::Truncate | Kind::Allocate => &[EIO, ENOSPC, EDQUOT, EINTR],
            Kind::Look => &[EIO, EACCES, ENOMEM],
            Kind::List => &[EIO],
            Kind::Seek => &[EIO],
            Kind::Map => &[ENOMEM, EACCES],
            Kind::Lock => &[EINTR, EIO, ENOLCK],
            Kind::Duplicate => &[EMFILE],
            Kind::Copy => &[EIO, ENOSPC, EDQUOT],
            Kind::Close => &[EIO, ENOSPC, EDQUOT, EINTR],
            Kind::Rights => &[EIO, EROFS, EACCES],
        };
        possible.contains(&errno)
    }
}

/// How often a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lasts {
    /// Once.
    Once,
    /// From then on, every call that can.
    On,
}

/// Whose files are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// What happens in the store.
    Store,
    /// The program's own files.
    Own,
    /// Both.
    Both,
}

/// A call that is made to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Whose.
    pub scope: Scope,
    /// Which of those that can fail so, from 0.
    pub nth: usize,
    /// How.
    pub failure: Failure,
    /// How often.
    pub lasts: Lasts,
}

/// An interrupted call is tried again by everyone: not for ever.
const INTERRUPTIONS: usize = 4;

/// Makes calls fail as planned. Nothing is brought to the disk: nobody cuts the power of this one.
#[derive(Debug)]
pub struct Injector {
    folder: PathBuf,
    store: PathBuf,
    plan: Option<Plan>,
    seen: usize,
    failed: usize,
    /// What failed first, and its file.
    pub hit: Option<(Kind, PathBuf)>,
    /// All calls that could be made to fail, where there is no plan.
    pub calls: Vec<(Call, bool)>,
}

impl Injector {
    /// For a program that works in `folder` and has its store in `store`.
    pub fn new(folder: &Path, store: &Path, plan: Option<Plan>) -> Injector {
        Injector {
            folder: folder.to_owned(),
            store: store.to_owned(),
            plan,
            seen: 0,
            failed: 0,
            hit: None,
            calls: Vec::new(),
        }
    }

    fn fails(&mut self, plan: Plan, call: &Call) -> bool {
        if !plan.failure.fits(call) {
            return false;
        }
        let nth = self.seen;
        self.seen += 1;
        let now = match plan.lasts {
            Lasts::Once => nth == plan.nth,
            Lasts::On if plan.failure == Failure::Error(Errno::EINTR) => {
                (plan.nth..plan.nth + INTERRUPTIONS).contains(&nth)
            }
            Lasts::On => nth >= plan.nth,
        };
        if now {
            self.failed += 1;
            let path = call.path.clone().unwrap_or_default();
            self.hit.get_or_insert((call.kind, path));
        }
        now
    }
}

impl Watcher for Injector {
    fn hears(&self, kind: Kind) -> bool {
        kind == Kind::Sync || self.plan.is_none_or(|plan| plan.failure.may_fit(kind))
    }

    fn call(&mut self, call: &Call, _: &Tracee) -> Action {
        if call.is_below(&self.folder) {
            let in_store = call.is_below(&self.store);
            match self.plan {
                None => self.calls.push((call.clone(), in_store)),
                Some(plan) => {
                    let is_meant = match plan.scope {
                        Scope::Store => in_store,
                        Scope::Own => !in_store,
                        Scope::Both => true,
                    };
                    if is_meant && self.fails(plan, call) {
                        return match plan.failure {
                            Failure::Error(errno) if call.kind == Kind::Close => {
                                Action::FailAfter(errno.number())
                            }
                            Failure::Error(errno) => Action::Fail(errno.number()),
                            Failure::Kill => Action::Kill,
                            Failure::Short => {
                                let length = call.length_at().map_or(0, |at| call.arguments[at]);
                                Action::Shorten(length / 2)
                            }
                        };
                    }
                }
            }
        }
        match call.kind {
            Kind::Sync => Action::Fail(0),
            _ => Action::Go,
        }
    }
}

/// Makes nothing fail, and brings nothing to the disk.
#[derive(Debug)]
pub struct Unharmed;

impl Watcher for Unharmed {
    fn hears(&self, kind: Kind) -> bool {
        kind == Kind::Sync
    }

    fn call(&mut self, call: &Call, _: &Tracee) -> Action {
        match call.kind {
            Kind::Sync => Action::Fail(0),
            _ => Action::Go,
        }
    }
}
