//! Statics whose values have destructors with effects: writers with bytes in their buffers, and a type that counts how many of it
//! there are.

use std::cell::RefCell;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, OnceLock};

use ckpt::__rt::{Frame, FunctionPlan, open};

use super::{MAIN, PROGRAM, checkpoint_at, plan, variable};

static PLAN: FunctionPlan = plan("main", 1, MAIN, &[checkpoint_at(10, &[variable("step", 5)])]);

static LIVE: AtomicI64 = AtomicI64::new(0);
static TOKENS: Mutex<Vec<Token>> = Mutex::new(Vec::new());
static LATER: AtomicI64 = AtomicI64::new(0);
static LOCKED: Mutex<Option<BufWriter<File>>> = Mutex::new(None);
static ONCE: OnceLock<Mutex<BufWriter<File>>> = OnceLock::new();

thread_local! {
    static LOCAL: RefCell<Option<BufWriter<File>>> = const { RefCell::new(None) };
}

#[derive(ckpt::Checkpoint)]
struct Token(u64);

impl Token {
    fn new(number: u64) -> Token {
        LIVE.fetch_add(1, Ordering::Relaxed);
        Token(number)
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        LIVE.fetch_sub(1, Ordering::Relaxed);
        LATER.fetch_add(1, Ordering::Relaxed);
    }
}

fn created(name: &str) -> BufWriter<File> {
    BufWriter::new(File::create(name).unwrap())
}

pub fn main() {
    let _session = open(PROGRAM);
    let mut frame = Frame::enter(&PLAN);
    ckpt::global("test::LIVE", &LIVE);
    ckpt::global("test::TOKENS", &TOKENS);
    ckpt::global("test::LATER", &LATER);
    ckpt::global("test::LOCKED", &LOCKED);
    ckpt::global("test::ONCE", &ONCE);
    ckpt::global("test::LOCAL", &LOCAL);
    if frame.runs() {
        *LOCKED.lock().unwrap() = Some(created("locked.txt"));
        ONCE.set(Mutex::new(created("once.txt"))).unwrap();
        LOCAL.set(Some(created("local.txt")));
    }
    let mut step: u64 = if frame.runs() { 0 } else { frame.restore("step") };
    while frame.enters(1, 1) || step < 6 {
        if frame.runs() {
            step += 1;
            writeln!(LOCKED.lock().unwrap().as_mut().unwrap(), "step {step}").unwrap();
            writeln!(ONCE.get().unwrap().lock().unwrap(), "step {step}").unwrap();
            LOCAL.with_borrow_mut(|local| writeln!(local.as_mut().unwrap(), "step {step}").unwrap());
            let mut tokens = TOKENS.lock().unwrap();
            tokens.push(Token::new(step));
            tokens.push(Token::new(step));
            if step.is_multiple_of(2) {
                tokens.swap_remove(0);
            }
        }
        if frame.due(1) {
            frame.checkpoint(1, &|r| r.save("step", &step));
        }
    }
    LOCKED.lock().unwrap().take();
    ONCE.get().unwrap().lock().unwrap().flush().unwrap();
    LOCAL.take();
    println!("{LIVE:?} {LATER:?}");
    for name in ["locked.txt", "once.txt", "local.txt"] {
        print!("{}", std::fs::read_to_string(name).unwrap());
    }
}
