//! Arrays of crates that keep their elements in an order of their own: `ndarray` with strides, `nalgebra` column by column. A
//! file has the elements as they lie in memory; people have them by the indices of the program.

use super::restored::Restored;
use super::tree::{Integer, Node, NodeKind};
use crate::value::{DType, LoadError};

/// How the elements of an array lie in its dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ElementOrder {
    /// The sizes of the dimensions.
    shape: Vec<u64>,
    /// Where the element lies whose indices are all 0.
    first: u64,
    /// How much farther the next element in each dimension lies.
    steps: Vec<i64>,
}

impl ElementOrder {
    /// The elements of an array as they lie in the dataset, each of `size` bytes, in the order of their indices, the last
    /// dimension fastest.
    pub(super) fn by_index(&self, stored: &[u8], size: usize) -> Vec<u8> {
        let mut list = Vec::with_capacity(stored.len());
        let mut index = vec![0; self.shape.len()];
        let mut at = self.first as i64;
        for _ in 0..stored.len() / size.max(1) {
            let from = usize::try_from(at).unwrap_or(usize::MAX).saturating_mul(size);
            list.extend_from_slice(stored.get(from..from.saturating_add(size)).unwrap_or_default());
            for axis in (0..index.len()).rev() {
                index[axis] += 1;
                at += self.steps[axis];
                if index[axis] < self.shape[axis] {
                    break;
                }
                at -= self.steps[axis] * self.shape[axis] as i64;
                index[axis] = 0;
            }
        }
        list
    }

    /// That of an array with strides; nothing where these do not lead to each of its elements once.
    fn with_strides(shape: &[u64], strides: &[i64], elements: u64) -> Option<ElementOrder> {
        if shape.is_empty() || shape.len() != strides.len() || elements == 0 {
            return None;
        }
        let mut axes: Vec<(u64, u64)> = strides
            .iter()
            .map(|step| step.unsigned_abs())
            .zip(shape.iter().copied())
            .filter(|(_, length)| *length != 1)
            .collect();
        axes.sort_unstable();
        let mut inside = 1_u64;
        for (step, length) in axes {
            if step != inside {
                return None;
            }
            inside = inside.checked_mul(length)?;
        }
        let mut order = ElementOrder {
            shape: shape.to_vec(),
            first: 0,
            steps: strides.to_vec(),
        };
        for (step, length) in order.steps.iter_mut().zip(shape) {
            match *length {
                1 => *step = 0,
                length if *step < 0 => order.first += step.unsigned_abs() * (length - 1),
                _ => {}
            }
        }
        (inside == elements).then_some(order)
    }

    /// That of a matrix that lies there column by column; a row or a column alone is a list.
    fn by_column(rows: u64, columns: u64, elements: u64) -> Option<ElementOrder> {
        if rows.checked_mul(columns)? != elements || elements == 0 {
            return None;
        }
        let (shape, steps) = match (rows, columns) {
            (_, 1) | (1, _) => (vec![elements], vec![1]),
            _ => (vec![rows, columns], vec![1, i64::try_from(rows).ok()?]),
        };
        Some(ElementOrder {
            shape,
            first: 0,
            steps,
        })
    }

    /// Whether the elements lie in the order of their indices.
    fn is_plain(&self) -> bool {
        let mut inside = 1;
        let pairs = self.shape.iter().zip(&self.steps).rev();
        let mut are_plain = pairs.map(|(length, step)| {
            let is_plain = *length == 1 || *step == inside;
            inside *= *length as i64;
            is_plain
        });
        are_plain.all(|is_plain| is_plain)
    }
}

/// Puts in the place of the structs that such arrays are stored as what they are: datasets of their own shape.
pub(super) fn show_arrays(checkpoint: &Restored, node: &mut Node) {
    if let Some(array) = array_of(checkpoint, node) {
        *node = array;
    } else if let NodeKind::Group(children) = &mut node.kind {
        for child in children {
            show_arrays(checkpoint, child);
        }
    }
}

