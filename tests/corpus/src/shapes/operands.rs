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

#[ckpt::instrument]
fn later(of: Counter) -> u64 {
    println!("later {}", of.total);
    ckpt::checkpoint!();
    of.total % 100 + 1
}

#[ckpt::instrument(calls(later, add))]
pub fn receiver_that_is_also_passed_as_a_copy() {
    let mut one = Counter { total: 3 };
    for _ in 0..3 {
        let sum = one.take(later(one)) + 1;
        println!("{sum} {}", one.total);
        one.take(later(one));
        println!("{}", one.total);
        one.add(later(one));
        println!("{}", one.total);
    }
}

#[ckpt::instrument(calls(later, later_of_two))]
fn receiver_is_a_parameter(mut one: Counter, mut pair: (Counter, u64)) -> u64 {
    for _ in 0..2 {
        one.take(later(one));
        pair.0.take(later_of_two(pair));
        println!("{} {}", one.total, pair.0.total);
    }
    one.total + pair.0.total
}

#[ckpt::instrument]
fn later_of_two(pair: (Counter, u64)) -> u64 {
    ckpt::checkpoint!();
    pair.0.total * 2 + pair.1
}

#[ckpt::instrument(calls(receiver_is_a_parameter))]
pub fn receiver_that_is_a_parameter_and_passed_as_a_copy() {
    let sum = receiver_is_a_parameter(Counter { total: 2 }, (Counter { total: 3 }, 4));
    println!("= {sum}");
}

#[derive(Clone, Copy, ckpt::Checkpoint)]
struct Named {
    name: &'static str,
    counter: Counter,
}

#[ckpt::instrument]
fn length(of: Named) -> u64 {
    println!("length {}", of.name);
    ckpt::checkpoint!();
    of.name.len() as u64
}

#[ckpt::instrument(calls(length))]
pub fn receiver_in_a_copy_with_a_reference() {
    let mut one = Named {
        name: "one",
        counter: Counter { total: 1 },
    };
    for _ in 0..3 {
        one.counter.take(length(one));
        println!("{} {}", one.name, one.counter.total);
    }
}

#[ckpt::instrument]
fn number_in(list: [Counter; 3], more: u64) -> usize {
    println!("number {more}");
    ckpt::checkpoint!();
    ((list[0].total + list[1].total + more) % 3) as usize
}

#[ckpt::instrument(calls(number_in))]
pub fn element_of_a_list_that_is_also_passed_as_a_copy() {
    let mut list = [Counter { total: 1 }; 3];
    for turn in 0..4 {
        list[number_in(list, turn)].take(5);
        list[1].take(number_in(list, turn) as u64);
        let totals: Vec<u64> = list.iter().map(|one| one.total).collect();
        println!("{totals:?}");
    }
}

#[ckpt::instrument]
fn raised(of: &mut Counter) -> u64 {
    of.total += 1;
    println!("raised {}", of.total);
    ckpt::checkpoint!();
    of.total += 1;
    of.total
}

#[ckpt::instrument(calls(raised))]
fn raised_through(of: &mut Counter) {
    for _ in 0..3 {
        let sum = of.total.rotate_left(1) + of.total.rotate_left(raised(of) as u32 % 3);
        println!("{sum} {}", of.total);
    }
}

#[ckpt::instrument(calls(raised_through))]
pub fn receiver_behind_a_reference_that_is_passed_on() {
    let mut one = Counter { total: 3 };
    raised_through(&mut one);
    println!("= {}", one.total);
}

#[ckpt::instrument(calls(next))]
fn added_to_elements(heights: &mut [f64], counts: &mut Vec<u64>) {
    let mut i = 0;
    while i < 6 {
        heights[i] += next(&mut i) as f64;
        counts[i] *= next(&mut i);
        println!("{heights:?} {counts:?} {i}");
    }
}

#[ckpt::instrument(calls(next, added_to_elements))]
pub fn added_to_a_number_found_by_a_number_that_goes_on() {
    let mut heights = [0.5; 10];
    let mut counts = vec![vec![2, 3, 4, 5, 6, 7, 8, 9, 10, 11]; 2];
    let mut i = 0;
    while i < 6 {
        heights[i] += next(&mut i) as f64;
        counts[i % 2][i] -= next(&mut i) - i as u64;
        println!("{heights:?} {counts:?} {i}");
    }
    added_to_elements(&mut heights, &mut counts[0]);
    println!("= {heights:?} {counts:?}");
}

#[ckpt::instrument(calls(next))]
pub fn texts_of_checks_that_hold() {
    let mut i = 0;
    while i < 12 {
        assert!(next(&mut i) > 0, "no way out: {} {}", next(&mut i), i);
        assert!(i > 1, "{i} {last}", last = next(&mut i));
        assert_eq!(i as u64 % 2, next(&mut i) % 2, "{i}");
        assert_ne!(next(&mut i), 0);
        debug_assert!(next(&mut i) > 0, "{}", next(&mut i));
        debug_assert_eq!(next(&mut i) % 2, 0);
        println!("{i} {}", {
            debug_assert!(next(&mut i) > 0);
            i
        });
    }
    match i {
        0 => {}
        _ => assert!(next(&mut i) > 0, "{}", next(&mut i)),
    }
    println!("= {i}");
}

/// What a failing check says goes where it is compared.
fn told(failing: fn()) {
    std::panic::set_hook(Box::new(|panic| println!("{panic}")));
    failing();
}

#[ckpt::instrument(calls(next))]
fn check() {
    let mut i = 0;
    while i < 12 {
        println!("{i}");
        assert!(next(&mut i) < 5, "{i} {} {}", next(&mut i), i);
    }
}

pub fn text_of_a_check_that_fails() {
    told(check);
}

#[ckpt::instrument(calls(next))]
fn check_for_debugging() {
    let mut i = 0;
    while i < 12 {
        println!("{i}");
        debug_assert!(next(&mut i) < 5, "{i} {last}", last = next(&mut i));
    }
}

pub fn text_of_a_check_for_debugging_that_fails() {
    told(check_for_debugging);
}
