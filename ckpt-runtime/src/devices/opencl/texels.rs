//! The texels of an image, as a checkpoint has them: one image of several after the other, or slice by slice, in these row by row.
//! The library puts nothing between rows that are read or written where it is not asked for that.

use std::ffi::c_void;
use std::ops::Range;

use super::functions::{In, Object, next};
use super::{SUCCESS, Sizes};
use crate::devices::Obstacle;
use crate::devices::numbers::Numbers;

/// As the library numbers them.
const TWO: u32 = 0x10F1;
const THREE: u32 = 0x10F2;
const SEVERAL_OF_TWO: u32 = 0x10F3;
const ONE: u32 = 0x10F4;
const SEVERAL_OF_ONE: u32 = 0x10F5;
const DEPTH: u32 = 0x10BD;
const DEPTH_AND_STENCIL: u32 = 0x10BE;
const BYTES_OF_TEXEL: u32 = 0x1111;

/// What the channels of a texel are, as the library has it.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct Format {
    order: u32,
    of_channel: u32,
}

/// What an image is to be, as the library has it.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct Description {
    kind: u32,
    width: usize,
    height: usize,
    depth: usize,
    count: usize,
    row: usize,
    slice: usize,
    levels: u32,
    samples: u32,
    uses: Object,
}

impl Description {
    pub fn of_two(width: usize, height: usize) -> Description {
        Description {
            kind: TWO,
            width,
            height,
            depth: 1,
            count: 1,
            row: 0,
            slice: 0,
            levels: 0,
            samples: 0,
            uses: std::ptr::null_mut(),
        }
    }

    pub fn of_three(width: usize, height: usize, depth: usize) -> Description {
        Description {
            kind: THREE,
            depth,
            ..Description::of_two(width, height)
        }
    }

    /// How many texels there are in each direction in which the library counts them; nothing for a kind that is not known.
    fn region(&self) -> Option<[usize; 3]> {
        match self.kind {
            ONE => Some([self.width, 1, 1]),
            SEVERAL_OF_ONE => Some([self.width, self.count, 1]),
            TWO => Some([self.width, self.height, 1]),
            SEVERAL_OF_TWO => Some([self.width, self.height, self.count]),
            THREE => Some([self.width, self.height, self.depth]),
            _ => None,
        }
    }
}

/// An image that is read and written as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    region: [usize; 3],
    /// The bytes of a texel.
    texel: usize,
    /// What its channels are; nothing where that is not known.
    numbers: Option<Numbers>,
}

/// Rows that are read at once.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Rows {
    pub origin: [usize; 3],
    pub region: [usize; 3],
    /// The bytes of the image that they have.
    pub bytes: Range<usize>,
}

impl Shape {
    /// That of an image that was made as it was described.
    ///
    /// # Errors
    /// Such an image is not read as a whole.
    pub fn of(made: Object, format: Format, description: &Description) -> Result<Shape, Obstacle> {
        Shape::described(format, description, bytes_of_texel(made))
    }

    fn described(format: Format, description: &Description, texel: Option<usize>) -> Result<Shape, Obstacle> {
        if !description.uses.is_null() {
            return Err(Obstacle::ImageOf);
        }
        let is_of_depths = matches!(format.order, DEPTH | DEPTH_AND_STENCIL);
        let is_single = description.samples <= 1 && description.levels <= 1 && !is_of_depths;
        match (description.region(), texel) {
            (Some(region), Some(texel)) if is_single => Ok(Shape {
                region,
                texel,
                numbers: numbers(format.of_channel).filter(|numbers| is_made_of(texel, *numbers)),
            }),
            _ => Err(Obstacle::Image),
        }
    }

    pub fn bytes(&self) -> usize {
        self.region.iter().product::<usize>() * self.texel
    }

    pub fn numbers(&self) -> Option<Numbers> {
        self.numbers
    }

    pub fn region(&self) -> Sizes {
        self.region.as_ptr()
    }

    /// The fewest that the library reads at once and that have these bytes, of which there are some.
    pub fn rows(&self, bytes: &Range<usize>) -> Rows {
        let [width, height, _] = self.region;
        let row = width * self.texel;
        let first = bytes.start / row;
        let last = (bytes.end - 1) / row;
        let (slice, last_slice) = (first / height, last / height);
        // Rows of several slices are none that follow on each other, but for whole slices.
        let (y, rows) = match slice == last_slice {
            true => (first % height, last - first + 1),
            false => (0, height),
        };
        let slices = last_slice - slice + 1;
        let start = (slice * height + y) * row;
        Rows {
            origin: [0, y, slice],
            region: [width, rows, slices],
            bytes: start..start + slices * rows * row,
        }
    }
}

fn is_made_of(texel: usize, numbers: Numbers) -> bool {
    crate::devices::numbers::with_type!(numbers, N => texel.is_multiple_of(size_of::<N>()))
}

fn bytes_of_texel(image: Object) -> Option<usize> {
    let mut bytes = 0_usize;
    // SAFETY: the image is alive; what is written has room.
    let code = unsafe {
        let to = (&raw mut bytes).cast::<c_void>();
        next::clGetImageInfo(
            image,
            BYTES_OF_TEXEL,
            size_of::<usize>(),
            to,
            std::ptr::null_mut(),
        )
    };
    (code == SUCCESS && bytes > 0).then_some(bytes)
}

