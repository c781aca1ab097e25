//! Patterns: values next to references, values that change, parts of enums, slices, names for the whole.

#[derive(ckpt::Checkpoint, Clone, Debug)]
struct Pair {
    size: u64,
    list: Vec<u64>,
}

#[ckpt::instrument]
pub fn value_that_changes_next_to_a_reference() {
    let pair = Pair {
        size: 3,
        list: vec![1, 2],
    };
    let Pair { mut size, ref list } = pair;
    for k in 0..3 {
        size += k + list[0];
        ckpt::checkpoint!();
        println!("{size} {list:?}");
    }
    println!("{}", pair.list.len());
}

#[ckpt::instrument]
pub fn value_taken_before_the_whole_changes() {
    let mut pair = Pair {
        size: 3,
        list: vec![1, 2],
    };
    let Pair { size, ref list } = pair;
    ckpt::checkpoint!();
    println!("{list:?}");
    pair.size = 100;
    for _ in 0..2 {
        ckpt::checkpoint!();
        println!("{size} {pair:?}");
    }
}

#[ckpt::instrument]
pub fn mutable_references_to_fields() {
    let mut pair = Pair {
        size: 3,
        list: vec![1, 2],
    };
    let Pair {
        ref mut size,
        ref mut list,
    } = pair;
    for k in 0..3 {
        *size += k;
        list.push(*size);
        ckpt::checkpoint!();
        println!("{size} {list:?}");
    }
    println!("{pair:?}");
}

#[ckpt::instrument]
pub fn slices_and_names_for_the_whole() {
    let list = [1u64, 2, 3, 4];
    let [a, .., b] = list;
    let [first, rest @ ..] = &list[..] else {
        return;
    };
    let whole @ (x, _) = (5u64, 6u64);
    let mut sum = 0;
    for k in 0..3 {
        sum += k + a * b + x + whole.1 + first + rest.len() as u64;
        ckpt::checkpoint!();
        println!("{sum} {rest:?}");
    }
    for item in rest {
        ckpt::checkpoint!();
        println!("{item}");
    }
    let y @ 1..=9 = sum % 7 + 1 else { panic!() };
    let Some(ref z @ w) = Some(y) else { return };
    ckpt::checkpoint!();
    println!("{y} {z} {w}");
    match list.as_slice() {
        [] => println!("none"),
        [one] => println!("{one}"),
        [first, middle @ .., last] => {
            sum += first + last;
            ckpt::checkpoint!();
            println!("{sum} {middle:?} {last}");
        }
    }
}

#[derive(ckpt::Checkpoint, Clone, Debug)]
enum Part {
    List(u64, Vec<u64>),
    Boxed { size: u64, inner: Option<Box<u64>> },
    Nothing,
}

fn parts() -> Vec<Part> {
    vec![
        Part::List(1, vec![2, 3]),
        Part::Boxed {
            size: 4,
            inner: Some(Box::new(5)),
        },
        Part::Nothing,
        Part::Boxed { size: 9, inner: None },
    ]
}

#[ckpt::instrument]
pub fn values_and_references_in_one_arm() {
    let mut sum = 0u64;
    for mut part in parts() {
        match part {
            Part::List(mut n, ref list) => {
                n += 1;
                ckpt::checkpoint!();
                sum += list.iter().sum::<u64>() + n;
                println!("list {sum}");
            }
            Part::Boxed {
                size: n @ 1..=8,
                inner: Some(ref mut inner),
            } => {
                sum += n + **inner;
                ckpt::checkpoint!();
                **inner += 1;
                println!("boxed {sum} {inner}");
            }
            Part::Boxed { size, ref inner } if inner.is_none() && size > 3 => {
                ckpt::checkpoint!();
                sum += size;
                println!("empty {sum} {inner:?}");
            }
            _ => {
                ckpt::checkpoint!();
                println!("other {sum}");
            }
        }
        println!("{part:?}");
    }
}

#[ckpt::instrument]
pub fn alternatives_by_mutable_reference() {
    let mut all = parts();
    let mut sum = 0u64;
    for part in &mut all {
        match part {
            Part::List(n, _) | Part::Boxed { size: n, .. } => {
                *n += 1;
                ckpt::checkpoint!();
                sum += *n;
                *n += 5;
            }
            Part::Nothing => ckpt::checkpoint!(),
        }
        println!("{sum}");
    }
    println!("{all:?}");
}

#[ckpt::instrument]
pub fn references_in_conditions() {
    let mut pair = (vec![1u64], Some(String::from("x")));
    let mut n = 0u64;
    while let (ref mut list, Some(ref text)) = pair {
        list.push(n);
        n += text.len() as u64;
        ckpt::checkpoint!();
        println!("{list:?} {text}");
        if n > 3 {
            break;
        }
    }
    if let (ref mut list, Some(ref mut text)) = pair {
        text.push('y');
        ckpt::checkpoint!();
        list.push(9);
        println!("{text}");
    }
    let (ref list, _) = pair;
    ckpt::checkpoint!();
    println!("{list:?} {pair:?}");
}

