//! Makes `terrain.png`, the picture that `heat` starts from: an invented landscape of fractal noise, the
//! same on every machine. `cargo run -p heat --example make-terrain -- examples/heat/terrain.png 256`

use std::io::BufWriter;

/// A number from 0 to 1 for a lattice point, by the SplitMix64 finaliser.
fn noise(octave: u64, x: u64, y: u64) -> f64 {
    let mut z = (octave << 48 ^ x << 24 ^ y).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ z >> 31) >> 11) as f64 / (1_u64 << 53) as f64
}

/// Lattice noise of `cells` cells a side at (x, y) in the unit square, with smooth interpolation.
fn smooth(octave: u64, cells: f64, x: f64, y: f64) -> f64 {
    let (fx, fy) = (x * cells, y * cells);
    let (ix, iy) = (fx as u64, fy as u64);
    let ease = |t: f64| t * t * (3.0 - 2.0 * t);
    let (tx, ty) = (ease(fx - ix as f64), ease(fy - iy as f64));
    let mix = |a: f64, b: f64, t: f64| a + (b - a) * t;
    let row = |j: u64| mix(noise(octave, ix, j), noise(octave, ix + 1, j), tx);
    mix(row(iy), row(iy + 1), ty)
}

/// Height from 0 to 1: ridges where the noise crosses its middle, each octave finer and lower, squared so
/// that the valleys are wide.
fn height(x: f64, y: f64) -> f64 {
    let (mut sum, mut weight, mut total, mut cells) = (0.0, 1.0, 0.0, 3.0);
    for octave in 0..7 {
        let ridge = 1.0 - (2.0 * smooth(octave, cells, x, y) - 1.0).abs();
        sum += weight * ridge;
        total += weight;
        weight *= 0.5;
        cells *= 2.0;
    }
    let h = ((sum / total - 0.35) / 0.6).clamp(0.0, 1.0);
    h * h
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let path = args.next().ok_or("usage: make-terrain FILE.png SIDE")?;
    let side: u32 = args.next().ok_or("usage: make-terrain FILE.png SIDE")?.parse()?;
    let mut bytes = Vec::new();
    for j in 0..side {
        for i in 0..side {
            let at = |k: u32| (f64::from(k) + 0.5) / f64::from(side);
            bytes.extend(((height(at(i), at(j)) * 65535.0 + 0.5) as u16).to_be_bytes());
        }
    }
    let mut encoder = png::Encoder::new(BufWriter::new(std::fs::File::create(path)?), side, side);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::Sixteen);
    encoder.set_compression(png::Compression::High);
    encoder.set_filter(png::Filter::Paeth);
    encoder.write_header()?.write_image_data(&bytes)?;
    Ok(())
}
