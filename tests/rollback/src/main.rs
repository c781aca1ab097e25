//! Programs that go back to a checkpoint in their process; the first argument says which.

mod machine;
mod surprises;
mod teams;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::env;
use std::ffi::CString;
use std::fs::{self, OpenOptions};
use std::io::{self, BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, RwLock};
use std::thread;

use machine::{Asked, lose};
use surprises::{destructors, exits, exits_on_the_way, handler, hook, scopes, set_once, signals};
use teams::{barriers, deleted, detached, loops, stays, threads};

const STEPS: u64 = 24;

static DRAWN: AtomicU64 = AtomicU64::new(1);
static HISTORY: Mutex<Vec<u64>> = Mutex::new(Vec::new());
static TABLE: RwLock<BTreeMap<u64, u64>> = RwLock::new(BTreeMap::new());
static MESH: OnceLock<u64> = OnceLock::new();
/// Not named to ckpt: what is executed again finds it as it is.
static SET_UP: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static TURNS: Cell<u64> = const { Cell::new(0) };
    static WORDS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

fn draw() -> u64 {
    let next = DRAWN
        .load(Ordering::Relaxed)
        .wrapping_mul(6364136223846793005)
        .wrapping_add(1442695040888963407);
    DRAWN.store(next, Ordering::Relaxed);
    next >> 33
}

/// Whether this step goes wrong for the first time in this job. The mark of it is made past the C library, as a rollback would take
/// it back otherwise.
fn strikes(step: u64) -> bool {
    let wanted = env::var("TEST_STRIKES").ok().and_then(|text| text.parse().ok());
    let Ok(mark) = env::var("TEST_MARK") else {
        return false;
    };
    let mark = CString::new(mark).expect("a path has no zero byte");
    let flags = libc::O_CREAT | libc::O_EXCL | libc::O_WRONLY;
    if wanted != Some(step) {
        return false;
    }
    // SAFETY: plain system calls with a path that lives until they return; the file is nobody else's.
    unsafe {
        let made = libc::syscall(libc::SYS_openat, libc::AT_FDCWD, mark.as_ptr(), flags, 0o600);
        made >= 0 && libc::syscall(libc::SYS_close, made) == 0
    }
}

fn note(step: u64) -> io::Result<()> {
    let mut log = OpenOptions::new().create(true).append(true).open("log.txt")?;
    writeln!(log, "{step} {}", env::var("TEST_PHASE").unwrap_or_default())?;
    fs::write(format!("step-{}.txt", step % 5), format!("{step}\n"))
}

/// All that a process is made of changes in each step.
#[ckpt::instrument]
fn surroundings(cells: &mut [u64]) {
    for step in 1..=STEPS {
        ckpt::checkpoint!();
        for cell in &mut *cells {
            *cell = cell.wrapping_mul(31).wrapping_add(draw());
        }
        let mut history = HISTORY.lock().expect("nobody has panicked");
        history.push(cells[0] % 100);
        TABLE.write().expect("nobody has panicked").insert(step, draw());
        TURNS.set(TURNS.get() + step);
        WORDS.with_borrow_mut(|words| words.push(format!("w{step}")));
        note(step).unwrap();
        // SAFETY: the program has one thread.
        unsafe { env::set_var("TEST_PHASE", format!("phase {}", step / 3)) };
        println!("{step}: {} {}", cells[0] % 1000, history.len());
        ckpt::check!(!strikes(step), "step {step} has gone wrong");
    }
}

#[ckpt::instrument]
fn reads() -> u64 {
    let stdin = io::stdin();
    let mut sum = 0;
    for _ in 1..=STEPS {
        ckpt::checkpoint!();
        let mut line = String::new();
        stdin.lock().read_line(&mut line).unwrap();
        sum = sum * 7 + line.trim().parse::<u64>().unwrap();
        println!("read {}", line.trim());
    }
    sum
}

#[ckpt::instrument]
fn inner(step: u64, sum: &mut u64) {
    for turn in 0..3 {
        ckpt::checkpoint!();
        *sum = sum.wrapping_mul(17).wrapping_add(step * turn);
        if turn == 1 && strikes(step) {
            let Err(why) = ckpt::rollback("an inner step has gone wrong");
            println!("{why}");
        }
    }
}

fn is_caught(body: impl FnOnce()) -> bool {
    catch_unwind(AssertUnwindSafe(body)).is_err()
}

