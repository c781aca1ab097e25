//! A loop in a process that the program has changed: its folder, variables, umask, limits and signals, and what no restart
//! could bring back.

use std::fs::{self, File};
use std::io::{BufWriter, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, OnceLock};

use ckpt::__rt::{Frame, FunctionPlan, open};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::{MAIN, PROGRAM, checkpoint_at, plan, variable};

static PLAN: FunctionPlan = plan(
    "main",
    1,
    MAIN,
    &[checkpoint_at(10, &[variable("step", 5), variable("lock", 6)])],
);

/// Where a logger writes, of which no checkpoint knows.
static LOG: OnceLock<Mutex<BufWriter<File>>> = OnceLock::new();

const STEPS: u64 = 6;

/// The step at which the program changes its process: before its first checkpoint.
const CHANGED: u64 = 1;

fn is(what: &str) -> bool {
    std::env::var("TEST_DOES").is_ok_and(|does| does == what)
}

/// All that a checkpoint keeps.
fn change() {
    fs::create_dir_all("work/deep").unwrap();
    std::env::set_current_dir("work").unwrap();
    // SAFETY: no other thread of this program reads variables meanwhile.
    unsafe {
        std::env::set_var("TEST_SET", "by the program");
        std::env::set_var("TEST_CHANGED", "by the program");
        std::env::remove_var("TEST_REMOVED");
        std::env::set_var("OMPI_TEST", "by a library");
    }
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o027));
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(
        Resource::Nofile,
        Rlimit {
            current: Some(200),
            maximum,
        },
    )
    .unwrap();
    // SAFETY: no handler runs by these.
    unsafe {
        libc::signal(libc::SIGUSR2, libc::SIG_IGN);
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, libc::SIGWINCH);
        libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
    }
}

/// What a program can see of it.
fn seen() -> String {
    let here = std::env::current_dir().unwrap();
    let variable = |name: &str| std::env::var(name).unwrap_or_else(|_| "none".into());
    let status = fs::read_to_string("/proc/thread-self/status").unwrap();
    let umask = status.lines().find(|line| line.starts_with("Umask")).unwrap();
    // The C library has signals of its own beyond the first 31.
    let line = |start: &str| {
        let line = status.lines().find(|line| line.starts_with(start)).unwrap();
        line.to_owned().split_off(line.len().saturating_sub(8))
    };
    format!(
        "{} {} {} {} {:?} {} {} {}",
        here.file_name().unwrap().to_string_lossy(),
        variable("TEST_SET"),
        variable("TEST_CHANGED"),
        variable("TEST_REMOVED"),
        getrlimit(Resource::Nofile).current,
        umask,
        line("SigBlk"),
        line("SigIgn"),
    )
}

/// Of which the program knows no more than the numbers.
fn make_pipe() {
    let mut ends = [0; 2];
    // SAFETY: the system fills the two numbers in.
    assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0);
}

extern "C" fn handler(_: i32) {}

/// What no checkpoint keeps, from one step to the next.
fn hinder(step: u64, home: &Path, child: &mut Option<std::process::Child>) {
    let on = step == 2;
    if !on && step != 4 {
        return;
    }
    match std::env::var("TEST_DOES").unwrap_or_default().as_str() {
        "child" if on => *child = Some(Command::new("cat").stdin(Stdio::piped()).spawn().unwrap()),
        "child" => {
            let mut child = child.take().unwrap();
            drop(child.stdin.take());
            child.wait().unwrap();
        }
        // As daemons do; what is open here is not among what is closed.
        "closes" if on => {
            for number in 3..1000 {
                // SAFETY: nothing that is open and is the program's has such a number.
                unsafe { libc::close(number) };
            }
            // SAFETY: as above.
            assert_eq!(unsafe { libc::close_range(3, u32::MAX, 0) }, 0);
        }
        "masks" if on => drop(rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o777))),
        "masks" => drop(rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022))),
        // The same program, with all variables of this one.
        "itself" if on => {
            let mut inner = Command::new(std::env::current_exe().unwrap());
            let inner = inner.env("TEST_DOES", "inner").output().unwrap();
            assert!(inner.status.success(), "{inner:?}");
            assert!(inner.stderr.is_empty(), "{inner:?}");
            // In a folder that has no store yet, where the variables would name a run that has begun elsewhere.
            fs::create_dir("deep").unwrap();
            for _ in 0..2 {
                let mut deep = Command::new(std::env::current_exe().unwrap());
                deep.env("TEST_DOES", "inner").current_dir("deep");
                let deep = deep.env("CKPT_DIR", "another.ckpt.d").output().unwrap();
                assert!(deep.status.success() && deep.stderr.is_empty(), "{deep:?}");
            }
            assert!(!fs::exists("deep/another.ckpt.d").unwrap());
        }
        // The process becomes the same program, with all variables of this one.
        "becomes" if on => {
            let mut after = Command::new(std::env::current_exe().unwrap());
            panic!("{}", after.env("TEST_DOES", "inner").exec());
        }
        "child-again" if on => {
            let _again = ckpt::thread::made_again();
            *child = Some(Command::new("cat").stdin(Stdio::piped()).spawn().unwrap());
        }
        "timer" => {
            let time = |seconds| libc::timeval {
                tv_sec: seconds,
                tv_usec: 0,
            };
            let timer = libc::itimerval {
                it_interval: time(0),
                it_value: time(if on { 3600 } else { 0 }),
            };
            // SAFETY: only reads the timer.
            unsafe { libc::setitimer(libc::ITIMER_VIRTUAL, &timer, std::ptr::null_mut()) };
        }
        "no-folder" if on => {
            fs::create_dir("gone").unwrap();
            std::env::set_current_dir("gone").unwrap();
            fs::remove_dir("../gone").unwrap();
        }
        "no-folder" => std::env::set_current_dir(home).unwrap(),
        "part" => {
            let file = File::options().create(true).append(true).open("parts").unwrap();
            let lock = libc::flock {
                l_type: libc::F_WRLCK as _,
                l_whence: libc::SEEK_SET as _,
                l_start: 0,
                l_len: 4,
                l_pid: 0,
            };
            // SAFETY: only reads the lock. It lasts until a descriptor of the file is closed.
            assert_eq!(
                unsafe { libc::fcntl(std::os::fd::AsRawFd::as_raw_fd(&file), libc::F_SETLK, &lock) },
                0
            );
            if on {
                std::mem::forget(file);
            }
        }
        "stream" if on => {
            // SAFETY: nothing of the program holds the number of standard error as its own.
            unsafe {
                assert_eq!(libc::dup2(2, 90), 90);
                let file = std::ffi::CString::new("errors.txt").unwrap();
                let file = libc::open(file.as_ptr(), libc::O_CREAT | libc::O_WRONLY, 0o600);
                libc::dup2(file, 2);
            }
        }
        // SAFETY: the same.
        "stream" => unsafe {
            libc::dup2(90, 2);
        },
        _ => {}
    }
}

