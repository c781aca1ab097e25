//! Several variables as one table of text: a column for each, and for each field of a list of structs, a row for each element.
//! A single value is one row.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use ckpt::LoadError;
use ckpt::store::{Node, NodeKind, Restored};
use ckpt::value::DType;

use super::csv;
use super::{Named, words_of};
use crate::failure::{AboutFile, Failure, Outcome, says};
use crate::stores::checkpoint::unreadable;
use crate::values::elements::Elements;
use crate::values::{rows, select};

/// What stands below a heading.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    name: String,
    cells: Vec<String>,
}

/// So many numbers of an element get columns of their own.
const MOST_COLUMNS: u64 = 64;

/// The columns of a variable or a part of one, of the elements in the brackets.
pub fn columns(checkpoint: &Restored, name: &str, node: &Node, inside: Option<&str>) -> Outcome<Vec<Column>> {
    let mut columns = Vec::new();
    all(checkpoint, name, node, &mut columns).map_err(unreadable(node))?;
    let Some(inside) = inside else {
        return Ok(columns);
    };
    for column in &mut columns {
        let bounds = select::bounds(Some(inside), &[column.cells.len() as u64])?;
        if let Some((from, to)) = bounds.first() {
            column.cells = column.cells[*from as usize..*to as usize].to_vec();
        }
    }
    Ok(columns)
}

/// The columns of an array, of the elements that are chosen.
pub fn of_array(checkpoint: &Restored, name: &str, one: &Named<'_>) -> Outcome<Vec<Column>> {
    let (shape, runs) = one.chosen(&one.elements.shape());
    let mut words = Vec::new();
    for run in runs {
        let some = words_of(checkpoint, &one.elements, run.first, run.length);
        words.extend(some.map_err(unreadable(one.node))?);
    }
    let mut columns = Vec::new();
    in_columns(name, &shape, &words, &mut columns);
    Ok(columns)
}

/// Writes them, under their names.
pub fn write(to: &Path, columns: &[Column]) -> Outcome<()> {
    let rows = |column: &Column| column.cells.len();
    let number = columns.first().map_or(0, rows);
    if columns.iter().any(|column| rows(column) != number) {
        let shown = |column: &Column| format!("{}: {}", column.name, rows(column));
        let mut shown: Vec<String> = columns.iter().map(shown).collect();
        shown.truncate(20);
        return Err(
            Failure::usage(says!("E3105: these have not the same number of rows"))
                .because(shown.join(", "))
                .help("name those that belong together, or write an `.npz`"),
        );
    }
    let file = File::create(to).about("cannot write", to)?;
    let mut out = BufWriter::new(file);
    lines(&mut out, columns, number)
        .and_then(|()| out.flush())
        .about("cannot write", to)
}

fn lines(out: &mut impl Write, columns: &[Column], rows: usize) -> std::io::Result<()> {
    writeln!(out, "{}", csv::row(columns.iter().map(|column| &column.name)))?;
    for row in 0..rows {
        writeln!(
            out,
            "{}",
            csv::row(columns.iter().map(|column| &column.cells[row]))
        )?;
    }
    Ok(())
}

/// Adds the columns at and below a node.
fn all(checkpoint: &Restored, name: &str, node: &Node, to: &mut Vec<Column>) -> Result<(), LoadError> {
    if matches!(
        &node.kind,
        NodeKind::Dataset {
            dtype: DType::Text,
            ..
        }
    ) {
        in_columns(name, &[], &[checkpoint.text(node, 0, u64::MAX)?.concat()], to);
        return Ok(());
    }
    if let Some(elements) = Elements::of(node) {
        in_columns(
            name,
            &elements.shape(),
            &words_of(checkpoint, &elements, 0, u64::MAX)?,
            to,
        );
        return Ok(());
    }
    let child = |name: &str| rows::child(node, name);
    let kind = rows::kind(node).unwrap_or_default();
    match (
        kind.as_str(),
        child("present"),
        child("variant"),
        child("lengths"),
    ) {
        ("struct", ..) => {
            for field in node.children() {
                all(checkpoint, &format!("{name}.{}", field.name), field, to)?;
            }
            Ok(())
        }
        ("option", Some(present), ..) => {
            let present = checkpoint.numbers(present, 0, u64::MAX)?;
            let first = to.len();
            match child("value") {
                Some(value) => all(checkpoint, name, value, to)?,
                None => to.push(Column {
                    name: name.to_owned(),
                    cells: Vec::new(),
                }),
            }
            to[first..].iter_mut().for_each(|column| column.spread(&present));
            Ok(())
        }
        ("enum" | "dyn", _, Some(variant), _) => {
            let cells = checkpoint.text(variant, 0, u64::MAX)?;
            to.push(Column {
                name: name.to_owned(),
                cells,
            });
            Ok(())
        }
        // One map: its entries are rows. Of many, each is a cell.
        ("map", _, _, None) => {
            for (part, title) in [("keys", "key"), ("values", "value")] {
                if let Some(part) = child(part) {
                    all(checkpoint, &format!("{name}.{title}"), part, to)?;
                }
            }
            Ok(())
        }
        _ => {
            let number = rows::count(node).unwrap_or(0);
            let cells = (0..number).map(|row| rows::text(checkpoint, node, row));
            to.push(Column {
                name: name.to_owned(),
                cells: cells.collect::<Result<_, _>>()?,
            });
            Ok(())
        }
    }
}

/// The elements of an array: a row for each of the first dimension, and a column for each of the others.
fn in_columns(name: &str, shape: &[u64], words: &[String], to: &mut Vec<Column>) {
    let inner = shape.get(1..).unwrap_or_default();
    let width = inner.iter().product::<u64>();
    if inner.is_empty() || width == 0 {
        to.push(Column {
            name: name.to_owned(),
            cells: words.to_vec(),
        });
        return;
    }
    if width > MOST_COLUMNS {
        let cells = words
            .chunks(width as usize)
            .map(|row| format!("[{}]", row.join(", ")));
        to.push(Column {
            name: name.to_owned(),
            cells: cells.collect(),
        });
        return;
    }
    for at in 0..width {
        let index = select::index_of(at, inner)
            .iter()
            .map(u64::to_string)
            .collect::<Vec<_>>();
        let cells = words.iter().skip(at as usize).step_by(width as usize);
        to.push(Column {
            name: format!("{name}[{}]", index.join(", ")),
            cells: cells.cloned().collect(),
        });
    }
}

impl Column {
    /// Puts an empty cell where there is no value.
    fn spread(&mut self, present: &[f64]) {
        let mut values = std::mem::take(&mut self.cells).into_iter();
        let cell = |is_there: &f64| match *is_there != 0.0 {
            true => values.next().unwrap_or_default(),
            false => String::new(),
        };
        self.cells = present.iter().map(cell).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn a_dimension_more_is_a_column_more() {
        let mut columns = Vec::new();
        in_columns("x", &[], &words(&["7"]), &mut columns);
        in_columns("p", &[1, 2], &words(&["1", "2"]), &mut columns);
        let mut out = Vec::new();
        lines(&mut out, &columns, 1).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "x,p[0],p[1]\n7,1,2\n");
    }

    #[test]
    fn an_option_that_has_no_value_is_an_empty_cell() {
        let mut column = Column {
            name: "x".into(),
            cells: words(&["1", "2"]),
        };
        column.spread(&[0.0, 1.0, 0.0, 1.0]);
        assert_eq!(column.cells, ["", "1", "", "2"]);
        let mut out = Vec::new();
        lines(&mut out, &[column], 4).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "x\n\"\"\n1\n\"\"\n2\n");
    }
}
