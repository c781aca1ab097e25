//! A part of an array: `VAR[3]`, `VAR[0..10]`, `VAR[2, ..5]`. What is not said about the last dimensions means all.

use crate::failure::{Failure, Outcome};

/// One dimension of a selection: from, up to but not including.
pub type Bounds = (u64, u64);

/// Splits `sim.pos[0..10]` into the name and what stands in the brackets.
pub fn split(text: &str) -> Outcome<(&str, Option<&str>)> {
    match text.split_once('[') {
        None => Ok((text, None)),
        Some((name, rest)) => match rest.strip_suffix(']') {
            Some(inside) => Ok((name, Some(inside))),
            None => {
                Err(Failure::usage(format!("`{text}` lacks the closing bracket")).help("write `VAR[0..10]`"))
            }
        },
    }
}

/// The bounds of every dimension of an array of this shape.
pub fn bounds(inside: Option<&str>, shape: &[u64]) -> Outcome<Vec<Bounds>> {
    let parts: Vec<&str> = inside
        .map(|inside| inside.split(',').collect())
        .unwrap_or_default();
    if parts.len() > shape.len() {
        return Err(Failure::usage(format!(
            "[{}] has more dimensions than the value",
            inside.unwrap_or_default()
        ))
        .help(format!("its shape is {shape:?}")));
    }
    let part = |dimension: usize| parts.get(dimension).copied().unwrap_or("..");
    shape
        .iter()
        .enumerate()
        .map(|(dimension, &size)| one(part(dimension).trim(), size))
        .collect()
}

fn one(text: &str, size: u64) -> Outcome<Bounds> {
    let number = |text: &str, default: u64| match text.trim() {
        "" => Ok(default),
        digits => digits.parse::<u64>().map_err(|_| {
            Failure::usage(format!("`{digits}` is not an index"))
                .help("write `VAR[3]`, `VAR[0..10]` or `VAR[2, ..5]`")
        }),
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
    if from > to || to > size {
        return Err(Failure::usage(format!("[{text}] is outside of 0..{size}")));
    }
    Ok((from, to))
}

/// The runs of neighbouring elements that make up the selection, in order: the index of the first element of the run
/// in every dimension, its number in the flat array, and the run's length.
pub fn runs(bounds: &[Bounds], shape: &[u64]) -> Vec<(Vec<u64>, u64, u64)> {
    let Some(((last_from, last_to), outer)) = bounds.split_last() else {
        return vec![(Vec::new(), 0, 1)];
    };
    if bounds.iter().any(|(from, to)| from >= to) {
        return Vec::new();
    }
    let mut list = Vec::new();
    let mut index: Vec<u64> = outer.iter().map(|(from, _)| *from).collect();
    loop {
        let full: Vec<u64> = index.iter().copied().chain([*last_from]).collect();
        let flat = full
            .iter()
            .zip(shape)
            .fold(0, |flat, (at, size)| flat * size + at);
        list.push((full, flat, last_to - last_from));
        // The next index, last dimension fastest.
        let Some(carry) = (0..index.len())
            .rev()
            .find(|&dimension| index[dimension] + 1 < outer[dimension].1)
        else {
            return list;
        };
        index[carry] += 1;
        for dimension in carry + 1..index.len() {
            index[dimension] = outer[dimension].0;
        }
    }
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
        assert_eq!(split("a.b[0..3]").unwrap(), ("a.b", Some("0..3")));
        assert_eq!(split("a").unwrap(), ("a", None));
        assert!(split("a[1").is_err());
    }

    #[test]
    fn bounds_follow_the_shape() {
        assert_eq!(bounds(None, &[4, 5]).unwrap(), [(0, 4), (0, 5)]);
        assert_eq!(bounds(Some("1"), &[4, 5]).unwrap(), [(1, 2), (0, 5)]);
        assert_eq!(bounds(Some("1..3, ..=2"), &[4, 5]).unwrap(), [(1, 3), (0, 3)]);
        assert_eq!(bounds(Some("2.."), &[4]).unwrap(), [(2, 4)]);
        for wrong in ["5", "3..2", "0..9", "x", "1,2,3", "18446744073709551615"] {
            assert!(bounds(Some(wrong), &[4, 5]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn runs_walk_the_array_in_order() {
        let of = |inside, shape: &[u64]| runs(&bounds(inside, shape).unwrap(), shape);
        assert_eq!(of(None, &[]), [(vec![], 0, 1)]);
        assert_eq!(of(Some("1..3"), &[4]), [(vec![1], 1, 2)]);
        assert_eq!(
            of(Some("1..3, 2"), &[4, 5]),
            [(vec![1, 2], 7, 1), (vec![2, 2], 12, 1)]
        );
        assert_eq!(of(Some("0, 0..2"), &[2, 2, 3]).len(), 2);
        assert_eq!(of(Some("1..1"), &[4]), []);
    }

    #[test]
    fn elements_have_an_index_in_every_dimension() {
        assert_eq!(index_of(7, &[4, 5]), [1, 2]);
        assert!(index_of(0, &[]).is_empty());
    }
}
