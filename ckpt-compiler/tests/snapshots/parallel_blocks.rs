//! Parallel iterators are cut into blocks, with the site between them.

use rayon::prelude::*;

/// The brightness of rows, and their sum.
#[ckpt::instrument]
pub fn brightness(pixels: &mut [u64], width: usize, gain: u64) -> u64 {
    pixels.par_chunks_mut(width).enumerate().for_each(|(y, row)| {
        ckpt::checkpoint!();
        row.iter_mut().for_each(|pixel| *pixel *= gain + y as u64);
    });
    (0..width)
        .into_par_iter()
        .map(move |x| {
            ckpt::checkpoint!();
            pixels[x] % gain
        })
        .sum()
}

/// Rows of an image, from the last to the first.
#[ckpt::instrument]
pub fn rows(height: u32, width: u32) -> Vec<u32> {
    (0..height)
        .into_par_iter()
        .rev()
        .flat_map(|y| {
            ckpt::checkpoint!();
            (0..width).into_par_iter().map(|x| x * y).collect::<Vec<u32>>()
        })
        .collect()
}
