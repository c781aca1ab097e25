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
