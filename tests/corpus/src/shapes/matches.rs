//! `match` around a site.

use super::draw;

#[ckpt::instrument]
pub fn on_number_and_range() {
    let mut seed = 2;
    let mut log = String::new();
    for _ in 0..8 {
        let drawn = draw(&mut seed) % 9;
        match drawn {
            0 => log.push('z'),
            1 | 2 => {
                ckpt::checkpoint!();
                log.push('l');
            }
            n @ 3..=5 => {
                log += &n.to_string();
                ckpt::checkpoint!();
                println!("middle {n}");
            }
            other => {
                let twice = other * 2;
                ckpt::checkpoint!();
                log += &twice.to_string();
            }
        }
        println!("{drawn} {log}");
    }
    println!("= {log}");
}

#[derive(Debug, Clone, ckpt::Checkpoint)]
enum Task {
    Wait(u64),
    Work { units: u64, name: String },
    Stop,
}

#[ckpt::instrument]
pub fn on_enum_by_reference() {
    let tasks = vec![
        Task::Wait(3),
        Task::Work {
            units: 2,
            name: String::from("mill"),
        },
        Task::Wait(1),
        Task::Stop,
        Task::Wait(9),
    ];
    let mut clock = 0;
    for task in &tasks {
        match task {
            Task::Wait(time) => {
                clock += time;
                ckpt::checkpoint!();
                println!("waited {time} {clock}");
            }
            Task::Work { units, name } => {
                for unit in 0..*units {
                    clock = clock * 2 + unit;
                    ckpt::checkpoint!();
                    println!("{name} {unit} {clock}");
                }
            }
            Task::Stop => break,
        }
    }
    println!("= {clock} {}", tasks.len());
}

#[ckpt::instrument]
pub fn state_machine() {
    #[derive(Debug, Clone, Copy)]
    enum State {
        Idle,
        Busy(u32),
        Done,
    }
    let mut turns = 0;
    let mut code = 0u32;
    while code < 100 {
        let state = match code % 10 {
            0 => State::Idle,
            9 => State::Done,
            n => State::Busy(n),
        };
        turns += 1;
        match state {
            State::Idle => code += 3,
            State::Busy(n) => code += n,
            State::Done => code += 31,
        }
        ckpt::checkpoint!();
        println!("{turns} {code}");
    }
    println!("= {turns} {code}");
}

#[derive(Debug, Clone, Copy, PartialEq, ckpt::Checkpoint)]
enum Phase {
    Start,
    Middle(u32),
    End,
}

#[ckpt::instrument]
pub fn scrutinee_overwritten_inside() {
    let mut phase = Phase::Start;
    let mut log = Vec::new();
    while phase != Phase::End {
        match phase {
            Phase::Start => {
                phase = Phase::Middle(1);
                log.push(0);
                ckpt::checkpoint!();
                println!("start {phase:?}");
            }
            Phase::Middle(n) if n > 3 => {
                phase = Phase::End;
                ckpt::checkpoint!();
                log.push(n * 10);
                println!("leave {n} {log:?}");
            }
            Phase::Middle(n) => {
                phase = Phase::Middle(n + 2);
                log.push(n);
                ckpt::checkpoint!();
                println!("middle {n} {phase:?} {log:?}");
            }
            Phase::End => unreachable!(),
        }
    }
    println!("= {log:?}");
}

#[ckpt::instrument]
pub fn scrutinee_with_effect() {
    let mut seed = 4;
    let mut sum = 0;
    for _ in 0..6 {
        match draw(&mut seed) % 3 {
            0 => {
                ckpt::checkpoint!();
                sum += 1;
            }
            n => {
                sum += n * 10;
                ckpt::checkpoint!();
                println!("{n}");
            }
        }
        println!("{sum} {seed}");
    }
    println!("= {sum}");
}

#[ckpt::instrument]
pub fn match_as_value() {
    let mut total = 0;
    for i in 0..6u64 {
        let part = match i % 3 {
            0 => 7,
            1 => {
                let square = i * i;
                ckpt::checkpoint!();
                square + 1
            }
            _ => {
                ckpt::checkpoint!();
                total
            }
        };
        total += part;
        println!("{i} {part} {total}");
    }
    println!("= {total}");
}

#[ckpt::instrument]
pub fn on_tuple_and_slice() {
    let rows = vec![vec![1u64], vec![2, 3], vec![], vec![4, 5, 6, 7]];
    let mut sum = 0;
    for (i, row) in rows.iter().enumerate() {
        match (i, row.as_slice()) {
            (0, [only]) => {
                sum += only;
                ckpt::checkpoint!();
                println!("one {only} {sum}");
            }
            (_, [first, .., last]) => {
                sum += first * last;
                ckpt::checkpoint!();
                println!("ends {first} {last} {sum}");
            }
            (at, rest) => {
                ckpt::checkpoint!();
                println!("{at} {rest:?}");
            }
        }
    }
    println!("= {sum}");
}

