//! `opencl3::memory::Buffer` (feature `opencl3`): an array on a device. How long it is the library knows.

use std::ffi::c_void;

use ::opencl3::memory::{Buffer, ClMem};

use super::on_device;
use crate::devices::opencl;
use crate::value::places::OnDevice;
use crate::value::{Checkpoint, Decoder, Encoder, LoadError, LoadProblem, MadeAgain, Number, Refill};

impl<T: Number + Checkpoint> Refill for Buffer<T> {
    fn save_part(&self, to: &mut Encoder<'_>) {
        match count_of::<T>(self.get()) {
            // SAFETY: numbers are plain.
            Ok(count) => unsafe { on_device::save::<T>(self.get(), count, to) },
            Err(why) => to.fail(why),
        }
    }

    fn refill(&mut self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
        let count = count_of::<T>(self.get()).map_err(|why| LoadError {
            path: String::new(),
            problem: LoadProblem::Invalid(why),
        })?;
        // SAFETY: the same.
        unsafe { on_device::refill::<T>(self.get(), count, from) }
    }
}

impl<T: Number + Checkpoint> MadeAgain for Buffer<T> {}

impl<T> OnDevice for Buffer<T> {
    fn bytes(&self) -> Result<usize, String> {
        opencl::size_of_array(self.get())
    }

    fn content(&self) -> Result<Vec<u8>, String> {
        on_device::content(self.get())
    }

    fn set(&mut self, content: &[u8]) -> Result<(), String> {
        opencl::write(self.get(), content)
    }

    fn is_exchanged(&self) {
        opencl::is_exchanged(self.get());
    }
}

handles! {
    ::opencl3::platform::Platform, ::opencl3::device::Device, ::opencl3::context::Context,
    ::opencl3::command_queue::CommandQueue, ::opencl3::program::Program
}

/// How many elements an array has; a program may have made it with another size than a multiple of an element's.
fn count_of<T>(array: *mut c_void) -> Result<usize, String> {
    let bytes = opencl::size_of_array(array)?;
    match bytes % size_of::<T>() {
        0 => Ok(bytes / size_of::<T>()),
        _ => Err(format!(
            "an array on a device has {bytes} bytes, which are no whole number of elements"
        )),
    }
}
