//! OpenCL: which objects are alive, how arrays are read and written, and when all queues are done.
//!
//! [`functions`] stands in front of the library and tells [`live`]; it changes nothing of what the program asks for.

mod functions;
mod live;

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use super::Obstacle;
use functions::next;
use live::{Handle, live};

/// As the library numbers them.
const SUCCESS: i32 = 0;
const CONTEXT_DEVICES: u32 = 0x1081;
const YES: u32 = 1;

pub(super) fn obstacle() -> Option<Obstacle> {
    live().obstacle()
}

/// Waits for all queues; no array is saved then.
pub(super) fn finish() -> Result<(), String> {
    live().none_is_saved();
    wait()
}

/// Waits for all queues. The lock is not held meanwhile: a library may wait for functions of the program that ours are
/// asked by.
fn wait() -> Result<(), String> {
    let (queues, left) = live().all_queues();
    let mut result = Ok(());
    for queue in queues {
        // SAFETY: the queue was retained by `all_queues`.
        let code = unsafe {
            let code = next::clFinish(queue.pointer());
            next::clReleaseCommandQueue(queue.pointer());
            code
        };
        if code != SUCCESS {
            result = Err(format!(
                "the commands of a queue of a device failed (error {code} of OpenCL)"
            ));
        }
    }
    for event in left {
        let mut event = event.pointer();
        // SAFETY: an event of ours, which is given back here.
        let code = unsafe {
            let code = next::clWaitForEvents(1, &raw mut event);
            next::clReleaseEvent(event);
            code
        };
        if code != SUCCESS {
            result = Err(format!(
                "the commands of a queue that the program has given back failed (error {code} of OpenCL)"
            ));
        }
    }
    result
}

pub(super) fn unsaved() -> Option<String> {
    live().unsaved()
}

/// A queue by which an array is read or written.
struct Way {
    queue: *mut c_void,
}

impl Way {
    /// To the array of this handle: a queue of the program's in the same context, or one of our own.
    fn to(array: Handle) -> Result<Way, String> {
        if !functions::are_used() {
            return Err(
                "the functions of OpenCL do not go through ckpt in this program: build it with `cargo ckpt`"
                    .into(),
            );
        }
        let Some((context, queue)) = live().way_to(array) else {
            return Err(
                "an array on a device is none that the program has made with `clCreateBuffer`".into(),
            );
        };
        if let Some(queue) = queue {
            // Retained by `way_to`.
            return Ok(Way {
                queue: queue.pointer(),
            });
        }
        let mut devices = [null_mut::<c_void>(); 64];
        let mut code = SUCCESS;
        // SAFETY: the context is that of an array that is alive; what is written has room.
        let queue = unsafe {
            let told = next::clGetContextInfo(
                context.pointer(),
                CONTEXT_DEVICES,
                size_of_val(&devices),
                devices.as_mut_ptr().cast(),
                null_mut(),
            );
            match told {
                SUCCESS => next::clCreateCommandQueue(context.pointer(), devices[0], 0, &raw mut code),
                _ => null_mut(),
            }
        };
        match queue.is_null() {
            false => Ok(Way { queue }),
            true => Err(format!(
                "an array on a device cannot be reached: its context gives no queue (error {code} of OpenCL)"
            )),
        }
    }
}

impl Drop for Way {
    fn drop(&mut self) {
        // SAFETY: retained, or made, by `Way::to`.
        unsafe { next::clReleaseCommandQueue(self.queue) };
    }
}

/// Reads a whole array, of which `to` has the size; it is saved then.
pub(crate) fn read(array: *mut c_void, to: &mut [u8]) -> Result<(), String> {
    let way = Way::to(Handle::of(array))?;
    live().check_size(Handle::of(array), to.len())?;
    if !to.is_empty() {
        // SAFETY: the array is alive and has as many bytes as `to`; the call returns when they have been read.
        let code = unsafe {
            next::clEnqueueReadBuffer(
                way.queue,
                array,
                YES,
                0,
                to.len(),
                to.as_mut_ptr().cast(),
                0,
                null(),
                null_mut(),
            )
        };
        if code != SUCCESS {
            return Err(format!(
                "an array on a device cannot be read (error {code} of OpenCL)"
            ));
        }
    }
    live().is_saved(Handle::of(array));
    Ok(())
}

/// Writes a whole array, of which `from` has the size, once all is done that it was made with: that may be in another queue.
pub(crate) fn write(array: *mut c_void, from: &[u8]) -> Result<(), String> {
    wait()?;
    let way = Way::to(Handle::of(array))?;
    live().check_size(Handle::of(array), from.len())?;
    if from.is_empty() {
        return Ok(());
    }
    // SAFETY: the array is alive and has as many bytes as `from`; the call returns when they have been written.
    let code = unsafe {
        next::clEnqueueWriteBuffer(
            way.queue,
            array,
            YES,
            0,
            from.len(),
            from.as_ptr().cast(),
            0,
            null(),
            null_mut(),
        )
    };
    match code {
        SUCCESS => Ok(()),
        code => Err(format!(
            "an array on a device cannot be written (error {code} of OpenCL)"
        )),
    }
}
