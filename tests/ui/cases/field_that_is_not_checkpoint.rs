struct Handle;

#[derive(ckpt::Checkpoint)]
struct Simulation {
    time: f64,
    handle: Handle,
}

#[ckpt::instrument]
fn main() {
    let mut simulation = Simulation { time: 0.0, handle: Handle };
    while simulation.time < 1.0 {
        simulation.time += 0.25;
        ckpt::checkpoint!();
    }
    let _ = &simulation.handle;
}
