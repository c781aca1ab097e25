//! From what is typed to what is meant in an element of a list: `bodies[3].partner.ring` is that of the body with the number 3, wherever
//! its value is stored. Below an option, an enum or a list, columns have no row for each element: the way leads from row to row.

use std::ops::Range;

use ckpt::store::{Node, Restored};

use super::elements::{Chosen, Elements, Sort, indexed};
use super::find::{Found, find_as_far, is_object, no_array, no_part, with_elements};
use super::rows::{self, child, kind};
use super::select::{self, Bounds, Step};
use crate::failure::{Failure, Outcome, says};
use crate::stores::checkpoint::{inspect_command, unreadable};

/// The elements that are meant, at most `limit` of them; nothing where brackets choose rows of arrays, as far as they are all stored.
pub fn in_element<'c>(
    checkpoint: &'c Restored,
    text: &str,
    limit: u64,
) -> Outcome<Option<(Found<'c>, Chosen)>> {
    let Some(walk) = walk(checkpoint, text)? else {
        return Ok(None);
    };
    let chosen = walk.chosen(limit)?;
    Ok(Some((walk.found(), chosen)))
}

/// What is in an element, as an array.
pub enum Inside<'c> {
    /// Rows of one, by their bounds.
    Rows(Found<'c>, Vec<Bounds>),
    /// It is none.
    NoArray,
}

/// The list in an element that is meant, or some of its elements; nothing where brackets choose rows of arrays.
pub fn array_in_element<'c>(checkpoint: &'c Restored, text: &str) -> Outcome<Option<Inside<'c>>> {
    let Some(mut walk) = walk(checkpoint, text)? else {
        return Ok(None);
    };
    // The entries of a map are a table.
    if walk.is_entries {
        return Ok(None);
    }
    walk.follows()?;
    if walk.is_one && kind_of_group(walk.node).as_deref() == Some("list") {
        let name = walk.name.clone();
        walk.index("..")?;
        walk.name = name;
    }
    let elements = Elements::of(walk.node).filter(|_| !walk.is_one);
    Ok(Some(match elements.map(|elements| elements.shape()) {
        Some(shape) => {
            let mut bounds: Vec<Bounds> = shape.iter().map(|&size| (0, size)).collect();
            if let Some(first) = bounds.first_mut() {
                *first = (walk.rows.start, walk.rows.end);
            }
            Inside::Rows(walk.found(), bounds)
        }
        None => Inside::NoArray,
    }))
}

/// The way to what is meant, if it is in an element.
fn walk<'c>(checkpoint: &'c Restored, text: &str) -> Outcome<Option<Walk<'c>>> {
    let steps = select::steps(text)?;
    let is_index = |step: &Step<'_>| matches!(step, Step::Index(_));
    let at = steps.iter().position(is_index).unwrap_or(steps.len());
    let (names, mut behind) = steps.split_at(at);
    let names: Vec<&str> = names.iter().map(Step::text).collect();
    let names = names.join(".");
    let (found, rest) = find_as_far(checkpoint, &names)?;
    let found = match behind {
        [Step::Index(_), ..] => with_elements(found),
        _ => found,
    };
    let mut walk = Walk {
        checkpoint,
        name: found.name.clone(),
        node: found.node,
        rows: 0..1,
        from: 0,
        is_one: true,
        inner: Vec::new(),
        is_entries: false,
        begin: found,
    };
    let found = &walk.begin;
    if let (Some(number), [Step::Index(inside), others @ ..]) = (rows::entries(found.node), behind) {
        walk.entry(inside, number, !others.is_empty())?;
        for step in others {
            walk.step(step)?;
        }
        return Ok(Some(walk));
    }
    let is_one_object = is_object(found.node) && rows::count(found.node).is_none();
    if !is_one_object {
        let [Step::Index(inside), others @ ..] = behind else {
            return Ok(None);
        };
        if is_of_columns(found.node, behind) {
            return Ok(None);
        }
        let number = rows::count(found.node).ok_or_else(|| no_array(&found.name, found.node))?;
        (walk.rows, walk.is_one) = (0..number, false);
        for (place, part) in inside.split(',').map(str::trim).enumerate() {
            match place {
                0 => walk.choose(part, walk.rows.clone())?,
                _ => walk.index(part)?,
            }
        }
        behind = others;
    }
    for part in rest.split('.').filter(|part| !part.is_empty()) {
        walk.part(part)?;
    }
    for step in behind {
        walk.step(step)?;
    }
    Ok(Some(walk))
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
    let are_stored_here = !is_object(node);
    are_stored_here && (brackets.count() == 1 && !steps[0].text().contains(',') || !indexed(node).is_empty())
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
    /// What is chosen in it, where the element is an array itself: bounds of its first dimensions, and whether each is one index.
    inner: Vec<(Bounds, bool)>,
    /// Whether the rows are the entries of a map, key and value.
    is_entries: bool,
    /// Where it began.
    begin: Found<'c>,
}

