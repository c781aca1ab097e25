//! What can be indexed: the elements of a dataset, and the strings of a list of strings, which is stored as lengths and
//! one long text.

use ckpt::LoadError;
use ckpt::store::{Node, NodeKind, Restored};

use serde_json::{Value, json};

use super::select::Bounds;
use super::{is_number, select};
use crate::failure::Outcome;
use crate::stores::checkpoint::unreadable;

/// Elements that can be chosen by index.
#[derive(Debug, Clone)]
pub enum Elements<'c> {
    /// Those of a dataset.
    Array(&'c Node, Vec<u64>),
    /// Strings: their lengths, their text (none if all are empty), their number.
    Strings(&'c Node, Option<&'c Node>, u64),
}

/// What can be indexed at and below a node, by its path from there: itself, or the fields of a list of structs, which are
/// stored as one array for each with a row for every element. Empty if there is no such thing.
pub fn indexed(node: &Node) -> Vec<(String, Elements<'_>)> {
    let mut list = Vec::new();
    let rows = |elements: &Elements<'_>| elements.shape().first().copied();
    if !fields(node, "", &mut list) {
        return Vec::new();
    }
    let first = list.first().and_then(|(_, elements)| rows(elements));
    let agree = list.iter().all(|(_, elements)| rows(elements) == first);
    let is_itself = matches!(list.as_slice(), [(path, _)] if path.is_empty());
    match is_itself || (first.is_some() && agree) {
        true => list,
        false => Vec::new(),
    }
}

/// Whether the node holds nothing but arrays and structs of them, which are added.
fn fields<'c>(node: &'c Node, path: &str, list: &mut Vec<(String, Elements<'c>)>) -> bool {
    if let Some(elements) = Elements::of(node) {
        list.push((path.to_owned(), elements));
        return true;
    }
    let is_struct = node
        .attribute("kind")
        .is_some_and(|kind| kind.to_string() == "struct");
    let mut children = node.children().iter();
    is_struct && children.all(|child| fields(child, &format!("{path}.{}", child.name), list))
}

/// What elements are, for how they are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Sort {
    /// Numbers.
    Number,
    /// Names, texts, characters.
    #[default]
    Word,
    /// Strings of a list.
    String,
}

/// Chosen elements.
#[derive(Debug, Default)]
pub struct Chosen {
    /// What they are.
    pub sort: Sort,
    /// Runs of neighbours: the index of the first, and the elements as text.
    pub runs: Vec<(Vec<u64>, Vec<String>)>,
    /// How many were chosen, shown or not.
    pub number: u64,
}

impl Sort {
    /// An element for people.
    pub fn words(self, element: &str) -> String {
        if self == Sort::String {
            format!("{element:?}")
        } else {
            element.to_owned()
        }
    }

    /// An element for scripts: a number where JSON has one for it (not for NaN, nor for an integer that 64 bits do not hold),
    /// else text.
    pub fn json(self, element: &str) -> Value {
        let is_written_whole = |value: &Value| !value.is_f64() || element.contains(['.', 'e']);
        match serde_json::from_str::<Value>(element) {
            Ok(value) if self == Sort::Number && value.is_number() && is_written_whole(&value) => value,
            _ => json!(element),
        }
    }
}

impl<'c> Elements<'c> {
    /// The elements of a node, if it has any of its own.
    pub fn of(node: &'c Node) -> Option<Self> {
        match &node.kind {
            NodeKind::Dataset { shape, .. } => Some(Elements::Array(node, shape.clone())),
            NodeKind::Group(children) if is_strings(node) => {
                let child = |name: &str| children.iter().find(|child| child.name == name);
                let lengths = child("lengths")?;
                let NodeKind::Dataset { elements, .. } = &lengths.kind else {
                    return None;
                };
                Some(Elements::Strings(lengths, child("text"), *elements))
            }
            _ => None,
        }
    }

    /// Size in every dimension.
    pub fn shape(&self) -> Vec<u64> {
        match self {
            Elements::Array(_, shape) => shape.clone(),
            Elements::Strings(_, _, number) => vec![*number],
        }
    }

    /// The elements that stand in the brackets, at most `limit` of them.
    pub fn chosen(&self, checkpoint: &Restored, inside: Option<&str>, limit: u64) -> Outcome<Chosen> {
        let bounds = select::bounds(inside, &self.shape())?;
        self.chosen_within(checkpoint, &bounds, limit)
    }

    /// The elements within bounds of every dimension, at most `limit` of them.
    pub fn chosen_within(&self, checkpoint: &Restored, bounds: &[Bounds], limit: u64) -> Outcome<Chosen> {
        let shape = self.shape();
        let mut chosen = Chosen {
            sort: self.sort(),
            runs: Vec::new(),
            number: select::count(bounds),
        };
        let mut left = limit;
        for run in select::runs(bounds, &shape) {
            if left == 0 {
                break;
            }
            chosen
                .runs
                .push((run.index, self.read(checkpoint, run.first, run.length.min(left))?));
            left = left.saturating_sub(run.length);
        }
        Ok(chosen)
    }

    /// `count` of them from the one with this number in the flat array on, as text.
    pub fn words(&self, checkpoint: &Restored, first: u64, count: u64) -> Result<Vec<String>, LoadError> {
        match self {
            Elements::Array(node, _) => checkpoint.text(node, first, count),
            Elements::Strings(lengths, text, _) => strings(checkpoint, lengths, *text, first, count),
        }
    }

    /// What they are.
    pub fn sort(&self) -> Sort {
        match self {
            Elements::Strings(..) => Sort::String,
            Elements::Array(node, _) => match &node.kind {
                NodeKind::Dataset { dtype, .. } if is_number(dtype) => Sort::Number,
                _ => Sort::Word,
            },
        }
    }

    fn read(&self, checkpoint: &Restored, first: u64, count: u64) -> Outcome<Vec<String>> {
        let (Elements::Array(node, _) | Elements::Strings(node, ..)) = self;
        self.words(checkpoint, first, count).map_err(unreadable(node))
    }
}

fn is_strings(node: &Node) -> bool {
    node.attribute("kind")
        .is_some_and(|kind| kind.to_string() == "strings")
}

/// The strings from `first` on, at most `count`.
fn strings(
    checkpoint: &Restored,
    lengths: &Node,
    text: Option<&Node>,
    first: u64,
    count: u64,
) -> Result<Vec<String>, LoadError> {
    let lengths = checkpoint.numbers(lengths, 0, first.saturating_add(count))?;
    let text = text.map_or(Ok(Vec::new()), |text| checkpoint.bytes(text, 0, u64::MAX))?;
    let mut at = 0_usize;
    let mut list = Vec::new();
    for (index, length) in lengths.into_iter().enumerate() {
        let end = at.saturating_add(length as usize);
        if index as u64 >= first {
            // The checksums are right; that the columns agree has not been checked.
            let bytes = text.get(at..end).unwrap_or_default();
            list.push(String::from_utf8_lossy(bytes).into_owned());
        }
        at = end;
    }
    Ok(list)
}
