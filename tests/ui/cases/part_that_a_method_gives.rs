#[derive(ckpt::Checkpoint)]
struct Simulation {
    grid: Vec<u64>,
    time: u64,
}

impl Simulation {
    fn grid_mut(&mut self) -> &mut Vec<u64> {
        &mut self.grid
    }
}

#[ckpt::instrument]
fn step(grid: &mut Vec<u64>) {
    for k in 0..3 {
        ckpt::checkpoint!();
        grid.push(k);
    }
}

#[ckpt::main(calls(step))]
fn main() {
    let mut simulation = Simulation {
        grid: Vec::new(),
        time: 0,
    };
    step(simulation.grid_mut());
    println!("{}", simulation.time);
}
