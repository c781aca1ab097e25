//! `cargo ckpt diff`: where two checkpoints part.

use std::path::{Path, PathBuf};

use ckpt::store::Restored;

use crate::failure::{Failure, Outcome, code};
use crate::render::{self, FormatOption};
use crate::stores::{self, StoreOption, Which};
use crate::values::checkpoint;
use crate::values::differ::{Difference, Pair, Tolerance};
use crate::values::summary;

/// Compare two checkpoints: the first variables and elements that differ
///
/// A checkpoint is a number or `latest` in the store, or the path of a file in any store. Without a tolerance the bytes
/// decide. With one, two numbers are the same if |a - b| <= ABS + REL * max(|a|, |b|).
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct Diff {
    /// The first checkpoint
    #[arg(value_name = "A")]
    a: String,
    /// The second checkpoint
    #[arg(value_name = "B")]
    b: String,
    /// How far numbers may be apart: ABS or ABS,REL
    #[arg(long, value_name = "ABS[,REL]", value_parser = tolerance)]
    tolerance: Option<Tolerance>,
    /// How many elements of each variable are shown
    #[arg(long, value_name = "N", default_value_t = 3)]
    first: usize,
    #[command(flatten)]
    store: StoreOption,
    #[command(flatten)]
    format: FormatOption,
}

const EXAMPLE: &str = "\
Example:
  cargo ckpt diff 3 4
  cargo ckpt diff latest other/heat.ckpt.d/000004.r0.h5 --tolerance 1e-12,1e-9

Exit codes: 0 the same, 1 different, 76 no such checkpoint.";

impl Diff {
    /// Compares.
    pub fn perform(&self) -> Outcome<u8> {
        let (a, b) = (self.load(&self.a)?, self.load(&self.b)?);
        let pair = Pair {
            a: &a,
            b: &b,
            tolerance: self.tolerance,
            shown: self.first,
        };
        let list = pair.differences()?;
        if self.format.json() {
            let same = list.is_empty();
            render::print_json(&serde_json::json!({ "same": same, "differences": list }));
        } else {
            print(&a, &b, &list);
        }
        Ok(if list.is_empty() { 0 } else { code::NO })
    }

    fn load(&self, name: &str) -> Outcome<Restored> {
        if let Ok(which) = name.parse::<Which>() {
            return checkpoint::load(&self.store.existing()?, which);
        }
        let path = Path::new(name);
        match (path.is_file(), stores::id_of(path)) {
            (true, Some(id)) => {
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
                checkpoint::load(
                    &folder.map_or_else(|| PathBuf::from("."), Path::to_path_buf),
                    Which::Id(id),
                )
            }
            _ => Err(
                Failure::usage(format!("`{name}` is neither a checkpoint's number nor its file"))
                    .help("write a number, `latest`, or a path such as `heat.ckpt.d/000004.r0.h5`"),
            ),
        }
    }
}

fn tolerance(text: &str) -> Result<Tolerance, String> {
    let number = |text: &str| match text.trim().parse::<f64>() {
        Ok(number) if number >= 0.0 && number.is_finite() => Ok(number),
        _ => Err(format!(
            "`{text}` is not a distance; write for example `1e-12` or `1e-12,1e-9`"
        )),
    };
    match text.split_once(',') {
        Some((absolute, relative)) => Ok(Tolerance {
            absolute: number(absolute)?,
            relative: number(relative)?,
        }),
        None => Ok(Tolerance {
            absolute: number(text)?,
            relative: 0.0,
        }),
    }
}

fn print(a: &Restored, b: &Restored, list: &[Difference]) {
    let head = |name: &str, one: &Restored| {
        let meta = one.meta();
        format!(
            "{name}: {} ({} {}, visit {})\n",
            one.path().display(),
            meta.program,
            meta.version,
            meta.visit
        )
    };
    render::print(&format!("{}{}\n", head("a", a), head("b", b)));
    if list.is_empty() {
        render::print("The same.\n");
        return;
    }
    let mut table = render::table(&["WHERE", "WHAT", "FIRST AT", "A", "B", "LARGEST DISTANCE"]);
    for difference in list {
        let largest = difference.largest.map_or_else(String::new, summary::short);
        let mut row = [
            difference.place.clone(),
            difference.what.clone(),
            String::new(),
            String::new(),
            String::new(),
            largest,
        ];
        if difference.first.is_empty() {
            table.add_row(row);
            continue;
        }
        for element in &difference.first {
            row[2] = if element.index.is_empty() {
                String::new()
            } else {
                format!("{:?}", element.index)
            };
            (row[3], row[4]) = (cut(&element.a), cut(&element.b));
            table.add_row(row);
            row = Default::default();
        }
    }
    render::print_table(&table);
    render::print(&format!("\n{}\n", render::count(list.len(), "difference")));
}

fn cut(text: &str) -> String {
    const LONGEST: usize = 40;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tolerance_has_one_or_two_parts() {
        let both = tolerance("1e-3, 1e-6").unwrap();
        assert_eq!((both.absolute, both.relative), (1e-3, 1e-6));
        assert_eq!(tolerance("0.5").unwrap().relative, 0.0);
        assert!(tolerance("-1").is_err() && tolerance("x").is_err() && tolerance("nan").is_err());
    }
}
