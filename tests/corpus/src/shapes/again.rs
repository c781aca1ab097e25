//! Exclusive borrows that end at a site and are made again after it: of patterns, and of the items of a `for`.

#[derive(Debug, Clone, ckpt::Checkpoint)]
enum State {
    Idle(u64),
    Busy { left: u64, log: Vec<u64> },
}

#[derive(Debug, ckpt::Checkpoint)]
struct Machine {
    state: State,
    turns: u64,
}

impl Machine {
    #[ckpt::instrument]
    fn go(&mut self) {
        match &mut self.state {
            State::Idle(x) => {
                for _ in 0..2 {
                    ckpt::checkpoint!();
                    *x += 1;
                    println!("idle {x}");
                }
            }
            State::Busy { left, log } => {
                while *left > 0 {
                    ckpt::checkpoint!();
                    *left -= 1;
                    log.push(*left);
                    println!("{log:?}");
                }
            }
        }
        self.turns += 1;
    }

    #[ckpt::instrument]
    fn taken_apart(&mut self) -> u64 {
        let Machine { state, turns } = self;
        for i in 0..3 {
            ckpt::checkpoint!();
            *turns += i;
            if let State::Idle(x) = state {
                *x += *turns;
            }
            println!("{turns} {state:?}");
        }
        *turns
    }
}

#[ckpt::instrument(calls(go, taken_apart))]
pub fn variants_of_a_field() {
    let mut machine = Machine {
        state: State::Idle(1),
        turns: 0,
    };
    machine.go();
    println!("{}", machine.taken_apart());
    machine.state = State::Busy {
        left: 3,
        log: Vec::new(),
    };
    machine.go();
    println!("= {machine:?}");
}

#[ckpt::instrument(calls(through_parameters))]
pub fn patterns() {
    let mut slot = Some(3u64);
    if let Some(x) = &mut slot {
        loop {
            ckpt::checkpoint!();
            *x += 1;
            println!("{x}");
            if *x > 5 {
                break;
            }
        }
    }
    if let Some(ref mut x) = slot {
        for i in 0..2 {
            ckpt::checkpoint!();
            *x += i;
            println!("{x}");
        }
    }
    let mut pair = (1, Vec::new());
    through_parameters(&mut slot, &mut vec![vec![1, 2], vec![3]], &mut pair);
    println!("= {slot:?} {pair:?}");
}

#[ckpt::instrument]
fn through_parameters(slot: &mut Option<u64>, stack: &mut Vec<Vec<u64>>, pair: &mut (u64, Vec<u64>)) {
    if let Some(x) = slot {
        for _ in 0..2 {
            ckpt::checkpoint!();
            *x += 1;
            println!("{x}");
        }
    }
    while let Some(top) = stack.last_mut() {
        ckpt::checkpoint!();
        let last = top.pop();
        println!("{last:?}");
        if last.is_none() {
            stack.pop();
        }
    }
    let (a, b) = pair;
    for i in 0..2 {
        ckpt::checkpoint!();
        *a += i;
        b.push(*a);
        println!("{b:?}");
    }
    match slot {
        Some(x) if *x > 100 => println!("{x}"),
        Some(x) if *x > 3 => {
            while *x > 3 {
                ckpt::checkpoint!();
                *x -= 1;
                println!("down {x}");
            }
        }
        Some(x) => {
            ckpt::checkpoint!();
            *x = 9;
        }
        None => {}
    }
}

#[derive(Debug, Clone, ckpt::Checkpoint)]
struct Particle {
    pos: [u64; 2],
    vel: u64,
}

#[ckpt::instrument(calls(rows, halved))]
pub fn items_of_a_for() {
    let mut grid = vec![1u64; 4];
    for x in grid.iter_mut() {
        ckpt::checkpoint!();
        *x += 1;
        println!("{x}");
    }
    for (i, x) in grid.iter_mut().enumerate().rev() {
        ckpt::checkpoint!();
        *x += i as u64;
        println!("{x}");
    }
    for row in grid.chunks_mut(3) {
        ckpt::checkpoint!();
        row[0] += 1;
        println!("{row:?}");
    }
    for x in &mut grid {
        let half = halved(*x);
        *x = half;
        println!("{x}");
    }
    let mut particles = vec![Particle { pos: [1, 2], vel: 3 }; 3];
    for Particle { pos, vel } in particles.iter_mut() {
        ckpt::checkpoint!();
        pos[0] += *vel;
        *vel *= 2;
        println!("{pos:?}");
    }
    for (particle, x) in particles.iter_mut().zip(grid.iter()).skip(1) {
        ckpt::checkpoint!();
        particle.vel += x;
        println!("{particle:?}");
    }
    let mut lists = [vec![1, 2], vec![3; 3], Vec::new()];
    rows(&mut lists);
    println!("= {grid:?} {particles:?} {lists:?}");
}

#[ckpt::instrument]
fn rows(lists: &mut [Vec<u64>]) {
    for (i, row) in lists.iter_mut().enumerate().skip(1) {
        for (j, x) in row.iter_mut().enumerate() {
            ckpt::checkpoint!();
            *x += (i * j) as u64;
            println!("{i} {j} {x}");
        }
        row.push(1);
    }
    let mut total = 0;
    for row in lists {
        for x in row {
            ckpt::checkpoint!();
            *x += 1;
            total += *x;
            println!("{total}");
        }
    }
}

#[ckpt::instrument]
fn halved(x: u64) -> u64 {
    ckpt::checkpoint!();
    x / 2
}

struct Options {
    turns: u64,
    out: Option<String>,
}

fn options() -> Options {
    Options {
        turns: 3,
        out: Some("here".to_string()),
    }
}

#[ckpt::instrument]
pub fn reference_in_a_pattern() {
    #[ckpt(reexecute)]
    let options = options();
    let Options { turns, ref out } = options;
    for i in 0..turns {
        ckpt::checkpoint!();
        println!("{i} {out:?}");
    }
}
