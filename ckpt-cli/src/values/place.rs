//! From what is typed to what is meant in an element of a list: `bodies[3].partner.ring` is that of the body with the number 3, wherever
//! its value is stored. Below an option, an enum or a list, columns have no row for each element: the way leads from row to row.

use std::ops::Range;

use ckpt::store::{Node, Restored};

use super::elements::{Chosen, Elements, Sort, indexed};
use super::find::{Found, find, no_array, no_part};
use super::rows::{self, child, kind};
use super::select::{self, Step};
use crate::failure::{Failure, Outcome, says};
use crate::stores::checkpoint::unreadable;

/// The elements that are meant, at most `limit` of them; nothing where brackets choose rows of arrays, as far as they are all stored.
pub fn in_element<'c>(
    checkpoint: &'c Restored,
    text: &str,
    limit: u64,
) -> Outcome<Option<(Found<'c>, Chosen)>> {
    let steps = select::steps(text)?;
    let Some(at) = steps.iter().position(|step| matches!(step, Step::Index(_))) else {
        return Ok(None);
    };
    let names: Vec<&str> = steps[..at].iter().map(Step::text).collect();
    let list = find(checkpoint, &names.join("."))?;
    if is_of_columns(list.node, &steps[at..]) {
        return Ok(None);
    }
    let number = rows::count(list.node).ok_or_else(|| no_array(&list.name, list.node))?;
    let mut walk = Walk {
        checkpoint,
        name: list.name.clone(),
        node: list.node,
        rows: 0..number,
        from: 0,
        is_one: false,
    };
    for (number, step) in steps[at..].iter().enumerate() {
        match step {
            Step::Index(inside) => {
                for (place, part) in inside.split(',').map(str::trim).enumerate() {
                    match (number, place) {
                        (0, 0) => walk.choose(part, walk.rows.clone())?,
                        _ => walk.index(part)?,
                    }
                }
            }
            Step::Part(name) => walk.part(name)?,
        }
    }
    let chosen = walk.chosen(limit)?;
    Ok(Some((
        Found {
            node: walk.node,
            name: walk.name,
            ..list
        },
        chosen,
    )))
}

/// Whether what follows the first brackets leads through structs only, each field of which has a row for every element, and further
/// brackets choose from rows.
fn is_of_columns(list: &Node, steps: &[Step<'_>]) -> bool {
    let mut node = list;
    for step in steps {
        let Step::Part(name) = step else {
            continue;
        };
        let is_struct = kind_of_group(node).as_deref() == Some("struct");
        match child(node, name) {
            Some(next) if is_struct => node = next,
            // That there is no such part is said of the whole.
            None if is_struct => return true,
            _ => return false,
        }
    }
    let brackets = steps.iter().filter(|step| matches!(step, Step::Index(_)));
    brackets.count() == 1 && !steps[0].text().contains(',') || !indexed(node).is_empty()
}

/// What a node stands for that is no array itself.
fn kind_of_group(node: &Node) -> Option<String> {
    kind(node).filter(|_| Elements::of(node).is_none())
}

/// Where one is.
struct Walk<'c> {
    checkpoint: &'c Restored,
    /// As it was typed so far.
    name: String,
    node: &'c Node,
    /// Rows of the node.
    rows: Range<u64>,
    /// The index of the first of them in the list that they are of.
    from: u64,
    /// Whether it is an element, not a list of some.
    is_one: bool,
}

impl<'c> Walk<'c> {
    /// Some of these rows.
    fn choose(&mut self, part: &str, of: Range<u64>) -> Outcome<()> {
        let bounds = select::bounds(Some(part), &[of.end - of.start])?;
        let (from, to) = bounds.first().copied().unwrap_or_default();
        self.rows = of.start + from..of.start + to;
        self.from = from;
        self.is_one = !part.contains("..");
        self.name += &format!("[{part}]");
        Ok(())
    }

