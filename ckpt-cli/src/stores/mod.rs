//! Which store a command is about, and what is known of it without opening a checkpoint. `runs` finds the runs that it holds,
//! `continued` the one that a restart goes on with, `lines` the parts of its ranks; `checkpoint` opens one to look into it.

pub mod checkpoint;
pub mod continued;
pub mod lines;
pub mod runs;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use ckpt::session::config::CONFIG_FILE;
use ckpt::session::job::{Job, State};
use ckpt::store::{CheckpointId, RunId, file_of, files_in, folder_of_rank, is_fallback, ranks_here};

use crate::failure::{AboutFile, Failure, OrFail, Outcome, says};
use crate::render::{self, FormatOption};
use crate::stores::lines::Lines;
use crate::stores::runs::RunOption;

/// The `--dir` option of the commands that look at a store.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct StoreOption {
    /// The store: the folder of the checkpoints [default: CKPT_DIR, `dir` in ckpt.toml, or the one *.ckpt.d here]
    #[arg(long, value_name = "FOLDER")]
    pub dir: Option<PathBuf>,
}

/// What every command has that looks at a store and prints what it has found.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct StoreArgs {
    #[command(flatten)]
    store: StoreOption,
    #[command(flatten)]
    run: RunOption,
    #[command(flatten)]
    format: FormatOption,
}

impl StoreArgs {
    /// An existing store, by its ranks; only what the named run has, where one is named.
    pub fn lines(&self) -> Outcome<Lines> {
        let store = self.named()?;
        let run = self.run(&store)?;
        Lines::of_run(&store, run)
    }

    /// The run of this store that is named.
    pub fn run(&self, store: &Path) -> Outcome<Option<RunId>> {
        self.run.of(store)
    }

    /// An existing store as it was named, perhaps with a place for the number of the rank.
    pub fn named(&self) -> Outcome<PathBuf> {
        self.store.named()
    }

    /// Whether JSON was asked for.
    pub fn json(&self) -> bool {
        self.format.json()
    }
}

/// A checkpoint as the user names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// The newest.
    Latest,
    /// The one with this number.
    Id(u64),
}

impl FromStr for Which {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "latest" => Ok(Which::Latest),
            _ => text
                .parse()
                .map(Which::Id)
                .map_err(|_| "a checkpoint's number, or `latest`".into()),
        }
    }
}

/// A checkpoint, or all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhichOnes {
    /// One.
    One(Which),
    /// All.
    All,
}

impl FromStr for WhichOnes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "all" => Ok(WhichOnes::All),
            _ => text
                .parse()
                .map(WhichOnes::One)
                .map_err(|_: String| "a checkpoint's number, `latest` or `all`".into()),
        }
    }
}

impl fmt::Display for Which {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Which::Latest => f.write_str("latest"),
            Which::Id(id) => CheckpointId(*id).fmt(f),
        }
    }
}

impl Which {
    /// As one says it: `the latest checkpoint`, `checkpoint 000012`.
    pub fn words(self) -> String {
        match self {
            Which::Latest => "the latest checkpoint".into(),
            Which::Id(id) => format!("checkpoint {}", CheckpointId(id)),
        }
    }
}

impl StoreOption {
    /// An existing store as it was named, perhaps with a place for the number of the rank.
    pub fn named(&self) -> Outcome<PathBuf> {
        let here = Path::new(".");
        let dir = match configured(self.dir.as_deref())? {
            Some(dir) => dir,
            None => only_store_in(here)?,
        };
        existing(&dir, here, "--dir ")?;
        Ok(dir)
    }
}

/// A store that was named has to be there; the failure names those that are `here`, as they are typed: behind an option, or alone.
pub fn existing(dir: &Path, here: &Path, option: &str) -> Outcome<()> {
    if home(dir).is_dir() || !ranks_here(dir).about("cannot look into", dir)?.is_empty() {
        return Ok(());
    }
    let what = if dir.exists() {
        "is not a folder"
    } else {
        "does not exist"
    };
    Err(
        Failure::no_checkpoint(says!("E3085: the store `{}` {what}", dir.display()))
            .help(stores_here(here, option)),
    )
}

