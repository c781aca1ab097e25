//! Drawing in points of colour, two for each of the picture's.

use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};

use super::canvas::{Anchor, Canvas, Color};

const DENSITY: f64 = 2.0;
const SIZE: RasterHeight = RasterHeight::Size24;
const WEIGHT: FontWeight = FontWeight::Regular;

/// A white picture that is painted on.
pub struct Png {
    width: usize,
    height: usize,
    points: Vec<u8>,
}

impl Png {
    /// Of this size.
    pub fn new(width: f64, height: f64) -> Png {
        let (width, height) = ((width * DENSITY) as usize, (height * DENSITY) as usize);
        Png {
            width,
            height,
            points: vec![255; width * height * 3],
        }
    }

    /// The bytes of the file.
    pub fn finish(self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder
            .write_header()
            .and_then(|mut writer| writer.write_image_data(&self.points))
            .expect("there are as many points as the picture is large, and a list takes all bytes");
        bytes
    }

    /// Mixes a colour into a point, by so much of 255.
    fn mix(&mut self, x: i64, y: i64, Color(red, green, blue): Color, part: u8) {
        let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) else {
            return;
        };
        if x >= self.width || y >= self.height {
            return;
        }
        let at = 3 * (y * self.width + x);
        for (point, new) in self.points[at..at + 3].iter_mut().zip([red, green, blue]) {
            let part = u32::from(part);
            *point = ((u32::from(*point) * (255 - part) + u32::from(new) * part) / 255) as u8;
        }
    }
}

impl Canvas for Png {
    fn rectangle(&mut self, x: f64, y: f64, width: f64, height: f64, color: Color) {
        let end = |from: f64, size: f64| {
            (((from + size) * DENSITY).round() as i64).max((from * DENSITY).round() as i64 + 1)
        };
        for row in (y * DENSITY).round() as i64..end(y, height) {
            for column in (x * DENSITY).round() as i64..end(x, width) {
                self.mix(column, row, color, 255);
            }
        }
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64), color: Color) {
        let (dx, dy) = ((to.0 - from.0) * DENSITY, (to.1 - from.1) * DENSITY);
        let steps = dx.abs().max(dy.abs()).ceil().max(1.0);
        for step in 0..=steps as i64 {
            let part = step as f64 / steps;
            let (x, y) = (from.0 * DENSITY + dx * part, from.1 * DENSITY + dy * part);
            self.mix(x.round() as i64, y.round() as i64, color, 255);
            // As thick as a point of the picture.
            let (more_x, more_y) = if dx.abs() > dy.abs() { (0, 1) } else { (1, 0) };
            self.mix(x.round() as i64 + more_x, y.round() as i64 + more_y, color, 255);
        }
    }

    fn text(&mut self, x: f64, y: f64, anchor: Anchor, text: &str, color: Color) {
        let step = get_raster_width(WEIGHT, SIZE) as i64;
        let length = step * text.chars().count() as i64;
        let mut left = (x * DENSITY) as i64
            - match anchor {
                Anchor::Start => 0,
                Anchor::Middle => length / 2,
                Anchor::End => length,
            };
        for letter in text.chars() {
            let drawn = get_raster(letter, WEIGHT, SIZE).or_else(|| get_raster('?', WEIGHT, SIZE));
            if let Some(drawn) = drawn {
                // The base line is at four fifths of a letter's height.
                let top = (y * DENSITY) as i64 - drawn.height() as i64 * 4 / 5;
                for (row, line) in drawn.rows().enumerate() {
                    for (column, part) in line.iter().enumerate() {
                        self.mix(left + column as i64, top + row as i64, color, *part);
                    }
                }
            }
            left += step;
        }
    }
}
