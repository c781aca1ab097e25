//! OpenCL: which objects are alive, how arrays are read and written, and when all queues are done.
//!
//! [`functions`] stands in front of the library and tells [`live`]; it changes nothing of what the program asks for.
//! [`texels`] knows how the library reads images. [`only_read`] tells where kernels only read what is constant by its type. [`memory`] knows what devices have refused. [`loaded`] does so for programs that load the library themselves. [`shown`] answers for it where the program is to see the
//! devices that it had, and others are there.

mod ahead;
mod functions;
mod live;
mod loaded;
mod memory;
mod only_read;
mod shown;
mod texels;

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr::{null, null_mut};

use super::numbers::Numbers;
use super::{NoMemory, Obstacle};
pub(crate) use ahead::come;
pub(super) use ahead::{begin as begin_to_read, end as end_reading};
use functions::next;
pub(crate) use live::{Argument, Arguments, Sampler};
use live::{Content, Handle, live};
pub(super) use memory::refused;
pub(super) use shown::{computes_on, note as note_shown};
use texels::Shape;

/// As the library numbers them.
const SUCCESS: i32 = 0;
const INVALID: i32 = -30;
const NO_MEMORY_OF_HOST: i32 = -6;
const CONTEXT_DEVICES: u32 = 0x1081;
const YES: u32 = 1;
const READ_AND_WRITE: u64 = 1;
const ORIGIN: [usize; 3] = [0; 3];

/// Three numbers, in each direction of an image.
type Sizes = *const usize;

/// What is said of an array that has not come through our functions.
const UNKNOWN: &str = "an array on a device is none that the program has made with `clCreateBuffer`";

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

/// Why an array was not written.
pub(crate) enum Unwritten {
    /// Its device has no memory for it.
    NoMemory(NoMemory),
    /// Any other reason, in the words of a sentence.
    Other(String),
}

impl From<String> for Unwritten {
    fn from(why: String) -> Self {
        Unwritten::Other(why)
    }
}

/// A queue by which an array is read or written.
struct Way {
    queue: *mut c_void,
    context: *mut c_void,
    /// The array itself, or one beside it, where the program has said that it never reads or writes that one from its side.
    through: *mut c_void,
    array: *mut c_void,
    bytes: usize,
    /// Of an image.
    shape: Option<Shape>,
}

impl Way {
    /// To the array of this handle, which has so many bytes: a queue of the program's in the same context, or one of our own.
    fn to(array: *mut c_void, bytes: usize) -> Result<Way, String> {
        if !functions::are_used() {
            return Err(
                "the functions of OpenCL do not go through ckpt in this program: build it with `cargo ckpt`"
                    .into(),
            );
        }
        let target = live().target(Handle::of(array), bytes)?;
        let context = target.context.pointer();
        let mut code = SUCCESS;
        let queue = match target.queue {
            Some(queue) => queue.pointer(),
            None => queue_in(context, &mut code),
        };
        let mut way = Way {
            queue,
            context,
            through: array,
            array,
            bytes,
            shape: target.shape,
        };
        if target.is_guarded && !queue.is_null() {
            // SAFETY: the context is that of an array that is alive.
            way.through = unsafe {
                next::clCreateBuffer(context, READ_AND_WRITE, bytes.max(1), null_mut(), &raw mut code)
            };
        }
        match way.queue.is_null() || way.through.is_null() {
            false => Ok(way),
            true => Err(format!(
                "an array on a device cannot be reached: its context gives no queue or memory (error {code} of OpenCL)"
            )),
        }
    }

    /// Reads what is at `offset`: no more than there is.
    fn read(&self, offset: usize, to: &mut [MaybeUninit<u8>]) -> i32 {
        let size = to.len();
        if let Some(shape) = self.shape.filter(|_| self.through == self.array) {
            return self.read_texels(&shape, offset, to);
        }
        // SAFETY: both arrays are alive and have these bytes; the calls return when they have been read.
        unsafe {
            match self.copy_to_read() {
                SUCCESS => next::clEnqueueReadBuffer(
                    self.queue,
                    self.through,
                    YES,
                    offset,
                    size,
                    to.as_mut_ptr().cast(),
                    0,
                    null(),
                    null_mut(),
                ),
                code => code,
            }
        }
    }

