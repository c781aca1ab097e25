//! The victim under ckpt.

mod work;

fn main() {
    work::main();
}
