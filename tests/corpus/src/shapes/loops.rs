//! `loop`, `while` and `for` over ranges, with labels, `break` and `continue`.

use super::draw;

#[ckpt::instrument]
pub fn for_half_open() {
    let mut sum = 0u64;
    for i in 0..6 {
        sum = sum * 3 + i;
        println!("before {i} {sum}");
        ckpt::checkpoint!();
        println!("after {i} {sum}");
    }
    println!("= {sum}");
}

#[ckpt::instrument]
pub fn for_closed() {
    let (low, high) = (3i32, 7i32);
    let mut product = 1i64;
    for i in low..=high {
        ckpt::checkpoint!();
        product *= i as i64;
        println!("{i} {product}");
    }
    println!("= {product}");
}

#[ckpt::instrument]
pub fn for_closed_to_the_maximum() {
    let mut seen = 0u32;
    for byte in 250u8..=u8::MAX {
        seen += byte as u32;
        ckpt::checkpoint!();
        println!("{byte} {seen}");
    }
    println!("= {seen}");
}

#[ckpt::instrument]
pub fn for_open_ended() {
    let mut total = 0usize;
    for i in 2usize.. {
        if i * i > 60 {
            break;
        }
        total += i * i;
        ckpt::checkpoint!();
        println!("{i} {total}");
    }
    println!("= {total}");
}

#[ckpt::instrument]
pub fn for_reversed() {
    let n = 5;
    let mut digits = Vec::new();
    for i in (0..n).rev() {
        digits.push(i);
        ckpt::checkpoint!();
        println!("{digits:?}");
    }
    for i in (0..=2).rev() {
        digits.push(i * 10);
        ckpt::checkpoint!();
    }
    println!("= {digits:?}");
}

#[ckpt::instrument]
pub fn for_stepped() {
    let mut trace = String::new();
    for i in (1..20).step_by(4) {
        trace += &format!("{i},");
        ckpt::checkpoint!();
        println!("{trace}");
    }
    for i in (0..=9).rev().step_by(3) {
        ckpt::checkpoint!();
        trace += &format!("{i};");
    }
    println!("= {trace}");
}

#[ckpt::instrument]
pub fn for_bounds_that_change_inside() {
    let mut end = 4u64;
    let mut sum = 0;
    for i in 0..end {
        end += 10;
        sum += i * end;
        ckpt::checkpoint!();
        println!("{i} {end} {sum}");
    }
    println!("= {end} {sum}");
}

#[ckpt::instrument]
pub fn for_over_chars() {
    let mut word = String::from("");
    for letter in 'a'..='e' {
        word.insert(0, letter);
        ckpt::checkpoint!();
        println!("{word}");
    }
    println!("= {word}");
}

#[ckpt::instrument]
pub fn for_range_variable() {
    let range = 2u64..6;
    let mut squares = vec![];
    for i in range.clone() {
        squares.push(i * i);
        ckpt::checkpoint!();
        println!("{range:?} {squares:?}");
    }
    for i in range {
        squares.push(i);
        ckpt::checkpoint!();
    }
    println!("= {squares:?}");
}

#[ckpt::instrument]
pub fn nested_for() {
    let mut sum = 0u64;
    for i in 0..3u64 {
        sum += 1;
        for j in i..3 {
            sum = sum * 2 + j;
            for k in 0..=j {
                sum += k;
                ckpt::checkpoint!();
                println!("{i} {j} {k} {sum}");
            }
            println!("end of {i} {j}");
        }
        println!("end of {i}");
    }
    println!("= {sum}");
}

#[ckpt::instrument]
pub fn while_condition() {
    let mut seed = 7;
    let mut sum = 0;
    while sum < 60_000_000 {
        let drawn = draw(&mut seed);
        ckpt::checkpoint!();
        sum += drawn;
        println!("{drawn} {sum}");
    }
    println!("= {seed} {sum}");
}

