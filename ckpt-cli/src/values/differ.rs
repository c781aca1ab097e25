//! Where two checkpoints part: frames, variables, types, shapes, and the first elements that are not the same.
//!
//! Without a tolerance the bytes decide.

use ckpt::store::{FrameInfo, Integer, Node, NodeKind, Restored, VariableInfo};
use ckpt::value::DType;
use serde::Serialize;

use super::find::{follow, node_of};
use super::rows::{self, is_empty};
use super::summary::short;
use super::tolerance::{Tolerance, Two, apart, ulps};
use super::{is_inner, is_number, is_of_ckpt, select, type_and_shape};
use crate::failure::Outcome;
use crate::stores::checkpoint::unreadable;

/// One thing that is not the same.
#[derive(Debug, Clone, Serialize)]
pub struct Difference {
    /// `main/sim.pos`, or the frame.
    pub place: String,
    /// The number of the frame that has the variable.
    pub frame: Option<usize>,
    /// The member of a team that the frame is of; 0 is the thread that began.
    pub thread: u32,
    /// Which of several frames of one function it is of, in words.
    #[serde(skip)]
    pub whose: Option<String>,
    /// What is not the same, in words.
    pub what: String,
    /// Elements that differ, and of how many.
    pub elements: Option<(u64, u64)>,
    /// The first of them.
    pub first: Vec<Element>,
    /// The largest distance between two numbers.
    pub largest: Option<f64>,
    /// The largest distance between two floating-point numbers, in those that there are between them.
    pub largest_ulps: Option<u64>,
    /// The two numbers that are so far apart.
    #[serde(skip)]
    pub farthest: Option<(f64, f64)>,
    /// Whether it is nothing that the user has named: the state of a generator, how far an iterator is.
    #[serde(skip)]
    pub is_inner: bool,
    /// Where the numbers are in both, if there are any.
    #[serde(skip)]
    pub numbers: Option<(String, String)>,
}

/// An element that is not the same.
#[derive(Debug, Clone, Serialize)]
pub struct Element {
    /// Its index in every dimension.
    pub index: Vec<u64>,
    /// Its value in the first checkpoint.
    pub a: String,
    /// Its value in the second.
    pub b: String,
}

/// Two checkpoints side by side.
pub struct Pair<'c> {
    /// The first.
    pub a: &'c Restored,
    /// The second.
    pub b: &'c Restored,
    /// How far numbers may be apart.
    pub tolerance: Option<Tolerance>,
    /// How many elements of a variable are shown.
    pub shown: usize,
}

const CHUNK: u64 = 1 << 16;

