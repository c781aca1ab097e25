//! Variables that have no value at some site, and so travel as options: moved away before it, given a value after it.

use super::draw;

#[derive(ckpt::Checkpoint)]
struct Loud {
    name: String,
    size: u64,
}

impl Loud {
    fn new(name: &str, size: u64) -> Self {
        Loud {
            name: name.to_string(),
            size,
        }
    }
}

impl Drop for Loud {
    fn drop(&mut self) {
        println!("drop {} {}", self.name, self.size);
    }
}

#[ckpt::instrument]
pub fn shadowed_by_a_value_made_from_it() {
    let mut seed = 3;
    let mut e = vec![draw(&mut seed), 2];
    if seed % 2 == 0 {
        let e = {
            ckpt::checkpoint!();
            e.push(5);
            e.len()
        };
        ckpt::checkpoint!();
        println!("{e}");
    }
    ckpt::checkpoint!();
    println!("{e:?}");
    let taken = e;
    ckpt::checkpoint!();
    println!("{taken:?}");
    e = vec![7];
    ckpt::checkpoint!();
    let e = (e.len(), e);
    ckpt::checkpoint!();
    println!("= {e:?} {seed}");
}

#[ckpt::instrument(calls(made))]
pub fn shadowed_by_the_result_of_a_call() {
    let mut e = String::from("e");
    let kept = e;
    ckpt::checkpoint!();
    e = kept + "e";
    for i in 0..3 {
        let e = made(&e, i);
        ckpt::checkpoint!();
        println!("{e:?}");
    }
    println!("= {e}");
}

#[ckpt::instrument]
fn made(text: &str, n: u64) -> (u64, bool) {
    ckpt::checkpoint!();
    (n + text.len() as u64, n % 2 == 0)
}

#[ckpt::instrument]
pub fn given_a_value_again_in_a_loop() {
    let mut seed = 9;
    let mut pool = vec![1u64];
    for i in 0..5 {
        if i % 2 == 0 {
            let used = pool;
            ckpt::checkpoint!();
            println!("{i} {used:?}");
            pool = vec![draw(&mut seed) % 10, i];
        }
        ckpt::checkpoint!();
        pool.push(i);
        println!("{i} {pool:?}");
    }
    println!("= {pool:?}");
}

#[ckpt::instrument]
pub fn put_aside_before_a_continue() {
    let mut text = String::from("a");
    'rounds: for i in 0..6 {
        text.push('b');
        if i % 3 == 0 {
            continue;
        }
        let old = text;
        ckpt::checkpoint!();
        println!("{i} {old}");
        text = format!("{old}{i}");
        for k in 0..2 {
            text += "k";
            if i + k == 5 {
                continue 'rounds;
            }
            ckpt::checkpoint!();
        }
        if text.len() > 9 {
            break 'rounds;
        }
    }
    println!("= {text}");
}

#[ckpt::instrument]
pub fn put_aside_before_a_break_with_a_value() {
    let mut list = vec![1u64, 2];
    let mut round = 0;
    let found = loop {
        round += 1;
        list.push(round);
        if round == 4 {
            break list.len();
        }
        let old = list;
        ckpt::checkpoint!();
        println!("{old:?}");
        list = old;
        list.reverse();
    };
    ckpt::checkpoint!();
    println!("= {found} {list:?}");
}

#[ckpt::instrument]
pub fn declared_first_and_moved_later() {
    let mut seed = 8;
    let late;
    if draw(&mut seed) % 2 == 0 {
        ckpt::checkpoint!();
        late = vec![seed % 7];
    } else {
        late = vec![1, 2];
        ckpt::checkpoint!();
    }
    ckpt::checkpoint!();
    println!("{late:?}");
    let mut moved = late;
    ckpt::checkpoint!();
    moved.push(3);
    println!("= {moved:?}");
}

