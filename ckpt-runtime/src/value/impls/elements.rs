//! What the elements of arrays on devices are made of: numbers of one type, as those of vectors and of arrays of numbers are, or
//! what nobody here knows, structs of the program for example. Of the latter a checkpoint has the bytes.

use std::any::TypeId;

use crate::value::{LoadError, Number};

/// What is said of elements that lead to memory of the program's.
pub(super) const OWNERS: &str = "the elements of an array on a device own something in the program's memory";

/// What is done with an array, whichever numbers it is made of.
pub(super) trait WithNumbers {
    /// What comes of it.
    type Result;

    /// `is_known`: they are what the elements are made of; else they are bytes of these.
    fn with<N: Number>(self, is_known: bool) -> Self::Result;
}

/// Does it with the numbers that the elements are made of.
pub(super) fn of<T: 'static, W: WithNumbers>(work: W) -> W::Result {
    let element = TypeId::of::<T>();
    macro_rules! numbers {
        ($($(#[$when:meta])? $number:ty: $($vector:ident)*;)*) => {$(
            $(#[$when])?
            {
                let is_scalar = is_of::<$number>(element);
                #[cfg(feature = "ocl")]
                let is_vector = [$(TypeId::of::<::ocl::prm::$vector>()),*].contains(&element);
                #[cfg(not(feature = "ocl"))]
                let is_vector = false;
                if is_scalar || is_vector {
                    return work.with::<$number>(true);
                }
            }
        )*};
    }
    numbers! {
        u8: Uchar Uchar2 Uchar3 Uchar4 Uchar8 Uchar16;
        i8: Char Char2 Char3 Char4 Char8 Char16;
        u16: Ushort Ushort2 Ushort3 Ushort4 Ushort8 Ushort16;
        i16: Short Short2 Short3 Short4 Short8 Short16;
        u32: Uint Uint2 Uint3 Uint4 Uint8 Uint16;
        i32: Int Int2 Int3 Int4 Int8 Int16;
        u64: Ulong Ulong2 Ulong3 Ulong4 Ulong8 Ulong16;
        i64: Long Long2 Long3 Long4 Long8 Long16;
        f32: Float Float2 Float3 Float4 Float8 Float16;
        f64: Double Double2 Double3 Double4 Double8 Double16;
        u128: ;
        i128: ;
        #[cfg(target_pointer_width = "64")]
        usize: ;
        #[cfg(target_pointer_width = "64")]
        isize: ;
        #[cfg(feature = "num-complex")]
        num_complex::Complex<f32>: ;
        #[cfg(feature = "num-complex")]
        num_complex::Complex<f64>: ;
    }
    work.with::<u8>(false)
}

/// The checkpoint has so many numbers or bytes of an array, which has another number of them.
pub(super) fn another_length(count: usize, found: usize, is_known: bool) -> LoadError {
    let units = if is_known { "numbers" } else { "bytes" };
    LoadError::invalid(format!(
        "an array on a device has {count} {units}, the checkpoint holds {found}: make it as long as it was"
    ))
}

/// Whether these are such numbers, arrays of a few, or small matrices of them.
fn is_of<N: 'static>(element: TypeId) -> bool {
    macro_rules! arrays {
        ($($count:literal)*) => {
            [TypeId::of::<N>() $(, TypeId::of::<[N; $count]>())* $(, TypeId::of::<[[N; $count]; $count]>())*]
        };
    }
    arrays!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16).contains(&element)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::DType;

    struct Told;

    impl WithNumbers for Told {
        type Result = (DType, bool);

        fn with<N: Number>(self, is_known: bool) -> (DType, bool) {
            (N::DTYPE, is_known)
        }
    }

    #[test]
    fn numbers_and_arrays_of_them_are_known_and_structs_are_bytes() {
        struct Cell {
            _at: [f32; 2],
            _kind: u32,
        }
        assert_eq!(of::<f32, _>(Told), (DType::F32, true));
        assert_eq!(of::<[u16; 4], _>(Told), (DType::U16, true));
        assert_eq!(of::<[[f64; 3]; 3], _>(Told), (DType::F64, true));
        assert_eq!(of::<u8, _>(Told), (DType::U8, true));
        assert_eq!(of::<Cell, _>(Told), (DType::U8, false));
        assert_eq!(of::<bool, _>(Told), (DType::U8, false));
        #[cfg(feature = "ocl")]
        for (found, expected) in [
            (of::<ocl::prm::Float4, _>(Told), DType::F32),
            (of::<ocl::prm::Int3, _>(Told), DType::I32),
            (of::<ocl::prm::Uchar16, _>(Told), DType::U8),
        ] {
            assert_eq!(found, (expected, true));
        }
    }
}