    /// The same of an image: the rows that have these bytes.
    fn read_texels(&self, shape: &Shape, offset: usize, to: &mut [MaybeUninit<u8>]) -> i32 {
        if to.is_empty() {
            return SUCCESS;
        }
        let part = offset..offset + to.len();
        let rows = shape.rows(&part);
        let mut more = Vec::new();
        let is_exact = rows.bytes == part;
        if !is_exact && more.try_reserve_exact(rows.bytes.len()).is_err() {
            return NO_MEMORY_OF_HOST;
        }
        let at = match is_exact {
            true => to.as_mut_ptr(),
            false => more.spare_capacity_mut().as_mut_ptr(),
        };
        // SAFETY: the image is alive and has these rows; there is room for them, and the call returns when they have been read.
        let code = unsafe {
            next::clEnqueueReadImage(
                self.queue,
                self.array,
                YES,
                rows.origin.as_ptr(),
                rows.region.as_ptr(),
                0,
                0,
                at.cast(),
                0,
                null(),
                null_mut(),
            )
        };
        if code == SUCCESS && !is_exact {
            let more: &[MaybeUninit<u8>] = more.spare_capacity_mut();
            to.copy_from_slice(&more[part.start - rows.bytes.start..][..to.len()]);
        }
        code
    }

    /// Writes a whole image.
    fn write_texels(&self, shape: &Shape, from: &[u8]) -> i32 {
        // SAFETY: the image is alive and has as many bytes as `from`; the call returns when they have been written.
        unsafe {
            next::clEnqueueWriteImage(
                self.queue,
                self.array,
                YES,
                ORIGIN.as_ptr(),
                shape.region(),
                0,
                0,
                from.as_ptr().cast(),
                0,
                null(),
                null_mut(),
            )
        }
    }

    fn write(&self, from: &[u8]) -> i32 {
        let size = self.bytes;
        if let Some(shape) = self.shape.filter(|_| self.through == self.array) {
            return self.write_texels(&shape, from);
        }
        // SAFETY: both arrays are alive and have as many bytes as `from`; the calls return when they have been written.
        unsafe {
            let written = next::clEnqueueWriteBuffer(
                self.queue,
                self.through,
                YES,
                0,
                size,
                from.as_ptr().cast(),
                0,
                null(),
                null_mut(),
            );
            match written {
                SUCCESS => self.copy_written(),
                code => code,
            }
        }
    }

    /// Has what the array has in the one beside it.
    ///
    /// # Safety
    /// Both are alive, in the context of the queue, and have all bytes.
    unsafe fn copy_to_read(&self) -> i32 {
        let (queue, array, through) = (self.queue, self.array, self.through);
        // SAFETY: the caller's promise.
        unsafe {
            self.copy(array, through, |region| {
                let origin = ORIGIN.as_ptr();
                next::clEnqueueCopyImageToBuffer(
                    queue,
                    array,
                    through,
                    origin,
                    region,
                    0,
                    0,
                    null(),
                    null_mut(),
                )
            })
        }
    }

    /// The other way round.
    ///
    /// # Safety
    /// As [`Way::copy_to_read`].
    unsafe fn copy_written(&self) -> i32 {
        let (queue, array, through) = (self.queue, self.array, self.through);
        // SAFETY: the caller's promise.
        unsafe {
            self.copy(through, array, |region| {
                let origin = ORIGIN.as_ptr();
                next::clEnqueueCopyBufferToImage(
                    queue,
                    through,
                    array,
                    0,
                    origin,
                    region,
                    0,
                    null(),
                    null_mut(),
                )
            })
        }
    }

    /// Copies between two arrays, or, where one is an image, by `of_image`, which gets its region; and waits until that is done.
    ///
    /// # Safety
    /// As [`Way::copy_to_read`].
    unsafe fn copy(&self, from: *mut c_void, to: *mut c_void, of_image: impl FnOnce(Sizes) -> i32) -> i32 {
        if from == to {
            return SUCCESS;
        }
        // SAFETY: the caller's promise; the queue is alive as long as this is.
        unsafe {
            let copied = match &self.shape {
                Some(shape) => of_image(shape.region()),
                None => {
                    next::clEnqueueCopyBuffer(self.queue, from, to, 0, 0, self.bytes, 0, null(), null_mut())
                }
            };
            match copied {
                SUCCESS => next::clFinish(self.queue),
                code => code,
            }
        }
    }
}

impl Drop for Way {
    fn drop(&mut self) {
        // SAFETY: made, or retained, by `Way::to`.
        unsafe {
            if self.through != self.array && !self.through.is_null() {
                next::clReleaseMemObject(self.through);
            }
            if !self.queue.is_null() {
                next::clReleaseCommandQueue(self.queue);
            }
        }
    }
}

/// A queue of our own, or null.
fn queue_in(context: *mut c_void, code: &mut i32) -> *mut c_void {
    let mut devices = [null_mut::<c_void>(); 64];
    // SAFETY: the context is that of an array that is alive; what is written has room.
    unsafe {
        *code = next::clGetContextInfo(
            context,
            CONTEXT_DEVICES,
            size_of_val(&devices),
            devices.as_mut_ptr().cast(),
            null_mut(),
        );
        match *code {
            SUCCESS => next::clCreateCommandQueue(context, devices[0], 0, &raw mut *code),
            _ => null_mut(),
        }
    }
}

