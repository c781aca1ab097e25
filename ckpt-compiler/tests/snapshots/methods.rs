//! Methods: the receiver is a parameter like others.

/// A simulation.
#[derive(ckpt::Checkpoint)]
pub struct Simulation {
    time: f64,
    cells: Vec<f64>,
}

impl Simulation {
    /// Runs to the end.
    #[ckpt::instrument(calls(step))]
    pub fn run(&mut self, end: f64) {
        let dt = 0.25;
        while self.time < end {
            self.step(dt);
            self.time += dt;
        }
    }

    #[ckpt::instrument]
    fn step(&mut self, dt: f64) {
        for index in 0..self.cells.len() {
            ckpt::checkpoint!();
            self.cells[index] += dt;
        }
    }
}
