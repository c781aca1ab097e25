//! A program from its start to its end, held at each of its calls.

use std::collections::HashMap;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use super::call::Call;
use super::core::OneCore;
use super::filter;
use super::{Action, Tracee, Watcher};

/// Time after which a program that has not ended is taken to hang.
const PATIENCE: Duration = Duration::from_secs(120);
/// Seconds of processor time after which it is taken to go round in circles.
const LONGEST_WORK: u64 = 30;

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It left with this code.
    Code(i32),
    /// A signal of this number ended it.
    Signal(i32),
    /// It did not end and was killed.
    Hung,
}

/// A program that has ended.
#[derive(Debug, Clone)]
pub struct Run {
    /// How.
    pub ended: Ended,
    /// What it printed.
    pub stdout: Vec<u8>,
    /// What it and ckpt said.
    pub stderr: String,
}

/// What is to be run, and where.
#[derive(Debug, Clone)]
pub struct Launch {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// What its environment has besides.
    pub environment: Vec<(String, String)>,
    /// Where it works.
    pub folder: PathBuf,
    /// Where its output is kept, outside of that.
    pub output: PathBuf,
}

impl Launch {
    fn command(&self) -> io::Result<Command> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).current_dir(&self.folder);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("CKPT_") {
                command.env_remove(name);
            }
        }
        command
            .envs(self.environment.iter().cloned())
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Ok(command)
    }

    /// Runs it to its end, and nobody watches.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn run(&self) -> io::Result<Run> {
        let mut command = self.command()?;
        // SAFETY: `bounded` makes system calls only.
        unsafe { command.pre_exec(bounded) };
        use std::os::unix::process::ExitStatusExt;
        let mut child = command.spawn()?;
        let output = (collected(child.stdout.take()), collected(child.stderr.take()));
        let watchdog = Watchdog::over(child.id() as libc::pid_t);
        let status = child.wait()?;
        let ended = match (status.code(), status.signal()) {
            (Some(code), _) => Ended::Code(code),
            (None, signal) => by_signal(signal.unwrap_or(0)),
        };
        self.ended(watchdog.saw(ended), output)
    }

    /// Runs it to its end under the eyes of a watcher.
    ///
    /// # Errors
    /// It cannot be started or held.
    pub fn watched(&self, watcher: &mut dyn Watcher) -> io::Result<Run> {
        let mut command = self.command()?;
        let program = filter::filter(|kind| watcher.hears(kind));
        let _both = OneCore::stay();
        let prepare = move || {
            bounded()?;
            // SAFETY: the call has no arguments that matter.
            if unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) } != 0 {
                return Err(io::Error::last_os_error());
            }
            filter::put_on(&program)
        };
        // SAFETY: `prepare` makes system calls only; what it needs was made before.
        unsafe { command.pre_exec(prepare) };
        // It is not waited for by way of the handle: the loop below sees its end.
        let mut child = command.spawn()?;
        let output = (collected(child.stdout.take()), collected(child.stderr.take()));
        let pid = child.id() as libc::pid_t;
        let watchdog = Watchdog::over(pid);
        let ended = Loop {
            pid,
            told: HashMap::new(),
        }
        .run(watcher)?;
        self.ended(watchdog.saw(ended), output)
    }

    fn ended(&self, ended: Ended, (stdout, stderr): (Collected, Collected)) -> io::Result<Run> {
        let stderr = stderr.join().unwrap_or_default();
        Ok(Run {
            ended,
            stdout: stdout.join().unwrap_or_default(),
            stderr: String::from_utf8_lossy(&stderr).into_owned(),
        })
    }
}

type Collected = JoinHandle<Vec<u8>>;

/// What comes out of a pipe until all have closed it. A file would be one of the program's.
fn collected(pipe: Option<impl Read + Send + 'static>) -> Collected {
    std::thread::spawn(move || {
        let mut all = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut all);
        }
        all
    })
}

/// Kills a program that does not end. A timer of the program's own would be a part of its state.
struct Watchdog {
    has_ended: Sender<()>,
    thread: JoinHandle<bool>,
}

impl Watchdog {
    fn over(pid: libc::pid_t) -> Watchdog {
        let (has_ended, ended) = channel();
        let thread = std::thread::spawn(move || {
            let hangs = ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout);
            if hangs {
                // SAFETY: the call has no pointers; whoever waits for the process has not done so yet.
                unsafe { libc::kill(pid, libc::SIGKILL) };
            }
            hangs
        });
        Watchdog { has_ended, thread }
    }

    /// How a program ended, unless it was this that ended it.
    fn saw(self, ended: Ended) -> Ended {
        drop(self.has_ended);
        match self.thread.join() {
            Ok(true) => Ended::Hung,
            _ => ended,
        }
    }
}

/// Sees to it that this process does not go round in circles for ever.
fn bounded() -> io::Result<()> {
    let limit = libc::rlimit {
        rlim_cur: LONGEST_WORK,
        rlim_max: LONGEST_WORK,
    };
    let none = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the structures outlive the calls, which only read them.
    unsafe {
        libc::setrlimit(libc::RLIMIT_CPU, &limit);
        libc::setrlimit(libc::RLIMIT_CORE, &none);
    }
    Ok(())
}

