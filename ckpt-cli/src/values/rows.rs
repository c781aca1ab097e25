//! Elements of lists whose values are not stored in arrays of the same length: structs with options or lists in them, enums, maps.
//! An element is a row: its values are where the columns that say how many there are (`present`, `variant`, `lengths`) lead to.

use std::ops::Range;

use ckpt::LoadError;
use ckpt::store::{EMPTY, Node, NodeKind, Restored};
use ckpt::value::DType;

use super::elements::Elements;

/// Of a list in an element, so many are shown.
const FEW: u64 = 8;

/// How many elements there are; nothing for what is no list.
pub fn count(node: &Node) -> Option<u64> {
    if let Some(elements) = Elements::of(node) {
        return elements.shape().first().copied();
    }
    let of = |name: &str| child(node, name).and_then(count);
    match kind(node)?.as_str() {
        "struct" => {
            let mut all = node.children().iter().map(count);
            let first = all.next()??;
            all.all(|other| other == Some(first)).then_some(first)
        }
        EMPTY => Some(0),
        "option" => of("present"),
        "enum" | "dyn" => of("variant"),
        "list" | "map" => of("lengths"),
        "array" => Some(of("items")? / length(node)?),
        _ => None,
    }
}

/// How many entries there are in a map that is no column of them; nothing for all else.
pub fn entries(node: &Node) -> Option<u64> {
    let is_map = kind(node).as_deref() == Some("map") && child(node, "lengths").is_none();
    is_map.then(|| child(node, "keys").and_then(count).unwrap_or(0))
}

/// An entry of such a map: `"north": 3`.
pub fn entry(checkpoint: &Restored, map: &Node, row: u64) -> Result<String, LoadError> {
    let part = |name: &str| {
        let part = child(map, name).ok_or_else(|| lacks(map, name))?;
        text(checkpoint, part, row)
    };
    Ok(format!("{}: {}", part("keys")?, part("values")?))
}

/// The row of a key, as it stands in the program's text or without its quotes.
pub fn row_of_key(checkpoint: &Restored, map: &Node, key: &str) -> Result<Option<u64>, LoadError> {
    let keys = child(map, "keys").ok_or_else(|| lacks(map, "keys"))?;
    let quoted = format!("{key:?}");
    let is_meant = |word: &String| *word == key || *word == quoted;
    let number = entries(map).unwrap_or(0);
    // Those that are an array are read at once.
    if let Some(elements) = Elements::of(keys).filter(|elements| elements.shape().len() == 1) {
        let words = elements.words(checkpoint, 0, number)?;
        let mut words = words.iter().map(|word| elements.sort().words(word));
        return Ok(words.position(|word| is_meant(&word)).map(|row| row as u64));
    }
    for row in 0..number {
        if is_meant(&text(checkpoint, keys, row)?) {
            return Ok(Some(row));
        }
    }
    Ok(None)
}

/// So deep objects are shown in each other: they may lead back to themselves by a `Weak`.
const DEEP: usize = 2;

/// An element as one would write it: `Body { name: "moon", last: None }`.
pub fn text(checkpoint: &Restored, node: &Node, row: u64) -> Result<String, LoadError> {
    let within = Within {
        checkpoint,
        objects: DEEP,
    };
    within.text(node, row)
}

/// How far values are shown that objects refer to.
#[derive(Clone, Copy)]
struct Within<'c> {
    checkpoint: &'c Restored,
    /// Objects in each other that are shown yet.
    objects: usize,
}