#[ckpt::instrument]
pub fn without_a_value_on_one_way() {
    let mut seed = 5;
    for _ in 0..4 {
        let mut note: String;
        if draw(&mut seed) % 2 == 0 {
            note = String::from("even");
            println!("{note}");
        }
        ckpt::checkpoint!();
        note = format!("{}", seed % 11);
        ckpt::checkpoint!();
        println!("{note}");
    }
    println!("= {seed}");
}

#[ckpt::instrument]
pub fn a_loop_without_end_leaves_with_a_value() {
    let mut seed = 2;
    let mut best;
    loop {
        best = draw(&mut seed) % 100;
        ckpt::checkpoint!();
        if best > 60 {
            break;
        }
    }
    let name;
    loop {
        ckpt::checkpoint!();
        if draw(&mut seed) % 3 == 0 {
            name = vec![best];
            break;
        }
    }
    let owner = name;
    ckpt::checkpoint!();
    println!("= {owner:?}");
}

#[ckpt::instrument(calls(consumed, taken_over, given_again_and_let_be))]
pub fn parameter_given_a_value_again() {
    println!("= {}", consumed(String::from("first"), 3));
    println!("= {}", taken_over(String::from("first"), 3));
    println!("= {}", given_again_and_let_be(String::from("first"), 1));
    println!("= {}", given_again_and_let_be(String::from("first"), 4));
}

#[ckpt::instrument]
#[allow(unused_assignments)]
fn given_again_and_let_be(mut text: String, rounds: u64) -> usize {
    let mut sum = rounds as usize;
    if rounds > 2 {
        sum += text.len();
        drop(text);
        if sum > 3 {
            text = format!("{sum}");
            ckpt::checkpoint!();
            println!("again {sum}");
        } else {
            ckpt::checkpoint!();
            println!("gone {sum}");
        }
    }
    ckpt::checkpoint!();
    println!("{sum}");
    sum
}

#[ckpt::instrument]
fn taken_over(mut text: String, rounds: u64) -> String {
    let kept = text;
    ckpt::checkpoint!();
    for i in 0..rounds {
        if i == 1 {
            text = format!("{kept}{i}");
            ckpt::checkpoint!();
            println!("{text}");
        }
        ckpt::checkpoint!();
        println!("{kept}");
    }
    kept
}

#[ckpt::instrument]
fn consumed(mut text: String, rounds: u64) -> usize {
    ckpt::checkpoint!();
    let mut sum = 0;
    for i in 0..rounds {
        let old = text;
        sum += old.len();
        text = format!("{old}{i}");
        ckpt::checkpoint!();
        println!("{text}");
    }
    sum + text.len()
}

#[ckpt::instrument]
pub fn moved_on_one_way_and_borrowed_on_the_other() {
    for i in 0..3u64 {
        let text = format!("text {i}");
        let more = vec![i; 2];
        if i == 1 {
            drop(text);
            ckpt::checkpoint!();
            println!("gone {i}");
        } else if i == 2 {
            let (first, kept) = (&more[0], text);
            ckpt::checkpoint!();
            println!("kept {kept} {first}");
        } else {
            let part = &text[2..];
            ckpt::checkpoint!();
            println!("{part}");
            match part.len() {
                4 => println!("four of {}", text.len()),
                _ => {
                    let all = &text;
                    ckpt::checkpoint!();
                    println!("{all} {part}");
                }
            }
            ckpt::checkpoint!();
            println!("{}", text.len());
        }
        ckpt::checkpoint!();
    }
}

#[ckpt::instrument]
pub fn destructors_in_the_order_of_declaration() {
    let mut seed = 4;
    for i in 0..3u64 {
        let i = i + draw(&mut seed) % 5;
        let first = Loud::new("first", i);
        let (left, right) = (Loud::new("left", i), Loud::new("right", i));
        let late;
        let mut last = Loud::new("last", i);
        ckpt::checkpoint!();
        if i % 2 == 0 {
            late = Loud::new("late", i);
        } else {
            late = Loud::new("later", i);
            ckpt::checkpoint!();
        }
        drop(last);
        ckpt::checkpoint!();
        last = Loud::new("again", i);
        ckpt::checkpoint!();
        println!(
            "{} {} {} {} {}",
            first.size, left.size, right.size, late.size, last.size
        );
        if seed % 3 == 0 {
            return;
        }
    }
    println!("= {seed}");
}

