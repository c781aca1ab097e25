//! Matrices and vectors of `nalgebra` (features `nalgebra`, `nalgebra-0.34` and further back): the same code for every
//! version, each of which is a crate of its own.

macro_rules! version {
    ($feature:literal, $source:ident, $module:ident) => {
        #[cfg(feature = $feature)]
        mod $module {
            use ::$source as source;
            include!("matrices.rs");
        }
    };
}

version!("nalgebra", nalgebra, v0_35);
version!("nalgebra-0.34", nalgebra_0_34, v0_34);
version!("nalgebra-0.33", nalgebra_0_33, v0_33);
version!("nalgebra-0.32", nalgebra_0_32, v0_32);