/// How many bytes an array has.
pub(crate) fn size_of_array(array: *mut c_void) -> Result<usize, String> {
    live().size(Handle::of(array)).ok_or_else(|| UNKNOWN.into())
}

/// What the channels of an image are; nothing where that is not known.
#[cfg_attr(
    not(any(feature = "ocl", feature = "opencl3")),
    expect(dead_code, reason = "no crate has images")
)]
pub(crate) fn numbers_of(image: *mut c_void) -> Option<Numbers> {
    live().numbers(Handle::of(image))
}

/// Whether a handle is that of an image that can be read.
#[cfg_attr(
    not(any(feature = "ocl", feature = "opencl3")),
    expect(dead_code, reason = "no crate has images")
)]
pub(crate) fn is_image(memory: *mut c_void) -> bool {
    live().is_image(Handle::of(memory))
}

/// Reads a whole array, of which `to` has the size; it is saved then, and every byte was written.
pub(crate) fn read(array: *mut c_void, to: &mut [MaybeUninit<u8>]) -> Result<(), String> {
    let way = Way::to(array, to.len())?;
    let code = match to {
        [] => SUCCESS,
        to => way.read(0, to),
    };
    if code != SUCCESS {
        return Err(unread(code));
    }
    is_saved(array);
    live().was_read(Handle::of(array));
    Ok(())
}

fn unread(code: i32) -> String {
    format!("an array on a device cannot be read (error {code} of OpenCL)")
}

/// Reads a part of an array of so many bytes.
pub(crate) fn read_part(array: *mut c_void, bytes: usize, part: Range<usize>) -> Result<Vec<u8>, String> {
    let way = Way::to(array, bytes)?;
    if part.end > bytes {
        return Err("an array on a device has no such part".into());
    }
    let mut to = Vec::with_capacity(part.len());
    match way.read(part.start, &mut to.spare_capacity_mut()[..part.len()]) {
        SUCCESS => {
            // SAFETY: so many were read.
            unsafe { to.set_len(part.len()) };
            Ok(to)
        }
        code => Err(unread(code)),
    }
}

/// What is in an array, where that is known: it stays as long as this is the same.
pub(crate) fn content_of(array: *mut c_void) -> Option<Content> {
    live().content(Handle::of(array))
}

/// A checkpoint has its content.
pub(crate) fn is_saved(array: *mut c_void) {
    live().is_saved(Handle::of(array));
}

/// Variables have exchanged it.
pub(crate) fn is_exchanged(array: *mut c_void) {
    live().is_exchanged(Handle::of(array));
}

/// Writes a whole array, of which `from` has the size, once all is done that it was made with: that may be in another queue.
pub(crate) fn write(array: *mut c_void, from: &[u8]) -> Result<(), Unwritten> {
    wait()?;
    live().written(Handle::of(array));
    let way = Way::to(array, from.len())?;
    let code = match from {
        [] => SUCCESS,
        from => way.write(from),
    };
    match code {
        SUCCESS => {
            live().is_filled(Handle::of(array));
            Ok(bind_again()?)
        }
        code => Err(match memory::no_memory(way.context, from.len(), code) {
            Some(refused) => Unwritten::NoMemory(refused),
            None => format!("an array on a device cannot be written (error {code} of OpenCL)").into(),
        }),
    }
}

/// The arguments of a kernel: they are saved then.
#[cfg_attr(
    not(any(feature = "ocl", feature = "opencl3")),
    expect(dead_code, reason = "no crate has kernels")
)]
pub(crate) fn arguments_of(kernel: *mut c_void) -> Result<Arguments, String> {
    live().arguments(Handle::of(kernel))
}

/// Gives a kernel the arguments that it had, as soon as all arrays are there. `keeps`: it keeps its arrays alive.
#[cfg_attr(
    not(any(feature = "ocl", feature = "opencl3")),
    expect(dead_code, reason = "no crate has kernels")
)]
pub(crate) fn bind(kernel: *mut c_void, arguments: Arguments, keeps: bool) -> Result<(), String> {
    live().awaits(Handle::of(kernel), arguments, keeps);
    bind_again()
}

fn bind_again() -> Result<(), String> {
    let list = live().take_ready();
    for one in list {
        let code = match &one.argument {
            Argument::Value(bytes) => functions::bind(one.kernel, one.index, bytes.len(), Some(bytes)),
            Argument::Local(bytes) => functions::bind(one.kernel, one.index, *bytes, None),
            Argument::Sampler(like) => functions::bind_sampler(one.kernel, one.index, *like),
            Argument::Array(_) => INVALID,
        };
        if code != SUCCESS {
            return Err(format!(
                "a kernel cannot be given its argument {} again (error {code} of OpenCL)",
                one.index
            ));
        }
        if let Some(array) = one.kept {
            functions::keep(one.kernel, one.index, array);
        }
    }
    Ok(())
}
