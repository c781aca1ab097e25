// The crate that the counters of an instrumented run call. It is compiled with the copy of the user's program and
// depends on nothing.
//
// Every thread counts in a table of its own, so that counting needs no lock; a table goes to another thread when its
// own has ended. What is known is written to the file that `CKPT_PROFILE` names: by a thread of its own several times
// a second, and when the main thread ends or calls `exit`.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// What was seen by one thread after the other.
#[derive(Default)]
struct Slot {
    entries: AtomicU64,
    outer: AtomicU64,
    turns: AtomicU64,
    nanos: AtomicU64,
    /// Of these, what was counted inside.
    inner: AtomicU64,
    /// Entries under way.
    depth: AtomicU64,
    /// When the entry under way began, plus one; 0 where its time is not taken.
    since: AtomicU64,
    /// For how many entries it stands.
    weight: AtomicU64,
    /// The counter around it, plus one.
    around: AtomicU64,
}

struct Table {
    slots: Vec<Slot>,
    /// The innermost counter under way whose time is taken, plus one.
    current: AtomicU64,
}

#[derive(Default)]
struct Tables {
    all: Vec<&'static Table>,
    free: Vec<&'static Table>,
    written: Option<Instant>,
}

static START: OnceLock<Instant> = OnceLock::new();
static TABLES: Mutex<Tables> = Mutex::new(Tables {
    all: Vec::new(),
    free: Vec::new(),
    written: None,
});

/// The time of all of the first entries is taken, ..
const FIRST: u64 = 256;
/// .. and, where they are shorter than this, that of one in so many (a power of two) from then on.
const SHORT: u64 = 1000;
const ONE_IN: u64 = 32;

/// What is left of the time of an entry when that of taking it is taken away.
fn without_the_clock(nanos: u64) -> u64 {
    static CLOCK: OnceLock<u64> = OnceLock::new();
    let clock = CLOCK.get_or_init(|| {
        let pairs = (0..64).map(|_| {
            let before = now();
            now() - before
        });
        pairs.min().unwrap_or(0)
    });
    nanos.saturating_sub(*clock)
}

const FIRST_WRITE: Duration = Duration::from_millis(40);
const NEXT_WRITE: Duration = Duration::from_millis(150);

fn add(counter: &AtomicU64, more: u64) -> u64 {
    let sum = counter.load(Relaxed).wrapping_add(more);
    counter.store(sum, Relaxed);
    sum
}

fn tables() -> MutexGuard<'static, Tables> {
    TABLES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn now() -> u64 {
    START.get().map_or(0, |start| start.elapsed().as_nanos() as u64)
}

/// The table of a thread.
struct Mine {
    table: &'static Table,
    is_first: bool,
}

impl Mine {
    fn new() -> Self {
        let is_first = START.get().is_none();
        if is_first && START.set(Instant::now()).is_ok() && std::env::var_os("CKPT_PROFILE").is_some() {
            let writer = std::thread::Builder::new().name("ckpt-profile".into());
            // Without the thread, the numbers are written at the end only.
            let _ = writer.spawn(|| {
                std::thread::sleep(FIRST_WRITE);
                loop {
                    write(Duration::ZERO);
                    std::thread::sleep(NEXT_WRITE);
                }
            });
        }
        let mut tables = tables();
        let table = tables.free.pop().unwrap_or_else(|| {
            let slots = (0..COUNTERS).map(|_| Slot::default()).collect();
            let table: &'static Table = Box::leak(Box::new(Table {
                slots,
                current: AtomicU64::new(0),
            }));
            tables.all.push(table);
            table
        });
        Mine { table, is_first }
    }
}

impl Drop for Mine {
    fn drop(&mut self) {
        write(if self.is_first { Duration::ZERO } else { NEXT_WRITE });
        tables().free.push(self.table);
    }
}

thread_local!(static MINE: Mine = Mine::new());

/// An entry of a function or loop, until it is dropped.
pub struct Entry {
    table: Option<&'static Table>,
    number: usize,
    turns: u64,
    published: u64,
    next: u64,
    since: u64,
    weight: u64,
    around: u64,
}

