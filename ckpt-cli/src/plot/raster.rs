//! Cells of an array of any size: many elements become one cell.

use ckpt::store::{Node, Restored};

use crate::failure::Outcome;
use crate::stores::checkpoint::unreadable;
use crate::values::select::Bounds;

/// Numbers in rows and columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Raster {
    /// Rows and columns of the array itself.
    pub shape: [u64; 2],
    /// The indices of its first row and column.
    pub from: [u64; 2],
    /// Rows of cells.
    pub rows: usize,
    /// Columns of cells.
    pub columns: usize,
    /// Row by row.
    pub values: Vec<f64>,
    /// What the elements of each cell range over.
    pub spans: Vec<Span>,
}

/// What the elements of a cell range over.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// The smallest that is finite; infinity where none is.
    pub low: f64,
    /// The largest that is finite; minus infinity where none is.
    pub high: f64,
    /// Whether there is one that is not finite.
    pub is_odd: bool,
}

impl Span {
    const NOTHING: Span = Span {
        low: f64::INFINITY,
        high: f64::NEG_INFINITY,
        is_odd: false,
    };

    fn with(self, value: f64) -> Span {
        match value.is_finite() {
            true => Span {
                low: self.low.min(value),
                high: self.high.max(value),
                ..self
            },
            false => Span { is_odd: true, ..self },
        }
    }

    /// Whether there is a finite number in it.
    pub fn has_numbers(&self) -> bool {
        self.low <= self.high
    }
}

impl Raster {
    /// A line is drawn from the smallest to the largest number of each cell; a map has a colour for each.
    pub fn is_line(&self) -> bool {
        self.rows == 1
    }

    /// What is drawn of the numbers.
    pub fn drawn(&self) -> Vec<f64> {
        match self.is_line() {
            true => self.spans.iter().flat_map(|span| [span.low, span.high]).collect(),
            false => self.values.clone(),
        }
    }

    /// At most so many elements have become one cell.
    pub fn elements_of_a_cell(&self) -> u64 {
        let [rows, columns] = self.shape;
        rows.div_ceil(self.rows.max(1) as u64) * columns.div_ceil(self.columns.max(1) as u64)
    }
}

/// What a cell shows of its elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cell {
    /// Their mean.
    Mean,
    /// The largest; one that is not a number is larger than all.
    Largest,
}

/// More cells than this in one direction cannot be distinguished.
const MOST: u64 = 256;
/// Elements that are read at once.
pub const CHUNK: u64 = 1 << 16;

/// The part of an array that is drawn: of a vector, or in the last two dimensions of anything else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plane {
    /// Rows and columns.
    pub shape: [u64; 2],
    /// The indices of its first row and column.
    pub from: [u64; 2],
    /// Its first element.
    pub first: u64,
    /// So many elements lie from a row to the next.
    pitch: u64,
    /// The indices of the other dimensions.
    pub fixed: Vec<u64>,
}

impl Plane {
    /// The one that has the element of this index.
    pub fn with(index: &[u64], shape: &[u64]) -> Plane {
        let outer = shape.len().saturating_sub(2);
        let shape_of_plane = match shape {
            [] => [1, 1],
            [length] => [1, *length],
            [.., rows, columns] => [*rows, *columns],
        };
        let fixed: Vec<u64> = (0..outer)
            .map(|dimension| index.get(dimension).copied().unwrap_or(0))
            .collect();
        let planes = fixed
            .iter()
            .zip(shape)
            .fold(0, |flat, (at, size)| flat * size + at);
        Plane {
            shape: shape_of_plane,
            from: [0, 0],
            first: planes * shape_of_plane[0] * shape_of_plane[1],
            pitch: shape_of_plane[1],
            fixed,
        }
    }

    /// The part of it that these bounds leave, one for each dimension of the array.
    pub fn within(mut self, bounds: &[Bounds]) -> Plane {
        let (rows, columns) = match bounds {
            [] => return self,
            [columns] => ((0, 1), *columns),
            [.., rows, columns] => (*rows, *columns),
        };
        self.first += rows.0 * self.pitch + columns.0;
        self.from = [rows.0, columns.0];
        self.shape = [rows.1 - rows.0, columns.1 - columns.0];
        self
    }

    /// Its indices as one writes them, where they are not those of the whole array: `[3, .., 10..20]`.
    pub fn words(&self, shape: &[u64]) -> String {
        let whole = Plane::with(&self.fixed, shape);
        if whole == *self && self.fixed.is_empty() {
            return String::new();
        }
        let mut parts: Vec<String> = self.fixed.iter().map(u64::to_string).collect();
        let axes = match shape.len() {
            1 => 1..2,
            _ => 0..2,
        };
        parts.extend(axes.map(|axis| {
            let (from, number) = (self.from[axis], self.shape[axis]);
            match number == whole.shape[axis] {
                true => "..".to_owned(),
                false if number == 1 => from.to_string(),
                false => format!("{from}..{}", from + number),
            }
        }));
        format!("[{}]", parts.join(", "))
    }

    /// Its cells of an array of numbers: the mean of each.
    pub fn of_numbers(&self, checkpoint: &Restored, node: &Node) -> Outcome<Raster> {
        self.raster(Cell::Mean, |first, count| {
            checkpoint.numbers(node, first, count).map_err(unreadable(node))
        })
    }

