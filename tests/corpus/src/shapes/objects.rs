//! Trait objects of the program's own traits, alive over a site and lent to calls.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

#[ckpt::object(Explicit, Midpoint, schemes::Adaptive, Chain)]
pub trait Solver {
    fn step(&mut self, state: &mut [f64], dt: f64) -> f64;
    fn name(&self) -> String {
        "solver".into()
    }
}

#[derive(ckpt::Checkpoint)]
struct Explicit {
    steps: u32,
}

impl Solver for Explicit {
    fn step(&mut self, state: &mut [f64], dt: f64) -> f64 {
        self.steps += 1;
        for value in state.iter_mut() {
            *value -= dt * *value;
        }
        self.steps as f64 * dt
    }
}

#[derive(ckpt::Checkpoint)]
struct Midpoint {
    half: Vec<f64>,
}

impl Solver for Midpoint {
    fn step(&mut self, state: &mut [f64], dt: f64) -> f64 {
        self.half.clear();
        self.half
            .extend(state.iter().map(|value| value - dt / 2.0 * value));
        for (value, half) in state.iter_mut().zip(&self.half) {
            *value -= dt * half;
        }
        self.half.iter().sum()
    }
    fn name(&self) -> String {
        format!("midpoint of {}", self.half.len())
    }
}

mod schemes {
    #[derive(ckpt::Checkpoint)]
    pub(super) struct Adaptive {
        pub(super) rejected: usize,
        pub(super) error: Option<f64>,
    }

    impl super::Solver for Adaptive {
        fn step(&mut self, state: &mut [f64], dt: f64) -> f64 {
            let before: f64 = state.iter().sum();
            state.iter_mut().for_each(|value| *value /= 1.0 + dt);
            let error = (before - state.iter().sum::<f64>()).abs();
            self.rejected += usize::from(self.error.is_some_and(|last| error > last));
            self.error = Some(error);
            error
        }
    }
}

/// Objects inside an object.
#[derive(ckpt::Checkpoint)]
struct Chain {
    links: Vec<Box<dyn Solver>>,
}

impl Solver for Chain {
    fn step(&mut self, state: &mut [f64], dt: f64) -> f64 {
        self.links.iter_mut().map(|link| link.step(state, dt / 2.0)).sum()
    }
    fn name(&self) -> String {
        let names: Vec<String> = self.links.iter().map(|link| link.name()).collect();
        names.join(" then ")
    }
}

fn made(name: &str) -> Box<dyn Solver> {
    match name {
        "explicit" => Box::new(Explicit { steps: 0 }),
        "midpoint" => Box::new(Midpoint { half: vec![] }),
        "chain" => Box::new(Chain {
            links: vec![made("midpoint"), made("explicit"), made("adaptive")],
        }),
        _ => Box::new(schemes::Adaptive {
            rejected: 0,
            error: None,
        }),
    }
}

#[ckpt::instrument]
pub fn boxed_solver_in_a_loop() {
    for name in ["explicit", "midpoint", "adaptive", "chain"] {
        let mut solver = made(name);
        let mut state = vec![1.0, -2.0, 0.5];
        for step in 0..3 {
            let measure = solver.step(&mut state, 0.125);
            ckpt::checkpoint!();
            println!("{} {step} {:016x} {state:?}", solver.name(), measure.to_bits());
        }
    }
    println!("=");
}

#[ckpt::instrument]
pub fn solver_replaced_on_the_way() {
    let mut solver: Box<dyn Solver> = Box::new(Explicit { steps: 3 });
    let mut previous: Option<Box<dyn Solver>> = None;
    let mut state = [4.0];
    for step in 0..4 {
        if step == 2 {
            previous = Some(std::mem::replace(&mut solver, made("midpoint")));
        }
        ckpt::checkpoint!();
        let measure = solver.step(&mut state, 0.25);
        let old = previous.as_mut().map(|previous| previous.step(&mut [1.0], 1.0));
        println!("{step} {measure} {old:?} {state:?}");
    }
    println!("=");
}

