//! A loop that reads a line of standard input now and then; with TEST_HOLDS it holds the handle across its site.

use std::io::Stdin;

use ckpt::__rt::{Frame, FunctionPlan, open};

use super::{MAIN, PROGRAM, checkpoint_at, plan, variable};

static PLAN: FunctionPlan = plan(
    "main",
    1,
    MAIN,
    &[checkpoint_at(
        10,
        &[variable("step", 5), variable("text", 6), variable("input", 7)],
    )],
);

fn line() -> String {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    line.trim().to_owned()
}

pub fn main() {
    let _session = open(PROGRAM);
    let mut frame = Frame::enter(&PLAN);
    let mut text: String = if frame.runs() {
        line()
    } else {
        frame.restore("text")
    };
    let input: Option<Stdin> = match frame.runs() {
        true => std::env::var_os("TEST_HOLDS").map(|_| std::io::stdin()),
        false => frame.restore("input"),
    };
    let mut step: u64 = if frame.runs() { 0 } else { frame.restore("step") };
    while frame.enters(1, 1) || step < 6 {
        if frame.runs() {
            step += 1;
            if step.is_multiple_of(2) {
                text += &line();
            }
        }
        if frame.due(1) {
            frame.checkpoint(1, &|r| {
                r.save("step", &step);
                r.save("text", &text);
                r.save("input", &input);
            });
        }
    }
    println!("{text} {}", line());
}
