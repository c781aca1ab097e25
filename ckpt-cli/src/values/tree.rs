//! The tree of a checkpoint as rows of a table and as JSON.

use ckpt::store::{Node, NodeKind, Restored};
use ckpt::value::DType;
use serde_json::{Value, json};

use super::elements::Elements;
use super::rows;
use super::summary::summary;
use super::{is_number, type_and_shape};
use crate::failure::Outcome;
use crate::render::{self, Cell, Table, cut};
use crate::stores::checkpoint::unreadable;

/// A table for variables and what is in them.
pub fn variables_table() -> Table {
    let mut table = render::table(&["VARIABLE", "TYPE", "STORED AS", "SIZE", "VALUE"]);
    render::right(&mut table, &[3]);
    table
}

/// Prints it: values and types of the program lose their end before names and shapes go over several lines.
pub fn print_variables(table: &Table) {
    render::print_table_cut(table, &[(1, 12), (4, 24), (4, 16)]);
}

/// Adds a node and what is below it.
pub fn row(table: &mut Table, checkpoint: &Restored, node: &Node, name: &str, depth: usize) -> Outcome<()> {
    let name = format!("{}{name}", "  ".repeat(depth));
    let rust_type = attribute(node, "rust_type")
        .map(|name| short_type(&name))
        .unwrap_or_default();
    match &node.kind {
        NodeKind::Dataset {
            dtype, shape, bytes, ..
        } => {
            let stored = type_and_shape(dtype, shape);
            let value = value(checkpoint, node)?;
            table.add_row([
                name.into(),
                rust_type.into(),
                stored.into(),
                render::bytes(*bytes).into(),
                match is_number(dtype) && shape.is_empty() {
                    true => render::whole_cell(value),
                    false => Cell::from(value),
                },
            ]);
        }
        NodeKind::Link(target) => {
            table.add_row([name, rust_type, "link".into(), String::new(), target.clone()]);
        }
        NodeKind::Group(list) => {
            let kind = attribute(node, "kind").unwrap_or_else(|| "group".into());
            table.add_row([
                name,
                rust_type,
                kind,
                render::bytes(node.bytes()),
                some(checkpoint, node)?,
            ]);
            for child in list {
                row(table, checkpoint, child, &child.name, depth + 1)?;
            }
        }
    }
    Ok(())
}

/// As much of a value as a table has room for, wherever it goes to.
const LONGEST: usize = 60;

/// The first strings of a list of strings; nothing for other groups.
fn some(checkpoint: &Restored, node: &Node) -> Outcome<String> {
    const FEW: u64 = 3;
    let Some(elements) = Elements::of(node) else {
        return Ok(match rows::is_single_some(checkpoint, node) {
            Some(true) => "Some".into(),
            Some(false) => "None".into(),
            None if rows::is_empty(node) => "[]".into(),
            None => String::new(),
        });
    };
    let chosen = elements.chosen(checkpoint, None, FEW)?;
    let list: Vec<_> = chosen
        .runs
        .iter()
        .flat_map(|(_, values)| values)
        .map(|value| chosen.sort.words(value))
        .collect();
    let more = match chosen.number > FEW {
        true => format!(", ... ({})", chosen.number),
        false => String::new(),
    };
    Ok(cut(&list.join(", "), LONGEST) + &more)
}

/// A single value, the text, or many numbers in short.
fn value(checkpoint: &Restored, node: &Node) -> Outcome<String> {
    const FEW: u64 = 4;
    let NodeKind::Dataset {
        dtype,
        elements,
        shape,
        ..
    } = &node.kind
    else {
        return Ok(String::new());
    };
    if matches!(dtype, DType::Text) {
        let text = checkpoint
            .text(node, 0, 4 * LONGEST as u64)
            .map_err(unreadable(node))?
            .concat();
        return Ok(cut(&format!("{text:?}"), LONGEST));
    }
    if let (DType::Object(_), []) = (dtype, shape.as_slice()) {
        return Ok(cut(
            &rows::text(checkpoint, node, 0).map_err(unreadable(node))?,
            LONGEST,
        ));
    }
    if *elements <= FEW {
        let few = checkpoint.text(node, 0, FEW).map_err(unreadable(node))?;
        return Ok(as_many_as_fit(&few));
    }
    if let Some(summary) = summary(checkpoint, node)? {
        return Ok(summary.words());
    }
    // No numbers: booleans, names of variants.
    let few = checkpoint.text(node, 0, FEW).map_err(unreadable(node))?;
    Ok(format!("{}, \u{2026} ({elements})", few.join(", ")))
}

/// None of them is cut: half of a number is another one.
fn as_many_as_fit(words: &[String]) -> String {
    let mut shown = String::new();
    for (number, word) in words.iter().enumerate() {
        let next = match number {
            0 => word.clone(),
            _ => format!("{shown}, {word}"),
        };
        if number > 0 && next.chars().count() > LONGEST {
            return format!("{shown}, \u{2026}");
        }
        shown = next;
    }
    cut(&shown, LONGEST)
}

fn attribute(node: &Node, name: &str) -> Option<String> {
    node.attribute(name).map(ToString::to_string)
}

/// A Rust type without module paths: `Vec<Particle>` for `alloc::vec::Vec<nbody::Particle>`.
pub fn short_type(name: &str) -> String {
    let mut short = String::new();
    let mut word = String::new();
    let mut rest = name.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            ':' if rest.peek() == Some(&':') => {
                rest.next();
                word.clear();
            }
            c if c.is_alphanumeric() || c == '_' => word.push(c),
            other => {
                short += &std::mem::take(&mut word);
                short.push(other);
            }
        }
    }
    short + &word
}

/// A node with everything below it, without its elements.
pub fn node_as_json(checkpoint: &Restored, node: &Node) -> Outcome<Value> {
    Ok(match &node.kind {
        NodeKind::Dataset {
            dtype, shape, bytes, ..
        } => {
            json!({ "path": node.path, "dtype": dtype.name(), "shape": shape, "bytes": bytes, "summary": summary(checkpoint, node)? })
        }
        NodeKind::Link(target) => json!({ "path": node.path, "link": target }),
        NodeKind::Group(list) => {
            let mut parts = serde_json::Map::new();
            for child in list {
                parts.insert(child.name.clone(), node_as_json(checkpoint, child)?);
            }
            json!({ "path": node.path, "kind": attribute(node, "kind"), "bytes": node.bytes(), "parts": parts })
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_lose_their_module_paths() {
        assert_eq!(short_type("alloc::vec::Vec<nbody::Particle>"), "Vec<Particle>");
        assert_eq!(
            short_type("(f64, core::option::Option<[u8; 4]>)"),
            "(f64, Option<[u8; 4]>)"
        );
        assert_eq!(short_type("f64"), "f64");
        assert_eq!(short_type("&[a::b_c::D1]"), "&[D1]");
    }
}
