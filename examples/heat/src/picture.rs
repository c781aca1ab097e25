//! PNG in and out: brightness as numbers, and temperatures as colours.

use anyhow::{Context, Result, bail};
use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::Path;

/// A picture as brightness from 0 (black) to 1 (white), row by row.
pub struct Picture {
    pub width: usize,
    pub height: usize,
    pub brightness: Vec<f64>,
}

impl Picture {
    /// Reads a PNG of 8 or 16 bits, grey or colour; colour becomes the mean of its channels.
    pub fn read(path: &Path) -> Result<Picture> {
        let file = File::open(path).with_context(|| format!("cannot open the picture {}", path.display()))?;
        let mut decoder = png::Decoder::new(BufReader::new(file));
        decoder.set_transformations(png::Transformations::EXPAND);
        let mut reader = decoder
            .read_info()
            .with_context(|| format!("{} as a PNG", path.display()))?;
        let Some(size) = reader.output_buffer_size() else {
            bail!("{} is too large", path.display())
        };
        let mut bytes = vec![0; size];
        let info = reader.next_frame(&mut bytes)?;
        let channels = info.color_type.samples();
        let coloured = if channels >= 3 { 3 } else { 1 };
        let samples: Vec<f64> = match info.bit_depth {
            png::BitDepth::Sixteen => bytes
                .chunks_exact(2)
                .map(|b| f64::from(u16::from_be_bytes([b[0], b[1]])) / 65535.0)
                .collect(),
            _ => bytes.iter().map(|b| f64::from(*b) / 255.0).collect(),
        };
        Ok(Picture {
            width: info.width as usize,
            height: info.height as usize,
            brightness: samples
                .chunks_exact(channels)
                .map(|pixel| pixel[..coloured].iter().sum::<f64>() / coloured as f64)
                .collect(),
        })
    }

    /// The brightness on a grid `refine` times finer, by bilinear interpolation between pixel centres.
    pub fn refined(&self, refine: usize) -> impl Iterator<Item = f64> + '_ {
        let place = move |cell: usize, count: usize| {
            let at = ((cell as f64 + 0.5) / refine as f64 - 0.5).clamp(0.0, (count - 1) as f64);
            let low = (at as usize).min(count.saturating_sub(2));
            (low, (low + 1).min(count - 1), at - low as f64)
        };
        (0..self.height * refine).flat_map(move |j| {
            let (top, bottom, down) = place(j, self.height);
            (0..self.width * refine).map(move |i| {
                let (left, right, across) = place(i, self.width);
                let pixel = |row: usize, column: usize| self.brightness[row * self.width + column];
                let above = pixel(top, left) + across * (pixel(top, right) - pixel(top, left));
                let below = pixel(bottom, left) + across * (pixel(bottom, right) - pixel(bottom, left));
                above + down * (below - above)
            })
        })
    }
}

/// Writes `values` (rows of `nx` cells) as a colour PNG, `refine` x `refine` cells averaged into one pixel.
pub fn write(path: &Path, values: &[f64], nx: usize, refine: usize, range: (f64, f64)) -> Result<()> {
    let (width, height) = (nx / refine, values.len() / nx / refine);
    let mut pixels = Vec::with_capacity(3 * width * height);
    for j in 0..height {
        for i in 0..width {
            let cells =
                (j * refine..(j + 1) * refine).flat_map(|row| &values[row * nx + i * refine..][..refine]);
            let mean = cells.sum::<f64>() / (refine * refine) as f64;
            pixels.extend(colour((mean - range.0) / (range.1 - range.0)));
        }
    }
    let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    let mut encoder = png::Encoder::new(BufWriter::new(file), width as u32, height as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header()?.write_image_data(&pixels)?;
    Ok(())
}

/// The colour of glowing metal: 0 is black, then violet, red, orange, yellow; 1 is white.
fn colour(x: f64) -> [u8; 3] {
    const STOPS: [[f64; 3]; 6] = [
        [0.0, 0.0, 4.0],
        [75.0, 12.0, 107.0],
        [165.0, 44.0, 96.0],
        [229.0, 92.0, 48.0],
        [251.0, 180.0, 26.0],
        [252.0, 255.0, 200.0],
    ];
    let at = x.clamp(0.0, 1.0) * 5.0;
    let low = (at as usize).min(4);
    let part = at - low as f64;
    [0, 1, 2].map(|c| (STOPS[low][c] + part * (STOPS[low + 1][c] - STOPS[low][c]) + 0.5) as u8)
}
