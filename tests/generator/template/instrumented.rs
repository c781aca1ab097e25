#![allow(warnings)]

mod programs;
mod support;

/// What `harness::AGAIN` says.
const AGAIN: &str = "harness: once more in this process";

static HAS_RUN: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

fn main() {
    let name = std::env::args().nth(1).unwrap_or_default();
    let run = programs::find(&name).expect("no such program");
    let program = ckpt::__rt::Program { name: "generated", version: "0.1.0", sources: None };
    ckpt::__rt::run_main(program, || {
        if HAS_RUN.swap(true, std::sync::atomic::Ordering::Relaxed) {
            eprintln!("{AGAIN}");
        }
        run();
    });
}
