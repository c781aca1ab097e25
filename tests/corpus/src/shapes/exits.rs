//! `?`, `return`, `let else` and `break` out of the blocks around a site.

use std::num::ParseIntError;

#[ckpt::instrument(calls(parse_all))]
pub fn question_mark_in_a_loop() {
    let good = parse_all(&["1", "22", "333"]);
    println!("{good:?}");
    let bad = parse_all(&["4", "5", "x", "6"]);
    println!("= {bad:?}");
}

#[ckpt::instrument]
fn parse_all(words: &[&str]) -> Result<Vec<u64>, ParseIntError> {
    let mut numbers = Vec::new();
    for word in words {
        let number = word.parse::<u64>()?;
        ckpt::checkpoint!();
        numbers.push(number * 2);
        println!("{word} {numbers:?}");
    }
    Ok(numbers)
}

#[derive(Debug)]
struct Refused(#[allow(dead_code)] u64);

impl From<ParseIntError> for Refused {
    fn from(_: ParseIntError) -> Self {
        Refused(0)
    }
}

#[ckpt::instrument(calls(chained))]
pub fn question_mark_on_marked_calls() {
    println!("{:?}", chained("3"));
    println!("{:?}", chained("12"));
    println!("= {:?}", chained("y"));
}

#[ckpt::instrument(calls(checked_square))]
fn chained(text: &str) -> Result<u64, Refused> {
    let number: u64 = text.parse()?;
    checked_square(number)?;
    let square = checked_square(number + 1)?;
    println!("square {square}");
    let both = square + checked_square(number + 2)?;
    checked_square(both / 10).map(|s| s + both)
}

#[ckpt::instrument]
fn checked_square(number: u64) -> Result<u64, Refused> {
    println!("squaring {number}");
    ckpt::checkpoint!();
    if number > 13 {
        return Err(Refused(number));
    }
    Ok(number * number)
}

#[ckpt::instrument(calls(first_even))]
pub fn question_mark_on_option() {
    println!("{:?}", first_even(&[3, 5, 8, 9]));
    println!("= {:?}", first_even(&[3, 5]));
}

#[ckpt::instrument]
fn first_even(items: &[u64]) -> Option<u64> {
    let mut at = 0;
    loop {
        let item = items.get(at)?;
        ckpt::checkpoint!();
        println!("{at} {item}");
        if item % 2 == 0 {
            return Some(item * 10 + at as u64);
        }
        at += 1;
    }
}

#[ckpt::instrument(calls(find))]
pub fn early_return_from_nested_loops() {
    println!("{:?}", find(21));
    println!("= {:?}", find(23));
}

#[ckpt::instrument]
fn find(product: u32) -> Option<(u32, u32)> {
    let mut tried = 0;
    for a in 2..6 {
        let mut b = a;
        while b < 8 {
            tried += 1;
            if tried % 4 == 1 {
                ckpt::checkpoint!();
                println!("{a} {b} {tried}");
            }
            if a * b == product {
                return Some((a, b));
            }
            b += 1;
        }
    }
    None
}

#[ckpt::instrument(calls(deep_return))]
pub fn return_from_a_match_in_a_loop() {
    for start in 0..3 {
        println!("{}", deep_return(start));
    }
    println!("=");
}

#[ckpt::instrument]
fn deep_return(start: u64) -> String {
    let mut state = start;
    loop {
        match state % 4 {
            0 => {
                ckpt::checkpoint!();
                state += 1;
            }
            3 => {
                let text = format!("{start}->{state}");
                ckpt::checkpoint!();
                return text;
            }
            n => state += n + 1,
        }
        println!("state {state}");
    }
}

#[ckpt::instrument(calls(total_length))]
pub fn boxed_error() {
    println!("{:?}", total_length("1,2,3").map_err(|e| e.to_string()));
    println!("= {:?}", total_length("1,?,3").map_err(|e| e.to_string()));
}

#[ckpt::instrument]
fn total_length(list: &str) -> Result<u64, Box<dyn std::error::Error>> {
    let mut total = 0;
    for part in list.split(',') {
        ckpt::checkpoint!();
        let value: u64 = part.parse()?;
        total += value;
        println!("{part} {total}");
    }
    if total == 0 {
        return Err("nothing".into());
    }
    Ok(total)
}

#[ckpt::instrument]
pub fn block_label_with_value() {
    let mut sum = 0;
    for i in 0..5 {
        let kind = 'kind: {
            if i % 2 == 0 {
                break 'kind "even";
            }
            ckpt::checkpoint!();
            if i == 3 {
                break 'kind "three";
            }
            "odd"
        };
        sum += kind.len();
        println!("{i} {kind} {sum}");
    }
    println!("= {sum}");
}

#[ckpt::instrument(calls(step_until))]
pub fn result_matched_on_a_marked_call() {
    let mut level = 0;
    loop {
        match step_until(level) {
            Ok(next) => level = next,
            Err(text) => {
                println!("stopped by {text}");
                break;
            }
        }
        println!("level {level}");
    }
    println!("= {level}");
}

#[ckpt::instrument]
fn step_until(level: u32) -> Result<u32, String> {
    let next = level * 2 + 1;
    ckpt::checkpoint!();
    if next > 20 {
        Err(format!("limit {next}"))
    } else {
        Ok(next)
    }
}

#[ckpt::instrument(calls(first_even))]
pub fn marked_call_in_if_let_and_while_let() {
    let mut items = vec![1u64, 4, 3, 6];
    let mut log = Vec::new();
    if let Some(found) = first_even(&items) {
        log.push(found);
        println!("{log:?}");
    }
    while let Some(found) = first_even(&items) {
        items.remove((found % 10) as usize);
        log.push(found);
        println!("{items:?} {log:?}");
    }
    println!("= {log:?}");
}

#[ckpt::instrument(calls(first_even))]
pub fn marked_call_in_let_else() {
    let lists = [vec![1u64, 2], vec![3], vec![4]];
    let mut sum = 0;
    for list in &lists {
        let Some(found) = first_even(list) else {
            println!("none in {list:?}");
            continue;
        };
        sum += found;
        println!("{found} {sum}");
    }
    println!("= {sum}");
}