#[ckpt::object(Planet, Moon)]
pub trait Body: Send {
    fn pull(&mut self, by: f64);
    fn place(&self) -> f64;
}

#[derive(Clone, ckpt::Checkpoint)]
struct Planet {
    place: f64,
    speed: f64,
}

impl Body for Planet {
    fn pull(&mut self, by: f64) {
        self.speed += by;
        self.place += self.speed;
    }
    fn place(&self) -> f64 {
        self.place
    }
}

#[derive(ckpt::Checkpoint)]
struct Moon(f32, Planet);

impl Body for Moon {
    fn pull(&mut self, by: f64) {
        self.1.pull(by * 2.0);
        self.0 += 0.5;
    }
    fn place(&self) -> f64 {
        self.1.place + f64::from(self.0)
    }
}

fn bodies() -> Vec<Box<dyn Body>> {
    let planet = |place| Planet { place, speed: 0.0 };
    vec![
        Box::new(planet(1.0)),
        Box::new(Moon(0.25, planet(2.0))),
        Box::new(planet(-3.0)),
    ]
}

#[ckpt::instrument]
pub fn list_of_bodies() {
    let mut all = bodies();
    let mut by_name: BTreeMap<String, Box<dyn Body + Send + Sync>> = BTreeMap::new();
    for step in 0..4 {
        let centre: f64 = all.iter().map(|body| body.place()).sum();
        for body in &mut all {
            body.pull(-centre * 0.125);
        }
        if step == 1 {
            all.push(Box::new(Planet {
                place: 7.0,
                speed: 1.0,
            }));
            by_name.insert(
                "first".into(),
                Box::new(Moon(
                    1.0,
                    Planet {
                        place: 0.0,
                        speed: 0.5,
                    },
                )),
            );
        }
        ckpt::checkpoint!();
        by_name.values_mut().for_each(|body| body.pull(centre));
        let places: Vec<f64> = all.iter().chain([]).map(|body| body.place()).collect();
        let named: Vec<f64> = by_name.values().map(|body| body.place()).collect();
        println!("{step} {places:?} {named:?}");
    }
    println!("= {}", all.len());
}

#[ckpt::instrument]
fn advance(solver: &mut dyn Solver, state: &mut [f64], steps: u32) -> f64 {
    let mut measure = 0.0;
    for step in 0..steps {
        measure += solver.step(state, 0.0625);
        ckpt::checkpoint!();
        println!("{} {step} {measure} {state:?}", solver.name());
    }
    measure
}

#[ckpt::instrument(calls(advance))]
fn advance_twice(solver: &mut dyn Solver, state: &mut [f64]) -> f64 {
    let first = advance(solver, state, 2);
    state[0] += first;
    let second = advance(&mut *solver, state, 1);
    first - second
}

/// The caller has the type itself, the callee sees an object.
#[ckpt::instrument(calls(advance_twice, advance))]
pub fn values_lent_as_objects() {
    let mut explicit = Explicit { steps: 0 };
    let mut adaptive = Box::new(schemes::Adaptive {
        rejected: 0,
        error: None,
    });
    let mut boxed = made("chain");
    let mut state = vec![1.0, 2.0];
    let a = advance_twice(&mut explicit, &mut state);
    println!("{a} {}", explicit.steps);
    let b = advance(&mut *adaptive, &mut state, 2);
    println!("{b} {} {:?}", adaptive.rejected, adaptive.error);
    let c = advance_twice(&mut *boxed, &mut state);
    let d = advance(boxed.as_mut(), &mut state, 1);
    println!("= {a} {b} {c} {d} {} {state:?}", explicit.steps);
}

#[derive(ckpt::Checkpoint)]
struct Run {
    solver: Box<dyn Solver>,
    spare: Explicit,
    all: Vec<Explicit>,
    state: Vec<f64>,
}

