//! `cudarc::driver::CudaSlice` (feature `cudarc`): an array on a device.

use std::mem::MaybeUninit;

use ::cudarc::driver::{CudaSlice, DeviceRepr};

use super::elements::{self, WithNumbers};
use crate::devices::cudarc;
use crate::value::places::{OnDevice, bytes_read};
use crate::value::{Decoder, Encoder, LoadError, Number, Refill};

// Addresses of the program's memory are none of a type that threads may send to each other.
impl<T: DeviceRepr + Send + Sync + 'static> Refill for CudaSlice<T> {
    fn save_part(&self, to: &mut Encoder<'_>) {
        const {
            assert!(
                cfg!(target_endian = "little"),
                "no machine with CUDA is otherwise"
            )
        };
        match std::mem::needs_drop::<T>() {
            true => to.fail(elements::OWNERS),
            false => elements::of::<T, _>(Saves(self, to)),
        }
    }

    fn refill(&mut self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
        elements::of::<T, _>(Fills(self, from))
    }
}

struct Saves<'a, 'e, T>(&'a CudaSlice<T>, &'a mut Encoder<'e>);

impl<T: DeviceRepr> WithNumbers for Saves<'_, '_, T> {
    type Result = ();

    fn with<N: Number>(self, _is_known: bool) {
        let count = self.0.num_bytes() / size_of::<N>();
        // SAFETY: the program stands still until the checkpoint has all that it is made of.
        match unsafe { cudarc::reader(self.0) } {
            // SAFETY: it has written every byte where it succeeds.
            Ok(read) => unsafe { { self.1.list(count) }.numbers_read_beside::<N>(count, None, read) },
            Err(why) => self.1.fail(why),
        }
    }
}

struct Fills<'a, 'd, T>(&'a mut CudaSlice<T>, &'a mut Decoder<'d>);

impl<T: DeviceRepr> WithNumbers for Fills<'_, '_, T> {
    type Result = Result<(), LoadError>;

    fn with<N: Number>(self, is_known: bool) -> Self::Result {
        let count = self.0.num_bytes() / size_of::<N>();
        let (found, mut from) = self.1.list()?;
        match found == count {
            true => from.numbers_put::<N>(count, &mut |bytes| cudarc::write(self.0, bytes)),
            false => Err(elements::another_length(count, found, is_known)),
        }
    }
}

impl<T: DeviceRepr> OnDevice for CudaSlice<T> {
    fn bytes(&self) -> Result<usize, String> {
        Ok(self.num_bytes())
    }

    fn content(&self) -> Result<Vec<u8>, String> {
        let read = |to: &mut [MaybeUninit<u8>]| cudarc::read(self, to);
        // SAFETY: every byte was written where it succeeds.
        unsafe { bytes_read(self.num_bytes(), read) }
    }

    fn set(&mut self, content: &[u8]) -> Result<(), String> {
        cudarc::write(self, content)
    }
}
