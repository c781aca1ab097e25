#![deny(warnings)]

use short_loops::{growing, loop_with_value};

fn main() {
    println!("loop {}", loop_with_value(1));
    println!("growing {}", growing(3));
}
