//! Which of the program's devices an array or a texture is on.
//!
//! It does not say so, and may be asked by its own device alone: of another one's the library ends the program, or finds an array
//! that has the same number there, where that is of another instance. So it is made to refuse something that it needs no device
//! to be told for, which changes nothing: its own device hears of that. Where the program has one device, that is it.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ::wgpu::{Buffer, COPY_BUFFER_ALIGNMENT, Device, Queue, Texture, TextureViewDescriptor};

use super::way::{self, MAPPED, Scopes, Way};
use super::{known, texels};

/// A device that the program has opened, and its queue.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// Which of them, in their order.
    pub(super) number: usize,
    device: Device,
    queue: Queue,
}

/// What is on a device.
pub(crate) trait Placed {
    /// Does what its device refuses, and nothing else, while the program uses it as it is.
    ///
    /// # Errors
    /// It is mapped: there is nothing of the kind.
    fn is_refused(&self) -> Result<(), String>;

    /// Whether a restart can write it.
    ///
    /// # Errors
    /// Which usage it lacks for that.
    fn comes_back(&self) -> Result<(), String>;

    /// As `is_refused` when it was just made, where it need not stay mapped.
    fn is_refused_as_new(&self) -> Result<(), String> {
        self.is_refused()
    }
}

impl Placed for Buffer {
    fn is_refused(&self) -> Result<(), String> {
        const NOT_MAPPED: &str = "is not mapped";
        let words = ..self.size() - self.size() % COPY_BUFFER_ALIGNMENT;
        match self.get_mapped_range(words) {
            Err(why) if why.to_string().contains(NOT_MAPPED) => {
                self.unmap();
                Ok(())
            }
            _ => Err(MAPPED.into()),
        }
    }

    fn comes_back(&self) -> Result<(), String> {
        way::comes_back(self)
    }

    fn is_refused_as_new(&self) -> Result<(), String> {
        // The first may be allowed.
        self.unmap();
        self.unmap();
        Ok(())
    }
}

impl Placed for Texture {
    fn is_refused(&self) -> Result<(), String> {
        drop(self.create_view(&TextureViewDescriptor {
            base_mip_level: self.mip_level_count(),
            mip_level_count: Some(1),
            ..Default::default()
        }));
        Ok(())
    }

    fn comes_back(&self) -> Result<(), String> {
        texels::comes_back(self)
    }
}

/// Where it is, to be read.
///
/// # Errors
/// No device is known that it is on, it is mapped, or a restart could not write it.
pub(crate) fn to_read<T: Placed>(one: &T) -> Result<Place, String> {
    one.comes_back()?;
    of(|| one.is_refused())
}

/// Where it is that was just made, to be written.
///
/// # Errors
/// No device is known that it is on.
pub(crate) fn to_write<T: Placed>(one: &T) -> Result<Place, String> {
    of(|| one.is_refused_as_new())
}

/// The device that hears of what is refused.
fn of(refused: impl FnOnce() -> Result<(), String>) -> Result<Place, String> {
    let devices = known().devices.clone();
    let number = match devices.len() {
        0 | 1 => 0,
        _ => {
            let scopes: Vec<Scopes> = devices.iter().map(|(device, _)| Scopes::of(device)).collect();
            // Where it is on none of them, the library panics.
            let done = catch_unwind(AssertUnwindSafe(refused));
            let mut heard = None;
            // In this order, as a device may be there twice.
            for (number, scopes) in scopes.into_iter().enumerate().rev() {
                heard = scopes.refused().map(|_| number).or(heard);
            }
            done.unwrap_or(Ok(()))?;
            heard.unwrap_or(usize::MAX)
        }
    };
    let (device, queue) = devices.into_iter().nth(number).ok_or(
        "an array is on a device that was not opened where ckpt sees it: `request_device` in a package of the program's",
    )?;
    Ok(Place {
        number,
        device,
        queue,
    })
}

impl Place {
    fn way(&self) -> Way<'_> {
        Way {
            device: &self.device,
            queue: &self.queue,
        }
    }

    /// Reads a whole array, of which `to` has the size; every byte was written then.
    pub fn read(&self, array: &Buffer, to: &mut [MaybeUninit<u8>]) -> Result<(), String> {
        self.way().read(array, to)
    }

    /// Reads a part of an array.
    pub fn read_part(&self, array: &Buffer, part: Range<usize>) -> Result<Vec<u8>, String> {
        let mut to = Vec::with_capacity(part.len());
        let room = &mut to.spare_capacity_mut()[..part.len()];
        self.way().read_part(array, part.start, room)?;
        // SAFETY: so many were read.
        unsafe { to.set_len(part.len()) };
        Ok(to)
    }

    /// Writes a whole array, of which `from` has the size.
    pub fn write(&self, array: &Buffer, from: &[u8]) -> Result<(), String> {
        self.way().write(array, from)
    }

    /// Reads all texels, of which `to` has the size; every byte was written then.
    pub fn read_texels(&self, texture: &Texture, to: &mut [MaybeUninit<u8>]) -> Result<(), String> {
        self.way().read_texels(texture, to)
    }

    /// Writes all texels, of which `from` has the size.
    pub fn write_texels(&self, texture: &Texture, from: &[u8]) -> Result<(), String> {
        self.way().write_texels(texture, from)
    }
}