/// What unwinds comes by a function that catches panics.
#[ckpt::instrument(calls(inner))]
fn guarded(step: u64, sum: &mut u64) {
    if is_caught(|| {
        if strikes(step + 1) {
            let _ = ckpt::rollback("a guarded step has gone wrong");
        }
    }) {
        *sum += 1;
    }
    inner(step, sum);
}

#[ckpt::instrument(calls(guarded))]
fn caught() {
    let mut sum = 1;
    for step in 1..=STEPS / 3 {
        guarded(step, &mut sum);
        println!("{step} {sum}");
    }
}

#[ckpt::instrument]
fn once() {
    let mut sum = 0_u64;
    for step in 1..=STEPS {
        ckpt::checkpoint!();
        if step == 10 {
            MESH.set(draw()).unwrap();
        }
        sum = sum
            .wrapping_mul(3)
            .wrapping_add(MESH.get().copied().unwrap_or(step));
        println!("{step} {sum}");
        ckpt::check!(!strikes(step), "step {step} has gone wrong");
    }
}

/// As a library does that is set up once in a process.
fn set_up() -> u64 {
    assert_eq!(SET_UP.fetch_add(1, Ordering::Relaxed), 0, "set up twice");
    7
}

#[ckpt::instrument]
fn with_a_library() {
    #[ckpt(reexecute)]
    let library = set_up();
    let mut sum = 0_u64;
    for step in 1..=STEPS {
        ckpt::checkpoint!();
        sum = sum.wrapping_mul(3).wrapping_add(step * library);
        println!("{step} {sum}");
        ckpt::check!(!strikes(step), "step {step} has gone wrong");
    }
}

#[ckpt::instrument]
fn large() {
    let mut cells = vec![0_u64; 1 << 18];
    for step in 1..=STEPS {
        ckpt::checkpoint!();
        for cell in &mut cells {
            *cell = cell.wrapping_mul(31).wrapping_add(draw());
        }
        println!("{step} {}", cells[7]);
    }
}

#[derive(ckpt::Checkpoint)]
struct Weights {
    of_cells: Vec<f64>,
    of_all: f64,
}

/// One list is written to between two sites, the other, which stands in a struct, is not.
#[ckpt::instrument]
fn weighted() {
    let weights = Weights {
        of_cells: (0..500).map(|at| f64::from(at % 7) / 8.0).collect(),
        of_all: 0.75,
    };
    let mut cells = vec![1.0; 500];
    for step in 1..=STEPS {
        ckpt::checkpoint!();
        for (cell, weight) in cells.iter_mut().zip(&weights.of_cells) {
            *cell = 0.5 * *cell + weights.of_all * weight;
        }
        println!("{step} {:e}", cells.iter().sum::<f64>());
        ckpt::check!(!strikes(step), "step {step} has gone wrong");
    }
}

fn start(length: u64) -> Vec<f64> {
    (0..length).map(|at| (at as f64 * 0.37).sin()).collect()
}

/// Two lists are needed behind the loop only: the coefficients can be computed again, the start is what a function has given.
#[ckpt::instrument]
fn kept(length: u64) {
    let coefficients: Vec<f64> = (0..length).map(|at| at as f64 * 0.25 + 1.0).collect();
    let start = start(600);
    let mut cells = vec![1.0; 50];
    for step in 1..=STEPS {
        ckpt::checkpoint!();
        for (at, cell) in cells.iter_mut().enumerate() {
            *cell = 0.5 * *cell + at as f64;
        }
        println!("{step} {:e}", cells.iter().sum::<f64>());
    }
    let ends = start.iter().zip(&coefficients);
    println!("{:e}", ends.map(|(one, other)| one * other).sum::<f64>());
}

/// A list of the caller's, which nothing writes to during the call, and one of its own.
#[ckpt::instrument]
fn sums(matrix: &[u64]) {
    let own: Vec<u64> = (0..1 << 18).map(|at| at % 89).collect();
    let mut sum = 0_u64;
    for step in 1..=STEPS {
        ckpt::checkpoint!();
        if strikes(step) {
            match env::var("TEST_LOST").as_deref() {
                Ok("own") => lose(&own, Asked::ByNobody),
                _ => lose(matrix, Asked::ByNobody),
            }
        }
        sum = matrix
            .iter()
            .chain(&own)
            .fold(sum, |sum, one| sum.wrapping_mul(31).wrapping_add(*one));
        println!("{step} {sum}");
    }
}

