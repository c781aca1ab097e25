//! How one array is read and written: through memory that the device copies to or from, or mapped, as its usages allow.

use std::mem::MaybeUninit;
use std::pin::pin;
use std::sync::mpsc::channel;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use ::wgpu::{
    Buffer, BufferDescriptor, BufferUsages, COPY_BUFFER_ALIGNMENT, CommandEncoder, Device, ErrorFilter,
    ErrorScopeGuard, MapMode, PollType, Queue, SubmissionIndex,
};

/// So much is copied at once: while the processor takes one part out, the device copies the next.
pub(super) const PART: u64 = 16 << 20;

pub(super) const UNREADABLE: &str = "an array on a device is larger than the program's memory can be";
const UNMAPPABLE: &str = "the memory that an array on a device is copied to cannot be mapped";
/// Once the commands are done.
const TOLD_WITHIN: Duration = Duration::from_secs(30);
pub(super) const MAPPED: &str =
    "an array on a device is mapped into the program's memory: unmap it before the site is reached";

/// A device and its queue.
#[derive(Clone, Copy)]
pub(super) struct Way<'a> {
    pub device: &'a Device,
    pub queue: &'a Queue,
}

impl Way<'_> {
    pub fn read(self, array: &Buffer, to: &mut [MaybeUninit<u8>]) -> Result<(), String> {
        if to.is_empty() {
            return Ok(());
        }
        is_of_whole_words(array)?;
        let usage = array.usage();
        if usage.contains(BufferUsages::COPY_SRC) {
            self.read_copied(array, 0, to)
        } else if usage.contains(BufferUsages::MAP_READ) {
            self.with_mapped(array, None, |bytes| put(bytes, to))
        } else {
            Err(lacks(array, "COPY_SRC"))
        }
    }

    /// What is there from a place on that is a whole number of words.
    pub fn read_part(self, array: &Buffer, at: usize, to: &mut [MaybeUninit<u8>]) -> Result<(), String> {
        is_of_whole_words(array)?;
        match array.usage().contains(BufferUsages::COPY_SRC) {
            true => self.read_copied(array, at as u64, to),
            false => Err(lacks(array, "COPY_SRC")),
        }
    }

    pub fn write(self, array: &Buffer, from: &[u8]) -> Result<(), String> {
        // It may be mapped as it was made: nothing has filled and unmapped it.
        _ = self.checked(|| array.unmap());
        if from.is_empty() {
            return Ok(());
        }
        is_of_whole_words(array)?;
        let usage = array.usage();
        if usage.contains(BufferUsages::COPY_DST) {
            self.checked(|| {
                self.queue.write_buffer(array, 0, from);
                self.queue.submit([]);
            })?;
            self.wait(None)
        } else if usage.contains(BufferUsages::MAP_WRITE) {
            self.map(array, MapMode::Write, None)?;
            let mut view = array
                .get_mapped_range_mut(..)
                .map_err(|error| error.to_string())?;
            view.copy_from_slice(from);
            drop(view);
            self.checked(|| array.unmap())
        } else {
            Err(lacks(array, "COPY_DST"))
        }
    }

    fn read_copied(self, array: &Buffer, at: u64, to: &mut [MaybeUninit<u8>]) -> Result<(), String> {
        let bytes_at_once = (to.len() as u64).min(PART);
        self.in_turn(
            bytes_at_once,
            to.chunks_mut(PART as usize).enumerate(),
            |(index, part), to, commands| {
                let (from, bytes) = (at + *index as u64 * PART, part.len() as u64);
                commands.copy_buffer_to_buffer(array, from, to, 0, bytes);
            },
            |(_, part), copied| put(copied, part),
        )
    }

    /// Copies each part to memory of so many bytes, from which `take` gets it: while the processor takes one out, the device
    /// copies the next.
    pub fn in_turn<P>(
        self,
        bytes_at_once: u64,
        parts: impl Iterator<Item = P>,
        copy: impl Fn(&P, &Buffer, &mut CommandEncoder),
        take: impl Fn(P, &[u8]),
    ) -> Result<(), String> {
        let memory = |_| {
            self.checked(|| {
                self.device.create_buffer(&BufferDescriptor {
                    label: Some("ckpt"),
                    size: bytes_at_once,
                    usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
                    mapped_at_creation: false,
                })
            })
        };
        let both = [memory(0)?, memory(1)?];
        let take_out = |(index, copied, part): (usize, SubmissionIndex, P)| {
            self.with_mapped(&both[index % 2], Some(copied), |bytes| take(part, bytes))
        };
        let mut under_way = None;
        for (index, part) in parts.enumerate() {
            let copied = self.checked(|| {
                let mut commands = self.device.create_command_encoder(&Default::default());
                copy(&part, &both[index % 2], &mut commands);
                self.queue.submit([commands.finish()])
            })?;
            if let Some(before) = under_way.replace((index, copied, part)) {
                take_out(before)?;
            }
        }
        under_way.map_or(Ok(()), take_out)
    }

    /// What is in it, once commands are done.
    fn with_mapped(
        self,
        array: &Buffer,
        after: Option<SubmissionIndex>,
        look: impl FnOnce(&[u8]),
    ) -> Result<(), String> {
        self.map(array, MapMode::Read, after)?;
        let view = array.get_mapped_range(..);
        let read = view.map_err(|error| error.to_string()).map(|view| look(&view));
        self.checked(|| array.unmap())?;
        read
    }

    fn map(self, array: &Buffer, how: MapMode, after: Option<SubmissionIndex>) -> Result<(), String> {
        let (told, is_mapped) = channel();
        self.checked(|| array.map_async(how, .., move |mapped| _ = told.send(mapped)))?;
        let is_own = after.is_some();
        self.wait(after)?;
        // Where another thread asks the device as well, it may be that one which is to tell.
        match is_mapped.recv_timeout(TOLD_WITHIN) {
            Ok(Ok(())) => Ok(()),
            _ if is_own => Err(UNMAPPABLE.into()),
            _ => Err(MAPPED.into()),
        }
    }

    /// Until these commands are done, or all.
    pub fn wait(self, submission_index: Option<SubmissionIndex>) -> Result<(), String> {
        let done = self.device.poll(PollType::Wait {
            submission_index,
            timeout: None,
        });
        done.map(|_| ())
            .map_err(|error| format!("the commands of a device are not done: {error}"))
    }

    /// Does what the library may refuse; it would end the program otherwise.
    pub fn checked<T>(self, work: impl FnOnce() -> T) -> Result<T, String> {
        let scopes = Scopes::of(self.device);
        let value = work();
        scopes.refused().map_or(Ok(value), Err)
    }
}

