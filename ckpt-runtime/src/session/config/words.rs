//! Settings that are words, wherever they stand.

use std::str::FromStr;
use std::time::Duration;

use super::super::run::Detectors;
use super::{CONFIG_FILE, ConfigError, Interval, Restart};
use crate::format::{CheckpointId, Compression, Direct};
use crate::frame::DeepCalls;
use crate::state::journal::OtherRuns;
use crate::storage::Keep;

/// A kind of word: how it is read, and what is said to be expected where it cannot be.
pub(super) struct Word<T> {
    read: fn(&str) -> Option<T>,
    expected: &'static str,
}

impl<T> Word<T> {
    pub fn of(&self, setting: &str, text: &str) -> Result<T, ConfigError> {
        (self.read)(text).ok_or_else(|| wrong(setting, text, self.expected))
    }

    pub fn in_file(&self, key: &str, text: &str) -> Result<T, ConfigError> {
        self.of(&format!("`{key}` in {CONFIG_FILE}"), text)
    }
}

pub(super) fn wrong(setting: &str, value: &str, expected: &'static str) -> ConfigError {
    ConfigError::Value {
        setting: setting.into(),
        value: value.into(),
        expected,
    }
}

impl FromStr for Restart {
    type Err = ();

    fn from_str(text: &str) -> Result<Restart, ()> {
        if text == "latest" {
            Ok(Restart::Latest)
        } else {
            text.parse().map(CheckpointId).map(Restart::Id).map_err(drop)
        }
    }
}

pub(super) const KEEP: Word<Keep> = Word {
    read: |text| match text {
        "all" => Some(Keep::All),
        count => count.parse().ok().filter(|&count| count > 0).map(Keep::Last),
    },
    expected: "a number of checkpoints, 1 or more, or `all`",
};

pub(super) const BYTES: Word<u64> = Word {
    read: |text| {
        let text = text.trim();
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let factor = match unit.trim() {
            "KiB" => 1 << 10,
            "MiB" => 1 << 20,
            "GiB" => 1 << 30,
            _ => return None,
        };
        number.parse::<u64>().ok()?.checked_mul(factor)
    },
    expected: "a number of KiB, MiB or GiB, such as 512MiB",
};

pub(super) const FLAG: Word<bool> = Word {
    read: |text| match text.trim() {
        "1" | "true" | "yes" => Some(true),
        "0" | "false" | "no" => Some(false),
        _ => None,
    },
    expected: "1 or 0",
};

pub(super) const DEEP_CALLS: Word<DeepCalls> = Word {
    read: |text| match (FLAG.read)(text) {
        Some(skips) => Some(DeepCalls::of_setting(skips)),
        None => {
            let depth = text.trim().strip_prefix("from:")?;
            depth.parse().ok().map(DeepCalls::From)
        }
    },
    expected: "1 or 0, or for tests `from:2` and other depths",
};

pub(super) const DETECT: Word<Detectors> = Word {
    read: |text| {
        let mut detectors = Detectors::default();
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            match word {
                "nan" => detectors.not_finite = true,
                "unchanged" => detectors.unchanged = true,
                "machine-check" => detectors.machine_check = true,
                _ => return None,
            }
        }
        Some(detectors)
    },
    expected: "`nan`, `unchanged`, `machine-check`, or several of them with commas between",
};

pub(super) const WHEN_BUSY: Word<bool> = Word {
    read: |text| match text.trim() {
        "wait" => Some(false),
        "skip" => Some(true),
        _ => None,
    },
    expected: "`wait` or `skip`",
};

pub(super) const OTHER_RUNS: Word<OtherRuns> = Word {
    read: |text| match text.trim() {
        "keep" => Some(OtherRuns::Keep),
        "undo" => Some(OtherRuns::Undo),
        _ => None,
    },
    expected: "`keep` or `undo`",
};

pub(super) const COMPRESSION: Word<Option<Compression>> = Word {
    read: |text| match text.trim() {
        "off" => Some(None),
        "deflate" => Some(Some(Compression::Deflate)),
        "lz4" => Some(Some(Compression::Lz4)),
        "zstd" => Some(Some(Compression::Zstd)),
        _ => None,
    },
    expected: "`off`, `deflate`, `lz4` or `zstd`",
};

pub(super) const DIRECT: Word<Direct> = Word {
    read: |text| match text.trim() {
        "auto" => Some(Direct::Auto),
        "on" => Some(Direct::On),
        "off" => Some(Direct::Off),
        _ => None,
    },
    expected: "`auto`, `on` or `off`",
};

pub(super) const INTERVAL: Word<Interval> = Word {
    read: |text| match text.trim() {
        "auto" => Some(Interval::Auto),
        time => duration(time).map(Interval::Every),
    },
    expected: "`auto`, or a time with its unit and more than nothing, such as 30s, 5m or 1h30m",
};

pub(super) const TIME: Word<Duration> = Word {
    read: duration,
    expected: "a time with its unit and more than nothing, such as 30s, 5m or 1h30m",
};

fn duration(text: &str) -> Option<Duration> {
    let time = humantime::parse_duration(text.trim()).ok()?;
    (!time.is_zero()).then_some(time)
}
