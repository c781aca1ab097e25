//! `cargo ckpt diff`: where two checkpoints part.

use std::path::{Path, PathBuf};

use ckpt::store::{CheckpointId, Restored};
use serde_json::{Value, json};

use crate::failure::{Failure, Outcome, code};
use crate::lines::{Lines, Part, Ranks, rank_list};
use crate::render::{self, FormatOption};
use crate::stores::{self, StoreOption, Which};
use crate::values::differ::{Difference, Pair, Tolerance};
use crate::values::summary;

/// Compare two checkpoints: the first variables and elements that differ
///
/// A checkpoint is a number or `latest` in the store, or the path of a file in any store. Without a tolerance the bytes
/// decide. With one, two numbers are the same if |a - b| <= ABS + REL * max(|a|, |b|). Of a program of several
/// processes the files of all ranks are compared, each with that of the same rank.
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
    /// Only the files of this rank
    #[arg(long, value_name = "R|all", default_value = "all")]
    rank: Ranks,
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
        let pairs = self.pairs()?;
        let mut compared = Vec::new();
        for (rank, a, b) in pairs {
            let pair = Pair {
                a: &a,
                b: &b,
                tolerance: self.tolerance,
                shown: self.first,
            };
            let list = pair.differences()?;
            compared.push(Compared { rank, a, b, list });
        }
        let same = compared.iter().all(|one| one.list.is_empty());
        if self.format.json() {
            let differences: Vec<Value> = compared.iter().flat_map(Compared::as_json).collect();
            render::print_json(&json!({ "same": same, "differences": differences }));
        } else {
            print(&compared);
        }
        Ok(if same { 0 } else { code::NO })
    }

    /// What is compared with what, and the rank, where there are several.
    fn pairs(&self) -> Outcome<Vec<(Option<u32>, Restored, Restored)>> {
        let (a, b) = (side(&self.a, &self.store)?, side(&self.b, &self.store)?);
        if let (Side::Line(a_lines, a), Side::Line(b_lines, b)) = (&a, &b) {
            let mut pairs = Vec::new();
            for part in a_lines.chosen(self.rank)? {
                let name = a_lines.several.then_some(part.rank);
                pairs.push((name, a_lines.load(part, *a)?, b_lines.load(part, *b)?));
            }
            return Ok(pairs);
        }
        // A file is that of one rank, and is compared with that of the same, unless another is asked for.
        let of_file = [&a, &b].into_iter().find_map(|side| match side {
            Side::File(_, part, _) => Some(part.rank),
            Side::Line(..) => None,
        });
        let rank = match self.rank {
            Ranks::One(rank) => rank,
            Ranks::All => of_file.unwrap_or(0),
        };
        Ok(vec![(None, a.load(rank)?, b.load(rank)?)])
    }
}

/// One of the two that are compared.
enum Side {
    /// All files of a number.
    Line(Lines, CheckpointId),
    /// One file.
    File(Lines, Part, CheckpointId),
}

impl Side {
    fn load(&self, rank: u32) -> Outcome<Restored> {
        match self {
            Side::File(lines, part, id) => lines.load(part, *id),
            Side::Line(lines, id) => {
                let parts = lines.chosen(Ranks::One(rank))?;
                let part = parts
                    .first()
                    .ok_or_else(|| Failure::usage("E3002: there is no such rank"))?;
                lines.load(part, *id)
            }
        }
    }
}

fn side(name: &str, store: &StoreOption) -> Outcome<Side> {
    if let Ok(which) = name.parse::<Which>() {
        let lines = store.lines()?;
        let id = lines.resolve(which)?;
        return Ok(Side::Line(lines, id));
    }
    let path = Path::new(name);
    let Some((id, rank)) = stores::file_of(path).filter(|_| path.is_file()) else {
        return Err(Failure::usage(format!(
            "E3003: `{name}` is neither a checkpoint's number nor its file"
        ))
        .help("write a number, `latest`, or a path such as `heat.ckpt.d/000004.r0.h5`"));
    };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.map_or_else(|| PathBuf::from("."), Path::to_path_buf);
    let lines = Lines::of(&folder);
    Ok(Side::File(lines, Part { rank, folder }, CheckpointId(id)))
}

/// Two files that have been compared.
struct Compared {
    /// Whose they are, where there are several ranks.
    rank: Option<u32>,
    a: Restored,
    b: Restored,
    list: Vec<Difference>,
}

impl Compared {
    fn as_json(&self) -> Vec<Value> {
        let one = |difference: &Difference| {
            let mut value = json!(difference);
            if let Some(rank) = self.rank {
                value["rank"] = json!(rank);
            }
            value
        };
        self.list.iter().map(one).collect()
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

fn print(compared: &[Compared]) {
    let differ: Vec<&Compared> = compared.iter().filter(|one| !one.list.is_empty()).collect();
    if differ.is_empty() {
        if let Some(first) = compared.first() {
            print_head(first);
        }
        match compared.len() {
            1 => render::print("The same.\n"),
            ranks => render::print(&format!("The same on all {ranks} ranks.\n")),
        }
        return;
    }
    for one in &differ {
        print_head(one);
        print_differences(&one.list);
    }
    let ranks: Vec<u32> = differ.iter().filter_map(|one| one.rank).collect();
    let of = rank_list(&ranks).map_or_else(String::new, |ranks| format!(" ({ranks})"));
    let number = differ.iter().map(|one| one.list.len()).sum();
    render::print(&format!("{}{of}\n", render::count(number, "difference")));
}

fn print_head(one: &Compared) {
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
    let rank = one.rank.map_or_else(String::new, |rank| format!("rank {rank}\n"));
    render::print(&format!("{rank}{}{}\n", head("a", &one.a), head("b", &one.b)));
}

fn print_differences(list: &[Difference]) {
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
    render::print("\n");
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
