//! `cargo ckpt export`: values of a checkpoint for other programs.

use std::path::PathBuf;

use ckpt::store::{Node, Restored};
use serde_json::json;

use crate::commands::inspect::indexed_or_not;
use crate::export::{self, Named, table};
use crate::failure::{Failure, Outcome, says};
use crate::output;
use crate::render;
use crate::stores::checkpoint::unreadable;
use crate::stores::{StoreArgs, Which, WhichOnes};
use crate::values::elements::Elements;
use crate::values::find::{Found, OF_THREADS, find, waits_for_threads, with_elements};
use crate::values::place::{Inside, array_in_element};
use crate::values::{rows, select};

/// Write values of a checkpoint into a file of numpy or a table
///
/// An `.npz` has an array for every value, under `function/variable`, with the parts of structs as `function/variable.part`:
/// `numpy.load(FILE)["main/grid"]`. A `.csv` has one array as it is, or variables of one length as columns with their names
/// above: a column for each field of a list of structs, an empty cell for `None`, a variant's name, two columns for a map.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct Export {
    /// Number of the checkpoint, or `latest`, which it is without; a VAR alone is that of the latest
    #[arg(value_name = "ID")]
    which: Option<String>,
    /// The variables, parts of them or some elements, as for `inspect`; all of the checkpoint where none is named
    #[arg(value_name = "VAR")]
    variables: Vec<String>,
    /// All of the checkpoint, as where no variable is named
    #[arg(long, conflicts_with = "variables")]
    all: bool,
    /// The file
    #[arg(long, value_name = "FILE.npz|csv")]
    to: PathBuf,
    /// Whose file it is, of a program of several processes
    #[arg(long, value_name = "R", default_value_t = 0)]
    rank: u32,
    #[command(flatten)]
    store: StoreArgs,
}

const EXAMPLE: &str = "\
Example:
  cargo ckpt export --to state.npz                  all of the newest
  cargo ckpt export energy --to energy.csv
  cargo ckpt export energies speeds --to both.csv   two columns
  cargo ckpt export sim.bodies --to bodies.csv      a column for each field
  cargo ckpt export 12 sim.pos --to pos.csv
  cargo ckpt export 12 'sim.pos[0..10]' 'sim.bodies[3]' --to some.npz

Exit codes: 0 done, 2 no such variable, or it does not fit, 76 no such checkpoint, 78 it is damaged.";

impl Export {
    /// Writes.
    pub fn perform(&self) -> Outcome<u8> {
        let lines = self.store.lines()?;
        let (which, variables) = self.chosen()?;
        let id = lines.resolve(which)?;
        let checkpoint = lines.load(lines.part(self.rank)?, id)?;
        let ending = self.to.extension().and_then(|ending| ending.to_str());
        let mut list = match self.all || variables.is_empty() {
            true => export::all(&checkpoint),
            false => Vec::new(),
        };
        let mut columns = Vec::new();
        for one in list.iter().filter(|_| ending == Some("csv")) {
            columns.extend(table::columns(&checkpoint, &one.name, one.node, None)?);
        }
        let is_table = ending == Some("csv");
        // One array is written as it is; all else has headings.
        let mut is_array = variables.len() == 1;
        for text in variables {
            let part = part_of(&checkpoint, text, is_table)?;
            match part.inside {
                _ if !is_table => {}
                Some((node, brackets)) => {
                    is_array = false;
                    columns.extend(table::columns(
                        &checkpoint,
                        &part.name,
                        node,
                        brackets.as_deref(),
                    )?);
                }
                None => {
                    for one in &part.arrays {
                        columns.extend(table::of_array(&checkpoint, &part.name, one)?);
                    }
                }
            }
            list.extend(part.arrays);
        }
        match (ending, list.as_slice()) {
            (Some("npz"), all) => export::write_npz(&self.to, &checkpoint, all)?,
            (Some("csv"), [one]) if is_array => export::write_csv(&self.to, &checkpoint, one)?,
            (Some("csv"), _) => table::write(&self.to, &columns)?,
            _ => {
                return Err(Failure::usage(says!(
                    "E3106: `{}` is no name of an exported file",
                    self.to.display()
                ))
                .help("write a name that ends with `.npz` or `.csv`"));
            }
        }
        let written = match is_table && !is_array {
            true => render::count(columns.len(), "column"),
            false => render::count(list.len(), "array"),
        };
        self.tell(&list, &written);
        Ok(0)
    }

