//! The `CKPT_*` variables: which there are, and what is in one.

use std::env;
use std::ffi::OsString;
use std::str::FromStr;
use std::time::Duration;

use super::words::{Word, wrong};
use super::{ConfigError, Fault};
use crate::base::fault::{Flip, Pauses, RollbackFault, Struck};
use crate::base::trust;
use crate::handles::moved;

/// What stands in front of the visits at which a test wants the program to go back.
pub(in super::super) const ROLLBACK_FAULT: &str = "rollback:";

/// What stands in front of the visits at which a test turns bits.
const FLIP_FAULT: &str = "flip:";

/// What a wish for pauses begins with.
const PAUSE_FAULT: &str = "pause:";

/// Variables that ask for a session; the others only modify one.
pub(super) const ASKING: &[&str] = &[
    "CKPT_DIR",
    "CKPT_EVERY",
    "CKPT_INTERVAL",
    "CKPT_KEEP",
    "CKPT_RESTART",
    "CKPT_TIME_LIMIT",
];

/// Variables that modify a session.
const MODIFYING: &[&str] = &[
    "CKPT_BACKGROUND",
    "CKPT_FALLBACK",
    "CKPT_MEMORY",
    "CKPT_SNAPSHOT_EVERY",
    "CKPT_SNAPSHOT_INTERVAL",
    "CKPT_SNAPSHOTS",
    "CKPT_ROLLBACK_IN_PROCESS",
    "CKPT_DETECT",
    "CKPT_WHEN_BUSY",
    "CKPT_TEAM_WAIT",
    "CKPT_THREADS",
    "CKPT_COMPRESSION",
    "CKPT_FULL_EVERY",
    "CKPT_WATCH_PAGES",
    "CKPT_COPY_ON_WRITE",
    "CKPT_DIRECT",
    "CKPT_MTBF",
    "CKPT_FORCE_LAYOUT",
    "CKPT_QUIET",
    "CKPT_FAULT",
    "CKPT_MEASURE",
    "CKPT_CHECK_SAFE_POINTS",
    "CKPT_CHECK_UNWRITTEN",
    "CKPT_COUNT_MPI_CALLS",
    "CKPT_MAP",
    "CKPT_PLAN",
    "CKPT_PROFILE",
    "CKPT_RUN",
    "CKPT_ARGS_CHANGED",
    "CKPT_OTHER_RUNS",
    "CKPT_RESTART_COMMAND",
    "CKPT_TAKEN_BY",
    "CKPT_SKIP_DEEP_SITES",
    "CKPT_STRICT",
];

/// Variables that say something of the machine, whatever session there is.
const OF_THE_MACHINE: &[&str] = &["CKPT_LOG", "CKPT_TRUST", "CKPT_RUNTIME_PATH", "CKPT_MOST_ROUNDS"];

/// The variables that ask for a session or modify one: children of its process inherit them, for whom they are not meant.
pub fn variables_of_a_session() -> impl Iterator<Item = &'static str> {
    ASKING.iter().chain(MODIFYING).copied()
}

/// Variables that look as if they were meant for ckpt, and are not known to it.
pub fn unknown_variables() -> Vec<String> {
    let names = env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned());
    let ours = names.filter(|name| name.starts_with("CKPT_"));
    let is_known = |name: &str| {
        [ASKING, MODIFYING, OF_THE_MACHINE]
            .iter()
            .any(|all| all.contains(&name))
    };
    ours.filter(|name| !is_known(name)).collect()
}

/// The `CKPT_*` variables. An empty one counts as absent, so that scripts can switch one off.
pub(super) struct Environment<'a>(pub &'a dyn Fn(&str) -> Option<OsString>);

