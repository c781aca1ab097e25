//! A loop that changes statics, which can come back as another version of itself.

use std::cell::RefCell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use ckpt::__rt::{Frame, FunctionPlan, open};

use super::{MAIN, PROGRAM, checkpoint_at, plan, variable};

static PLAN: FunctionPlan = plan("main", 1, MAIN, &[checkpoint_at(10, &[variable("step", 5)])]);

static COUNT: AtomicU64 = AtomicU64::new(0);
static LOG: Mutex<Vec<u64>> = Mutex::new(Vec::new());
static OTHER: Mutex<String> = Mutex::new(String::new());

thread_local! {
    static LOCAL: RefCell<f64> = const { RefCell::new(1.0) };
}

pub fn main() {
    let _session = open(PROGRAM);
    let mut frame = Frame::enter(&PLAN);
    let version = std::env::var("TEST_VERSION").unwrap_or_default();
    ckpt::global("test::COUNT", &COUNT);
    ckpt::global("test::LOCAL", &LOCAL);
    match version.as_str() {
        "fewer" => {}
        "more" => {
            ckpt::global("test::LOG", &LOG);
            ckpt::global("test::OTHER", &OTHER);
        }
        "type" => ckpt::global("test::LOG", &OTHER),
        _ => ckpt::global("test::LOG", &LOG),
    }
    let guard = (version == "locked").then(|| LOG.lock().unwrap());
    let mut step: u64 = if frame.runs() { 0 } else { frame.restore("step") };
    while frame.enters(1, 1) || step < 6 {
        if frame.runs() {
            step += 1;
            let count = COUNT.fetch_add(step, Ordering::Relaxed);
            if guard.is_none() {
                LOG.lock().unwrap().push(count);
            }
            LOCAL.with_borrow_mut(|local| *local /= 3.0);
        }
        if frame.due(1) {
            frame.checkpoint(1, &|r| r.save("step", &step));
        }
    }
    drop(guard);
    println!("{COUNT:?} {LOG:?} {}", LOCAL.take());
}