    /// The row of the element.
    fn row(&self) -> Outcome<u64> {
        let name = &self.name;
        match self.is_one {
            true => Ok(self.rows.start),
            false => Err(Failure::usage(says!("E3134: `{name}` is several elements"))
                .because("a part is that of one element")
                .help("name one: `bodies[3].partner`")),
        }
    }

    fn goes_to(&mut self, node: &'c Node, row: u64) {
        self.node = node;
        self.rows = row..row + 1;
    }

    /// An option's value.
    fn unwraps(&mut self, wanted: &str) -> Outcome<()> {
        while kind_of_group(self.node).as_deref() == Some("option") {
            let at =
                rows::value_of(self.checkpoint, self.node, self.row()?).map_err(unreadable(self.node))?;
            match (at, child(self.node, "value")) {
                (Some(row), Some(value)) => self.goes_to(value, row),
                _ => return Err(self.is_other("None", wanted)),
            }
        }
        Ok(())
    }

    fn is_other(&self, what: &str, wanted: &str) -> Failure {
        let name = &self.name;
        Failure::usage(says!("E3135: `{name}` is `{what}`, and has no `{wanted}`"))
            .help("another element may have it: `[..]` in place of the index shows them all")
    }

    fn part(&mut self, name: &str) -> Outcome<()> {
        if name != "present" && name != "value" {
            self.unwraps(name)?;
        }
        let row = self.row()?;
        let of_group = kind_of_group(self.node);
        let next = child(self.node, name);
        match (of_group.as_deref(), next) {
            (Some("option"), Some(_)) if name == "value" => self.unwraps(name)?,
            (Some("enum" | "dyn"), _) if name != "variant" => {
                let found = rows::variant_of(self.checkpoint, self.node, row);
                let (variant, row) = found.map_err(unreadable(self.node))?;
                match next {
                    Some(fields) if variant == name => self.goes_to(fields, row),
                    // A field of the variant that it is.
                    _ => match child(self.node, &variant).and_then(|fields| child(fields, name)) {
                        Some(field) => self.goes_to(field, row),
                        None => return Err(self.is_other(&variant, name)),
                    },
                }
            }
            (Some("list" | "map" | "array"), Some(items)) if name != "lengths" => {
                self.rows = rows::items_of(self.checkpoint, self.node, row).map_err(unreadable(self.node))?;
                (self.node, self.from, self.is_one) = (items, 0, false);
            }
            (Some(_), Some(column)) => self.goes_to(column, row),
            _ => return Err(no_part(&self.name, self.node, name)),
        }
        self.name += &format!(".{name}");
        Ok(())
    }

    /// One index of the element.
    fn index(&mut self, part: &str) -> Outcome<()> {
        self.unwraps(&format!("[{part}]"))?;
        let row = self.row()?;
        let of_group = kind_of_group(self.node);
        if !matches!(of_group.as_deref(), Some("list" | "array")) {
            return Err(no_array(&self.name, self.node));
        }
        let items = rows::items_of(self.checkpoint, self.node, row).map_err(unreadable(self.node))?;
        self.choose(part, items)?;
        if let Some(node) = child(self.node, "items") {
            self.node = node;
        }
        Ok(())
    }

    fn chosen(&self, limit: u64) -> Outcome<Chosen> {
        let number = self.rows.end - self.rows.start;
        let shown = self.rows.start..self.rows.start + number.min(limit);
        let flat = Elements::of(self.node).filter(|elements| elements.shape().len() == 1);
        let sort = flat.as_ref().map_or(Sort::default(), Elements::sort);
        let words = match flat {
            Some(elements) => elements.words(self.checkpoint, shown.start, shown.end - shown.start),
            None => { shown.map(|row| rows::text(self.checkpoint, self.node, row)) }.collect(),
        };
        let index = match self.is_one {
            true => Vec::new(),
            false => vec![self.from],
        };
        Ok(Chosen {
            sort,
            runs: vec![(index, words.map_err(unreadable(self.node))?)],
            number,
        })
    }
}
