//! Pixels and pictures of `image` (features `image`, `image-0.24`): the same code for every version, each of which is a
//! crate of its own.

macro_rules! version {
    ($feature:literal, $source:ident, $module:ident) => {
        #[cfg(feature = $feature)]
        mod $module {
            use ::$source as source;
            include!("pictures.rs");
        }
    };
}

version!("image", image, v0_25);
version!("image-0.24", image_0_24, v0_24);
