//! Starting a program, passing signals on to it, and waiting for its end.

use std::fmt;
use std::io::IsTerminal;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use signal_hook::consts::{SIGINT, SIGKILL, SIGTERM, SIGUSR1};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::siginfo::{Cause, Origin};

use super::heard::Ranks;
use super::ranks;
use crate::failure::{Failure, OrFail, Outcome, says};
use crate::output::told;

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It left with this exit code.
    Code(i32),
    /// A signal ended it.
    Signal(i32),
}

impl Ending {
    /// The ending of a process that has been waited for.
    pub fn of(status: ExitStatus) -> Self {
        use std::os::unix::process::ExitStatusExt;
        match status.code() {
            Some(code) => Ending::Code(code),
            None => Ending::Signal(status.signal().unwrap_or_default()),
        }
    }

    /// The exit code that passes this ending on, as shells do it: 128 + the signal.
    pub fn exit_code(self) -> u8 {
        match self {
            Ending::Code(code) => code as u8,
            Ending::Signal(signal) => (128 + signal) as u8,
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ending::Code(101) => f.write_str("ended with exit code 101 (a panic)"),
            Ending::Code(code) => write!(f, "ended with exit code {code}"),
            Ending::Signal(signal) => match Signal::try_from(*signal) {
                Ok(name) => write!(f, "was killed by {name}"),
                Err(_) => write!(f, "was killed by signal {signal}"),
            },
        }
    }
}

#[derive(Debug, Default)]
struct Shared {
    child: Option<Pid>,
    /// What starts the ranks, where there are several.
    launcher: PathBuf,
    stop: Option<i32>,
    /// When the last Ctrl-C came.
    interrupted: Option<Instant>,
    /// The number of the process that ran last.
    last: Option<u32>,
    /// The program, where what is started is another one, which starts it.
    behind: Option<PathBuf>,
}

impl Shared {
    /// Whom a request is for: the program, also where another one has started it that may not pass signals on. An emulator runs it in
    /// its own process.
    fn addressed(&self, child: Pid) -> Vec<Pid> {
        let running = self.behind.as_deref().map(ranks::running).unwrap_or_default();
        match running.is_empty() {
            true => vec![child],
            false => running.into_iter().map(Pid::from_raw).collect(),
        }
    }
}

/// Starts programs one after the other and forwards SIGTERM, SIGINT and SIGUSR1 to the one that runs.
#[derive(Debug)]
pub struct Supervisor {
    shared: Arc<Mutex<Shared>>,
    /// Where the program is one of several processes, started by a launcher.
    ranks: Option<Ranks>,
}

impl Supervisor {
    /// Takes the signals over from now on. What is started may be the launcher of several processes.
    pub fn new(ranks: Option<Ranks>) -> Outcome<Self> {
        if ranks.is_some() {
            ranks::adopt_orphans();
        }
        let shared = Arc::new(Mutex::new(Shared::default()));
        let mut signals = SignalsInfo::<WithOrigin>::new([SIGTERM, SIGINT, SIGUSR1])
            .or_fail(|| Failure::start(says!("E3019: cannot take signals over")))?;
        let theirs = Arc::clone(&shared);
        let told = ranks.clone();
        std::thread::spawn(move || {
            for origin in signals.forever() {
                arrived(&origin, &theirs, told.as_ref());
            }
        });
        Ok(Supervisor { shared, ranks })
    }

    /// What is started is another program, which starts this one.
    #[must_use]
    pub fn of(self, behind: Option<&Path>) -> Self {
        lock(&self.shared).behind = behind.map(Path::to_path_buf);
        self
    }

    /// The signal that asked this process to stop, if one did.
    pub fn stopped(&self) -> Option<i32> {
        lock(&self.shared).stop
    }

    /// The number of the process that was started last.
    pub fn last(&self) -> Option<u32> {
        lock(&self.shared).last
    }

