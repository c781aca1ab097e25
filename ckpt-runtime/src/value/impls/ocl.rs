//! `ocl::Buffer` and `ocl::Image` (feature `ocl`): arrays on a device. What an image is made of its format says, not its type.

use ::ocl::{Buffer, Image, OclPrm};

use super::on_device;
use crate::devices::opencl;
use crate::value::places::OnDevice;
use crate::value::{Decoder, Encoder, LoadError, MadeAgain, Refill};

impl<T: OclPrm> Refill for Buffer<T> {
    fn save_part(&self, to: &mut Encoder<'_>) {
        on_device::save_part::<T>(self.as_core().as_ptr(), to);
    }

    fn refill(&mut self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
        on_device::refill::<T>(self.as_core().as_ptr(), from)
    }
}

impl<T: OclPrm> MadeAgain for Buffer<T> {}

impl<T: OclPrm> OnDevice for Buffer<T> {
    fn bytes(&self) -> Result<usize, String> {
        opencl::size_of_array(self.as_core().as_ptr())
    }

    fn content(&self) -> Result<Vec<u8>, String> {
        on_device::content(self.as_core().as_ptr())
    }

    fn set(&mut self, content: &[u8]) -> Result<(), String> {
        on_device::set(self.as_core().as_ptr(), content)
    }

    fn is_exchanged(&self) {
        opencl::is_exchanged(self.as_core().as_ptr());
    }
}

impl<T: OclPrm> Refill for Image<T> {
    fn save_part(&self, to: &mut Encoder<'_>) {
        on_device::save_texels(self.as_core().as_ptr(), to);
    }

    fn refill(&mut self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
        on_device::refill_texels(self.as_core().as_ptr(), from)
    }
}

impl<T: OclPrm> MadeAgain for Image<T> {}

impl<T: OclPrm> OnDevice for Image<T> {
    fn bytes(&self) -> Result<usize, String> {
        opencl::size_of_array(self.as_core().as_ptr())
    }

    fn is_like(&self, other: &Self) -> bool {
        on_device::are_alike(self.as_core().as_ptr(), other.as_core().as_ptr())
    }

    fn content(&self) -> Result<Vec<u8>, String> {
        on_device::content(self.as_core().as_ptr())
    }

    fn set(&mut self, content: &[u8]) -> Result<(), String> {
        on_device::set(self.as_core().as_ptr(), content)
    }

    fn is_exchanged(&self) {
        opencl::is_exchanged(self.as_core().as_ptr());
    }
}

handles! {
    ::ocl::Platform, ::ocl::Device, ::ocl::Context, ::ocl::Queue, ::ocl::Program, ::ocl::ProQue, ::ocl::Sampler
}