impl Within<'_> {
    fn text(self, node: &Node, row: u64) -> Result<String, LoadError> {
        let Within { checkpoint, objects } = self;
        if let Some((items, row)) = object_of(checkpoint, node, row)? {
            return match objects.checked_sub(1) {
                Some(objects) => Within { checkpoint, objects }.text(items, row),
                None => Ok("..".into()),
            };
        }
        if let Some(elements) = Elements::of(node) {
            return of_elements(checkpoint, &elements, row);
        }
        let part = |name: &str| child(node, name).ok_or_else(|| lacks(node, name));
        match kind(node).unwrap_or_default().as_str() {
            "struct" => {
                let fields = node.children().iter().map(|field| {
                    let value = self.text(field, row)?;
                    Ok(match field.name.parse::<usize>() {
                        Ok(_) => value,
                        Err(_) => format!("{}: {value}", field.name),
                    })
                });
                let fields = fields.collect::<Result<Vec<String>, LoadError>>()?.join(", ");
                let is_tuple = node
                    .children()
                    .first()
                    .is_some_and(|field| field.name.parse::<usize>().is_ok());
                Ok(match is_tuple {
                    true => format!("({fields})"),
                    false => format!("{{ {fields} }}"),
                })
            }
            EMPTY => Ok("[]".into()),
            "option" => Ok(match value_of(checkpoint, node, row)? {
                Some(at) => format!("Some({})", self.text(part("value")?, at)?),
                None => "None".into(),
            }),
            "enum" | "dyn" => {
                let (name, at) = variant_of(checkpoint, node, row)?;
                match child(node, &name) {
                    Some(fields) => Ok(format!("{name} {}", self.text(fields, at)?)),
                    None => Ok(name),
                }
            }
            "list" => {
                let items = items_of(checkpoint, node, row)?;
                let shown = self.several(part("items").ok(), items.start, items.end - items.start)?;
                Ok(format!("[{shown}]"))
            }
            "map" => {
                let items = items_of(checkpoint, node, row)?;
                let length = items.end - items.start;
                let mut entries = Vec::new();
                for at in items.start..items.start + length.min(FEW) {
                    let key = self.text(part("keys")?, at)?;
                    entries.push(format!("{key}: {}", self.text(part("values")?, at)?));
                }
                Ok(format!("{{{}{}}}", entries.join(", "), more(length)))
            }
            "array" => {
                let items = items_of(checkpoint, node, row)?;
                let shown = self.several(child(node, "items"), items.start, items.end - items.start)?;
                Ok(format!("[{shown}]"))
            }
            _ => Ok("..".into()),
        }
    }

    fn several(self, items: Option<&Node>, first: u64, length: u64) -> Result<String, LoadError> {
        let Some(items) = items.filter(|_| length > 0) else {
            return Ok(String::new());
        };
        let shown = (first..first + length.min(FEW)).map(|at| self.text(items, at));
        Ok(shown.collect::<Result<Vec<String>, LoadError>>()?.join(", ") + &more(length))
    }
}

/// The row of an array, or a string of a list.
fn of_elements(checkpoint: &Restored, elements: &Elements<'_>, row: u64) -> Result<String, LoadError> {
    let shape = elements.shape();
    let inner = shape.get(1..).unwrap_or_default();
    nested(checkpoint, elements, inner, row)
}

/// One part of an array of this shape, as one writes arrays in arrays.
fn nested(
    checkpoint: &Restored,
    elements: &Elements<'_>,
    shape: &[u64],
    number: u64,
) -> Result<String, LoadError> {
    let words = |first: u64, count: u64| {
        let words = elements.words(checkpoint, first, count)?;
        Ok::<Vec<String>, LoadError>(words.iter().map(|word| elements.sort().words(word)).collect())
    };
    let (length, shown) = match *shape {
        [] => return Ok(words(number, 1)?.concat()),
        [length] => (length, words(number * length, length.min(FEW))?),
        [length, ref inner @ ..] => {
            let shown =
                (0..length.min(FEW)).map(|at| nested(checkpoint, elements, inner, number * length + at));
            (length, shown.collect::<Result<Vec<String>, LoadError>>()?)
        }
    };
    Ok(format!("[{}{}]", shown.join(", "), more(length)))
}

fn more(length: u64) -> String {
    match length > FEW {
        true => format!(", .. ({length})"),
        false => String::new(),
    }
}