fn by_signal(signal: i32) -> Ended {
    match signal {
        libc::SIGXCPU => Ended::Hung,
        signal => Ended::Signal(signal),
    }
}

struct Loop {
    pid: libc::pid_t,
    /// Threads that are in a call whose result is waited for, and what it is to be.
    told: HashMap<libc::pid_t, (Call, Option<i32>)>,
}

impl Loop {
    fn run(mut self, watcher: &mut dyn Watcher) -> io::Result<Ended> {
        let mut ended = Ended::Hung;
        let mut is_ready = false;
        loop {
            let mut status = 0;
            // SAFETY: the kernel writes to `status` for the time of the call. Only children of this thread are waited for:
            // others may have their own.
            let pid = unsafe { libc::waitpid(-1, &mut status, libc::__WALL | libc::__WNOTHREAD) };
            if pid < 0 {
                let error = io::Error::last_os_error();
                match error.raw_os_error() {
                    Some(libc::ECHILD) => return Ok(ended),
                    Some(libc::EINTR) => continue,
                    _ => return Err(error),
                }
            }
            if libc::WIFEXITED(status) || libc::WIFSIGNALED(status) {
                if pid == self.pid {
                    ended = match libc::WIFEXITED(status) {
                        true => Ended::Code(libc::WEXITSTATUS(status)),
                        false => by_signal(libc::WTERMSIG(status)),
                    };
                }
                continue;
            }
            if !is_ready {
                is_ready = true;
                let options = libc::PTRACE_O_TRACESECCOMP
                    | libc::PTRACE_O_TRACECLONE
                    | libc::PTRACE_O_TRACEFORK
                    | libc::PTRACE_O_TRACEVFORK
                    | libc::PTRACE_O_TRACESYSGOOD
                    | libc::PTRACE_O_EXITKILL;
                // SAFETY: the call has no pointers.
                unsafe { libc::ptrace(libc::PTRACE_SETOPTIONS, pid, 0, options) };
                go_on(pid, libc::PTRACE_CONT, 0);
                continue;
            }
            self.stopped(pid, status, watcher);
        }
    }

    fn stopped(&mut self, pid: libc::pid_t, status: i32, watcher: &mut dyn Watcher) {
        let (signal, event) = (libc::WSTOPSIG(status), status >> 16);
        if event == libc::PTRACE_EVENT_SECCOMP {
            return self.call(pid, watcher);
        }
        if signal == libc::SIGTRAP | 0x80 {
            self.returned(pid, watcher);
        }
        // New threads begin with a stop; the rest of the events are told by a trap.
        let passed_on = match signal {
            _ if event != 0 => 0,
            libc::SIGSTOP | libc::SIGTRAP => 0,
            signal if signal == libc::SIGTRAP | 0x80 => 0,
            signal => signal,
        };
        go_on(pid, libc::PTRACE_CONT, passed_on);
    }

    fn call(&mut self, pid: libc::pid_t, watcher: &mut dyn Watcher) {
        let tracee = Tracee(pid);
        // A thread that another one has killed meanwhile has no registers.
        let Ok(mut registers) = tracee.registers() else {
            return go_on(pid, libc::PTRACE_CONT, 0);
        };
        let arguments = [
            registers.rdi,
            registers.rsi,
            registers.rdx,
            registers.r10,
            registers.r8,
            registers.r9,
        ];
        let Some(call) = Call::of(registers.orig_rax as i64, arguments, &tracee) else {
            return go_on(pid, libc::PTRACE_CONT, 0);
        };
        let mut request = libc::PTRACE_CONT;
        match watcher.call(&call, &tracee) {
            Action::Go => {}
            Action::GoAndTell => {
                self.told.insert(pid, (call, None));
                request = libc::PTRACE_SYSCALL;
            }
            Action::FailAfter(error) => {
                self.told.insert(pid, (call, Some(error)));
                request = libc::PTRACE_SYSCALL;
            }
            Action::Fail(error) => {
                // No call has this number: none is made.
                registers.orig_rax = u64::MAX;
                registers.rax = -i64::from(error) as u64;
                let _ = tracee.set_registers(&registers);
            }
            Action::Shorten(length) => {
                match call.length_at() {
                    Some(3) => registers.r10 = length,
                    Some(4) => registers.r8 = length,
                    _ => registers.rdx = length,
                }
                let _ = tracee.set_registers(&registers);
            }
            // SAFETY: the call has no pointers; the process is ours and has not been waited for.
            Action::Kill => unsafe {
                libc::kill(self.pid, libc::SIGKILL);
            },
        }
        go_on(pid, request, 0);
    }

    fn returned(&mut self, pid: libc::pid_t, watcher: &mut dyn Watcher) {
        let Some((call, error)) = self.told.remove(&pid) else {
            return;
        };
        let tracee = Tracee(pid);
        let Ok(mut registers) = tracee.registers() else {
            return;
        };
        if let Some(error) = error {
            registers.rax = -i64::from(error) as u64;
            let _ = tracee.set_registers(&registers);
        }
        watcher.returned(&call, registers.rax as i64, &tracee);
    }
}

/// Lets a thread go on; one that has been killed meanwhile cannot, and is waited for.
fn go_on(pid: libc::pid_t, request: libc::c_uint, signal: i32) {
    // SAFETY: the call has no pointers.
    unsafe { libc::ptrace(request, pid, 0, signal) };
}
