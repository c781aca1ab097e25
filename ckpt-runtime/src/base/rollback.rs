//! Why a program cannot go back to a checkpoint.

/// Why the program cannot go back to a checkpoint. Nothing has changed: it can go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotRolledBack {
    /// No session is open, or one by hand.
    #[error("E2380: there is no session of `#[ckpt::main]` to go back in")]
    NoSession,
    /// This process was forked from the one that has the session.
    #[error("E2381: this process was forked from the one that has the session")]
    Forked,
    /// The thread is unwinding already.
    #[error("E2382: a rollback was asked for in a destructor while the thread unwinds")]
    Unwinding,
    /// A restart is on its way to its site.
    #[error("E2383: a rollback was asked for on a restart's way to its site")]
    Restarting,
    /// The thread is neither that of `main` nor a member of a team.
    #[error("E2384: a rollback was asked for on a thread that no checkpoint holds")]
    OtherThread,
    /// A checkpoint is being taken.
    #[error("E2385: a rollback was asked for while a checkpoint is being taken")]
    Busy,
    /// The program has several processes, and these cannot.
    #[error("E2386: a program of {} cannot go back in the job: {why}", counted(*.ranks))]
    Ranks {
        /// How many.
        ranks: u32,
        /// Why.
        why: String,
    },
    /// The program has several processes, which go back together: not here, but at the site where all know of it.
    #[error("E2393: the ranks go back at a site to which all of them come: this one has to go on to it")]
    Later,
    /// The run has no checkpoint yet, or not that one.
    #[error("E2387: {} to go back to", asked_for(*.id))]
    NoCheckpoint {
        /// The one that was asked for.
        id: Option<u64>,
    },
    /// The program has gone back several times and came no further.
    #[error("E2388: the program has gone back {times} times and came no further than to site visit {visits}")]
    NoProgress {
        /// How often.
        times: u32,
        /// How far it came.
        visits: u64,
    },
    /// The process is in a state that cannot be brought back.
    #[error("E2390: {what}")]
    Obstacle {
        /// Which.
        what: String,
    },
    /// The process could not begin anew.
    #[error("E2389: the process could not begin anew: {why}")]
    NotBegun {
        /// What the system says.
        why: String,
    },
}

fn counted(ranks: u32) -> String {
    match ranks {
        1 => "1 rank".to_owned(),
        several => format!("{several} ranks"),
    }
}

fn asked_for(id: Option<u64>) -> String {
    match id {
        Some(id) => format!("the run has no checkpoint {id}"),
        None => "the run has no checkpoint yet".to_owned(),
    }
}
