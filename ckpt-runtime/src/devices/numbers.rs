//! What arrays are made of where no type of the program says it: shaders, or the format of a texture or an image.

/// The type of the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbers {
    Bytes,
    I8,
    U16,
    I16,
    U32,
    I32,
    F32,
    #[cfg_attr(
        not(feature = "wgpu"),
        expect(dead_code, reason = "only textures are made of these")
    )]
    U64,
}

/// Does something with the type of these numbers, `N`.
macro_rules! with_type {
    ($numbers:expr, $N:ident => $work:expr) => {
        $crate::devices::numbers::with_type!($numbers, $N => $work, Bytes u8, I8 i8, U16 u16, I16 i16, U32 u32, I32 i32, F32 f32, U64 u64)
    };
    ($numbers:expr, $N:ident => $work:expr, $($of:ident $type:ty),*) => {
        match $numbers {
            $($crate::devices::numbers::Numbers::$of => {
                type $N = $type;
                $work
            })*
        }
    };
}

pub(crate) use with_type;
