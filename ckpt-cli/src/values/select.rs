//! A part of an array: `VAR[3]`, `VAR[0..10]`, `VAR[2, ..5]`. What is not said about the last dimensions means all.

use crate::failure::{Failure, Outcome, says};

/// One dimension of a selection: from, up to but not including.
pub type Bounds = (u64, u64);

/// A step of what is typed, in its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'t> {
    /// A variable, or a part of it.
    Part(&'t str),
    /// What stands in brackets.
    Index(&'t str),
}

impl<'t> Step<'t> {
    /// As it was typed, without dot and brackets.
    pub fn text(&self) -> &'t str {
        let (Step::Part(text) | Step::Index(text)) = self;
        text
    }
}

/// Every dot stands in front of a name, and behind one or brackets.
fn dots_have_names(text: &str) -> Outcome<()> {
    let lacks_one = |names: &str| names.split('.').any(str::is_empty);
    let mut pieces = text.split('[');
    let first = pieces.next().unwrap_or_default();
    let mut behind = pieces.filter_map(|piece| piece.split_once("].").map(|(_, names)| names));
    if first.contains('.') && lacks_one(first) || behind.any(lacks_one) {
        return Err(
            Failure::usage(says!("E3191: in `{text}` a dot has no name beside it"))
                .help("write `VAR.part`, `VAR[3].part` or `VAR[3]`"),
        );
    }
    Ok(())
}

/// The steps of `sim.bodies[3].pos[0]`.
pub fn steps(text: &str) -> Outcome<Vec<Step<'_>>> {
    dots_have_names(text)?;
    let mut steps = Vec::new();
    let mut pieces = text.split('[');
    let parts = |text| {
        str::split(text, '.')
            .filter(|part| !part.is_empty())
            .map(Step::Part)
    };
    steps.extend(parts(pieces.next().unwrap_or_default()));
    for piece in pieces {
        let (index, rest) = piece.split_once(']').ok_or_else(|| no_end(text))?;
        steps.push(Step::Index(index));
        steps.extend(parts(rest));
    }
    Ok(steps)
}

fn no_end(text: &str) -> Failure {
    Failure::usage(says!("E3095: `{text}` lacks the closing bracket")).help("write `VAR[0..10]`")
}

/// Splits `sim.pos[0..10]` into the name and what stands in the brackets. The elements of a list of structs are stored field
/// by field, so `sim.bodies[3].pos[0]` is `sim.bodies.pos[3, 0]`.
pub fn split(text: &str) -> Outcome<(String, Option<String>)> {
    dots_have_names(text)?;
    let mut parts = text.split('[');
    let mut name = parts.next().unwrap_or_default().to_owned();
    let mut inside = Vec::new();
    for part in parts {
        let Some((index, rest)) = part.split_once(']') else {
            return Err(no_end(text));
        };
        let goes_on = rest.is_empty() || rest.starts_with('.');
        inside.push(if goes_on { index } else { part });
        name += if goes_on { rest } else { "" };
    }
    Ok((name, (!inside.is_empty()).then(|| inside.join(", "))))
}

/// The bounds of every dimension of an array of this shape.
pub fn bounds(inside: Option<&str>, shape: &[u64]) -> Outcome<Vec<Bounds>> {
    let parts: Vec<&str> = inside
        .map(|inside| inside.split(',').collect())
        .unwrap_or_default();
    if parts.len() > shape.len() {
        return Err(Failure::usage(says!(
            "E3096: [{}] has more dimensions than the value",
            inside.unwrap_or_default()
        ))
        .help(match shape {
            [] => "it is a single value".to_owned(),
            shape => format!("its shape is {shape:?}"),
        }));
    }
    let part = |dimension: usize| parts.get(dimension).copied().unwrap_or("..");
    shape
        .iter()
        .enumerate()
        .map(|(dimension, &size)| one(part(dimension).trim(), size))
        .collect()
}

fn no_index(digits: &str) -> Failure {
    Failure::usage(says!("E3097: `{digits}` is not an index"))
        .help("write `VAR[3]`, `VAR[0..10]` or `VAR[2, ..5]`")
}

fn one(text: &str, size: u64) -> Outcome<Bounds> {
    let number = |text: &str, default: u64| match text.trim() {
        "" => Ok(default),
        digits => digits.parse::<u64>().map_err(|_| no_index(digits)),
    };
    let (from, to) = match text.split_once("..") {
        Some((from, to)) => match to.strip_prefix('=') {
            Some(last) => (number(from, 0)?, number(last, size)?.saturating_add(1)),
            None => (number(from, 0)?, number(to, size)?),
        },
        None => {
            let index = number(text, size)?;
            (index, index.saturating_add(1))
        }
    };
    if text.is_empty() {
        return Err(no_index("[]"));
    }
    if from > to {
        return Err(Failure::usage(says!("E3192: [{text}] ends before it begins"))
            .help("write the smaller index first: `VAR[0..10]`"));
    }
    if to > size {
        return Err(Failure::usage(says!("E3098: [{text}] is outside of 0..{size}"))
            .help("indices begin at 0, and the end of a range is not included"));
    }
    Ok((from, to))
}

