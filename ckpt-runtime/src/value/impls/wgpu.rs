//! `wgpu::Buffer` and `wgpu::Texture` (feature `wgpu`): arrays on a device. What the elements of a buffer are only shaders know:
//! where the compiler has found it there, a checkpoint has these numbers, and its bytes otherwise. Of a texture its format says it.

use std::mem::MaybeUninit;
use std::ops::Range;

use ::wgpu::{Buffer, BufferUsages, Texture};

use crate::devices::numbers::with_type;
use crate::devices::wgpu::{self, Numbers};
use crate::value::column::DType;
use crate::value::places::{OnDevice, bytes_read};
use crate::value::{
    Checkpoint, Decoder, Encoder, LoadError, LoadProblem, MadeAgain, Number, Owner, Put, Refill,
};

/// Stands for the variable where an array on a device is the owner of a list.
const ON_DEVICE: &str = "array of wgpu";

impl Refill for Buffer {
    fn save_part(&self, to: &mut Encoder<'_>) {
        match wgpu::size(self) {
            Ok(size) => with_type!(as_saved(wgpu::numbers_of(self), size), N => save::<N>(self, size, to)),
            Err(why) => to.fail(why),
        }
    }

    fn refill(&mut self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
        let found = found(wgpu::numbers_of(self), from)?;
        let size = self.size();
        let place = wgpu::to_write(self).map_err(LoadError::invalid)?;
        with_type!(found, N => refill::<N>(size, from, &mut |bytes| place.write(self, bytes)))
    }
}

impl Refill for Texture {
    fn save_part(&self, to: &mut Encoder<'_>) {
        match wgpu::size_of_texels(self) {
            Ok(size) => {
                with_type!(as_saved(wgpu::numbers_of_texels(self), size), N => save_texels::<N>(self, size, to))
            }
            Err(why) => to.fail(why),
        }
    }

    fn refill(&mut self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
        let size = wgpu::size_of_texels(self).map_err(LoadError::invalid)?;
        let found = found(wgpu::numbers_of_texels(self), from)?;
        let place = wgpu::to_write(self).map_err(LoadError::invalid)?;
        with_type!(found, N => refill::<N>(size as u64, from, &mut |bytes| place.write_texels(self, bytes)))
    }
}

/// What a checkpoint has of numbers that have so many bytes.
fn as_saved(numbers: Numbers, size: usize) -> Numbers {
    let is_whole = with_type!(numbers, N => size.is_multiple_of(size_of::<N>()));
    // A device has the smallest byte of each first.
    match cfg!(target_endian = "little") && is_whole {
        true => numbers,
        false => Numbers::Bytes,
    }
}

/// What a checkpoint has of such numbers.
///
/// # Errors
/// Others.
fn found(expected: Numbers, from: &Decoder<'_>) -> Result<Numbers, LoadError> {
    const ALL: [Numbers; 8] = [
        Numbers::Bytes,
        Numbers::I8,
        Numbers::U16,
        Numbers::I16,
        Numbers::U32,
        Numbers::I32,
        Numbers::F32,
        Numbers::U64,
    ];
    let dtype = |numbers: Numbers| with_type!(numbers, N => N::DTYPE);
    let dtype_found = from.numbers_are();
    let known = dtype_found.as_ref().and_then(|found| {
        let mut all = ALL.into_iter();
        all.find(|numbers| dtype(*numbers) == *found)
    });
    let found = known.unwrap_or(Numbers::Bytes);
    // Of bytes nobody knows what they are.
    match dtype_found {
        Some(dtype_found) if expected != Numbers::Bytes && expected != found && dtype_found != DType::U8 => {
            Err(LoadProblem::Mismatch {
                expected: format!("elements of {}", dtype(expected).name()),
                found: format!("{} elements", dtype_found.name()),
            }
            .into())
        }
        _ => Ok(found),
    }
}

impl MadeAgain for Buffer {}

impl OnDevice for Buffer {
    fn bytes(&self) -> Result<usize, String> {
        wgpu::size(self)
    }

