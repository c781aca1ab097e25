//! What arrays on devices have in common, whichever crate they are of: a checkpoint holds the content, as the list that it is; a
//! restart makes the array again, on the device that is there, and writes it. One that nothing has written to since the
//! checkpoint before is not read.

use std::ffi::c_void;
use std::ops::Range;

use super::elements::{self, WithNumbers};
use crate::base::room::NO_MEMORY;
use crate::devices::NoMemory;
#[cfg(any(feature = "ocl", feature = "opencl3"))]
use crate::devices::numbers::with_type;
use crate::devices::opencl::{self, Unwritten};
#[cfg(any(feature = "ocl", feature = "opencl3"))]
use crate::value::places::OnDevice;
use crate::value::{Decoder, Encoder, LoadError, LoadProblem, Number, Owner};

/// Stands for the variable where an array on a device is the owner of a list.
const ON_DEVICE: &str = "array on a device";

/// What is said of elements of which only bytes are known, on a machine that has the largest byte of a number first.
const OTHER_ORDER: &str = "the elements of an array on a device are no plain numbers, and this machine has their bytes in another \
                           order than others";

/// What is said of an address of the type of handles.
#[cfg(any(feature = "ocl", feature = "opencl3"))]
const NO_HANDLE: &str = "no array on a device has this handle: it was given back, or stands for something else. Give arrays back behind \
                         the last site, and hold queues and the like in the types that the library has for them";

/// Saves the content of an array of elements of this type, as numbers where that is known of them, else as bytes.
pub(super) fn save_part<T: 'static>(array: *mut c_void, to: &mut Encoder<'_>) {
    match size_of_whole::<T>(array) {
        Ok(bytes) => elements::of::<T, _>(Saves { array, bytes, to }),
        Err(why) => to.fail(why),
    }
}

/// Fills an array of elements of this type.
///
/// # Errors
/// When the checkpoint holds something else, or the device does not take it.
pub(super) fn refill<T: 'static>(array: *mut c_void, from: &mut Decoder<'_>) -> Result<(), LoadError> {
    let bytes = size_of_whole::<T>(array).map_err(LoadError::invalid)?;
    elements::of::<T, _>(Fills { array, bytes, from })
}

/// Saves the texels of an image, as the numbers that its format has.
#[cfg(any(feature = "ocl", feature = "opencl3"))]
pub(super) fn save_texels(image: *mut c_void, to: &mut Encoder<'_>) {
    match opencl::size_of_array(image) {
        Ok(bytes) => of_image(
            image,
            Saves {
                array: image,
                bytes,
                to,
            },
        ),
        Err(why) => to.fail(why),
    }
}

/// Fills an image.
///
/// # Errors
/// As [`refill`].
#[cfg(any(feature = "ocl", feature = "opencl3"))]
pub(super) fn refill_texels(image: *mut c_void, from: &mut Decoder<'_>) -> Result<(), LoadError> {
    let bytes = opencl::size_of_array(image).map_err(LoadError::invalid)?;
    of_image(
        image,
        Fills {
            array: image,
            bytes,
            from,
        },
    )
}

/// Does it with the numbers of an image.
#[cfg(any(feature = "ocl", feature = "opencl3"))]
fn of_image<W: WithNumbers>(image: *mut c_void, work: W) -> W::Result {
    match opencl::numbers_of(image) {
        Some(numbers) => with_type!(numbers, N => work.with::<N>(true)),
        None => work.with::<u8>(false),
    }
}

/// Saves what a handle without a type stands for: of an image the texels, of any other array the bytes.
#[cfg(any(feature = "ocl", feature = "opencl3"))]
pub(super) fn save_untyped(memory: *mut c_void, to: &mut Encoder<'_>) {
    match (opencl::is_image(memory), opencl::size_of_array(memory)) {
        (true, _) => save_texels(memory, to),
        (false, Ok(bytes)) => Saves {
            array: memory,
            bytes,
            to,
        }
        .with::<u8>(false),
        (false, Err(_)) => to.fail(NO_HANDLE),
    }
}

/// Fills what a handle without a type stands for.
///
/// # Errors
/// As [`refill`].
#[cfg(any(feature = "ocl", feature = "opencl3"))]
pub(super) fn refill_untyped(memory: *mut c_void, from: &mut Decoder<'_>) -> Result<(), LoadError> {
    if opencl::is_image(memory) {
        return refill_texels(memory, from);
    }
    let bytes = opencl::size_of_array(memory).map_err(LoadError::invalid)?;
    Fills {
        array: memory,
        bytes,
        from,
    }
    .with::<u8>(false)
}

/// How many bytes an array has; a program may have made it with another size than a multiple of an element's.
fn size_of_whole<T>(array: *mut c_void) -> Result<usize, String> {
    let bytes = opencl::size_of_array(array)?;
    match bytes % size_of::<T>().max(1) {
        _ if std::mem::needs_drop::<T>() => Err(elements::OWNERS.into()),
        0 => Ok(bytes),
        _ => Err(format!(
            "an array on a device has {bytes} bytes, which are no whole number of elements"
        )),
    }
}

