//! Element types whose bytes in memory are their bytes in the file: the bulk path.

use super::{Bytes, DType};

mod sealed {
    pub trait Sealed {}
}

/// A plain number: fixed size, every bit pattern valid, stored little-endian.
///
/// Sealed: slices of implementors are read and written as raw bytes.
pub trait Number: Copy + sealed::Sealed + 'static {
    /// The element type of its columns.
    const DTYPE: DType;
    /// Appends the stored form of `items`; whether there is memory for them.
    #[must_use]
    fn append(items: &[Self], to: &mut Bytes) -> bool;
    /// Appends the stored form of one number.
    fn push(self, to: &mut Vec<u8>);
    /// Reads `count` elements through `fill`, which gets exactly `count * size` bytes to fill.
    ///
    /// # Errors
    /// Those of `fill`, and memory that cannot be had (`None`).
    fn read<E>(count: usize, fill: impl FnOnce(&mut [u8]) -> Result<(), E>) -> Result<Option<Vec<Self>>, E>;
    /// The number that these bytes store; `bytes` is exactly one element.
    fn from_bytes(bytes: &[u8]) -> Self;
}

/// The items of a vector seen as bytes.
pub(super) fn as_bytes<T: Number>(items: &[T]) -> &[u8] {
    // SAFETY: `Number` is sealed and implemented for types without padding only; u8 has no alignment; the length is
    // that of the same allocation.
    unsafe { std::slice::from_raw_parts(items.as_ptr().cast::<u8>(), std::mem::size_of_val(items)) }
}

fn as_bytes_mut<T: Number>(items: &mut [T]) -> &mut [u8] {
    // SAFETY: as in `as_bytes`, and every bit pattern is a valid `Number`.
    unsafe { std::slice::from_raw_parts_mut(items.as_mut_ptr().cast::<u8>(), std::mem::size_of_val(items)) }
}

/// A vector of `count` zeros, or `None` when there is no memory for it: the count comes from a file.
fn zeros<T: Number>(count: usize, zero: T) -> Option<Vec<T>> {
    let mut items = Vec::new();
    items.try_reserve_exact(count).ok()?;
    items.resize(count, zero);
    Some(items)
}

macro_rules! numbers {
    ($($type:ty, $dtype:ident, $zero:expr, |$n:ident| $swap:expr;)*) => {$(
        impl sealed::Sealed for $type {}
        impl Number for $type {
            const DTYPE: DType = DType::$dtype;
            #[inline]
            fn append(items: &[Self], to: &mut Bytes) -> bool {
                if cfg!(target_endian = "little") {
                    return to.append(as_bytes(items));
                }
                let has_room = to.make_room(std::mem::size_of_val(items));
                if has_room {
                    items.iter().for_each(|n| n.push(to));
                }
                has_room
            }
            #[inline]
            fn push(self, to: &mut Vec<u8>) {
                let $n = self;
                let stored: $type = if cfg!(target_endian = "little") { $n } else { $swap };
                to.extend_from_slice(as_bytes(std::slice::from_ref(&stored)));
            }
            fn read<E>(count: usize, fill: impl FnOnce(&mut [u8]) -> Result<(), E>) -> Result<Option<Vec<Self>>, E> {
                let Some(mut items) = zeros::<$type>(count, $zero) else { return Ok(None) };
                fill(as_bytes_mut(&mut items))?;
                if cfg!(target_endian = "big") {
                    items.iter_mut().for_each(|item| *item = Self::from_bytes(as_bytes(&[*item])));
                }
                Ok(Some(items))
            }
            #[inline]
            fn from_bytes(bytes: &[u8]) -> Self {
                let mut one: [$type; 1] = [$zero];
                as_bytes_mut(&mut one).copy_from_slice(bytes);
                let $n = one[0];
                if cfg!(target_endian = "little") { $n } else { $swap }
            }
        }
    )*};
}

numbers! {
    u8, U8, 0, |n| n;
    u16, U16, 0, |n| n.swap_bytes();
    u32, U32, 0, |n| n.swap_bytes();
    u64, U64, 0, |n| n.swap_bytes();
    u128, U128, 0, |n| n.swap_bytes();
    i8, I8, 0, |n| n;
    i16, I16, 0, |n| n.swap_bytes();
    i32, I32, 0, |n| n.swap_bytes();
    i64, I64, 0, |n| n.swap_bytes();
    i128, I128, 0, |n| n.swap_bytes();
    f32, F32, 0.0, |n| f32::from_bits(n.to_bits().swap_bytes());
    f64, F64, 0.0, |n| f64::from_bits(n.to_bits().swap_bytes());
}

#[cfg(target_pointer_width = "64")]
numbers! {
    usize, U64, 0, |n| n.swap_bytes();
    isize, I64, 0, |n| n.swap_bytes();
}

/// Those of a version of `num-complex`.
#[cfg(any(
    feature = "num-complex",
    feature = "num-complex-0.3",
    feature = "num-complex-0.2"
))]
macro_rules! complex {
    ($from:ident) => {
        numbers! {
            $from::Complex<f32>, Complex32, $from::Complex { re: 0.0, im: 0.0 },
                |n| $from::Complex { re: f32::from_bits(n.re.to_bits().swap_bytes()), im: f32::from_bits(n.im.to_bits().swap_bytes()) };
            $from::Complex<f64>, Complex64, $from::Complex { re: 0.0, im: 0.0 },
                |n| $from::Complex { re: f64::from_bits(n.re.to_bits().swap_bytes()), im: f64::from_bits(n.im.to_bits().swap_bytes()) };
        }
    };
}

#[cfg(feature = "num-complex")]
complex!(num_complex);
#[cfg(feature = "num-complex-0.3")]
complex!(num_complex_0_3);
#[cfg(feature = "num-complex-0.2")]
complex!(num_complex_0_2);
