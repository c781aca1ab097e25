#![deny(warnings)]

use short_loops::{early, while_loop};

fn main() {
    println!("while {:?}", while_loop(2, 50_000));
    println!("early {:?}", early(2, 99_999_999));
    println!("early {:?}", early(3, 4));
}
