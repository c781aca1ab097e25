//! The shapes as if ckpt were not there: what they print is the reference for the instrumented ones.

extern crate ckpt_plain as ckpt;

mod shapes;

fn main() {
    if let Some(shape) = shapes::chosen() {
        shape();
    }
}
