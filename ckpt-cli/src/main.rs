//! cargo ckpt.
fn main() {}
