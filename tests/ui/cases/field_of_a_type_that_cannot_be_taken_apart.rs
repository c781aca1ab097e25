struct Simulation {
    grid: Vec<f64>,
    steps: u64,
}

#[ckpt::instrument]
fn advance(grid: &mut Vec<f64>) {
    for k in 0..3 {
        ckpt::checkpoint!();
        grid.push(f64::from(k));
    }
}
#[ckpt::main(calls(advance))]
fn main() {
    let mut simulation = Simulation {
        grid: Vec::new(),
        steps: 3,
    };
    advance(&mut simulation.grid);
    println!("{}", simulation.steps);
}
