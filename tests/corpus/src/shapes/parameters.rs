//! What an instrumented function may do with its parameters before a site.

#[ckpt::instrument(calls(sum_nested))]
pub fn tuple_and_array_parameters() {
    let sum = sum_nested((1, [2, 3]), [(4, 'a'), (5, 'b')], &mut [6, 7]);
    println!("= {sum}");
}

#[ckpt::instrument]
fn sum_nested((a, [b, c]): (u64, [u64; 2]), pairs: [(u64, char); 2], more: &mut [u64; 2]) -> u64 {
    let mut sum = a + b * c;
    for (number, letter) in pairs {
        sum += number;
        more[0] += number;
        ckpt::checkpoint!();
        println!("{letter} {sum} {more:?}");
    }
    sum + more[0] + more[1]
}

#[ckpt::instrument(calls(lives))]
pub fn guard_as_parameter() {
    let text = lives(Noisy(3), 2);
    println!("= {text}");
}

#[derive(ckpt::Checkpoint)]
struct Noisy(u64);

impl Drop for Noisy {
    fn drop(&mut self) {
        println!("noisy {} ends", self.0);
    }
}

#[ckpt::instrument]
fn lives(noisy: Noisy, turns: u64) -> u64 {
    let inner = Noisy(noisy.0 * 10);
    for i in 0..turns {
        ckpt::checkpoint!();
        println!("{i} {}", inner.0);
    }
    noisy.0
}

#[ckpt::instrument(calls(unused))]
pub fn unused_parameters() {
    let list = vec![1u64];
    for i in 0..2 {
        unused(list.clone(), &list, i, |x| x + 1);
    }
    println!("= {list:?}");
}

#[ckpt::instrument]
fn unused(_owned: Vec<u64>, _: &[u64], n: u64, _f: impl Fn(u64) -> u64) {
    ckpt::checkpoint!();
    println!("{n}");
}

#[ckpt::instrument(calls(filled))]
pub fn exclusive_lent_as_shared() {
    let mut rows = vec![0u64; 4];
    let mut sums = [0u64; 3];
    for round in 0..2 {
        filled(&mut rows, &mut sums, round, &["a", "b"]);
    }
    println!("= {rows:?} {sums:?}");
}

#[ckpt::instrument(calls(summed))]
fn filled(rows: &mut [u64], sums: &mut [u64; 3], round: u64, names: &[&str]) {
    for (i, row) in rows.iter_mut().enumerate() {
        *row = round + i as u64;
    }
    summed(rows, sums, names, &|x| x + 1);
    rows[0] += sums[2];
}

#[ckpt::instrument(calls(told))]
fn summed(rows: &[u64], sums: &mut [u64; 3], names: &[&str], step: &dyn Fn(u64) -> u64) {
    for i in 0..3 {
        ckpt::checkpoint!();
        sums[i] += step(rows[i]);
        println!("{i} {sums:?} {}", names.len());
    }
    told(sums, rows);
}

#[ckpt::instrument]
fn told(sums: &[u64; 3], mut rows: &[u64]) {
    while let Some((first, rest)) = rows.split_first() {
        rows = rest;
        println!("{first}");
    }
    for sum in 0..2 {
        ckpt::checkpoint!();
        println!("{}", sums[sum]);
    }
}

#[ckpt::instrument(calls(hashed))]
pub fn parts_that_move_on() {
    let text = String::from("a few words to go over");
    let hash = hashed(&text, text.as_bytes(), &[3, 1, 2, 9, 4, 6]);
    println!("= {hash} {text}");
}

#[ckpt::instrument]
fn hashed(mut text: &str, mut bytes: &[u8], mut pairs: &[u64]) -> u64 {
    let mut hash = 7u64;
    let mut two = [0u8; 2];
    while let Some((word, rest)) = text.split_once(' ') {
        ckpt::checkpoint!();
        text = rest;
        std::io::Read::read_exact(&mut bytes, &mut two).expect("there is one");
        pairs = pairs.get(1..).unwrap_or(pairs);
        hash = hash * 31 + word.len() as u64 + u64::from(two[1]) + pairs[0];
        println!("{word} {hash}");
    }
    hash + bytes.len() as u64
}

#[ckpt::instrument(calls(mixed))]
pub fn parameters_by_reference() {
    let list = vec![3u64, 1, 4, 1, 5];
    let sum = mixed(list, 7, &[2, 6]);
    println!("= {sum}");
}

#[allow(clippy::toplevel_ref_arg, clippy::needless_borrow)]
#[ckpt::instrument]
fn mixed(ref list: Vec<u64>, ref mut sum: u64, ref more: &[u64]) -> u64 {
    for x in list.iter() {
        ckpt::checkpoint!();
        *sum = *sum * 31 + x + more.len() as u64;
        println!("{sum} {}", list.len());
    }
    *sum
}
