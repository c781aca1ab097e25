//! What an instrumented function may do with its parameters before a site.

#[ckpt::instrument(calls(shadows, replaces, swaps, reborrows, owns, mixes))]
pub fn all_kinds() {
    let mut list = vec![1u64, 2, 3];
    let mut other = vec![9u64];
    println!("{}", shadows(2, &list));
    replaces(&mut list);
    println!("{list:?}");
    swaps(&mut list, &mut other);
    println!("{list:?} {other:?}");
    reborrows(&mut list);
    println!("{list:?}");
    let kept = owns(other, String::from("own"));
    println!("{kept:?}");
    let mut total = 5;
    let count = mixes(&mut total, &list, 3, "mix");
    println!("= {count} {total} {list:?} {kept:?}");
}

#[ckpt::instrument]
fn shadows(n: u64, list: &[u64]) -> u64 {
    let n = n * 100;
    let list = &list[1..];
    let mut sum = n;
    for item in list {
        let n = item + 1;
        ckpt::checkpoint!();
        sum += n;
        println!("shadows {n} {sum}");
    }
    sum + n
}

#[ckpt::instrument]
fn replaces(list: &mut Vec<u64>) {
    ckpt::checkpoint!();
    *list = vec![7; 2];
    ckpt::checkpoint!();
    list.push(8);
}

#[ckpt::instrument]
fn swaps(left: &mut Vec<u64>, right: &mut Vec<u64>) {
    left.push(100);
    std::mem::swap(left, right);
    ckpt::checkpoint!();
    left.push(200);
    right.push(300);
}

#[ckpt::instrument]
fn reborrows(list: &mut Vec<u64>) {
    for i in 0..2 {
        let inner = &mut *list;
        inner.push(i);
        ckpt::checkpoint!();
        inner.push(i * 10);
        println!("reborrows {inner:?}");
    }
}

#[ckpt::instrument]
fn owns(mut list: Vec<u64>, name: String) -> Vec<String> {
    let mut names = vec![name];
    while let Some(item) = list.pop() {
        ckpt::checkpoint!();
        names.push(format!("{item}"));
        println!("owns {names:?} {list:?}");
    }
    names
}

#[ckpt::instrument]
fn mixes(total: &mut u64, list: &[u64], scale: u64, name: &str) -> usize {
    let mut count = 0;
    for item in list {
        *total += item * scale;
        ckpt::checkpoint!();
        count += name.len();
        println!("mixes {total} {count}");
    }
    count
}

#[ckpt::instrument(calls(used_up))]
pub fn used_up_before_the_site() {
    let words = vec![String::from("a"), String::from("bb")];
    let size = used_up(words, 7);
    println!("= {size}");
}

#[ckpt::instrument]
fn used_up(words: Vec<String>, n: usize) -> usize {
    let mut size = words.into_iter().map(|word| word.len()).sum::<usize>() + n;
    for i in 0..2 {
        size += i;
        ckpt::checkpoint!();
    }
    size
}

#[ckpt::instrument(calls(optional))]
pub fn optional_references() {
    let name = String::from("n");
    let mut log = vec![];
    optional(Some(&name), Some(&mut log));
    optional(None, None);
    println!("= {log:?}");
}

#[ckpt::instrument]
fn optional(name: Option<&String>, log: Option<&mut Vec<usize>>) {
    let size = name.map_or(0, |name| name.len());
    if let Some(log) = log {
        log.push(size);
    }
    ckpt::checkpoint!();
    println!("{size}");
}

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
