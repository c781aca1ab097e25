//! Programs that go on in a process that they have forked.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use ckpt::__rt::{Frame, FunctionPlan, open};

use super::{MAIN, PROGRAM, STEPS, checkpoint_at, plan, variable};

static PLAN: FunctionPlan = plan("main", 1, MAIN, &[checkpoint_at(10, &[variable("step", 5)])]);

/// After which step the program goes on in another process.
pub const FORKS_AFTER: u64 = 4;
/// How that one ends.
pub const OWN_CODE: i32 = 7;

/// A process that hangs is ended.
const PATIENCE: u32 = 30;

/// Goes on in another process. The one that was started ends at once, or waits for the other and ends like it.
fn go_on_elsewhere(waits: bool) {
    // SAFETY: plain calls of the C library; in the other process only this thread is there, which goes on.
    unsafe {
        if !waits {
            assert_eq!(libc::daemon(1, 1), 0);
        } else {
            match libc::fork() {
                -1 => panic!("no process"),
                0 => {}
                child => {
                    let mut status = 0;
                    libc::waitpid(child, &raw mut status, 0);
                    let code = match libc::WIFEXITED(status) {
                        true => libc::WEXITSTATUS(status),
                        false => 1,
                    };
                    libc::_exit(code);
                }
            }
        }
        libc::alarm(PATIENCE);
    }
}

/// Everything that is in the store.
fn store() -> BTreeMap<String, Vec<u8>> {
    fn add(folder: &Path, all: &mut BTreeMap<String, Vec<u8>>) {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            match path.is_dir() {
                true => add(&path, all),
                false => drop(all.insert(path.display().to_string(), fs::read(&path).unwrap())),
            }
        }
    }
    let mut all = BTreeMap::new();
    add(Path::new("test.ckpt.d"), &mut all);
    all
}

fn work(step: u64) {
    fs::write("out.txt", format!("step {step}")).unwrap();
}

fn ends(before: Option<BTreeMap<String, Vec<u8>>>) -> ! {
    match before {
        Some(before) => {
            assert!(before == store(), "the store has changed");
            println!("ended elsewhere");
            std::process::exit(OWN_CODE)
        }
        None => {
            println!("ended");
            std::process::exit(0)
        }
    }
}

pub fn main(kind: &str) {
    match kind {
        "by-hand" => by_hand(),
        "restores" => restores(),
        kind => ends(instrumented(kind)),
    }
}

fn instrumented(kind: &str) -> Option<BTreeMap<String, Vec<u8>>> {
    let __session = open(PROGRAM);
    let restarts = std::env::var_os("CKPT_RESTART").is_some();
    let mut __ckpt = Frame::enter(&PLAN);
    let mut before = None;
    if restarts && kind == "walking" {
        go_on_elsewhere(true);
    }
    let mut step: u64 = if __ckpt.runs() { 0 } else { __ckpt.restore("step") };
    while __ckpt.enters(1, 1) || step < STEPS {
        if __ckpt.runs() {
            step += 1;
            work(step);
        }
        if __ckpt.due(1) {
            __ckpt.checkpoint(1, &|r| r.save("step", &step));
        }
        if step == FORKS_AFTER && !restarts {
            go_on_elsewhere(kind != "daemon");
            before = Some(store());
        }
        if before.is_some() {
            // A function that is entered only now has a site as well.
            later();
        }
    }
    if kind == "exits" {
        ends(before);
    }
    before
}

static LATER: FunctionPlan = plan("later", 30, super::INSTRUMENT, &[checkpoint_at(31, &[])]);

fn later() {
    let mut __ckpt = Frame::enter(&LATER);
    if __ckpt.due(1) {
        __ckpt.checkpoint(1, &|_| {});
    }
}

fn by_hand() {
    let mut before = None;
    let mut session = ckpt::Session::open("test").unwrap();
    for step in 1..=STEPS {
        work(step);
        session.save_if_due(|state| state.save("step", &step)).unwrap();
        if step == FORKS_AFTER {
            go_on_elsewhere(true);
            before = Some(store());
        }
    }
    session.wait();
    drop(session);
    ends(before)
}

/// A restart that goes on elsewhere before it has restored anything.
fn restores() {
    let mut session = ckpt::Session::open("test").unwrap();
    go_on_elsewhere(true);
    let before = store();
    let error = session.restore::<u64>("step").unwrap_err();
    println!("{error} ({})", error.exit_code());
    drop(session);
    ends(Some(before))
}
