//! One array as text: a vector as a column, a matrix row by row; with more dimensions, a line for each element with its index.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use ckpt::store::Restored;

use super::{Named, words_of};
use crate::failure::{AboutFile, Outcome};
use crate::values::select;

/// Writes it.
pub fn write(to: &Path, checkpoint: &Restored, one: &Named<'_>) -> Outcome<()> {
    let (shape, runs) = one.chosen(&one.elements.shape());
    let mut words = Vec::new();
    for run in runs {
        let some = words_of(checkpoint, &one.elements, run.first, run.length);
        words.extend(some.map_err(crate::stores::checkpoint::unreadable(one.node))?);
    }
    let file = File::create(to).about("cannot write", to)?;
    let mut out = BufWriter::new(file);
    lines(&mut out, &shape, &words)
        .and_then(|()| out.flush())
        .about("cannot write", to)
}

fn lines(out: &mut impl Write, shape: &[u64], words: &[String]) -> std::io::Result<()> {
    match shape {
        [] | [_] => words.iter().try_for_each(|word| writeln!(out, "{}", row([word]))),
        [_, columns] => {
            let mut rows = words.chunks((*columns).max(1) as usize);
            rows.try_for_each(|cells| writeln!(out, "{}", row(cells)))
        }
        shape => {
            let names: Vec<String> = (0..shape.len())
                .map(|dimension| format!("i{dimension}"))
                .collect();
            writeln!(out, "{},value", names.join(","))?;
            for (number, word) in words.iter().map(|word| quoted(word)).enumerate() {
                let index = select::index_of(number as u64, shape);
                let index: Vec<String> = index.iter().map(u64::to_string).collect();
                writeln!(out, "{},{word}", index.join(","))?;
            }
            Ok(())
        }
    }
}

/// The cells of a line. One empty cell alone is quoted: readers pass over a line with nothing in it.
pub fn row<'w>(cells: impl IntoIterator<Item = &'w String>) -> String {
    let cells: Vec<String> = cells.into_iter().map(|cell| quoted(cell)).collect();
    match cells.join(",") {
        line if line.is_empty() => "\"\"".to_owned(),
        line => line,
    }
}

/// As RFC 4180 has it.
fn quoted(word: &str) -> String {
    match word.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", word.replace('"', "\"\"")),
        false => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(shape: &[u64], words: &[&str]) -> String {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let mut out = Vec::new();
        lines(&mut out, shape, &words).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_shape_has_its_lines() {
        assert_eq!(of(&[], &["7"]), "7\n");
        assert_eq!(of(&[2], &["a", "b, \"c\""]), "a\n\"b, \"\"c\"\"\"\n");
        assert_eq!(
            of(&[2], &["a", ""]),
            "a\n\"\"\n",
            "a line with nothing in it is no row"
        );
        assert_eq!(of(&[2, 2], &["1", "2", "3", "4"]), "1,2\n3,4\n");
        assert_eq!(of(&[1, 2, 1], &["1", "2"]), "i0,i1,i2,value\n0,0,0,1\n0,1,0,2\n");
    }
}
