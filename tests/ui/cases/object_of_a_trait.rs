trait Solver {
    fn step(&mut self) -> f64;
}

#[derive(ckpt::Checkpoint)]
struct Euler(f64);

impl Solver for Euler {
    fn step(&mut self) -> f64 {
        self.0 += 0.5;
        self.0
    }
}

#[derive(ckpt::Checkpoint)]
struct Run {
    solver: Box<dyn Solver>,
    rule: Box<dyn Fn(f64) -> f64>,
}

fn run(solver: Box<dyn Solver>) -> Run {
    Run {
        solver,
        rule: Box::new(|x| x / 2.0),
    }
}

#[ckpt::instrument]
fn advance(solver: &mut dyn Solver) {
    while solver.step() < 2.0 {
        ckpt::checkpoint!();
    }
}

#[ckpt::main(calls(advance))]
fn main() {
    let mut solver: Box<dyn Solver + Send> = Box::new(Euler(0.0));
    advance(&mut *solver);
    let mut run = run(solver);
    while run.solver.step() < 4.0 {
        ckpt::checkpoint!();
        println!("{}", (run.rule)(1.0));
    }
}