impl Environment<'_> {
    pub fn get(&self, name: &str) -> Option<OsString> {
        (self.0)(name).filter(|value| !value.is_empty())
    }

    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub fn parse<T: FromStr>(&self, name: &str, expected: &'static str) -> Result<Option<T>, ConfigError> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        let text = value.to_string_lossy();
        let parsed = text.trim().parse().map(Some);
        parsed.map_err(|_| wrong(name, &text, expected))
    }

    pub fn word<T>(&self, name: &str, word: &Word<T>) -> Result<Option<T>, ConfigError> {
        let value = self.get(name);
        let read = value.map(|value| word.of(name, &value.to_string_lossy()));
        read.transpose()
    }

    /// What the file has under the key, or the variable of that name; neither may be wrong.
    pub fn overrules<T>(
        &self,
        key: &str,
        in_file: Option<String>,
        word: &Word<T>,
    ) -> Result<Option<T>, ConfigError> {
        let in_file = in_file.map(|text| word.in_file(key, &text)).transpose()?;
        let variable = format!("CKPT_{}", key.to_uppercase().replace('-', "_"));
        Ok(self.word(&variable, word)?.or(in_file))
    }

    /// Whether what is said about paths that have moved makes sense; who restores one reads it.
    pub fn moved_paths(&self) -> Result<(), ConfigError> {
        const EXPECTED: &str = "OLD=NEW with two absolute paths, one pair a line";
        match self.get(moved::VARIABLE) {
            Some(text) if moved::read(&text).is_none() => {
                Err(wrong(moved::VARIABLE, &text.to_string_lossy(), EXPECTED))
            }
            _ => Ok(()),
        }
    }

    /// Whether what is said about whose stores are taken makes sense; who opens one reads it.
    pub fn trusted_users(&self) -> Result<(), ConfigError> {
        match self.get(trust::VARIABLE) {
            Some(text) if trust::read(&text.to_string_lossy()).is_none() => Err(wrong(
                trust::VARIABLE,
                &text.to_string_lossy(),
                "numbers of users, separated by commas (`id -u NAME` says which)",
            )),
            _ => Ok(()),
        }
    }

    /// `CKPT_FAULT=rollback:N,M`: goes back at visit N, and when it comes to visit M after that; `N@R`: rank R alone wants that.
    pub fn rollbacks(&self) -> Result<Vec<RollbackFault>, ConfigError> {
        let value = self.get("CKPT_FAULT").unwrap_or_default();
        let text = value.to_string_lossy();
        let Some(visits) = text.strip_prefix(ROLLBACK_FAULT) else {
            return Ok(Vec::new());
        };
        let rollbacks: Result<Vec<RollbackFault>, _> = visits.split(',').map(str::parse).collect();
        rollbacks.map_err(|_| {
            wrong(
                "CKPT_FAULT",
                &text,
                "rollback:N or rollback:N,M,.. with site visits, and @R for rank R",
            )
        })
    }

    /// `CKPT_FAULT=flip:N:S`: a bit of a variable is turned behind visit N, which one by the number S; `flip:N:S:snapshot`: one of
    /// the newest snapshot; `flip:N:S:repair`: one of what is put right at visit N; `flip:N:S:page`: a page of a list of a caller's is lost,
    /// and the machine says so; `..@R`: on rank R only. Several of them with commas between.
    pub fn flips(&self) -> Result<Vec<Flip>, ConfigError> {
        let value = self.get("CKPT_FAULT").unwrap_or_default();
        let text = value.to_string_lossy();
        let Some(list) = text.strip_prefix(FLIP_FAULT) else {
            return Ok(Vec::new());
        };
        let flip = |item: &str| {
            let (item, rank) = match item.split_once('@') {
                Some((item, rank)) => (item, Some(rank.parse().ok()?)),
                None => (item, None),
            };
            let mut parts = item.split(':');
            let (visit, seed) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
            let of = match (parts.next(), parts.next()) {
                (None, None) => Struck::Variable,
                (Some("snapshot"), None) => Struck::Snapshot,
                (Some("repair"), None) => Struck::Repaired,
                (Some("page"), None) => Struck::Page,
                _ => return None,
            };
            Some(Flip {
                visit,
                seed,
                of,
                rank,
            })
        };
        let flips: Option<Vec<Flip>> = list.split(',').map(flip).collect();
        flips.ok_or_else(|| {
            wrong(
                "CKPT_FAULT",
                &text,
                "flip:N:S, flip:N:S:snapshot, flip:N:S:repair or flip:N:S:page with a site visit N and a number S, and @R for rank R, several with commas between",
            )
        })
    }

    /// `CKPT_FAULT=pause:N:M`: at every Nth site visit the program stands still for M microseconds.
    pub fn pauses(&self) -> Result<Option<Pauses>, ConfigError> {
        let value = self.get("CKPT_FAULT").unwrap_or_default();
        let text = value.to_string_lossy();
        let Some(wish) = text.strip_prefix(PAUSE_FAULT) else {
            return Ok(None);
        };
        let parsed = wish.split_once(':').and_then(|(every, each)| {
            Some(Pauses {
                every: every.parse().ok()?,
                each: Duration::from_micros(each.parse().ok()?),
            })
        });
        parsed.map(Some).ok_or_else(|| {
            wrong(
                "CKPT_FAULT",
                &text,
                "pause:N:M, to stand still for M microseconds at every Nth site visit",
            )
        })
    }

    /// `CKPT_FAULT=visit:N`, or `visit:N@R` for rank R; the faults of a commit are the store's.
    pub fn fault_visit(&self) -> Result<Option<Fault>, ConfigError> {
        let Some(value) = self.get("CKPT_FAULT") else {
            return Ok(None);
        };
        let text = value.to_string_lossy();
        let Some(number) = text.strip_prefix("visit:") else {
            return Ok(None);
        };
        let (visit, rank) = match number.split_once('@') {
            Some((visit, rank)) => (visit.parse(), rank.parse().map(Some)),
            None => (number.parse(), Ok(None)),
        };
        match (visit, rank) {
            (Ok(visit), Ok(rank)) => Ok(Some(Fault { visit, rank })),
            _ => Err(wrong(
                "CKPT_FAULT",
                &text,
                "visit:N with N a site visit, or visit:N@R for rank R",
            )),
        }
    }
}
