//! Pictures of arrays: a heat map of a matrix, a line of a vector. `raster` makes cells of any number of elements,
//! `canvas` says what can be drawn, `svg` and `png` draw it; here are the axes.

mod canvas;
mod png;
pub mod raster;
mod svg;

use std::path::Path;

pub use canvas::Color;
use canvas::{Anchor, Canvas};
use raster::Raster;

use crate::failure::{AboutFile, Failure, Outcome, says};
use crate::values::histogram::Histogram;
use crate::values::summary::short;

/// What is drawn.
#[derive(Debug)]
pub struct Picture {
    /// Above.
    pub title: String,
    /// Under the title: what the colours or the line are.
    pub subtitle: String,
    /// The numbers.
    pub raster: Raster,
    /// The ends of the scale, where they are not those of the numbers: for pictures that stand side by side.
    pub range: Option<(f64, f64)>,
    /// Colours by the logarithm: for differences, which are of all sizes.
    pub logarithmic: bool,
}

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 520.0;
const LEFT: f64 = 90.0;
const TOP: f64 = 70.0;
const INNER_WIDTH: f64 = 540.0;
const INNER_HEIGHT: f64 = 380.0;
const BLACK: Color = Color(20, 20, 20);
const GREY: Color = Color(150, 150, 150);
/// What is not finite.
const ODD: Color = Color(200, 30, 160);
/// Zero, in a logarithmic scale.
const NOTHING: Color = Color(236, 236, 236);

/// Draws into a file, by its ending: `.svg` or `.png`.
pub fn draw(picture: &Picture, to: &Path) -> Outcome<()> {
    let ending = to.extension().and_then(|ending| ending.to_str());
    let bytes = match ending {
        Some("svg") => as_svg(picture).into_bytes(),
        Some("png") => as_png(picture),
        _ => {
            return Err(
                Failure::usage(says!("E3100: `{}` is no name of a picture", to.display()))
                    .help("write a name that ends with `.svg` or `.png`"),
            );
        }
    };
    std::fs::write(to, bytes).about("cannot write", to)
}

/// The picture as text.
pub fn as_svg(picture: &Picture) -> String {
    let mut canvas = svg::Svg::new(WIDTH, HEIGHT);
    paint(picture, &mut canvas);
    canvas.finish()
}

/// The picture as points of colour, which a heat map of many cells is shown in faster.
pub fn as_png(picture: &Picture) -> Vec<u8> {
    let mut canvas = png::Png::new(WIDTH, HEIGHT);
    paint(picture, &mut canvas);
    canvas.finish()
}

/// Bars of how many numbers lie in each part of what they range over.
pub fn histogram_as_svg(title: &str, subtitle: &str, histogram: &Histogram) -> String {
    let mut canvas = svg::Svg::new(WIDTH, HEIGHT);
    canvas.text(LEFT, 28.0, Anchor::Start, title, BLACK);
    canvas.text(LEFT, 50.0, Anchor::Start, subtitle, GREY);
    let most = histogram.counts.iter().copied().max().unwrap_or(0).max(1);
    let width = INNER_WIDTH / histogram.counts.len().max(1) as f64;
    for (index, count) in histogram
        .counts
        .iter()
        .enumerate()
        .filter(|(_, count)| **count > 0)
    {
        let height = *count as f64 / most as f64 * INNER_HEIGHT;
        let (x, y) = (LEFT + index as f64 * width, TOP + INNER_HEIGHT - height);
        canvas.rectangle(x, y, width - 1.0, height, viridis(0.3));
    }
    frame(&mut canvas, Inner::ALL);
    for share in [0.0, 0.5, 1.0] {
        let value = histogram.from + share * (histogram.to - histogram.from);
        let (x, below) = (LEFT + share * INNER_WIDTH, TOP + INNER_HEIGHT + 20.0);
        canvas.text(x, below, Anchor::Middle, &short(value), BLACK);
    }
    for (share, count) in [(0.0, 0), (1.0, most)] {
        let y = TOP + (1.0 - share) * INNER_HEIGHT + 5.0;
        canvas.text(LEFT - 8.0, y, Anchor::End, &count.to_string(), BLACK);
    }
    canvas.finish()
}