#[ckpt::instrument]
pub fn on_string() {
    let words = vec![String::from("go"), String::from("turn"), String::from("halt")];
    let mut heading = 0;
    for word in &words {
        match word.as_str() {
            "go" => {
                heading += 1;
                ckpt::checkpoint!();
                println!("go {heading}");
            }
            "turn" => {
                ckpt::checkpoint!();
                heading = -heading * 90;
            }
            other => {
                ckpt::checkpoint!();
                println!("{other} {heading}");
            }
        }
    }
    println!("= {heading}");
}

#[ckpt::instrument]
pub fn guard_that_counts() {
    let mut asked = 0;
    let mut sum = 0;
    for i in 0..5 {
        match i {
            n if {
                asked += 1;
                n % 2 == 0
            } =>
            {
                sum += n;
                ckpt::checkpoint!();
                println!("even {n} {asked}");
            }
            n => {
                ckpt::checkpoint!();
                sum += n * 100;
            }
        }
        println!("{sum} {asked}");
    }
    println!("= {sum} {asked}");
}

#[ckpt::instrument]
pub fn nested_match() {
    let results: Vec<Result<Option<u64>, String>> =
        vec![Ok(Some(4)), Err(String::from("lost")), Ok(None), Ok(Some(6))];
    let mut sum = 1;
    for result in results {
        match result {
            Ok(value) => match value {
                Some(v) => {
                    ckpt::checkpoint!();
                    sum *= v;
                    println!("some {v} {sum}");
                }
                None => {
                    sum += 1;
                    ckpt::checkpoint!();
                    println!("none {sum}");
                }
            },
            Err(error) => {
                sum += error.len() as u64;
                ckpt::checkpoint!();
                println!("{error} {sum}");
            }
        }
    }
    println!("= {sum}");
}

#[ckpt::instrument]
fn tried(seed: &mut u64) -> Result<u64, String> {
    ckpt::checkpoint!();
    let drawn = draw(seed);
    if drawn % 3 == 0 {
        Err(format!("drew {drawn}"))
    } else {
        Ok(drawn)
    }
}

#[ckpt::instrument(calls(tried))]
fn value_of_a_match_on_a_call(seed: &mut u64) -> u64 {
    match tried(seed) {
        Ok(drawn) => drawn,
        Err(text) => {
            println!("{text}");
            text.len() as u64
        }
    }
}

#[ckpt::instrument(calls(tried))]
fn value_of_an_if_let_on_a_call(seed: &mut u64) -> Result<u64, String> {
    if let Ok(drawn) = tried(seed) {
        Ok(drawn)
    } else {
        match tried(seed)? {
            0 => Err(String::from("nothing")),
            n if n % 2 == 0 => Ok(n / 2),
            n => return Ok(n),
        }
    }
}

/// Sites only in what is looked at: the arms are the user's own.
#[ckpt::instrument(calls(tried, value_of_a_match_on_a_call, value_of_an_if_let_on_a_call))]
pub fn on_a_call_with_a_site() {
    let mut seed = 4;
    let mut sum = 0u64;
    for round in 0..6 {
        let text = format!("round {round}");
        sum = sum.wrapping_add(value_of_a_match_on_a_call(&mut seed));
        let tried_again = match value_of_an_if_let_on_a_call(&mut seed) {
            Ok(drawn) => drawn,
            Err(_) => continue,
        };
        for part in tried(&mut seed).iter() {
            sum ^= part;
            println!("part {part}");
        }
        while let Ok(drawn) = tried(&mut seed) {
            sum = sum.wrapping_mul(3).wrapping_add(drawn);
            if drawn % 2 == 0 {
                break;
            }
        }
        println!("{text} {tried_again} {sum}");
    }
    println!("= {sum} {seed}");
}

fn label(round: u64) -> Option<String> {
    (round != 2).then(|| format!("label {}", round / 2))
}

/// What the arms bind is borrowed from a value that only the `match` keeps alive.
#[ckpt::instrument]
pub fn on_a_text_without_an_owner() {
    let mut sum = 0;
    for round in 0..6 {
        match label(round).as_deref() {
            Some("label 1") => println!("one"),
            Some(other) => {
                ckpt::checkpoint!();
                sum += other.len() as u64 + round;
                println!("{other} {sum}");
            }
            None => {
                ckpt::checkpoint!();
                println!("none {sum}");
            }
        }
        match label(round).as_deref().unwrap_or("unknown") {
            "label 2" => {
                ckpt::checkpoint!();
                sum += 1;
            }
            other => println!("not two: {other} {sum}"),
        }
        if let [first, .., last] = label(round).unwrap_or_default().as_bytes() {
            ckpt::checkpoint!();
            sum += u64::from(*first) + u64::from(*last);
            println!("{first} {last} {sum}");
        }
    }
    println!("= {sum}");
}

/// What runs again at a restart where it is needed, and is not needed where the branch has been chosen by it.
#[ckpt::instrument]
pub fn chosen_by_what_would_be_made_again() {
    #[ckpt(reexecute)]
    let words = vec![String::from("3"), String::from("x")];
    match words.first() {
        Some(word) => {
            let n: usize = word.parse().unwrap();
            for i in 0..n {
                ckpt::checkpoint!();
                println!("{i}");
            }
        }
        None => println!("nothing"),
    }
}
