//! Memory for a list that is read, and found right, before it is known which type of number it becomes.

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc};
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use super::DType;
use super::number::Number;

/// Initialised memory that a vector of numbers can take over.
#[doc(hidden)]
#[derive(Debug)]
pub struct Room {
    at: NonNull<u8>,
    layout: Layout,
}

// SAFETY: it owns its memory, as a vector of bytes does.
unsafe impl Send for Room {}

/// The alignment of the numbers that elements of a type become.
fn alignment(dtype: &DType) -> usize {
    match dtype {
        DType::U16 | DType::I16 => align_of::<u16>(),
        DType::U32 | DType::I32 | DType::Char | DType::Variant(_) => align_of::<u32>(),
        DType::F32 | DType::Complex32 => align_of::<f32>(),
        DType::U64 | DType::I64 | DType::Object(_) => align_of::<u64>(),
        DType::F64 | DType::Complex64 => align_of::<f64>(),
        DType::U128 | DType::I128 => align_of::<u128>(),
        _ => 1,
    }
}

impl Room {
    /// For so many bytes; `None` if there are none, or no memory.
    pub(crate) fn zeroed(dtype: &DType, bytes: usize) -> Option<Room> {
        let layout = Layout::from_size_align(bytes, alignment(dtype)).ok()?;
        if bytes == 0 {
            return None;
        }
        // SAFETY: the size is not zero.
        let at = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        // Large pages are not asked for. Where free memory is all there they come three times as fast as small ones; on a
        // virtual machine whose free memory goes back to its host, in large pieces, twenty times as slowly.
        Some(Room { at, layout })
    }

    /// Memory for so many bytes that `fill` fills, every one of them; `None` if there are none, no memory, or it fails.
    ///
    /// # Safety
    /// Where `fill` returns true it has written to all bytes.
    pub(crate) unsafe fn filled(
        dtype: &DType,
        bytes: usize,
        fill: impl FnOnce(&mut [MaybeUninit<u8>]) -> bool,
    ) -> Option<Room> {
        let layout = Layout::from_size_align(bytes, alignment(dtype)).ok()?;
        if bytes == 0 {
            return None;
        }
        // SAFETY: the size is not zero.
        let at = NonNull::new(unsafe { alloc(layout) })?;
        // Frees the memory if it is not filled.
        let room = Room { at, layout };
        // SAFETY: `room` owns this memory, and nothing is said about what is in it.
        let memory = unsafe { std::slice::from_raw_parts_mut(at.as_ptr().cast(), bytes) };
        fill(memory).then_some(room)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: the memory has `size` bytes, all initialised by whoever has made it, and is owned by `self`.
        unsafe { std::slice::from_raw_parts(self.at.as_ptr(), self.layout.size()) }
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`, and `self` is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.at.as_ptr(), self.layout.size()) }
    }

    /// The numbers that are stored in it, without another copy; it comes back if they need other memory.
    pub(crate) fn into_numbers<N: Number>(self) -> Result<Vec<N>, Room> {
        let size = size_of::<N>();
        let fits = cfg!(target_endian = "little")
            && self.layout.align() == align_of::<N>()
            && self.layout.size().is_multiple_of(size);
        if !fits {
            return Err(self);
        }
        let (at, count) = (self.at.as_ptr().cast::<N>(), self.layout.size() / size);
        std::mem::forget(self);
        // SAFETY: the memory comes from the global allocator with the layout of an array of `count` items of `N`: same
        // alignment, and size * count bytes; all are initialised, and every bit pattern is a valid `Number`. It is not
        // freed by `Room` any more.
        Ok(unsafe { Vec::from_raw_parts(at, count, count) })
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout, and freed once.
        unsafe { dealloc(self.at.as_ptr(), self.layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_it_over() {
        let mut room = Room::zeroed(&DType::F64, 80_000).unwrap();
        room.bytes_mut()[8..16].copy_from_slice(&1.5_f64.to_le_bytes());
        let at = room.bytes().as_ptr();
        let mut numbers = room.into_numbers::<f64>().unwrap();
        assert_eq!(numbers.as_ptr().cast::<u8>(), at);
        assert_eq!((numbers.len(), numbers[0], numbers[1]), (10_000, 0.0, 1.5));
        numbers.push(2.0);
        assert_eq!(numbers.len(), 10_001);
    }

    #[test]
    fn other_numbers_get_it_back() {
        let room = Room::zeroed(&DType::U8, 80).unwrap();
        let room = room.into_numbers::<u64>().unwrap_err();
        assert_eq!(room.bytes(), [0; 80]);
        assert!(Room::zeroed(&DType::U8, 0).is_none());
    }
}
