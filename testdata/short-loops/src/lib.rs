//! Loops of all kinds whose iterations take nanoseconds, left in all ways.

#![deny(warnings)]

/// A linear congruential generator: Knuth's numbers.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

/// `for`, with `continue` and `break`.
pub fn for_loop(seed: u64, most: u64) -> u64 {
    let mut state = seed;
    let mut sum = 0u64;
    for turn in 0..most {
        let drawn = next(&mut state);
        if drawn % 3 == 0 {
            continue;
        }
        sum = sum.rotate_left(5) ^ drawn;
        if drawn % 40_000 == 7 && turn > 500 {
            break;
        }
    }
    sum
}

/// `while`, with a loop inside that has a `break` of its own.
pub fn while_loop(seed: u64, mut left: u64) -> (u64, u64) {
    let mut state = seed;
    let mut longest = 0;
    while left > 0 && state != 1 {
        left -= 1;
        let start = next(&mut state);
        let mut length = 0u64;
        for bit in 0..31 {
            if start >> bit & 1 == 1 {
                break;
            }
            length += 1;
        }
        longest = longest.max(length);
    }
    (longest, state)
}

/// `loop`, which has a value.
pub fn loop_with_value(seed: u64) -> u64 {
    let mut state = seed;
    let mut turns = 0u64;
    let found = loop {
        turns += 1;
        let drawn = next(&mut state);
        if drawn % 5000 == 4321 && turns > 2000 {
            break drawn;
        }
        if turns == 40_000 {
            break 0;
        }
    };
    found ^ turns
}

/// Labels: the loop outside is gone on with, and left, from the loop inside.
pub fn labels(width: u64, height: u64) -> u64 {
    let mut state = width;
    let mut hits = 0u64;
    'rows: for row in 0..height {
        for column in 0..width {
            let drawn = next(&mut state);
            if drawn % 11 == column % 11 {
                hits += row & 1;
                continue 'rows;
            }
            if drawn % 90_001 == 17 && row > 700 {
                break 'rows;
            }
            hits += drawn & 1;
        }
    }
    hits
}

/// `?` and `return` out of the loop.
pub fn early(seed: u64, forbidden: u64) -> Result<u64, String> {
    let mut state = seed;
    let mut sum = 0u64;
    for turn in 0..9000u64 {
        let drawn = next(&mut state) % 100_000;
        sum = sum.wrapping_add(checked(drawn, forbidden)?);
        if turn == 8000 {
            return Ok(sum ^ turn);
        }
    }
    Ok(sum)
}

fn checked(drawn: u64, forbidden: u64) -> Result<u64, String> {
    match drawn == forbidden {
        true => Err(format!("{drawn} was drawn")),
        false => Ok(drawn / 3),
    }
}

/// Values that live from one iteration to the next, on the heap and not.
pub fn growing(seed: u64) -> usize {
    let mut state = seed;
    let mut stack: Vec<u64> = Vec::new();
    let mut deepest = 0;
    let mut last = None;
    for _ in 0..6000 {
        let drawn = next(&mut state);
        if drawn % 7 < 4 {
            stack.push(drawn);
        } else {
            last = stack.pop().or(last);
        }
        deepest = deepest.max(stack.len());
    }
    deepest * 1000 + last.map_or(0, |last| last as usize % 1000)
}

/// Over a list, with a closure in the body and an iterator that is made again.
pub fn over_a_list(seed: u64) -> u64 {
    let mut state = seed;
    let list: Vec<u64> = (0..20_000).map(|_| next(&mut state)).collect();
    let mut sum = 0u64;
    for (at, value) in list.iter().enumerate() {
        let digits: u64 = (0..4).map(|byte| value >> (8 * byte) & 255).sum();
        sum = sum.rotate_left(3) ^ digits.wrapping_mul(at as u64);
    }
    for value in &list {
        sum = sum.rotate_left(7) ^ value;
        if sum == 12 {
            return 0;
        }
    }
    sum
}
