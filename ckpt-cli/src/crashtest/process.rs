//! One process of a crash test: started in the scratch folder with its output in files, killed at an instant if asked,
//! and ended when it takes far too long.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::plan::Victim;
use crate::cargo::Program;
use crate::cargo::SitesOf;
use crate::failure::{AboutFile, Failure, OrFail, Outcome, says};
use crate::launch::{Ending, RankOptions, ranks};
use crate::output::told;
use crate::render;

/// What all processes of a crash test have in common.
#[derive(Debug)]
pub struct Launcher {
    program: Program,
    arguments: Vec<OsString>,
    stdin: Option<PathBuf>,
    /// How many processes it has.
    pub ranks: RankOptions,
    /// Set by Ctrl-C and SIGTERM.
    interrupted: Arc<AtomicBool>,
}

/// When a process is stopped by us.
#[derive(Debug, Clone, Copy)]
pub struct Until {
    /// SIGKILL at this time after the start.
    pub kill: Option<Duration>,
    /// Whom.
    pub victim: Victim,
    /// It hangs if it takes longer than this.
    pub limit: Option<Duration>,
    /// Nobody knows yet how long it takes: after a while the user is told what is waited for.
    pub is_told_of: bool,
    /// Stopped and continued.
    pub stretched: Option<Stretched>,
}

/// A process that is stopped and continued, and so takes at least twice as long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretched {
    /// How long it would take by itself.
    by_itself: Duration,
    /// How often it is stopped.
    pauses: u32,
    /// The least that a pause lasts.
    shortest: Duration,
}

/// Pauses that are long enough to be seen in whatever takes a tenth of the run.
const FEW: u32 = 8;

impl Stretched {
    /// A few times.
    pub fn of(by_itself: Duration) -> Self {
        Stretched {
            by_itself,
            pauses: FEW,
            shortest: Duration::from_millis(15),
        }
    }

    /// So often that what takes a thousandth of it, or a millisecond, is likely to be stopped as well: a time of a millisecond
    /// that is printed is the same in many runs. Whoever else wants the processors goes first.
    pub fn finely(by_itself: Duration) -> Self {
        let of_a_millisecond = u32::try_from(by_itself.as_micros() / 700).unwrap_or_default();
        Stretched {
            by_itself,
            pauses: of_a_millisecond.max(1500),
            shortest: Duration::from_millis(2),
        }
    }

    /// Whether it is stopped so often.
    pub fn is_fine(self) -> bool {
        self.pauses > FEW
    }
}

/// A process that has ended.
#[derive(Debug)]
pub struct Finished {
    /// How.
    pub ending: Ending,
    /// It was ended because it took too long.
    pub too_long: bool,
    /// What every rank printed.
    pub stdout: Vec<Vec<u8>>,
    /// The end of what it said on standard error.
    pub stderr: String,
    /// How long it ran.
    pub time: Duration,
    /// The most memory that it had resident, in bytes, as last seen before it ended; none where `/proc` does not tell.
    pub peak_bytes: Option<u64>,
}

/// How a process ended, and what was seen of it until then.
#[derive(Debug)]
struct Watched {
    ending: Ending,
    too_long: bool,
    peak_bytes: Option<u64>,
}