#[ckpt::instrument]
pub fn copies_that_change() {
    let list = [3u64, 4, 5];
    for (i, mut x) in list.iter().copied().enumerate() {
        for _ in 0..2 {
            x = x * 2 + i as u64;
            ckpt::checkpoint!();
            println!("{x}");
        }
    }
    for &(mut x) in &list {
        x *= 2;
        ckpt::checkpoint!();
        x += 1;
        println!("{x}");
    }
    if let Some(&(mut x)) = list.get(1) {
        for _ in 0..2 {
            x *= 2;
            ckpt::checkpoint!();
            println!("{x}");
        }
    }
    let mut k = 0;
    while let Some(&(mut x)) = list.get(k) {
        k += 1;
        for _ in 0..2 {
            x *= 2;
            ckpt::checkpoint!();
            println!("{x}");
        }
    }
    match list.last() {
        Some(&(mut x)) => {
            for _ in 0..2 {
                x += 3;
                ckpt::checkpoint!();
                println!("{x}");
            }
        }
        None => println!("none"),
    }
    let (all, mut sum) = (&list, 0u64);
    for x in all {
        sum += x;
        ckpt::checkpoint!();
        println!("{sum}");
    }
}

#[ckpt::instrument]
pub fn pairs_of_an_array_of_pairs() {
    for &(a, ref b) in &[(1u64, String::from("p")), (2, String::from("q"))] {
        ckpt::checkpoint!();
        println!("{a} {b}");
    }
    for (a, mut b) in vec![(1u64, String::from("p")), (2, String::from("q"))] {
        b.push('z');
        ckpt::checkpoint!();
        println!("{a} {b}");
    }
    let sum = |&(a, b): &(u64, u64)| a + b;
    ckpt::checkpoint!();
    println!("{}", sum(&(1, 2)));
}

#[derive(ckpt::Checkpoint, Debug)]
struct Machine {
    stack: Vec<u64>,
    at: usize,
}

impl Machine {
    #[ckpt::instrument]
    fn run(&mut self, code: &[Part]) {
        while let Some(part) = code.get(self.at) {
            self.at += 1;
            match part {
                Part::List(n, _) => self.stack.push(*n),
                Part::Boxed { size, .. } => {
                    ckpt::checkpoint!();
                    self.stack.push(size * 2);
                }
                Part::Nothing => {}
            }
            ckpt::checkpoint!();
            println!("{} {:?}", self.at, self.stack);
        }
    }
}

#[ckpt::instrument(calls(run))]
pub fn found_by_a_number_that_goes_on() {
    let code = parts();
    let mut machine = Machine {
        stack: Vec::new(),
        at: 0,
    };
    machine.run(&code);
    let list = [3u64, 4, 5, 6];
    let mut k = 0;
    loop {
        match list.get(k) {
            Some(x) => {
                k += 1;
                ckpt::checkpoint!();
                println!("{x} {k}");
            }
            None => break,
        }
    }
    k = 0;
    while k < 3 {
        let x = &list[k];
        k += 1;
        ckpt::checkpoint!();
        println!("{x} {k}");
    }
    let mut all = vec![7u64, 8];
    if let Some(&first) = all.first() {
        all[0] = 9;
        ckpt::checkpoint!();
        println!("{first} {all:?}");
    }
}

#[derive(Debug, Clone, ckpt::Checkpoint)]
enum Item {
    Text(String, u64),
    Pair(String, String),
    Named { name: String, size: u64 },
    Empty,
}

#[ckpt::instrument]
pub fn moved_in_one_arm_and_borrowed_in_another() {
    let items = [
        Item::Text("t".into(), 7),
        Item::Pair("a".into(), "b".into()),
        Item::Named {
            name: "n".into(),
            size: 2,
        },
        Item::Named {
            name: "much".into(),
            size: 9,
        },
        Item::Empty,
    ];
    for item in items {
        match item {
            Item::Text(text, n) if n > 3 => {
                ckpt::checkpoint!();
                println!("{text} {n}");
            }
            Item::Pair(ref first, ref second) => {
                for i in 0..2 {
                    ckpt::checkpoint!();
                    println!("{i} {first} {second}");
                }
                println!("{item:?}");
            }
            Item::Named { mut name, size } if name.len() < 3 && size > 1 => {
                name.push('!');
                ckpt::checkpoint!();
                println!("{name} {size}");
            }
            Item::Named { ref name, mut size } => {
                size += 1;
                ckpt::checkpoint!();
                println!("{name} {size}");
            }
            other => {
                ckpt::checkpoint!();
                println!("{other:?}");
            }
        }
        ckpt::checkpoint!();
    }
}

#[derive(ckpt::Checkpoint)]
struct Holder {
    item: Item,
    count: u64,
}

#[ckpt::instrument]
pub fn fields_moved_in_one_arm_and_borrowed_in_another() {
    for count in 0..3 {
        let holder = Holder {
            item: match count {
                0 => Item::Text("zero".into(), 0),
                1 => Item::Pair("one".into(), "two".into()),
                _ => Item::Empty,
            },
            count,
        };
        let size = match holder.item {
            Item::Text(text, n) => {
                ckpt::checkpoint!();
                println!("{text} {n}");
                text.len()
            }
            Item::Pair(ref first, _) | Item::Named { name: ref first, .. } => {
                ckpt::checkpoint!();
                println!("{first} {}", holder.count);
                first.len()
            }
            Item::Empty => 0,
        };
        ckpt::checkpoint!();
        println!("{size}");
    }
}

#[ckpt::instrument]
fn counted_from(first: usize) -> usize {
    let mut at = first;
    for turn in 0..2 {
        ckpt::checkpoint!();
        at = at * 2 + turn;
        println!("{first} {turn} {at}");
    }
    at
}

/// A variable that each alternative of a pattern binds.
#[ckpt::instrument(calls(counted_from))]
pub fn bound_by_alternatives() {
    let list = [2u32, 4, 8, 16];
    for wanted in [4u32, 9] {
        let (Ok(at) | Err(at)) = list.binary_search(&wanted);
        println!("{wanted} {}", counted_from(at));
    }
}
