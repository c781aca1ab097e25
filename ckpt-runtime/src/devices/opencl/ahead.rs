//! Arrays that are on their way into the memory of a checkpoint while it copies the program's own: those that were written to since
//! they were last read are asked for without a wait when it begins, and each is waited for when its variable is saved.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::Mutex;

use super::functions::next;
use super::live::{Handle, live};
use super::{ORIGIN, SUCCESS, Way, is_saved};
use crate::base::lock::locked;

const NO_WAIT: u32 = 0;

/// By their handles.
static COMING: Mutex<BTreeMap<Handle, Coming>> = Mutex::new(BTreeMap::new());

struct Coming {
    /// Complete when all bytes are there.
    event: Handle,
    /// Empty, with room for them: the library writes there until the event is complete.
    bytes: Vec<u8>,
    length: usize,
}

/// Has the library begin to read, into memory that `room` gives: empty, with room for so many bytes.
pub(in crate::devices) fn begin(room: &mut dyn FnMut(usize) -> Option<Vec<u8>>) {
    let wanted = live().written_since_read();
    for (array, length) in wanted {
        if let Some(coming) = Coming::begin(array, length, room) {
            locked(&COMING).insert(array, coming);
        }
    }
}

/// The whole content of an array, if it was asked for; it is saved then.
pub(crate) fn come(array: *mut c_void, length: usize) -> Option<Vec<u8>> {
    let coming = locked(&COMING).remove(&Handle::of(array))?;
    let bytes = coming.wait()?;
    if bytes.len() != length {
        return None;
    }
    is_saved(array);
    live().was_read(Handle::of(array));
    Some(bytes)
}

/// What was asked for and not needed is there: its memory is free.
pub(in crate::devices) fn end() -> Vec<Vec<u8>> {
    let all = std::mem::take(&mut *locked(&COMING));
    all.into_values().filter_map(Coming::wait).collect()
}

impl Coming {
    fn begin(array: Handle, length: usize, room: &mut dyn FnMut(usize) -> Option<Vec<u8>>) -> Option<Coming> {
        let way = Way::to(array.pointer(), length).ok()?;
        // One that the program does not read from its side goes through another one, which would have to stay.
        if way.through != way.array {
            return None;
        }
        let mut bytes = room(length).filter(|bytes| bytes.is_empty() && bytes.capacity() >= length)?;
        let mut event = null_mut();
        let to = bytes.spare_capacity_mut()[..length].as_mut_ptr();
        // SAFETY: the array is alive and has so many bytes; there is room for them, which stays until the event was waited for.
        let code = unsafe {
            let code = match &way.shape {
                Some(shape) => next::clEnqueueReadImage(
                    way.queue,
                    way.array,
                    NO_WAIT,
                    ORIGIN.as_ptr(),
                    shape.region(),
                    0,
                    0,
                    to.cast(),
                    0,
                    null(),
                    &raw mut event,
                ),
                None => next::clEnqueueReadBuffer(
                    way.queue,
                    way.array,
                    NO_WAIT,
                    0,
                    length,
                    to.cast(),
                    0,
                    null(),
                    &raw mut event,
                ),
            };
            next::clFlush(way.queue);
            code
        };
        (code == SUCCESS).then(|| Coming {
            event: Handle::of(event),
            bytes,
            length,
        })
    }

    /// Nothing where they could not be read.
    fn wait(mut self) -> Option<Vec<u8>> {
        let mut event = self.event.pointer();
        // SAFETY: an event of ours, which is given back here.
        let code = unsafe {
            let code = next::clWaitForEvents(1, &raw mut event);
            next::clReleaseEvent(event);
            code
        };
        if code != SUCCESS {
            // The library may still write there.
            std::mem::forget(self.bytes);
            return None;
        }
        // SAFETY: the library has written so many.
        unsafe { self.bytes.set_len(self.length) };
        Some(self.bytes)
    }
}
