//! The session's options, and the environment that carries them into the program.
//!
//! The library reads `ckpt.toml`, then the environment; what was said on the command line is put into the
//! environment of the program, so that it wins over both.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::stores;

/// When checkpoints are taken, where they go and how many are kept.
#[derive(Debug, Clone, Default, PartialEq, clap::Args, Serialize, Deserialize)]
#[serde(default)]
#[command(next_help_heading = "Checkpoint options")]
pub struct SessionOptions {
    /// Take a checkpoint at every N-th visit of a site
    #[arg(long, value_name = "N", value_parser = one_or_more)]
    pub every: Option<u64>,
    /// Take a checkpoint when this much time has passed since the last one: 30s, 5m, 1h; `auto` finds out how often it pays
    #[arg(long, value_name = "TIME", value_parser = interval)]
    pub interval: Option<String>,
    /// The store: the folder of the checkpoints [default: ./PACKAGE.ckpt.d]
    #[arg(long, value_name = "FOLDER")]
    #[serde(skip)]
    pub dir: Option<PathBuf>,
    /// Where checkpoints go when writing one to the store has failed three times in a row: a folder on another disk, or `off`
    /// [default: the one that the store had]
    #[arg(long, value_name = "FOLDER")]
    #[serde(skip)]
    pub fallback: Option<PathBuf>,
    /// How many checkpoints are kept: a number, or `all` [default: 2]
    #[arg(long, value_name = "K", value_parser = keep)]
    pub keep: Option<String>,
    /// Take a checkpoint before this much time has passed and stop with exit code 75
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub time_limit: Option<String>,
    /// What becomes of files that unfinished runs of other arguments have changed in this folder since the checkpoint: they stay
    /// (keep), or become what they were, which gives those runs up (undo) [default: such a restart is refused]
    #[arg(long, value_name = "keep|undo", value_parser = ["keep", "undo"])]
    #[serde(skip)]
    pub other_runs: Option<String>,
}

impl SessionOptions {
    /// The variables for the program; `store` is the folder that the options, the environment and `ckpt.toml` mean.
    pub fn environment(&self, store: &Path) -> Vec<(&'static str, OsString)> {
        let mut list: Vec<(&'static str, OsString)> = vec![("CKPT_DIR", store.into())];
        list.extend(
            self.fallback
                .iter()
                .map(|folder| ("CKPT_FALLBACK", folder.into())),
        );
        let mut set = |name, value: Option<String>| {
            if let Some(value) = value {
                list.push((name, value.into()));
            }
        };
        set("CKPT_EVERY", self.every.map(|every| every.to_string()));
        set("CKPT_INTERVAL", self.interval.clone());
        set("CKPT_KEEP", self.keep.clone());
        set("CKPT_TIME_LIMIT", self.time_limit.clone());
        set("CKPT_OTHER_RUNS", self.other_runs.clone());
        set("CKPT_TRUST", crate::output::trusted());
        set("CKPT_RESTART_COMMAND", Some(stores::restart_line(store, &[])));
        list
    }

    /// These options, and where they and the environment say nothing, those of the last run.
    pub fn or(&self, last: &SessionOptions, has_variable: &dyn Fn(&str) -> bool) -> SessionOptions {
        let mut options = self.clone();
        let chosen = options.every.is_some() || options.interval.is_some();
        if !chosen && !has_variable("CKPT_EVERY") && !has_variable("CKPT_INTERVAL") {
            (options.every, options.interval) = (last.every, last.interval.clone());
        }
        let or = |mine: &mut Option<String>, last: &Option<String>, variable| {
            if mine.is_none() && !has_variable(variable) {
                mine.clone_from(last);
            }
        };
        or(&mut options.keep, &last.keep, "CKPT_KEEP");
        or(&mut options.time_limit, &last.time_limit, "CKPT_TIME_LIMIT");
        options
    }

    /// Whether what other runs have changed stays.
    pub fn keeps_other_runs(&self) -> bool {
        let variable = || std::env::var("CKPT_OTHER_RUNS").ok();
        self.other_runs
            .clone()
            .or_else(variable)
            .is_some_and(|what| what == "keep")
    }

    /// The options as they are written on a command line, without the store.
    pub fn words(&self) -> Vec<String> {
        let every = self.every.map(|every| every.to_string());
        let all = [
            ("--every", &every),
            ("--interval", &self.interval),
            ("--keep", &self.keep),
            ("--time-limit", &self.time_limit),
        ];
        all.iter()
            .filter_map(|(name, value)| Some(format!("{name} {}", value.as_ref()?)))
            .collect()
    }
}

/// A number of things, of which there is one at least.
pub fn one_or_more(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(number @ 1..) => Ok(number),
        _ => Err("write a whole number, 1 or more".into()),
    }
}

