struct Simulation {
    time: f64,
}

#[ckpt::instrument]
fn main() {
    let mut simulation = Simulation { time: 0.0 };
    while simulation.time < 1.0 {
        simulation.time += 0.25;
        ckpt::checkpoint!();
    }
    println!("{}", simulation.time);
}
