//! The iterator of a slice is made again, and advanced to where it was.

/// The largest difference between neighbours.
#[ckpt::instrument]
pub fn roughness(heights: &[f64]) -> f64 {
    let mut worst: f64 = 0.0;
    for (index, pair) in heights.windows(2).enumerate() {
        ckpt::checkpoint!();
        let step = (pair[1] - pair[0]).abs();
        if step > worst {
            println!("{index}");
            worst = step;
        }
    }
    worst
}