    /// Its cells of how far the numbers of two arrays are apart: the largest distance of each.
    pub fn of_distances(&self, a: (&Restored, &Node), b: (&Restored, &Node)) -> Outcome<Raster> {
        let read = |(checkpoint, node): (&Restored, &Node), first, count| {
            checkpoint.numbers(node, first, count).map_err(unreadable(node))
        };
        let distance = |(a, b): (&f64, &f64)| match a == b || (a.is_nan() && b.is_nan()) {
            true => 0.0,
            false => (a - b).abs(),
        };
        self.raster(Cell::Largest, |first, count| {
            let (one, other) = (read(a, first, count)?, read(b, first, count)?);
            Ok(one.iter().zip(&other).map(distance).collect())
        })
    }

    /// Its cells; `read` returns so many elements from a place of the array on.
    pub fn raster(&self, cell: Cell, mut read: impl FnMut(u64, u64) -> Outcome<Vec<f64>>) -> Outcome<Raster> {
        let [rows, columns] = self.shape;
        // A line has room for more.
        let most = if rows == 1 { 2 * MOST } else { MOST };
        let (cell_rows, cell_columns) = (rows.clamp(1, MOST), columns.clamp(1, most));
        let mut values = vec![0.0; (cell_rows * cell_columns) as usize];
        let mut counts = vec![0_u64; values.len()];
        let mut spans = vec![Span::NOTHING; values.len()];
        let number = rows * columns;
        // Rows that are not next to each other are read one by one.
        let most = match columns == self.pitch {
            true => CHUNK,
            false => CHUNK.min(columns).max(1),
        };
        let mut start = 0;
        while start < number {
            let of_row = columns - start % columns;
            let length = match columns == self.pitch {
                true => most.min(number - start),
                false => most.min(of_row),
            };
            let first = self.first + start / columns * self.pitch + start % columns;
            let numbers = read(first, length)?;
            for (offset, value) in numbers.into_iter().enumerate() {
                let at = start + offset as u64;
                let (row, column) = (
                    at / columns * cell_rows / rows,
                    at % columns * cell_columns / columns,
                );
                let index = (row * cell_columns + column) as usize;
                counts[index] += 1;
                spans[index] = spans[index].with(value);
                values[index] = match cell {
                    Cell::Mean => values[index] + (value - values[index]) / counts[index] as f64,
                    Cell::Largest if counts[index] == 1 || value.is_nan() || value > values[index] => value,
                    Cell::Largest => values[index],
                };
            }
            start += length;
        }
        Ok(Raster {
            shape: self.shape,
            from: self.from,
            rows: cell_rows as usize,
            columns: cell_columns as usize,
            values,
            spans,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(plane: &Plane, cell: Cell) -> Raster {
        plane
            .raster(cell, |from, count| {
                Ok((from..from + count).map(|at| at as f64).collect())
            })
            .unwrap()
    }

    #[test]
    fn the_plane_of_an_element_is_found() {
        assert_eq!(Plane::with(&[5], &[10]).shape, [1, 10]);
        assert_eq!(Plane::with(&[], &[]).shape, [1, 1]);
        let plane = Plane::with(&[1, 2, 0, 4], &[2, 3, 4, 5]);
        assert_eq!(
            (plane.first, plane.words(&[2, 3, 4, 5]).as_str()),
            (100, "[1, 2, .., ..]")
        );
        assert_eq!(of(&plane, Cell::Mean).values[0], 100.0);
    }

    #[test]
    fn a_part_of_a_plane_is_cut_out() {
        let line = Plane::with(&[], &[10]).within(&[(3, 6)]);
        assert_eq!((line.shape, line.words(&[10]).as_str()), ([1, 3], "[3..6]"));
        assert_eq!(of(&line, Cell::Mean).values, [3.0, 4.0, 5.0]);
        let bounds = [(1, 2), (1, 3), (2, 5)];
        let plane = Plane::with(&[1], &[2, 4, 5]).within(&bounds);
        assert_eq!(plane.words(&[2, 4, 5]), "[1, 1..3, 2..5]");
        assert_eq!(
            of(&plane, Cell::Mean).values,
            [27.0, 28.0, 29.0, 32.0, 33.0, 34.0]
        );
        assert_eq!(of(&plane, Cell::Mean).from, [1, 2]);
        assert_eq!(
            Plane::with(&[], &[4, 5]).within(&[(0, 4), (0, 5)]).words(&[4, 5]),
            ""
        );
    }

    #[test]
    fn a_line_has_every_peak_and_what_is_not_finite() {
        let peak = |at: u64| match at {
            2_000 => 1000.0,
            3_000 => f64::NAN,
            _ => 0.0,
        };
        let plane = Plane::with(&[], &[60_000]);
        let read = |from: u64, count: u64| Ok((from..from + count).map(peak).collect());
        let line = plane.raster(Cell::Mean, read).unwrap();
        assert!(line.is_line());
        assert_eq!(line.drawn().into_iter().fold(0.0, f64::max), 1000.0);
        assert_eq!(line.spans.iter().filter(|span| span.is_odd).count(), 1);
    }

    #[test]
    fn many_elements_become_one_cell() {
        let plane = Plane::with(&[], &[512, 1024]);
        let (mean, largest) = (of(&plane, Cell::Mean), of(&plane, Cell::Largest));
        assert_eq!((mean.rows, mean.columns), (256, 256));
        assert_eq!(
            mean.values[0],
            (0..4).map(|x| f64::from(x) + 512.0).sum::<f64>() / 4.0
        );
        assert_eq!(largest.values[0], 1024.0 + 3.0);
        assert_eq!((mean.spans[0].low, mean.spans[0].high), (0.0, 1027.0));
        assert_eq!(mean.elements_of_a_cell(), 8);
        assert_eq!(of(&Plane::with(&[], &[0]), Cell::Mean).values, [0.0]);
    }
}
