//! Statics and a thread-local that are computed when they are first used, as an unmodified program has them in its copy: one has been
//! used at the checkpoint, the other has not.

use std::cell::RefCell;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex};

use ckpt::__rt::{Frame, FunctionPlan, Late, Lately, MadeInPlace as _, MadeOfCheckpoint as _, open};

use super::{MAIN, PROGRAM, checkpoint_at, plan, variable};

static PLAN: FunctionPlan = plan("main", 1, MAIN, &[checkpoint_at(10, &[variable("step", 5)])]);

static STEPS: AtomicU64 = AtomicU64::new(0);

static OUT: LazyLock<Mutex<BufWriter<File>>> = LazyLock::new(|| {
    LATE_OUT
        .coming()
        .unwrap_or_else(|| Mutex::new(created("out.txt")))
});
static LATE_OUT: Late = Late::new();

static FIRST: LazyLock<Mutex<u64>> = LazyLock::new(|| {
    LATE_FIRST
        .coming()
        .unwrap_or_else(|| Mutex::new(STEPS.load(Ordering::Relaxed)))
});
static LATE_FIRST: Late = Late::new();

/// It can only be put back in place.
static PAIR: LazyLock<(u64, Mutex<u64>)> =
    LazyLock::new(|| LATE_PAIR.coming().unwrap_or_else(|| (7, Mutex::new(100))));
static LATE_PAIR: Late = Late::new();

thread_local! {
    static ERRORS: RefCell<File> = LATE_ERRORS
        .with(Late::coming)
        .unwrap_or_else(|| RefCell::new(File::create("errors.txt").unwrap()));
    static LATE_ERRORS: Late = const { Late::new() };
}

fn created(name: &str) -> BufWriter<File> {
    BufWriter::new(File::create(name).unwrap())
}

pub fn main() {
    let _session = open(PROGRAM);
    let mut frame = Frame::enter(&PLAN);
    ckpt::global("test::STEPS", &STEPS);
    ckpt::global("test::OUT", Lately::new(&OUT, |ask| ask(&LATE_OUT)).place());
    ckpt::global("test::FIRST", Lately::new(&FIRST, |ask| ask(&LATE_FIRST)).place());
    ckpt::global("test::PAIR", (&Lately::new(&PAIR, |ask| ask(&LATE_PAIR))).place());
    let errors = Lately::new(&ERRORS, |ask| LATE_ERRORS.with(|late| ask(late)));
    ckpt::global("test::ERRORS", errors.place());
    let mut step: u64 = if frame.runs() { 0 } else { frame.restore("step") };
    while frame.enters(1, 1) || step < 6 {
        if frame.runs() {
            step += 1;
            STEPS.store(step, Ordering::Relaxed);
            writeln!(OUT.lock().unwrap(), "step {step}").unwrap();
            *PAIR.1.lock().unwrap() += step;
            if step == 5 {
                *FIRST.lock().unwrap() += 100;
                if std::env::var("TEST_VERSION").is_ok() {
                    ERRORS
                        .with_borrow_mut(|errors| writeln!(errors, "step {step}"))
                        .unwrap();
                }
            }
        }
        if frame.due(1) {
            frame.checkpoint(1, &|r| r.save("step", &step));
        }
    }
    OUT.lock().unwrap().flush().unwrap();
    println!("{:?} {:?}", FIRST.lock(), *PAIR);
    print!("{}", std::fs::read_to_string("out.txt").unwrap());
    println!("{:?}", std::fs::read_to_string("errors.txt").ok());
}
