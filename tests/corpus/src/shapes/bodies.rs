//! Items and macros in the body of an instrumented function.

use std::fmt::Write as _;

#[ckpt::instrument]
pub fn items_in_the_body() {
    const STEP: u64 = 4;
    fn twice(x: u64) -> u64 {
        x * 2
    }
    use std::cmp::Reverse;
    #[derive(Debug)]
    enum Side {
        Left,
        Right,
    }
    let mut n = 1;
    let mut list = vec![];
    while n < 60 {
        n = twice(n) + STEP;
        list.push(n);
        ckpt::checkpoint!();
        let side = if n % 8 == 4 { Side::Left } else { Side::Right };
        list.sort_by_key(|x| Reverse(*x));
        println!("{n} {side:?} {list:?}");
    }
    println!("= {n}");
}

#[ckpt::instrument]
pub fn std_macros_with_inline_captures() {
    let width = 6;
    let value = 2.5f64;
    let name = String::from("cap");
    let mut text = String::new();
    for i in 0..3 {
        let part = format!("{name:>width$}-{value:.2}-{i}");
        ckpt::checkpoint!();
        assert!(part.len() > i, "{part} {i}");
        write!(text, "{part:?};").unwrap();
        let list = vec![i; 2];
        debug_assert_eq!(list.len(), 2, "{list:?}");
        println!("{text} {list:?}");
        if matches!(i, 1 | 2) {
            eprint!("");
        }
    }
    println!("= {text}");
}

macro_rules! bump {
    ($x:ident, $by:expr) => {
        $x = $x * 2 + $by;
    };
}

macro_rules! twice {
    ($e:expr) => {{
        let first = $e;
        first + first
    }};
}

#[ckpt::instrument]
pub fn unknown_macros() {
    let mut n = 1u64;
    let offset = 3;
    for i in 0..3 {
        bump!(n, i + offset);
        let doubled = twice!(n);
        ckpt::checkpoint!();
        bump!(n, doubled);
        println!("{n} {doubled} {}", twice!(offset));
    }
    println!("= {n}");
}

#[ckpt::instrument]
pub fn macro_defined_in_the_body() {
    macro_rules! square {
        ($x:expr) => {
            $x * $x
        };
    }
    let mut n = 2u64;
    for _ in 0..3 {
        ckpt::checkpoint!();
        n = square!(n) % 1009;
        println!("{n}");
    }
    println!("= {n}");
}

mod prelude {
    pub use ckpt::checkpoint;
}

#[ckpt::instrument]
pub fn attributes_in_the_body() {
    #[allow(clippy::no_effect_underscore_binding)]
    let _unused = 5;
    #[cfg(any())]
    let missing: NotAType = 7;
    let mut n = 0;
    #[allow(clippy::explicit_counter_loop)]
    for i in 0..3 {
        #[rustfmt::skip]
        let part = i*2;
        ckpt::checkpoint!();
        n += part;
        #[cfg(any())]
        println!("never {i}");
        println!("{i} {n}");
    }
    println!("= {n}");
}

#[ckpt::instrument]
pub fn attribute_at_the_top() {
    #![allow(unused_mut)]
    let mut seed = 3u64;
    for i in 0..2 {
        ckpt::checkpoint!();
        println!("{i} {seed}");
    }
}

#[ckpt::instrument]
pub fn steering_attributes() {
    #[ckpt(reexecute)]
    let table: Vec<u64> = (0..5).map(|i| i * i).collect();
    #[ckpt(save)]
    let base = 10u64;
    let mut sum = 0;
    for i in 0..4 {
        sum += table[i] * base;
        ckpt::checkpoint!();
        println!("{i} {sum} {}", table[i + 1]);
    }
    println!("= {sum}");
}

#[ckpt::instrument]
pub fn names_like_the_generated_ones() {
    let mut frame = 1u64;
    let mut __ckpt = 2u64;
    let site = "site";
    let r = 3u64;
    for registrar in 0..3u64 {
        frame += registrar + r;
        __ckpt *= 2;
        ckpt::checkpoint!();
        println!("{frame} {__ckpt} {site}");
    }
    println!("= {frame} {__ckpt}");
}

#[ckpt::instrument]
pub fn imported_macro_path() {
    #[allow(unused_imports)]
    use prelude::checkpoint;
    let mut n = 1;
    for i in 0..3 {
        n += i;
        ::ckpt::checkpoint!();
        println!("{n}");
    }
    println!("= {n}");
}

#[ckpt::instrument]
pub fn inner_attributes() {
    #![allow(unused_variables)]
    let x = 3;
    let mut sum = 0;
    #[allow(clippy::explicit_counter_loop)]
    for i in 0..3 {
        ckpt::checkpoint!();
        sum += i;
        println!("{sum}");
    }
    {
        #![allow(unused_variables)]
        let y = 4;
        for i in 0..2 {
            ckpt::checkpoint!();
            sum += i;
        }
    }
    println!("= {sum}");
}
