//! Sites in the closures of iterators that run where they stand.

// These ways of writing it are what is tried.
#![allow(
    clippy::double_ended_iterator_last,
    clippy::useless_conversion,
    clippy::while_let_on_iterator
)]

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

#[ckpt::instrument(calls(simulated))]
fn doubled(start: u64) -> u64 {
    simulated(2, start) * 2
}

#[ckpt::instrument(calls(simulated))]
fn is_odd(start: &u64) -> bool {
    simulated(1, *start) % 2 == 1
}

#[ckpt::instrument(calls(simulated))]
fn shown(start: u64) {
    println!("= {}", simulated(2, start));
}

fn swapped((index, value): (usize, u64)) -> (usize, u64) {
    (value as usize, index as u64)
}

fn least(one: u64, other: u64) -> u64 {
    one.min(other)
}

#[ckpt::instrument(calls(doubled, is_odd, shown, simulated))]
pub fn functions_by_name() {
    let results: Vec<u64> = (1..4u64).map(doubled).filter(is_odd).collect();
    let odd: Vec<u64> = (0..4u64).filter(is_odd).map(u64::from).collect();
    (5..7u64).for_each(shown);
    let smallest = (0..3u64).map(|k| simulated(1, k)).fold(u64::MAX, least);
    let mut total = 0;
    for (k, result) in (0..2u64).map(doubled).enumerate() {
        ckpt::checkpoint!();
        total += result + k as u64;
    }
    let simulated_twice = |k: u64| k + 1;
    let local: u64 = (0..3u64).map(simulated_twice).map(doubled).sum();
    let numbered: Vec<(usize, u64)> = (0..3u64)
        .map(u64::from)
        .map(doubled)
        .enumerate()
        .map(swapped)
        .collect();
    println!("= {results:?} {odd:?} {smallest} {total} {local} {numbered:?}");
    println!(
        "= {} {}",
        (0..3u64).map(doubled).sum::<u64>(),
        [7u64].iter().any(is_odd)
    );
}

#[ckpt::instrument(calls(simulated))]
fn parsed(words: &str) -> Result<Vec<u64>, String> {
    words
        .split_whitespace()
        .map(|word| {
            let start: u64 = word.parse().map_err(|_| format!("no number: {word}"))?;
            if start > 90 {
                return Err(format!("too large: {start}"));
            }
            Ok(simulated(1, start))
        })
        .collect()
}

#[ckpt::instrument(calls(simulated))]
fn half_or_none(words: &[&str]) -> Vec<Option<u64>> {
    words
        .iter()
        .map(|word| {
            let start = word.parse::<u64>().ok()?;
            println!("{}", Some(simulated(2, start)).filter(|_| start > 1)?);
            Some(start / 2)
        })
        .collect()
}

#[ckpt::instrument(calls(parsed, half_or_none, simulated))]
pub fn closures_that_end_early() {
    println!("= {:?}", parsed("3 4 5"));
    println!("= {:?}", parsed("3 x 5"));
    println!("= {:?}", parsed("3 95 5"));
    println!("= {:?}", half_or_none(&["8", "x", "1", "6"]));
    let typed: Option<Vec<u64>> = (1..4u64)
        .map(|k| -> Option<u64> { k.checked_sub(simulated(1, k) % 2) })
        .collect();
    println!("= {typed:?}");
    let sum = (0..5u64)
        .map(|k| match k {
            2 => return 0,
            _ => simulated(1, k),
        })
        .sum::<u64>();
    println!("= {sum}");
}

#[ckpt::instrument(calls(simulated))]
fn up_to_a_limit(limit: u64) -> Result<u64, String> {
    let mut seen = 0;
    (0..5u64).try_for_each(|k| {
        let found = simulated(1, k);
        seen += found;
        if seen > limit {
            Err(format!("{seen} at {k}"))
        } else {
            Ok(())
        }
    })?;
    let total = (0..3u64).try_fold(seen, |sum, k| sum.checked_add(simulated(1, k)).ok_or("overflow"))?;
    Ok(total)
}

