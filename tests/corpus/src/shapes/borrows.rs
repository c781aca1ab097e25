//! References alive over a site.

#[ckpt::instrument]
pub fn shared_reference() {
    let items = vec![3u64, 6, 9];
    let view = &items;
    let last = &view[2];
    for i in 0..3 {
        ckpt::checkpoint!();
        println!("{} {last}", view[i] + i as u64);
    }
    println!("= {items:?}");
}

#[ckpt::instrument]
pub fn mutable_reference() {
    let mut items = vec![1u64];
    let view = &mut items;
    for i in 0..3 {
        view.push(i);
        ckpt::checkpoint!();
        view.push(i * 10);
        println!("{view:?}");
    }
    items.push(7);
    println!("= {items:?}");
}

#[ckpt::instrument]
pub fn reference_to_a_field() {
    #[derive(ckpt::Checkpoint)]
    struct Pair {
        left: Vec<u64>,
        right: u64,
    }
    let pair = Pair {
        left: vec![1, 2],
        right: 5,
    };
    let left = &pair.left;
    let right = &pair.right;
    ckpt::checkpoint!();
    println!("= {left:?} {right}");
}

#[ckpt::instrument]
pub fn swapped_values() {
    let mut old = vec![1u64, 2, 3];
    let mut new = vec![0u64; 3];
    for turn in 0..4 {
        for i in 0..3 {
            new[i] = old[i] + old[(i + 1) % 3] + turn;
        }
        ckpt::checkpoint!();
        std::mem::swap(&mut old, &mut new);
        println!("{old:?} {new:?}");
    }
    println!("= {old:?}");
}

#[ckpt::instrument]
pub fn swapped_references() {
    let mut even = [1u64, 2, 3];
    let mut odd = [0u64; 3];
    let (mut old, mut new) = (&mut even, &mut odd);
    for turn in 0..4 {
        for i in 0..3 {
            new[i] = old[i] + old[(i + 1) % 3] + turn;
        }
        std::mem::swap(&mut old, &mut new);
        ckpt::checkpoint!();
        println!("{old:?} {new:?}");
    }
    println!("= {old:?} {new:?}");
    println!("{even:?} {odd:?}");
}

#[ckpt::instrument]
pub fn split_at_mut_views() {
    let mut items = vec![1u64, 2, 3, 4, 5, 6];
    let middle = 2;
    let (left, right) = items.split_at_mut(middle);
    for i in 0..4 {
        left[i % 2] += right[i];
        ckpt::checkpoint!();
        right[i] *= 2;
        println!("{left:?} {right:?}");
    }
    println!("= {items:?}");
}

#[ckpt::instrument]
pub fn mutable_view_of_a_part() {
    let mut grid = vec![vec![0u64; 3]; 2];
    for row in 0..2 {
        let line = &mut grid[row];
        line[0] = row as u64 + 1;
        ckpt::checkpoint!();
        line[2] = line[0] * 7;
        println!("{line:?}");
    }
    println!("= {grid:?}");
}

#[ckpt::instrument]
pub fn words_of_a_text() {
    let text = String::from("alpha beta gamma");
    let words: Vec<&str> = text.split(' ').collect();
    let mut longest = 0;
    for i in 0..words.len() {
        longest = longest.max(words[i].len());
        ckpt::checkpoint!();
        println!("{} {longest}", words[i]);
    }
    println!("= {text} {words:?}");
}

struct Link {
    value: u64,
    next: Option<Box<Link>>,
}

fn list_of(values: &[u64]) -> Option<Box<Link>> {
    values
        .iter()
        .rev()
        .fold(None, |next, &value| Some(Box::new(Link { value, next })))
}

#[ckpt::instrument]
pub fn walk_along_a_linked_list() {
    let head = list_of(&[3, 1, 4]);
    let mut current = head.as_deref();
    let mut sum = 0;
    while let Some(link) = current {
        sum = sum * 10 + link.value;
        current = link.next.as_deref();
        println!("{sum}");
    }
    ckpt::checkpoint!();
    println!("= {sum}");
}

#[ckpt::instrument]
pub fn two_level_borrow() {
    let table = vec![vec![1u64, 2], vec![3, 4]];
    let rows: Vec<&[u64]> = table.iter().map(|row| row.as_slice()).collect();
    let tail = &rows[1][1..];
    for i in 0..2 {
        ckpt::checkpoint!();
        println!("{i} {tail:?} {:?}", rows[i]);
    }
    println!("= {table:?}");
}

