//! What a run's `events.log` tells, as the book describes it under *File format*.

use serde::Deserialize;

/// A line of it.
#[derive(Deserialize)]
pub struct Event {
    /// Seconds since 1970.
    pub at: f64,
    #[serde(flatten)]
    pub what: What,
}

#[derive(Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum What {
    Start {
        pid: u32,
    },
    Checkpoint(Taken),
    Resume(Resumed),
    End {
        visits: u64,
    },
    #[serde(other)]
    Other,
}

/// A checkpoint; times are in seconds.
#[derive(Clone, Copy, Deserialize)]
pub struct Taken {
    /// How long the program stood still.
    pub waited: f64,
    /// The size of the state.
    pub bytes: u64,
    /// The size of the file.
    pub file: u64,
    pub parts: Parts,
}

/// Where the time of a checkpoint went.
#[derive(Clone, Copy, Deserialize)]
pub struct Parts {
    pub agreed: f64,
    pub copied: f64,
    pub written: f64,
    pub synced: f64,
}

/// A process has come to the site of the checkpoint that it goes on from.
#[derive(Clone, Copy, Deserialize)]
pub struct Resumed {
    pub read: f64,
    pub checked: f64,
    pub walked: f64,
}
