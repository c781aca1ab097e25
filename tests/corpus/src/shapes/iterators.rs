//! `for` over what is not a range: slices, vectors, maps, adaptors.

use super::{digest, draw};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

#[ckpt::instrument]
pub fn over_slice() {
    let items = vec![5u64, 3, 8, 1];
    let mut sum = 0;
    for item in &items {
        sum = sum * 10 + item;
        ckpt::checkpoint!();
        println!("{item} {sum}");
    }
    println!("= {sum} {items:?}");
}

#[ckpt::instrument]
pub fn over_slice_iter() {
    let items = [1.5f64, 2.5, -0.0, 3.25];
    let mut sum = 0.0;
    for item in items.iter() {
        sum += item;
        ckpt::checkpoint!();
        println!("{item} {:016x}", sum.to_bits());
    }
    println!("= {:016x}", sum.to_bits());
}

#[ckpt::instrument]
pub fn over_array_by_value() {
    let mut text = String::new();
    for word in ["red", "green", "blue"] {
        text += word;
        ckpt::checkpoint!();
        println!("{word} {text}");
    }
    println!("= {text}");
}

#[ckpt::instrument]
pub fn over_enumerate() {
    let names = vec![String::from("a"), String::from("bc"), String::from("def")];
    let mut weight = 0;
    for (i, name) in names.iter().enumerate() {
        weight += i * name.len();
        ckpt::checkpoint!();
        println!("{i} {name} {weight}");
    }
    println!("= {weight}");
}

#[ckpt::instrument]
pub fn over_zip() {
    let left = vec![1u64, 2, 3, 4];
    let right = [10u64, 20, 30];
    let mut dot = 0;
    for (a, b) in left.iter().zip(right.iter()) {
        dot += a * b;
        ckpt::checkpoint!();
        println!("{a} {b} {dot}");
    }
    for (i, (a, b)) in left.iter().zip(&right).enumerate().skip(1) {
        ckpt::checkpoint!();
        dot += a * b * i as u64;
    }
    println!("= {dot}");
}

#[ckpt::instrument]
pub fn over_chunks_and_windows() {
    let items: Vec<u64> = (0..7).map(|i| i * i).collect();
    let mut sums = Vec::new();
    for chunk in items.chunks(3) {
        sums.push(chunk.iter().sum::<u64>());
        ckpt::checkpoint!();
        println!("{chunk:?} {sums:?}");
    }
    for pair in items.windows(2).step_by(2) {
        ckpt::checkpoint!();
        sums.push(pair[1] - pair[0]);
    }
    println!("= {sums:?}");
}

#[ckpt::instrument]
pub fn over_owned_vector() {
    let words = vec![String::from("one"), String::from("two"), String::from("three")];
    let mut kept = Vec::new();
    for word in words {
        kept.push(word.len());
        ckpt::checkpoint!();
        println!("{word} {kept:?}");
        drop(word);
    }
    println!("= {kept:?}");
}

#[ckpt::instrument]
pub fn over_btree_map() {
    let mut ages = BTreeMap::new();
    ages.insert(String::from("wim"), 40u64);
    ages.insert(String::from("ada"), 36);
    ages.insert(String::from("bob"), 7);
    let mut sum = 0;
    for (name, age) in &ages {
        sum = sum * 2 + age;
        ckpt::checkpoint!();
        println!("{name} {age} {sum}");
    }
    for (name, age) in ages {
        ckpt::checkpoint!();
        sum += age + name.len() as u64;
    }
    println!("= {sum}");
}

#[ckpt::instrument]
pub fn over_hash_map_by_value_in_any_order() {
    let weights: HashMap<u64, u64> = (0..8).map(|i| (i, i * 7 + 3)).collect();
    let mut sum = 0;
    for (key, weight) in weights {
        ckpt::checkpoint!();
        sum += (key + 1) * weight;
    }
    println!("= {sum}");
}

#[ckpt::instrument]
pub fn over_set_and_deque() {
    let primes: BTreeSet<u64> = [7, 2, 5, 3].into();
    let queue: VecDeque<u64> = [4, 1, 6].into();
    let mut sum = 0;
    for prime in primes.iter().rev() {
        sum = sum * 3 + prime;
        ckpt::checkpoint!();
        println!("{prime} {sum}");
    }
    for item in &queue {
        sum = sum * 3 + item;
        ckpt::checkpoint!();
        println!("{item} {sum}");
    }
    println!("= {sum}");
}