/// What a device refuses to the thread is noted, of every kind.
pub(super) struct Scopes([ErrorScopeGuard; 3]);

impl Scopes {
    pub fn of(device: &Device) -> Scopes {
        let all = [
            ErrorFilter::Validation,
            ErrorFilter::OutOfMemory,
            ErrorFilter::Internal,
        ];
        Scopes(all.map(|filter| device.push_error_scope(filter)))
    }

    /// What it has refused since.
    pub fn refused(self) -> Option<String> {
        let mut refused = None;
        for scope in self.0.into_iter().rev() {
            // What it has to say it knows already.
            if let Poll::Ready(Some(error)) = pin!(scope.pop()).poll(&mut Context::from_waker(Waker::noop()))
            {
                let words: Vec<String> = error.to_string().split_whitespace().map(str::to_owned).collect();
                refused = Some(format!("wgpu does not allow it: {}", words.join(" ")));
            }
        }
        refused
    }
}

/// What is at the beginning of these bytes, of which there are enough.
pub(super) fn put(bytes: &[u8], to: &mut [MaybeUninit<u8>]) {
    let from = &bytes[..to.len()];
    for (to, from) in to.iter_mut().zip(from) {
        to.write(*from);
    }
}

fn is_of_whole_words(array: &Buffer) -> Result<(), String> {
    match array.size() % COPY_BUFFER_ALIGNMENT {
        0 => Ok(()),
        _ => Err(format!(
            "an array on a device has {} bytes, and only whole words of {COPY_BUFFER_ALIGNMENT} can be read: make it longer",
            array.size()
        )),
    }
}

/// Whether a restart can give an array its content.
///
/// # Errors
/// Which usage it lacks for that.
pub(super) fn comes_back(array: &Buffer) -> Result<(), String> {
    let is_written = array
        .usage()
        .intersects(BufferUsages::COPY_DST | BufferUsages::MAP_WRITE);
    match is_written || array.size() == 0 {
        true => Ok(()),
        false => Err(lacks(array, "COPY_DST")),
    }
}

fn lacks(array: &Buffer, usage: &str) -> String {
    format!(
        "an array on a device was made with {:?}: add `BufferUsages::{usage}`",
        array.usage()
    )
}
