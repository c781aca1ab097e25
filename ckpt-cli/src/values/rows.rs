//! Elements of lists whose values are not stored in arrays of the same length: structs with options or lists in them, enums, maps.
//! An element is a row: its values are where the columns that say how many there are (`present`, `variant`, `lengths`) lead to.

use ckpt::LoadError;
use ckpt::store::{Node, NodeKind, Restored};
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
        "option" => of("present"),
        "enum" | "dyn" => of("variant"),
        "list" | "map" => of("lengths"),
        "array" => Some(of("items")? / length(node)?),
        _ => None,
    }
}

/// An element as one would write it: `Body { name: "moon", last: None }`.
pub fn text(checkpoint: &Restored, node: &Node, row: u64) -> Result<String, LoadError> {
    if let Some(elements) = Elements::of(node) {
        return of_elements(checkpoint, &elements, row);
    }
    let part = |name: &str| child(node, name).ok_or_else(|| lacks(node, name));
    let before = |name: &str| -> Result<Vec<f64>, LoadError> { checkpoint.numbers(part(name)?, 0, row + 1) };
    match kind(node).unwrap_or_default().as_str() {
        "struct" => {
            let fields = node.children().iter().map(|field| {
                let value = text(checkpoint, field, row)?;
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
        "option" => {
            let present = before("present")?;
            match present.split_last() {
                Some((here, before)) if *here != 0.0 => {
                    let at = before.iter().filter(|one| **one != 0.0).count();
                    Ok(format!("Some({})", text(checkpoint, part("value")?, at as u64)?))
                }
                _ => Ok("None".into()),
            }
        }
        "enum" | "dyn" => {
            let variants = before("variant")?;
            let names = checkpoint.text(part("variant")?, row, 1)?;
            let name = names.first().cloned().unwrap_or_default();
            let here = variants.last().copied();
            let at = variants
                .iter()
                .filter(|one| Some(**one) == here)
                .count()
                .saturating_sub(1);
            match child(node, &name) {
                Some(fields) => Ok(format!("{name} {}", text(checkpoint, fields, at as u64)?)),
                None => Ok(name),
            }
        }
        "list" => {
            let (first, length) = span(&before("lengths")?);
            Ok(format!(
                "[{}]",
                several(checkpoint, part("items").ok(), first, length)?
            ))
        }
        "map" => {
            let (first, length) = span(&before("lengths")?);
            let mut entries = Vec::new();
            for at in first..first + length.min(FEW) {
                let key = text(checkpoint, part("keys")?, at)?;
                entries.push(format!("{key}: {}", text(checkpoint, part("values")?, at)?));
            }
            Ok(format!("{{{}{}}}", entries.join(", "), more(length)))
        }
        "array" => {
            let length = length(node).unwrap_or(0);
            Ok(format!(
                "[{}]",
                several(checkpoint, child(node, "items"), row * length, length)?
            ))
        }
        _ => Ok("..".into()),
    }
}

/// The row of an array, or a string of a list.
fn of_elements(checkpoint: &Restored, elements: &Elements<'_>, row: u64) -> Result<String, LoadError> {
    let shape = elements.shape();
    let width: u64 = shape.iter().skip(1).product();
    let words = elements.words(checkpoint, row * width, width.min(FEW))?;
    let words: Vec<String> = words.iter().map(|word| elements.sort().words(word)).collect();
    Ok(match shape.len() {
        0 | 1 => words.concat(),
        _ => format!("[{}{}]", words.join(", "), more(width)),
    })
}

fn several(
    checkpoint: &Restored,
    items: Option<&Node>,
    first: u64,
    length: u64,
) -> Result<String, LoadError> {
    let Some(items) = items.filter(|_| length > 0) else {
        return Ok(String::new());
    };
    let shown = (first..first + length.min(FEW)).map(|at| text(checkpoint, items, at));
    Ok(shown.collect::<Result<Vec<String>, LoadError>>()?.join(", ") + &more(length))
}

fn more(length: u64) -> String {
    match length > FEW {
        true => format!(", .. ({length})"),
        false => String::new(),
    }
}

/// Where the items of the last list begin, and how many they are.
fn span(lengths: &[f64]) -> (u64, u64) {
    let (last, before) = lengths.split_last().unwrap_or((&0.0, &[]));
    (before.iter().sum::<f64>() as u64, *last as u64)
}

fn child<'n>(node: &'n Node, name: &str) -> Option<&'n Node> {
    node.children().iter().find(|child| child.name == name)
}

fn kind(node: &Node) -> Option<String> {
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
