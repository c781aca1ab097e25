//! `opencl3::memory::Buffer` and `Image` (feature `opencl3`): arrays on a device. How long they are, and what an image is made of,
//! the library knows.

use std::ffi::c_void;

use ::opencl3::memory::{Buffer, ClMem, Image};

use super::on_device::{self, ArrayOfOpenCl};
use crate::value::{Decoder, Encoder, LoadError, MadeAgain, Refill};

// Addresses of the program's memory are none of a type that threads may send to each other.
impl<T: Send + Sync + 'static> Refill for Buffer<T> {
    fn save_part(&self, to: &mut Encoder<'_>) {
        on_device::save_part::<T>(self.handle(), to);
    }

    fn refill(&mut self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
        on_device::refill::<T>(self.handle(), from)
    }
}

impl<T: Send + Sync + 'static> MadeAgain for Buffer<T> {}

impl<T> ArrayOfOpenCl for Buffer<T> {
    fn handle(&self) -> *mut c_void {
        self.get()
    }
}

impl Refill for Image {
    fn save_part(&self, to: &mut Encoder<'_>) {
        on_device::save_texels(self.handle(), to);
    }

    fn refill(&mut self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
        on_device::refill_texels(self.handle(), from)
    }
}

impl MadeAgain for Image {}

impl ArrayOfOpenCl for Image {
    fn handle(&self) -> *mut c_void {
        self.get()
    }
}

handles! {
    ::opencl3::platform::Platform, ::opencl3::device::Device, ::opencl3::context::Context,
    ::opencl3::command_queue::CommandQueue, ::opencl3::program::Program, ::opencl3::memory::Sampler
}
