//! Handles of OpenCL without a type, `cl_mem` (features `ocl` and `opencl3`): an array on a device, if it is one. As rustc sees it, any
//! address is of this type; which of them are arrays that are alive the functions know that make these.

use std::ffi::c_void;

use super::on_device::{self, ArrayOfOpenCl};
use crate::value::{Decoder, Encoder, LoadError, MadeAgain, Refill};

impl Refill for *mut c_void {
    fn save_part(&self, to: &mut Encoder<'_>) {
        on_device::save_untyped(*self, to);
    }

    fn refill(&mut self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
        on_device::refill_untyped(*self, from)
    }
}

impl MadeAgain for *mut c_void {}

impl ArrayOfOpenCl for *mut c_void {
    fn handle(&self) -> *mut c_void {
        *self
    }
}
