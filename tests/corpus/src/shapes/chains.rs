//! Sites in the closures of iterators that run where they stand.

use super::draw;
use std::collections::BTreeMap;

#[ckpt::instrument]
fn simulated(rounds: u64, start: u64) -> u64 {
    let mut state = start;
    for round in 0..rounds {
        ckpt::checkpoint!();
        draw(&mut state);
        println!("{round} {state}");
    }
    state % 1000
}

#[ckpt::instrument(calls(simulated))]
pub fn collected() {
    let scale = 3 + std::hint::black_box(0);
    let results: Vec<u64> = (1..4u64).map(|k| simulated(2, k * scale)).collect();
    println!("{results:?}");
    let by_name = ["a", "b"]
        .iter()
        .enumerate()
        .map(|(k, name)| {
            let result = simulated(k as u64 + 1, 7);
            (*name, result)
        })
        .collect::<BTreeMap<_, _>>();
    println!("= {by_name:?}");
}

#[ckpt::instrument]
pub fn collected_with_a_site_in_the_closure() {
    let mut turns = 0;
    let rows: Vec<Vec<u64>> = (0..3u64)
        .map(|row| {
            ckpt::checkpoint!();
            turns += 1;
            (0..row).map(|k| k * turns).collect()
        })
        .collect();
    println!("= {rows:?} {turns}");
}

#[ckpt::instrument(calls(simulated))]
pub fn summed() {
    let starts = vec![3u64, 5, 8];
    let total: u64 = starts.iter().map(|start| simulated(2, *start)).sum();
    let mean = starts
        .iter()
        .filter(|start| **start > 4)
        .map(|start| simulated(1, *start) as f64 * 0.1)
        .sum::<f64>()
        / starts.len() as f64;
    let product: u64 = (0..2).map(|k| simulated(1, k) % 10 + 1).product();
    let nothing: f64 = (0..0).map(|k| simulated(1, k) as f64).sum();
    println!("= {total} {mean} {product} {nothing} {starts:?}");
}

#[ckpt::instrument(calls(simulated))]
pub fn folded_and_counted() {
    let best = (0..3u64).fold((0, u64::MAX), |(at, least), k| {
        let found = simulated(2, k + 20);
        if found < least { (k, found) } else { (at, least) }
    });
    let odd = (0..4u64).filter(|k| simulated(1, *k) % 2 == 1).count();
    let (low, high): (Vec<u64>, Vec<u64>) = (0..2u64).map(|k| (k, simulated(1, k))).unzip();
    println!("= {best:?} {odd} {low:?} {high:?}");
}

#[ckpt::instrument(calls(simulated))]
pub fn for_each_of_them() {
    let mut list = vec![1u64, 2, 3];
    let mut total = 0;
    list.iter_mut().enumerate().for_each(|(k, item)| {
        *item = simulated(k as u64 + 1, *item);
        total += *item;
    });
    (0..2).for_each(|k| {
        ckpt::checkpoint!();
        println!("{k} {total}");
    });
    println!("= {list:?}");
}

#[ckpt::instrument(calls(simulated))]
pub fn one_in_the_closure_of_another() {
    let table: Vec<Vec<u64>> = (0..2u64)
        .map(|row| (0..2u64).map(|column| simulated(2, row * 10 + column)).collect())
        .collect();
    println!("= {table:?}");
}

#[ckpt::instrument(calls(simulated))]
pub fn in_the_iterator_of_a_loop() {
    let mut total = 0;
    for (k, result) in (0..3u64).map(|k| simulated(2, k)).enumerate() {
        total += result + k as u64;
        println!("{k} {result} {total}");
    }
    println!(
        "= {}",
        2 * (0..2u64).map(|k| simulated(1, k)).sum::<u64>() + total
    );
}