/// What channels of this type are: halves as their bits, channels that share a word as that.
fn numbers(of_channel: u32) -> Option<Numbers> {
    Some(match of_channel {
        // `CL_SNORM_INT8`, `CL_SIGNED_INT8`
        0x10D0 | 0x10D7 => Numbers::I8,
        // `CL_SNORM_INT16`, `CL_SIGNED_INT16`
        0x10D1 | 0x10D8 => Numbers::I16,
        // `CL_UNORM_INT8`, `CL_UNSIGNED_INT8`
        0x10D2 | 0x10DA => Numbers::Bytes,
        // `CL_UNORM_INT16`, `CL_UNORM_SHORT_565`, `CL_UNORM_SHORT_555`, `CL_UNSIGNED_INT16`, `CL_HALF_FLOAT`
        0x10D3..=0x10D5 | 0x10DB | 0x10DD => Numbers::U16,
        // `CL_UNORM_INT_101010`, `CL_UNSIGNED_INT32`, `CL_UNORM_INT_101010_2`
        0x10D6 | 0x10DC | 0x10E0 => Numbers::U32,
        // `CL_SIGNED_INT32`
        0x10D9 => Numbers::I32,
        // `CL_FLOAT`
        0x10DE => Numbers::F32,
        _ => return None,
    })
}

/// What the library was given, where it was given something.
///
/// # Safety
/// Null, or what is described is there.
pub(super) unsafe fn given(format: In, description: In) -> Option<(Format, Description)> {
    if format.is_null() || description.is_null() {
        return None;
    }
    // SAFETY: the caller's promise.
    Some(unsafe {
        (
            format.cast::<Format>().read(),
            description.cast::<Description>().read(),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const RGBA: u32 = 0x10B5;
    const UNORM_INT8: u32 = 0x10D2;

    fn format(of_channel: u32) -> Format {
        Format {
            order: RGBA,
            of_channel,
        }
    }

    #[test]
    fn an_image_has_the_numbers_of_its_format() {
        for (of_channel, texel, expected) in [
            (UNORM_INT8, 4, Some(Numbers::Bytes)),
            (0x10D0, 4, Some(Numbers::I8)),
            (0x10D4, 2, Some(Numbers::U16)),
            (0x10DD, 8, Some(Numbers::U16)),
            (0x10D9, 16, Some(Numbers::I32)),
            (0x10E0, 4, Some(Numbers::U32)),
            (0x10DE, 16, Some(Numbers::F32)),
            (0x10DE, 3, None),
            (0x1234, 4, None),
        ] {
            let two = Description::of_two(5, 3);
            let shape = Shape::described(format(of_channel), &two, Some(texel)).expect("an image");
            assert_eq!(shape.numbers(), expected, "{of_channel:x}");
            assert_eq!(shape.bytes(), 15 * texel);
        }
    }

    #[test]
    fn several_images_are_counted_where_the_library_counts_them() {
        let of = |kind| Description {
            kind,
            count: 4,
            ..Description::of_three(5, 3, 2)
        };
        for (kind, region) in [
            (ONE, [5, 1, 1]),
            (SEVERAL_OF_ONE, [5, 4, 1]),
            (TWO, [5, 3, 1]),
            (SEVERAL_OF_TWO, [5, 3, 4]),
            (THREE, [5, 3, 2]),
        ] {
            let shape = Shape::described(format(UNORM_INT8), &of(kind), Some(4)).expect("an image");
            assert_eq!(shape.region, region);
        }
    }

    #[test]
    fn what_is_not_read_as_a_whole_is_known() {
        let two = Description::of_two(5, 3);
        let depths = Format {
            order: DEPTH,
            of_channel: 0x10DE,
        };
        let shape = |format, description| Shape::described(format, &description, Some(4));
        assert_eq!(shape(depths, two), Err(Obstacle::Image));
        let plain = format(UNORM_INT8);
        for other in [
            Description { samples: 4, ..two },
            Description { levels: 3, ..two },
            Description { kind: 0x10F6, ..two },
        ] {
            assert_eq!(shape(plain, other), Err(Obstacle::Image));
        }
        assert_eq!(Shape::described(plain, &two, None), Err(Obstacle::Image));
        let uses = std::ptr::without_provenance_mut(8);
        assert_eq!(shape(plain, Description { uses, ..two }), Err(Obstacle::ImageOf));
    }

    #[test]
    fn a_part_is_read_with_the_rows_that_have_it() {
        let three = Description::of_three(5, 3, 4);
        let shape = Shape::described(format(UNORM_INT8), &three, Some(4)).expect("an image");
        let bytes = shape.bytes();
        for start in 0..bytes {
            for end in start + 1..=bytes {
                let rows = shape.rows(&(start..end));
                assert!(rows.bytes.start <= start && end <= rows.bytes.end && rows.bytes.end <= bytes);
                let [_, y, z] = rows.origin;
                assert_eq!(rows.bytes.start, (z * 3 + y) * 20);
                assert_eq!(rows.bytes.len(), rows.region.iter().product::<usize>() * 4);
                assert!(rows.region[1] == 3 || rows.region[2] == 1);
            }
        }
        assert_eq!(
            shape.rows(&(25..45)),
            Rows {
                origin: [0, 1, 0],
                region: [5, 2, 1],
                bytes: 20..60
            }
        );
    }
}