fn paint(picture: &Picture, canvas: &mut dyn Canvas) {
    let raster = &picture.raster;
    canvas.text(LEFT, 28.0, Anchor::Start, &picture.title, BLACK);
    let subtitle = format!("{}{}", picture.subtitle, notes(picture));
    canvas.text(LEFT, 50.0, Anchor::Start, &subtitle, GREY);
    let mut scale = Scale::of(raster, picture.logarithmic);
    if let Some((from, to)) = picture.range {
        (scale.from, scale.to) = (from, to);
    }
    let inner = match raster.is_line() && !picture.logarithmic {
        true => {
            line(raster, &scale, canvas);
            Inner::ALL
        }
        false => map(raster, &scale, canvas),
    };
    frame(canvas, inner);
}

/// What has to be known to read the picture.
fn notes(picture: &Picture) -> String {
    let raster = &picture.raster;
    let mut notes = String::new();
    match raster.elements_of_a_cell() {
        0 | 1 => {}
        number if picture.logarithmic => notes += &format!("; the largest of each {number}"),
        number if raster.is_line() => notes += &format!("; smallest to largest of each {number}"),
        number => notes += &format!("; the mean of each {number}"),
    }
    if raster.spans.iter().any(|span| span.is_odd) {
        notes += "; magenta: not finite";
    }
    notes
}

/// Where numbers are drawn.
#[derive(Debug, Clone, Copy)]
struct Inner {
    width: f64,
    height: f64,
}

impl Inner {
    const ALL: Inner = Inner {
        width: INNER_WIDTH,
        height: INNER_HEIGHT,
    };

    /// Elements are squares, unless the array is much longer than wide.
    fn of(shape: [u64; 2]) -> Inner {
        const MOST: f64 = 8.0;
        let [rows, columns] = shape.map(|size| size.max(1) as f64);
        if rows > MOST * columns || columns > MOST * rows {
            return Inner::ALL;
        }
        let side = (INNER_WIDTH / columns).min(INNER_HEIGHT / rows);
        Inner {
            width: side * columns,
            height: side * rows,
        }
    }
}

/// From numbers to 0..1, and to colours.
pub struct Scale {
    from: f64,
    to: f64,
    logarithmic: bool,
}

impl Scale {
    /// From the smallest finite number to the largest; by their logarithm, of those above 0.
    pub fn of(raster: &Raster, logarithmic: bool) -> Scale {
        let shown = raster.drawn().into_iter().filter(|value| value.is_finite());
        let (from, to) = shown
            .filter(|value| !logarithmic || *value > 0.0)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(from, to), value| {
                (from.min(value), to.max(value))
            });
        match from <= to {
            true => Scale {
                from,
                to,
                logarithmic,
            },
            false => Scale {
                from: 0.0,
                to: 1.0,
                logarithmic: false,
            },
        }
    }

    /// Where a number is between the two.
    pub fn share(&self, value: f64) -> f64 {
        let (from, to, value) = match self.logarithmic {
            true => (self.from.log10(), self.to.log10(), value.log10()),
            false => (self.from, self.to, value),
        };
        match to > from {
            true => ((value - from) / (to - from)).clamp(0.0, 1.0),
            false => 0.5,
        }
    }

    /// The number that is so far from the smallest to the largest.
    pub fn at(&self, share: f64) -> f64 {
        match self.logarithmic {
            true => 10_f64.powf(self.from.log10() + share * (self.to.log10() - self.from.log10())),
            false => self.from + share * (self.to - self.from),
        }
    }

    /// Its colour.
    pub fn color(&self, value: f64) -> Color {
        match value {
            value if !value.is_finite() => ODD,
            0.0 if self.logarithmic => NOTHING,
            value => viridis(self.share(value)),
        }
    }
}

/// Matplotlib's map for numbers, which stays in order in grey and for the colour-blind: every eighth of it.
fn viridis(share: f64) -> Color {
    const STOPS: [(f64, f64, f64); 9] = [
        (68.0, 1.0, 84.0),
        (71.0, 45.0, 123.0),
        (59.0, 82.0, 139.0),
        (44.0, 114.0, 142.0),
        (33.0, 145.0, 140.0),
        (40.0, 174.0, 128.0),
        (94.0, 201.0, 98.0),
        (173.0, 220.0, 48.0),
        (253.0, 231.0, 37.0),
    ];
    let at = share * 8.0;
    let low = (at.floor() as usize).min(7);
    let part = at - low as f64;
    let ((a, b, c), (d, e, f)) = (STOPS[low], STOPS[low + 1]);
    let mix = |from: f64, to: f64| (from + (to - from) * part).round() as u8;
    Color(mix(a, d), mix(b, e), mix(c, f))
}