/// Neighbouring elements of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The index of the first in every dimension.
    pub index: Vec<u64>,
    /// Its number in the flat array.
    pub first: u64,
    /// How many they are.
    pub length: u64,
}

/// The runs that make up the selection, in order, last dimension fastest.
pub fn runs(bounds: &[Bounds], shape: &[u64]) -> impl Iterator<Item = Run> {
    let empty = bounds.iter().any(|(from, to)| from >= to);
    let first: Vec<u64> = bounds.iter().map(|(from, _)| *from).collect();
    let length = bounds.last().map_or(1, |(from, to)| to.saturating_sub(*from));
    std::iter::successors((!empty).then_some(first), |index| following(index, bounds)).map(move |index| {
        let first = index
            .iter()
            .zip(shape)
            .fold(0, |flat, (at, size)| flat * size + at);
        Run { index, first, length }
    })
}

/// The index of the run after the one at `index`.
fn following(index: &[u64], bounds: &[Bounds]) -> Option<Vec<u64>> {
    let outer = index.len().saturating_sub(1);
    let carry = (0..outer)
        .rev()
        .find(|&dimension| index[dimension] + 1 < bounds[dimension].1)?;
    let mut next = index.to_vec();
    next[carry] += 1;
    for dimension in carry + 1..outer {
        next[dimension] = bounds[dimension].0;
    }
    Some(next)
}

/// Number of selected elements.
pub fn count(bounds: &[Bounds]) -> u64 {
    bounds
        .iter()
        .map(|(from, to)| to - from)
        .fold(1, u64::saturating_mul)
}

/// `[3, 4]` of element 10 in an array of shape (3, 3) is `[3, 1]`.
pub fn index_of(mut element: u64, shape: &[u64]) -> Vec<u64> {
    let mut index = vec![0; shape.len()];
    for (at, &size) in index.iter_mut().zip(shape).rev() {
        *at = element % size.max(1);
        element /= size.max(1);
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_are_split_off() {
        let of = |text| split(text).unwrap();
        assert_eq!(of("a.b[0..3]"), ("a.b".into(), Some("0..3".into())));
        assert_eq!(of("a"), ("a".into(), None));
        assert_eq!(of("a[3].b"), ("a.b".into(), Some("3".into())));
        assert_eq!(of("a[3].b[..2]"), ("a.b".into(), Some("3, ..2".into())));
        assert_eq!(of("a[3][4]"), ("a".into(), Some("3, 4".into())));
        assert_eq!(of("a[3]b"), ("a".into(), Some("3]b".into())));
        assert!(split("a[1").is_err());
        assert!(split("a[1.b").is_err());
    }

    #[test]
    fn steps_are_in_their_order() {
        let all = [
            Step::Part("a"),
            Step::Index("3"),
            Step::Part("b"),
            Step::Part("c"),
            Step::Index("1, ..2"),
            Step::Index("0"),
        ];
        assert_eq!(steps("a[3].b.c[1, ..2][0]").unwrap(), all);
        assert!(steps("a[1.b").is_err());
    }

    #[test]
    fn bounds_follow_the_shape() {
        assert_eq!(bounds(None, &[4, 5]).unwrap(), [(0, 4), (0, 5)]);
        assert_eq!(bounds(Some("1"), &[4, 5]).unwrap(), [(1, 2), (0, 5)]);
        assert_eq!(bounds(Some("1..3, ..=2"), &[4, 5]).unwrap(), [(1, 3), (0, 3)]);
        assert_eq!(bounds(Some("2.."), &[4]).unwrap(), [(2, 4)]);
        for wrong in ["5", "", "3..2", "0..9", "x", "1,2,3", "18446744073709551615"] {
            assert!(bounds(Some(wrong), &[4, 5]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn runs_walk_the_array_in_order() {
        let of = |inside, shape: &[u64]| -> Vec<(Vec<u64>, u64, u64)> {
            let bounds = bounds(inside, shape).unwrap();
            runs(&bounds, shape)
                .map(|run| (run.index, run.first, run.length))
                .collect()
        };
        assert_eq!(of(None, &[]), [(vec![], 0, 1)]);
        assert_eq!(of(Some("1..3"), &[4]), [(vec![1], 1, 2)]);
        assert_eq!(
            of(Some("1..3, 2"), &[4, 5]),
            [(vec![1, 2], 7, 1), (vec![2, 2], 12, 1)]
        );
        assert_eq!(of(Some("0, 0..2"), &[2, 2, 3]).len(), 2);
        assert!(of(Some("1..1"), &[4]).is_empty());
        let rows: Vec<u64> = of(None, &[2, 2, 3]).iter().map(|run| run.1).collect();
        assert_eq!(rows, [0, 3, 6, 9]);
    }

    #[test]
    fn elements_have_an_index_in_every_dimension() {
        assert_eq!(index_of(7, &[4, 5]), [1, 2]);
        assert!(index_of(0, &[]).is_empty());
    }
}