impl Run {
    #[ckpt::instrument]
    fn go(&mut self, steps: usize) {
        for step in 0..steps {
            let measure = self.solver.step(&mut self.state, 0.5);
            ckpt::checkpoint!();
            println!("{step} {measure} {:?}", self.state);
        }
    }
}

#[ckpt::instrument(calls(go, advance))]
pub fn struct_with_a_boxed_field() {
    let mut run = Run {
        solver: made("midpoint"),
        spare: Explicit { steps: 7 },
        all: vec![
            Explicit { steps: 1 },
            Explicit { steps: 2 },
            Explicit { steps: 3 },
        ],
        state: vec![3.0, 4.0],
    };
    run.go(2);
    advance(&mut *run.solver, &mut run.state, 2);
    advance(&mut run.spare, &mut run.state, 2);
    for index in 0..run.all.len() {
        advance(&mut run.all[index], &mut run.state, 1);
    }
    run.solver = made("chain");
    run.go(2);
    let steps: Vec<u32> = run.all.iter().map(|one| one.steps).collect();
    println!("= {} {steps:?} {:?}", run.spare.steps, run.state);
}

#[ckpt::instrument(calls(advance))]
pub fn element_of_a_list_lent() {
    let mut team = vec![made("explicit"), made("midpoint"), made("adaptive")];
    let mut one = vec![Explicit { steps: 5 }];
    let mut state = [2.0, 8.0];
    for index in 0..team.len() {
        let measure = advance(&mut *team[index], &mut state, 2);
        println!("{index} {measure}");
    }
    advance(&mut one[0], &mut state, 2);
    println!("= {} {state:?}", one[0].steps);
}

#[ckpt::instrument(calls(taken))]
pub fn object_by_value() {
    let solver = made("chain");
    let left = taken(solver, 3);
    println!("= {}", left.name());
}

#[ckpt::instrument]
fn taken(mut solver: Box<dyn Solver>, steps: u32) -> Box<dyn Solver> {
    let mut state = vec![1.0; 3];
    for step in 0..steps {
        solver.step(&mut state, 0.25);
        ckpt::checkpoint!();
        println!("{step} {state:?}");
    }
    solver
}

#[ckpt::instrument]
pub fn shared_boxed_object() {
    let shared: Rc<RefCell<Box<dyn Solver>>> = Rc::new(RefCell::new(made("midpoint")));
    let also = Rc::clone(&shared);
    let mut state = [1.0, 1.5];
    for step in 0..3 {
        shared.borrow_mut().step(&mut state, 0.25);
        ckpt::checkpoint!();
        let measure = also.borrow_mut().step(&mut state, 0.125);
        println!("{step} {measure} {state:?} {}", Rc::strong_count(&also));
    }
    println!("=");
}

#[derive(ckpt::Checkpoint)]
struct Place {
    body: Rc<dyn Body>,
    again: Arc<dyn Body + Send + Sync>,
}

#[ckpt::instrument]
pub fn objects_behind_shared_pointers() {
    let planet = Planet {
        place: 0.5,
        speed: 1.0,
    };
    let one: Rc<dyn Body> = Rc::new(planet.clone());
    let other: Arc<dyn Body + Send + Sync> = Arc::new(Moon(2.0, planet));
    let mut places: Vec<Place> = Vec::new();
    for step in 0..3 {
        places.push(Place {
            body: one.clone(),
            again: Arc::clone(&other),
        });
        ckpt::checkpoint!();
        let sum: f64 = places.iter().map(|it| it.body.place() * it.again.place()).sum();
        println!(
            "{step} {sum} {} {}",
            Rc::strong_count(&one),
            Arc::strong_count(&other)
        );
    }
    println!("= {}", places.iter().all(|it| Rc::ptr_eq(&it.body, &one)));
}