impl Launcher {
    /// Prepares to start the program; from now on Ctrl-C ends the crash test in an orderly way.
    pub fn new(
        program: Program,
        arguments: Vec<OsString>,
        ranks: RankOptions,
        stdin: Option<&Path>,
    ) -> Outcome<Self> {
        if ranks.ranks.is_some() || program.behind_runner().is_some() {
            ranks::adopt_orphans();
        }
        let interrupted = Arc::new(AtomicBool::new(false));
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            signal_hook::flag::register(signal, Arc::clone(&interrupted))
                .or_fail(|| Failure::start(says!("E3019: cannot take signals over")))?;
        }
        let stdin = stdin
            .map(|path| fs::canonicalize(path).about("cannot read", path))
            .transpose()?;
        Ok(Launcher {
            program,
            arguments,
            stdin,
            ranks,
            interrupted,
        })
    }

    /// Runs one process in `folder`, with this `CKPT_*` environment and no other.
    pub fn run(
        &self,
        folder: &Path,
        outputs: &Path,
        environment: &[(&str, OsString)],
        until: Until,
    ) -> Outcome<Finished> {
        let (stdout, stderr) = (outputs.join("stdout"), outputs.join("stderr"));
        let mut command = self.command(outputs)?;
        command.current_dir(folder);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("CKPT_") {
                command.env_remove(name);
            }
        }
        command.envs(environment.iter().map(|(name, value)| (name, value)));
        let mut command = self.ranks.wrap(command)?;
        command.stdin(match &self.stdin {
            Some(path) => Stdio::from(File::open(path).about("cannot read", path)?),
            None => Stdio::null(),
        });
        command.stdout(File::create(&stdout).about("cannot write", &stdout)?);
        command.stderr(File::create(&stderr).about("cannot write", &stderr)?);
        let start = Instant::now();
        let started = command.get_program().to_string_lossy().into_owned();
        let child = command.spawn().or_fail(|| {
            Failure::start(says!("E3020: cannot start `{started}`"))
                .help("is it a program for this machine, and may it be executed?")
        })?;
        if until.stretched.is_some_and(Stretched::is_fine) {
            // Where this cannot be done, pauses are all that it has.
            let _ = rustix::process::setpriority_process(Some(rustix::process::Pid::from_child(&child)), 12);
        }
        let watched = self.wait(child, start, until);
        if self.is_below_another() {
            ranks::end_left_behind();
        }
        let watched = watched?;
        Ok(Finished {
            ending: watched.ending,
            too_long: watched.too_long,
            peak_bytes: watched.peak_bytes,
            time: start.elapsed(),
            stdout: self.printed(outputs, "stdout")?,
            stderr: last_lines(&self.printed(outputs, "stderr")?.concat()),
        })
    }

    /// Who has put the sites into the program.
    pub fn sites(&self) -> SitesOf {
        self.program.sites
    }

    /// Whether what is started is not the program but a launcher or a runner, which starts it.
    fn is_below_another(&self) -> bool {
        self.ranks.ranks.is_some() || self.program.behind_runner().is_some()
    }

    /// The program with its arguments; every rank of it writes to files of its own.
    fn command(&self, outputs: &Path) -> Outcome<Command> {
        let mut command = self.program.command();
        command.args(&self.arguments);
        let Some(ranks) = self.ranks.ranks else {
            return Ok(command);
        };
        for rank in 0..ranks {
            for stream in ["stdout", "stderr"] {
                let path = of_rank(outputs, stream, rank);
                File::create(&path).about("cannot write", &path)?;
            }
        }
        let mut shell = Command::new("sh");
        shell.args(["-c", TO_FILES]).arg(outputs);
        shell.arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            shell.envs(value.map(|value| (name, value)));
        }
        Ok(shell)
    }

    /// What every rank wrote to a stream, or the one process.
    fn printed(&self, outputs: &Path, stream: &str) -> Outcome<Vec<Vec<u8>>> {
        let paths = match self.ranks.ranks {
            Some(ranks) => (0..ranks).map(|rank| of_rank(outputs, stream, rank)).collect(),
            None => vec![outputs.join(stream)],
        };
        let read = |path: &PathBuf| fs::read(path).about("cannot read", path);
        paths.iter().map(read).collect()
    }

    /// Whether a program ended so because it was killed. A launcher that loses a rank ends with a code of its own, and a runner that
    /// is a shell with 128 + 9.
    pub fn was_killed(&self, ending: Ending) -> bool {
        match ending {
            Ending::Signal(signal) => signal == 9,
            Ending::Code(137) => self.is_below_another(),
            Ending::Code(code) => self.ranks.ranks.is_some() && !matches!(code, 0 | 75..=79),
        }
    }

    /// Strikes, at the instant of the kill; whether anything was there to be struck.
    fn strike(&self, child: &mut Child, victim: Victim) -> bool {
        let running = || ranks::running(&self.program.executable);
        let victims = match victim {
            // It may just have ended by itself: `wait` says so. What a runner has started dies with it.
            Victim::Process if self.program.behind_runner().is_some() && self.ranks.ranks.is_none() => {
                let killed = child.kill().is_ok();
                running().into_iter().for_each(ranks::end);
                return killed;
            }
            Victim::Process | Victim::Launcher => return child.kill().is_ok(),
            Victim::All => running(),
            Victim::Rank(rank) => running().get(rank as usize).copied().into_iter().collect(),
        };
        victims.iter().copied().for_each(ranks::end);
        !victims.is_empty()
    }

    fn wait(&self, mut child: Child, start: Instant, until: Until) -> Outcome<Watched> {
        let (mut too_long, mut peak_bytes) = (false, None);
        let mut pauses = Pauses::over(until.stretched.filter(|_| !self.is_below_another()));
        let ended = |status, too_long, peak_bytes| Watched {
            ending: Ending::of(status),
            too_long,
            peak_bytes,
        };
        let cannot_wait = || Failure::start(says!("E3021: cannot wait"));
        let mut nap = Duration::from_micros(200);
        let mut kill = until.kill;
        let mut launcher_until = None;
        let mut tells = until.is_told_of.then(|| first_word(until.limit));
        loop {
            if !self.is_below_another() {
                peak_bytes = peak_of(child.id()).or(peak_bytes);
            }
            let status = child.try_wait().or_fail(cannot_wait)?;
            if let Some(status) = status {
                // Ctrl-C reaches the program too: its end is no result.
                return if self.interrupted.load(Ordering::Relaxed) {
                    Err(Failure::interrupted())
                } else {
                    Ok(ended(status, too_long, peak_bytes))
                };
            }
            pauses.stop_while_due(&child, start);
            let running = start.elapsed();
            if tells.is_some_and(|after| running >= after) {
                tells = None;
                tell_what_is_waited_for(running, until.limit);
            }
            too_long |= until.limit.is_some_and(|limit| running > limit);
            let interrupted = self.interrupted.load(Ordering::Relaxed);
            let strikes = kill.is_some_and(|instant| running >= instant);
            if strikes && !matches!(until.victim, Victim::Process | Victim::Launcher) {
                // What started the ranks sees that one has died.
                launcher_until = self.strike(&mut child, until.victim).then(|| running + AFTERMATH);
                kill = None;
                continue;
            }
            let hangs = launcher_until.is_some_and(|end| running >= end);
            if too_long || interrupted || strikes || hangs {
                self.strike(&mut child, Victim::Process);
                let status = child.wait();
                if interrupted {
                    return Err(Failure::interrupted());
                }
                return Ok(ended(status.or_fail(cannot_wait)?, too_long, peak_bytes));
            }
            let left = kill.map_or(nap, |instant| instant.saturating_sub(running));
            std::thread::sleep(nap.min(left).min(pauses.until_next(start)));
            nap = (nap * 2).min(Duration::from_millis(5));
        }
    }
}

