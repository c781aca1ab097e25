//! `wgpu::Buffer` (feature `wgpu`): an array on a device. What its elements are only shaders know: where the compiler has found it
//! there, a checkpoint has these numbers, and its bytes otherwise.

use std::mem::MaybeUninit;
use std::ops::Range;

use ::wgpu::Buffer;

use crate::devices::wgpu::{self, Numbers};
use crate::value::column::DType;
use crate::value::places::OnDevice;
use crate::value::{Checkpoint, Decoder, Encoder, LoadError, LoadProblem, MadeAgain, Number, Owner, Refill};

/// Stands for the variable where an array on a device is the owner of a list.
const ON_DEVICE: &str = "array of wgpu";

impl Refill for Buffer {
    fn save_part(&self, to: &mut Encoder<'_>) {
        match wgpu::size(self) {
            Ok(size) => match wgpu::numbers_of(self) {
                _ if cfg!(target_endian = "big") || size % size_of::<u32>() > 0 => save::<u8>(self, size, to),
                Numbers::Bytes => save::<u8>(self, size, to),
                Numbers::U32 => save::<u32>(self, size, to),
                Numbers::I32 => save::<i32>(self, size, to),
                Numbers::F32 => save::<f32>(self, size, to),
            },
            Err(why) => to.fail(why),
        }
    }

    fn refill(&mut self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
        let expected = match wgpu::numbers_of(self) {
            Numbers::Bytes => None,
            Numbers::U32 => Some(DType::U32),
            Numbers::I32 => Some(DType::I32),
            Numbers::F32 => Some(DType::F32),
        };
        let found = from.numbers_are();
        // Of bytes nobody knows what they are.
        if let (Some(expected), Some(found)) = (expected, &found)
            && expected != *found
            && *found != DType::U8
        {
            return Err(LoadProblem::Mismatch {
                expected: format!("elements of {}", expected.name()),
                found: format!("{} elements", found.name()),
            }
            .into());
        }
        match found {
            Some(DType::U32) => refill::<u32>(self, from),
            Some(DType::I32) => refill::<i32>(self, from),
            Some(DType::F32) => refill::<f32>(self, from),
            _ => refill::<u8>(self, from),
        }
    }
}

impl MadeAgain for Buffer {}

impl OnDevice for Buffer {
    fn bytes(&self) -> Result<usize, String> {
        wgpu::size(self)
    }

    fn content(&self) -> Result<Vec<u8>, String> {
        let size = wgpu::size(self)?;
        let mut content = Vec::with_capacity(size);
        wgpu::read(self, &mut content.spare_capacity_mut()[..size])?;
        // SAFETY: so many were read.
        unsafe { content.set_len(size) };
        Ok(content)
    }

    fn set(&mut self, content: &[u8]) -> Result<(), String> {
        wgpu::write(self, content)
    }

    fn is_exchanged(&self) {
        wgpu::is_exchanged(self);
    }
}

handles! {
    ::wgpu::Instance, ::wgpu::Adapter, ::wgpu::Device, ::wgpu::Queue, ::wgpu::ShaderModule, ::wgpu::BindGroupLayout,
    ::wgpu::PipelineLayout, ::wgpu::ComputePipeline, ::wgpu::RenderPipeline, ::wgpu::BindGroup, ::wgpu::Sampler
}

fn save<N: Number>(array: &Buffer, size: usize, to: &mut Encoder<'_>) {
    let count = size / size_of::<N>();
    let mut to = to.list(count);
    let owner = wgpu::content_of(array).map(|content| Owner {
        activation: content,
        site: 0,
        key: ON_DEVICE,
        lasts: false,
    });
    let mut read_part = |part: Range<usize>| wgpu::read_part(array, part).ok();
    if owner.is_some_and(|owner| to.unread::<N>(count, owner, &mut read_part)) {
        return wgpu::is_saved(array);
    }
    let read = |to: &mut [MaybeUninit<u8>]| wgpu::read(array, to);
    // SAFETY: `wgpu::read` has written every byte where it succeeds.
    unsafe { to.numbers_read::<N>(count, owner, read) }
}

fn refill<N: Number + Checkpoint>(array: &Buffer, from: &mut Decoder<'_>) -> Result<(), LoadError> {
    let (count, mut from) = from.list()?;
    let bytes = (count as u64).saturating_mul(size_of::<N>() as u64);
    match bytes == array.size() {
        true => from.numbers_put::<N>(count, |bytes| wgpu::write(array, bytes)),
        false => Err(LoadError::invalid(format!(
            "an array on a device has {} bytes, the checkpoint holds {bytes}: make it as long as it was",
            array.size()
        ))),
    }
}