/// Where the value is that a node's row refers to: what is shared, or in itself, is a row of a table for its type.
pub fn object_of<'c>(
    checkpoint: &'c Restored,
    node: &Node,
    row: u64,
) -> Result<Option<(&'c Node, u64)>, LoadError> {
    let NodeKind::Dataset {
        dtype: DType::Object(number),
        ..
    } = &node.kind
    else {
        return Ok(None);
    };
    let Some(table) = checkpoint.tree().find(&format!("shared/{number}")) else {
        return Ok(None);
    };
    let object = checkpoint.numbers(node, row, 1)?.first().copied();
    let object = object.ok_or_else(|| lacks(node, "value"))?;
    let at = match child(table, "ids").map(|ids| (ids, count(ids))) {
        Some((ids, Some(number))) if number > 0 => {
            let ids = checkpoint.numbers(ids, 0, number)?;
            ids.iter().position(|id| *id == object).map(|at| at as u64)
        }
        _ => Some(object as u64),
    };
    Ok(child(table, "items").zip(at))
}

/// The row of an option's `value`; nothing if it is `None`.
pub fn value_of(checkpoint: &Restored, option: &Node, row: u64) -> Result<Option<u64>, LoadError> {
    let present = up_to(checkpoint, option, "present", row)?;
    Ok(match present.split_last() {
        Some((here, before)) if *here != 0.0 => Some(before.iter().filter(|one| **one != 0.0).count() as u64),
        _ => None,
    })
}

/// What says of which elements the other parts of an option, an enum, a list or a map have rows.
const DECIDING: [&str; 3] = ["present", "variant", "lengths"];

/// Whether a part of a node has rows of its own: of an option those of the values that are there, of an enum those of a variant, of
/// a list its items. Their indices are none of the elements that the node is a column of.
pub fn packs(node: &Node, part: &str) -> bool {
    let kind = kind(node);
    matches!(kind.as_deref(), Some("option" | "enum" | "dyn" | "list" | "map"))
        && !DECIDING.contains(&part)
        && count(node).is_some()
}

/// The column that says of which elements a part of a node that packs it has rows.
pub fn deciding(node: &Node) -> Option<&Node> {
    DECIDING.into_iter().find_map(|name| child(node, name))
}

/// Of which element of a node a row of a part is that is packed there: of a list the element and the place in it.
pub fn element_of(checkpoint: &Restored, node: &Node, part: &str, row: u64) -> Result<Vec<u64>, LoadError> {
    let lacks = || lacks(node, "row");
    let column = deciding(node).ok_or_else(lacks)?;
    let nth = |is_there: &mut dyn Iterator<Item = bool>| {
        let mut places = is_there.enumerate().filter(|(_, is_there)| *is_there);
        places.nth(row as usize).map(|(at, _)| vec![at as u64])
    };
    let found = match &*column.name {
        "present" => {
            let present = checkpoint.numbers(column, 0, u64::MAX)?;
            nth(&mut present.iter().map(|one| *one != 0.0))
        }
        "variant" => {
            let names = checkpoint.text(column, 0, u64::MAX)?;
            nth(&mut names.iter().map(|name| name == part))
        }
        _ => {
            let lengths = checkpoint.numbers(column, 0, u64::MAX)?;
            let mut left = row;
            let mut lengths = lengths.iter().map(|length| *length as u64).enumerate();
            let holds = lengths.find(|(_, length)| match left.checked_sub(*length) {
                Some(behind) => {
                    left = behind;
                    false
                }
                None => true,
            });
            holds.map(|(at, _)| vec![at as u64, left])
        }
    };
    found.ok_or_else(lacks)
}

/// What says whether an option has a value that is no column of them; nothing for all else.
pub fn present_of_single(node: &Node) -> Option<&Node> {
    let is_single =
        |present: &Node| matches!(&present.kind, NodeKind::Dataset { shape, .. } if shape.is_empty());
    child(node, "present").filter(|present| kind(node).as_deref() == Some("option") && is_single(present))
}

/// Whether such an option has one.
pub fn is_single_some(checkpoint: &Restored, node: &Node) -> Option<bool> {
    let present = present_of_single(node)?;
    Some(checkpoint.numbers(present, 0, 1).ok()?.first() != Some(&0.0))
}