/// The store of a program that is about to run.
pub fn for_program(option: Option<&Path>, name: &str) -> Outcome<PathBuf> {
    Ok(configured(option)?.unwrap_or_else(|| format!("{name}.ckpt.d").into()))
}

/// A store that is not around the files of the program that is about to start here, nor around those in `others`.
pub fn is_beside<'p>(store: &Path, others: impl IntoIterator<Item = &'p Path>) -> Outcome<()> {
    let mut folders = [Path::new(".")].into_iter().chain(others);
    let is_around = |folder: &&Path| ckpt::store::lies_within(folder, &home(store));
    match folders.find(is_around) {
        None => Ok(()),
        Some(folder) => Err(Failure::usage(says!(
            "E3188: the store `{}` is the folder of the program's own files (`{}`), or one above it",
            store.display(),
            std::path::absolute(folder)
                .unwrap_or_else(|_| folder.into())
                .display()
        ))
        .because("what lies in a store is not watched: a restart could not bring the program's files back")
        .help("name a folder that is for checkpoints only, for example `--dir checkpoints`")),
    }
}

/// The folder that the command line, the environment or `ckpt.toml` name, in this order.
fn configured(option: Option<&Path>) -> Outcome<Option<PathBuf>> {
    if let Some(dir) = option {
        return Ok(Some(dir.to_path_buf()));
    }
    if let Some(dir) = std::env::var_os("CKPT_DIR").filter(|dir| !dir.is_empty()) {
        return Ok(Some(dir.into()));
    }
    Ok(session_setting("dir")?.map(PathBuf::from))
}

/// The text that `ckpt.toml` here has for a session under a key.
///
/// # Errors
/// It cannot be read, or is not valid.
pub fn session_setting(key: &str) -> Outcome<Option<String>> {
    let path = Path::new(CONFIG_FILE);
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).about("cannot read", path),
    };
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        Failure::store(says!("E3086: ckpt.toml is not valid")).because(error.to_string().trim_end())
    })?;
    let said = table
        .get("session")
        .and_then(|session| session.get(key))
        .and_then(|said| said.as_str());
    Ok(said.map(str::to_owned))
}

/// The store of all ranks, with `{rank}` in its name, that a folder is the part of one rank of: each of them has one of such a
/// name, with its own files.
pub fn of_all_ranks(part: &Path) -> Option<PathBuf> {
    let rank_in = |folder: &Path| {
        let files = files_in(folder).ok()?;
        let mut ranks = files.into_iter().map(|(_, rank)| rank);
        let first = ranks.next()?;
        ranks.all(|rank| rank == first).then_some(first)
    };
    let rank = rank_in(part)?;
    let (name, number) = (part.to_str()?, rank.to_string());
    let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    let whole = name.match_indices(&number).filter(|(at, _)| {
        let (before, after) = (&name.as_bytes()[..*at], &name.as_bytes()[at + number.len()..]);
        !is_digit(before.last()) && !is_digit(after.first())
    });
    let mut names = whole.map(|(at, _)| {
        let (before, after) = (&name[..at], &name[at + number.len()..]);
        PathBuf::from(format!("{before}{{rank}}{after}"))
    });
    names.find(|store| {
        let ranks = ranks_here(store).unwrap_or_default();
        let is_own = |rank: u32| rank_in(&folder_of_rank(store, rank)) == Some(rank);
        ranks.len() > 1 && ranks.into_iter().all(is_own)
    })
}

/// All stores in a folder, by name; the folders of the ranks of one program are one.
fn stores_in(folder: &Path) -> Vec<PathBuf> {
    let is_store =
        |path: &PathBuf| path.to_string_lossy().ends_with(".ckpt.d") && path.is_dir() && !is_fallback(path);
    let mut list: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| PathBuf::from(entry.file_name()))
        .filter(|name| is_store(&folder.join(name)))
        .map(|name| {
            let of_all = of_all_ranks(&folder.join(&name));
            let of_all = of_all.and_then(|store| Some(PathBuf::from(store.file_name()?)));
            of_all.unwrap_or(name)
        })
        .collect();
    list.sort();
    list.dedup();
    list
}

/// The command that restarts from a store, or from that of all ranks where it is the part of one, with these words, as one types
/// it here: the store is named where it would not be found.
pub fn restart_command(store: &Path, words: &[String]) -> String {
    format!("`{}`", restart_line(store, words))
}

