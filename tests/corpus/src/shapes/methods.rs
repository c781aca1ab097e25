//! Sites in methods, and method calls that lead to sites.

#[derive(Debug, Clone, ckpt::Checkpoint)]
struct Tank {
    level: f64,
    log: Vec<f64>,
    name: String,
}

impl Tank {
    fn new(name: &str) -> Self {
        Tank {
            level: 1.0,
            log: vec![],
            name: name.to_string(),
        }
    }

    #[ckpt::instrument]
    fn fill(&mut self, rate: f64, steps: u32) -> f64 {
        for step in 0..steps {
            self.level += rate / (step + 1) as f64;
            self.log.push(self.level);
            ckpt::checkpoint!();
            println!("{} {step} {:016x}", self.name, self.level.to_bits());
        }
        self.level
    }

    #[ckpt::instrument]
    fn audit(&self) -> usize {
        let mut count = 0;
        for entry in &self.log {
            if *entry > 1.5 {
                count += 1;
            }
            ckpt::checkpoint!();
            println!("{} {entry} {count}", self.name);
        }
        count
    }

    #[ckpt::instrument]
    fn emptied(mut self) -> Vec<f64> {
        while self.level > 0.5 {
            self.level /= 2.0;
            ckpt::checkpoint!();
            self.log.push(self.level);
        }
        println!("{} is empty", self.name);
        self.log
    }

    #[ckpt::instrument(calls(fill, audit))]
    fn day(&mut self) -> usize {
        self.level -= 0.25;
        self.fill(0.5, 2);
        println!("noon {}", self.level);
        let seen = self.audit();
        self.level += seen as f64;
        seen + self.log.len()
    }

    #[ckpt::instrument(calls(search))]
    fn search(&mut self, depth: u32) -> usize {
        let high = self.log.iter().any(|entry| {
            ckpt::checkpoint!();
            println!("{depth} {entry}");
            *entry > 1.2
        });
        self.log.push(depth as f64);
        if depth == 0 {
            return self.log.len();
        }
        self.search(depth - 1) + usize::from(high)
    }

    #[ckpt::instrument(calls(search))]
    fn searched(mut self) -> usize {
        if self.search(2) > 3 {
            return 10;
        }
        self.log.len()
    }

    #[ckpt::instrument(calls(search))]
    fn searched_and_kept(mut self) -> Vec<f64> {
        let found = self.search(1);
        println!("{found} {}", self.name);
        self.log
    }

    #[ckpt::instrument(calls(audit))]
    fn audited(self) -> usize {
        self.audit() + 1
    }

    #[ckpt::instrument]
    fn renamed(mut self, name: &str) -> Self {
        ckpt::checkpoint!();
        self.name = name.to_string();
        println!("renamed to {}", self.name);
        self
    }
}

#[ckpt::instrument(calls(fill))]
pub fn by_mutable_reference() {
    let mut tank = Tank::new("m");
    for i in 0..2 {
        let level = tank.fill(0.3, 2 + i);
        println!("{i} {level} {tank:?}");
    }
    println!("= {tank:?}");
}

#[ckpt::instrument(calls(audit, Tank::fill))]
pub fn by_shared_reference() {
    let mut tank = Tank::new("s");
    tank.fill(0.9, 3);
    let count = tank.audit();
    println!("= {count} {tank:?}");
}

#[ckpt::instrument(calls(emptied))]
pub fn by_value() {
    let mut tank = Tank::new("v");
    tank.level = 5.0;
    let kept = tank.clone();
    let log = tank.emptied();
    println!("= {log:?} {kept:?}");
}

#[ckpt::instrument(calls(day))]
pub fn method_calling_methods() {
    let mut tank = Tank::new("d");
    let mut total = 0;
    while total < 12 {
        total += tank.day();
        println!("{total} {tank:?}");
    }
    println!("= {total}");
}

#[ckpt::instrument(calls(renamed, emptied))]
pub fn chained_receivers() {
    let log = Tank::new("c").renamed("d").renamed("e").emptied();
    println!("= {log:?}");
}

#[ckpt::instrument(calls(renamed))]
pub fn moved_and_given_back() {
    let mut tank = Tank::new("0");
    for i in 1..4 {
        tank = tank.renamed(&format!("n{i}"));
        println!("{tank:?}");
    }
    println!("= {}", tank.name);
}

