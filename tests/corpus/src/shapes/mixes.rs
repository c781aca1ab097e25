//! Constructs in and around each other.

use super::{digest, draw};
use std::collections::{BTreeMap, VecDeque};

#[ckpt::instrument]
fn checked(n: u64) -> Result<u64, String> {
    ckpt::checkpoint!();
    if n % 7 == 6 {
        Err(format!("bad {n}"))
    } else {
        Ok(n + 1)
    }
}

#[ckpt::instrument]
fn listed(n: u64) -> Option<Vec<u64>> {
    ckpt::checkpoint!();
    (n > 0).then(|| (0..n).collect())
}

#[derive(Debug, Clone, ckpt::Checkpoint)]
struct Point {
    x: u64,
    y: u64,
}

#[ckpt::instrument(calls(checked))]
fn questions(start: u64) -> Result<u64, String> {
    let list = [4u64, 2, 9, 1];
    let mut sum = checked(start)? + checked(start + 1)?;
    if checked(sum)? > 3 && checked(start)? < 100 {
        sum += list[checked(0)? as usize];
    } else if checked(sum)? == 2 {
        sum += 1;
    }
    let point = Point {
        x: checked(sum)?,
        y: checked(start)? * 2,
    };
    println!("{point:?}");
    for i in 0..checked(1)? {
        sum += checked(i)?.min(checked(i + 1)?);
    }
    while sum < checked(start)? * 3 {
        sum += 5;
        ckpt::checkpoint!();
    }
    match checked(sum)? {
        n if n % 2 == 0 => sum += n,
        n => println!("{n}"),
    }
    let found = loop {
        sum += 1;
        if sum % 3 == 0 {
            break checked(sum)?;
        }
        ckpt::checkpoint!();
    };
    let pair = (checked(found)?, [checked(1)?, 2]);
    let text = format!("{pair:?}");
    println!("{text} {}", checked(3)?);
    if text.len() > 100 {
        return Ok(checked(2)?);
    }
    Ok(checked(sum)? + digest(&pair.1) % 10)
}

#[ckpt::instrument(calls(questions))]
pub fn question_marks_everywhere() {
    for start in [1, 5, 2, 6] {
        match questions(start) {
            Ok(n) => println!("{start} gives {n}"),
            Err(error) => println!("{start}: {error}"),
        }
    }
}

#[ckpt::instrument(calls(listed))]
pub fn chains_in_matches_in_while_lets() {
    let mut queue = VecDeque::from([3u64, 0, 5, 2]);
    let mut known = BTreeMap::new();
    'queue: while let Some(n) = queue.pop_front() {
        let Some(list) = listed(n) else {
            println!("nothing for {n}");
            continue 'queue;
        };
        match list.as_slice() {
            [first, .., last] if last > first => unsafe {
                if let Some(seen) = known.get(&n).copied()
                    && seen > 2
                    && let Some(middle) = list.get(1)
                {
                    ckpt::checkpoint!();
                    println!("again {n} {seen} {middle}");
                    break 'queue;
                } else if let [a, b, ..] = list[..] {
                    ckpt::checkpoint!();
                    queue.push_back(a + b + n);
                    *known.entry(n).or_insert(0) += list.get_unchecked(0) + 3;
                }
            },
            [] | [_] => {
                ckpt::checkpoint!();
                println!("short");
            }
            other => {
                println!("{}", other.len());
            }
        }
        if queue.len() > 4 {
            queue.pop_back();
        }
        if n > 4 && known.len() > 2 {
            queue.push_back(5);
        }
        ckpt::checkpoint!();
        println!("{queue:?} {known:?}");
    }
    println!("= {queue:?} {known:?}");
}

#[ckpt::instrument]
pub fn buffers_and_views_in_loops_with_values() {
    let (mut one, mut other) = (vec![1u64, 2, 3, 4, 5, 6], vec![0u64; 6]);
    let mut turns = 0;
    let sum = 'outer: loop {
        turns += 1;
        {
            let (mut now, mut next) = (&mut one, &mut other);
            for k in (0..2).rev() {
                for i in (0..6).step_by(2) {
                    next[i] = now[i] + now[(i + 1) % 6] + k;
                    ckpt::checkpoint!();
                }
                std::mem::swap(&mut now, &mut next);
            }
            println!("{now:?} {next:?}");
        }
        let (left, right) = one.split_at_mut(3);
        for (i, (a, b)) in left.iter_mut().zip(right.iter_mut()).enumerate() {
            match (i, *a > *b) {
                (0, _) => continue,
                (_, true) => std::mem::swap(a, b),
                (_, false) => {
                    ckpt::checkpoint!();
                    *a += *b;
                }
            }
            println!("{i} {a} {b}");
        }
        for pair in one.chunks(2).rev() {
            let [a, b] = pair else { break 'outer 0 };
            if a + b > 40 && turns > 1 {
                ckpt::checkpoint!();
                break 'outer a * b;
            }
        }
        if turns == 5 {
            break digest(&one);
        }
    };
    println!("= {sum} {one:?} {other:?}");
}

struct Said(&'static str);
impl Drop for Said {
    fn drop(&mut self) {
        println!("end of {}", self.0);
    }
}

#[ckpt::instrument(calls(checked, walked))]
fn walked<F: Fn(u64) -> u64>(
    depth: u64,
    change: &F,
    items: impl Iterator<Item = u64>,
) -> Result<u64, String> {
    #[ckpt(reexecute)]
    let _said = Said("walk");
    let scale = depth + 1;
    let scaled = |n: u64| change(n) * scale;
    let mut sum = 0;
    'items: for (i, item) in items.enumerate() {
        let kind;
        match item % 3 {
            0 => kind = "none",
            1 => {
                ckpt::checkpoint!();
                kind = "one";
            }
            _ if depth > 0 => {
                sum += walked(depth - 1, change, 0..2)?;
                kind = "below";
            }
            _ => {
                if i > 2 {
                    continue 'items;
                }
                kind = "two";
            }
        }
        sum += scaled(checked(item)?);
        println!("{depth} {i} {kind} {sum}");
    }
    Ok(sum)
}

#[ckpt::instrument(calls(walked))]
pub fn recursion_with_closures_guards_and_late_values() {
    let mut seed = 3;
    let base = draw(&mut seed) % 5;
    let change = move |n: u64| n * 2 + base;
    let good = walked(2, &change, vec![1, 2, 3, 5].into_iter()).unwrap_or_default();
    let bad = walked(1, &change, (0..9).filter(|n| n % 2 == 0));
    println!("= {good} {bad:?}");
}

#[ckpt::instrument(calls(checked))]
pub fn shadows_and_parts_under_labels() {
    let points = vec![Point { x: 1, y: 2 }, Point { x: 3, y: 9 }, Point { x: 6, y: 4 }];
    let total: u64 = 'all: {
        let mut total = 0;
        for point in points {
            let Point { x, y } = point;
            let x = if x > 2 {
                match checked(x) {
                    Ok(x) => x,
                    Err(text) => {
                        println!("{text}");
                        break 'all total;
                    }
                }
            } else {
                x * 10
            };
            let y = {
                let x = x + y;
                ckpt::checkpoint!();
                println!("{x}");
                x
            };
            total += x * y;
            let total = &mut total;
            for x in [1u64, 2] {
                *total += x;
                ckpt::checkpoint!();
                println!("{x} {total}");
            }
        }
        total + 1000
    };
    println!("= {total}");
}