    fn content(&self) -> Result<Vec<u8>, String> {
        let place = wgpu::to_read(self)?;
        let read = |to: &mut [MaybeUninit<u8>]| place.read(self, to);
        // SAFETY: every byte was written where it succeeds.
        unsafe { bytes_read(wgpu::size(self)?, read) }
    }

    fn set(&mut self, content: &[u8]) -> Result<(), String> {
        wgpu::to_read(self)?.write(self, content)
    }

    fn is_exchanged(&self) {
        wgpu::is_exchanged(self);
    }
}

impl MadeAgain for Texture {}

impl OnDevice for Texture {
    fn bytes(&self) -> Result<usize, String> {
        wgpu::size_of_texels(self)
    }

    fn is_like(&self, other: &Self) -> bool {
        self.bytes() == other.bytes() && wgpu::numbers_of_texels(self) == wgpu::numbers_of_texels(other)
    }

    fn content(&self) -> Result<Vec<u8>, String> {
        let place = wgpu::to_read(self)?;
        let read = |to: &mut [MaybeUninit<u8>]| place.read_texels(self, to);
        // SAFETY: every byte was written where it succeeds.
        unsafe { bytes_read(wgpu::size_of_texels(self)?, read) }
    }

    fn set(&mut self, content: &[u8]) -> Result<(), String> {
        wgpu::to_read(self)?.write_texels(self, content)
    }

    fn is_exchanged(&self) {
        wgpu::is_exchanged(self);
    }
}

handles! {
    ::wgpu::Instance, ::wgpu::Adapter, ::wgpu::Device, ::wgpu::Queue, ::wgpu::ShaderModule, ::wgpu::BindGroupLayout,
    ::wgpu::PipelineLayout, ::wgpu::ComputePipeline, ::wgpu::RenderPipeline, ::wgpu::BindGroup, ::wgpu::Sampler,
    ::wgpu::TextureView
}

fn save<N: Number>(array: &Buffer, size: usize, to: &mut Encoder<'_>) {
    let place = match wgpu::to_read(array) {
        Ok(place) => place,
        Err(why) => return to.fail(why),
    };
    let count = size / size_of::<N>();
    let mut to = to.list(count);
    wgpu::is_saved(array, &place);
    let owner = wgpu::content_of(array).map(|content| Owner {
        activation: content,
        site: 0,
        key: ON_DEVICE,
        lasts: false,
    });
    let mut read_part = |part: Range<usize>| place.read_part(array, part).ok();
    if owner.is_some_and(|owner| to.unread::<N>(count, owner, &mut read_part)) {
        return;
    }
    let is_copied = array.usage().contains(BufferUsages::COPY_SRC);
    let array = array.clone();
    let read = move |to: &mut [MaybeUninit<u8>]| place.read(&array, to);
    match is_copied {
        // SAFETY: it has written every byte where it succeeds.
        true => unsafe { to.numbers_read_beside::<N>(count, owner, Box::new(read)) },
        // It is mapped while it is read, and another variable may have it.
        // SAFETY: as above.
        false => unsafe { to.numbers_read::<N>(count, owner, read) },
    }
}

fn save_texels<N: Number>(texture: &Texture, size: usize, to: &mut Encoder<'_>) {
    let place = match wgpu::to_read(texture) {
        Ok(place) => place,
        Err(why) => return to.fail(why),
    };
    let count = size / size_of::<N>();
    wgpu::is_saved_texture(texture, &place);
    let texture = texture.clone();
    let read = move |to: &mut [MaybeUninit<u8>]| place.read_texels(&texture, to);
    // SAFETY: it has written every byte where it succeeds.
    unsafe { { to.list(count) }.numbers_read_beside::<N>(count, None, Box::new(read)) }
}

/// Has an array of `size` bytes written with what the checkpoint has.
fn refill<N: Number + Checkpoint>(
    size: u64,
    from: &mut Decoder<'_>,
    write: Put<'_>,
) -> Result<(), LoadError> {
    let (count, mut from) = from.list()?;
    let bytes = (count as u64).saturating_mul(size_of::<N>() as u64);
    match bytes == size {
        true => from.numbers_put::<N>(count, write),
        false => Err(LoadError::invalid(format!(
            "an array on a device has {size} bytes, the checkpoint holds {bytes}: make it as long as it was"
        ))),
    }
}
