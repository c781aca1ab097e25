//! `cudarc::driver::CudaSlice` (feature `cudarc`): an array on a device.

use std::mem::MaybeUninit;

use ::cudarc::driver::{CudaSlice, DeviceRepr};

use crate::devices::cudarc;
use crate::value::places::OnDevice;
use crate::value::{Checkpoint, Decoder, Encoder, LoadError, Number, Refill};

impl<T: DeviceRepr + Checkpoint + Number> Refill for CudaSlice<T> {
    fn save_part(&self, to: &mut Encoder<'_>) {
        const {
            assert!(
                cfg!(target_endian = "little"),
                "no machine with CUDA is otherwise"
            )
        };
        let mut to = to.list(self.len());
        let read = |to: &mut [MaybeUninit<u8>]| cudarc::read(self, to);
        // SAFETY: `cudarc::read` has written every byte where it succeeds.
        unsafe { to.numbers_read::<T>(self.len(), None, read) }
    }

    fn refill(&mut self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
        let (count, mut from) = from.list()?;
        match count == self.len() {
            true => from.numbers_put::<T>(count, |bytes| cudarc::write(self, bytes)),
            false => Err(LoadError::invalid(format!(
                "an array on a device has {} elements, the checkpoint holds {count}: make it as long as it was",
                self.len()
            ))),
        }
    }
}

impl<T: DeviceRepr> OnDevice for CudaSlice<T> {
    fn bytes(&self) -> Result<usize, String> {
        Ok(self.num_bytes())
    }

    fn content(&self) -> Result<Vec<u8>, String> {
        let mut content = Vec::with_capacity(self.num_bytes());
        cudarc::read(self, &mut content.spare_capacity_mut()[..self.num_bytes()])?;
        // SAFETY: so many were read.
        unsafe { content.set_len(self.num_bytes()) };
        Ok(content)
    }

    fn set(&mut self, content: &[u8]) -> Result<(), String> {
        cudarc::write(self, content)
    }
}
