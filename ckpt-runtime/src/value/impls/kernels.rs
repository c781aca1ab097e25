//! Kernels on devices that are given other arguments than their first: a checkpoint holds these, and a restart, which makes the
//! kernel again, gives it to it.

use std::ffi::c_void;

use crate::devices::opencl::{self, Argument, Arguments, Sampler};
use crate::value::{Checkpoint, Decoder, Encoder, LoadError, LoadProblem, MadeAgain, Refill};

/// How many arrays there are; of each argument its number, which array it is or one of the two below, its bytes.
type Saved = (u64, Vec<u32>, Vec<i64>, Vec<Vec<u8>>);

const VALUE: i64 = -1;
/// Memory of the kernel's own; the bytes say how much.
const LOCAL: i64 = -2;
/// A sampler; the bytes say of what kind.
const SAMPLER: i64 = -3;

fn save(kernel: *mut c_void, to: &mut Encoder<'_>) {
    let arguments = match opencl::arguments_of(kernel) {
        Ok(arguments) => arguments,
        Err(why) => return to.fail(why),
    };
    let mut saved: Saved = (arguments.arrays as u64, Vec::new(), Vec::new(), Vec::new());
    for (index, argument) in arguments.list {
        let (what, bytes) = match argument {
            Argument::Array(number) => (number as i64, Vec::new()),
            Argument::Value(bytes) => (VALUE, bytes),
            Argument::Local(bytes) => (LOCAL, (bytes as u64).to_le_bytes().to_vec()),
            Argument::Sampler(kind) => (SAMPLER, kind.iter().flat_map(|one| one.to_le_bytes()).collect()),
        };
        saved.1.push(index);
        saved.2.push(what);
        saved.3.push(bytes);
    }
    saved.save(to);
}

fn sampler_of(bytes: &[u8]) -> Sampler {
    let number = |at: usize| { bytes.get(4 * at..4 * at + 4) }.and_then(|bytes| bytes.try_into().ok());
    [0, 1, 2].map(|at| number(at).map_or(0, u32::from_le_bytes))
}

fn refill(kernel: *mut c_void, keeps: bool, from: &mut Decoder<'_>) -> Result<(), LoadError> {
    let (arrays, indices, whats, values) = Saved::load(from)?;
    let all = indices.into_iter().zip(whats.into_iter().zip(values));
    let list = all.map(|(index, (what, bytes))| {
        let argument = match what {
            VALUE => Argument::Value(bytes),
            LOCAL => {
                let bytes = bytes.as_slice().try_into().map_or(0, u64::from_le_bytes);
                Argument::Local(bytes as usize)
            }
            SAMPLER => Argument::Sampler(sampler_of(&bytes)),
            number => Argument::Array(number as usize),
        };
        (index, argument)
    });
    let arguments = Arguments {
        arrays: arrays as usize,
        list: list.collect(),
    };
    opencl::bind(kernel, arguments, keeps).map_err(|why| LoadError {
        path: String::new(),
        problem: LoadProblem::Invalid(why),
    })
}

#[cfg(feature = "ocl")]
impl Refill for ::ocl::Kernel {
    fn save_part(&self, to: &mut Encoder<'_>) {
        save(self.as_core().as_ptr(), to);
    }

    fn refill(&mut self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
        refill(self.as_core().as_ptr(), true, from)
    }
}

#[cfg(feature = "opencl3")]
impl Refill for ::opencl3::kernel::Kernel {
    fn save_part(&self, to: &mut Encoder<'_>) {
        save(self.get(), to);
    }

    fn refill(&mut self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
        refill(self.get(), false, from)
    }
}

#[cfg(feature = "ocl")]
impl MadeAgain for ::ocl::Kernel {}

#[cfg(feature = "opencl3")]
impl MadeAgain for ::opencl3::kernel::Kernel {}
