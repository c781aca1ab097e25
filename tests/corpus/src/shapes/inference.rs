//! Types that rustc infers from what comes after a site, and values of odd types.

use std::collections::BTreeMap;

#[ckpt::instrument]
pub fn fixed_after_the_site() {
    let mut total = Default::default();
    let mut list = Vec::new();
    let parsed = "17".parse().unwrap_or(0);
    let collected = (1..4).map(|i| i * parsed).collect();
    let mut pairs = BTreeMap::new();
    for i in 0..3 {
        ckpt::checkpoint!();
        add(&mut total, i as f64 / 2.0);
        list.push((i as u16, parsed));
        pairs.insert(format!("k{i}"), list.len());
        println!("{total} {list:?} {pairs:?}");
    }
    let whole: Vec<i64> = collected;
    println!("= {whole:?}");
}

fn add(total: &mut f64, more: f64) {
    *total += more;
}

#[ckpt::instrument]
pub fn branches_that_never_return() {
    for i in 0..4u64 {
        let odd = if i % 2 == 0 { continue } else { i };
        ckpt::checkpoint!();
        let name = match odd {
            1 => "one",
            3 => {
                ckpt::checkpoint!();
                println!("three");
                break;
            }
            _ => unreachable!(),
        };
        println!("{odd} {name}");
    }
    println!("=");
}

#[ckpt::instrument]
pub fn casts_and_operators() {
    let mut bits = 0b1011u8;
    let mut wide = -1i64;
    let mut text = String::new();
    while bits != 0 {
        wide = (wide << 3) ^ bits as i64;
        text.push(if bits & 1 == 1 { '1' } else { '0' });
        ckpt::checkpoint!();
        bits >>= 1;
        wide = wide.wrapping_neg();
        println!("{bits:08b} {wide} {text}");
    }
    println!("= {}", wide as u8 as char);
}

#[ckpt::instrument]
pub fn struct_update_and_shorthand() {
    #[allow(dead_code)]
    #[derive(Debug, Clone, Default, ckpt::Checkpoint)]
    struct Setup {
        size: u64,
        rate: f64,
        name: String,
    }
    let base = Setup {
        size: 3,
        ..Default::default()
    };
    let mut setup = Setup {
        rate: 0.5,
        ..base.clone()
    };
    for size in 0..3 {
        let name = format!("s{size}");
        ckpt::checkpoint!();
        setup = Setup { size, name, ..setup };
        println!("{setup:?}");
    }
    println!("= {base:?}");
}

#[ckpt::instrument]
pub fn declared_by_typed_tuples() {
    let (mut low, mut high, sum): (f64, f64, f64);
    let (mut step, (list, name)): (usize, (Vec<u8>, String));
    let (mut seen, done);
    let mut all = vec![];
    step = 0;
    seen = 0;
    while step < 4 {
        ckpt::checkpoint!();
        low = step as f64 / 2.0;
        high = low * 3.0;
        seen += 1;
        all.push(low + high);
        println!("{step} {seen} {all:?}");
        step += 1;
    }
    sum = all.iter().sum();
    ckpt::checkpoint!();
    list = (0..step as u8).collect();
    name = "x".repeat(seen);
    done = sum > 1.0;
    println!("= {sum} {list:?} {name} {done}");
}

#[ckpt::instrument]
pub fn typed_by_the_tuple_alone() {
    let (mut total, (list, mut rest)): (f32, (Vec<u16>, i8)) =
        ([0.5].iter().sum(), ((0..3).collect(), "7".parse().unwrap()));
    for i in 0..3 {
        ckpt::checkpoint!();
        total += list[i] as f32;
        rest -= 1;
        println!("{total} {list:?} {rest}");
    }
}

#[ckpt::instrument]
pub fn written_in_loops_that_may_not_run() {
    let (mut aux, mut kept): (f64, f64);
    let mut value = 1.0;
    for _ in 0..3 {
        aux = value;
        value += aux / 2.0;
    }
    for i in 0..4 {
        kept = i as f64;
        ckpt::checkpoint!();
        for _ in 0..i % 2 {
            kept = value * 2.0;
        }
        let mut rest = i;
        while rest > 0 {
            aux = kept;
            value += aux;
            rest -= 1;
        }
        println!("{i} {kept} {value}");
    }
}
