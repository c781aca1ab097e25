//! `ocl::Buffer` and `ocl::Image` (feature `ocl`): arrays on a device. What an image is made of its format says, not its type.

use std::ffi::c_void;

use ::ocl::{Buffer, Image, OclPrm};

use super::on_device::{self, ArrayOfOpenCl};
use crate::value::{Decoder, Encoder, LoadError, MadeAgain, Refill};

impl<T: OclPrm> Refill for Buffer<T> {
    fn save_part(&self, to: &mut Encoder<'_>) {
        on_device::save_part::<T>(self.handle(), to);
    }

    fn refill(&mut self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
        on_device::refill::<T>(self.handle(), from)
    }
}

impl<T: OclPrm> MadeAgain for Buffer<T> {}

impl<T: OclPrm> ArrayOfOpenCl for Buffer<T> {
    fn handle(&self) -> *mut c_void {
        self.as_core().as_ptr()
    }
}

impl<T: OclPrm> Refill for Image<T> {
    fn save_part(&self, to: &mut Encoder<'_>) {
        on_device::save_texels(self.handle(), to);
    }

    fn refill(&mut self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
        on_device::refill_texels(self.handle(), from)
    }
}

impl<T: OclPrm> MadeAgain for Image<T> {}

impl<T: OclPrm> ArrayOfOpenCl for Image<T> {
    fn handle(&self) -> *mut c_void {
        self.as_core().as_ptr()
    }
}

handles! {
    ::ocl::Platform, ::ocl::Device, ::ocl::Context, ::ocl::Queue, ::ocl::Program, ::ocl::ProQue, ::ocl::Sampler
}
