// Arrays: shape, order in memory and items. `source` is the version of `ndarray`.
//
// The order in memory is kept because `sum` and others go along it: with another one a float comes out differently.

use std::borrow::Cow;

use source::{Array, Axis, Dimension, IxDyn, ShapeBuilder};

use crate::value::{Checkpoint, Decoder, Encoder, LoadError};

const NAMES: &[Cow<'static, str>] = &[
    Cow::Borrowed("shape"),
    Cow::Borrowed("strides"),
    Cow::Borrowed("items"),
];

impl<T: Checkpoint, D: Dimension> Checkpoint for Array<T, D> {
    const BITS: bool = true;
    const FIXED: bool = T::FIXED;
    fn save(&self, to: &mut Encoder<'_>) {
        let memory = self.as_slice_memory_order();
        let strides: Vec<isize> = match memory {
            Some(_) => self.strides().to_vec(),
            None => row_major(self.shape()),
        };
        self.shape().save(&mut to.field(NAMES, 0));
        strides.save(&mut to.field(NAMES, 1));
        let mut place = to.field(NAMES, 2);
        let lengths = in_memory_order(self.shape(), &strides);
        // One array is a dataset of its shape; many arrays may differ in shape and are lists.
        let shaped = !place.is_batch() && lengths.len() > 1 && !lengths.contains(&0);
        let first = if shaped { lengths[0] } else { self.len() };
        let mut items = place.list(first);
        match (shaped, memory) {
            (true, Some(memory)) => items.owned(self, memory, |items| save_rows(&lengths[1..], memory, items)),
            (true, None) => {
                let mut place = items;
                save_scattered(&lengths[1..], self.iter(), &mut place);
            }
            (false, Some(memory)) => items.owned(self, memory, |items| T::save_slice(memory, items)),
            (false, None) => T::save_each(self.iter(), &mut items),
        }
    }

    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        let shape: Vec<usize> = from.field(&["shape"])?;
        let strides: Vec<isize> = from.field(&["strides"])?;
        let lengths = in_memory_order(&shape, &strides);
        let items = from.field_with(
            &["items"],
            |place| {
                let shaped = !place.is_batch() && lengths.len() > 1 && !lengths.contains(&0);
                let (count, mut items) = place.list()?;
                if shaped {
                    load_rows(count, &lengths[1..], &mut items)
                } else {
                    T::load_vec(&mut items, count)
                }
            },
            None,
        )?;
        rebuild(&shape, &strides, items)
    }
}

fn save_rows<T: Checkpoint>(lengths: &[usize], items: &[T], to: &mut Encoder<'_>) {
    match lengths {
        [] => T::save_slice(items, to),
        [length, rest @ ..] => save_rows(rest, items, &mut to.array(*length)),
    }
}

fn save_scattered<'a, T: Checkpoint + 'a>(
    lengths: &[usize],
    items: impl Iterator<Item = &'a T> + Clone,
    to: &mut Encoder<'_>,
) {
    match lengths {
        [] => T::save_each(items, to),
        [length, rest @ ..] => save_scattered(rest, items, &mut to.array(*length)),
    }
}

fn load_rows<T: Checkpoint>(
    count: usize,
    lengths: &[usize],
    from: &mut Decoder<'_>,
) -> Result<Vec<T>, LoadError> {
    match lengths {
        [] => T::load_vec(from, count),
        [length, rest @ ..] => {
            let count = count
                .checked_mul(*length)
                .ok_or_else(|| LoadError::invalid("an array has too many items"))?;
            load_rows(count, rest, &mut from.array(*length)?)
        }
    }
}

fn row_major(shape: &[usize]) -> Vec<isize> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis].max(1) as isize;
    }
    strides
}

/// The lengths of the axes, that with the largest stride first.
fn in_memory_order(shape: &[usize], strides: &[isize]) -> Vec<usize> {
    let mut axes: Vec<(std::cmp::Reverse<usize>, usize)> = strides
        .iter()
        .map(|stride| std::cmp::Reverse(stride.unsigned_abs()))
        .zip(shape.iter().copied())
        .collect();
    // Stable: axes of length 1 may have the stride of another.
    axes.sort_by_key(|&(stride, _)| stride);
    axes.into_iter().map(|(_, length)| length).collect()
}

fn rebuild<T, D: Dimension>(
    shape: &[usize],
    strides: &[isize],
    items: Vec<T>,
) -> Result<Array<T, D>, LoadError> {
    let count = shape
        .iter()
        .try_fold(1_usize, |count, &length| count.checked_mul(length));
    if shape.len() != strides.len() || count != Some(items.len()) {
        return Err(LoadError::invalid(format_args!(
            "{} items do not make an array of the shape {shape:?}",
            items.len()
        )));
    }
    let forward: Vec<usize> = strides.iter().map(|stride| stride.unsigned_abs()).collect();
    let wrong = |error: source::ShapeError| {
        LoadError::invalid(format_args!(
            "an array of the shape {shape:?} with strides {strides:?}: {error}"
        ))
    };
    let mut array = if items.is_empty() {
        Array::from_shape_vec(IxDyn(shape), items)
    } else {
        Array::from_shape_vec(IxDyn(shape).strides(IxDyn(&forward)), items)
    }
    .map_err(wrong)?;
    for (axis, _) in strides
        .iter()
        .enumerate()
        .filter(|&(axis, &stride)| stride < 0 && shape[axis] > 1)
    {
        array.invert_axis(Axis(axis));
    }
    array.into_dimensionality().map_err(|_| {
        LoadError::invalid(format_args!(
            "an array of {} dimensions is wanted, the checkpoint has the shape {shape:?}",
            D::NDIM.unwrap_or(0)
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::source::{Array0, Array1, Array2, Array3, ArrayD, s};

    use super::*;
    use crate::value::tests::{everywhere, round_trip};

    fn same<T: Checkpoint + PartialEq + std::fmt::Debug + Clone, D: Dimension>(array: &Array<T, D>) {
        let again = round_trip(array);
        assert_eq!(again, *array);
        if array.as_slice_memory_order().is_some() && array.len() > 1 {
            assert_eq!(again.as_slice_memory_order(), array.as_slice_memory_order());
        }
        everywhere(std::slice::from_ref(array));
    }

    #[test]
    fn shape_and_order_in_memory_come_back() {
        let grid = Array2::from_shape_fn((3, 4), |(i, j)| (i * 10 + j) as f64);
        same(&grid);
        same(&grid.clone().reversed_axes());
        same(&grid.slice(s![..;-1, ..]).to_owned());
        let mut turned = grid.clone();
        turned.invert_axis(Axis(0));
        same(&turned);
        let mut cut = grid.clone();
        cut.slice_collapse(s![.., 1..3]);
        same(&cut);
        let cube = Array3::from_shape_fn((2, 1, 3), |(i, j, k)| format!("{i}{j}{k}"));
        same(&cube);
        same(&cube.permuted_axes([2, 0, 1]));
        same(&Array0::from_elem((), 7_u8));
        same(&Array1::<i32>::zeros(0));
        same(&Array2::<i32>::zeros((5, 0)));
        same(&Array2::<i32>::zeros((0, 5)));
        same(&ArrayD::<u16>::zeros(IxDyn(&[2, 3, 1, 2])));
        everywhere(&[grid.clone(), Array2::zeros((1, 9)), Array2::zeros((0, 0))]);
    }
}