/// What one that another has started writes is its own.
fn own_log() -> &'static str {
    match is("inner") {
        true => "inner.txt",
        false => "log.txt",
    }
}

pub fn main() {
    let _session = open(PROGRAM);
    let mut frame = Frame::enter(&PLAN);
    let mut step: u64 = if frame.runs() { 0 } else { frame.restore("step") };
    let mut lock: Option<File> = if frame.runs() { None } else { frame.restore("lock") };
    // What a restart executes again sees what the code behind it has made.
    let at_the_walk = seen();
    if is("handler-again") || is("handler") && frame.runs() {
        // SAFETY: the handler does nothing.
        unsafe { libc::signal(libc::SIGUSR2, handler as *const () as usize) };
    }
    if is("pipe-again") {
        make_pipe();
    }
    let mut child = None;
    let home = std::env::current_dir().unwrap();
    while frame.enters(1, 1) || step < STEPS {
        if frame.runs() {
            step += 1;
            if step == CHANGED && is("change") {
                change();
            }
            if step == CHANGED && is("pipe") {
                make_pipe();
            }
            if step == CHANGED && is("lock") {
                let file = File::options().create(true).append(true).open("locked").unwrap();
                file.lock().unwrap();
                lock = Some(file);
            }
            if step == CHANGED && (is("log") || is("log-in-buffer") || is("no-log-any-more")) {
                let capacity = if is("log") { 0 } else { 4096 };
                let log = BufWriter::with_capacity(capacity, File::create("run.log").unwrap());
                assert!(LOG.set(Mutex::new(log)).is_ok());
            }
            if is("no-log-any-more") && step == CHANGED {
                let mut log = LOG.get().unwrap().lock().unwrap();
                writeln!(log, "step {step}").and_then(|()| log.flush()).unwrap();
            } else if let Some(log) = LOG.get() {
                writeln!(log.lock().unwrap(), "step {step}").unwrap();
            }
            if step == CHANGED && is("lock-of-no-use") {
                let file = File::create("locked").unwrap();
                file.lock().unwrap();
                // Open until the process ends, in no variable that is looked at.
                std::mem::forget(file);
            }
            if step == CHANGED && is("leaves") {
                fs::create_dir_all("work/deep").unwrap();
                std::env::set_current_dir("work/deep").unwrap();
            }
            if step == 5 && is("leaves") {
                // The folder that it is in takes another name, or is removed.
                let home = home.ancestors().find(|home| home.join("work").exists()).unwrap();
                match std::env::var("TEST_LEAVES").unwrap().as_str() {
                    "renames" => fs::rename(home.join("work"), home.join("other")).unwrap(),
                    "replaces" => {
                        fs::rename(home.join("work/deep"), home.join("other")).unwrap();
                        fs::write(home.join("work/deep"), "a file").unwrap();
                    }
                    _ => {
                        std::env::set_current_dir(home).unwrap();
                        fs::remove_dir_all("work").unwrap();
                    }
                }
            }
            hinder(step, &home, &mut child);
            let log = if is("no-folder") {
                home.join("log.txt")
            } else {
                own_log().into()
            };
            let mut log = File::options().append(true).create(true).open(log).unwrap();
            writeln!(log, "{step}").unwrap();
        }
        if frame.due(1) {
            frame.checkpoint(1, &|r| {
                r.save("step", &step);
                r.save("lock", &lock);
            });
        }
    }
    if is("lock") {
        let other = File::open("locked").unwrap();
        assert!(other.try_lock().is_err(), "it is not locked");
    }
    if is("lock-of-no-use") {
        let other = File::open("locked").unwrap();
        let is_restarted = std::env::var_os("CKPT_RESTART").is_some();
        // A restart holds it for the program, until the program locks the file itself.
        assert_eq!(other.try_lock().is_ok(), is_restarted);
    }
    if std::env::var_os("CKPT_RESTART").is_some() && is("change") {
        assert_eq!(at_the_walk, seen());
    }
    let mut log = String::new();
    let own_log = if is("leaves") { "log.txt" } else { own_log() };
    File::open(own_log).unwrap().read_to_string(&mut log).unwrap();
    println!("{} {log:?}", seen());
}