#[ckpt::instrument]
pub fn while_condition_with_effect() {
    let mut left = 6;
    let mut evaluated = 0;
    while {
        evaluated += 1;
        left -= 1;
        left > 0
    } {
        ckpt::checkpoint!();
        println!("{left} {evaluated}");
    }
    println!("= {left} {evaluated}");
}

#[ckpt::instrument]
pub fn while_condition_made_false_before_site() {
    let mut go = true;
    let mut turns = 0;
    while go {
        turns += 1;
        go = turns < 4;
        ckpt::checkpoint!();
        println!("{turns} {go}");
    }
    println!("= {turns}");
}

#[ckpt::instrument]
pub fn while_let_pop() {
    let mut stack = vec![9u64, 4, 2];
    let mut sum = 0;
    while let Some(top) = stack.pop() {
        println!("top {top}");
        if top > 3 {
            stack.push(top / 2);
        }
        ckpt::checkpoint!();
        sum = sum * 5 + top;
        println!("{top} {sum} {stack:?}");
    }
    println!("= {sum}");
}

#[ckpt::instrument]
pub fn while_let_chain() {
    let mut stack = vec![1u64, 8, 3, 6];
    let mut seen = Vec::new();
    while let Some(top) = stack.pop()
        && top != 8
    {
        seen.push(top);
        ckpt::checkpoint!();
        println!("{top} {seen:?}");
    }
    println!("= {seen:?} {stack:?}");
}

#[ckpt::instrument]
pub fn while_let_queue_of_structs() {
    struct Visit;
    let _ = Visit;
    let mut queue = std::collections::VecDeque::from([(0u32, String::from("root"))]);
    let mut order = String::new();
    while let Some((depth, name)) = queue.pop_front() {
        if depth < 2 {
            queue.push_back((depth + 1, format!("{name}l")));
            queue.push_back((depth + 1, format!("{name}r")));
        }
        ckpt::checkpoint!();
        order += &name;
        order.push(' ');
        println!("{depth} {name} {}", queue.len());
    }
    println!("= {order}");
}

#[ckpt::instrument]
pub fn loop_with_value() {
    let mut seed = 3;
    let mut tries = 0;
    let found = loop {
        tries += 1;
        let drawn = draw(&mut seed);
        ckpt::checkpoint!();
        println!("{tries} {drawn}");
        if drawn % 5 == 0 {
            break drawn * 2;
        }
    };
    println!("= {found} after {tries}");
}

#[ckpt::instrument(calls(smallest_power))]
pub fn loop_as_tail() {
    let power = smallest_power(50);
    println!("= {power}");
}

#[ckpt::instrument]
fn smallest_power(limit: u64) -> u64 {
    let mut power = 1;
    loop {
        if power > limit {
            break power;
        }
        power *= 3;
        ckpt::checkpoint!();
    }
}

#[ckpt::instrument]
pub fn labelled_break_and_continue() {
    let mut log = Vec::new();
    'rows: for row in 0..5u32 {
        for column in 0..5u32 {
            if (row + column) % 4 == 3 {
                log.push(row * 100);
                continue 'rows;
            }
            if row * column > 8 {
                break 'rows;
            }
            ckpt::checkpoint!();
            log.push(row * 10 + column);
            println!("{log:?}");
        }
        println!("row {row} whole");
    }
    println!("= {log:?}");
}

#[ckpt::instrument]
pub fn labelled_break_with_value() {
    let mut tried = 0;
    let pair = 'search: loop {
        for a in 1..10u32 {
            for b in a..10u32 {
                tried += 1;
                if tried % 4 == 0 {
                    ckpt::checkpoint!();
                    println!("{a} {b} {tried}");
                }
                if a * b == 12 {
                    break 'search Some((a, b));
                }
            }
        }
        break None;
    };
    println!("= {pair:?} {tried}");
}