/// Whether a node has no values, as an empty list.
pub fn is_empty(node: &Node) -> bool {
    kind(node).as_deref() == Some(EMPTY)
}

/// The variant of an enum, and the row of its fields.
pub fn variant_of(checkpoint: &Restored, choice: &Node, row: u64) -> Result<(String, u64), LoadError> {
    let variants = up_to(checkpoint, choice, "variant", row)?;
    let node = child(choice, "variant").ok_or_else(|| lacks(choice, "variant"))?;
    let name = checkpoint.text(node, row, 1)?.concat();
    let here = variants.last().copied();
    let same = variants.iter().filter(|one| Some(**one) == here).count();
    Ok((name, same.saturating_sub(1) as u64))
}

/// The rows of the items of a list, a map or an array.
pub fn items_of(checkpoint: &Restored, list: &Node, row: u64) -> Result<Range<u64>, LoadError> {
    if let Some(length) = length(list) {
        let first = row.saturating_mul(length);
        return Ok(first..first.saturating_add(length));
    }
    let lengths = match child(list, "lengths") {
        Some(_) => up_to(checkpoint, list, "lengths", row)?,
        None => Vec::new(), // an array of none
    };
    let (last, before) = lengths.split_last().unwrap_or((&0.0, &[]));
    let first = before.iter().sum::<f64>() as u64;
    Ok(first..first.saturating_add(*last as u64))
}

/// The numbers of a column up to that of a row.
fn up_to(checkpoint: &Restored, node: &Node, column: &str, row: u64) -> Result<Vec<f64>, LoadError> {
    let column = child(node, column).ok_or_else(|| lacks(node, column))?;
    checkpoint.numbers(column, 0, row.saturating_add(1))
}

/// The numbers of a list of lists that all have the same length, as rows, and its shape.
pub fn rectangle<'n>(
    checkpoint: &Restored,
    node: &'n Node,
) -> Result<Option<(&'n Node, Vec<u64>)>, LoadError> {
    let is_list = kind(node).as_deref() == Some("list");
    let (Some(lengths), Some(items)) = (child(node, "lengths"), child(node, "items")) else {
        return Ok(None);
    };
    let (NodeKind::Dataset { shape: rows, .. }, true) = (&lengths.kind, is_list) else {
        return Ok(None);
    };
    let inner = match &items.kind {
        NodeKind::Dataset { shape, .. } => Some((items, shape.clone())),
        _ => rectangle(checkpoint, items)?,
    };
    let (Some((items, inner)), [number]) = (inner, rows.as_slice()) else {
        return Ok(None);
    };
    let lengths = checkpoint.numbers(lengths, 0, *number)?;
    let Some(first) = lengths
        .first()
        .filter(|first| lengths.iter().all(|one| one == *first))
    else {
        return Ok(None);
    };
    let inner = inner.get(1..).unwrap_or_default();
    Ok(Some((items, [&[*number, *first as u64], inner].concat())))
}

/// A part of a node.
pub fn child<'n>(node: &'n Node, name: &str) -> Option<&'n Node> {
    node.children().iter().find(|child| child.name == name)
}

/// How a group stores what it stands for: `struct`, `option`, `enum` and others.
pub fn kind(node: &Node) -> Option<String> {
    node.attribute("kind").map(ToString::to_string)
}

fn length(node: &Node) -> Option<u64> {
    let length = node.attribute("length")?.to_string();
    length.parse().ok().filter(|length| *length > 0)
}

fn lacks(node: &Node, name: &str) -> LoadError {
    LoadError::invalid(format_args!("`{}` lacks its `{name}`", node.path))
}

/// Whether a node is a list whose elements are rows: not a text, nor a single value.
pub fn is_list(node: &Node) -> bool {
    let is_text = matches!(&node.kind, NodeKind::Dataset { dtype, .. } if *dtype == DType::Text);
    !is_text && count(node).is_some()
}
