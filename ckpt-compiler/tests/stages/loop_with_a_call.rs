#[ckpt::instrument(calls(relax))]
fn solve(grid: &mut Vec<f64>, rows: usize, tolerance: f64) -> usize {
    let mut steps = 0;
    let halves = grid.split_at_mut(rows);
    let (upper, lower) = halves;
    lower[0] = upper[0];
    let mut error = f64::MAX;
    while error > tolerance {
        error = relax(grid, rows);
        steps += 1;
        if steps % 100 == 0 {
            ckpt::checkpoint!();
        }
    }
    println!("{steps} steps");
    steps
}
