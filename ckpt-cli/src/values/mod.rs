//! What a checkpoint holds, for people: `find` leads from a name to a node, `place` from an element of a list to what is in it, `select` and
//! `elements` cut a part out of an array, `summary` describes many numbers by few, `histogram` counts them, `tree` draws, `differ` compares two, as near as `tolerance` says,
//! and `runs` all checkpoints of two stores.

pub mod differ;
pub mod elements;
pub mod find;
pub mod histogram;
pub mod place;
pub mod rows;
pub mod runs;
pub mod select;
pub mod summary;
pub mod tolerance;
pub mod tree;

use ckpt::value::DType;

/// Whether the elements are numbers with an order.
pub fn is_number(dtype: &DType) -> bool {
    use DType::*;
    matches!(
        dtype,
        U8 | U16 | U32 | U64 | U128 | I8 | I16 | I32 | I64 | I128 | F32 | F64
    )
}

/// The type and shape of a dataset as one writes them: `f64 [512, 512]`, `u64`.
pub fn type_and_shape(dtype: &DType, shape: &[u64]) -> String {
    match shape {
        [] => dtype.name().to_owned(),
        shape => format!("{} {shape:?}", dtype.name()),
    }
}
