//! Global state that the shapes change between their sites.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, RwLock};

static DRAWN: AtomicU64 = AtomicU64::new(3);
static WARNED: AtomicBool = AtomicBool::new(false);
static COUNTS: [AtomicUsize; 3] = [const { AtomicUsize::new(0) }; 3];

fn draw() -> u64 {
    let last = DRAWN.load(Ordering::Relaxed);
    DRAWN.store(
        last.wrapping_mul(6364136223846793005).wrapping_add(1),
        Ordering::Relaxed,
    );
    let drawn = last >> 40;
    COUNTS[drawn as usize % 3].fetch_add(1, Ordering::Relaxed);
    drawn
}

#[ckpt::instrument]
pub fn atomics() {
    ckpt::global("DRAWN", &DRAWN);
    ckpt::global("WARNED", &WARNED);
    ckpt::global("COUNTS", &COUNTS);
    for k in 0..5 {
        let first = draw();
        ckpt::checkpoint!();
        if k == 2 && !WARNED.swap(true, Ordering::Relaxed) {
            println!("warning");
        }
        println!("{first} {} {COUNTS:?} {WARNED:?}", draw());
    }
}

static TABLE: Mutex<BTreeMap<u64, String>> = Mutex::new(BTreeMap::new());
static HISTORY: LazyLock<RwLock<Vec<u64>>> = LazyLock::new(|| RwLock::new(vec![7]));
static LIMIT: OnceLock<u64> = OnceLock::new();
static SHARED: OnceLock<Arc<Mutex<u64>>> = OnceLock::new();

#[ckpt::instrument(calls(fill))]
pub fn locks() {
    ckpt::global("TABLE", &TABLE);
    ckpt::global("HISTORY", &HISTORY);
    ckpt::global("LIMIT", &LIMIT);
    ckpt::global("SHARED", &SHARED);
    LIMIT.set(4).unwrap();
    let shared = Arc::clone(SHARED.get_or_init(|| Arc::new(Mutex::new(0))));
    let mut rounds = 0;
    while fill(rounds) {
        rounds += 1;
        *shared.lock().unwrap() += 10;
        println!(
            "{rounds} {:?}",
            SHARED.get().map(|shared| *shared.lock().unwrap())
        );
    }
    println!("{:?} {:?}", TABLE.lock().unwrap(), HISTORY.read().unwrap());
}

#[ckpt::instrument]
fn fill(round: u64) -> bool {
    let limit = LIMIT.get().copied().unwrap_or(9);
    for k in 0..2 {
        ckpt::checkpoint!();
        HISTORY.write().unwrap().push(round * 2 + k);
        let mut table = TABLE.lock().unwrap();
        table.insert(round, format!("{round}.{k}"));
        println!("{table:?}");
    }
    round < limit - 2
}

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    static STACK: RefCell<Vec<f64>> = const { RefCell::new(Vec::new()) };
    static NAME: OnceCell<String> = const { OnceCell::new() };
}

#[ckpt::instrument]
pub fn thread_locals() {
    ckpt::global("DEPTH", &DEPTH);
    ckpt::global("STACK", &STACK);
    ckpt::global("NAME", &NAME);
    for k in 0..4 {
        DEPTH.set(DEPTH.get() + k);
        ckpt::checkpoint!();
        STACK.with_borrow_mut(|stack| stack.push(f64::from(DEPTH.get()) / 3.0));
        let name = NAME.with(|name| name.get_or_init(|| format!("first at {k}")).clone());
        println!("{name} {}", STACK.with_borrow(|stack| format!("{stack:?}")));
    }
}

static SLOTS: LazyLock<Vec<(u64, Mutex<u64>)>> =
    LazyLock::new(|| (0..3).map(|k| (k, Mutex::new(k))).collect());

#[ckpt::instrument]
pub fn locks_in_a_list() {
    ckpt::global("SLOTS", &SLOTS);
    for k in 0..4 {
        ckpt::checkpoint!();
        let mut slot = SLOTS[k % 3].1.lock().unwrap();
        *slot += 10 * SLOTS[k % 3].0 + 1;
        println!("{k} {slot}");
    }
}

static CALLS: AtomicU64 = AtomicU64::new(0);

fn numbered() -> u64 {
    CALLS.fetch_add(1, Ordering::Relaxed)
}

/// What is executed again has changed the static by the time of arrival.
#[ckpt::instrument]
pub fn changed_by_what_is_executed_again() {
    ckpt::global("CALLS", &CALLS);
    #[ckpt(reexecute)]
    let again = numbered() < 100;
    for k in 0..3 {
        ckpt::checkpoint!();
        println!("{again} {k} {}", numbered());
    }
}
