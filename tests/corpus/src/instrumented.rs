//! The shapes under ckpt. Each is the outermost instrumented function of its run, and runs again in its process when the program
//! goes back to a checkpoint.

use std::sync::atomic::{AtomicBool, Ordering};

mod shapes;

/// What `harness::AGAIN` says.
const AGAIN: &str = "harness: once more in this process";

static HAS_RUN: AtomicBool = AtomicBool::new(false);

fn main() {
    if let Some(shape) = shapes::chosen() {
        let program = ckpt::__rt::Program {
            name: env!("CARGO_PKG_NAME"),
            version: env!("CARGO_PKG_VERSION"),
            sources: None,
        };
        ckpt::__rt::run_main(program, || {
            if HAS_RUN.swap(true, Ordering::Relaxed) {
                eprintln!("{AGAIN}");
            }
            shape();
        });
    }
}