struct Saves<'a, 'e> {
    array: *mut c_void,
    bytes: usize,
    to: &'a mut Encoder<'e>,
}

impl WithNumbers for Saves<'_, '_> {
    type Result = ();

    fn with<N: Number>(self, is_known: bool) {
        match is_known || cfg!(target_endian = "little") {
            true => save::<N>(self.array, self.bytes / size_of::<N>(), self.to),
            false => self.to.fail(OTHER_ORDER),
        }
    }
}

struct Fills<'a, 'd> {
    array: *mut c_void,
    bytes: usize,
    from: &'a mut Decoder<'d>,
}

impl WithNumbers for Fills<'_, '_> {
    type Result = Result<(), LoadError>;

    fn with<N: Number>(self, is_known: bool) -> Self::Result {
        if !is_known && cfg!(target_endian = "big") {
            return Err(LoadError::invalid(OTHER_ORDER));
        }
        let count = self.bytes / size_of::<N>();
        let (found, mut from) = self.from.list()?;
        match found == count {
            true => fill::<N>(self.array, count, &mut from),
            false => Err(elements::another_length(count, found, is_known)),
        }
    }
}

fn fill<N: Number>(array: *mut c_void, count: usize, from: &mut Decoder<'_>) -> Result<(), LoadError> {
    let mut refused = None;
    let filled = from.numbers_put::<N>(count, &mut |bytes| {
        opencl::write(array, bytes).map_err(|why| match why {
            Unwritten::Other(why) => why,
            Unwritten::NoMemory(of) => {
                let answer = of.answer.clone();
                refused = Some(of);
                answer
            }
        })
    });
    match refused {
        Some(NoMemory {
            bytes,
            device,
            answer,
        }) => Err(LoadProblem::NoMemory {
            device,
            bytes,
            answer,
        }
        .into()),
        None => filled,
    }
}

/// Saves the content of an array of `count` numbers.
fn save<N: Number>(array: *mut c_void, count: usize, to: &mut Encoder<'_>) {
    let mut to = to.list(count);
    let owner = opencl::content_of(array).map(|content| Owner {
        activation: content.array,
        site: content.writes,
        key: ON_DEVICE,
        lasts: false,
    });
    let mut read_part = |part: Range<usize>| opencl::read_part(array, count * size_of::<N>(), part).ok();
    if owner.is_some_and(|owner| to.unread::<N>(count, owner, &mut read_part)) {
        opencl::is_saved(array);
        return;
    }
    // A device has numbers as a checkpoint does, on machines that have the smallest byte of each first.
    if cfg!(target_endian = "little") || size_of::<N>() == 1 {
        if let Some(bytes) = opencl::come(array, count * size_of::<N>()) {
            return to.numbers_in::<N>(count, owner, bytes);
        }
        // SAFETY: `opencl::read` has read all of the array where it succeeds.
        unsafe { to.numbers_read::<N>(count, owner, |bytes| opencl::read(array, bytes)) };
        return;
    }
    let mut content = Vec::<N>::new();
    if content.try_reserve_exact(count).is_err() {
        to.fail(NO_MEMORY);
        return;
    }
    let room = content.spare_capacity_mut();
    // SAFETY: so many bytes are there, of which none is looked at; any are a number.
    let bytes = unsafe { std::slice::from_raw_parts_mut(room.as_mut_ptr().cast(), count * size_of::<N>()) };
    match opencl::read(array, bytes) {
        Ok(()) => {
            // SAFETY: all of them were read.
            unsafe { content.set_len(count) };
            to.numbers(&content);
        }
        Err(why) => to.fail(why),
    }
}

/// What has a handle of OpenCL for an array or an image.
#[cfg(any(feature = "ocl", feature = "opencl3"))]
pub(super) trait ArrayOfOpenCl {
    fn handle(&self) -> *mut c_void;
}

#[cfg(any(feature = "ocl", feature = "opencl3"))]
impl<A: ArrayOfOpenCl> OnDevice for A {
    fn bytes(&self) -> Result<usize, String> {
        opencl::size_of_array(self.handle())
    }

    fn is_like(&self, other: &Self) -> bool {
        self.bytes() == other.bytes()
            && opencl::numbers_of(self.handle()) == opencl::numbers_of(other.handle())
    }

    fn content(&self) -> Result<Vec<u8>, String> {
        match self.bytes()? {
            0 => Ok(Vec::new()),
            bytes => opencl::read_part(self.handle(), bytes, 0..bytes),
        }
    }

    fn set(&mut self, content: &[u8]) -> Result<(), String> {
        opencl::write(self.handle(), content).map_err(|why| match why {
            Unwritten::Other(why) => why,
            Unwritten::NoMemory(NoMemory {
                bytes,
                device,
                answer,
            }) => {
                format!("device `{device}` has no memory for the {bytes} bytes of an array ({answer})")
            }
        })
    }

    fn is_exchanged(&self) {
        opencl::is_exchanged(self.handle());
    }
}
