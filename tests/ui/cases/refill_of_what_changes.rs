#[derive(ckpt::Checkpoint)]
struct Run {
    state: f64,
    #[ckpt(keep)]
    rule: fn(f64) -> f64,
}

impl Run {
    fn new(state: f64) -> Self {
        Run {
            state,
            rule: f64::sqrt,
        }
    }
}

#[ckpt::instrument]
fn input() {
    let mut start = 1.0;
    #[ckpt(refill)]
    let mut run = Run::new(start);
    while run.state < 2.0 {
        ckpt::checkpoint!();
        start += 0.5;
        run.state = (run.rule)(start);
    }
}

#[ckpt::instrument]
fn exchanged() {
    #[ckpt(refill)]
    let mut run = Run::new(0.0);
    for k in 0..3 {
        ckpt::checkpoint!();
        run = Run::new(run.state + f64::from(k));
    }
}

#[ckpt::instrument]
fn parameter(#[ckpt(refill)] run: &Run) {
    for _ in 0..3 {
        ckpt::checkpoint!();
        println!("{}", run.state);
    }
}

#[ckpt::instrument]
fn two(run: &Run) {
    #[ckpt(refill)]
    let (a, b) = (Run::new(0.0), run);
    for _ in 0..3 {
        ckpt::checkpoint!();
        println!("{} {}", a.state, b.state);
    }
}

#[ckpt::instrument]
fn unmoved(start: f64, other: Vec<u8>) {
    #[ckpt(refill(other))]
    let run = Run::new(start);
    for _ in 0..3 {
        ckpt::checkpoint!();
        println!("{} {other:?}", run.state);
    }
}

fn main() {
    unmoved(1.0, Vec::new());
    input();
    exchanged();
    parameter(&Run::new(1.0));
    two(&Run::new(1.0));
}
