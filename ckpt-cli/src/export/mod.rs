//! Values for other programs: `npy` writes an array as numpy has it, `npz` many of them, `csv` one as text, `table` several
//! variables as columns.

mod csv;
mod npy;
mod npz;
pub mod table;

use ckpt::LoadError;
use ckpt::store::{Node, NodeKind, Restored, VariableInfo};
use ckpt::value::DType;

pub use csv::write as write_csv;
pub use npz::write as write_npz;

use crate::values::elements::Elements;
use crate::values::find::{follow, node_of};
use crate::values::rows;
use crate::values::select::{self, Bounds, Run};
use crate::values::tree::short_type;
use crate::values::{is_inner, is_of_ckpt, type_and_shape};

/// What has values, with the name that it gets.
pub struct Named<'c> {
    /// `main/grid`, `advance/self.pos`.
    pub name: String,
    /// Where the values are.
    pub node: &'c Node,
    /// The variable that it is, or is a part of.
    pub variable: Option<&'c VariableInfo>,
    /// Whether it means nothing to people: what ckpt keeps for itself, the state of a generator.
    pub is_inner: bool,
    /// Whether its indices count the values that are there, not the elements of the list that they are in.
    pub is_packed: bool,
    /// The values.
    pub elements: Elements<'c>,
    /// Which of its elements; all, where nothing is said.
    pub bounds: Option<Vec<Bounds>>,
}

impl<'c> Named<'c> {
    /// Values that are of no variable as far as one knows.
    pub fn of(name: String, node: &'c Node, elements: Elements<'c>) -> Self {
        Named {
            name,
            node,
            variable: None,
            is_inner: false,
            is_packed: false,
            elements,
            bounds: None,
        }
    }

    /// What it is: `f64 [512, 512]`.
    pub fn kind(&self) -> String {
        let kind = match &self.node.kind {
            NodeKind::Dataset { dtype, shape, .. } => type_and_shape(dtype, shape),
            _ => format!("strings {:?}", self.elements.shape()),
        };
        match self.is_packed {
            true => kind + ", with indices of its own",
            false => kind,
        }
    }

    /// The type that it has in the program, or whose part it is: ` (of sim: Simulation)`.
    pub fn declared(&self) -> String {
        let Some(variable) = self.variable else {
            return String::new();
        };
        let rust_type = short_type(&variable.rust_type);
        match self.node.path.ends_with(&format!("/{}", variable.key)) {
            true => format!(" ({rust_type})"),
            false => format!(" (of {}: {rust_type})", variable.key),
        }
    }

    /// The shape of the elements that are chosen of an array of this shape, and where they are.
    fn chosen(&self, shape: &[u64]) -> (Vec<u64>, Vec<Run>) {
        let whole = || shape.iter().map(|&size| (0, size)).collect();
        let bounds: Vec<Bounds> = self.bounds.clone().unwrap_or_else(whole);
        let runs = match self.bounds {
            Some(_) => select::runs(&bounds, shape).collect(),
            None => vec![Run {
                index: vec![0; shape.len()],
                first: 0,
                length: select::count(&bounds),
            }],
        };
        (bounds.iter().map(|(from, to)| to - from).collect(), runs)
    }
}

/// All that has values at and below a node: parts of structs, and lists of strings as one.
pub fn below<'c>(name: &str, node: &'c Node, list: &mut Vec<Named<'c>>) {
    match Elements::of(node) {
        Some(elements) => list.push(Named::of(name.to_owned(), node, elements)),
        None => {
            let first = list.len();
            for child in node.children() {
                let own = list.len();
                below(&format!("{name}.{}", child.name), child, list);
                let is_packed = rows::packs(node, &child.name);
                list[own..].iter_mut().for_each(|one| one.is_packed |= is_packed);
            }
            list[first..]
                .iter_mut()
                .for_each(|one| one.is_inner |= is_inner(node));
        }
    }
}

/// All values of a checkpoint, those first that the user has named. A function that is active more than once has its frame's number in front.
pub fn all(checkpoint: &Restored) -> Vec<Named<'_>> {
    let frames = checkpoint.frames();
    let mut list = Vec::new();
    for (index, frame) in frames.iter().enumerate() {
        let is_only = frames
            .iter()
            .filter(|other| other.function == frame.function)
            .count()
            == 1;
        let function = match is_only {
            true => frame.function.clone(),
            false => format!("{index}:{}", frame.function),
        };
        for variable in &frame.variables {
            let is_own = follow(frames, index, variable)
                .is_some_and(|(at, found)| at == index && found.key == variable.key);
            if let Some(node) = node_of(checkpoint, index, &variable.key).filter(|_| is_own) {
                let first = list.len();
                below(&format!("{function}/{}", variable.key), node, &mut list);
                for one in &mut list[first..] {
                    one.variable = Some(variable);
                    one.is_inner |= is_of_ckpt(&variable.key);
                }
            }
        }
    }
    for group in ["statics", "shared"] {
        let node = checkpoint.tree().find(group);
        for child in node.map(Node::children).unwrap_or_default() {
            below(&format!("{group}/{}", child.name), child, &mut list);
        }
    }
    list.sort_by_key(|one| one.is_inner);
    list
}

/// Elements as a text file has them: characters without the quotes of a program.
fn words_of(
    checkpoint: &Restored,
    elements: &Elements<'_>,
    first: u64,
    count: u64,
) -> Result<Vec<String>, LoadError> {
    if let Elements::Array(node, _) = elements
        && let NodeKind::Dataset {
            dtype: DType::Char, ..
        } = &node.kind
    {
        let codes = checkpoint.numbers(node, first, count)?;
        let letter = |code: f64| char::from_u32(code as u32).unwrap_or(char::REPLACEMENT_CHARACTER);
        return Ok(codes.into_iter().map(|code| letter(code).to_string()).collect());
    }
    elements.words(checkpoint, first, count)
}
