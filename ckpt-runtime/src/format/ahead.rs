//! While an array is put into its device, and the program makes the next one again, the content of that one is read already: arrays are
//! made again in the order in which they were saved.

use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use super::Damage;
use super::container::{Container, LARGE};
use crate::base::lock::locked;
use crate::value::{buffer_for, give_back};

/// What is read ahead of a file: one dataset at a time.
#[derive(Debug, Default)]
pub(super) struct Ahead(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    coming: Option<(u32, JoinHandle<Read>)>,
    /// Memory to be used again, with whatever was read there.
    spare: Vec<Vec<u8>>,
}

/// The bytes of a dataset; nothing where there is no memory for them.
type Read = Option<Result<Vec<u8>, Damage>>;

impl Ahead {
    /// The whole content of a dataset: as it was read ahead, or read now. Nothing where there is no memory for it.
    pub(super) fn whole(&self, container: &Container, number: u32) -> Read {
        let coming = locked(&self.0).coming.take();
        if let Some((of, thread)) = coming {
            let read = thread.join().ok().flatten();
            match read {
                Some(Ok(bytes)) if of != number => self.give_back(bytes),
                read if of == number => return read,
                // It is reported where it is asked for.
                _ => {}
            }
        }
        let memory = locked(&self.0).spare.pop();
        read(container, number, memory)
    }

    /// Begins to read the large dataset that follows on this one, if there is one.
    pub(super) fn begin(&self, container: &Arc<Container>, number: u32) {
        let is_large = |number: &u32| {
            let dataset = container.index.datasets.get(*number as usize);
            dataset.is_some_and(|dataset| dataset.bytes >= LARGE)
        };
        let Some(next) = number.checked_add(1).filter(is_large) else {
            return;
        };
        let mut state = locked(&self.0);
        let memory = state.spare.pop();
        let container = Arc::clone(container);
        let thread = std::thread::Builder::new().name("ckpt-ahead".into());
        // Where the system starts no more threads, it is read when it is asked for.
        let begun = thread.spawn(move || read(&container, next, memory));
        state.coming = begun.ok().map(|thread| (next, thread));
    }

    /// Memory that [`Ahead::whole`] has given.
    pub(super) fn give_back(&self, bytes: Vec<u8>) {
        locked(&self.0).spare.push(bytes);
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        let mut state = std::mem::take(&mut *locked(&self.0));
        if let Some((_, thread)) = state.coming.take()
            && let Ok(Some(Ok(bytes))) = thread.join()
        {
            state.spare.push(bytes);
        }
        state.spare.into_iter().for_each(give_back);
    }
}

fn read(container: &Container, number: u32, memory: Option<Vec<u8>>) -> Read {
    let dataset = container.index.datasets.get(number as usize)?;
    let length = usize::try_from(dataset.bytes).ok()?;
    let mut bytes = match memory.filter(|memory| memory.capacity() >= length) {
        Some(memory) => memory,
        None => buffer_for(length)?,
    };
    // What it had before is read over.
    bytes.resize(length, 0);
    Some(container.read(dataset, 0, &mut bytes, false).map(|()| bytes))
}
