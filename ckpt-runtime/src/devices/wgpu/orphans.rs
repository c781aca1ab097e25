//! Arrays and textures that no variable has any more, and that a device keeps all the same: a bind group has them as arguments.
//!
//! No list of the library's has them, and a restart makes the group again with arrays as they were at first. That is right for
//! what nothing writes to, as the parameters of a kernel. What was written to would be another than at the checkpoint.
//!
//! A device counts what it keeps (`counters`), and an instance counts the handles: the rest are these. Which of the arrays they
//! are nobody says. They may be any that kernels were given, that something may have written to, and that no variable has saved.

use std::collections::{BTreeMap, BTreeSet};

use ::wgpu::{Device, PollType, Queue};

use super::constants::{self, Changed, Stored, Unsaved, Writers};
use super::{Identity, known};

/// What the program has handles to, of arrays or of textures.
pub(super) struct Handles {
    pub count: usize,
    /// How many bytes they have.
    pub bytes: u64,
}

/// What devices keep, of arrays or of textures.
#[derive(Debug, Clone, Copy, Default)]
struct Amount {
    count: isize,
    /// What they take of its memory, at least the bytes that they have; nothing where that is not counted.
    bytes: isize,
}

/// What a device keeps.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Kept {
    arrays: Amount,
    textures: Amount,
}

impl Kept {
    /// What it keeps when what was there for commands is given back.
    pub(super) fn by(device: &Device, queue: &Queue) -> Kept {
        // What was written to arrays, and not submitted with anything so far, is on its way in memory of the device's.
        queue.submit([]);
        // A device that is lost says so when it is asked for anything else.
        let _ = device.poll(PollType::wait_indefinitely());
        let counters = device.get_internal_counters().hal;
        Kept {
            arrays: Amount {
                count: counters.buffers.read(),
                bytes: counters.buffer_memory.read(),
            },
            textures: Amount {
                count: counters.textures.read(),
                bytes: counters.texture_memory.read(),
            },
        }
    }
}

/// What there is for which the program has no handle: as many, in so many bytes at most. Of nothing nobody knows it.
#[derive(Debug, Clone, Copy)]
struct Rest {
    count: Option<usize>,
    bytes: Option<u64>,
}

impl Rest {
    fn of(kept: Amount, handles: &Handles) -> Rest {
        let count = usize::try_from(kept.count).unwrap_or(0);
        let bytes = u64::try_from(kept.bytes).ok().filter(|bytes| *bytes > 0);
        Rest {
            count: Some(count.saturating_sub(handles.count)),
            bytes: bytes.map(|bytes| bytes.saturating_sub(handles.bytes)),
        }
    }

    /// Where Vulkan counts their memory it does not count those that are made.
    fn of_textures(kept: Amount, handles: &Handles) -> Rest {
        let rest = Rest::of(kept, handles);
        Rest {
            count: rest.count.filter(|_| rest.bytes.is_none()),
            ..rest
        }
    }

    fn may_have(self, bytes: u64) -> bool {
        self.count.is_none_or(|count| count > 0) && self.bytes.is_none_or(|rest| bytes <= rest)
    }

    fn has_some(self) -> bool {
        self.count.is_some_and(|count| count > 0)
    }
}

/// What may have another content than it was made with and no variable has, in the words of a sentence. What has a handle is
/// saved, all of it.
pub(super) fn changed(arrays: &Handles, textures: &Handles, saved: &BTreeSet<Identity>) -> Option<String> {
    const ALONE: &str = "is held by a bind group alone, so that no checkpoint has it: return it together with the group, in a struct or a tuple";
    let candidates = constants::changed_beside(saved);
    if matches!(&candidates, Unsaved::These(none) if none.is_empty()) {
        return None;
    }
    let kept = kept_for_the_program();
    let arrays = Rest::of(kept.arrays, arrays);
    let textures = Rest::of_textures(kept.textures, textures);
    let may_be_there = |one: &&Changed| match one.what {
        Stored::Array(bytes) => arrays.may_have(bytes),
        Stored::Texture(bytes) => textures.may_have(bytes),
    };
    match candidates {
        Unsaved::These(these) => {
            let found = these.iter().find(may_be_there);
            if found.is_none() {
                constants::are_all(saved);
            }
            found.map(|one| {
                let what = match one.what {
                    Stored::Array(bytes) => format!("an array of {bytes} bytes"),
                    Stored::Texture(_) => "a texture".to_owned(),
                };
                let writers = match one.by {
                    Writers::Shaders => "to which shaders may write",
                    Writers::Commands => "which commands may have filled",
                };
                format!("{what} on a device, {writers}, {ALONE}")
            })
        }
        Unsaved::Unknown => {
            let kinds = [("an array", arrays), ("a texture", textures)];
            let mut found = kinds.iter().filter(|(_, rest)| rest.has_some());
            found.next().map(|(what, _)| {
                format!("{what} on a device, to which shaders may write as far as ckpt can see, {ALONE}")
            })
        }
    }
}

/// What all devices keep beside what they had at first.
fn kept_for_the_program() -> Kept {
    let (devices, at_first) = {
        let known = known();
        (known.devices.clone(), known.kept_at_first.clone())
    };
    let mut of_device = BTreeMap::new();
    for (device, queue) in &devices {
        of_device.insert(Identity::of(device), Kept::by(device, queue));
    }
    let mut all = Kept::default();
    for (device, now) in &of_device {
        let first = at_first.get(device).copied().unwrap_or_default();
        all.arrays.add(now.arrays, first.arrays);
        all.textures.add(now.textures, first.textures);
    }
    all
}

impl Amount {
    fn add(&mut self, now: Amount, first: Amount) {
        self.count += now.count - first.count;
        self.bytes += now.bytes - first.bytes;
    }
}
