//! `opencl3::memory::Buffer` and `Image` (feature `opencl3`): arrays on a device. How long they are, and what an image is made of,
//! the library knows.

use ::opencl3::memory::{Buffer, ClMem, Image};

use super::on_device;
use crate::devices::opencl;
use crate::value::places::OnDevice;
use crate::value::{Decoder, Encoder, LoadError, MadeAgain, Refill};

// Addresses of the program's memory are none of a type that threads may send to each other.
impl<T: Send + Sync + 'static> Refill for Buffer<T> {
    fn save_part(&self, to: &mut Encoder<'_>) {
        on_device::save_part::<T>(self.get(), to);
    }

    fn refill(&mut self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
        on_device::refill::<T>(self.get(), from)
    }
}

impl<T: Send + Sync + 'static> MadeAgain for Buffer<T> {}

impl<T> OnDevice for Buffer<T> {
    fn bytes(&self) -> Result<usize, String> {
        opencl::size_of_array(self.get())
    }

    fn content(&self) -> Result<Vec<u8>, String> {
        on_device::content(self.get())
    }

    fn set(&mut self, content: &[u8]) -> Result<(), String> {
        on_device::set(self.get(), content)
    }

    fn is_exchanged(&self) {
        opencl::is_exchanged(self.get());
    }
}

impl Refill for Image {
    fn save_part(&self, to: &mut Encoder<'_>) {
        on_device::save_texels(self.get(), to);
    }

    fn refill(&mut self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
        on_device::refill_texels(self.get(), from)
    }
}

impl MadeAgain for Image {}

impl OnDevice for Image {
    fn bytes(&self) -> Result<usize, String> {
        opencl::size_of_array(self.get())
    }

    fn is_like(&self, other: &Self) -> bool {
        on_device::are_alike(self.get(), other.get())
    }

    fn content(&self) -> Result<Vec<u8>, String> {
        on_device::content(self.get())
    }

    fn set(&mut self, content: &[u8]) -> Result<(), String> {
        on_device::set(self.get(), content)
    }

    fn is_exchanged(&self) {
        opencl::is_exchanged(self.get());
    }
}

handles! {
    ::opencl3::platform::Platform, ::opencl3::device::Device, ::opencl3::context::Context,
    ::opencl3::command_queue::CommandQueue, ::opencl3::program::Program, ::opencl3::memory::Sampler
}
