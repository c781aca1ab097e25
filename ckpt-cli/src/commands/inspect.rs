//! `cargo ckpt inspect`: what a checkpoint holds: frames, variables, values.

use ckpt::store::{FrameInfo, Node, NodeKind, Restored, VariableContent};
use ckpt::value::DType;
use serde_json::{Value, json};

use crate::failure::{Failure, Outcome};
use crate::render::{self, FormatOption};
use crate::stores::{StoreOption, Which};
use crate::values::find::{Found, find, node_of};
use crate::values::summary::summary;
use crate::values::{checkpoint, select, type_and_shape};

/// Look into a checkpoint: its frames and variables, or the values of one
///
/// Without VAR: the tree of frames with source positions, and every variable with type, shape, size and value or
/// smallest, largest and mean. With VAR: that variable and its elements, or a part of them.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct Inspect {
    /// Number of the checkpoint, or `latest`
    #[arg(value_name = "ID")]
    which: Which,
    /// A variable, a part of it, some elements: `sim`, `sim.pos`, `sim.pos[0..10]`, `grid[2, ..5]`, `1/n` in frame 1
    #[arg(value_name = "VAR")]
    variable: Option<String>,
    /// How many elements are shown at most
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: u64,
    #[command(flatten)]
    store: StoreOption,
    #[command(flatten)]
    format: FormatOption,
}

const EXAMPLE: &str = "\
Example:
  cargo ckpt inspect latest
  cargo ckpt inspect 12 'sim.pos[0..10]'

Exit codes: 0 done, 2 no such variable or element, 76 no such checkpoint, 78 it is damaged.";

impl Inspect {
    /// Shows.
    pub fn perform(&self) -> Outcome<u8> {
        let folder = self.store.existing()?;
        let checkpoint = checkpoint::load(&folder, self.which)?;
        match (&self.variable, self.format.json()) {
            (None, false) => print_whole(&checkpoint)?,
            (None, true) => render::print_json(&whole_as_json(&checkpoint)?),
            (Some(variable), _) => {
                let (name, inside) = select::split(variable)?;
                let found = find(&checkpoint, name)?;
                self.one(&checkpoint, &found, inside)?;
            }
        }
        Ok(0)
    }

    fn one(&self, checkpoint: &Restored, found: &Found, inside: Option<&str>) -> Outcome<()> {
        let Some(node) = found.node else {
            return Err(Failure::usage(format!("`{}` holds no value", found.name)));
        };
        if inside.is_some() && !node.children().is_empty() {
            let parts: Vec<_> = node
                .children()
                .iter()
                .map(|child| format!("{}.{}", found.name, child.name))
                .collect();
            return Err(Failure::usage(format!("`{}` is no array", found.name))
                .help(format!("its parts: {}", parts.join(", "))));
        }
        if self.format.json() {
            let mut value = node_as_json(checkpoint, node)?;
            value["name"] = json!(found.name);
            value["rust_type"] = json!(found.variable.rust_type);
            if let NodeKind::Dataset { shape, .. } = &node.kind {
                let (runs, _) = self.elements(checkpoint, node, inside, shape)?;
                let run = |(index, values): &(Vec<u64>, Vec<String>)| {
                    let values: Vec<_> = values.iter().map(|text| element_as_json(text)).collect();
                    json!({ "index": index, "values": values })
                };
                value["elements"] = runs.iter().map(run).collect();
            }
            render::print_json(&value);
            return Ok(());
        }
        let frame = &checkpoint.frames()[found.frame];
        render::print(&format!(
            "{}: {}, in `{}` ({}:{})\n\n",
            found.name,
            short_type(&found.variable.rust_type),
            frame.function,
            frame.file,
            found.variable.line
        ));
        let mut table = variables_table();
        row(&mut table, checkpoint, node, &found.name, 0)?;
        render::print_table(&table);
        if let NodeKind::Dataset { shape, .. } = &node.kind {
            self.print_elements(checkpoint, node, inside, shape)?;
        }
        Ok(())
    }