    /// Waits, unless a signal asks to stop.
    pub fn pause(&self, time: Duration) {
        let end = Instant::now() + time;
        while self.stopped().is_none() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(left.min(Duration::from_millis(50)));
        }
    }

    /// Runs the command to its end.
    pub fn run(&self, command: Command) -> Outcome<Ending> {
        Ok(self.run_for(command, None)?.0)
    }

    /// Runs the command to its end, or until it has run so long: then it gets SIGTERM, and SIGKILL where that does not
    /// help. Also says whether it was ended so.
    pub fn run_for(&self, mut command: Command, limit: Option<Duration>) -> Outcome<(Ending, bool)> {
        let failed = |error: std::io::Error, command: &Command| {
            let program = command.get_program().to_string_lossy().into_owned();
            Failure::start(says!("E3043: cannot start `{program}`"))
                .because(error)
                .help(match self.ranks {
                    Some(_) => "see that it is there and may be executed; another launcher is named with `--launcher`",
                    None => "see that it is there and may be executed",
                })
        };
        if self.ranks.is_some() {
            apart_from_the_terminal(&mut command);
        }
        let mut child = command.spawn().map_err(|error| failed(error, &command))?;
        let pid = Pid::from_raw(child.id() as i32);
        {
            let mut shared = lock(&self.shared);
            shared.child = Some(pid);
            shared.last = Some(child.id());
            shared.launcher = command.get_program().into();
            if let Some(signal) = shared.stop {
                ask(pid, signal, &self.shared, &shared, self.ranks.as_ref());
            }
        }
        let clock = limit.map(|limit| Clock::start(Arc::clone(&self.shared), limit));
        if wait_without_reaping(pid) {
            lock(&self.shared).child = None;
        }
        let ending = reap(&mut child).map_err(|error| failed(error, &command));
        lock(&self.shared).child = None;
        if self.ranks.is_some() {
            ranks::end_left_behind();
        }
        let stopped = clock.is_some_and(Clock::has_run_out);
        Ok((ending?, stopped))
    }
}

/// How long a program has after SIGTERM.
const GRACE: Duration = Duration::from_secs(2);

/// Ends the program that runs when its time is over.
struct Clock {
    stop: Sender<()>,
    thread: JoinHandle<bool>,
}

impl Clock {
    fn start(shared: Arc<Mutex<Shared>>, limit: Duration) -> Self {
        let (stop, stopped) = channel();
        let thread = std::thread::spawn(move || {
            let mut wait = limit;
            for signal in [SIGTERM, SIGKILL] {
                match stopped.recv_timeout(wait) {
                    Err(RecvTimeoutError::Timeout) => {}
                    _ => return signal == SIGKILL,
                }
                let state = lock(&shared);
                for process in state.child.iter().flat_map(|child| state.addressed(*child)) {
                    forward(process, signal);
                }
                drop(state);
                wait = GRACE;
            }
            true
        });
        Self { stop, thread }
    }

    fn has_run_out(self) -> bool {
        drop(self.stop);
        self.thread.join().unwrap_or(false)
    }
}

fn lock(shared: &Mutex<Shared>) -> std::sync::MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Interrupts that come closer to each other are one press: `timeout` sends one to a process and one to its group.
const ONE_PRESS: Duration = Duration::from_millis(100);

/// A signal asks the program to stop. The first Ctrl-C does it as well, the second ends it at once.
fn arrived(origin: &Origin, shared: &Arc<Mutex<Shared>>, ranks: Option<&Ranks>) {
    let mut state = lock(shared);
    if origin.signal == SIGINT {
        let before = state.interrupted.replace(Instant::now());
        if before.is_some_and(|before| before.elapsed() < ONE_PRESS) {
            return;
        }
    }
    let is_again = origin.signal == SIGINT && state.stop == Some(SIGINT);
    state.stop = Some(origin.signal);
    let Some(child) = state.child else { return };
    match ranks {
        Some(_) if is_again => ranks::end_all(),
        None if reaches_the_group(origin) => {}
        _ => ask(child, origin.signal, shared, &state, ranks),
    }
    if origin.signal == SIGINT && ranks.is_some() && !is_again {
        told!(
            "ckpt: interrupted: the ranks stop at their next site, with a checkpoint; press Ctrl-C again to end them at once"
        );
    }
}

