//! `cargo ckpt export`: values of a checkpoint for other programs.

use std::path::PathBuf;

use serde_json::json;

use crate::commands::inspect::indexed_or_not;
use crate::export::{self, Named, table};
use crate::failure::{Failure, Outcome, says};
use crate::render;
use crate::stores::{StoreArgs, Which, WhichOnes};
use crate::values::elements::Elements;
use crate::values::find::find;
use crate::values::place::{Inside, array_in_element};
use crate::values::select;

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
        // One array is written as it is; all else has headings.
        let mut is_array = variables.len() == 1;
        for text in variables {
            let inside = array_in_element(&checkpoint, text)?;
            let (name, (found, bounds), brackets) = match inside {
                Some(Inside::Rows(found, bounds)) => (text.clone(), (found, Some(bounds)), None),
                Some(Inside::NoArray) => {
                    return Err(
                        Failure::usage(says!("E3136: `{text}` is in one element, and no array"))
                            .because(
                                "below an option, an enum or a list, values have no row for each element",
                            )
                            .help("export the whole list, or look at the value with `cargo ckpt inspect`"),
                    );
                }
                None => {
                    let (name, brackets) = select::split(text)?;
                    let found = find(&checkpoint, &name)?;
                    (name, (found, None), brackets)
                }
            };
            let node = found.node;
            let function = checkpoint
                .frames()
                .get(found.frame)
                .map_or("", |frame| frame.function.as_str());
            let mut chosen = Vec::new();
            export::below(&format!("{function}/{}", found.name), node, &mut chosen);
            is_array &= Elements::of(node).is_some();
            if ending == Some("csv") && Elements::of(node).is_none() {
                columns.extend(table::columns(&checkpoint, &name, node, brackets.as_deref())?);
                list.extend(chosen);
                continue;
            }
            if bounds.is_some() {
                chosen.iter_mut().for_each(|one| one.bounds.clone_from(&bounds));
            }
            if let Some(inside) = brackets {
                indexed_or_not(&found.name, node)?;
                for one in &mut chosen {
                    one.bounds = Some(select::bounds(Some(&inside), &one.elements.shape())?);
                }
            }
            for one in chosen.iter().filter(|_| ending == Some("csv")) {
                columns.extend(table::of_array(&checkpoint, &name, one)?);
            }
            list.extend(chosen);
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
        self.tell(&list);
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

    fn tell(&self, list: &[Named<'_>]) {
        let names: Vec<&str> = list.iter().map(|one| one.name.as_str()).collect();
        if self.store.json() {
            render::print_json(&json!({ "file": self.to, "names": names }));
            return;
        }
        let number = render::count(names.len(), "array");
        render::print(&format!("Written: {number}, in {}\n", self.to.display()));
    }
}