/// The same as it is typed.
pub fn restart_line(store: &Path, words: &[String]) -> String {
    line_about(store, "restart", words)
}

/// Another command about a store, with these words.
pub fn command_about(store: &Path, command: &str, words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    format!("`{}`", line_about(store, command, &words))
}

fn line_about(store: &Path, command: &str, words: &[String]) -> String {
    let of_all = of_all_ranks(store);
    let store = of_all.as_deref().unwrap_or(store);
    let here = store.strip_prefix(".").unwrap_or(store);
    let is_here = here.components().count() == 1 && here.to_string_lossy().ends_with(".ckpt.d");
    let is_found = is_here
        && match configured(None) {
            Ok(Some(dir)) => dir.strip_prefix(".").unwrap_or(&dir) == here,
            _ => stores_in(Path::new(".")).iter().all(|other| other == here),
        };
    let mut all: Vec<String> = ["cargo", "ckpt", command].map(str::to_owned).into();
    if !is_found {
        all.extend(["--dir".to_owned(), store.to_string_lossy().into_owned()]);
    }
    all.extend_from_slice(words);
    render::command_line(&all)
}

fn only_store_in(folder: &Path) -> Outcome<PathBuf> {
    let list = stores_in(folder);
    match list.as_slice() {
        [one] => Ok(one.clone()),
        [] => {
            let here = std::env::current_dir().or_fail(|| {
                Failure::no_checkpoint(says!("E3112: the working folder is gone"))
                    .help("`cd` to a folder that there is, or name the store with `--dir FOLDER`")
            })?;
            Err(Failure::no_checkpoint(says!("E3087: there is no store in `{}`", here.display())).help(
                "`cargo ckpt run` makes one, `PACKAGE.ckpt.d`; name one that is elsewhere with `--dir FOLDER`",
            ))
        }
        _ => {
            Err(Failure::usage(says!("E3088: there are several stores here"))
                .help(stores_here(folder, "--dir ")))
        }
    }
}

fn stores_here(folder: &Path, option: &str) -> String {
    let list: Vec<_> = stores_in(folder)
        .iter()
        .map(|store| format!("{option}{}", store.display()))
        .collect();
    match list.is_empty() {
        true => "there is no store here; `cargo ckpt run` makes one".into(),
        false => format!("choose one: {}", list.join(" | ")),
    }
}

/// The folder in which rank 0 of a program writes: `{rank}` in the name of a store is the number of the rank.
pub fn home(store: &Path) -> PathBuf {
    folder_of_rank(store, 0)
}

/// The numbers of the committed checkpoints in the folder of rank 0, in order.
///
/// # Errors
/// It cannot be looked at.
pub fn ids(store: &Path) -> Outcome<Vec<u64>> {
    let home = home(store);
    let files = files_in(&home).about("cannot look into", &home)?;
    let mut list: Vec<u64> = files.into_iter().map(|(id, _)| id.0).collect();
    list.sort_unstable();
    list.dedup();
    Ok(list)
}

/// The number of the newest committed checkpoint of a store with one run; of a program of several processes, the newest that
/// all have.
///
/// # Errors
/// It cannot be looked at.
pub fn newest_id(store: &Path) -> Outcome<Option<u64>> {
    let jobs = runs::records(store)?
        .into_iter()
        .filter_map(|record| record.job.ok());
    let ranks = jobs.filter_map(|job| job.ranks).max();
    runs::newest_line(store, ids(store)?.into_iter().rev().map(CheckpointId), ranks)
}

/// Size of the largest committed checkpoint file in the folder of the store itself.
pub fn largest_bytes(store: &Path) -> Option<u64> {
    let entries = fs::read_dir(home(store)).into_iter().flatten().flatten();
    entries
        .filter(|entry| {
            entry
                .file_name()
                .to_str()
                .is_some_and(|name| file_of(name).is_some())
        })
        .filter_map(|entry| entry.metadata().ok())
        .map(|metadata| metadata.len())
        .max()
}

