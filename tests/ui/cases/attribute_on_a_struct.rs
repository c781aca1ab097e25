#[ckpt::instrument]
struct Simulation {
    time: f64,
}

fn main() {
    println!("{}", Simulation { time: 0.0 }.time);
}
