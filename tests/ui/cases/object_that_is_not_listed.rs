#[ckpt::object(Euler, Plain)]
trait Solver {
    fn step(&mut self) -> f64;
}

#[derive(ckpt::Checkpoint)]
struct Euler(f64);
struct Plain;
struct Unlisted;

impl Solver for Euler {
    fn step(&mut self) -> f64 {
        self.0
    }
}
impl Solver for Plain {
    fn step(&mut self) -> f64 {
        0.0
    }
}
impl Solver for Unlisted {
    fn step(&mut self) -> f64 {
        1.0
    }
}

#[ckpt::object(Euler)]
trait Law<T> {
    fn of(&self, x: T) -> f64;
}

#[ckpt::object]
trait Empty {}

#[ckpt::object(Euler)]
struct NoTrait;

fn main() {
    Euler(1.0).step();
    Plain.step();
    Unlisted.step();
}