#[ckpt::instrument]
pub fn borrow_ended_before_the_site() {
    let mut items = vec![1u64, 2];
    let first = &mut items[0];
    *first += 5;
    let length = items.iter().map(|i| i * 2).max();
    ckpt::checkpoint!();
    items.push(9);
    println!("= {items:?} {length:?}");
}

#[ckpt::instrument]
pub fn mutable_reference_then_owner() {
    let mut count = 0u64;
    for i in 0..3 {
        let counter = &mut count;
        *counter += i;
        ckpt::checkpoint!();
        *counter *= 2;
        println!("{counter}");
        count += 1;
    }
    println!("= {count}");
}

#[ckpt::instrument]
pub fn reference_to_a_temporary() {
    let mut log = String::new();
    for i in 0..3 {
        let part = &format!("{log}{i}");
        log += "changed";
        ckpt::checkpoint!();
        println!("{part} {log}");
    }
    println!("= {log}");
}

#[ckpt::instrument]
pub fn shared_borrow_of_an_exclusive_one() {
    let mut list = vec![1u64];
    for item in 2..4 {
        let whole = &mut list;
        let mut turn = 0;
        while turn < 2 {
            turn += 1;
            let seen = &(*whole);
            ckpt::checkpoint!();
            println!("{whole:?} {seen:?}");
            ckpt::checkpoint!();
            println!("{whole:?} {seen:?}");
        }
        whole.push(item);
        ckpt::checkpoint!();
        println!("{whole:?}");
    }
}

#[ckpt::instrument]
pub fn hidden_while_borrowed_exclusively() {
    let mut list = vec![1u64, 2];
    let n = 7;
    for round in 0..3 {
        let view = &mut list;
        let list = format!("list {round}");
        if round == 1 {
            ckpt::checkpoint!();
            continue;
        }
        view.push(round);
        ckpt::checkpoint!();
        println!("{list} {view:?} {}", n + round);
        let n = &view[0];
        ckpt::checkpoint!();
        println!("{list:>n$}{n:?}", n = *n as usize);
        view[0] += 1;
        if let Some(list) = view.last_mut() {
            *list += 1;
            ckpt::checkpoint!();
            println!("{list}");
        }
    }
    println!("= {list:?}");
}

#[ckpt::instrument]
pub fn closures_through_exclusive_references() {
    let (mut sum, mut list) = (1u64, vec![4u64, 5]);
    let sums = &mut sum;
    let mixed = |n: u64| n * 3 + *sums;
    ckpt::checkpoint!();
    println!("{}", mixed(2));
    *sums += 1;
    let view = &mut list;
    let sized = |n: u64| n + view.len() as u64;
    for i in 0..2 {
        ckpt::checkpoint!();
        println!("{} {i}", sized(i));
    }
    view.push(*sums);
    println!("= {sum} {list:?}");
}

#[ckpt::instrument]
pub fn gone_over_through_an_exclusive_reference() {
    let mut list = vec![4u64, 7, 2, 9, 5];
    let view = &mut list;
    for sum in (*view).chunks(2).map(|pair| pair.iter().sum::<u64>()) {
        ckpt::checkpoint!();
        println!("{sum} {}", view.len());
    }
    for n in view.iter().map(|n| n + 1).filter(|n| n % 2 == 0) {
        ckpt::checkpoint!();
        println!("{n} {}", view[0]);
    }
    view.push(4);
    println!("= {list:?}");
}

#[ckpt::instrument(calls(skip_blanks))]
pub fn parts_that_move() {
    let text = String::from("one two  three four");
    let bytes: Vec<u8> = (0..20).collect();
    let numbers = [3.0, 1.5, 2.5, 8.0, 0.5];
    let mut rest: &str = &text;
    let mut reader: &[u8] = &bytes;
    let mut behind = &numbers[1..];
    let mut word = [0u8; 4];
    while std::io::Read::read_exact(&mut reader, &mut word).is_ok() {
        ckpt::checkpoint!();
        let (first, others) = rest.split_at(rest.find(' ').unwrap_or(rest.len()));
        rest = skip_blanks(others);
        behind = &behind[behind.len().min(1)..];
        println!("{first} {word:?} {behind:?}");
    }
    println!("= {rest} {} {}", reader.len(), bytes.len() + text.len());
}

#[ckpt::instrument]
fn skip_blanks(text: &str) -> &str {
    let mut text: &str = text;
    while let Some(rest) = text.strip_prefix(' ') {
        ckpt::checkpoint!();
        text = rest;
    }
    text
}