    /// The chosen elements as text, up to the limit, each run with the index of its first; and how many there are.
    #[allow(clippy::type_complexity)]
    fn elements(
        &self,
        checkpoint: &Restored,
        node: &Node,
        inside: Option<&str>,
        shape: &[u64],
    ) -> Outcome<(Vec<(Vec<u64>, Vec<String>)>, u64)> {
        let bounds = select::bounds(inside, shape)?;
        let mut left = self.limit;
        let mut list = Vec::new();
        for (index, first, length) in select::runs(&bounds, shape) {
            if left == 0 {
                break;
            }
            let values = checkpoint
                .text(node, first, length.min(left))
                .map_err(|error| Failure::store(format!("cannot read {}", node.path)).because(error))?;
            left = left.saturating_sub(length);
            list.push((index, values));
        }
        Ok((list, select::count(&bounds)))
    }

    fn print_elements(
        &self,
        checkpoint: &Restored,
        node: &Node,
        inside: Option<&str>,
        shape: &[u64],
    ) -> Outcome<()> {
        let (list, chosen) = self.elements(checkpoint, node, inside, shape)?;
        if shape.is_empty() && inside.is_none() {
            return Ok(());
        }
        let mut text = String::from("\n");
        for (index, values) in list {
            for (offset, value) in values.iter().enumerate() {
                let mut at = index.clone();
                if let Some(last) = at.last_mut() {
                    *last += offset as u64;
                }
                text += &format!("{at:?} {value}\n");
            }
        }
        if chosen > self.limit {
            text += &format!(
                "... {} more; choose some with `[FROM..TO]`, or raise `--limit`\n",
                chosen - self.limit
            );
        }
        render::print(&text);
        Ok(())
    }
}

fn variables_table() -> comfy_table::Table {
    let mut table = render::table(&["VARIABLE", "TYPE", "STORED AS", "SIZE", "VALUE"]);
    render::right(&mut table, &[3]);
    table
}

fn print_whole(checkpoint: &Restored) -> Outcome<()> {
    let meta = checkpoint.meta();
    render::print(&format!(
        "Checkpoint {} of {} {}, taken {} on {} at site visit {} ({})\n{}\n",
        checkpoint.id(),
        meta.program,
        meta.version,
        meta.time_text(),
        meta.host,
        meta.visit,
        meta.reason,
        checkpoint.path().display()
    ));
    for (name, text) in &meta.notes {
        render::print(&format!("{name}: {text}\n"));
    }
    for (index, frame) in checkpoint.frames().iter().enumerate() {
        render::print(&format!("\n{index}  {}\n", frame_line(frame)));
        print_variables(checkpoint, index, frame)?;
    }
    if let Some(shared) = checkpoint
        .tree()
        .children()
        .iter()
        .find(|node| node.name == "shared")
    {
        render::print("\nShared objects (Rc, Arc):\n");
        let mut table = variables_table();
        for node in shared.children() {
            row(&mut table, checkpoint, node, &format!("shared {}", node.name), 0)?;
        }
        render::print_table(&table);
    }
    Ok(())
}

fn frame_line(frame: &FrameInfo) -> String {
    let site = match &frame.callee {
        Some(callee) => format!("in the call of `{callee}`"),
        None => "at its checkpoint".to_owned(),
    };
    format!(
        "{} {site}, {}:{}:{}",
        frame.function, frame.file, frame.site_line, frame.site_column
    )
}

fn print_variables(checkpoint: &Restored, index: usize, frame: &FrameInfo) -> Outcome<()> {
    if frame.variables.is_empty() {
        render::print("   (no variables)\n");
        return Ok(());
    }
    let mut table = variables_table();
    for variable in &frame.variables {
        if let VariableContent::Link { frame, key } = &variable.content {
            let of = checkpoint
                .frames()
                .get(*frame)
                .map_or("?", |frame| frame.function.as_str());
            table.add_row([
                variable.key.clone(),
                String::new(),
                String::new(),
                String::new(),
                format!("is `{key}` of {of}, frame {frame}"),
            ]);
            continue;
        }
        match node_of(checkpoint, index, &variable.key) {
            Some(node) => row(&mut table, checkpoint, node, &variable.key, 0)?,
            None => {
                let size = render::bytes(variable.bytes);
                table.add_row([
                    variable.key.clone(),
                    short_type(&variable.rust_type),
                    "empty".into(),
                    size,
                    String::new(),
                ]);
            }
        }
    }
    render::print_table(&table);
    Ok(())
}

