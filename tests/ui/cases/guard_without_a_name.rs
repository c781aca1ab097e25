//! A lock that is held to the end of the statement would be let go before the call.

use std::sync::Mutex;

#[ckpt::instrument]
fn work(n: u64) -> u64 {
    for _ in 0..n {
        ckpt::checkpoint!();
    }
    n
}

#[ckpt::main(calls(work))]
fn main() {
    let list = Mutex::new(vec![1, 2, 3]);
    println!("{}", list.lock().unwrap().len() as u64 + work(3));
    match list.lock().unwrap().len() {
        3 => println!("{}", work(3)),
        _ => {}
    }
    if let Some(n) = list.lock().unwrap().first().copied() {
        println!("{n} {}", work(3));
    }
}