#[ckpt::instrument(calls(searched, searched_and_kept, audited))]
pub fn receivers_that_are_lent_on() {
    let full = || Tank {
        log: vec![0.5, 1.0, 1.5],
        ..Tank::new("f")
    };
    println!("{}", full().searched());
    let named = full();
    println!("{}", named.searched());
    let again = full();
    println!("{:?}", again.searched_and_kept());
    let last = full();
    println!("= {}", last.audited());
}

#[ckpt::instrument(calls(fill))]
pub fn on_an_element() {
    let mut tanks = vec![Tank::new("a"), Tank::new("b")];
    let mut sum = 0.0;
    for i in 0..tanks.len() {
        sum += tanks[i].fill(i as f64 + 0.5, 2);
        println!("{i} {sum} {tanks:?}");
    }
    println!("= {tanks:?}");
}

#[derive(Debug, ckpt::Checkpoint)]
struct Plant {
    left: Tank,
    right: Tank,
    hours: u32,
}

impl Plant {
    #[ckpt::instrument(calls(fill))]
    fn run(&mut self) {
        for hour in 0..2 {
            self.hours += 1;
            self.left.fill(0.1, 1);
            println!("hour {hour} {}", self.hours);
            self.right.fill(self.left.level, 1);
        }
    }
}

#[ckpt::instrument(calls(run))]
pub fn on_fields_of_self() {
    let mut plant = Plant {
        left: Tank::new("l"),
        right: Tank::new("r"),
        hours: 0,
    };
    plant.run();
    println!("{plant:?}");
    plant.run();
    println!("= {plant:?}");
}

trait Body {
    fn step(&mut self, dt: f64);
    fn energy(&self) -> f64;

    #[ckpt::instrument(calls(step))]
    fn evolve(&mut self, steps: u32) -> f64 {
        let mut worst = 0.0f64;
        for _ in 0..steps {
            self.step(0.1);
            worst = worst.max(self.energy());
            println!("{:016x}", worst.to_bits());
        }
        worst
    }
}

#[derive(Debug, ckpt::Checkpoint)]
struct Spring {
    x: f64,
    v: f64,
}

impl Body for Spring {
    #[ckpt::instrument]
    fn step(&mut self, dt: f64) {
        self.v -= self.x * dt;
        ckpt::checkpoint!();
        self.x += self.v * dt;
    }
    fn energy(&self) -> f64 {
        self.x * self.x + self.v * self.v
    }
}

#[ckpt::instrument(calls(step))]
pub fn trait_method() {
    let mut spring = Spring { x: 1.0, v: 0.0 };
    for i in 0..3 {
        spring.step(0.1);
        Body::step(&mut spring, 0.2);
        println!("{i} {spring:?}");
    }
    println!("= {spring:?}");
}

#[ckpt::instrument(calls(evolve))]
pub fn trait_default_method() {
    let mut spring = Spring { x: 0.5, v: 0.25 };
    let worst = spring.evolve(3);
    println!("= {worst} {spring:?}");
}

#[ckpt::instrument(calls(update))]
pub fn through_another_function() {
    let mut spring = Spring { x: 2.0, v: 0.0 };
    for _ in 0..2 {
        update(&mut spring);
    }
    println!("= {spring:?}");
}

#[ckpt::instrument(calls(step))]
fn update(body: &mut Spring) {
    body.step(0.5);
    println!("{}", body.energy());
    body.step(0.25);
}

#[derive(Debug, ckpt::Checkpoint)]
struct Ring<const N: usize> {
    cells: [u64; N],
}

impl<const N: usize> Ring<N> {
    const TWICE: usize = 2 * N;

    #[ckpt::instrument]
    fn turn(&mut self) -> u64 {
        let mut sum = 0;
        for i in 0..Self::TWICE {
            let at = i % N;
            self.cells[at] += i as u64;
            sum += self.cells[at];
            if i % 3 == 0 {
                ckpt::checkpoint!();
                println!("{i} {sum}");
            }
        }
        sum
    }
}

#[ckpt::instrument(calls(turn))]
pub fn const_generic_receiver() {
    let mut ring = Ring::<3> { cells: [1, 2, 3] };
    let sum = ring.turn();
    println!("= {sum} {ring:?}");
}