/// Adds a node and what is below it.
fn row(
    table: &mut comfy_table::Table,
    checkpoint: &Restored,
    node: &Node,
    name: &str,
    depth: usize,
) -> Outcome<()> {
    let name = format!("{}{name}", "  ".repeat(depth));
    let rust_type = attribute(node, "rust_type")
        .map(|name| short_type(&name))
        .unwrap_or_default();
    match &node.kind {
        NodeKind::Dataset {
            dtype, shape, bytes, ..
        } => {
            let stored = type_and_shape(dtype, shape);
            table.add_row([
                name,
                rust_type,
                stored,
                render::bytes(*bytes),
                value(checkpoint, node)?,
            ]);
        }
        NodeKind::Link(target) => {
            table.add_row([name, rust_type, "link".into(), String::new(), target.clone()]);
        }
        NodeKind::Group(list) => {
            let kind = attribute(node, "kind").unwrap_or_else(|| "group".into());
            table.add_row([name, rust_type, kind, render::bytes(node.bytes()), String::new()]);
            for child in list {
                row(table, checkpoint, child, &child.name, depth + 1)?;
            }
        }
    }
    Ok(())
}

/// A single value, the text, or many numbers in short.
fn value(checkpoint: &Restored, node: &Node) -> Outcome<String> {
    const FEW: u64 = 4;
    const LONGEST: usize = 50;
    let NodeKind::Dataset { dtype, elements, .. } = &node.kind else {
        return Ok(String::new());
    };
    let failed = |error| Failure::store(format!("cannot read {}", node.path)).because(error);
    if matches!(dtype, DType::Text) {
        let text = checkpoint
            .text(node, 0, 4 * LONGEST as u64)
            .map_err(failed)?
            .concat();
        let short: String = text.chars().take(LONGEST).collect();
        return Ok(format!(
            "{short:?}{}",
            if short.len() < text.len() { "..." } else { "" }
        ));
    }
    if *elements <= FEW {
        return Ok(checkpoint.text(node, 0, FEW).map_err(failed)?.join(", "));
    }
    Ok(summary(checkpoint, node)?
        .map(|summary| summary.words())
        .unwrap_or_default())
}

fn attribute(node: &Node, name: &str) -> Option<String> {
    node.attribute(name).map(ToString::to_string)
}

/// A Rust type without module paths: `Vec<Particle>` for `alloc::vec::Vec<nbody::Particle>`.
fn short_type(name: &str) -> String {
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

fn whole_as_json(checkpoint: &Restored) -> Outcome<Value> {
    let meta = checkpoint.meta();
    let mut frames = Vec::new();
    for (index, frame) in checkpoint.frames().iter().enumerate() {
        let mut variables = Vec::new();
        for variable in &frame.variables {
            let mut value = match (&variable.content, node_of(checkpoint, index, &variable.key)) {
                (VariableContent::Link { frame, key }, _) => {
                    json!({ "link": { "frame": frame, "key": key } })
                }
                (_, Some(node)) => node_as_json(checkpoint, node)?,
                (_, None) => json!({}),
            };
            value["name"] = json!(variable.key);
            value["rust_type"] = json!(variable.rust_type);
            value["line"] = json!(variable.line);
            value["parameter"] = json!(variable.parameter);
            variables.push(value);
        }
        frames.push(json!({
            "function": frame.function, "module": frame.module, "file": frame.file, "line": frame.line,
            "site": frame.site, "site_line": frame.site_line, "site_column": frame.site_column,
            "callee": frame.callee, "layout": format!("{:016x}", frame.layout),
            "source": format!("{:016x}", frame.source), "variables": variables,
        }));
    }
    Ok(json!({
        "id": checkpoint.id().0, "path": checkpoint.path(), "program": meta.program, "version": meta.version,
        "visit": meta.visit, "time": meta.time_text(), "reason": meta.reason, "host": meta.host,
        "notes": meta.notes, "frames": frames,
    }))
}

/// A number as a number; what JSON has no number for (NaN, text, names) as text.
fn element_as_json(text: &str) -> Value {
    match serde_json::from_str::<Value>(text) {
        Ok(value) if value.is_number() || value.is_boolean() => value,
        _ => json!(text),
    }
}

fn node_as_json(checkpoint: &Restored, node: &Node) -> Outcome<Value> {
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
