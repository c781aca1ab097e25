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

#[ckpt::instrument]
pub fn owning_what_they_only_read() {
    let weights = vec![2u64, 3, 5];
    let scale = 10;
    let weigh = move |i: usize| weights[i % 3] * scale;
    let twice = move |i: usize| weigh(i) + weigh(i + 1);
    let mut sum = 0;
    for i in 0..4 {
        ckpt::checkpoint!();
        sum += twice(i);
        println!("{i} {sum}");
    }
    println!("= {sum}");
}

#[ckpt::instrument]
pub fn boxed() {
    let names = vec!["a".to_string(), "bc".to_string()];
    let base = 3u64;
    let power: Box<dyn Fn(u64) -> u64> = Box::new(move |x| x * base);
    let table: Vec<(&str, Box<dyn Fn(usize) -> u64>)> = vec![
        ("length", Box::new(move |i| names[i % 2].len() as u64)),
        ("double", Box::new(|i| i as u64 * 2)),
    ];
    let mut sum = 1;
    for i in 0..3 {
        ckpt::checkpoint!();
        sum = power(sum) % 1000;
        for (name, function) in &table {
            println!("{name} {sum} {}", function(i));
        }
    }
    println!("= {sum}");
}

#[ckpt::instrument]
pub fn generator_of_random_numbers() {
    let mut state = 42u32;
    let mut random = move || {
        state = (state * 3877 + 29573) % 139_968;
        state as f64 / 139_968.0
    };
    let mut pair = || {
        let first = random();
        if first > 0.5 {
            return (first, 0.0);
        }
        (first, random())
    };
    let mut hits = 0;
    for i in 0..4 {
        ckpt::checkpoint!();
        let (x, y) = pair();
        if x * x + y * y < 1.0 {
            hits += 1;
        }
        println!("{i} {x:.6} {y:.6} {hits} {:.6}", pair().0);
    }
    println!("= {hits}");
}

fn both(f: &mut impl FnMut(u64) -> u64, n: u64) -> u64 {
    f(n) + f(n + 1)
}

fn once(f: impl FnOnce(u64) -> u64, n: u64) -> u64 {
    f(n)
}

#[ckpt::instrument]
pub fn with_a_state_of_their_own() {
    let mut count = 10u64;
    for turn in 0..2u64 {
        let mut other = turn;
        {
            let mut tick = move |by: u64| {
                count += by;
                other += count;
                other
            };
            for i in 0..2 {
                ckpt::checkpoint!();
                println!("{} {} {}", both(&mut tick, i), once(&mut tick, i), tick(1));
            }
        }
        count += 1;
        other += 1;
        println!("{count} {other}");
    }
}

#[ckpt::instrument(calls(summed))]
pub fn passed_to_a_marked_call() {
    let weights = vec![1u64, 2, 3];
    let sum = summed(move |i| weights[i], 3);
    let others = [4u64, 5];
    let more = summed(|i| others[i % 2], 2);
    println!("= {sum} {more} {others:?}");
}

#[ckpt::instrument]
fn summed<F: Fn(usize) -> u64>(f: F, n: usize) -> u64 {
    let mut sum = 0;
    for i in 0..n {
        ckpt::checkpoint!();
        sum += f(i);
        println!("{sum}");
    }
    sum
}

#[ckpt::instrument(calls(driven))]
pub fn changing_what_they_capture() {
    let mut log: Vec<u64> = Vec::new();
    let mut worst = (0, 0);
    let mut turns = 0;
    for round in 0..2 {
        driven(3, |step, value| {
            turns += 1;
            log.push(value + round);
            if value > worst.1 {
                worst = (step, value);
            }
            println!("{turns} {step} {}", log.len());
        });
        println!("{log:?}");
    }
    let last = driven(2, |_, value| log[0] += value);
    println!("= {log:?} {worst:?} {turns} {last}");
}

#[ckpt::instrument]
fn driven(n: u64, mut on_step: impl FnMut(u64, u64)) -> u64 {
    let mut value = 1;
    for step in 0..n {
        value = value * 31 % 1009;
        ckpt::checkpoint!();
        on_step(step, value);
    }
    value
}

