//! Arrays of `ndarray` and `nalgebra` as those who look at a checkpoint have them: with the indices of the program, however they
//! lie in memory.

#![cfg(all(feature = "ndarray", feature = "nalgebra"))]

mod common;

use ckpt::Checkpoint;
use ckpt::store::{Node, NodeKind};
use common::through_a_file;
use nalgebra::{DMatrix, DVector, RowDVector};
use ndarray::{Array1, Array2, Array3, Axis};

/// The shape and the elements of the value, in the order of their indices, in slices of `count`.
fn shown<T: Checkpoint>(value: &T, count: usize) -> (Vec<u64>, Vec<f64>) {
    let restored = through_a_file(value);
    let node = restored.tree().find("frames/0/x").unwrap();
    let NodeKind::Dataset { shape, elements, .. } = &node.kind else {
        panic!("{node:?}");
    };
    let slices = (0..*elements).step_by(count);
    let slices = slices.flat_map(|first| restored.numbers(node, first, count as u64).unwrap());
    (shape.clone(), slices.collect())
}

#[test]
fn strides_are_followed() {
    let plain = Array3::from_shape_fn((2, 3, 4), |(i, j, k)| (100 * i + 10 * j + k) as f64);
    let mut turned = plain.clone();
    turned.invert_axis(Axis(1));
    let column = Array2::from_shape_fn((4, 1), |(i, _)| i as f64).reversed_axes();
    let all = [
        plain.clone(),
        plain.clone().permuted_axes([2, 0, 1]),
        plain.reversed_axes(),
        turned,
    ];
    for array in all {
        let shape = array.shape().iter().map(|&size| size as u64).collect();
        for count in [1, 5, 24] {
            assert_eq!(
                shown(&array, count),
                (Vec::clone(&shape), array.iter().copied().collect())
            );
        }
    }
    assert_eq!(shown(&column, 4), (vec![1, 4], vec![0.0, 1.0, 2.0, 3.0]));
    assert_eq!(
        shown(&Array1::from_vec(vec![1.0, 2.0]), 2),
        (vec![2], vec![1.0, 2.0])
    );
}

#[test]
fn matrices_have_their_rows_first() {
    let matrix = DMatrix::from_fn(2, 3, |i, j| (10 * i + j) as f64);
    assert_eq!(
        shown(&matrix, 4),
        (vec![2, 3], vec![0.0, 1.0, 2.0, 10.0, 11.0, 12.0])
    );
    assert_eq!(
        shown(&DVector::from_vec(vec![1.0, 2.0]), 2),
        (vec![2], vec![1.0, 2.0])
    );
    assert_eq!(
        shown(&RowDVector::from_vec(vec![1.0, 2.0]), 2),
        (vec![2], vec![1.0, 2.0])
    );
}

/// A struct of the program's own that only looks like one of these stays what it is.
#[test]
fn other_structs_stay_structs() {
    #[derive(ckpt::Checkpoint)]
    struct Box3 {
        shape: Vec<u64>,
        strides: Vec<i64>,
        items: Vec<f64>,
    }
    #[derive(ckpt::Checkpoint)]
    struct Matrix {
        rows: usize,
        columns: usize,
        items: Vec<f64>,
    }
    let is_group = |node: Option<&Node>| matches!(&node.unwrap().kind, NodeKind::Group(_));
    let strides = vec![1, 1];
    let value = (
        Box3 {
            shape: vec![2, 2],
            strides,
            items: vec![0.0; 4],
        },
        Matrix {
            rows: 2,
            columns: 2,
            items: vec![0.0; 4],
        },
    );
    let restored = through_a_file(&value);
    assert!(is_group(restored.tree().find("frames/0/x/0")) && is_group(restored.tree().find("frames/0/x/1")));
    // Of several, each has its own shape.
    let several = through_a_file(&vec![Array2::<f64>::zeros((2, 3)), Array2::zeros((1, 1))]);
    assert!(is_group(several.tree().find("frames/0/x")));
}
