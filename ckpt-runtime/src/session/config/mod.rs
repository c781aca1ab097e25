//! What the user asks of a session: `ckpt.toml` in the working directory, overruled by `CKPT_*` variables (the command
//! line passes its flags as such). A session exists as soon as one of them asks for one.

mod environment;
mod words;

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::num::{NonZeroU32, NonZeroU64};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

pub(super) use environment::ROLLBACK_FAULT;
use environment::{ASKING, Environment};
pub use environment::{unknown_variables, variables_of_a_session};
use words::{
    BYTES, COMPRESSION, DEEP_CALLS, DETECT, DIRECT, FLAG, INTERVAL, KEEP, OTHER_RUNS, TIME, WHEN_BUSY,
};

use super::run::Detectors;
use crate::base::fault::{Flip, Pauses, RollbackFault};
use crate::base::run_id::RunPrefix;
use crate::format::{CheckpointId, Compression, Direct, Storing};
use crate::frame::DeepCalls;
use crate::state::journal::OtherRuns;
use crate::storage::{Fallback, Keep};

/// The configuration file, looked for in the working directory.
pub const CONFIG_FILE: &str = "ckpt.toml";

/// Interval between checkpoints when a session is asked for and nothing says how often.
pub const DEFAULT_INTERVAL: Duration = Duration::from_secs(600);

/// How many snapshots stay in memory.
const SNAPSHOTS: usize = 2;

/// How long threads of a team that stand at a site wait for the others.
const TEAM_WAIT: Duration = Duration::from_secs(60);

/// Which checkpoint a restart begins from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Restart {
    /// The newest that is whole.
    Latest,
    /// This one, or none.
    Id(CheckpointId),
}

/// The settings of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The store folder.
    pub dir: PathBuf,
    /// A checkpoint every so many site visits.
    pub every: Option<NonZeroU64>,
    /// A checkpoint every so often.
    pub interval: Option<Interval>,
    /// How long the program runs between two failures, for [`Interval::Auto`]; unless given, what the store has seen.
    pub mtbf: Option<Duration>,
    /// Retention.
    pub keep: Keep,
    /// Where checkpoints go that cannot be written to the store.
    pub fallback: Fallback,
    /// Restart instead of starting.
    pub restart: Option<Restart>,
    /// The run that a restart continues; of a start, its identity.
    pub run: Option<RunPrefix>,
    /// Restart with other arguments than those that the run has read.
    pub arguments_changed: bool,
    /// What becomes of the files that other runs have changed since, where it has to be said.
    pub(crate) other_runs: Option<OtherRuns>,
    /// Refuse to restart from a checkpoint that was taken by a build of other sources.
    pub strict: bool,
    /// Time that this process may run: it takes a checkpoint and stops before.
    pub time_limit: Option<Duration>,
    /// Restart although the source of a function changed, as long as the layout is the same.
    pub force_layout: bool,
    /// No messages but warnings and errors.
    pub quiet: bool,
    /// The program goes on while a checkpoint is being written.
    pub background: bool,
    /// Bytes that copies of the state may take; where one would take more, the program waits for the disk.
    pub memory: Option<u64>,
    /// The state is kept in memory every so many site visits.
    pub snapshot_every: Option<NonZeroU64>,
    /// The state is kept in memory every so often.
    pub snapshot_interval: Option<Duration>,
    /// A program that goes back does so in its process, where it can; else the process begins anew.
    pub rollback_in_process: bool,
    /// How many of these snapshots stay.
    pub snapshots: usize,
    /// A checkpoint that is due by visits while the one before it is being written is left out; else the program waits.
    pub skip_when_busy: bool,
    /// How long threads of a team that stand at a site wait for the others.
    pub team_wait: Duration,
    /// The kernel is asked which memory has been written to.
    pub watch_pages: bool,
    /// Another process copies large arrays while the program goes on.
    pub copy_on_write: bool,
    /// Whether large arrays are written past the system's cache.
    pub(crate) direct: Direct,
    /// Whether calls of a function in itself that have turned out to be short are made without sites.
    pub(crate) deep_calls: DeepCalls,
    /// What is stored, and how.
    pub storing: Storing,
    /// Kill this process at the visit of that number: for tests.
    pub fault_visit: Option<Fault>,
    /// Bits are turned at these visits: for tests.
    pub(crate) flips: Vec<Flip>,
    /// A test turns bits, or has.
    pub(crate) tests_flips: bool,
    /// What is looked for where the state is taken.
    pub(crate) detectors: Detectors,
    /// Go back at these visits, one after the other: for tests.
    pub(crate) rollbacks: Vec<RollbackFault>,
    /// Stand still at site visits: for tests.
    pub(crate) pauses: Option<Pauses>,
    /// A test has one rank go back, or has had it.
    pub(crate) tests_one_rank: bool,
}