impl Pair<'_> {
    /// All differences, in the order of the frames and variables; behind them those of what the user has not named.
    pub fn differences(&self) -> Outcome<Vec<Difference>> {
        let mut list = self.in_order()?;
        list.sort_by_key(|one| one.is_inner);
        Ok(list)
    }

    fn in_order(&self) -> Outcome<Vec<Difference>> {
        let mut list = Vec::new();
        let (a, b) = (self.a.frames(), self.b.frames());
        for (index, (one, other)) in a.iter().zip(b).enumerate() {
            if !same_frame(one, other) {
                list.push(plain(
                    format!("frame {index}"),
                    format!("{}, and {}", position(one), position(other)),
                ));
                return Ok(list);
            }
            let first = list.len();
            self.frame(index, one, other, &mut list)?;
            let whose = match one.thread {
                0 => is_one_of_several(a, index).then(|| format!("frame {index}")),
                member => Some(format!("thread {member}")),
            };
            for difference in &mut list[first..] {
                difference.frame = Some(index);
                difference.thread = one.thread;
                difference.whose.clone_from(&whose);
            }
        }
        if a.len() != b.len() {
            let what = format!(
                "{} frames, and {}: one is taken deeper in the calls",
                a.len(),
                b.len()
            );
            list.push(plain("frames".into(), what));
        }
        self.statics(&mut list)?;
        Ok(list)
    }

    fn statics(&self, list: &mut Vec<Difference>) -> Outcome<()> {
        let place = "statics".to_owned();
        match (self.a.tree().find("statics"), self.b.tree().find("statics")) {
            (Some(a), Some(b)) => self.nodes(a, b, place, list),
            (None, None) => Ok(()),
            (one, _) => {
                let which = if one.is_none() { "second" } else { "first" };
                list.push(plain(place, format!("only in the {which}")));
                Ok(())
            }
        }
    }

    fn frame(&self, index: usize, a: &FrameInfo, b: &FrameInfo, list: &mut Vec<Difference>) -> Outcome<()> {
        for one in &a.variables {
            let place = format!("{}/{}", a.function, one.key);
            let first = list.len();
            match b.variables.iter().find(|other| other.key == one.key) {
                Some(other) => self.variable(index, one, other, place, list)?,
                None => list.push(plain(place, "only in the first".into())),
            }
            mark_inner(&mut list[first..], is_of_ckpt(&one.key));
        }
        for other in b
            .variables
            .iter()
            .filter(|other| !a.variables.iter().any(|one| one.key == other.key))
        {
            list.push(Difference {
                is_inner: is_of_ckpt(&other.key),
                ..plain(
                    format!("{}/{}", b.function, other.key),
                    "only in the second".into(),
                )
            });
        }
        Ok(())
    }

    fn variable(
        &self,
        frame: usize,
        a: &VariableInfo,
        b: &VariableInfo,
        place: String,
        list: &mut Vec<Difference>,
    ) -> Outcome<()> {
        // A link's value is compared where it is.
        let is_own = |frames, variable| follow(frames, frame, variable).is_some_and(|(at, _)| at == frame);
        if !is_own(self.a.frames(), a) || !is_own(self.b.frames(), b) {
            return Ok(());
        }
        match (node_of(self.a, frame, &a.key), node_of(self.b, frame, &b.key)) {
            (Some(a), Some(b)) => self.nodes(a, b, place, list),
            (None, None) => Ok(()),
            (one, _) => {
                list.push(plain(
                    place,
                    format!("empty in the {}", if one.is_none() { "first" } else { "second" }),
                ));
                Ok(())
            }
        }
    }

    fn nodes(&self, a: &Node, b: &Node, place: String, list: &mut Vec<Difference>) -> Outcome<()> {
        let rectangle = |checkpoint, node| rows::rectangle(checkpoint, node).map_err(unreadable(node));
        if let (Some((one, shape)), Some((other, other_shape))) =
            (rectangle(self.a, a)?, rectangle(self.b, b)?)
            && let (NodeKind::Dataset { dtype, elements, .. }, NodeKind::Dataset { dtype: of_other, .. }) =
                (&one.kind, &other.kind)
            && shape == other_shape
            && dtype == of_other
        {
            let kind = Elements {
                dtype,
                shape: &shape,
                number: *elements,
            };
            list.extend(self.elements(one, other, &kind, place)?);
            return Ok(());
        }
        match (&a.kind, &b.kind) {
            (NodeKind::Group(ones), NodeKind::Group(others)) if is_empty(a) == is_empty(b) => {
                let first = list.len();
                let packs = ones.iter().any(|one| rows::packs(a, &one.name));
                let are_same = !packs || self.have_same_elements(a, b)?;
                for one in ones {
                    let place = format!("{place}.{}", one.name);
                    match others.iter().find(|other| other.name == one.name) {
                        Some(other) if rows::packs(a, &one.name) => match are_same {
                            true => self.packed(a, (one, other), place, list)?,
                            false => list.push(plain(place, not_compared(a).into())),
                        },
                        Some(other) => self.nodes(one, other, place, list)?,
                        None => list.push(plain(place, "only in the first".into())),
                    }
                }
                let new = others
                    .iter()
                    .filter(|other| !a.children().iter().any(|one| one.name == other.name));
                list.extend(
                    new.map(|other| plain(format!("{place}.{}", other.name), "only in the second".into())),
                );
                mark_inner(&mut list[first..], is_inner(a));
                Ok(())
            }
            (
                NodeKind::Dataset {
                    dtype: one,
                    shape,
                    elements,
                    ..
                },
                NodeKind::Dataset {
                    dtype: other,
                    shape: other_shape,
                    ..
                },
            ) => {
                let (one_words, other_words) =
                    (type_and_shape(one, shape), type_and_shape(other, other_shape));
                if one_words != other_words && !matches!(one, DType::Text) {
                    list.push(plain(place, format!("{one_words}, and {other_words}")));
                    return Ok(());
                }
                let kind = Elements {
                    dtype: one,
                    shape,
                    number: *elements,
                };
                list.extend(self.elements(a, b, &kind, place)?);
                Ok(())
            }
            (NodeKind::Link(_), _) | (_, NodeKind::Link(_)) => Ok(()),
            _ if [a, b].into_iter().any(is_empty) => {
                let which = if is_empty(a) { "first" } else { "second" };
                list.push(plain(place, format!("empty in the {which}")));
                Ok(())
            }
            _ => {
                list.push(plain(place, "a group in one, values in the other".into()));
                Ok(())
            }
        }
    }

    /// Whether the parts of two nodes that are packed have rows for the same elements.
    fn have_same_elements(&self, a: &Node, b: &Node) -> Outcome<bool> {
        let column = |checkpoint: &Restored, node| match rows::deciding(node) {
            Some(column) => checkpoint.bytes(column, 0, u64::MAX).map_err(unreadable(column)),
            None => Ok(Vec::new()),
        };
        Ok(column(self.a, a)? == column(self.b, b)?)
    }

    /// Parts of two nodes that have rows for the same elements of those, `a` and another one.
    fn packed(
        &self,
        a: &Node,
        (one, other): (&Node, &Node),
        place: String,
        list: &mut Vec<Difference>,
    ) -> Outcome<()> {
        let first = list.len();
        self.nodes(one, other, place, list)?;
        for element in list[first..].iter_mut().flat_map(|found| &mut found.first) {
            if let Some(row) = element.index.first().copied() {
                let index = rows::element_of(self.a, a, &one.name, row).map_err(unreadable(a))?;
                element.index.splice(..1, index);
            }
        }
        Ok(())
    }

    fn elements(&self, a: &Node, b: &Node, kind: &Elements, place: String) -> Outcome<Option<Difference>> {
        if matches!(kind.dtype, DType::Text) {
            return self.texts(a, b, place);
        }
        let size = kind.dtype.size();
        let mut found = Difference {
            elements: Some((0, kind.number)),
            numbers: is_number(kind.dtype).then(|| (a.path.clone(), b.path.clone())),
            ..plain(place, String::new())
        };
        let mut number = 0;
        for start in (0..kind.number).step_by(CHUNK as usize) {
            let one = self.a.bytes(a, start, CHUNK).map_err(unreadable(a))?;
            let other = self.b.bytes(b, start, CHUNK).map_err(unreadable(b))?;
            if one == other {
                continue;
            }
            let numbers = self.numbers(a, b, kind.dtype, start)?;
            let pairs = one.chunks(size).zip(other.chunks(size));
            for (offset, _) in pairs.enumerate().filter(|(_, (one, other))| one != other) {
                let pair = numbers.as_ref().and_then(|numbers| numbers.pair(offset));
                if pair.is_some_and(|pair| {
                    self.tolerance
                        .is_some_and(|tolerance| tolerance.same(pair, kind.dtype))
                }) {
                    continue;
                }
                number += 1;
                let before = found.largest;
                found.largest = farther(before, pair);
                if found.largest != before {
                    found.farthest = pair.map(|pair| (pair.a, pair.b));
                }
                let ulps = pair.and_then(|pair| ulps(pair.a, pair.b, kind.dtype));
                found.largest_ulps = found.largest_ulps.max(ulps);
                if found.first.len() < self.shown {
                    let at = start + offset as u64;
                    found.first.push(self.element(a, b, at, kind.shape)?);
                }
            }
        }
        found.what = match kind.shape {
            [] => "the value differs".into(),
            _ => format!("{number} of {} elements differ", kind.number),
        };
        found.elements = Some((number, kind.number));
        Ok((number > 0).then_some(found))
    }

    /// The numbers of one chunk, where there are numbers.
    fn numbers(&self, a: &Node, b: &Node, dtype: &DType, start: u64) -> Outcome<Option<Numbers>> {
        if !is_number(dtype) {
            return Ok(None);
        }
        let of = |checkpoint: &Restored, node: &Node| {
            Ok(match checkpoint.integers(node, start, CHUNK)? {
                Some(integers) => (integers.iter().map(|one| one.rounded()).collect(), Some(integers)),
                None => (checkpoint.numbers(node, start, CHUNK)?, None),
            })
        };
        let (one, integers) = of(self.a, a).map_err(unreadable(a))?;
        let (other, other_integers) = of(self.b, b).map_err(unreadable(b))?;
        Ok(Some(Numbers {
            rounded: (one, other),
            integers: integers.zip(other_integers),
        }))
    }

    fn element(&self, a: &Node, b: &Node, at: u64, shape: &[u64]) -> Outcome<Element> {
        let one = self.a.text(a, at, 1).map_err(unreadable(a))?.concat();
        let other = self.b.text(b, at, 1).map_err(unreadable(b))?.concat();
        Ok(Element {
            index: select::index_of(at, shape),
            a: one,
            b: other,
        })
    }

    fn texts(&self, a: &Node, b: &Node, place: String) -> Outcome<Option<Difference>> {
        let one = self.a.text(a, 0, u64::MAX).map_err(unreadable(a))?.concat();
        let other = self.b.text(b, 0, u64::MAX).map_err(unreadable(b))?.concat();
        if one == other {
            return Ok(None);
        }
        let first = vec![Element {
            index: Vec::new(),
            a: one,
            b: other,
        }];
        Ok(Some(Difference {
            first,
            ..plain(place, "the text differs".into())
        }))
    }
}

