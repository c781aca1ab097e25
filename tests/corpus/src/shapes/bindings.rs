//! What stands before a site: shadowing, deferred initialisation, destructuring, moves.

use super::draw;

#[ckpt::instrument]
pub fn shadowing() {
    let x = 2u64;
    let x = x * 10;
    ckpt::checkpoint!();
    println!("{x}");
    let x = format!("x{x}");
    ckpt::checkpoint!();
    println!("{x}");
    {
        let x = x.len();
        ckpt::checkpoint!();
        println!("{x}");
    }
    let x = (x, 1.5f32);
    ckpt::checkpoint!();
    println!("= {x:?}");
}

#[ckpt::instrument]
pub fn shadowed_value_still_alive() {
    let name = String::from("outer");
    let view = &name;
    let name = 5u32;
    for i in 0..3 {
        ckpt::checkpoint!();
        println!("{view} {name} {i}");
    }
    println!("= {view} {name}");
}

#[ckpt::instrument]
pub fn shadowing_in_a_loop() {
    let mut acc = 0u64;
    let step = 3;
    for i in 0..4u64 {
        let acc_before = acc;
        let step = step + i;
        let i = i * step;
        ckpt::checkpoint!();
        acc += i;
        println!("{acc_before} {step} {i} {acc}");
    }
    println!("= {acc} {step}");
}

#[ckpt::instrument]
pub fn deferred_initialisation() {
    let mut seed = 6;
    let kind;
    match draw(&mut seed) % 3 {
        0 => kind = "zero",
        1 => kind = "one",
        _ => kind = "two",
    }
    let size: usize;
    if kind.len() > 3 {
        size = 10;
    } else {
        size = 20;
    }
    for i in 0..2 {
        ckpt::checkpoint!();
        println!("{i} {kind} {size}");
    }
    println!("= {seed}");
}

#[ckpt::instrument]
pub fn initialised_after_the_site() {
    let late;
    let mut count = 0;
    ckpt::checkpoint!();
    count += 1;
    println!("{count}");
    if count == 1 {
        ckpt::checkpoint!();
        late = vec![count];
    } else {
        late = vec![];
    }
    ckpt::checkpoint!();
    println!("= {late:?} {count}");
}

#[ckpt::instrument]
pub fn initialised_inside_the_loop() {
    let found;
    let mut seed = 8;
    let mut tries = 0;
    loop {
        let drawn = draw(&mut seed);
        tries += 1;
        ckpt::checkpoint!();
        println!("{tries} {drawn}");
        if drawn % 4 == 0 {
            found = drawn;
            break;
        }
    }
    ckpt::checkpoint!();
    println!("= {found} {tries}");
}

#[ckpt::instrument]
pub fn destructuring() {
    struct Point {
        x: f64,
        y: f64,
        tag: String,
    }
    let point = Point {
        x: 1.0,
        y: 2.0,
        tag: String::from("p"),
    };
    let Point { x, y: height, tag } = point;
    let ((a, mut b), [c, d, ..]) = ((1u64, 2u64), [3u64, 4, 5, 6]);
    for i in 0..3 {
        b = b * a + c - d + i;
        ckpt::checkpoint!();
        println!("{x} {height} {tag} {a} {b} {c} {d}");
    }
    println!("= {b} {tag}");
}

#[ckpt::instrument]
pub fn destructuring_assignment() {
    let (mut a, mut b) = (1u64, 1u64);
    for _ in 0..5 {
        (a, b) = (b, a + b);
        ckpt::checkpoint!();
        println!("{a} {b}");
        [a, b] = [b, a];
    }
    println!("= {a} {b}");
}

#[ckpt::instrument]
pub fn moved_before_the_site() {
    let items = vec![1u64, 2, 3];
    let name = String::from("gone");
    let moved = items;
    drop(name);
    ckpt::checkpoint!();
    println!("{moved:?}");
    let boxed = Box::new(moved);
    ckpt::checkpoint!();
    println!("= {boxed:?}");
}

#[ckpt::instrument]
pub fn moved_on_one_branch() {
    for flag in [true, false] {
        let text = String::from("maybe");
        let mut length = 0;
        if flag {
            length = consume(text);
        }
        ckpt::checkpoint!();
        println!("{flag} {length}");
    }
    println!("=");
}

fn consume(text: String) -> usize {
    text.len()
}

