//! Values with destructors: what is alive at the site must be dropped once, at its place, after a restart too.

#[derive(ckpt::Checkpoint)]
struct Loud {
    name: String,
    size: u64,
}

impl Drop for Loud {
    fn drop(&mut self) {
        println!("drop {} {}", self.name, self.size);
    }
}

fn loud(name: &str, size: u64) -> Loud {
    println!("make {name}");
    Loud {
        name: name.to_string(),
        size,
    }
}

#[ckpt::instrument]
pub fn dropped_at_the_end_of_scope() {
    let first = loud("first", 1);
    let _second = loud("second", 2);
    for i in 0..2 {
        let inner = loud("inner", i);
        ckpt::checkpoint!();
        println!("{i} {}", first.size + inner.size);
    }
    println!("=");
}

#[ckpt::instrument]
pub fn never_used_again() {
    let _guard = loud("guard", 5);
    ckpt::checkpoint!();
    println!("middle");
    ckpt::checkpoint!();
    println!("=");
}

#[ckpt::instrument]
pub fn dropped_by_hand_between_sites() {
    let guard = loud("g", 1);
    ckpt::checkpoint!();
    println!("held {}", guard.size);
    drop(guard);
    ckpt::checkpoint!();
    println!("=");
}

#[ckpt::instrument]
pub fn shadowed_guards() {
    let guard = loud("a", 1);
    let guard = loud("b", guard.size + 1);
    ckpt::checkpoint!();
    println!("{}", guard.size);
    let guard = loud("c", guard.size + 1);
    ckpt::checkpoint!();
    println!("= {}", guard.size);
}

#[ckpt::instrument]
pub fn replaced_in_a_loop() {
    let mut current = loud("start", 0);
    for i in 1..4 {
        ckpt::checkpoint!();
        current = loud("next", current.size + i);
        println!("{i} {}", current.size);
    }
    println!("= {}", current.size);
}

#[ckpt::instrument(calls(with_guard))]
pub fn guard_in_a_caller() {
    let guard = loud("caller", 3);
    let mut sum = with_guard(guard.size);
    sum += with_guard(sum);
    println!("= {sum}");
}

#[ckpt::instrument]
fn with_guard(n: u64) -> u64 {
    let guard = loud("callee", n);
    for i in 0..2 {
        if i + n == 4 {
            println!("early");
            return guard.size;
        }
        ckpt::checkpoint!();
    }
    guard.size * 2
}

#[ckpt::instrument]
pub fn vector_of_guards() {
    let mut all = Vec::new();
    for i in 0..3 {
        all.push(loud("v", i));
        ckpt::checkpoint!();
        if i == 1 {
            all.remove(0);
        }
        println!("{}", all.len());
    }
    let kept = all.pop();
    ckpt::checkpoint!();
    println!("= {}", kept.map_or(0, |k| k.size));
}

#[ckpt::instrument]
pub fn break_out_of_guarded_blocks() {
    let mut n = 0;
    'outer: loop {
        let _a = loud("a", n);
        loop {
            let _b = loud("b", n);
            n += 1;
            ckpt::checkpoint!();
            if n == 2 {
                continue 'outer;
            }
            if n == 4 {
                break 'outer;
            }
        }
    }
    println!("= {n}");
}

#[ckpt::instrument]
pub fn initialised_late() {
    for i in 0..2 {
        let late;
        if i == 0 {
            late = loud("late", i);
        } else {
            println!("odd");
            late = loud("later", i);
        }
        ckpt::checkpoint!();
        println!("{i}");
        let _kept = late;
    }
    println!("=");
}

#[ckpt::instrument]
pub fn taken_over_and_shadowed() {
    for k in 0..3u64 {
        let first = loud("first", k);
        #[allow(unused_variables)]
        let held = first;
        let held = format!("k{k}");
        ckpt::checkpoint!();
        println!("{held}");
    }
}