/// Ctrl-C at a terminal is sent by the kernel to the whole foreground group: a program without ranks has it already.
fn reaches_the_group(origin: &Origin) -> bool {
    origin.signal == SIGINT && matches!(origin.cause, Cause::Kernel)
}

/// Passes a request to stop on. Launchers pass SIGUSR1 on to the processes; on SIGTERM and SIGINT they kill them before a
/// checkpoint could be written.
fn ask(child: Pid, signal: i32, shared: &Arc<Mutex<Shared>>, state: &Shared, ranks: Option<&Ranks>) {
    let signal = if ranks.is_some() { SIGUSR1 } else { signal };
    let addressed = state.addressed(child);
    addressed.into_iter().for_each(|process| forward(process, signal));
    let Some(ranks) = ranks else { return };
    let (ranks, launcher, shared) = (ranks.clone(), state.launcher.clone(), Arc::clone(shared));
    std::thread::spawn(move || {
        let runs = || lock(&shared).child == Some(child);
        ranks.see_to_it(&launcher, &runs);
    });
}

/// What is pressed at the terminal is for this process, which has the ranks stop in order: a launcher would kill them. In a group
/// of its own it may not read from the terminal either.
fn apart_from_the_terminal(command: &mut Command) {
    command.process_group(0);
    if std::io::stdin().is_terminal() {
        command.stdin(Stdio::null());
    }
}

fn forward(child: Pid, signal: i32) {
    if let Ok(signal) = Signal::try_from(signal) {
        // It may have ended in this moment: then there is nobody to tell.
        let _ = kill(child, signal);
    }
}

/// Waits for the end but leaves the process number taken, so that a signal cannot be forwarded to a stranger.
/// False where the system has no such call.
#[cfg(target_os = "linux")]
fn wait_without_reaping(pid: Pid) -> bool {
    use nix::errno::Errno;
    use nix::sys::wait::{Id, WaitPidFlag, waitid};
    let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT;
    loop {
        match waitid(Id::Pid(pid), flags) {
            Err(Errno::EINTR) => {}
            outcome => return outcome.is_ok(),
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn wait_without_reaping(_: Pid) -> bool {
    false
}

fn reap(child: &mut Child) -> std::io::Result<Ending> {
    child.wait().map(Ending::of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_pass_on_as_shells_do_it() {
        assert_eq!(Ending::Code(75).exit_code(), 75);
        assert_eq!(Ending::Signal(9).exit_code(), 137);
        assert_eq!(Ending::Signal(9).to_string(), "was killed by SIGKILL");
    }

    #[test]
    fn a_program_that_kills_itself_is_reported_as_killed() {
        let supervisor = Supervisor::new(None).unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "kill -9 $$"]);
        assert_eq!(supervisor.run(command).unwrap(), Ending::Signal(9));
        let mut command = Command::new("sh");
        command.args(["-c", "exit 7"]);
        assert_eq!(supervisor.run(command).unwrap(), Ending::Code(7));
    }

    #[test]
    fn a_program_is_ended_when_its_time_is_over() {
        let supervisor = Supervisor::new(None).unwrap();
        let sh = |text: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", text]);
            command
        };
        let limit = Some(Duration::from_millis(80));
        let ended = supervisor.run_for(sh("exec sleep 60"), limit).unwrap();
        assert_eq!(ended, (Ending::Signal(SIGTERM), true));
        let ended = supervisor
            .run_for(sh("exit 3"), Some(Duration::from_secs(60)))
            .unwrap();
        assert_eq!(ended, (Ending::Code(3), false));
    }
}
