#![allow(warnings)]

mod programs;
mod support;

fn main() {
    let name = std::env::args().nth(1).unwrap_or_default();
    let run = programs::find(&name).expect("no such program");
    let _session = ckpt::__rt::open(ckpt::__rt::Program { name: "generated", version: "0.1.0", sources: None });
    run();
}
