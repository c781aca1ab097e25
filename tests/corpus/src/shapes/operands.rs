//! What stands left of a call that leads to a site and reads what that call changes: it has been read before.

/// Goes on to the next number, with a site behind it, and says which.
#[ckpt::instrument]
fn next(at: &mut usize) -> u64 {
    *at += 1;
    println!("next {at}");
    ckpt::checkpoint!();
    *at += 1;
    *at as u64
}

fn joined(left: &u64, right: u64) -> u64 {
    left * 100 + right
}

#[ckpt::instrument]
fn joined_with_a_site(left: &u64, right: u64) -> u64 {
    println!("join {left} {right}");
    ckpt::checkpoint!();
    left * 100 + right
}

fn numbers() -> Vec<u64> {
    (1..10).map(|n| n * n).collect()
}

#[ckpt::instrument(calls(next))]
pub fn element_found_by_a_number_that_goes_on() {
    let list = numbers();
    let mut i = 0;
    let mut sum = 0;
    while i < 6 {
        sum += joined(&list[i], next(&mut i));
        println!("{sum} {i}");
    }
    println!("= {sum}");
}

#[ckpt::instrument(calls(next, joined_with_a_site))]
pub fn element_lent_to_a_marked_call() {
    let list = numbers();
    let mut i = 0;
    let mut sum = 0;
    while i < 6 {
        sum += joined_with_a_site(&list[i], next(&mut i));
        println!("{sum} {i}");
    }
    println!("= {sum}");
}

#[derive(Clone, Copy, ckpt::Checkpoint)]
struct Counter {
    total: u64,
}

impl Counter {
    #[ckpt::instrument]
    fn add(&mut self, more: u64) -> u64 {
        self.total += more;
        println!("add {more} {}", self.total);
        ckpt::checkpoint!();
        self.total
    }

    fn take(&mut self, more: u64) -> u64 {
        self.total += more;
        self.total
    }
}

#[ckpt::instrument(calls(next, add))]
pub fn receiver_found_by_a_number_that_goes_on() {
    let mut counters: Vec<Counter> = numbers().into_iter().map(|total| Counter { total }).collect();
    let mut i = 0;
    while i < 6 {
        let total = counters[i].add(next(&mut i));
        println!("{total} {i}");
    }
    let totals: Vec<u64> = counters.iter().map(|one| one.total).collect();
    println!("= {totals:?}");
}

#[ckpt::instrument(calls(next))]
pub fn receiver_of_a_plain_method() {
    let mut counters: Vec<Counter> = numbers().into_iter().map(|total| Counter { total }).collect();
    let mut i = 0;
    while i < 6 {
        let total = counters[i].take(next(&mut i));
        println!("{total} {i}");
    }
    let totals: Vec<u64> = counters.iter().map(|one| one.total).collect();
    println!("= {totals:?}");
}

#[ckpt::instrument(calls(next))]
pub fn an_operand_without_a_site_changes_another() {
    let mut i = 0;
    let mut j = 0;
    let list = numbers();
    let mut sum = 0;
    while i < 6 {
        sum += three(&list[i], moved_on(&mut i), next(&mut j));
        println!("{sum} {i}");
    }
    println!("= {sum}");
}

fn moved_on(i: &mut usize) -> u64 {
    *i += 1;
    *i as u64
}

fn three(left: &u64, middle: u64, right: u64) -> u64 {
    left * 10_000 + middle * 100 + right
}

#[ckpt::instrument(calls(next))]
pub fn copies_of_what_a_call_changes() {
    let mut i = 1;
    let list = [2u64, 3, 4];
    let mut pairs = Vec::new();
    while i < 7 {
        pairs.push((i, list[i % 3], next(&mut i)));
        println!("{pairs:?}");
        let k = &mut i;
        let sum = *k as u64 + next(k);
        println!("{sum}");
    }
    println!("= {pairs:?}");
}

#[ckpt::instrument(calls(next))]
pub fn assigned_to_an_element_of_a_list() {
    let mut list = numbers();
    let mut i = 0;
    while i < 6 {
        list[i] = next(&mut i);
        println!("{list:?} {i}");
    }
    println!("= {list:?}");
}

#[ckpt::instrument]
fn count(at: &mut usize) -> usize {
    *at += 1;
    println!("count {at}");
    ckpt::checkpoint!();
    *at
}

#[ckpt::instrument(calls(count, next))]
pub fn added_to_an_element_found_by_a_call() {
    let mut list = numbers();
    let mut i = 0;
    let mut k = 0;
    while i < 6 {
        list[count(&mut i)] += 1;
        list[count(&mut i)] = 5;
        list[count(&mut i)] = next(&mut k);
        println!("{list:?} {i}");
    }
    println!("= {list:?}");
}

#[ckpt::instrument(calls(next))]
pub fn arguments_of_a_macro() {
    let mut list = numbers();
    let mut i = 0;
    while i < 4 {
        println!("{} {} {}", list[i], moved_on(&mut i), next(&mut i));
        println!("{:?} {} {}", list.pop(), next(&mut i), list.len());
    }
    println!("= {list:?}");
}

#[ckpt::instrument]
fn changed_behind(element: &u64, at: &mut usize) -> u64 {
    *at += 1;
    ckpt::checkpoint!();
    println!("behind {element} {at}");
    *element
}

#[ckpt::instrument(calls(changed_behind))]
pub fn element_lent_beside_its_number() {
    let list = numbers();
    let mut i = 0;
    while i < 6 {
        println!("{i}");
        let found = changed_behind(&list[i], &mut i);
        println!("{found} {i}");
    }
}

#[ckpt::instrument(calls(next))]
pub fn elements_of_a_vec() {
    let mut i = 0;
    while i < 6 {
        let text = format!("at {i}");
        let pairs = vec![i as u64, next(&mut i), i as u64 + 1, next(&mut i)];
        let nested = (vec![vec![i as u64, next(&mut i)], vec![i as u64]], text);
        println!("{pairs:?} {nested:?} {i}");
    }
}