fn map(raster: &Raster, scale: &Scale, canvas: &mut dyn Canvas) -> Inner {
    let inner = Inner::of(raster.shape);
    let (width, height) = (
        inner.width / raster.columns as f64,
        inner.height / raster.rows as f64,
    );
    for (index, value) in raster.values.iter().enumerate() {
        let (row, column) = ((index / raster.columns) as f64, (index % raster.columns) as f64);
        let (x, y) = (LEFT + column * width, TOP + row * height);
        canvas.rectangle(x, y, width, height, scale.color(*value));
    }
    let [rows, columns] = raster.shape;
    // The place of an element is its middle.
    let middle = |index: u64, of: u64| (index as f64 + 0.5) / of.max(1) as f64;
    for index in ends_and_middle(columns) {
        let x = LEFT + middle(index, columns) * inner.width;
        let below = TOP + inner.height + 20.0;
        let index = raster.from[1] + index;
        canvas.text(x, below, Anchor::Middle, &index.to_string(), BLACK);
    }
    // A vector has no rows.
    let (center, below) = (LEFT + inner.width / 2.0, TOP + inner.height + 40.0);
    if rows > 1 {
        for index in ends_and_middle(rows) {
            let y = TOP + middle(index, rows) * inner.height + 5.0;
            let index = raster.from[0] + index;
            canvas.text(LEFT - 8.0, y, Anchor::End, &index.to_string(), BLACK);
        }
        canvas.text(center, below, Anchor::Middle, "column", GREY);
        canvas.text(LEFT - 8.0, TOP - 6.0, Anchor::End, "row", GREY);
    } else {
        canvas.text(center, below, Anchor::Middle, "index", GREY);
    }
    // The scale, beside it.
    const STEPS: usize = 64;
    let right = LEFT + inner.width;
    let step = inner.height / STEPS as f64;
    for index in 0..STEPS {
        let share = 1.0 - (index as f64 + 0.5) / STEPS as f64;
        let y = TOP + index as f64 * step;
        canvas.rectangle(right + 18.0, y, 16.0, step, viridis(share));
    }
    for share in [0.0, 0.5, 1.0] {
        let y = TOP + (1.0 - share) * inner.height + 5.0;
        canvas.text(right + 40.0, y, Anchor::Start, &short(scale.at(share)), BLACK);
        if scale.from == scale.to {
            break;
        }
    }
    inner
}

/// The indices of the first, a middle and the last of so many elements, each once; of few, all.
fn ends_and_middle(number: u64) -> Vec<u64> {
    let last = number.saturating_sub(1);
    match last {
        0..4 => (0..=last).collect(),
        _ => vec![0, last / 2, last],
    }
}

fn line(raster: &Raster, scale: &Scale, canvas: &mut dyn Canvas) {
    let bottom = TOP + INNER_HEIGHT;
    let last = raster.columns.saturating_sub(1).max(1) as f64;
    let x_of = |cell: usize| LEFT + cell as f64 / last * INNER_WIDTH;
    let y_of = |value: f64| TOP + (1.0 - scale.share(value)) * INNER_HEIGHT;
    let color = viridis(0.3);
    let cells: Vec<_> = raster.spans.iter().copied().enumerate().collect();
    for (cell, span) in cells.iter().filter(|(_, span)| span.has_numbers()) {
        if span.low < span.high {
            canvas.line(
                (x_of(*cell), y_of(span.low)),
                (x_of(*cell), y_of(span.high)),
                color,
            );
        }
        if let Some(next) = raster.spans.get(cell + 1).filter(|next| next.has_numbers()) {
            let (from, to) = (span.low / 2.0 + span.high / 2.0, next.low / 2.0 + next.high / 2.0);
            canvas.line((x_of(*cell), y_of(from)), (x_of(cell + 1), y_of(to)), color);
        }
        if cells.len() <= 100 {
            canvas.rectangle(x_of(*cell) - 2.0, y_of(span.high) - 2.0, 4.0, 4.0, color);
        }
    }
    for (cell, _) in cells.iter().filter(|(_, span)| span.is_odd) {
        canvas.rectangle(x_of(*cell) - 1.5, bottom - 10.0, 3.0, 10.0, ODD);
    }
    let of_last = raster.shape[1].saturating_sub(1).max(1) as f64;
    for index in ends_and_middle(raster.shape[1]) {
        let x = LEFT + index as f64 / of_last * INNER_WIDTH;
        let index = raster.from[1] + index;
        canvas.text(x, bottom + 20.0, Anchor::Middle, &index.to_string(), BLACK);
    }
    canvas.text(
        LEFT + INNER_WIDTH / 2.0,
        bottom + 40.0,
        Anchor::Middle,
        "index",
        GREY,
    );
    canvas.text(
        LEFT + INNER_WIDTH + 12.0,
        TOP - 14.0,
        Anchor::Start,
        "value",
        GREY,
    );
    for share in [0.0, 0.5, 1.0] {
        let y = y_of(scale.at(share)) + 5.0;
        canvas.text(
            LEFT + INNER_WIDTH + 12.0,
            y,
            Anchor::Start,
            &short(scale.at(share)),
            BLACK,
        );
        if scale.from == scale.to {
            break;
        }
    }
}

