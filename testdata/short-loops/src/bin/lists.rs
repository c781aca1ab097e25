#![deny(warnings)]

use short_loops::over_a_list;

fn main() {
    println!("list {}", over_a_list(2));
    println!("list {}", over_a_list(3));
}
