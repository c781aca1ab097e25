//! Several sites in one function, one after another.

use super::draw;

#[ckpt::instrument]
pub fn two_loops() {
    let mut seed = 17;
    let mut samples = Vec::new();
    for _ in 0..4 {
        samples.push(draw(&mut seed) % 100);
        ckpt::checkpoint!();
        println!("sample {samples:?}");
    }
    let mean = samples.iter().sum::<u64>() as f64 / samples.len() as f64;
    let mut spread = 0.0;
    for sample in &samples {
        spread += (*sample as f64 - mean).powi(2);
        ckpt::checkpoint!();
        println!("spread {:016x}", spread.to_bits());
    }
    println!("= {mean} {spread}");
}

#[ckpt::instrument]
pub fn value_moved_between_loops() {
    let mut raw = Vec::new();
    while raw.len() < 3 {
        raw.push(raw.len() as u64 * 3 + 1);
        ckpt::checkpoint!();
    }
    println!("{raw:?}");
    let mut cooked = raw;
    cooked.reverse();
    for i in 0..2 {
        cooked[i] += 100;
        ckpt::checkpoint!();
        println!("{cooked:?}");
    }
    let served: Vec<String> = cooked.into_iter().map(|c| c.to_string()).collect();
    for plate in served.iter() {
        ckpt::checkpoint!();
        println!("{plate}");
    }
    println!("= {served:?}");
}

#[ckpt::instrument]
pub fn sites_before_inside_and_after() {
    let mut n = 1u64;
    ckpt::checkpoint!();
    n += 1;
    println!("{n}");
    ckpt::checkpoint!();
    for i in 0..2 {
        ckpt::checkpoint!();
        n = n * 3 + i;
        ckpt::checkpoint!();
        println!("{i} {n}");
    }
    ckpt::checkpoint!();
    let doubled = n * 2;
    ckpt::checkpoint!();
    println!("= {n} {doubled}");
}

#[ckpt::instrument]
pub fn different_variables_at_each_site() {
    let a = vec![1u8, 2];
    ckpt::checkpoint!();
    let b = a.len();
    ckpt::checkpoint!();
    let c = format!("{b}");
    ckpt::checkpoint!();
    {
        let d = (c.as_str(), b);
        ckpt::checkpoint!();
        println!("{d:?}");
    }
    let e = c + "e";
    ckpt::checkpoint!();
    println!("= {e}");
}

#[ckpt::instrument]
pub fn same_name_in_two_phases() {
    let mut log = String::new();
    for i in 0..2u64 {
        let value = i * 3;
        ckpt::checkpoint!();
        log += &format!("{value},");
    }
    for i in 0..2u64 {
        let value = format!("v{i}");
        ckpt::checkpoint!();
        log += &value;
        println!("{log}");
    }
    let value = 1.5;
    ckpt::checkpoint!();
    println!("= {log} {value}");
}

#[ckpt::instrument(calls(phase))]
pub fn calls_in_sequence() {
    let mut state = 1;
    phase(&mut state, 2);
    println!("first {state}");
    phase(&mut state, 3);
    println!("second {state}");
    ckpt::checkpoint!();
    let last = phase(&mut state, 1);
    println!("= {state} {last}");
}

#[ckpt::instrument]
fn phase(state: &mut u64, turns: u64) -> u64 {
    let start = *state;
    for i in 0..turns {
        *state += i + 1;
        ckpt::checkpoint!();
        *state *= 2;
        println!("{i} {state}");
    }
    *state - start
}

#[ckpt::instrument]
pub fn second_loop_uses_counter_of_the_first() {
    let mut i = 0;
    while i < 3 {
        ckpt::checkpoint!();
        i += 1;
    }
    while i < 10 {
        i += 3;
        ckpt::checkpoint!();
        println!("{i}");
    }
    println!("= {i}");
}

#[ckpt::instrument]
pub fn loop_inside_a_branch_then_a_loop() {
    for mode in 0..2 {
        let mut sum = mode;
        if mode == 0 {
            for i in 0..2 {
                sum += i * 10;
                ckpt::checkpoint!();
            }
            println!("zero {sum}");
        } else {
            while sum < 40 {
                sum *= 7;
                ckpt::checkpoint!();
            }
            println!("one {sum}");
        }
        for i in 0..2 {
            sum += i;
            ckpt::checkpoint!();
        }
        println!("{mode} {sum}");
    }
    println!("=");
}
