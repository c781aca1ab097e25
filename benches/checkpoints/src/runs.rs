//! The runs that are measured, and what their records say.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail, ensure};
use tempfile::TempDir;

use crate::built::{Built, Variant, runs_in};
use crate::events::{Event, Resumed, Taken, What};
use crate::programs::Home;

/// How often a run is looked at, and its memory, for which all processes are looked through.
const LOOK: Duration = Duration::from_millis(2);
const LOOK_AT_MEMORY: Duration = Duration::from_millis(50);
/// So often a run is made anew that ended before it could be killed.
const TRIES: u32 = 5;
/// A run that takes longer is given up.
const LONGEST: Duration = Duration::from_secs(600);

/// When checkpoints are taken.
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    /// Never: the clock is asked all the same.
    Never,
    /// At every so many visits of a site.
    Every(u64),
    /// By the clock.
    Interval(Duration),
}

/// A run that came to its end.
pub struct Run {
    pub seconds: f64,
    /// What it printed, without what differs from run to run.
    pub lines: Vec<String>,
    pub events: Vec<Event>,
    /// Bytes of memory of a rank, where somebody looked.
    pub memory: u64,
}

/// A restart, and how many seconds it was from the kill until the program ran on.
#[derive(Clone, Copy)]
pub struct Recovered {
    pub resumed: Resumed,
    pub after: f64,
}

impl Run {
    /// How many visits of sites there were.
    pub fn visits(&self) -> Result<u64> {
        let ends = self.events.iter().rev().filter_map(|event| match &event.what {
            What::End { visits } => Some(*visits),
            _ => None,
        });
        { ends }.next().context("the run has told of its end")
    }

    pub fn taken(&self) -> Vec<Taken> {
        let taken = self.events.iter().filter_map(|event| match event.what {
            What::Checkpoint(taken) => Some(taken),
            _ => None,
        });
        taken.collect()
    }
}

/// A run that goes on, in a folder of its own.
struct Going<'b> {
    built: &'b Built,
    folder: &'b Path,
    child: Child,
    began: Instant,
}

impl<'b> Going<'b> {
    fn start(
        built: &'b Built,
        variant: Variant,
        rule: Rule,
        restarts: bool,
        folder: &'b Path,
    ) -> Result<Self> {
        let mut command: Command = built.command(variant, folder);
        let output = folder.join(if restarts { "printed-again" } else { "printed" });
        command.stdout(File::create(output)?);
        command.stderr(File::create(folder.join("said"))?);
        command.stdin(Stdio::null()).env("CKPT_QUIET", "1");
        match rule {
            Rule::Never => command.env("CKPT_INTERVAL", "1h"),
            Rule::Every(visits) => command.env("CKPT_EVERY", visits.to_string()),
            Rule::Interval(time) => command.env("CKPT_INTERVAL", format!("{}ms", time.as_millis())),
        };
        if restarts {
            command.env("CKPT_RESTART", "latest");
        }
        let began = Instant::now();
        let child = command
            .spawn()
            .with_context(|| format!("cannot start {command:?}"))?;
        Ok(Going {
            built,
            folder,
            child,
            began,
        })
    }

    /// Whether it has ended, with success or without.
    fn has_ended(&mut self) -> Result<Option<bool>> {
        if self.began.elapsed() > LONGEST {
            self.child.kill()?;
            bail!("{} takes longer than {LONGEST:?}", self.built.program.name);
        }
        Ok(self.child.try_wait()?.map(|status| status.success()))
    }

    /// What it has told of so far.
    fn events(&self) -> Vec<Event> {
        let text = runs_in(self.folder).and_then(|run| Ok(fs::read_to_string(run.join("events.log"))?));
        // The last line may be on its way.
        let lines = text.unwrap_or_default();
        lines
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()
    }

    /// Waits until it has told of something.
    fn wait_for<T>(&mut self, find: impl Fn(&Event) -> Option<T>) -> Result<T> {
        loop {
            // What it told of at its end is there once it has ended.
            let has_ended = self.has_ended()?.is_some();
            if let Some(found) = self.events().iter().rev().find_map(&find) {
                return Ok(found);
            }
            ensure!(!has_ended, "it ended before: {}", self.said());
            thread::sleep(LOOK);
        }
    }

    fn said(&self) -> String {
        fs::read_to_string(self.folder.join("said")).unwrap_or_default()
    }

