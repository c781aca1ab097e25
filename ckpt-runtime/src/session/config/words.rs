//! Settings that are words, wherever they stand.

use std::str::FromStr;
use std::time::Duration;

use super::{ConfigError, Interval, Restart};
use crate::format::{CheckpointId, Compression};
use crate::storage::Keep;

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

pub(super) fn keep_from(setting: &str, text: &str) -> Result<Keep, ConfigError> {
    match (text, text.parse()) {
        ("all", _) => Ok(Keep::All),
        (_, Ok(count)) if count > 0 => Ok(Keep::Last(count)),
        _ => Err(ConfigError::Value {
            setting: setting.into(),
            value: text.into(),
            expected: "a number of checkpoints, 1 or more, or `all`",
        }),
    }
}

pub(super) fn bytes(setting: &str, text: &str) -> Result<u64, ConfigError> {
    let trimmed = text.trim();
    let digits = trimmed
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(digits);
    let factor = match unit.trim() {
        "KiB" => Some(1 << 10),
        "MiB" => Some(1 << 20),
        "GiB" => Some(1 << 30),
        _ => None,
    };
    let number = number.parse().ok().zip(factor);
    number
        .and_then(|(number, factor): (u64, u64)| number.checked_mul(factor))
        .ok_or_else(|| ConfigError::Value {
            setting: setting.into(),
            value: text.into(),
            expected: "a number of KiB, MiB or GiB, such as 512MiB",
        })
}

pub(super) fn when_busy(setting: &str, text: &str) -> Result<bool, ConfigError> {
    match text.trim() {
        "wait" => Ok(false),
        "skip" => Ok(true),
        _ => Err(ConfigError::Value {
            setting: setting.into(),
            value: text.into(),
            expected: "`wait` or `skip`",
        }),
    }
}

pub(super) fn compression(setting: &str, text: &str) -> Result<Option<Compression>, ConfigError> {
    match text.trim() {
        "off" => Ok(None),
        "deflate" => Ok(Some(Compression::Deflate)),
        "lz4" => Ok(Some(Compression::Lz4)),
        "zstd" => Ok(Some(Compression::Zstd)),
        _ => Err(ConfigError::Value {
            setting: setting.into(),
            value: text.into(),
            expected: "`off`, `deflate`, `lz4` or `zstd`",
        }),
    }
}

pub(super) fn interval(setting: &str, text: &str) -> Result<Interval, ConfigError> {
    if text.trim() == "auto" {
        return Ok(Interval::Auto);
    }
    let wrong = |_| ConfigError::Value {
        setting: setting.into(),
        value: text.into(),
        expected: "`auto`, or a time with its unit and more than nothing, such as 30s, 5m or 1h30m",
    };
    duration(setting, text).map(Interval::Every).map_err(wrong)
}

pub(super) fn duration(setting: &str, text: &str) -> Result<Duration, ConfigError> {
    match humantime::parse_duration(text.trim()) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        _ => Err(ConfigError::Value {
            setting: setting.into(),
            value: text.into(),
            expected: "a time with its unit and more than nothing, such as 30s, 5m or 1h30m",
        }),
    }
}
