//! A loop that reads a line of standard input now and then; with TEST_HOLDS it holds the handle across its site, its lock, or a
//! reader around the one or the other.

use std::io::{BufRead, BufReader, Stdin, StdinLock};

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
            variable("text", 6),
            variable("input", 7),
            variable("lock", 8),
            variable("reader", 9),
            variable("both", 10),
        ],
    )],
);

#[derive(Default)]
struct Held {
    input: Option<Stdin>,
    lock: Option<StdinLock<'static>>,
    reader: Option<BufReader<Stdin>>,
    both: Option<BufReader<StdinLock<'static>>>,
}

impl Held {
    fn new() -> Self {
        let all = std::io::stdin;
        let mut held = Self::default();
        match std::env::var("TEST_HOLDS").as_deref() {
            Ok("lock") => held.lock = Some(all().lock()),
            Ok("reader") => held.reader = Some(BufReader::with_capacity(20, all())),
            Ok("both") => held.both = Some(BufReader::with_capacity(20, all().lock())),
            Ok(_) => held.input = Some(all()),
            Err(_) => {}
        }
        held
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        let read = match self {
            Self { lock: Some(lock), .. } => lock.read_line(&mut line),
            Self {
                reader: Some(reader), ..
            } => reader.read_line(&mut line),
            Self { both: Some(both), .. } => both.read_line(&mut line),
            _ => std::io::stdin().read_line(&mut line),
        };
        read.unwrap();
        line.trim().to_owned()
    }
}

pub fn main() {
    let _session = open(PROGRAM);
    let mut frame = Frame::enter(&PLAN);
    let (mut held, mut text) = match frame.runs() {
        true => {
            let mut held = Held::new();
            let text = held.line();
            (held, text)
        }
        false => {
            let held = Held {
                input: frame.restore("input"),
                lock: frame.restore("lock"),
                reader: frame.restore("reader"),
                both: frame.restore("both"),
            };
            (held, frame.restore("text"))
        }
    };
    let mut step: u64 = if frame.runs() { 0 } else { frame.restore("step") };
    while frame.enters(1, 1) || step < 6 {
        if frame.runs() {
            step += 1;
            if step.is_multiple_of(2) {
                text += &held.line();
            }
        }
        if frame.due(1) {
            frame.checkpoint(1, &|r| {
                r.save("step", &step);
                r.save("text", &text);
                r.save("input", &held.input);
                r.save("lock", &held.lock);
                r.save("reader", &held.reader);
                r.save("both", &held.both);
            });
        }
    }
    println!("{text} {}", held.line());
}
