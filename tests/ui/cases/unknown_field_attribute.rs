#[derive(ckpt::Checkpoint)]
struct Simulation {
    #[ckpt(ignore)]
    time: f64,
}

fn main() {
    println!("{}", Simulation { time: 0.0 }.time);
}