#[ckpt::instrument(calls(sampled))]
pub fn reading_numbers_of_tuples_and_passed_away() {
    let sigma = 10.0;
    let (rho, beta) = (28.0, 8.0 / 3.0);
    let slope = |x: f64| sigma * (rho - x) - beta;
    let first = sampled(slope, 2);
    let omega = 2.0;
    let second = sampled(|x| x * omega, 2);
    println!("= {first} {second}");
}

#[ckpt::instrument]
fn sampled<F: Fn(f64) -> f64>(f: F, n: u32) -> f64 {
    let mut sum = 0.0;
    for i in 0..n {
        sum += f(i as f64);
        ckpt::checkpoint!();
        println!("{i} {sum}");
    }
    sum
}

trait Rate {
    fn at(&self, x: u64) -> u64;
}

struct By<F>(F);

struct Both<F, G> {
    first: F,
    second: G,
}

impl<F: Fn(u64) -> u64> Rate for By<F> {
    fn at(&self, x: u64) -> u64 {
        (self.0)(x)
    }
}

impl<F: Fn(u64) -> u64, G: Fn(u64) -> u64> Rate for Both<F, G> {
    fn at(&self, x: u64) -> u64 {
        (self.first)(x) + (self.second)(x)
    }
}

#[ckpt::instrument]
fn rated(rate: &impl Rate, rounds: u64) -> u64 {
    let mut sum = 0;
    for round in 0..rounds {
        ckpt::checkpoint!();
        sum += rate.at(round);
        println!("{round} {sum}");
    }
    sum
}

/// A value around a closure is made again, as the closure is.
#[ckpt::instrument(calls(rated))]
pub fn wrapped_for_a_call() {
    let scale = 7 + std::hint::black_box(2);
    let scaled = |x: u64| x * scale;
    let shifted = move |x: u64| x + scale;
    let first = rated(&By(scaled), 3);
    let both = Both {
        first: scaled,
        second: shifted,
    };
    let second = rated(&both, 2);
    println!("= {first} {second} {}", rated(&By(|x| x + first), 2));
}

#[derive(ckpt::Checkpoint)]
struct Named(&'static str);

impl Drop for Named {
    fn drop(&mut self) {
        println!("{} is done with", self.0);
    }
}

#[ckpt::instrument]
fn counted(up_to: u64) -> Result<u64, String> {
    let mut sum = 0;
    for k in 0..up_to {
        ckpt::checkpoint!();
        sum += k * k + 1;
        println!("counted {sum}");
        if sum > 40 {
            return Err(format!("{sum} is too much"));
        }
    }
    Ok(sum)
}

#[ckpt::instrument(calls(counted))]
pub fn called_where_they_stand() {
    for up_to in [2, 6] {
        let result = (|| -> Result<u64, String> {
            let first = counted(up_to)?;
            println!("first {first}");
            Ok(first + counted(3)?)
        })();
        println!("{result:?}");
        if let Err(why) = (|| {
            counted(up_to)?;
            if up_to > 3 {
                return Err("more than 3".to_string());
            }
            Ok(())
        })() {
            println!("{why}");
        }
    }
}

#[ckpt::instrument]
pub fn called_where_they_stand_with_arguments() {
    let scale = 3_u64;
    let mut total = 0;
    let sum = (|from: u64, to| {
        let mut sum = 0;
        for k in from..to {
            ckpt::checkpoint!();
            sum += k * scale;
            total += 1;
            println!("{sum} {total}");
        }
        sum
    })(1, 4_u64);
    (|| {
        for k in 0..2 {
            ckpt::checkpoint!();
            total += k;
            println!("{total}");
        }
    })();
    println!("= {sum} {total}");
}

#[ckpt::instrument]
pub fn owning_and_called_where_they_stand() {
    let guard = Named("guard");
    let mut count = 5_u64;
    let list = vec![1_u64, 2, 3];
    let last = (move |more: u64| {
        for one in &list {
            ckpt::checkpoint!();
            count += one + more;
            println!("{} {count}", guard.name());
        }
        count
    })(10);
    println!("{count} {last}");
    for k in 0..2 {
        ckpt::checkpoint!();
        println!("{k} {count}");
    }
}

impl Named {
    fn name(&self) -> &'static str {
        self.0
    }
}
