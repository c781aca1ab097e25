//! Numbers.

use crate::value::{Checkpoint, Decoder, Encoder, LoadError};

macro_rules! plain {
    ($($type:ty)*) => {$(
        impl Checkpoint for $type {
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

#[cfg(feature = "num-complex")]
plain!(num_complex::Complex<f32> num_complex::Complex<f64>);