/// `000003, 000004`; the middle of a long list is left out.
pub fn id_list(ids: &[u64]) -> String {
    let words = |ids: &[u64]| {
        ids.iter()
            .map(|id| CheckpointId(*id).to_string())
            .collect::<Vec<_>>()
            .join(", ")
    };
    match ids.len() {
        0 => "none".into(),
        1..=12 => words(ids),
        many => format!("{}, ..., {}", words(&ids[..3]), words(&ids[many - 3..])),
    }
}

/// Whether a process of this host is at work on the store now, as far as its own record says. The lock is not tried:
/// that could make a job that starts in this moment believe that the store is in use.
///
/// # Errors
/// The store cannot be looked at.
pub fn is_locked(store: &Path) -> Outcome<bool> {
    let mut jobs = runs::records(store)?
        .into_iter()
        .filter_map(|record| record.job.ok());
    Ok(jobs.any(|job| is_running(&job)))
}

/// Whether the job's last process still runs on this host.
pub fn is_running(job: &Job) -> bool {
    is_here(job) && job.is_running()
}

/// Whether the job's last process ran on this host, outside of other containers, so that it can be seen whether it runs.
pub fn is_here(job: &Job) -> bool {
    let is_host = nix::sys::utsname::uname().is_ok_and(|name| name.nodename().to_string_lossy() == job.host);
    is_host && job.has_our_numbers()
}

/// Whether the job's last process may run where it cannot be seen from here.
pub fn may_run(job: &Job) -> bool {
    matches!(job.state, State::Running | State::Returned) && !is_here(job)
}

/// What the store says about the run that is meant: the named one, or the one that began last. `None` if nothing ran, or,
/// after a warning, if the record is damaged.
///
/// # Errors
/// The store cannot be looked at.
pub fn job(store: &Path, run: Option<RunId>) -> Outcome<Option<Job>> {
    Ok(runs::told_of(store, run)?.and_then(|record| record.job.ok()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::code;

    #[test]
    fn the_newest_checkpoint_is_found_by_its_name() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(newest_id(folder.path()).unwrap(), None);
        for name in [
            "000002.h5",
            "000010.r0.h5",
            ".tmp-000011.h5",
            "000012.h5.tmp",
            "job.json",
        ] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        assert_eq!(newest_id(folder.path()).unwrap(), Some(10));
        assert_eq!(newest_id(&folder.path().join("none")).unwrap(), None);
    }

    #[test]
    fn one_store_is_taken_and_several_are_named() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(
            only_store_in(folder.path()).unwrap_err().exit_code(),
            code::NO_CHECKPOINT
        );
        fs::create_dir(folder.path().join("a.ckpt.d")).unwrap();
        assert_eq!(only_store_in(folder.path()).unwrap(), Path::new("a.ckpt.d"));
        fs::create_dir(folder.path().join("b.ckpt.d")).unwrap();
        assert!(
            only_store_in(folder.path())
                .unwrap_err()
                .to_string()
                .contains("several")
        );
    }

    #[test]
    fn folders_of_ranks_are_one_store() {
        let folder = tempfile::tempdir().unwrap();
        let touch = |name: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        };
        touch("run1-0.ckpt.d/000001.r0.h5");
        assert_eq!(
            only_store_in(folder.path()).unwrap(),
            Path::new("run1-0.ckpt.d"),
            "of one rank it is not known"
        );
        touch("run1-1.ckpt.d/000001.r1.h5");
        assert_eq!(
            only_store_in(folder.path()).unwrap(),
            Path::new("run1-{rank}.ckpt.d")
        );
        for part in ["run1-0.ckpt.d", "run1-1.ckpt.d"] {
            let of_all = of_all_ranks(&folder.path().join(part)).unwrap();
            assert!(of_all.ends_with("run1-{rank}.ckpt.d"), "{}", of_all.display());
        }
        // Two programs of one process, whose stores have numbers.
        touch("try-0.ckpt.d/000001.h5");
        touch("try-1.ckpt.d/000001.h5");
        assert_eq!(of_all_ranks(&folder.path().join("try-1.ckpt.d")), None);
        assert_eq!(stores_in(folder.path()).len(), 3);
    }

    #[test]
    fn a_checkpoint_is_named_by_number_or_as_the_latest() {
        assert_eq!("latest".parse(), Ok(Which::Latest));
        assert_eq!("000042".parse(), Ok(Which::Id(42)));
        assert!("newest".parse::<Which>().is_err());
    }
}