/// A run of which nobody knows how long it takes is told of after this.
const A_WHILE: Duration = Duration::from_secs(60);

/// When it is, before it is ended.
fn first_word(limit: Option<Duration>) -> Duration {
    limit.map_or(A_WHILE, |limit| A_WHILE.min(limit / 2))
}

fn tell_what_is_waited_for(running: Duration, limit: Option<Duration>) {
    let limit = limit.map_or_else(String::new, |limit| {
        format!(", at most {} (`--run-limit`)", render::duration(limit))
    });
    told!(
        "ckpt: warning[W2425]: the program runs for {} by now, without being killed\n  \
         why:   a crash test compares with a whole run, and waits for its end{limit}\n  \
         help:  a program that does not end by itself cannot be tested; give it arguments or an input with which it ends soon: it is run many times",
        render::duration(running)
    );
}

/// Times at which a process is stopped for a while, so that a clock in it shows something else than in another run: what
/// a program prints of short times, `Time in seconds = 0.15`, is the same twice by chance.
#[derive(Debug)]
struct Pauses {
    /// Of the process's own time, from one pause to the next.
    apart: Duration,
    length: Duration,
    left: u32,
    /// Time spent in pauses.
    stopped: Duration,
    taken: u32,
}

impl Pauses {
    /// Spread over a run.
    fn over(run: Option<Stretched>) -> Self {
        let longest = Duration::from_millis(250);
        let (apart, length, left) = run.map_or_else(Default::default, |run| {
            let length = (run.by_itself / run.pauses).clamp(run.shortest, longest);
            (run.by_itself / (run.pauses + 1), length, run.pauses)
        });
        Pauses {
            apart,
            length,
            left,
            stopped: Duration::ZERO,
            taken: 0,
        }
    }

    fn next(&self) -> Option<Duration> {
        (self.left > 0).then(|| self.apart * (self.taken + 1) + self.stopped)
    }

    fn until_next(&self, start: Instant) -> Duration {
        self.next()
            .map_or(Duration::MAX, |next| next.saturating_sub(start.elapsed()))
    }