/// The places of all variables of a checkpoint, as differences have them.
pub fn places(checkpoint: &Restored) -> Vec<String> {
    let of_frame = |frame: &FrameInfo| {
        let keys = frame
            .variables
            .iter()
            .map(|variable| format!("{}/{}", frame.function, variable.key));
        keys.collect::<Vec<_>>()
    };
    let statics = checkpoint
        .tree()
        .find("statics")
        .map(Node::children)
        .unwrap_or_default();
    let statics = statics.iter().map(|one| format!("statics.{}", one.name));
    checkpoint
        .frames()
        .iter()
        .flat_map(of_frame)
        .chain(statics)
        .collect()
}

/// What two datasets of the same type and shape hold.
struct Elements<'n> {
    dtype: &'n DType,
    shape: &'n [u64],
    number: u64,
}

/// The numbers of a chunk of both.
struct Numbers {
    rounded: (Vec<f64>, Vec<f64>),
    /// As they are, where they are integers: an `f64` holds them up to 2^53 only.
    integers: Option<(Vec<Integer>, Vec<Integer>)>,
}

impl Numbers {
    fn pair(&self, at: usize) -> Option<Two> {
        let (a, b) = (*self.rounded.0.get(at)?, *self.rounded.1.get(at)?);
        let distance = match &self.integers {
            Some((one, other)) => one.get(at)?.distance(*other.get(at)?) as f64,
            None => (a - b).abs(),
        };
        Some(Two { a, b, distance })
    }
}