/// Begins an entry.
pub fn enter(number: usize) -> Entry {
    let mut entry = Entry {
        table: MINE.try_with(|mine| mine.table).ok(),
        number,
        turns: 0,
        published: 0,
        next: 1,
        since: 0,
        weight: 0,
        around: 0,
    };
    let Some(table) = entry.table else {
        return entry;
    };
    let slot = &table.slots[number];
    add(&slot.entries, 1);
    entry.around = table.current.load(Relaxed);
    if add(&slot.depth, 1) > 1 {
        return entry;
    }
    let outer = add(&slot.outer, 1);
    entry.weight = if outer <= FIRST || slot.nanos.load(Relaxed) / outer >= SHORT {
        1
    } else if outer & (ONE_IN - 1) == 0 {
        ONE_IN
    } else {
        // What is counted inside belongs to nobody then.
        table.current.store(0, Relaxed);
        return entry;
    };
    entry.since = now();
    slot.weight.store(entry.weight, Relaxed);
    slot.around.store(entry.around, Relaxed);
    slot.since.store(entry.since + 1, Relaxed);
    table.current.store(number as u64 + 1, Relaxed);
    entry
}

impl Entry {
    /// Counts an iteration. Now and then the count is published, for a run that is ended before the loop is.
    #[inline(always)]
    pub fn turn(&mut self) {
        self.turns += 1;
        if self.turns >= self.next {
            self.tell();
        }
    }

    /// Counts an iteration and publishes the count at the end.
    #[inline(always)]
    pub fn turn_quietly(&mut self) {
        self.turns += 1;
    }

    #[cold]
    fn tell(&mut self) {
        self.next = self.turns + 1 + self.turns / 16;
        if let Some(table) = self.table {
            add(&table.slots[self.number].turns, self.turns - self.published);
        }
        self.published = self.turns;
    }
}

impl Drop for Entry {
    #[inline(never)]
    fn drop(&mut self) {
        let Some(table) = self.table else { return };
        let slot = &table.slots[self.number];
        add(&slot.turns, self.turns - self.published);
        if slot.depth.load(Relaxed) == 1 {
            table.current.store(self.around, Relaxed);
        }
        add(&slot.depth, u64::MAX);
        if self.weight == 0 {
            return;
        }
        slot.since.store(0, Relaxed);
        let nanos = without_the_clock(now() - self.since) * self.weight;
        add(&slot.nanos, nanos);
        if let Some(around) = (self.around as usize).checked_sub(1) {
            let around = &table.slots[around];
            add(&around.inner, nanos * around.weight.load(Relaxed));
        }
    }
}

/// The sums over all threads: entries, outer entries, iterations, nanoseconds, those inside, and entries under way.
type Sums = [u64; 6];

fn sums(tables: &Tables, now: u64) -> Vec<Sums> {
    let mut sums = vec![[0; 6]; COUNTERS];
    for table in &tables.all {
        for (slot, sum) in table.slots.iter().zip(&mut sums) {
            let fields = [&slot.entries, &slot.outer, &slot.turns, &slot.nanos, &slot.inner, &slot.depth];
            for (sum, field) in sum.iter_mut().zip(fields) {
                *sum += field.load(Relaxed);
            }
        }
        // What is under way counts until now.
        for (number, slot) in table.slots.iter().enumerate() {
            let Some(since) = slot.since.load(Relaxed).checked_sub(1) else {
                continue;
            };
            let nanos = now.saturating_sub(since) * slot.weight.load(Relaxed);
            sums[number][3] += nanos;
            if let Some(around) = (slot.around.load(Relaxed) as usize).checked_sub(1) {
                sums[around][4] += nanos * table.slots[around].weight.load(Relaxed);
            }
        }
    }
    sums
}

/// Writes what is known, unless that was done less than so long ago.
fn write(pause: Duration) {
    let Some(path) = std::env::var_os("CKPT_PROFILE") else {
        return;
    };
    let mut tables = tables();
    if tables.written.is_some_and(|last| last.elapsed() < pause) {
        return;
    }
    tables.written = Some(Instant::now());
    let now = now();
    let mut text = format!("nanos {now}\n");
    for [entries, outer, turns, nanos, inner, open] in sums(&tables, now) {
        text += &format!("{entries} {outer} {turns} {nanos} {inner} {open}\n");
    }
    let mut new = path.clone();
    new.push(".new");
    // A program must not fail because it is looked at.
    if std::fs::write(&new, text).is_ok() {
        let _ = std::fs::rename(&new, &path);
    }
}
