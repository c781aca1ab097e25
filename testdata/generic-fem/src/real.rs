use std::fmt::{Debug, Display, LowerExp};
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

/// What the library asks of a number.
pub trait Real:
    Copy
    + Default
    + PartialOrd
    + Debug
    + Display
    + LowerExp
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + Sum
    + 'static
{
    const ZERO: Self;
    const ONE: Self;
    const EPSILON: Self;

    fn of(x: f64) -> Self;
    fn get(self) -> f64;
    fn sqrt(self) -> Self;
    fn abs(self) -> Self;
}

macro_rules! real {
    ($($t:ident)+) => {$(
        impl Real for $t {
            const ZERO: $t = 0.0;
            const ONE: $t = 1.0;
            const EPSILON: $t = $t::EPSILON;
            #[inline] fn of(x: f64) -> $t { x as $t }
            #[inline] fn get(self) -> f64 { self as f64 }
            #[inline] fn sqrt(self) -> $t { $t::sqrt(self) }
            #[inline] fn abs(self) -> $t { $t::abs(self) }
        }
    )+};
}

real! { f32 f64 }
