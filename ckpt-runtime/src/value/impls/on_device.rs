//! What arrays on devices have in common, whichever crate they are of: a checkpoint holds the content, as the list that it is; a
//! restart makes the array again, on the device that is there, and writes it. One that nothing has written to since the
//! checkpoint before is not read.

use std::ffi::c_void;
use std::ops::Range;

use crate::base::room::NO_MEMORY;
use crate::devices::opencl;
use crate::value::{Checkpoint, Decoder, Encoder, LoadError, Number, Owner};

/// Stands for the variable where an array on a device is the owner of a list.
const ON_DEVICE: &str = "array on a device";

/// Saves the content of an array of `count` elements.
///
/// # Safety
/// Values of `T` have no padding, and any bytes are one.
pub(super) unsafe fn save<T: Checkpoint + Number>(array: *mut c_void, count: usize, to: &mut Encoder<'_>) {
    let mut to = to.list(count);
    let owner = opencl::content_of(array).map(|content| Owner {
        activation: content.array,
        site: content.writes,
        key: ON_DEVICE,
        lasts: false,
    });
    let mut read_part = |part: Range<usize>| opencl::read_part(array, count * size_of::<T>(), part).ok();
    if owner.is_some_and(|owner| to.unread::<T>(count, owner, &mut read_part)) {
        opencl::is_saved(array);
        return;
    }
    // A device has numbers as a checkpoint does, on machines that have the smallest byte of each first.
    if cfg!(target_endian = "little") || size_of::<T>() == 1 {
        if let Some(bytes) = opencl::come(array, count * size_of::<T>()) {
            return to.numbers_in::<T>(count, owner, bytes);
        }
        // SAFETY: `opencl::read` has read all of the array where it succeeds.
        unsafe { to.numbers_read::<T>(count, owner, |bytes| opencl::read(array, bytes)) };
        return;
    }
    let mut content = Vec::<T>::new();
    if content.try_reserve_exact(count).is_err() {
        to.fail(NO_MEMORY);
        return;
    }
    let room = content.spare_capacity_mut();
    // SAFETY: so many bytes are there, of which none is looked at; any are a value of `T`, as the caller promises.
    let bytes = unsafe { std::slice::from_raw_parts_mut(room.as_mut_ptr().cast(), count * size_of::<T>()) };
    match opencl::read(array, bytes) {
        Ok(()) => {
            // SAFETY: all of them were read.
            unsafe { content.set_len(count) };
            to.numbers(&content);
        }
        Err(why) => to.fail(why),
    }
}

/// Fills an array of `count` elements.
///
/// # Errors
/// When the checkpoint holds something else, or the device does not take it.
///
/// # Safety
/// As for [`save`].
pub(super) unsafe fn refill<T: Checkpoint + Number>(
    array: *mut c_void,
    count: usize,
    from: &mut Decoder<'_>,
) -> Result<(), LoadError> {
    let (found, mut from) = from.list()?;
    match found == count {
        true => from.numbers_put::<T>(count, |bytes| opencl::write(array, bytes)),
        false => Err(LoadError::invalid(format!(
            "an array on a device has {count} elements, the checkpoint holds {found}: make it as long as it was"
        ))),
    }
}

/// All bytes of an array.
pub(super) fn content(array: *mut c_void) -> Result<Vec<u8>, String> {
    let bytes = opencl::size_of_array(array)?;
    match bytes {
        0 => Ok(Vec::new()),
        _ => opencl::read_part(array, bytes, 0..bytes),
    }
}