#[ckpt::instrument(calls(sums))]
fn loses() {
    let matrix: Vec<u64> = (0..1 << 18).map(|at| at * at % 83).collect();
    sums(&matrix);
    println!("{}", matrix.iter().sum::<u64>());
}

/// Water that goes round in a ring of cells, and is all there in each state that is right.
#[derive(ckpt::Checkpoint)]
#[ckpt(detector = "Tank::holds_all")]
struct Tank {
    cells: Vec<u64>,
    whole: u64,
}

impl Tank {
    fn holds_all(&self) -> bool {
        self.cells.iter().sum::<u64>() == self.whole
    }
}

/// The tanks are in a list. Water of one is lost where that is wanted: in one step, or in each from there on.
#[ckpt::instrument]
fn tanks(always: bool) {
    let mut tanks: Vec<Tank> = (1..4)
        .map(|of| Tank {
            cells: (0..50).map(|cell| cell * of).collect(),
            whole: 50 * 49 / 2 * of,
        })
        .collect();
    for step in 1..=STEPS {
        ckpt::checkpoint!();
        for tank in &mut tanks {
            tank.cells.rotate_left(1);
            let moved = tank.cells[0] / 3;
            tank.cells[0] -= moved;
            tank.cells[1] += moved;
        }
        if strikes(step) || always && step >= 9 {
            tanks[1].cells[7] -= 1;
        }
        println!("{step} {}", tanks[1].cells[7]);
    }
}

/// A list has what is no number in every fourth step.
#[ckpt::instrument]
fn has_a_nan_at_times() {
    let mut cells = vec![1.0_f64; 100];
    for step in 1..=STEPS {
        ckpt::checkpoint!();
        cells[3] = if step % 4 == 0 { f64::NAN } else { step as f64 };
        println!("{step} {}", cells[3]);
    }
}

/// A list gets what is no number, each time.
#[ckpt::instrument]
fn gets_a_nan() {
    let mut cells = vec![1.0_f64; 100];
    for step in 1..=STEPS {
        ckpt::checkpoint!();
        cells[3] = (13.5 - step as f64).ln();
        println!("{step} {}", cells[3]);
    }
}

/// A check that fails each time.
#[ckpt::instrument]
fn always() {
    for step in 1..=STEPS {
        ckpt::checkpoint!();
        println!("{step}");
        ckpt::check!(step < 17);
    }
}

/// One error has the program go back far. On its way to where it was, others come, each once; or two of them come each time.
#[ckpt::instrument]
fn unlucky(comes_again: bool) {
    const ERRORS: [u64; 6] = [20, 6, 9, 13, 17, 19];
    let mut sum = 0_u64;
    for step in 1..=STEPS {
        ckpt::checkpoint!();
        sum = sum.wrapping_mul(31).wrapping_add(step);
        let errors = SET_UP.load(Ordering::Relaxed) as usize;
        let at = if comes_again { errors % 2 } else { errors };
        if ERRORS.get(at) == Some(&step) {
            SET_UP.store(errors as u64 + 1, Ordering::Relaxed);
            if errors == 0 {
                let _ = ckpt::rollback_to(1, "it is all wrong");
            }
            ckpt::check!(false, "step {step} has gone wrong");
        }
    }
    println!("{sum}");
}

struct Asks;

impl Drop for Asks {
    fn drop(&mut self) {
        let Err(why) = ckpt::rollback("in a destructor");
        println!("{why}");
    }
}

/// A value that asks for a rollback when it is saved.
struct Saved(u64);

impl ckpt::Checkpoint for Saved {
    fn save(&self, to: &mut ckpt::value::Encoder<'_>) {
        said(ckpt::rollback("while it is saved"));
        self.0.save(to);
    }

    fn load(from: &mut ckpt::value::Decoder<'_>) -> Result<Self, ckpt::LoadError> {
        u64::load(from).map(Saved)
    }
}

/// Is executed again by a restart.
fn asks_on_the_way(step: u64) -> u64 {
    if step == 0 {
        said(ckpt::rollback("on the way"));
    }
    7
}

