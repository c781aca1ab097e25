//! Numbers, truth values and characters, alone and in bulk; atomics and `NonZero`.

use std::num::{NonZero, Saturating, Wrapping};
use std::sync::atomic::{self, Ordering};

use crate::value::{Checkpoint, DType, Decoder, Encoder, LoadError};

macro_rules! plain {
    ($($type:ty)*) => {$(
        impl Checkpoint for $type {
            const BITS: bool = true;
            const FIXED: bool = true;
            const PLAIN: bool = true;
            #[inline]
            fn save(&self, to: &mut Encoder<'_>) {
                to.number(*self);
            }
            #[inline]
            fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
                from.number()
            }
            fn save_slice(items: &[Self], to: &mut Encoder<'_>) {
                to.numbers(items);
            }
            fn save_each<'a, I>(items: I, to: &mut Encoder<'_>)
            where
                I: Iterator<Item = &'a Self> + Clone,
            {
                to.numbers_from(items.copied());
            }
            fn load_vec(from: &mut Decoder<'_>, count: usize) -> Result<Vec<Self>, LoadError> {
                from.numbers(count)
            }
        }
    )*};
}

plain!(u8 u16 u32 u64 u128 i8 i16 i32 i64 i128 f32 f64);

#[cfg(target_pointer_width = "64")]
plain!(usize isize);

#[cfg(feature = "num-complex")]
plain!(num_complex::Complex<f32> num_complex::Complex<f64>);
#[cfg(feature = "num-complex-0.3")]
plain!(num_complex_0_3::Complex<f32> num_complex_0_3::Complex<f64>);
#[cfg(feature = "num-complex-0.2")]
plain!(num_complex_0_2::Complex<f32> num_complex_0_2::Complex<f64>);

/// Values that are saved as another type and may be refused when they come back.
macro_rules! converted {
    ($([$($generics:tt)*] $type:ty => $stored:ty, |$value:ident| $save:expr, |$loaded:ident| $load:expr;)*) => {$(
        impl<$($generics)*> Checkpoint for $type {
            const BITS: bool = true;
            #[inline]
            fn save(&self, to: &mut Encoder<'_>) {
                let $value = self;
                to.number::<$stored>($save);
            }
            #[inline]
            fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
                let $loaded = from.number::<$stored>()?;
                $load
            }
            fn save_each<'a, I>(items: I, to: &mut Encoder<'_>)
            where
                I: Iterator<Item = &'a Self> + Clone,
            {
                to.numbers_from::<$stored>(items.map(|$value| $save));
            }
            fn load_vec(from: &mut Decoder<'_>, count: usize) -> Result<Vec<Self>, LoadError> {
                from.numbers::<$stored>(count)?.into_iter().map(|$loaded| $load).collect()
            }
        }
    )*};
}

/// A count of a machine with wider words.
#[cfg(not(target_pointer_width = "64"))]
fn narrow<W: Copy + std::fmt::Display, N: TryFrom<W>>(wide: W) -> Result<N, LoadError> {
    N::try_from(wide).map_err(|_| {
        LoadError::invalid(format_args!(
            "{wide} does not fit into this machine's {} bit words",
            usize::BITS
        ))
    })
}

#[cfg(not(target_pointer_width = "64"))]
converted! {
    [] usize => u64, |n| *n as u64, |n| narrow(n);
    [] isize => i64, |n| *n as i64, |n| narrow(n);
}

macro_rules! non_zero {
    ($($number:ty => $stored:ty;)*) => {
        converted! {$(
            [] NonZero<$number> => $stored, |n| n.get() as $stored,
                |n| <$number>::try_from(n).ok().and_then(NonZero::new)
                    .ok_or_else(|| LoadError::invalid(format_args!("{n} is no `NonZero` of {} bits", <$number>::BITS)));
        )*}
    };
}

non_zero! {
    u8 => u8; u16 => u16; u32 => u32; u64 => u64; u128 => u128; usize => u64;
    i8 => i8; i16 => i16; i32 => i32; i64 => i64; i128 => i128; isize => i64;
}

macro_rules! atomics {
    ($($type:ident, $number:ty;)*) => {$(
        impl Checkpoint for atomic::$type {
            fn save(&self, to: &mut Encoder<'_>) {
                self.load(Ordering::SeqCst).save(to);
            }
            fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
                <$number>::load(from).map(Self::new)
            }
        }
    )*};
}

atomics! {
    AtomicBool, bool; AtomicU8, u8; AtomicU16, u16; AtomicU32, u32; AtomicUsize, usize;
    AtomicI8, i8; AtomicI16, i16; AtomicI32, i32; AtomicIsize, isize;
}

#[cfg(target_has_atomic = "64")]
atomics! { AtomicU64, u64; AtomicI64, i64; }

fn truth(byte: u8) -> Result<bool, LoadError> {
    match byte {
        0 => Ok(false),
        1 => Ok(true),
        other => Err(LoadError::invalid(format_args!(
            "{other} is neither true nor false"
        ))),
    }
}

impl Checkpoint for bool {
    const BITS: bool = true;
    const FIXED: bool = true;
    const PLAIN: bool = true;
    fn save(&self, to: &mut Encoder<'_>) {
        to.bytes(&DType::Bool, &[u8::from(*self)]);
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        truth(from.raw(&DType::Bool)? as u8)
    }
    fn save_slice(items: &[Self], to: &mut Encoder<'_>) {
        // SAFETY: a `bool` is one byte, 0 or 1, and any byte is a valid `u8`.
        let bytes = unsafe { std::slice::from_raw_parts(items.as_ptr().cast::<u8>(), items.len()) };
        to.bytes(&DType::Bool, bytes);
    }
    fn save_each<'a, I>(items: I, to: &mut Encoder<'_>)
    where
        I: Iterator<Item = &'a Self> + Clone,
    {
        to.raw(&DType::Bool, items.map(|&item| u32::from(item)));
    }
    fn load_vec(from: &mut Decoder<'_>, count: usize) -> Result<Vec<Self>, LoadError> {
        from.bytes(&DType::Bool, count)?.into_iter().map(truth).collect()
    }
}

impl Checkpoint for char {
    const BITS: bool = true;
    const FIXED: bool = true;
    fn save(&self, to: &mut Encoder<'_>) {
        to.raw(&DType::Char, std::iter::once(u32::from(*self)));
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        let code = from.raw(&DType::Char)?;
        char::from_u32(code).ok_or_else(|| LoadError::invalid(format_args!("{code:#x} is no character")))
    }
    fn save_each<'a, I>(items: I, to: &mut Encoder<'_>)
    where
        I: Iterator<Item = &'a Self> + Clone,
    {
        to.raw(&DType::Char, items.map(|&item| u32::from(item)));
    }
}

impl Checkpoint for () {
    const BITS: bool = true;
    const FIXED: bool = true;
    fn save(&self, to: &mut Encoder<'_>) {
        to.unit();
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        from.unit()
    }
}

macro_rules! wrapped {
    ($($wrapper:ident)*) => {$(
        impl<T: Checkpoint> Checkpoint for $wrapper<T> {
            const BITS: bool = T::BITS;
            fn save(&self, to: &mut Encoder<'_>) {
                self.0.save(to);
            }
            fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
                T::load(from).map($wrapper)
            }
            fn save_each<'a, I>(items: I, to: &mut Encoder<'_>)
            where
                Self: 'a,
                I: Iterator<Item = &'a Self> + Clone,
            {
                T::save_each(items.map(|item| &item.0), to);
            }
        }
    )*};
}

wrapped!(Wrapping Saturating);
