//! Which of the program's devices an array or a texture is on.
//!
//! It does not say so, and may be asked by its own device alone: of another one's the library ends the program, or finds an array
//! that has the same number there, where that is of another instance. So it is asked for something that its own device refuses, and
//! finds without being told which that is: the one that hears of it. Where the program has one device, that is it.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ::wgpu::{Buffer, Device, MapMode, Queue, Texture, TextureViewDescriptor};

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
    /// Does what its device refuses. Of what is mapped nothing is refused, and it stays so.
    fn is_refused(&self);

    /// The same when it was just made, where it need not stay mapped.
    fn is_refused_as_new(&self) {
        self.is_refused();
    }

    /// After that it is as it was before; its device may refuse this as well.
    fn is_as_before(&self) {}

    /// Whether a restart can write it.
    ///
    /// # Errors
    /// Which usage it lacks for that.
    fn comes_back(&self) -> Result<(), String>;
}

impl Placed for Buffer {
    fn is_refused(&self) {
        match self.size() {
            0 => self.is_refused_as_new(),
            // No mapping begins there.
            _ => self.slice(1..1).map_async(MapMode::Read, |_| ()),
        }
    }

    fn is_refused_as_new(&self) {
        // The first may be allowed.
        self.unmap();
        self.unmap();
    }

    fn is_as_before(&self) {
        self.unmap();
    }

    fn comes_back(&self) -> Result<(), String> {
        way::comes_back(self)
    }
}

impl Placed for Texture {
    fn is_refused(&self) {
        drop(self.create_view(&TextureViewDescriptor {
            base_mip_level: self.mip_level_count(),
            mip_level_count: Some(1),
            ..Default::default()
        }));
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
    of(one, T::is_refused)
}

/// Where it is that was just made, to be written.
///
/// # Errors
/// No device is known that it is on.
pub(crate) fn to_write<T: Placed>(one: &T) -> Result<Place, String> {
    of(one, T::is_refused_as_new)
}

/// The device that hears of what is refused.
fn of<T: Placed>(one: &T, refused: fn(&T)) -> Result<Place, String> {
    const UNKNOWN: &str = "an array is on a device that was not opened where ckpt sees it: `request_device` in a package of the program's";
    let devices = known().devices.clone();
    let number = match devices.len() {
        0 | 1 => 0,
        _ => {
            // Where it is on none of them, the library panics.
            let (heard, is_on_another) = heard(&devices, || refused(one));
            if heard.is_some() || is_on_another {
                self::heard(&devices, || one.is_as_before());
            }
            heard.ok_or(if is_on_another { UNKNOWN } else { MAPPED })?
        }
    };
    let (device, queue) = devices.into_iter().nth(number).ok_or(UNKNOWN)?;
    Ok(Place {
        number,
        device,
        queue,
    })
}

/// Which of the devices has refused it, and whether another one has.
fn heard(devices: &[(Device, Queue)], work: impl FnOnce()) -> (Option<usize>, bool) {
    let scopes: Vec<Scopes> = devices.iter().map(|(device, _)| Scopes::of(device)).collect();
    let done = catch_unwind(AssertUnwindSafe(work));
    let mut heard = None;
    // In this order, as a device may be there twice.
    for (number, scopes) in scopes.into_iter().enumerate().rev() {
        heard = scopes.refused().map(|_| number).or(heard);
    }
    (heard, done.is_err())
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
