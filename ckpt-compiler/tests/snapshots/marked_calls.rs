//! A call that leads to a site: what it borrows exclusively lives in the callee meanwhile.

/// One step.
///
/// # Errors
/// Where the grid is empty.
#[ckpt::instrument]
pub fn advance(grid: &mut Vec<f64>, dt: f64) -> Result<f64, String> {
    for index in 0..grid.len() {
        ckpt::checkpoint!();
        grid[index] += dt;
    }
    grid.first().copied().ok_or_else(|| "empty".to_owned())
}

/// All steps.
///
/// # Errors
/// Where one fails.
#[ckpt::instrument(calls(advance))]
pub fn run(steps: u32) -> Result<f64, String> {
    let mut grid = vec![0.0; 10];
    let mut sum = 0.0;
    for _ in 0..steps {
        sum += advance(&mut grid, 0.5)?;
    }
    Ok(sum + advance(&mut grid, 0.1)?)
}