#[ckpt::instrument]
pub fn late_guards() {
    for i in 0..3u64 {
        let _only_held;
        if i % 2 == 0 {
            _only_held = Loud::new("even", i);
        } else {
            ckpt::checkpoint!();
            _only_held = Loud::new("odd", i);
        }
        let moved;
        {
            moved = Loud::new("moved", i);
            ckpt::checkpoint!();
        }
        ckpt::checkpoint!();
        drop(moved);
        ckpt::checkpoint!();
        println!("{i}");
    }
}

#[ckpt::instrument]
pub fn changed_while_its_shadow_is_made() {
    let mut v = vec![1u64, 2];
    for s in 0..3u64 {
        let v = 'made: {
            v.reverse();
            if s == 1 {
                break 'made s;
            }
            ckpt::checkpoint!();
            v.push(s);
            s + 1
        };
        for k in 0..2 {
            ckpt::checkpoint!();
            println!("{v} {k}");
        }
    }
    println!("= {v:?}");
}

#[ckpt::instrument]
pub fn reference_to_a_reference() {
    let mut text = String::from("t");
    for i in 0..3 {
        let one = &mut text;
        let two = &mut *one;
        two.push('x');
        ckpt::checkpoint!();
        two.push('y');
        println!("{i} {two}");
    }
    println!("= {text}");
}

#[ckpt::instrument]
pub fn closure_across_a_shadow() {
    let base = 3u64;
    let add = |n: u64| n + base;
    let list = vec![add(1)];
    let list = vec![add(2), list.len() as u64];
    println!("{}", add(list[0]));
    ckpt::checkpoint!();
    println!("= {list:?}");
}

#[ckpt::instrument]
pub fn moved_before_a_loop_that_gives_it_again() {
    let mut held = vec![1u64];
    if held.len() == 1 {
        drop(held);
        let mut turn = 0;
        loop {
            turn += 1;
            held = vec![turn];
            held.push(2);
            ckpt::checkpoint!();
            println!("{held:?}");
            ckpt::checkpoint!();
            if turn > 2 {
                break;
            }
            ckpt::checkpoint!();
        }
        ckpt::checkpoint!();
    } else {
        println!("{held:?}");
    }
}

#[ckpt::instrument]
pub fn value_of_a_block_that_ends_with_a_variable_put_aside() {
    let key = 3u64;
    let list = vec![1u64];
    if list.len() == 1 {
        drop(list);
        let first = 'block: {
            for step in 0..3u64 {
                let held = vec![step];
                ckpt::checkpoint!();
                println!("{held:?}");
                drop(held);
            }
            if key == 7 {
                break 'block 1;
            }
            ckpt::checkpoint!();
            println!("{key}");
            key
        };
        println!("{first}");
    } else {
        ckpt::checkpoint!();
        println!("{list:?}");
    }
}

#[ckpt::instrument]
pub fn given_again_on_one_way_in_a_loop() {
    let mut held = Loud::new("first", 0);
    for turn in 0..3u64 {
        match turn {
            1 => {
                ckpt::checkpoint!();
                println!("{}", held.name);
            }
            _ => {
                let taken = held;
                println!("{}", taken.name);
            }
        }
        held = Loud::new("next", turn);
        match turn {
            0 => println!("zero {}", held.name),
            _ => {
                ckpt::checkpoint!();
                println!("{}", held.name);
            }
        }
        ckpt::checkpoint!();
        println!("{}", held.name);
    }
    println!("{}", held.name);
}
