//! The victim as if ckpt were not there.

extern crate ckpt_plain as ckpt;

mod work;

fn main() {
    work::main();
}