#[ckpt::instrument(calls(up_to_a_limit, simulated))]
pub fn ends_that_stop_early() {
    println!("= {:?} {:?}", up_to_a_limit(10), up_to_a_limit(100_000));
    let list = vec![4u64, 9, 16, 25];
    let any = list.iter().any(|x| simulated(1, *x) % 3 == 0);
    let all = list.iter().all(|x| simulated(1, *x) < 900);
    let none = list.iter().all(|x| match simulated(1, *x) { 0 => 1, _ => 2 } == 2);
    let found = list.iter().copied().find(|x| simulated(1, *x) % 2 == 0);
    let mapped = list
        .iter()
        .find_map(|x| Some(simulated(1, *x)).filter(|y| y % 2 == 1));
    let place = list.iter().position(|x| simulated(2, *x) % 4 == 1);
    println!("= {any} {all} {none} {found:?} {mapped:?} {place:?}");
}

#[ckpt::instrument(calls(simulated))]
pub fn ends_that_keep_one() {
    let list = vec![4u64, 9, 16, 25];
    let largest = list.iter().map(|x| (simulated(1, *x), *x)).max();
    let smallest = list.iter().map(|x| simulated(1, *x)).min().unwrap_or(0);
    let last = list.iter().map(|x| simulated(1, *x)).last();
    let by = list.iter().copied().max_by(|a, b| {
        ckpt::checkpoint!();
        (*a as f64 % 9.0).partial_cmp(&(*b as f64 % 9.0)).unwrap()
    });
    let first_of_equals = (0..4u64).min_by(|a, b| {
        ckpt::checkpoint!();
        (a / 2).cmp(&(b / 2))
    });
    let last_of_equals = (0..4u64).max_by_key(|a| simulated(1, a / 2));
    let least = (0..4u64).min_by_key(|a| simulated(1, a / 2));
    let reduced = list.iter().map(|x| simulated(1, *x)).reduce(|a, b| a * 3 + b);
    let (low, high): (Vec<u64>, Vec<u64>) = list.iter().partition(|x| simulated(1, **x) < 500);
    println!("= {largest:?} {smallest} {last:?} {by:?} {first_of_equals:?} {last_of_equals:?} {least:?}");
    println!("= {reduced:?} {low:?} {high:?}");
}

#[ckpt::instrument(calls(simulated))]
pub fn the_rest_of_an_iterator() {
    let text = String::from("3\nab c\nd ef\n\ng hij\n");
    let mut lines = text.lines().filter(|line| !line.is_empty());
    let mut total: u64 = lines.next().map_or(0, |head| head.parse().unwrap_or(0));
    for line in lines {
        ckpt::checkpoint!();
        total = total * 3 + simulated(1, line.len() as u64);
        println!("{line} {total}");
    }
    let mut words = text.split_whitespace();
    if total % 2 == 0 {
        words.next();
    }
    let skipped = words.by_ref().take(2).count();
    while let Some(word) = words.next() {
        if word.starts_with('e') {
            continue;
        }
        println!("{word} {}", simulated(1, word.len() as u64));
    }
    let numbers = [3u64, 1, 4, 1, 5];
    let mut pairs = numbers.iter().enumerate().peekable();
    while pairs.next_if(|(_, x)| **x != 4).is_some() {
        ckpt::checkpoint!();
    }
    'pairs: while let Some((k, x)) = pairs.next() {
        for turn in 0..2 {
            ckpt::checkpoint!();
            if k == 4 && turn == 1 {
                break 'pairs;
            }
            total += *x * k as u64;
        }
    }
    println!("= {total} {skipped}");
}

#[ckpt::instrument(calls(simulated))]
pub fn with_a_list_that_is_moved_in() {
    let starts = [3u64, 5, 7, 11];
    let names: Vec<String> = starts.iter().map(|start| format!("n{start}")).collect();
    let weights = vec![2u64; 3];
    let mut total = 0;
    'all: for (k, (start, mut name)) in starts.iter().zip(names).enumerate() {
        if k == 1 {
            continue;
        }
        name.push('!');
        total += simulated(2, *start);
        println!("{name} {total}");
        if k == 2 {
            break 'all;
        }
    }
    for pair in starts.iter().map(|start| start + 1).zip(weights.into_iter()) {
        total += simulated(1, pair.0) * pair.1;
    }
    println!("= {total} {starts:?}");
}