/// How often checkpoints are taken by the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interval {
    /// So often.
    Every(Duration),
    /// As often as pays, by what checkpoints cost and how often the program fails.
    Auto,
}

/// A death at a site visit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// The visit.
    pub visit: u64,
    /// The rank that dies; all of them if none is named.
    pub rank: Option<u32>,
}

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file exists and cannot be read.
    #[error("E2151: {CONFIG_FILE} cannot be read: {0}")]
    Unreadable(#[source] io::Error),
    /// The file is not TOML, or has a key or a value that ckpt does not know.
    #[error("E2152: {CONFIG_FILE} is not valid\n{0}")]
    Invalid(String),
    /// A setting has a value that makes no sense.
    #[error("E2153: {setting} is {value:?}; expected {expected}")]
    Value {
        /// The variable, or the key of the file.
        setting: String,
        /// What it holds.
        value: String,
        /// What it should hold.
        expected: &'static str,
    },
    /// Checkpoints cannot be compressed so by this build.
    #[error(
        "E2154: checkpoints are to be compressed with zstd, and this program was built without: start it by `cargo ckpt run`, which builds it in; with ckpt as a dependency of your own, add the feature `zstd`; or say `lz4`"
    )]
    NotBuilt,
}

impl ConfigError {
    /// The number of the code that the message begins with.
    pub(crate) fn code(&self) -> u16 {
        match self {
            ConfigError::Unreadable(_) => 2151,
            ConfigError::Invalid(_) => 2152,
            ConfigError::Value { .. } => 2153,
            ConfigError::NotBuilt => 2154,
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    session: Section,
    /// What the compiler reads.
    #[serde(default, rename = "calls")]
    _calls: Option<serde::de::IgnoredAny>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Section {
    dir: Option<PathBuf>,
    every: Option<NonZeroU64>,
    interval: Option<String>,
    mtbf: Option<String>,
    keep: Option<KeepValue>,
    fallback: Option<PathBuf>,
    time_limit: Option<String>,
    background: Option<bool>,
    memory: Option<String>,
    snapshot_every: Option<NonZeroU64>,
    snapshot_interval: Option<String>,
    snapshots: Option<NonZeroU32>,
    rollback_in_process: Option<bool>,
    detect: Option<Vec<String>>,
    when_busy: Option<String>,
    team_wait: Option<String>,
    compression: Option<String>,
    full_every: Option<NonZeroU32>,
    watch_pages: Option<bool>,
    copy_on_write: Option<bool>,
    direct: Option<String>,
    skip_deep_sites: Option<bool>,
    strict: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum KeepValue {
    Count(u64),
    Word(String),
}

impl Config {
    /// The settings of this process; `None` where nothing asks for a session.
    ///
    /// # Errors
    /// The first setting that cannot be understood.
    pub fn read(program: &str) -> Result<Option<Config>, ConfigError> {
        Config::resolve(program, Path::new(CONFIG_FILE), &|name| env::var_os(name))
    }

    /// As [`read`](Config::read), for a session that the program asks for itself: the defaults do.
    ///
    /// # Errors
    /// The first setting that cannot be understood.
    pub(crate) fn read_or_default(program: &str) -> Result<Config, ConfigError> {
        let file = File::read(Path::new(CONFIG_FILE))?.unwrap_or_default();
        Config::assemble(program, file, &Environment(&|name| env::var_os(name)))
    }

    /// Whether checkpoints are copies in memory that the program makes itself, and are taken by a rule.
    pub(crate) fn copies_in_memory(&self) -> bool {
        let by_rule = self.every.is_some() || self.interval.is_some();
        by_rule && self.background && !self.copy_on_write
    }

    /// Whether states are kept in memory.
    pub(crate) fn keeps_snapshots(&self) -> bool {
        self.detectors.are_any() || self.snapshot_every.is_some() || self.snapshot_interval.is_some()
    }

    fn resolve(
        program: &str,
        file: &Path,
        variable: &dyn Fn(&str) -> Option<OsString>,
    ) -> Result<Option<Config>, ConfigError> {
        let environment = Environment(variable);
        let file = File::read(file)?;
        if file.is_none() && !ASKING.iter().any(|name| environment.has(name)) {
            return Ok(None);
        }
        Config::assemble(program, file.unwrap_or_default(), &environment).map(Some)
    }

    fn assemble(program: &str, file: File, environment: &Environment<'_>) -> Result<Config, ConfigError> {
        let section = file.session;
        environment.moved_paths()?;
        environment.trusted_users()?;
        let in_file = section.interval.map(|text| INTERVAL.in_file("interval", &text));
        let in_file = (section.every, in_file.transpose()?);
        let every = environment.parse("CKPT_EVERY", "a number of site visits, 1 or more")?;
        // One policy overrules the other source's: who asks for every 10 visits does not want the file's 5 minutes.
        let (every, interval) = match (every, environment.word("CKPT_INTERVAL", &INTERVAL)?) {
            (None, None) => in_file,
            said => said,
        };
        let full_every = environment.parse("CKPT_FULL_EVERY", "a number of checkpoints, 1 or more")?;
        let flag = |name| environment.word(name, &FLAG);
        Ok(Config {
            dir: environment
                .get("CKPT_DIR")
                .map(PathBuf::from)
                .or(section.dir)
                .unwrap_or_else(|| format!("{program}.ckpt.d").into()),
            every,
            interval: interval.or(every.is_none().then_some(Interval::Every(DEFAULT_INTERVAL))),
            mtbf: environment.overrules("mtbf", section.mtbf, &TIME)?,
            keep: environment
                .overrules("keep", section.keep.map(KeepValue::text), &KEEP)?
                .unwrap_or_default(),
            fallback: environment
                .get("CKPT_FALLBACK")
                .map(PathBuf::from)
                .or(section.fallback)
                .map_or(Fallback::AsBefore, |folder| match folder.to_str() {
                    Some("off") => Fallback::Off,
                    _ => Fallback::At(folder),
                }),
            time_limit: environment.overrules("time-limit", section.time_limit, &TIME)?,
            restart: environment.parse("CKPT_RESTART", "`latest` or the number of a checkpoint")?,
            run: environment.parse(
                "CKPT_RUN",
                "the identity of a run, or how it begins: digits from 0 to f",
            )?,
            arguments_changed: flag("CKPT_ARGS_CHANGED")?.unwrap_or(false),
            other_runs: environment.word("CKPT_OTHER_RUNS", &OTHER_RUNS)?,
            strict: flag("CKPT_STRICT")?.or(section.strict).unwrap_or(false),
            background: flag("CKPT_BACKGROUND")?.or(section.background).unwrap_or(true),
            force_layout: flag("CKPT_FORCE_LAYOUT")?.unwrap_or(false),
            quiet: flag("CKPT_QUIET")?.unwrap_or(false),
            memory: environment.overrules("memory", section.memory, &BYTES)?,
            snapshot_every: environment
                .parse("CKPT_SNAPSHOT_EVERY", "a number of site visits, 1 or more")?
                .or(section.snapshot_every),
            snapshot_interval: environment.overrules(
                "snapshot-interval",
                section.snapshot_interval,
                &TIME,
            )?,
            rollback_in_process: flag("CKPT_ROLLBACK_IN_PROCESS")?
                .or(section.rollback_in_process)
                .unwrap_or(true),
            snapshots: environment
                .parse::<NonZeroU32>("CKPT_SNAPSHOTS", "a number of snapshots, 1 or more")?
                .or(section.snapshots)
                .map_or(SNAPSHOTS, |number| number.get() as usize),
            skip_when_busy: environment
                .overrules("when-busy", section.when_busy, &WHEN_BUSY)?
                .unwrap_or(false),
            team_wait: environment
                .overrules("team-wait", section.team_wait, &TIME)?
                .unwrap_or(TEAM_WAIT),
            watch_pages: flag("CKPT_WATCH_PAGES")?.or(section.watch_pages).unwrap_or(false),
            copy_on_write: flag("CKPT_COPY_ON_WRITE")?
                .or(section.copy_on_write)
                .unwrap_or(false),
            direct: environment
                .overrules("direct", section.direct, &DIRECT)?
                .unwrap_or_default(),
            deep_calls: environment
                .word("CKPT_SKIP_DEEP_SITES", &DEEP_CALLS)?
                .unwrap_or_else(|| DeepCalls::of_setting(section.skip_deep_sites.unwrap_or(true))),
            storing: Storing {
                compression: compression(environment.overrules(
                    "compression",
                    section.compression,
                    &COMPRESSION,
                )?)?,
                full_every: full_every.or(section.full_every).map_or(1, NonZeroU32::get),
            },
            fault_visit: environment.fault_visit()?,
            tests_one_rank: environment.rollbacks()?.iter().any(|fault| fault.rank.is_some()),
            rollbacks: environment.rollbacks()?,
            pauses: environment.pauses()?,
            detectors: environment
                .overrules("detect", section.detect.map(|words| words.join(",")), &DETECT)?
                .unwrap_or_default(),
            flips: environment.flips()?,
            tests_flips: !environment.flips()?.is_empty(),
        })
    }
}

/// The way to compress that is asked for, if this build can.
fn compression(said: Option<Option<Compression>>) -> Result<Option<Compression>, ConfigError> {
    match said.flatten() {
        Some(codec) if !codec.is_built() => Err(ConfigError::NotBuilt),
        codec => Ok(codec),
    }
}

impl File {
    fn read(path: &Path) -> Result<Option<File>, ConfigError> {
        match fs::read_to_string(path) {
            Ok(text) => match toml::from_str(&text) {
                Ok(file) => Ok(Some(file)),
                Err(error) => {
                    let said = error.to_string();
                    let way = error.span().and_then(|span| way_out(&text, span.start));
                    let way = way.map_or_else(String::new, |way| format!("\n{way}"));
                    Err(ConfigError::Invalid(said.trim_end().to_owned() + &way))
                }
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(ConfigError::Unreadable(error)),
        }
    }
}

/// What to write instead, for a setting in the line of a file in which that is wrong.
fn way_out(text: &str, at: usize) -> Option<String> {
    let above = text.get(..at)?;
    let line = text.lines().nth(above.matches('\n').count())?;
    let key = line.split_once('=')?.0.trim();
    let (key, example) = EXAMPLES.iter().find(|(known, _)| *known == key)?;
    let has_heading = above.lines().any(|line| line.trim_start().starts_with('['));
    Some(match has_heading {
        true => format!("write for example `{key} = {example}`"),
        false => format!("put it under `[session]`: `{key} = {example}`, for example"),
    })
}

/// The settings, each with a value that it may have.
const EXAMPLES: [(&str, &str); 23] = [
    ("dir", "\"heat.ckpt.d\""),
    ("every", "1000"),
    ("interval", "\"10m\""),
    ("mtbf", "\"24h\""),
    ("keep", "2"),
    ("fallback", "\"/scratch/me\""),
    ("time-limit", "\"11h 50m\""),
    ("background", "true"),
    ("memory", "\"512MiB\""),
    ("snapshot-every", "100"),
    ("snapshot-interval", "\"1m\""),
    ("snapshots", "2"),
    ("rollback-in-process", "true"),
    ("detect", "[\"nan\"]"),
    ("when-busy", "\"skip\""),
    ("team-wait", "\"1m\""),
    ("compression", "\"lz4\""),
    ("full-every", "10"),
    ("watch-pages", "true"),
    ("copy-on-write", "true"),
    ("direct", "\"off\""),
    ("skip-deep-sites", "true"),
    ("strict", "true"),
];

impl KeepValue {
    fn text(self) -> String {
        match self {
            KeepValue::Count(count) => count.to_string(),
            KeepValue::Word(word) => word,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(toml: Option<&str>, variables: &[(&str, &str)]) -> Result<Option<Config>, ConfigError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(CONFIG_FILE);
        if let Some(toml) = toml {
            fs::write(&path, toml).unwrap();
        }
        Config::resolve("heat", &path, &|name| {
            variables
                .iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| OsString::from(value))
        })
    }

    fn message(toml: Option<&str>, variables: &[(&str, &str)]) -> String {
        resolve(toml, variables).unwrap_err().to_string()
    }

    #[test]
    fn a_setting_of_another_kind_or_in_another_place_has_an_example() {
        let told = message(Some("every = 5"), &[]);
        assert!(
            told.ends_with("\nput it under `[session]`: `every = 1000`, for example"),
            "{told}"
        );
        let told = message(Some("[session]\nevery = \"x\""), &[]);
        assert!(told.ends_with("\nwrite for example `every = 1000`"), "{told}");
        let told = message(Some("[session]\nkeep = 2\ninterval = 5"), &[]);
        assert!(
            told.ends_with("\nwrite for example `interval = \"10m\"`"),
            "{told}"
        );
        for (key, example) in EXAMPLES {
            let text = format!("[session]\n{key} = {example}\n");
            resolve(Some(&text), &[]).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert!(way_out(&text, text.len() - 2).is_some());
        }
        // Every key of the section is among them.
        let unknown = message(Some("[session]\nevry = 3"), &[]);
        let listed = unknown.split("expected one of ").nth(1).unwrap();
        let listed = listed.lines().next().unwrap().split(", ");
        let known = |key: &str| EXAMPLES.iter().any(|(known, _)| *known == key.trim_matches('`'));
        assert!(listed.clone().all(known), "{unknown}");
    }

    #[test]
    fn nothing_asks_for_a_session() {
        assert_eq!(resolve(None, &[]).unwrap(), None);
        assert_eq!(
            resolve(None, &[("CKPT_QUIET", "1"), ("CKPT_EVERY", "")]).unwrap(),
            None
        );
    }

    #[test]
    fn defaults_follow_the_program() {
        let config = resolve(Some(""), &[]).unwrap().unwrap();
        assert_eq!(config.dir, Path::new("heat.ckpt.d"));
        assert_eq!(
            (config.every, config.interval),
            (None, Some(Interval::Every(DEFAULT_INTERVAL)))
        );
        assert_eq!(config.keep, Keep::default());
    }

    #[test]
    fn memory_has_a_unit() {
        let memory = |text| {
            let config = resolve(None, &[("CKPT_EVERY", "1"), ("CKPT_MEMORY", text)]);
            config.map(|config| config.unwrap().memory)
        };
        assert_eq!(memory("512MiB").unwrap(), Some(512 << 20));
        assert_eq!(memory(" 2 GiB ").unwrap(), Some(2 << 30));
        for wrong in ["12", "MiB", "-1MiB", "99999999999999GiB", "1 GB"] {
            assert!(memory(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn how_values_are_stored() {
        let config = |toml, variables: &[_]| resolve(Some(toml), variables).unwrap().unwrap().storing;
        assert_eq!(config("", &[]), Storing::default());
        let toml = "[session]\nfull-every = 10\ncompression = 'zstd'";
        let in_file = Storing {
            compression: Some(Compression::Zstd),
            full_every: 10,
        };
        assert_eq!(config(toml, &[]), in_file);
        let help = |variables: &[_]| {
            let toml = "[session]\nwatch-pages = true\ncopy-on-write = true";
            let config = resolve(Some(toml), variables).unwrap().unwrap();
            (config.watch_pages, config.copy_on_write)
        };
        assert_eq!(help(&[]), (true, true));
        assert_eq!(help(&[("CKPT_WATCH_PAGES", "0")]), (false, true));
        assert_eq!(help(&[("CKPT_COPY_ON_WRITE", "0")]), (true, false));
        let variables = [("CKPT_FULL_EVERY", "1"), ("CKPT_COMPRESSION", "off")];
        assert_eq!(config(toml, &variables), Storing::default());
        assert!(message(None, &[("CKPT_EVERY", "1"), ("CKPT_FULL_EVERY", "0")]).contains("1 or more"));
        assert!(
            message(None, &[("CKPT_EVERY", "1"), ("CKPT_COMPRESSION", "gzip")]).contains("`off`, `deflate`")
        );
    }

    #[test]
    fn the_cache_is_passed_by_where_that_is_asked_for() {
        let direct = |toml, variables: &[_]| resolve(Some(toml), variables).unwrap().unwrap().direct;
        assert_eq!(direct("", &[]), Direct::Auto);
        assert_eq!(direct("[session]\ndirect = 'on'", &[]), Direct::On);
        let variables = [("CKPT_DIRECT", "off")];
        assert_eq!(direct("[session]\ndirect = 'on'", &variables), Direct::Off);
        assert!(
            message(None, &[("CKPT_EVERY", "1"), ("CKPT_DIRECT", "yes")]).contains("`auto`, `on` or `off`")
        );
    }

    #[test]
    fn strict_is_said_once_or_for_one_restart() {
        let strict = |toml, variables: &[_]| resolve(Some(toml), variables).unwrap().unwrap().strict;
        assert!(!strict("", &[]));
        assert!(strict("[session]\nstrict = true", &[]));
        assert!(strict("", &[("CKPT_STRICT", "1")]));
        assert!(!strict("[session]\nstrict = true", &[("CKPT_STRICT", "0")]));
    }

    #[test]
    fn the_environment_overrules_the_file() {
        let toml = "[session]\ndir = 'a'\ninterval = '5m'\nkeep = 'all'\ntime-limit = '1h'";
        let config = resolve(Some(toml), &[]).unwrap().unwrap();
        assert_eq!(config.interval, Some(Interval::Every(Duration::from_secs(300))));
        assert_eq!(
            (config.keep, config.time_limit),
            (Keep::All, Some(Duration::from_secs(3600)))
        );
        let config = resolve(
            Some(toml),
            &[("CKPT_EVERY", "7"), ("CKPT_DIR", "b"), ("CKPT_KEEP", "3")],
        );
        let config = config.unwrap().unwrap();
        assert_eq!(config.dir, Path::new("b"));
        assert_eq!(
            (config.every.map(NonZeroU64::get), config.interval),
            (Some(7), None)
        );
        assert_eq!(config.keep, Keep::Last(3));
    }

    #[test]
    fn an_interval_may_be_found_out() {
        let config = resolve(Some("[session]\ninterval = 'auto'\nmtbf = '6h'"), &[]);
        let config = config.unwrap().unwrap();
        assert_eq!(
            (config.interval, config.mtbf),
            (Some(Interval::Auto), Some(Duration::from_secs(6 * 3600)))
        );
        let config = resolve(None, &[("CKPT_INTERVAL", "auto"), ("CKPT_MTBF", "2h")]);
        let config = config.unwrap().unwrap();
        assert_eq!(config.interval, Some(Interval::Auto));
        assert_eq!(config.mtbf, Some(Duration::from_secs(2 * 3600)));
        assert!(message(None, &[("CKPT_INTERVAL", "automatic")]).contains("`auto`, or a time"));
        assert!(message(Some("[session]\nmtbf = 'long'"), &[]).starts_with("E2153: `mtbf` in ckpt.toml"));
    }

    #[test]
    fn a_restart_names_its_checkpoint() {
        let restart = |value| {
            resolve(None, &[("CKPT_RESTART", value)])
                .unwrap()
                .unwrap()
                .restart
        };
        assert_eq!(restart("latest"), Some(Restart::Latest));
        assert_eq!(restart("42"), Some(Restart::Id(CheckpointId(42))));
    }

    #[test]
    fn a_run_is_named_by_how_its_identity_begins() {
        let run = |text| {
            let config = resolve(None, &[("CKPT_EVERY", "1"), ("CKPT_RUN", text)]);
            config.map(|config| config.unwrap().run.map(|run| run.to_string()))
        };
        assert_eq!(run("1A2b").unwrap().as_deref(), Some("1a2b"));
        assert!(
            run("newest")
                .unwrap_err()
                .to_string()
                .starts_with("E2153: CKPT_RUN")
        );
    }

    #[test]
    fn every_bad_setting_is_named_with_what_it_should_be() {
        assert!(message(Some("[session]\nevry = 3"), &[]).contains("unknown field `evry`"));
        assert!(message(Some("[sesion]"), &[]).contains("unknown field `sesion`"));
        let of_the_compiler = "[session]\nevery = 3\n[calls]\npure = [\"energy\"]";
        assert!(resolve(Some(of_the_compiler), &[]).is_ok());
        assert!(message(Some("[session]\nkeep = 0"), &[]).contains("`keep` in ckpt.toml is \"0\""));
        assert!(message(Some("[session]\nevery = 0"), &[]).contains("every"));
        assert!(message(Some("[session]\ninterval = 'soon'"), &[]).contains("such as 30s"));
        for (name, value) in [
            ("CKPT_EVERY", "0"),
            ("CKPT_EVERY", "ten"),
            ("CKPT_INTERVAL", "5"),
            ("CKPT_INTERVAL", "0s"),
            ("CKPT_KEEP", "0"),
            ("CKPT_RESTART", "newest"),
            ("CKPT_TIME_LIMIT", "-1s"),
        ] {
            let message = message(None, &[(name, value)]);
            assert!(
                message.starts_with(&format!("E2153: {name} is {value:?}; expected ")),
                "{message}"
            );
        }
    }
}
