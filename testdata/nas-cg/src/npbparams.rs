// Written by setparams; do not edit.
#[cfg(feature = "class-a")]
mod class {
    pub const NA: usize = 14000;
    pub const NONZER: usize = 11;
    pub const NITER: usize = 15;
    pub const SHIFT: f64 = 20.0;
    pub const CLASS: char = 'A';
    pub const ZETA_VERIFY_VALUE: f64 = 17.130235054029;
}
#[cfg(all(feature = "class-w", not(feature = "class-a")))]
mod class {
    pub const NA: usize = 7000;
    pub const NONZER: usize = 8;
    pub const NITER: usize = 15;
    pub const SHIFT: f64 = 12.0;
    pub const CLASS: char = 'W';
    pub const ZETA_VERIFY_VALUE: f64 = 10.362595087124;
}
#[cfg(not(any(feature = "class-w", feature = "class-a")))]
mod class {
    pub const NA: usize = 1400;
    pub const NONZER: usize = 7;
    pub const NITER: usize = 15;
    pub const SHIFT: f64 = 10.0;
    pub const CLASS: char = 'S';
    pub const ZETA_VERIFY_VALUE: f64 = 8.5971775078648;
}
pub use class::*;
pub const RCOND: f64 = 1.0e-1;