    /// The checkpoint, and the variables of it. A word that is no checkpoint is a variable.
    fn chosen(&self) -> Outcome<(Which, Vec<&String>)> {
        let first = self.which.as_ref();
        let which = first.and_then(|word| word.parse::<Which>().ok());
        if let Some(word) = first.filter(|word| word.parse() == Ok(WhichOnes::All)) {
            return Err(Failure::usage(says!("E3116: `{word}` is no checkpoint"))
                .because("a file has the values of one")
                .help("name one, or write a file for each: `cargo ckpt list` has their numbers"));
        }
        let alone = first.filter(|_| which.is_none());
        let variables: Vec<&String> = alone.into_iter().chain(&self.variables).collect();
        Ok((which.unwrap_or(Which::Latest), variables))
    }

    fn tell(&self, list: &[Named<'_>], written: &str) {
        let names: Vec<&str> = list.iter().map(|one| one.name.as_str()).collect();
        if self.store.json() {
            render::print_json(&json!({ "file": self.to, "names": names }));
            return;
        }
        render::print(&format!("Written: {written}, in {}\n", self.to.display()));
    }
}

/// What is written of a variable, or of a part of one.
struct Part<'c> {
    /// As it was typed, without brackets.
    name: String,
    /// Its arrays.
    arrays: Vec<Named<'c>>,
    /// Where it is no array, but has columns: the node, and the rows that are chosen.
    inside: Option<(&'c Node, Option<String>)>,
}

fn part_of<'c>(checkpoint: &'c Restored, text: &str, is_table: bool) -> Outcome<Part<'c>> {
    let name_of = |found: &Found<'_>| {
        let frame = checkpoint.frames().get(found.frame);
        let function = frame.map_or("", |frame| frame.function.as_str());
        format!("{function}/{}", found.name)
    };
    match array_in_element(checkpoint, text)? {
        Some(Inside::Rows(found, bounds)) => {
            let mut arrays = Vec::new();
            export::below(&name_of(&found), found.node, &mut arrays);
            arrays
                .iter_mut()
                .for_each(|one| one.bounds = Some(bounds.clone()));
            return Ok(Part {
                name: text.to_owned(),
                arrays,
                inside: None,
            });
        }
        Some(Inside::NoArray) => {
            return Err(
                Failure::usage(says!("E3136: `{text}` is in one element, and no array"))
                    .because("below an option, an enum or a list, values have no row for each element")
                    .help("export the whole list, or look at the value with `cargo ckpt inspect`"),
            );
        }
        None => {}
    }
    let (name, brackets) = select::split(text)?;
    let mut found = find(checkpoint, &name)?;
    if brackets.is_some() {
        found = with_elements(found);
    }
    if waits_for_threads(checkpoint, found.frame) {
        output::note(&format!("`{}`: {OF_THREADS}", found.name));
    }
    let node = found.node;
    let mut arrays = Vec::new();
    export::below(&name_of(&found), node, &mut arrays);
    // Lists of one length are a matrix.
    let rectangle = match is_table {
        true => rows::rectangle(checkpoint, node).map_err(unreadable(node))?,
        false => None,
    };
    if let Some((items, shape)) = rectangle {
        let elements = Elements::Array(items, shape);
        arrays = vec![Named::of(name_of(&found), items, elements)];
    } else if is_table && Elements::of(node).is_none() {
        return Ok(Part {
            name,
            arrays,
            inside: Some((node, brackets)),
        });
    } else if brackets.is_some() {
        indexed_or_not(&found.name, node)?;
    }
    for one in &mut arrays {
        let bounds = brackets
            .as_ref()
            .map(|inside| select::bounds(Some(inside), &one.elements.shape()));
        one.bounds = bounds.transpose()?;
    }
    Ok(Part {
        name,
        arrays,
        inside: None,
    })
}
