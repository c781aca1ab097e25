//! `if`, `else if`, `if let` and let chains around a site.

use super::draw;

#[ckpt::instrument]
pub fn if_else_if_else() {
    let mut seed = 1;
    let mut log = String::new();
    for i in 0..8 {
        let drawn = draw(&mut seed) % 4;
        if drawn == 0 {
            log.push('a');
            ckpt::checkpoint!();
            println!("zero {i} {log}");
        } else if drawn == 1 {
            log.push('b');
            println!("one {i} {log}");
        } else if drawn == 2 {
            let twice = drawn * 2 + i;
            ckpt::checkpoint!();
            log += &twice.to_string();
        } else {
            ckpt::checkpoint!();
            log.push('d');
            println!("other {i} {log}");
        }
    }
    println!("= {log}");
}

#[ckpt::instrument]
pub fn condition_changed_before_site() {
    let mut armed = true;
    let mut fired = 0;
    for i in 0..4 {
        if armed {
            armed = false;
            fired += i + 1;
            ckpt::checkpoint!();
            println!("fired {fired} {armed}");
        } else {
            armed = true;
            println!("armed");
        }
    }
    println!("= {fired}");
}

#[ckpt::instrument]
pub fn condition_with_effect() {
    let mut calls = 0;
    let mut step = || {
        calls += 1;
        calls
    };
    let first = step();
    let second = step();
    let mut n = first + second;
    let mut grow = 0;
    while n < 40 {
        if {
            grow += 1;
            grow
        } % 2
            == 1
        {
            n += grow;
            ckpt::checkpoint!();
            println!("odd {n} {grow}");
        }
        n += 1;
    }
    println!("= {n} {grow}");
}

#[ckpt::instrument]
pub fn if_as_value() {
    let mut total = 0;
    for i in 0..5u64 {
        let part = if i % 2 == 0 {
            let base = i * 10;
            ckpt::checkpoint!();
            base + 1
        } else {
            i
        };
        total = total * 2 + part;
        println!("{i} {part} {total}");
    }
    println!("= {total}");
}

#[ckpt::instrument]
pub fn if_let_copied_value() {
    let table = [Some(4u64), None, Some(6)];
    let mut sum = 0;
    for i in 0..table.len() {
        if let Some(value) = table[i] {
            sum += value;
            ckpt::checkpoint!();
            sum *= value;
            println!("{i} {value} {sum}");
        } else {
            ckpt::checkpoint!();
            println!("{i} none {sum}");
        }
    }
    println!("= {sum}");
}

#[ckpt::instrument]
pub fn if_let_by_reference() {
    let name: Option<String> = Some(String::from("calypso"));
    let mut count = 0;
    if let Some(text) = &name {
        for letter in text.chars() {
            count = count * 3 + letter as u64 % 7;
            ckpt::checkpoint!();
            println!("{text} {letter} {count}");
        }
    }
    println!("= {name:?} {count}");
}

#[ckpt::instrument]
pub fn if_let_on_a_call_with_effect() {
    let mut stack = vec![3u64, 1, 4, 1, 5];
    let mut sum = 0;
    for _ in 0..7 {
        if let Some(top) = stack.pop() {
            sum = sum * 10 + top;
            ckpt::checkpoint!();
            println!("{top} {sum} {stack:?}");
        } else {
            ckpt::checkpoint!();
            println!("empty {sum}");
            stack.push(sum % 7);
        }
    }
    println!("= {sum} {stack:?}");
}

#[ckpt::instrument]
pub fn if_let_scrutinee_overwritten_inside() {
    let mut slot = Some(5u64);
    let mut log = Vec::new();
    for i in 0..4 {
        if let Some(value) = slot {
            slot = None;
            log.push(value);
            ckpt::checkpoint!();
            println!("{value} {slot:?} {log:?}");
        } else {
            slot = Some(i * 11);
            ckpt::checkpoint!();
            println!("filled {slot:?}");
        }
    }
    println!("= {log:?}");
}

#[ckpt::instrument]
pub fn if_let_taken() {
    let mut slot = Some(String::from("token"));
    let mut seen = 0;
    for i in 0..3 {
        if let Some(token) = slot.take() {
            seen += token.len();
            ckpt::checkpoint!();
            println!("{i} {token} {slot:?}");
            if i == 0 {
                slot = Some(token + "s");
            }
        }
    }
    println!("= {seen} {slot:?}");
}

#[ckpt::instrument]
pub fn if_let_else_if_let() {
    let mut seed = 9;
    let mut sum = 0;
    for _ in 0..6 {
        let drawn = draw(&mut seed) % 6;
        let small = (drawn < 2).then_some(drawn);
        let even = (drawn % 2 == 0).then_some(drawn / 2);
        if let Some(s) = small {
            ckpt::checkpoint!();
            sum += s + 1;
        } else if let Some(e) = even {
            sum += e * 10;
            ckpt::checkpoint!();
        } else if drawn == 3 {
            ckpt::checkpoint!();
            sum *= 2;
        } else {
            sum += 1000;
        }
        println!("{drawn} {sum}");
    }
    println!("= {sum}");
}

#[ckpt::instrument]
pub fn nested_branches() {
    let mut a = 0u32;
    let mut b = 10u32;
    while a < b {
        if a % 2 == 0 {
            if b > 7 {
                b -= 1;
                ckpt::checkpoint!();
                println!("inner {a} {b}");
            } else {
                a += 1;
                if a > 2 {
                    ckpt::checkpoint!();
                    println!("deep {a} {b}");
                }
            }
        }
        a += 1;
        println!("{a} {b}");
    }
    println!("= {a} {b}");
}

#[ckpt::instrument]
pub fn site_in_an_else_branch_only() {
    let mut sum = 0u64;
    for i in 0..6u64 {
        if i % 3 == 0 {
            sum += 100;
        } else {
            ckpt::checkpoint!();
            sum += i;
        }
        println!("{i} {sum}");
    }
    println!("= {sum}");
}

/// What only another branch uses need not be something that a checkpoint can hold.
#[ckpt::instrument]
pub fn value_for_another_branch() {
    #[ckpt(elsewhere)]
    let other = std::thread::Builder::new();
    #[ckpt(elsewhere)]
    let mut help = vec![std::thread::Builder::new().name("help".into())];
    let wanted = Some(3u64);
    match wanted {
        Some(n) => {
            let mut sum = 0;
            for i in 0..n {
                ckpt::checkpoint!();
                sum += i;
                println!("{sum}");
            }
        }
        None => {
            help.push(other);
            println!("{}", help.len());
        }
    }
    println!("=");
}

#[ckpt::instrument]
pub fn condition_with_a_value_for_its_else() {
    let mut seed = 1;
    for round in 0..4 {
        #[ckpt(elsewhere)]
        let other = std::thread::Builder::new();
        if draw(&mut seed) % 2 == 0 {
            println!("even {round}");
            ckpt::checkpoint!();
            println!("{seed}");
        } else {
            let other = other.name("odd".into());
            println!("odd {round} {}", format!("{other:?}").contains("odd"));
        }
    }
}
