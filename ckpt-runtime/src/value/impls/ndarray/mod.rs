//! Arrays of `ndarray` (features `ndarray`, `ndarray-0.16`, `ndarray-0.15`): the same code for every version, each of
//! which is a crate of its own.

macro_rules! version {
    ($feature:literal, $source:ident, $module:ident) => {
        #[cfg(feature = $feature)]
        mod $module {
            use ::$source as source;
            include!("arrays.rs");
        }
    };
}

version!("ndarray", ndarray, v0_17);
version!("ndarray-0.16", ndarray_0_16, v0_16);
version!("ndarray-0.15", ndarray_0_15, v0_15);
