// PIC1D: electrostatic particle-in-cell code, one dimension, periodic.
// Two-stream instability. After Birdsall & Langdon, with cloud-in-cell weighting.

mod config;
mod diag;
mod field;
mod particles;

use config::config;
use diag::Counter;
use std::sync::atomic::Ordering::Relaxed;

fn setup() -> (field::Grid, Vec<particles::Species>) {
    let c = config();
    let grid = field::Grid::new(c.cells, c.length);
    let beams = vec![
        particles::Species::beam("right", c.particles / 2, c.length, c.drift, c.thermal),
        particles::Species::beam("left", c.particles / 2, c.length, -c.drift, c.thermal),
    ];
    (grid, beams)
}

fn main() {
    config::init(std::env::args().skip(1));
    let c = config();

    let (mut grid, mut beams) = setup();
    let mut history = diag::History::open("history.out").unwrap();

    // half a step back for leap-frog
    field::deposit(&mut grid, &beams);
    grid.solve();
    for b in beams.iter_mut() {
        b.accelerate(&grid, -0.5 * c.dt);
    }

    for it in 1..=c.steps {
        for b in beams.iter_mut() {
            b.accelerate(&grid, c.dt);
            b.advance(c.dt, c.length);
        }
        field::deposit(&mut grid, &beams);
        grid.solve();
        diag::STEPS.fetch_add(1, Relaxed);

        if it % c.every == 0 {
            history.record(it as f64 * c.dt, &grid, &beams).unwrap();
        }
        if it % (10 * c.every) == 0 {
            println!("{:5}  field energy {:.6e}  {}", it, grid.energy(), Counter::all());
        }
    }

    history.close().unwrap();
    diag::phase_space("phase_space.out", &beams).unwrap();
    println!("done: {}", Counter::all());
    diag::timing_report();
}