fn frame(canvas: &mut dyn Canvas, inner: Inner) {
    let (right, bottom) = (LEFT + inner.width, TOP + inner.height);
    for (from, to) in [
        ((LEFT, TOP), (right, TOP)),
        ((right, TOP), (right, bottom)),
        ((right, bottom), (LEFT, bottom)),
        ((LEFT, bottom), (LEFT, TOP)),
    ] {
        canvas.line(from, to, BLACK);
    }
}

#[cfg(test)]
mod tests {
    use super::raster::{Cell, Plane};
    use super::*;

    fn picture(rows: usize, columns: usize, logarithmic: bool) -> Picture {
        Picture {
            title: "main/grid <of a & b>".into(),
            subtitle: "f64".into(),
            raster: Plane::with(&[], &[rows as u64, columns as u64])
                .raster(Cell::Mean, |from, count| {
                    Ok((from..from + count).map(|value| value as f64).collect())
                })
                .unwrap(),
            range: None,
            logarithmic,
        }
    }

    #[test]
    fn a_histogram_has_a_bar_for_each_part_that_has_numbers() {
        let histogram = Histogram {
            from: 0.0,
            to: 4.0,
            counts: vec![3, 0, 1, 2],
            not_finite: 0,
        };
        let text = histogram_as_svg("a<b", "f64", &histogram);
        assert_eq!(text.matches("<rect").count(), 1 + 3);
        assert!(
            text.contains("a&lt;b") && text.contains(">4<") && text.contains(">3<"),
            "{text}"
        );
    }

    #[test]
    fn a_heat_map_has_a_cell_for_every_number() {
        let mut canvas = svg::Svg::new(WIDTH, HEIGHT);
        paint(&picture(3, 4, true), &mut canvas);
        let text = canvas.finish();
        assert_eq!(text.matches("<rect").count(), 1 + 12 + 64);
        assert!(text.contains("main/grid &lt;of a &amp; b&gt;"));
        assert!(text.contains("#ececec") && text.contains("#440154") && text.contains("#fde725"));
    }

    #[test]
    fn few_elements_all_have_their_indices() {
        assert_eq!(ends_and_middle(4), [0, 1, 2, 3]);
        assert_eq!(ends_and_middle(1), [0]);
        assert_eq!(ends_and_middle(9), [0, 4, 8]);
    }

    #[test]
    fn a_vector_is_a_line() {
        let mut canvas = svg::Svg::new(WIDTH, HEIGHT);
        paint(&picture(1, 5, false), &mut canvas);
        assert_eq!(canvas.finish().matches("<line").count(), 4 + 4);
    }

    #[test]
    fn a_picture_can_be_read_by_a_decoder() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.png");
        draw(&picture(30, 40, false), &path).unwrap();
        let decoder = ::png::Decoder::new(std::io::BufReader::new(std::fs::File::open(&path).unwrap()));
        let mut reader = decoder.read_info().unwrap();
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut bytes).unwrap();
        assert_eq!(
            (info.width, info.height),
            (1520, 1040),
            "two points for each of the picture"
        );
        let pixel = |x: usize, y: usize| &bytes[3 * (y * info.width as usize + x)..][..3];
        assert_eq!(
            pixel(2 * 91, 2 * 71),
            [68, 1, 84],
            "the first cell has the lowest colour"
        );
        assert_eq!(pixel(2 * 595, 2 * 448), [253, 231, 37], "the last the highest");
        assert!(draw(&picture(1, 1, false), &folder.path().join("a.gif")).is_err());
    }
}