#[ckpt::instrument]
pub fn over_adaptor_chain() {
    let items: Vec<u64> = (1..30).collect();
    let mut sum = 0;
    for item in items
        .iter()
        .filter(|i| *i % 3 == 0)
        .map(|i| i * i)
        .take_while(|i| *i < 500)
        .skip(1)
    {
        sum += item;
        ckpt::checkpoint!();
        println!("{item} {sum}");
    }
    println!("= {sum}");
}

#[ckpt::instrument]
pub fn over_filter_that_borrows_a_variable() {
    let limit = 4;
    let items = vec![3u64, 9, 4, 1, 7];
    let mut sum = 0;
    for item in items.iter().filter(|item| **item >= limit) {
        sum += item * limit;
        ckpt::checkpoint!();
        println!("{item} {sum}");
    }
    println!("= {sum}");
}

#[ckpt::instrument]
pub fn over_text() {
    let text = String::from("the quick\nbrown fox\n\njumps");
    let mut letters = 0;
    for line in text.lines() {
        for word in line.split_whitespace() {
            letters = letters * 2 + word.len();
            ckpt::checkpoint!();
            println!("{word} {letters}");
        }
    }
    for (at, letter) in text.char_indices().filter(|(_, c)| "aeiou".contains(*c)) {
        letters += at;
        ckpt::checkpoint!();
        println!("{letter}");
    }
    println!("= {letters}");
}

#[ckpt::instrument]
pub fn over_iterator_of_a_local_vector_grown_before() {
    let mut seed = 5;
    let mut items = Vec::new();
    for _ in 0..4 {
        items.push(draw(&mut seed));
        ckpt::checkpoint!();
    }
    let mut checks = Vec::new();
    for item in items.iter().copied() {
        checks.push(item % 97);
        ckpt::checkpoint!();
        println!("{checks:?}");
    }
    println!("= {} {}", digest(&items), digest(&checks));
}

#[derive(Clone, ckpt::Checkpoint)]
struct Countdown {
    left: u32,
}

impl Iterator for Countdown {
    type Item = u32;
    fn next(&mut self) -> Option<u32> {
        self.left = self.left.checked_sub(1)?;
        Some(self.left)
    }
}

#[ckpt::instrument]
pub fn over_own_iterator() {
    let mut sum = 0;
    let countdown = Countdown { left: 5 };
    for left in countdown {
        sum = sum * 2 + left;
        ckpt::checkpoint!();
        println!("{left} {sum}");
    }
    println!("= {sum}");
}

#[ckpt::instrument]
pub fn over_a_vector_made_by_a_call() {
    let mut sum = 0;
    let mut scale = 2;
    for item in multiples(scale, 4) {
        scale += 1;
        sum += item * scale;
        ckpt::checkpoint!();
        println!("{item} {scale} {sum}");
    }
    for item in multiples(scale, 3).iter() {
        scale += 1;
        ckpt::checkpoint!();
        sum += item * scale;
    }
    println!("= {sum}");
}

fn multiples(of: u64, count: u64) -> Vec<u64> {
    (1..=count).map(|i| i * of).collect()
}

#[ckpt::instrument]
pub fn iterator_kept_by_hand() {
    let mut range = 0..20u64;
    let mut sum = 0;
    while let Some(i) = range.next() {
        if i % 2 == 0 {
            range.nth(i as usize / 2);
        }
        sum += i;
        ckpt::checkpoint!();
        println!("{i} {sum} {range:?}");
    }
    println!("= {sum}");
}

#[ckpt::instrument]
pub fn over_keys_then_index() {
    let mut table: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for i in 0..6 {
        table.entry(i % 3).or_default().push(i);
    }
    let keys: Vec<u64> = table.keys().copied().collect();
    for key in keys {
        ckpt::checkpoint!();
        if let Some(list) = table.get_mut(&key) {
            list.push(key * 100);
        }
        println!("{key} {table:?}");
    }
    println!("= {table:?}");
}

