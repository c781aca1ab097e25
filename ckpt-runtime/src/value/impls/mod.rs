//! [`crate::Checkpoint`] for types that are not the user's own, one file for each family.

/// Types of which a restart makes what they were again.
#[cfg(any(feature = "ocl", feature = "opencl3", feature = "wgpu"))]
macro_rules! handles {
    ($($handle:ty),* $(,)?) => {
        $(impl crate::value::parts::Handle for $handle {})*
    };
}

#[cfg(feature = "arrayvec")]
mod arrayvec;
#[cfg(feature = "csv")]
mod csv;
#[cfg(feature = "cudarc")]
mod cudarc;
#[cfg(any(feature = "opencl", feature = "cudarc"))]
mod elements;
mod errors;
mod files;
#[allow(
    coherence_leak_check,
    reason = "`fn(A)` and `for<'a> fn(&'a A)` are two types, which only their lifetimes tell apart"
)]
pub mod functions;
mod hash_order;
mod image;
#[cfg(feature = "indexmap")]
mod indexmap;
#[cfg(any(feature = "ocl", feature = "opencl3"))]
mod kernels;
mod lists;
mod maps;
mod nalgebra;
mod ndarray;
mod numbers;
#[cfg(feature = "ocl")]
mod ocl;
#[cfg(feature = "opencl")]
mod on_device;
#[cfg(feature = "opencl3")]
mod opencl3;
mod rand;
mod ranges;
#[cfg(any(feature = "opencl", feature = "wgpu", feature = "cudarc"))]
mod several_on_device;
pub mod shared;
#[cfg(feature = "smallvec")]
mod smallvec;
pub mod streams;
#[cfg(test)]
mod streams_tests;
mod structs;
mod text;
mod text_iterators;
mod times;
#[cfg(any(feature = "ocl", feature = "opencl3"))]
mod untyped;
#[cfg(feature = "wgpu")]
mod wgpu;
mod wrappers;

pub(crate) use wrappers::transparent;
