//! Drawing as text.

use std::fmt::Write;

use super::canvas::{Anchor, Canvas, Color};
use crate::render::escaped;

/// A drawing that grows.
pub struct Svg {
    text: String,
}

impl Svg {
    /// An empty one of this size.
    pub fn new(width: f64, height: f64) -> Svg {
        let text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
             font-family=\"sans-serif\" font-size=\"14\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
        );
        Svg { text }
    }

    /// The whole.
    pub fn finish(mut self) -> String {
        self.text += "</svg>\n";
        self.text
    }
}

fn hex(Color(red, green, blue): Color) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

impl Canvas for Svg {
    fn rectangle(&mut self, x: f64, y: f64, width: f64, height: f64, color: Color) {
        // Cells overlap a little: seams would show otherwise.
        let (width, height) = (width + 0.3, height + 0.3);
        let _ = writeln!(
            self.text,
            "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" fill=\"{}\"/>",
            hex(color)
        );
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64), color: Color) {
        let _ = writeln!(
            self.text,
            "<line x1=\"{:.2}\" y1=\"{:.2}\" x2=\"{:.2}\" y2=\"{:.2}\" stroke=\"{}\"/>",
            from.0,
            from.1,
            to.0,
            to.1,
            hex(color)
        );
    }

    fn text(&mut self, x: f64, y: f64, anchor: Anchor, text: &str, color: Color) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = escaped(text);
        let _ = writeln!(
            self.text,
            "<text x=\"{x:.2}\" y=\"{y:.2}\" text-anchor=\"{anchor}\" fill=\"{}\">{text}</text>",
            hex(color)
        );
    }
}
