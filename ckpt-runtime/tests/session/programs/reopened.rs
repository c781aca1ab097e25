//! Several sessions in one process, one after the other: on stores of their own, and on the same store with a restart.

use std::fs::{self, File};
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use ckpt::__rt::{Frame, FunctionPlan, open};

use super::{INSTRUMENT, MAIN, PROGRAM, call_at, checkpoint_at, plan, variable};

static MAIN_PLAN: FunctionPlan = plan("run", 1, MAIN, &[call_at(5, "advance", &[variable("round", 3)])]);
static PLAN: FunctionPlan = plan(
    "advance",
    10,
    INSTRUMENT,
    &[checkpoint_at(15, &[variable("step", 11), variable("sum", 12)])],
);

static COUNT: AtomicU64 = AtomicU64::new(0);
static OTHER: AtomicU64 = AtomicU64::new(0);

const STEPS: u64 = 9;

/// The next session is asked for with these.
pub fn ask(settings: &[(&str, &str)]) {
    let all = ["CKPT_DIR", "CKPT_EVERY", "CKPT_RESTART", "CKPT_KEEP"];
    for name in all {
        let value = settings.iter().find(|(asked, _)| *asked == name);
        // SAFETY: no session is open, so none of ckpt's threads is there to read a variable meanwhile; the program has
        // no other.
        unsafe {
            match value {
                Some((_, value)) => std::env::set_var(name, value),
                None => std::env::remove_var(name),
            }
        }
    }
}

/// A session from its beginning to its end: its answer, and how often it visited its site itself.
fn session(round: u64, names_other: bool, before_end: impl FnOnce()) -> (u64, u64) {
    let _session = open(PROGRAM);
    let mut frame = Frame::enter(&MAIN_PLAN);
    ckpt::global("COUNT", &COUNT);
    if names_other {
        ckpt::global("OTHER", &OTHER);
    }
    let round: u64 = if frame.runs() {
        round
    } else {
        frame.restore("round")
    };
    let done = frame.call(1, &|r| r.save("round", &round), || advance(round));
    before_end();
    done
}

fn advance(round: u64) -> (u64, u64) {
    let mut frame = Frame::enter(&PLAN);
    let (mut step, mut sum): (u64, u64) = match frame.runs() {
        true => (0, 0),
        false => (frame.restore("step"), frame.restore("sum")),
    };
    let mut visits = 0;
    while frame.enters(1, 1) || step < STEPS {
        if frame.runs() {
            step += 1;
            sum = sum * 31 + step * round + COUNT.fetch_add(step, Ordering::Relaxed);
            let mut log = File::options().append(true).create(true).open("log.txt").unwrap();
            writeln!(log, "{round} {step} {sum}").unwrap();
        }
        visits += 1;
        if frame.due(1) {
            frame.checkpoint(1, &|r| {
                r.save("step", &step);
                r.save("sum", &sum);
            });
        }
    }
    (sum, visits)
}

pub fn main() {
    let text = || fs::read_to_string("log.txt").unwrap();
    let clear = || {
        let _ = fs::remove_file("log.txt");
        COUNT.store(0, Ordering::Relaxed);
        OTHER.store(9, Ordering::Relaxed);
    };
    for round in 1..=3_u64 {
        let (dir, every) = (format!("store{round}"), (round + 1).to_string());
        let settings = [("CKPT_DIR", &*dir), ("CKPT_EVERY", &*every), ("CKPT_KEEP", "all")];
        ask(&settings);
        clear();
        // A stop that is asked for too late is not carried out, and is not the next session's.
        let whole = session(round, round == 1, || {
            // SAFETY: ckpt has a handler for it while a session is open.
            unsafe { libc::raise(libc::SIGTERM) };
        });
        let log = text();
        let restart = [&settings[..], &[("CKPT_RESTART", "2")]].concat();
        for _ in 0..2 {
            ask(&restart);
            COUNT.store(77, Ordering::Relaxed);
            // What has been touched since, and what the second checkpoint does not know.
            fs::write("log.txt", format!("{log}more\n")).unwrap();
            let rest = session(99, round == 1, || ());
            assert_eq!(rest.0, whole.0);
            assert_eq!(rest.1, STEPS - 2 * (round + 1) + 1);
            assert_eq!(text(), log);
        }
        // Without a session the functions are what they were.
        ask(&[]);
        clear();
        assert_eq!(session(round, false, || ()), whole);
        println!("{round} {whole:?} {}", log.len());
    }
    by_hand();
    if std::env::var_os("TEST_END").is_some() {
        // SAFETY: no session is open, so that the signal does what it always did.
        unsafe { libc::raise(libc::SIGTERM) };
    }
}

/// Sessions by hand among them.
fn by_hand() {
    let run = |restart: &str| {
        ask(&[
            ("CKPT_DIR", "hand"),
            ("CKPT_EVERY", "3"),
            ("CKPT_KEEP", "all"),
            ("CKPT_RESTART", restart),
        ]);
        let mut session = ckpt::Session::open("hand").unwrap();
        assert!(matches!(
            ckpt::Session::open("hand"),
            Err(ckpt::SessionError::AlreadyOpen)
        ));
        let mut step = session.restore::<u64>("step").unwrap().unwrap_or(0);
        let first = step;
        while step < 8 {
            step += 1;
            session.save_if_due(|state| state.save("step", &step)).unwrap();
        }
        first
    };
    assert_eq!([run(""), run("1"), run("2"), run("1")], [0, 3, 6, 3]);
}
