//! Statics that are shared pointers, of which a variable and another static have clones.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, LazyLock, Mutex};

use ckpt::__rt::{Frame, FunctionPlan, open};

use super::{MAIN, PROGRAM, checkpoint_at, plan, variable};

static PLAN: FunctionPlan = plan(
    "main",
    1,
    MAIN,
    &[checkpoint_at(
        10,
        &[
            variable("step", 5),
            variable("pool", 6),
            variable("local", 7),
            variable("pair", 8),
            variable("weak", 9),
        ],
    )],
);

type Pool = Arc<Mutex<Vec<u64>>>;

static ALL: Mutex<Vec<Pool>> = Mutex::new(Vec::new());
static HIDDEN: Mutex<Vec<Arc<(u64, Pool)>>> = Mutex::new(Vec::new());
static POOL: LazyLock<Pool> = LazyLock::new(Pool::default);
static OTHER: LazyLock<(Pool, Pool)> = LazyLock::new(Default::default);

thread_local! {
    static LOCAL: Rc<RefCell<Vec<u64>>> = Rc::default();
}

pub fn main() {
    let _session = open(PROGRAM);
    let mut frame = Frame::enter(&PLAN);
    ckpt::global("test::ALL", &ALL);
    ckpt::global("test::HIDDEN", &HIDDEN);
    ckpt::global("test::POOL", &POOL);
    ckpt::global("test::OTHER", &OTHER);
    ckpt::global("test::LOCAL", &LOCAL);
    let hides = std::env::var("TEST_VERSION").is_ok();
    let (mut step, pool, local, pair, weak) = match frame.runs() {
        true => {
            let mut all = ALL.lock().unwrap();
            all.push(Arc::default());
            all.push(Arc::clone(&POOL));
            if hides {
                HIDDEN.lock().unwrap().push(Arc::new((1, Arc::clone(&POOL))));
            }
            let pair = Arc::new((1_u64, Arc::clone(&OTHER.1)));
            let weak = Arc::downgrade(&OTHER.0);
            (0_u64, Arc::clone(&POOL), LOCAL.with(Rc::clone), pair, weak)
        }
        false => (
            frame.restore("step"),
            frame.restore("pool"),
            frame.restore("local"),
            frame.restore("pair"),
            frame.restore("weak"),
        ),
    };
    while frame.enters(1, 1) || step < 6 {
        if frame.runs() {
            step += 1;
            pool.lock().unwrap().push(step);
            ALL.lock()
                .unwrap()
                .iter()
                .for_each(|one| one.lock().unwrap().push(10 * step));
            local.borrow_mut().push(step);
            pair.1.lock().unwrap().push(step);
            weak.upgrade().unwrap().lock().unwrap().push(7);
        }
        if frame.due(1) {
            frame.checkpoint(1, &|r| {
                r.save("step", &step);
                r.save("pool", &pool);
                r.save("local", &local);
                r.save("pair", &pair);
                r.save("weak", &weak);
            });
        }
    }
    println!("{POOL:?} {ALL:?} {OTHER:?} {:?}", LOCAL.with(Rc::clone));
    println!("{} {}", Arc::strong_count(&pool), Rc::strong_count(&local));
}
