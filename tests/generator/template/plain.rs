#![allow(warnings)]

extern crate ckpt_plain as ckpt;

mod programs;
mod support;

fn main() {
    let name = std::env::args().nth(1).unwrap_or_default();
    programs::find(&name).expect("no such program")();
}