#[ckpt::instrument]
fn on_the_way() {
    let saved = Saved(1);
    #[ckpt(reexecute)]
    let seven = asks_on_the_way(0);
    for step in 1..=STEPS {
        ckpt::checkpoint!();
        println!("{step} {}", seven * saved.0);
    }
}

/// In a state that no checkpoint could be taken in.
fn led_elsewhere() {
    // SAFETY: plain calls on numbers of files that are open.
    unsafe {
        let out = libc::dup(1);
        libc::dup2(2, 1);
        let Err(why) = ckpt::rollback("while standard output is led elsewhere");
        libc::dup2(out, 1);
        libc::close(out);
        println!("{why}");
    }
}

fn said(outcome: Result<std::convert::Infallible, ckpt::NotRolledBack>) {
    let Err(why) = outcome;
    println!("{why}");
}

/// Everything that cannot be.
#[ckpt::instrument]
fn misuses() {
    said(ckpt::rollback("before the first checkpoint"));
    for step in 1..=STEPS {
        ckpt::checkpoint!();
        if step == 10 {
            led_elsewhere();
            said(ckpt::rollback_to(77, "to one that is not there"));
            thread::spawn(|| said(ckpt::rollback("on another thread")))
                .join()
                .unwrap();
            is_caught(|| {
                let _asks = Asks;
                std::panic::resume_unwind(Box::new("a panic"));
            });
            // SAFETY: the child only asks, says what it is told, and ends.
            match unsafe { libc::fork() } {
                0 => {
                    said(ckpt::rollback("in a fork"));
                    // SAFETY: ends the fork.
                    unsafe { libc::_exit(0) };
                }
                child => {
                    let mut status = 0;
                    // SAFETY: waits for the process that was forked.
                    unsafe { libc::waitpid(child, &mut status, 0) };
                }
            }
        }
        println!("{step}");
    }
}

#[ckpt::main(calls(
    surroundings,
    reads,
    caught,
    once,
    with_a_library,
    threads,
    barriers,
    detached,
    loops,
    deleted,
    stays,
    always,
    unlucky,
    large,
    tanks,
    weighted,
    kept,
    loses,
    gets_a_nan,
    has_a_nan_at_times,
    misuses,
    on_the_way,
    set_once,
    hook,
    signals,
    exits,
    scopes,
    destructors,
    exits_on_the_way,
    handler
))]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    ckpt::global("DRAWN", &DRAWN);
    ckpt::global("HISTORY", &HISTORY);
    ckpt::global("TABLE", &TABLE);
    ckpt::global("MESH", &MESH);
    ckpt::global("TURNS", &TURNS);
    ckpt::global("WORDS", &WORDS);
    ckpt::global("LIST", &surprises::LIST);
    ckpt::global("CELLS", &surprises::CELLS);
    let program = env::args().nth(1).ok_or("which program?")?;
    match &*program {
        "surroundings" => {
            let mut cells = vec![1, 2, 3, 4];
            surroundings(&mut cells);
            println!("{cells:?} {:?}", HISTORY.lock().expect("nobody has panicked"));
            println!("{:?} {}", TABLE.read().expect("nobody has panicked"), TURNS.get());
            WORDS.with_borrow(|words| println!("{words:?}"));
        }
        "reads" => {
            let sum = reads();
            println!("{sum}");
        }
        "caught" => caught(),
        "once" => once(),
        "library" => with_a_library(),
        "threads" => threads(),
        "barriers" => barriers(),
        "detached" => detached(),
        "loops" => loops(),
        "deleted" => deleted(),
        "stays" => stays(),
        "always" => always(),
        "unlucky" => unlucky(false),
        "doomed" => unlucky(true),
        "large" => large(),
        "weighted" => weighted(),
        "kept" => kept(600),
        "computed" => kept(60_000),
        "started" => kept(6),
        "loses" => loses(),
        "tanks" => tanks(false),
        "leaking" => tanks(true),
        "nan" => gets_a_nan(),
        "nan-at-times" => has_a_nan_at_times(),
        "misuses" => misuses(),
        "set-once" => set_once(),
        "hook" => hook(),
        "signals" => signals(),
        "exits" => exits(),
        "scopes" => scopes(),
        "destructors" => destructors(),
        "handler" => handler(),
        "exits-on-the-way" => exits_on_the_way(),
        "on-the-way" => on_the_way(),
        other => return Err(format!("there is no program `{other}`").into()),
    }
    Ok(())
}
