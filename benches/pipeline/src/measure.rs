//! Pairs of measurements taken by turns, and what is made of them.

use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

/// What a ratio should be.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Bar {
    AtMost(f64),
    AtLeast(f64),
    /// Nothing is asked of it: it stands beside the others.
    None,
}

/// A ratio that was measured.
#[derive(Debug, Serialize, Deserialize)]
pub struct Measured {
    pub what: String,
    pub against: String,
    pub bar: Bar,
    pub median: f64,
    /// The best of the one against the best of the other.
    pub best: f64,
    /// What the machine had to do besides.
    pub load: String,
}

/// The first of `/proc/loadavg`.
pub fn load() -> String {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split_whitespace().next().unwrap_or("unknown").to_owned()
}

/// How long it takes.
pub fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let began = Instant::now();
    let result = work();
    (began.elapsed().as_secs_f64(), result)
}

/// How many seconds of all cores it takes.
pub fn cpu<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let now = || {
        let now = clock_gettime(ClockId::ProcessCPUTime);
        now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
    };
    let began = now();
    let result = work();
    (now() - began, result)
}

/// Bytes of memory of this process.
pub fn resident() -> f64 {
    of_status("VmRSS:")
}

/// The most that it ever was.
pub fn most_resident() -> f64 {
    of_status("VmHWM:")
}

fn of_status(name: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kilobytes.unwrap_or(0.0) * 1024.0
}

impl Measured {
    /// Of pairs of what is divided by what.
    pub fn of(what: &str, against: &str, bar: Bar, pairs: &[(f64, f64)]) -> Measured {
        let best = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).fold(f64::INFINITY, f64::min);
        let mut ratios: Vec<f64> = pairs.iter().map(|pair| pair.0 / pair.1).collect();
        ratios.sort_unstable_by(f64::total_cmp);
        Measured {
            what: what.into(),
            against: against.into(),
            bar,
            median: ratios.get(ratios.len() / 2).copied().unwrap_or(f64::NAN),
            best: best(|pair| pair.0) / best(|pair| pair.1),
            load: load(),
        }
    }

    /// Whether the median is within the bar.
    pub fn is_met(&self) -> Option<bool> {
        match self.bar {
            Bar::AtMost(limit) => Some(self.median <= limit),
            Bar::AtLeast(limit) => Some(self.median >= limit),
            Bar::None => None,
        }
    }

    pub fn bar_text(&self) -> String {
        match self.bar {
            Bar::AtMost(limit) => format!("at most {limit}"),
            Bar::AtLeast(limit) => format!("at least {limit}"),
            Bar::None => String::new(),
        }
    }

    pub fn line(&self) -> String {
        let verdict = match self.is_met() {
            Some(true) => "met",
            Some(false) => "NOT MET",
            None => "",
        };
        format!(
            "{:<44} / {:<30} median {:>7.3}  best {:>7.3}  {:<14} {verdict:<8} load {}",
            self.what,
            self.against,
            self.median,
            self.best,
            self.bar_text(),
            self.load
        )
    }
}
