//! Closures made before a site.

use super::draw;

#[ckpt::instrument]
pub fn without_captures() {
    let square = |x: u64| x * x;
    let mut n = 2;
    for _ in 0..3 {
        n = square(n) % 1000;
        ckpt::checkpoint!();
        println!("{n} {}", square(3));
    }
    println!("= {n}");
}

#[ckpt::instrument]
pub fn capturing_by_reference() {
    let table = vec![2u64, 3, 5];
    let scale = 10;
    let look = |i: usize| table[i] * scale;
    let mut sum = 0;
    for i in 0..3 {
        sum += look(i);
        ckpt::checkpoint!();
        println!("{i} {sum} {}", look(0));
    }
    println!("= {sum} {table:?}");
}

#[ckpt::instrument]
pub fn capturing_mutably_between_sites() {
    let mut log = Vec::new();
    for i in 0..3u64 {
        let mut note = |x: u64| log.push(x + i);
        note(1);
        note(2);
        ckpt::checkpoint!();
        println!("{log:?}");
    }
    println!("= {log:?}");
}

#[ckpt::instrument]
pub fn passed_to_an_adaptor_in_the_body() {
    let mut items = vec![5u64, 1, 4];
    for turn in 0..3 {
        items = items.iter().map(|i| i * 2 + turn).collect();
        ckpt::checkpoint!();
        items.sort_by_key(|i| i % 7);
        items.retain(|i| i % 11 != 0);
        println!("{items:?}");
    }
    println!("= {items:?}");
}

#[ckpt::instrument]
pub fn function_pointer() {
    let rule: fn(u64, u64) -> u64 = u64::wrapping_mul;
    let mut n = 3;
    for i in 1..4 {
        n = rule(n, i + 1);
        ckpt::checkpoint!();
        println!("{n}");
    }
    println!("= {n}");
}

#[ckpt::instrument]
pub fn made_from_a_value_that_is_drawn() {
    let mut seed = 21;
    let offset = draw(&mut seed) % 10;
    let shift = |x: u64| x + offset;
    let mut sum = 0;
    for _ in 0..3 {
        sum = shift(sum) + draw(&mut seed) % 3;
        ckpt::checkpoint!();
        println!("{sum} {}", shift(1));
    }
    println!("= {sum} {seed}");
}

#[ckpt::instrument]
pub fn two_closures_one_using_the_other() {
    let base = 7u64;
    let one = |x: u64| x + base;
    let two = |x: u64| one(x) * 2;
    let mut n = 0;
    while n < 200 {
        ckpt::checkpoint!();
        n = two(n);
        println!("{n} {}", one(n));
    }
    println!("= {n}");
}