impl<'c> Walk<'c> {
    fn found(self) -> Found<'c> {
        Found {
            node: self.node,
            name: self.name,
            ..self.begin
        }
    }

    fn step(&mut self, step: &Step<'_>) -> Outcome<()> {
        match step {
            Step::Index(inside) => inside.split(',').try_for_each(|part| self.index(part.trim())),
            Step::Part(name) => self.part(name),
        }
    }

    /// Entries of a map by their places, or the value of a key in quotes.
    fn entry(&mut self, inside: &str, number: u64, goes_on: bool) -> Outcome<()> {
        let inside = inside.trim();
        let key = inside
            .strip_prefix(['"', '\''])
            .and_then(|key| key.strip_suffix(['"', '\'']));
        match key {
            Some(key) => {
                let row = rows::row_of_key(self.checkpoint, self.node, key).map_err(unreadable(self.node))?;
                let Some(row) = row else {
                    return Err(
                        Failure::usage(says!("E3190: `{}` has no key `{key}`", self.name)).help(format!(
                            "{} shows its entries",
                            inspect_command(self.checkpoint, false, &format!("{}[..]", self.name))
                        )),
                    );
                };
                self.name += &format!("[{inside}]");
                self.goes_to_value(row);
            }
            None => {
                self.choose(inside, 0..number)?;
                match self.is_one && goes_on {
                    true => self.goes_to_value(self.rows.start),
                    false => self.is_entries = true,
                }
            }
        }
        Ok(())
    }

    fn goes_to_value(&mut self, row: u64) {
        if let Some(values) = child(self.node, "values") {
            self.goes_to(values, row);
        }
    }

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
                .because("what stands behind it is that of one element")
                .help(format!(
                    "name one of them: `{}[{}]`",
                    name.rsplit_once('[').map_or(name.as_str(), |(list, _)| list),
                    self.from
                ))),
        }
    }

    fn goes_to(&mut self, node: &'c Node, row: u64) {
        self.node = node;
        self.rows = row..row + 1;
    }

    /// What an object stands for.
    fn follows(&mut self) -> Outcome<()> {
        while self.is_one {
            let at = rows::object_of(self.checkpoint, self.node, self.rows.start);
            match at.map_err(unreadable(self.node))? {
                Some((items, row)) => self.goes_to(items, row),
                None => break,
            }
        }
        Ok(())
    }

    /// An option's value.
    fn unwraps(&mut self, wanted: &str) -> Outcome<()> {
        self.follows()?;
        while kind_of_group(self.node).as_deref() == Some("option") {
            let at =
                rows::value_of(self.checkpoint, self.node, self.row()?).map_err(unreadable(self.node))?;
            match (at, child(self.node, "value")) {
                (Some(row), Some(value)) => self.goes_to(value, row),
                _ => return Err(self.is_other("None", wanted)),
            }
            self.follows()?;
        }
        Ok(())
    }

    fn is_other(&self, what: &str, wanted: &str) -> Failure {
        let name = &self.name;
        let failure = Failure::usage(says!("E3135: `{name}` is `{what}`, and has no `{wanted}`"));
        match name.rsplit_once('[') {
            Some((list, _)) => failure.help(format!(
                "another element may have it: {} shows all",
                inspect_command(self.checkpoint, false, &format!("{list}[..]"))
            )),
            None => failure.help(format!(
                "another checkpoint may have it: {} looks into all of them",
                inspect_command(self.checkpoint, true, "VAR")
            )),
        }
    }

    fn part(&mut self, name: &str) -> Outcome<()> {
        self.follows()?;
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
        let shape = Elements::of(self.node).map_or(Vec::new(), |elements| elements.shape());
        if let Some(&size) = shape.get(1 + self.inner.len()) {
            let bounds = select::bounds(Some(part), &[size])?;
            self.inner
                .extend(bounds.first().map(|&bounds| (bounds, !part.contains(".."))));
            self.name += &format!("[{part}]");
            return Ok(());
        }
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

    /// Elements in an element that is an array.
    fn chosen_in(&self, elements: &Elements<'_>, limit: u64) -> Outcome<Chosen> {
        let shape = elements.shape();
        let mut bounds = vec![(self.rows.start, self.rows.end)];
        bounds.extend(self.inner.iter().map(|(bounds, _)| *bounds));
        bounds.extend(shape[bounds.len()..].iter().map(|&size| (0, size)));
        let mut chosen = elements.chosen_within(self.checkpoint, &bounds, limit)?;
        // An index says nothing of a dimension of which one is named.
        let is_named = |axis: usize| match axis {
            0 => true,
            axis => self.inner.get(axis - 1).is_some_and(|(_, is_one)| *is_one),
        };
        for (index, _) in &mut chosen.runs {
            let kept = (0..index.len()).filter(|&axis| !is_named(axis));
            *index = kept.map(|axis| index[axis]).collect();
        }
        Ok(chosen)
    }

    fn chosen(&self, limit: u64) -> Outcome<Chosen> {
        if let Some(elements) = Elements::of(self.node).filter(|_| !self.inner.is_empty()) {
            return self.chosen_in(&elements, limit);
        }
        let number = self.rows.end - self.rows.start;
        let shown = self.rows.start..self.rows.start + number.min(limit);
        let flat = Elements::of(self.node).filter(|elements| elements.shape().len() == 1);
        let sort = flat.as_ref().map_or(Sort::default(), Elements::sort);
        let words = match flat {
            Some(elements) => elements.words(self.checkpoint, shown.start, shown.end - shown.start),
            None => shown
                .map(|row| match self.is_entries {
                    true => rows::entry(self.checkpoint, self.node, row),
                    false => rows::text(self.checkpoint, self.node, row),
                })
                .collect(),
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
