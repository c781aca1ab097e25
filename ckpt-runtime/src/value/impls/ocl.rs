//! `ocl::Buffer` (feature `ocl`): an array on a device. A checkpoint holds its content, as the list that it is; a restart makes
//! the array again, on the device that is there, and writes it.

use ::ocl::{Buffer, OclPrm};

use crate::base::room::NO_MEMORY;
use crate::devices::opencl;
use crate::value::{Checkpoint, Decoder, Encoder, LoadError, LoadProblem, Refill};

impl<T: OclPrm + Checkpoint> Refill for Buffer<T> {
    fn save_part(&self, to: &mut Encoder<'_>) {
        let mut content = Vec::new();
        if content.try_reserve_exact(self.len()).is_err() {
            to.fail(NO_MEMORY);
            return;
        }
        content.resize(self.len(), T::default());
        match opencl::read(self.as_core().as_ptr(), bytes_of(&mut content)) {
            Ok(()) => content.save(to),
            Err(why) => to.fail(why),
        }
    }

    fn refill(&mut self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
        let mut content = Vec::<T>::load(from)?;
        let written = match content.len() == self.len() {
            true => opencl::write(self.as_core().as_ptr(), bytes_of(&mut content)),
            false => Err(format!(
                "an array on a device has {} elements, the checkpoint holds {}",
                self.len(),
                content.len()
            )),
        };
        written.map_err(|why| LoadError {
            path: String::new(),
            problem: LoadProblem::Invalid(why),
        })
    }
}

/// The elements as a device has them.
fn bytes_of<T: OclPrm>(elements: &mut [T]) -> &mut [u8] {
    let bytes = size_of_val(elements);
    // SAFETY: types with `OclPrm` are plain: what a device writes there are elements, and all of their bytes may be read.
    unsafe { std::slice::from_raw_parts_mut(elements.as_mut_ptr().cast::<u8>(), bytes) }
}
