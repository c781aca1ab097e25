//! Values with parts that no file can hold: made again at a restart, and filled.

#[derive(ckpt::Checkpoint)]
struct Simulation<'a> {
    now: Vec<f64>,
    steps: u64,
    #[ckpt(keep)]
    rule: fn(f64) -> f64,
    #[ckpt(keep)]
    weight: Box<dyn Fn(usize) -> f64 + 'a>,
    #[ckpt(keep)]
    table: &'a [f64],
    #[ckpt(skip)]
    scratch: Vec<f64>,
}

fn halved(x: f64) -> f64 {
    x / 2.0
}

fn damped(x: f64) -> f64 {
    x * 0.75 + 0.125
}

impl<'a> Simulation<'a> {
    fn new(size: usize, rule: fn(f64) -> f64, table: &'a [f64]) -> Self {
        Simulation {
            now: (0..size).map(|i| i as f64).collect(),
            steps: 0,
            rule,
            weight: Box::new(move |i| table[i % table.len()] + 1.0),
            table,
            scratch: Vec::new(),
        }
    }

    fn step(&mut self) -> f64 {
        self.scratch.clear();
        self.scratch.extend(&self.now);
        for (i, value) in self.now.iter_mut().enumerate() {
            *value = (self.rule)(*value) * (self.weight)(i) + self.table[0];
        }
        self.steps += 1;
        self.now.iter().sum::<f64>() - self.scratch.iter().sum::<f64>()
    }

    #[ckpt::instrument]
    fn run(&mut self, steps: u64) -> f64 {
        let mut change = 0.0;
        for step in 0..steps {
            change = self.step();
            ckpt::checkpoint!();
            println!("{step} {change} {} {:?}", self.steps, self.now);
        }
        change
    }
}

#[ckpt::instrument]
pub fn struct_with_callbacks() {
    let table = vec![0.5, 0.25, 0.125];
    let size = table.len() + 1;
    #[ckpt(refill)]
    let mut sim = Simulation::new(size, halved, &table);
    for round in 0..4 {
        let change = sim.step();
        ckpt::checkpoint!();
        println!("{round} {change} {} {:?}", sim.steps, sim.now);
    }
    println!("= {} {}", sim.steps, table.len());
}

#[ckpt::instrument(calls(run))]
pub fn lent_to_a_method() {
    let table = [2.0, 3.0];
    #[ckpt(refill)]
    let mut sim: Simulation<'_> = Simulation::new(2, damped, &table);
    let first = sim.run(2);
    sim.now.push(first);
    let second = sim.run(3);
    println!("= {first} {second} {:?}", sim.now);
}

#[derive(ckpt::Checkpoint)]
struct Study<'a> {
    name: String,
    sim: Simulation<'a>,
    #[ckpt(keep)]
    report: fn(&str, f64),
    results: Vec<f64>,
}

fn printed(name: &str, value: f64) {
    println!("{name}: {value}");
}

/// Parts that are filled themselves; fields lent apart from each other.
#[ckpt::instrument(calls(run))]
pub fn nested_and_carved() {
    let table = vec![1.0; 3];
    let rounds = 3;
    #[ckpt(refill)]
    let mut study = Study {
        name: "nested".to_string(),
        sim: Simulation::new(rounds, halved, &table),
        report: printed,
        results: vec![],
    };
    for round in 0..rounds {
        let change = study.sim.run(2);
        (study.report)(&study.name, change);
        study.results.push(change);
        study.name.push('!');
        ckpt::checkpoint!();
        println!("{round} {:?}", study.results);
    }
    println!("= {} {:?}", study.name, study.sim.now);
}

/// Plain values may be filled, too.
#[ckpt::instrument]
pub fn of_a_plain_type() {
    let size = 4usize;
    for round in 0..2 {
        #[ckpt(refill)]
        let mut grid = vec![round as f64; size];
        for i in 0..size {
            grid[i] += i as f64;
            ckpt::checkpoint!();
            println!("{round} {i} {grid:?}");
        }
    }
    println!("=");
}

#[derive(ckpt::Checkpoint, Clone)]
struct Drop {
    at: f64,
    speed: f64,
}

/// What it has of its own is made in front of it, and moves in.
#[derive(ckpt::Checkpoint)]
struct Rain<'a> {
    #[ckpt(keep)]
    wind: &'a [f64],
    drops: Vec<Drop>,
    count: usize,
    place: &'a str,
    log: Vec<String>,
}

impl<'a> Rain<'a> {
    fn over(wind: &'a [f64], place: &'a str, drops: Vec<Drop>) -> Self {
        Rain {
            wind,
            count: drops.len(),
            drops,
            place,
            log: Vec::new(),
        }
    }