/// The larger distance; two numbers of which one is NaN have none.
fn farther(largest: Option<f64>, pair: Option<Two>) -> Option<f64> {
    let distance = pair
        .map(|pair| pair.distance)
        .filter(|distance| !distance.is_nan());
    match (largest, distance) {
        (Some(largest), Some(distance)) => Some(largest.max(distance)),
        (one, other) => one.or(other),
    }
}

/// Why a part of a node is not compared that has rows for other elements in the two.
fn not_compared(node: &Node) -> &'static str {
    match rows::deciding(node).map(|column| &*column.name) {
        Some("lengths") => "not compared: the lists have other lengths",
        _ => "not compared: it is there in other elements",
    }
}

fn plain(place: String, what: String) -> Difference {
    Difference {
        place,
        frame: None,
        thread: 0,
        whose: None,
        what,
        elements: None,
        first: Vec::new(),
        largest: None,
        largest_ulps: None,
        farthest: None,
        is_inner: false,
        numbers: None,
    }
}

fn mark_inner(list: &mut [Difference], are_inner: bool) {
    list.iter_mut().for_each(|one| one.is_inner |= are_inner);
}

impl Difference {
    /// The place as people have it: also of which thread, or of which of several frames, it is.
    pub fn named(&self) -> String {
        match &self.whose {
            Some(whose) => format!("{}, {whose}", self.place),
            None => self.place.clone(),
        }
    }

    /// How far numbers are apart, for people: `5.32907e-15, 3 units in the last place`.
    pub fn apart(&self) -> String {
        let distance = self.largest.map(short);
        let words = self.farthest.zip(self.largest_ulps);
        let words = words.and_then(|(pair, ulps)| apart(pair, ulps));
        distance.into_iter().chain(words).collect::<Vec<_>>().join(", ")
    }
}

/// Whether a function is there more than once.
fn is_one_of_several(frames: &[FrameInfo], index: usize) -> bool {
    let FrameInfo { function, module, .. } = &frames[index];
    let same = frames
        .iter()
        .filter(|one| (&one.function, &one.module) == (function, module));
    same.count() > 1
}

fn same_frame(a: &FrameInfo, b: &FrameInfo) -> bool {
    (&a.function, &a.module, a.site) == (&b.function, &b.module, b.site)
}

fn position(frame: &FrameInfo) -> String {
    format!("`{}` at {}:{}", frame.function, frame.file, frame.site_line)
}
