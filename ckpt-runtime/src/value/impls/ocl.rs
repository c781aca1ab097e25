//! `ocl::Buffer` (feature `ocl`): an array on a device. A checkpoint holds its content; a restart makes the array again, on
//! the device that is there, and writes it.

use ::ocl::{Buffer, OclPrm, Queue};

use crate::value::{Checkpoint, Decoder, Encoder, LoadError, LoadProblem, Refill};

/// The queue of an array, once all that was put into it is done.
fn finished<T: OclPrm>(array: &Buffer<T>) -> Result<&Queue, String> {
    let Some(queue) = array.default_queue() else {
        return Err("an array on a device has no queue of its own by which to read it; give it one (`.queue(..)`) where it is made".into());
    };
    queue
        .finish()
        .map_err(|error| format!("the queue of a device could not be waited for: {error}"))?;
    Ok(queue)
}

fn read<T: OclPrm>(array: &Buffer<T>) -> Result<Vec<T>, String> {
    finished(array)?;
    let mut content = vec![T::default(); array.len()];
    let read = array.read(&mut content).enq();
    read.map_err(|error| format!("an array on a device could not be read: {error}"))?;
    Ok(content)
}

impl<T: OclPrm + Checkpoint> Refill for Buffer<T> {
    fn save_part(&self, to: &mut Encoder<'_>) {
        match read(self) {
            Ok(content) => content.save(to),
            Err(why) => to.fail(why),
        }
    }

    fn refill(&mut self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
        let content = Vec::<T>::load(from)?;
        let failed = |why: String| LoadError {
            path: String::new(),
            problem: LoadProblem::Invalid(why),
        };
        if content.len() != self.len() {
            let (found, expected) = (content.len(), self.len());
            return Err(failed(format!(
                "an array on a device has {expected} elements, the checkpoint holds {found}"
            )));
        }
        finished(self).map_err(failed)?;
        let written = self.write(&content).enq();
        written.map_err(|error| failed(format!("an array on a device could not be written: {error}")))
    }
}