#[ckpt::instrument]
pub fn used_up_after_the_site() {
    let words = vec![String::from("a"), String::from("b")];
    let sizes = [words.len(), 3];
    ckpt::checkpoint!();
    let joined = words.into_iter().collect::<String>();
    ckpt::checkpoint!();
    println!("= {joined} {sizes:?}");
}

#[ckpt::instrument]
pub fn inferred_types() {
    let mut list = Vec::new();
    let mut n = 0;
    let mut best = None;
    let mut map = std::collections::BTreeMap::new();
    let ratio = 0.5;
    while n < 4 {
        ckpt::checkpoint!();
        list.push(n as u8);
        n += 1;
        best = best.max(Some(n * 7 % 5));
        map.insert(n, ratio * n as f32);
        println!("{list:?} {best:?} {map:?}");
    }
    let total: i16 = n;
    println!("= {total}");
}

#[ckpt::instrument]
pub fn constant_and_text_literals() {
    const LIMIT: u64 = 3;
    static NAMES: [&str; 3] = ["x", "y", "z"];
    let title = "title";
    let mut label = "start";
    for i in 0..LIMIT {
        ckpt::checkpoint!();
        println!("{title} {label} {i}");
        label = NAMES[i as usize];
    }
    println!("= {label}");
}

#[ckpt::instrument]
pub fn not_needed_after_the_site() {
    let scratch: Vec<u64> = (0..100).collect();
    let handle = std::thread::current();
    let sum: u64 = scratch.iter().sum();
    let named = handle.name().is_some();
    ckpt::checkpoint!();
    println!("= {sum} {named}");
}

#[ckpt::instrument]
pub fn ignored_and_underscored() {
    let _ = draw(&mut 1);
    let _unused = vec![1u8];
    let mut seed = 3;
    let (_, kept, _) = (1, draw(&mut seed), 3);
    for _ in 0..2 {
        let _each = draw(&mut seed);
        ckpt::checkpoint!();
        println!("{kept} {seed}");
    }
    println!("= {seed}");
}

#[ckpt::instrument(calls(by_pattern))]
pub fn parameter_patterns() {
    let (a, b) = by_pattern((3, 4), [1, 2], &5);
    println!("= {a} {b}");
}

#[ckpt::instrument]
fn by_pattern((mut x, y): (u64, u64), [first, _]: [u64; 2], &scale: &u64) -> (u64, u64) {
    for _ in 0..2 {
        x = x * scale + first;
        ckpt::checkpoint!();
        println!("{x} {y}");
    }
    (x, y)
}

#[ckpt::instrument]
pub fn changed_after_it_was_read() {
    let mut base = 3u64;
    let doubled = base * 2;
    base = 50;
    ckpt::checkpoint!();
    println!("{base} {doubled}");
    let mut at = 0;
    let items = vec![4u64, 5, 6];
    let first = items[at];
    at = 2;
    ckpt::checkpoint!();
    println!("= {first} {at} {}", items[at]);
}

#[ckpt::instrument(calls(level))]
pub fn variables_named_like_functions() {
    let mut seed = 4;
    let energy = energy(&mut seed);
    let level = level(energy);
    let draw = draw(&mut seed);
    for i in 0..2 {
        ckpt::checkpoint!();
        println!("{i} {energy} {level} {draw}");
    }
    println!("= {seed}");
}

fn energy(seed: &mut u64) -> u64 {
    draw(seed) % 10
}

#[ckpt::instrument]
fn level(energy: u64) -> u64 {
    ckpt::checkpoint!();
    energy + 1
}

/// A tuple declared without a value, of which each variable is assigned in the loop.
#[ckpt::instrument]
pub fn tuple_declared_without_a_value() {
    let (mut a, mut b): (f64, u32);
    let (verified, rest);
    let mut sum = 0.0;
    let mut it = 1;
    while it <= 4 {
        ckpt::checkpoint!();
        a = 0.0;
        b = 0;
        for k in 0..it {
            a += k as f64;
            b += 2;
        }
        sum += a * b as f64;
        println!("{it} {sum}");
        it += 1;
    }
    (verified, rest) = (sum > 1.0, it - 5);
    println!("= {sum} {verified} {rest}");
}

fn title() -> String {
    "title".to_owned()
}

/// A variable with the name of the function that makes it, and what borrows from it.
#[ckpt::instrument]
pub fn named_like_its_maker_and_borrowed() {
    let title = title();
    let words: Vec<&str> = vec![title.as_str(), "of"];
    let all = words.len();
    for i in 0..3 {
        ckpt::checkpoint!();
        println!("{i} {all} {title}");
    }
}