    fn printed(&self, file: &str) -> Result<Vec<String>> {
        let text = fs::read_to_string(self.folder.join(file))?;
        let ignored = self.built.program.ignored;
        let lines = text
            .lines()
            .filter(|line| !ignored.iter().any(|one| line.starts_with(one)));
        Ok(lines.map(str::to_owned).collect())
    }
}

/// A whole run. Where its memory is asked for it is looked at time and again, which takes time from it.
///
/// # Errors
/// It fails.
pub fn whole(built: &Built, variant: Variant, rule: Rule, looks: bool) -> Result<Run> {
    let folder = TempDir::new()?;
    let mut going = Going::start(built, variant, rule, false, folder.path())?;
    let mut memory = 0;
    let succeeded = loop {
        if let Some(succeeded) = going.has_ended()? {
            break succeeded;
        }
        if looks {
            memory = memory.max(memory_of(built.executable(variant)));
        }
        thread::sleep(if looks { LOOK_AT_MEMORY } else { LOOK });
    };
    let seconds = going.began.elapsed().as_secs_f64();
    ensure!(succeeded, "{}: {}", built.program.name, going.said());
    Ok(Run {
        seconds,
        lines: going.printed("printed")?,
        events: going.events(),
        memory,
    })
}

/// A run of which one rank is killed behind a checkpoint, and its restart, which has to print what is left of `lines`.
///
/// # Errors
/// It fails, or prints something else.
pub fn killed(built: &Built, every: u64, lines: &[String]) -> Result<Recovered> {
    let rule = Rule::Every(every);
    let tries = (0..TRIES).map(|_| kill_one(built, rule));
    let killed = { tries }.find_map(Result::transpose);
    let (folder, killed) = killed.context("it always ends before it can be killed")??;
    let mut again = Going::start(built, Variant::Instrumented, rule, true, folder.path())?;
    let recovered = again.wait_for(|event| match event.what {
        What::Resume(resumed) => Some(Recovered {
            resumed,
            after: event.at - killed,
        }),
        _ => None,
    });
    let succeeded = loop {
        if let Some(succeeded) = again.has_ended()? {
            break succeeded;
        }
        thread::sleep(LOOK);
    };
    ensure!(succeeded, "{}: {}", built.program.name, again.said());
    let rest = again.printed("printed-again")?;
    ensure!(
        !rest.is_empty() && lines.ends_with(&rest),
        "{}: the restart prints something else",
        built.program.name
    );
    recovered
}

/// A run of which the first rank is killed once all have their parts of a checkpoint, with its folder and the time of the
/// kill. None if it ended before.
fn kill_one(built: &Built, rule: Rule) -> Result<Option<(TempDir, f64)>> {
    let folder = TempDir::new()?;
    let mut going = Going::start(built, Variant::Instrumented, rule, false, folder.path())?;
    let pid = going.wait_for(|event| match event.what {
        What::Start { pid } => Some(pid),
        _ => None,
    })?;
    let ranks = match built.program.home {
        Home::Mpi(ranks) => ranks as usize,
        Home::Alone => 1,
    };
    while parts_in(folder.path())? < ranks {
        if going.has_ended()?.is_some() {
            return Ok(None);
        }
        thread::sleep(LOOK);
    }
    let killed = now()?;
    let mut kill = Command::new("kill");
    kill.args(["-9", &pid.to_string()]).stderr(Stdio::null());
    let was_there = kill.status()?.success();
    let succeeded = loop {
        if let Some(succeeded) = going.has_ended()? {
            break succeeded;
        }
        thread::sleep(LOOK);
    };
    Ok((was_there && !succeeded).then_some((folder, killed)))
}

/// How many ranks have their parts of the checkpoint in the store in a folder.
fn parts_in(folder: &Path) -> Result<usize> {
    let runs = runs_in(folder)?;
    let store = runs.ancestors().nth(2).context("runs are in a store")?;
    let is_part = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.ends_with(".h5") && !name.starts_with('.')
    };
    Ok(fs::read_dir(store)?.flatten().filter(is_part).count())
}

fn now() -> Result<f64> {
    Ok(SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs_f64())
}

/// Bytes that a process of this executable has for itself, the most of all of them.
fn memory_of(executable: &Path) -> u64 {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ours = processes
        .map(|entry| entry.path())
        .filter(|process| fs::read_link(process.join("exe")).is_ok_and(|path| path == executable));
    let anonymous = |process: &Path| {
        let status = fs::read_to_string(process.join("status")).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
        let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kilobytes * 1024)
    };
    ours.filter_map(|process| anonymous(&process)).max().unwrap_or(0)
}