#[ckpt::instrument]
pub fn over_chosen_items_of_an_owned_vector() {
    let mut seed = 4;
    let names = || {
        vec![
            String::from("a"),
            "bb".into(),
            "ccc".into(),
            "d".into(),
            "e".into(),
        ]
    };
    let owned = names();
    for name in owned.into_iter().skip(1).take(3) {
        seed += name.len() as u64;
        ckpt::checkpoint!();
        println!("{name} {seed}");
    }
    for (i, name) in names().into_iter().rev().enumerate() {
        ckpt::checkpoint!();
        println!("{i} {name}");
    }
    for (name, size) in names().into_iter().step_by(2).zip([1u64, 2, 3]) {
        seed ^= size;
        ckpt::checkpoint!();
        println!("{name} {size}");
    }
    let table = std::collections::BTreeMap::from([(3u64, "x"), (4, "y")]);
    for key in table.into_keys().chain(vec![9, 8]) {
        ckpt::checkpoint!();
        println!("{key}");
    }
    for one in vec![vec![1u64, 2], vec![], vec![3]].into_iter().flatten() {
        ckpt::checkpoint!();
        println!("{one}");
    }
    println!("= {seed}");
}

#[ckpt::instrument]
pub fn over_closures_that_own_or_change() {
    let mut seen = Vec::new();
    let mut total = 0u64;
    let list = vec![String::from("a"), "bb".into(), "ccc".into()];
    for (i, text) in list
        .iter()
        .map(|text| {
            seen.push(text.len());
            text.clone() + "x"
        })
        .enumerate()
    {
        ckpt::checkpoint!();
        println!("{i} {text}");
    }
    for mut text in list
        .into_iter()
        .filter(|text| text.len() > 1)
        .inspect(|text| total += text.len() as u64)
        .map(|text| text + "y")
    {
        text.push('z');
        ckpt::checkpoint!();
        println!("{text}");
    }
    for k in seen
        .into_iter()
        .filter_map(|k| k.checked_sub(1))
        .take_while(|k| *k < 9)
    {
        if k == 1 {
            ckpt::checkpoint!();
            continue;
        }
        ckpt::checkpoint!();
        println!("{k} {total}");
    }
}

#[ckpt::instrument]
pub fn over_references_that_a_closure_chooses() {
    let mut asked = 0;
    let list = vec![String::from("a"), "bb".into(), "ccc".into()];
    for text in list.iter().filter(|text| {
        asked += 1;
        text.len() > 1
    }) {
        ckpt::checkpoint!();
        println!("{text}");
    }
    let mut count = |n: u64| {
        asked += n;
        asked
    };
    for n in (0..4u64).map(&mut count) {
        ckpt::checkpoint!();
        println!("{n}");
    }
    println!("{asked}");
}

fn cubed(x: u64) -> u64 {
    let mut product = 1;
    for _ in 0..3 {
        product *= x;
    }
    product
}

/// An iterator that has a name is made where it is gone over, and its closure runs in the loop.
#[ckpt::instrument]
pub fn named_before_the_loop() {
    let scale = 2 + std::hint::black_box(1);
    let mut total = 0;
    let cubes = (1..5u64).map(|k| {
        let side = k * scale;
        cubed(side)
    });
    println!("starts with {scale}");
    for cube in cubes {
        ckpt::checkpoint!();
        total += cube;
        println!("{cube} {total}");
    }
    let list = vec![3u64, 1, 2];
    let halves = list.iter().rev().map(|x| x * scale / 2).enumerate();
    for (k, half) in halves {
        println!("{k} {half}");
        ckpt::checkpoint!();
        total += half * cubed(k as u64);
    }
    println!("= {total} {list:?}");
}

#[derive(ckpt::Checkpoint)]
struct Squares {
    next: u64,
    last: u64,
}

impl Iterator for Squares {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.next += 1;
        println!("makes {}", self.next);
        (self.next <= self.last).then(|| self.next * self.next)
    }
}

/// So many items of an iterator of the program's own.
#[ckpt::instrument]
pub fn over_a_part_of_an_own_iterator() {
    let mut sum = 0;
    for (k, square) in (Squares { next: 0, last: 9 }).enumerate().take(3) {
        ckpt::checkpoint!();
        sum += square * k as u64;
        println!("{k} {square} {sum}");
    }
    let squares = Squares { next: 2, last: 4 };
    'all: for square in squares.take(9) {
        for turn in 0..2 {
            if square + turn == 17 {
                continue 'all;
            }
            ckpt::checkpoint!();
            println!("{square} {turn}");
        }
        sum += square;
    }
    println!("= {sum}");
}