#[ckpt::instrument]
pub fn continue_before_and_after_site() {
    let mut sum = 0;
    for i in 0..9 {
        if i % 3 == 0 {
            println!("skip {i}");
            continue;
        }
        ckpt::checkpoint!();
        if i % 3 == 1 {
            sum += i;
            continue;
        }
        sum *= 2;
        println!("{i} {sum}");
    }
    println!("= {sum}");
}

#[ckpt::instrument]
pub fn site_first_and_last() {
    ckpt::checkpoint!();
    let mut count = 0;
    while count < 2 {
        ckpt::checkpoint!();
        count += 1;
        println!("{count}");
        ckpt::checkpoint!();
    }
    println!("= {count}");
    ckpt::checkpoint!();
}

#[ckpt::instrument]
pub fn loops_of_every_kind_nested() {
    let mut seed = 11;
    let mut sum = 0u64;
    let mut rounds = 0;
    loop {
        rounds += 1;
        let mut left = 2;
        while left > 0 {
            left -= 1;
            for i in 0..2 {
                let drawn = draw(&mut seed) % 100;
                ckpt::checkpoint!();
                sum += drawn * (i + 1);
                println!("{rounds} {left} {i} {drawn} {sum}");
            }
        }
        if rounds == 2 {
            break;
        }
    }
    println!("= {sum}");
}

#[ckpt::instrument]
pub fn variable_local_to_the_body() {
    let mut sum = 0.0f64;
    for i in 1..=4 {
        let x = 1.0 / i as f64;
        let name = format!("x{i}");
        let pair = (x * x, name.len());
        ckpt::checkpoint!();
        sum += pair.0 * x;
        println!("{name} {pair:?} {:016x}", sum.to_bits());
    }
    println!("= {:016x}", sum.to_bits());
}

#[ckpt::instrument]
pub fn site_in_while_condition() {
    let mut n = 0;
    while {
        ckpt::checkpoint!();
        n += 1;
        n < 4
    } {
        println!("{n}");
    }
    println!("= {n}");
}

/// What is moved away before the site and comes back after it is there after a loop that is left in the middle.
#[ckpt::instrument]
pub fn left_with_a_value_that_had_moved() {
    let mut log = vec![1u64];
    let mut best = vec![0u64];
    for i in 0..9 {
        let longer = pushed(log, i);
        ckpt::checkpoint!();
        log = longer;
        if i % 4 == 1 {
            continue;
        }
        let kept = pushed(best, i);
        ckpt::checkpoint!();
        best = kept;
        if log.len() + best.len() > 8 {
            break;
        }
    }
    let found = loop {
        let longer = pushed(log, 7);
        ckpt::checkpoint!();
        log = longer;
        if log.len() > 12 {
            break log.len();
        }
    };
    println!("= {log:?} {best:?} {found}");
}

fn pushed(mut items: Vec<u64>, item: u64) -> Vec<u64> {
    items.push(item);
    items
}

/// The body ends with a `for`, behind other statements, and variables that are declared before the loop are only set in it.
#[ckpt::instrument]
pub fn body_that_ends_with_a_loop() {
    let v = [1.0f64, 2.0, 3.0];
    let (mut rho, mut d, mut beta);
    rho = 1.0;
    for step in 1..=4 {
        ckpt::checkpoint!();
        println!("{step} {rho}");
        for _ in 0..2 {
            rho += 0.5;
        }
        d = 0.0;
        beta = rho / 2.0;
        for one in v {
            d += one * beta;
            rho += d;
        }
    }
    d = v[0];
    println!("= {rho} {d}");
}

/// An item between the statements behind the last site.
#[ckpt::instrument]
pub fn item_behind_the_loop() {
    let mut sum = 1u64;
    for step in 1..4 {
        ckpt::checkpoint!();
        sum = sum * 7 + step;
    }
    let mut rest = sum % 10;
    if rest > 8 {
        println!("early {rest}");
    }
    const FACTOR: u64 = 3;
    rest *= FACTOR;
    println!("= {sum} {rest}");
}