    fn fall(&mut self) {
        for drop in &mut self.drops {
            drop.speed += self.wind[self.count % self.wind.len()];
            drop.at += drop.speed;
        }
        self.count += 1;
        if self.count.is_multiple_of(3) {
            self.log.push(format!("{} {}", self.place, self.count));
            self.drops.push(Drop { at: 0.5, speed: 0.0 });
        }
    }
}

fn drops() -> Vec<Drop> {
    vec![Drop { at: 1.0, speed: 0.25 }, Drop { at: 2.0, speed: -0.5 }]
}

#[ckpt::instrument]
pub fn a_literal_of_what_moves() {
    let wind = vec![0.5, -1.0, 0.25];
    let place = "harbour at the mole".split(' ').next().unwrap_or_default();
    let drops = drops();
    let count = drops.len();
    #[ckpt(refill(drops, count, place))]
    let mut rain = Rain {
        wind: &wind,
        log: Vec::with_capacity(drops.len()),
        drops,
        count,
        place,
    };
    for step in 0..5 {
        ckpt::checkpoint!();
        rain.fall();
        println!("{step} {} {:?}", rain.drops[0].at, rain.log);
    }
    println!("{} {} {}", rain.count, rain.drops.len(), wind.len());
}

#[ckpt::instrument]
pub fn a_call_of_what_moves() {
    let wind = vec![0.5, -1.0, 0.25];
    let drops = drops();
    #[ckpt(refill(drops))]
    let mut rain = Rain::over(&wind, "pier", drops);
    rain.fall();
    while rain.count < 7 {
        ckpt::checkpoint!();
        rain.fall();
        println!("{} {:?}", rain.drops[0].at, rain.log);
    }
    for Drop { at, speed } in &rain.drops {
        println!("{at} {speed}");
    }
}

/// Borrows exclusively what others own.
#[derive(ckpt::Checkpoint)]
struct Walk<'a, T> {
    #[ckpt(through)]
    seen: &'a mut Vec<T>,
    #[ckpt(through)]
    state: &'a mut u64,
    steps: u64,
}

impl<'a> Walk<'a, u64> {
    fn new(seen: &'a mut Vec<u64>, state: &'a mut u64) -> Self {
        Walk {
            seen,
            state,
            steps: 0,
        }
    }

    fn step(&mut self) {
        *self.state = self.state.wrapping_mul(31) + 7;
        self.seen.push(*self.state % 100);
        self.steps += 1;
    }

    #[ckpt::instrument]
    fn run(&mut self, steps: u64) {
        for _ in 0..steps {
            self.step();
            ckpt::checkpoint!();
            println!("run {} {:?}", self.steps, self.seen);
        }
    }
}

/// Sites before the borrow, while it lasts, in a method of what borrows, and behind it.
#[ckpt::instrument(calls(run))]
pub fn exclusive_references() {
    let mut seen = vec![1, 2];
    let mut state = 5;
    for round in 0..2 {
        ckpt::checkpoint!();
        println!("before {round} {seen:?} {state}");
        #[ckpt(refill(&mut seen, &mut state))]
        let mut walk = Walk::new(&mut seen, &mut state);
        for _ in 0..2 {
            walk.step();
            ckpt::checkpoint!();
            println!("inside {} {:?}", walk.steps, walk.seen);
        }
        walk.run(2);
        println!("= {} {:?}", walk.steps, walk.state);
        ckpt::checkpoint!();
        println!("behind {round} {seen:?} {state}");
        state += 1;
        seen.truncate(3);
    }
}

#[ckpt::instrument(calls(run))]
fn walk_of(seen: &mut Vec<u64>, state: &mut u64, last: u64) -> u64 {
    println!("{seen:?}");
    #[ckpt(refill(&mut seen, &mut state))]
    let mut walk = Walk {
        seen,
        state,
        steps: last,
    };
    walk.run(2);
    for _ in 0..2 {
        ckpt::checkpoint!();
        walk.step();
    }
    let steps = walk.steps;
    ckpt::checkpoint!();
    *state + steps
}

/// What is borrowed belongs to the caller.
#[ckpt::instrument(calls(walk_of))]
pub fn exclusive_references_of_a_caller() {
    let mut seen = Vec::new();
    let mut states = [3, 4];
    for turn in 0..2 {
        let steps = walk_of(&mut seen, &mut states[1], turn);
        println!("{turn} {steps} {seen:?} {states:?}");
        states[0] += steps;
    }
}
