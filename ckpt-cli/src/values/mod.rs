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

use ckpt::store::Node;
use ckpt::value::{DType, GENERATOR};

/// Whether the elements are numbers with an order.
pub fn is_number(dtype: &DType) -> bool {
    use DType::*;
    matches!(
        dtype,
        U8 | U16 | U32 | U64 | U128 | I8 | I16 | I32 | I64 | I128 | F32 | F64
    )
}

/// What the variables of ckpt itself are called by, such as how far an iterator is.
const OF_CKPT: &str = "ckpt.";

/// Whether a variable is none of the program's own.
pub fn is_of_ckpt(key: &str) -> bool {
    key.starts_with(OF_CKPT)
}

/// Whether what is below a node means nothing to people: the state of a generator of random numbers.
pub fn is_inner(node: &Node) -> bool {
    let names = node.children().iter().map(|child| child.name.as_str());
    names.eq(GENERATOR)
}

/// The type and shape of a dataset as one writes them: `f64 [512, 512]`, `u64`.
pub fn type_and_shape(dtype: &DType, shape: &[u64]) -> String {
    match shape {
        [] => dtype.name().to_owned(),
        shape => format!("{} {shape:?}", dtype.name()),
    }
}