/// Its methods have sites, and each knows its own type.
#[ckpt::object(Idle, Steady, Doubled<u64>)]
trait Walker {
    fn walk(&mut self, from: u64) -> u64;
    fn stay(&self, at: u64) -> u64;
}

#[derive(ckpt::Checkpoint)]
struct Idle;

#[derive(ckpt::Checkpoint)]
struct Steady {
    pace: u64,
}

#[derive(ckpt::Checkpoint)]
struct Doubled<T> {
    pace: T,
}

impl Walker for Idle {
    #[ckpt::instrument]
    fn walk(&mut self, from: u64) -> u64 {
        for k in 0..2 {
            ckpt::checkpoint!();
            println!("idle {k} {from}");
        }
        from
    }
    #[ckpt::instrument]
    fn stay(&self, at: u64) -> u64 {
        for k in 0..2 {
            ckpt::checkpoint!();
            println!("stays idle {k} {at}");
        }
        at
    }
}

impl Walker for Steady {
    #[ckpt::instrument]
    fn walk(&mut self, from: u64) -> u64 {
        let mut at = from;
        for k in 0..2 {
            self.pace += k;
            ckpt::checkpoint!();
            at += self.pace;
            println!("steady {k} {at}");
        }
        at
    }
    #[ckpt::instrument]
    fn stay(&self, at: u64) -> u64 {
        for k in 0..2 {
            ckpt::checkpoint!();
            println!("stays steady {k} {at} {}", self.pace);
        }
        at + self.pace
    }
}

impl Walker for Doubled<u64> {
    #[ckpt::instrument(calls(further))]
    fn walk(&mut self, from: u64) -> u64 {
        let at = self.further(from);
        println!("doubled {at}");
        at
    }
    #[ckpt::instrument]
    fn stay(&self, at: u64) -> u64 {
        for k in 0..2 {
            ckpt::checkpoint!();
            println!("stays doubled {k} {at}");
        }
        at ^ self.pace
    }
}

impl Doubled<u64> {
    #[ckpt::instrument]
    fn further(&mut self, from: u64) -> u64 {
        let mut at = from;
        for k in 0..2 {
            self.pace *= 2;
            ckpt::checkpoint!();
            at += self.pace + k;
            println!("further {k} {at}");
        }
        at
    }
}

#[derive(ckpt::Checkpoint)]
struct Party {
    walkers: [Box<dyn Walker>; 3],
    rest: Vec<Box<dyn Walker>>,
    leader: Box<dyn Walker>,
    at: u64,
}

impl Party {
    #[ckpt::instrument(calls(walk, stay))]
    fn go(&mut self) {
        for turn in 0..3 {
            self.at = self.walkers[turn].walk(self.at);
            self.at = self.leader.walk(self.at);
            self.at = self.walkers[(turn + 1) % 3].stay(self.at);
            println!("{turn} {}", self.at);
        }
        self.at = self.rest[0].walk(self.at);
        println!("{}", self.at);
    }
}

#[ckpt::instrument(calls(go, walk))]
pub fn methods_with_sites_behind_boxes() {
    let mut party = Party {
        walkers: [
            Box::new(Steady { pace: 3 }),
            Box::new(Idle),
            Box::new(Doubled { pace: 1 }),
        ],
        rest: vec![Box::new(Idle)],
        leader: Box::new(Doubled { pace: 5 }),
        at: 1,
    };
    party.go();
    let mut alone: Box<dyn Walker> = Box::new(Steady { pace: party.at });
    let mut at = alone.walk(2);
    println!("{at}");
    let mut others: Vec<Box<dyn Walker>> = vec![Box::new(Idle), Box::new(Steady { pace: 2 })];
    for index in 0..others.len() {
        at = others[index].walk(at);
        println!("{at}");
    }
    for other in others.iter_mut() {
        at = other.walk(at);
        println!("{at}");
    }
    println!("= {at} {}", alone.walk(at));
}
