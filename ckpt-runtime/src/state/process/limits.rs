//! Limits of resources: those that the program has changed.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};

/// A limit as a checkpoint keeps it; none is no number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Limit {
    pub name: String,
    pub current: Option<u64>,
    pub maximum: Option<u64>,
}

macro_rules! resources {
    ($($name:literal $resource:ident,)*) => {
        /// By the names that `getrlimit` has for them, behind `RLIMIT_`.
        const RESOURCES: &[(&str, Resource)] = &[$(($name, Resource::$resource)),*];
    };
}

resources! {
    "CPU" Cpu,
    "FSIZE" Fsize,
    "DATA" Data,
    "STACK" Stack,
    "CORE" Core,
    "RSS" Rss,
    "NPROC" Nproc,
    "NOFILE" Nofile,
    "MEMLOCK" Memlock,
    "AS" As,
    "LOCKS" Locks,
    "SIGPENDING" Sigpending,
    "MSGQUEUE" Msgqueue,
    "NICE" Nice,
    "RTPRIO" Rtprio,
    "RTTIME" Rttime,
}

pub(super) fn now() -> Vec<Limit> {
    RESOURCES
        .iter()
        .map(|(name, resource)| look(name, *resource))
        .collect()
}

fn look(name: &str, resource: Resource) -> Limit {
    let Rlimit { current, maximum } = getrlimit(resource);
    Limit {
        name: name.to_owned(),
        current,
        maximum,
    }
}

/// What has changed from the second of these to the third is in the first as in the third.
pub(super) fn take_over(start: &mut Vec<Limit>, before: &[Limit], after: Vec<Limit>) {
    for limit in after.into_iter().filter(|limit| !before.contains(limit)) {
        start.retain(|own| own.name != limit.name);
        start.push(limit);
    }
}

/// Those that are not what they were at the start, and those that have been changed before, as they are now.
pub(super) fn changed(start: &[Limit], now: &[Limit], before: &[Limit]) -> Vec<Limit> {
    let had = |limit: &&Limit| !start.contains(limit) || before.iter().any(|one| one.name == limit.name);
    now.iter().filter(had).cloned().collect()
}

/// The limits become what they were.
///
/// # Errors
/// The first that cannot be what it was, as it is now, and what the system says.
pub(super) fn restore(limits: &[Limit]) -> Result<(), (Limit, Limit, std::io::Error)> {
    for was in limits {
        // Another system may know others.
        let Some((name, resource)) = RESOURCES.iter().find(|(name, _)| *name == was.name) else {
            continue;
        };
        let now = look(name, *resource);
        let wanted = Rlimit {
            current: was.current,
            maximum: was.maximum,
        };
        if now != *was {
            setrlimit(*resource, wanted).map_err(|error| (was.clone(), now, error.into()))?;
        }
    }
    Ok(())
}

impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let number = |limit: Option<u64>| limit.map_or("unlimited".to_owned(), |limit| limit.to_string());
        write!(f, "{} (at most {})", number(self.current), number(self.maximum))
    }
}