/// A number of things, of which there may be none.
pub fn whole_number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| "write a whole number, 0 or more".into())
}

/// A time as the library reads it, checked here so that a slip is reported before the build.
pub fn time(text: &str) -> Result<String, String> {
    match humantime::parse_duration(text) {
        Ok(time) if time.is_zero() => Err("no time at all; write for example `30s`, `5m` or `1h 30m`".into()),
        Ok(_) => Ok(text.to_owned()),
        Err(_) if text.parse::<f64>().is_ok() => {
            Err(format!("a unit is missing; for seconds write `{text}s`"))
        }
        Err(error) => Err(format!("{error}; write for example `30s`, `5m` or `1h 30m`")),
    }
}

fn interval(text: &str) -> Result<String, String> {
    match text {
        "auto" => Ok(text.to_owned()),
        _ => time(text).map_err(|why| format!("{why}, or `auto`")),
    }
}

fn keep(text: &str) -> Result<String, String> {
    match text.parse::<u32>() {
        Ok(0) => Err("at least one checkpoint is kept".into()),
        Ok(_) => Ok(text.to_owned()),
        Err(_) if text == "all" => Ok(text.to_owned()),
        Err(_) => Err("a number or `all`".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_none_is_told_what_to_write() {
        assert_eq!(one_or_more("12"), Ok(12));
        for wrong in ["0", "x", "1.5", ""] {
            assert_eq!(one_or_more(wrong).unwrap_err(), "write a whole number, 1 or more");
        }
        assert_eq!(whole_number::<u32>("0"), Ok(0));
        assert_eq!(
            whole_number::<u32>("x").unwrap_err(),
            "write a whole number, 0 or more"
        );
    }

    #[test]
    fn a_time_without_a_unit_gets_advice() {
        assert!(time("30").unwrap_err().contains("`30s`"));
        assert_eq!(time("1h 30m").unwrap(), "1h 30m");
        assert!(time("soon").is_err());
        assert!(time("0s").unwrap_err().contains("no time at all"));
    }

    #[test]
    fn a_restart_goes_on_as_the_last_run_unless_told_otherwise() {
        let last = SessionOptions {
            every: Some(3),
            keep: Some("all".into()),
            ..Default::default()
        };
        let none = SessionOptions::default();
        assert_eq!(none.or(&last, &|_| false), last);
        assert_eq!(none.or(&last, &|name| name == "CKPT_EVERY").every, None);
        let mine = SessionOptions {
            interval: Some("5m".into()),
            ..Default::default()
        };
        assert_eq!(
            mine.or(&last, &|_| false).words(),
            ["--interval 5m", "--keep all"]
        );
    }

    #[test]
    fn only_options_that_were_given_reach_the_environment() {
        let options = SessionOptions {
            every: Some(3),
            ..Default::default()
        };
        let names: Vec<_> = options
            .environment(Path::new("d"))
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(names, ["CKPT_DIR", "CKPT_EVERY", "CKPT_RESTART_COMMAND"]);
    }
}
