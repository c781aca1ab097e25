//! What can be drawn.

/// Red, green and blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Color(pub u8, pub u8, pub u8);

impl Color {
    /// The three.
    pub fn parts(self) -> (u8, u8, u8) {
        (self.0, self.1, self.2)
    }
}

/// Which part of a text is at its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// Its beginning.
    Start,
    /// Its middle.
    Middle,
    /// Its end.
    End,
}

/// Places are in points from the corner above, on the left.
pub trait Canvas {
    /// A filled rectangle.
    fn rectangle(&mut self, x: f64, y: f64, width: f64, height: f64, color: Color);
    /// A thin line.
    fn line(&mut self, from: (f64, f64), to: (f64, f64), color: Color);
    /// A text whose base line is at y.
    fn text(&mut self, x: f64, y: f64, anchor: Anchor, text: &str, color: Color);
}