    /// Pauses that follow one another closely are taken one behind the other: more of them fit into a short time.
    fn stop_while_due(&mut self, child: &Child, start: Instant) {
        for _ in 0..20 {
            if self.until_next(start) > Duration::from_millis(1) {
                return;
            }
            std::thread::sleep(self.until_next(start));
            self.stop_when_due(child, start);
        }
    }

    fn stop_when_due(&mut self, child: &Child, start: Instant) {
        use nix::sys::signal::{Signal, kill};
        let due = self.next().is_some_and(|next| start.elapsed() >= next);
        let process = nix::unistd::Pid::from_raw(child.id() as i32);
        // It may have ended just now; nobody has waited for it yet, so the number is still its own.
        if due && kill(process, Signal::SIGSTOP).is_ok() {
            let before = Instant::now();
            std::thread::sleep(self.length);
            let _ = kill(process, Signal::SIGCONT);
            self.stopped += before.elapsed();
            self.taken += 1;
            self.left -= 1;
        }
    }
}

/// How long a launcher may take to end after one of its ranks has died. That of Open MPI 4.1 waits for ever if it happens
/// while they start.
const AFTERMATH: Duration = Duration::from_secs(10);

/// Sends the output of a rank to files of its own: `$0` is their folder. Each launcher has its name for the rank's number.
const TO_FILES: &str = r#"rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-${PMIX_RANK:-${MV2_COMM_WORLD_RANK:-${SLURM_PROCID:-0}}}}}
exec "$@" >>"$0/stdout.$rank" 2>>"$0/stderr.$rank""#;

fn of_rank(outputs: &Path, stream: &str, rank: u32) -> PathBuf {
    outputs.join(format!("{stream}.{rank}"))
}

/// The most memory that a running process has had resident. What `wait` would tell of the dead (`ru_maxrss`) includes
/// our own pages, which the process shared until it became the program.
fn peak_of(process: u32) -> Option<u64> {
    peak_in(&fs::read_to_string(format!("/proc/{process}/status")).ok()?)
}

/// `VmHWM:     1234 kB` of Linux's `/proc/PID/status`, in bytes; a process that has ended has no such line.
fn peak_in(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// The last lines before a backtrace: there the message is.
fn last_lines(bytes: &[u8]) -> String {
    const MOST: usize = 12;
    let text = String::from_utf8_lossy(bytes);
    let is_backtrace = |line: &&str| line.trim().eq_ignore_ascii_case("stack backtrace:");
    let lines: Vec<_> = text.lines().take_while(|line| !is_backtrace(line)).collect();
    lines[lines.len().saturating_sub(MOST)..]
        .join("\n")
        .trim_end()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_read_as_bytes() {
        let status = "Name:\tsum\nVmPeak:\t    5000 kB\nVmHWM:\t    1234 kB\n";
        assert_eq!(peak_in(status), Some(1234 * 1024));
        assert_eq!(peak_in("Name:\tsum\nState:\tZ (zombie)\n"), None);
    }

    #[test]
    fn a_stretched_process_takes_longer_by_its_pauses() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let start = Instant::now();
        let mut pauses = Pauses::over(Some(Stretched::of(Duration::from_millis(20))));
        while pauses.left > 0 {
            std::thread::sleep(pauses.until_next(start));
            pauses.stop_when_due(&child, start);
        }
        assert_eq!(pauses.until_next(start), Duration::MAX);
        assert!(pauses.stopped >= Duration::from_millis(15) * FEW);
        drop(child.stdin.take());
        assert!(child.wait().unwrap().success());
        assert_eq!(Pauses::over(None).next(), None);
    }

    #[test]
    fn no_millisecond_of_a_run_goes_without_a_pause() {
        for seconds in 1..5 {
            let pauses = Pauses::over(Some(Stretched::finely(Duration::from_secs(seconds))));
            assert!(pauses.apart < Duration::from_millis(1), "{seconds} s: {pauses:?}");
        }
    }

    #[test]
    fn the_message_before_a_backtrace_is_kept() {
        assert_eq!(
            last_lines(b"step 1\nError: no deck\n\nStack backtrace:\n 0: main\n"),
            "step 1\nError: no deck"
        );
        let many: String = (0..40).map(|line| format!("{line}\n")).collect();
        assert!(last_lines(many.as_bytes()).starts_with("28\n"));
    }
}