fn array_of(checkpoint: &Restored, node: &Node) -> Option<Node> {
    let [one, two, items] = node.children() else {
        return None;
    };
    let NodeKind::Dataset {
        dtype,
        elements,
        bytes,
        block,
        ..
    } = &items.kind
    else {
        return None;
    };
    if *dtype == DType::Text {
        return None;
    }
    let order = match [&*one.name, &*two.name, &*items.name] {
        ["shape", "strides", "items"] => {
            let sizes = integers(checkpoint, one, &DType::U64)?;
            let sizes: Vec<u64> = sizes.into_iter().map(|size| size as u64).collect();
            ElementOrder::with_strides(&sizes, &integers(checkpoint, two, &DType::I64)?, *elements)?
        }
        ["rows", "columns", "by_column"] => {
            // A number of the type itself is not stored.
            let [rows, columns] =
                [one, two].map(|node| Some(*integers(checkpoint, node, &DType::U64)?.first()? as u64));
            ElementOrder::by_column(rows?, columns?, *elements)?
        }
        _ => return None,
    };
    let is_plain = order.is_plain();
    let mut attributes = node.attributes.clone();
    attributes.retain(|(name, _)| name != "kind");
    attributes.extend(items.attributes.iter().cloned());
    Some(Node {
        name: node.name.clone(),
        path: items.path.clone(),
        attributes,
        kind: NodeKind::Dataset {
            dtype: dtype.clone(),
            shape: order.shape.clone(),
            elements: *elements,
            bytes: *bytes,
            block: *block,
            order: (!is_plain).then_some(order),
        },
    })
}

/// Few integers of this type.
fn integers(checkpoint: &Restored, node: &Node, wanted: &DType) -> Option<Vec<i64>> {
    const FEW: u64 = 64;
    let NodeKind::Dataset { dtype, elements, .. } = &node.kind else {
        return None;
    };
    if dtype != wanted || *elements > FEW {
        return None;
    }
    let found: Result<_, LoadError> = checkpoint.integers(node, 0, FEW);
    let found = found.ok()??;
    found.into_iter().map(Integer::small).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(shape: &[u64], strides: &[i64]) -> Option<Vec<u8>> {
        let elements: u64 = shape.iter().product();
        let stored: Vec<u8> = (0..elements as u8).collect();
        Some(ElementOrder::with_strides(shape, strides, elements)?.by_index(&stored, 1))
    }

    #[test]
    fn elements_are_found_by_their_strides() {
        assert_eq!(of(&[2, 3], &[3, 1]), Some(vec![0, 1, 2, 3, 4, 5]));
        assert_eq!(of(&[2, 3], &[1, 2]), Some(vec![0, 2, 4, 1, 3, 5]));
        assert_eq!(of(&[2, 3], &[-3, 1]), Some(vec![3, 4, 5, 0, 1, 2]));
        assert_eq!(of(&[2, 1, 2], &[1, 7, 2]), Some(vec![0, 2, 1, 3]));
        assert_eq!(of(&[4], &[-1]), Some(vec![3, 2, 1, 0]));
    }

    #[test]
    fn strides_that_leave_elements_out_are_none() {
        for (shape, strides) in [
            (&[2, 3][..], &[2, 1][..]),
            (&[2, 3], &[3, 2]),
            (&[2, 2], &[1, 1]),
            (&[3], &[0]),
        ] {
            assert_eq!(of(shape, strides), None, "{shape:?} {strides:?}");
        }
        assert_eq!(ElementOrder::with_strides(&[2], &[1, 1], 2), None);
    }

    #[test]
    fn matrices_lie_by_column() {
        let order = ElementOrder::by_column(2, 3, 6).unwrap();
        assert_eq!(order.by_index(&[0, 1, 2, 3, 4, 5], 1), [0, 2, 4, 1, 3, 5]);
        let is_plain = |rows, columns| {
            ElementOrder::by_column(rows, columns, rows * columns)
                .unwrap()
                .is_plain()
        };
        assert!(!is_plain(2, 3) && is_plain(3, 1) && is_plain(1, 3));
        assert!(
            !ElementOrder::with_strides(&[2, 2], &[1, 2], 4)
                .unwrap()
                .is_plain()
        );
        assert!(
            ElementOrder::with_strides(&[2, 2], &[2, 1], 4)
                .unwrap()
                .is_plain()
        );
    }
}
