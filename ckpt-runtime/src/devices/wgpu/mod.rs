//! wgpu: which instances and devices the program has, how its arrays are read and written, and how many of them there are.
//!
//! There is no library beneath that ours could stand before: the compiler writes calls of [`crate::device`] into the
//! program, where it asks for adapters and devices. An array does not say which device it is of: where there are several, it is
//! asked for ([`place`]). How much there is the instances count themselves. Textures are arrays whose rows a device keeps apart
//! ([`texels`]).

pub(super) mod constants;
mod orphans;
mod place;
pub(super) mod shown;
mod texels;
mod way;

use std::any::{Any, TypeId};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, MutexGuard};

use ::wgpu::{Buffer, Device, Instance, PollType, Queue, Texture};

pub(crate) use super::numbers::Numbers;
use super::{Obstacle, SHARED};
use crate::base::lock::locked;
pub(crate) use place::{Place, to_read, to_write};
pub(super) use shown::note as note_shown;

static KNOWN: Mutex<Known> = Mutex::new(Known {
    instances: Vec::new(),
    devices: Vec::new(),
    kept_at_first: BTreeMap::new(),
    saved: Vec::new(),
    saved_textures: Vec::new(),
    exchanged: BTreeSet::new(),
    shared: false,
    numbers: BTreeMap::new(),
});

struct Known {
    instances: Vec<Instance>,
    devices: Vec<(Device, Queue)>,
    /// What each device kept for itself when it was opened.
    kept_at_first: BTreeMap<Identity, orphans::Kept>,
    /// The arrays that variables have saved since [`finish`], each with the number of its device: on those of several
    /// instances they may be equal.
    saved: Vec<(usize, Buffer)>,
    saved_textures: Vec<(usize, Texture)>,
    /// Arrays that variables have exchanged.
    exchanged: BTreeSet<Identity>,
    /// Whether several variables have saved one of them.
    shared: bool,
    /// What arrays are made of, as shaders have them: bytes where those of several instances that are equal differ in it.
    numbers: BTreeMap<Identity, Numbers>,
}

/// An array or a texture without being a handle to it, which would keep it alive: an instance never gives a number to a second
/// one of its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Identity(u64);

impl Identity {
    fn of<T: Hash + 'static>(one: &T) -> Identity {
        let mut hasher = DefaultHasher::new();
        TypeId::of::<T>().hash(&mut hasher);
        one.hash(&mut hasher);
        Identity(hasher.finish())
    }
}

fn known() -> MutexGuard<'static, Known> {
    locked(&KNOWN)
}

/// The program asks an instance for adapters.
pub(super) fn asked(instance: &Instance) {
    let mut known = known();
    if !known.instances.contains(instance) {
        known.instances.push(instance.clone());
    }
}

/// The program has opened a device.
pub(super) fn opened(device: &Device, queue: &Queue) {
    let kept = orphans::Kept::by(device, queue);
    let mut known = known();
    known.devices.push((device.clone(), queue.clone()));
    { known.kept_at_first.entry(Identity::of(device)) }.or_insert(kept);
}

/// The devices that the program has opened.
pub(super) fn computes_on() -> Vec<super::shown::Device> {
    let devices = known().devices.clone();
    { devices.iter() }
        .map(|(device, _)| shown::about(device.adapter_info()))
        .collect()
}

/// An array is made of numbers of this type.
pub(super) fn holds(array: &Buffer, of: &dyn Any) {
    let numbers = match of {
        of if of.is::<[u32; 0]>() => Numbers::U32,
        of if of.is::<[i32; 0]>() => Numbers::I32,
        of if of.is::<[f32; 0]>() => Numbers::F32,
        _ => return,
    };
    let mut known = known();
    let noted = known.numbers.entry(Identity::of(array)).or_insert(numbers);
    if *noted != numbers {
        *noted = Numbers::Bytes;
    }
}

/// What an array is made of.
pub(crate) fn numbers_of(array: &Buffer) -> Numbers {
    let numbers = known().numbers.get(&Identity::of(array)).copied();
    numbers.unwrap_or(Numbers::Bytes)
}

/// What is there is the program's own from here on: it ends with the program's own handles.
pub(super) fn forget() {
    let (instances, devices) = {
        let mut known = known();
        (
            std::mem::take(&mut known.instances),
            std::mem::take(&mut known.devices),
        )
    };
    // Outside of the lock: where these are the last, a device is closed here.
    drop((devices, instances));
}

/// What an instance has of a kind, as it counts it.
type Count = fn(&::wgpu::wgc::hub::HubReport) -> usize;

/// What a restart would make again without what is in it.
const LOST: [(Count, Obstacle); 4] = [
    (
        |all| all.command_encoders.num_kept_from_user + all.command_buffers.num_kept_from_user,
        Obstacle::Commands,
    ),
    (
        |all| all.compute_passes.num_kept_from_user + all.render_passes.num_kept_from_user,
        Obstacle::Commands,
    ),
    (|all| all.external_textures.num_kept_from_user, Obstacle::Image),
    (|all| all.query_sets.num_kept_from_user, Obstacle::Queries),
];

fn count(instances: &[Instance], of: Count) -> usize {
    let reports = instances.iter().filter_map(Instance::generate_report);
    reports.map(|report| of(report.hub_report())).sum()
}

pub(super) fn obstacle() -> Option<Obstacle> {
    let instances = known().instances.clone();
    let mut found = LOST.iter().filter(|(of, _)| count(&instances, *of) > 0);
    found.next().map(|(_, obstacle)| *obstacle)
}

/// Waits for all devices: functions of the program that are to be called when commands are done have been called then.
pub(super) fn finish() -> Result<(), String> {
    let devices = {
        let mut known = known();
        known.saved.clear();
        known.saved_textures.clear();
        known.shared = false;
        known.devices.clone()
    };
    for (device, _) in &devices {
        let done = device.poll(PollType::wait_indefinitely());
        done.map_err(|error| format!("the commands of a device are not done: {error}"))?;
    }
    Ok(())
}

/// Whether arrays or textures are left that no variable has saved.
pub(super) fn unsaved() -> Option<String> {
    let (instances, arrays, textures) = {
        let mut known = known();
        if known.shared {
            return Some(SHARED.into());
        }
        (
            known.instances.clone(),
            std::mem::take(&mut known.saved),
            std::mem::take(&mut known.saved_textures),
        )
    };
    let of_arrays = orphans::Handles {
        count: count(&instances, |all| all.buffers.num_kept_from_user),
        bytes: arrays.iter().map(|(_, array)| array.size()).sum(),
    };
    let of_textures = orphans::Handles {
        count: count(&instances, |all| all.textures.num_kept_from_user),
        bytes: textures.iter().map(|(_, texture)| texels::bytes(texture)).sum(),
    };
    let left = (
        of_arrays.count.saturating_sub(arrays.len()),
        of_textures.count.saturating_sub(textures.len()),
    );
    match left {
        (0, 0) => {
            let arrays = arrays.iter().map(|(_, array)| Identity::of(array));
            let textures = textures.iter().map(|(_, texture)| Identity::of(texture));
            orphans::changed(&of_arrays, &of_textures, &arrays.chain(textures).collect())
        }
        (1, _) => Some("an array on a device belongs to no variable that is saved".into()),
        (0, 1) => Some("a texture on a device belongs to no variable that is saved".into()),
        (0, count) => Some(format!(
            "{count} textures on devices belong to no variable that is saved"
        )),
        (count, _) => Some(format!(
            "{count} arrays on devices belong to no variable that is saved"
        )),
    }
}

/// How many bytes an array has.
pub(crate) fn size(array: &Buffer) -> Result<usize, String> {
    usize::try_from(array.size()).map_err(|_| way::UNREADABLE.into())
}

/// A checkpoint has the content of an array that is there.
pub(crate) fn is_saved(array: &Buffer, place: &Place) {
    saved_among(|known| &mut known.saved, array, place);
}

/// A checkpoint has the texels of a texture that is there.
pub(crate) fn is_saved_texture(texture: &Texture, place: &Place) {
    saved_among(|known| &mut known.saved_textures, texture, place);
}

/// One is saved: for the first time since [`finish`], or its variables share it, which ones that change places may not.
fn saved_among<T: Clone + Hash + PartialEq + 'static>(
    all: fn(&mut Known) -> &mut Vec<(usize, T)>,
    one: &T,
    place: &Place,
) {
    let mut known = known();
    let saved = all(&mut known);
    let as_saved = (place.number, one.clone());
    if !saved.contains(&as_saved) {
        saved.push(as_saved);
    } else if known.exchanged.contains(&Identity::of(one)) {
        known.shared = true;
    }
}

/// Variables have exchanged this array or texture.
pub(crate) fn is_exchanged<T: Hash + 'static>(one: &T) {
    known().exchanged.insert(Identity::of(one));
}

/// What stands for the content of an array that nothing writes to.
pub(crate) fn content_of(array: &Buffer) -> Option<u64> {
    // Arrays of several instances may have the same numbers.
    let has_one_instance = known().instances.len() == 1;
    has_one_instance.then(|| constants::content_of(array))?
}

/// How many bytes the texels of a texture have.
pub(crate) fn size_of_texels(texture: &Texture) -> Result<usize, String> {
    texels::size(texture)
}

/// What they are made of.
pub(crate) fn numbers_of_texels(texture: &Texture) -> Numbers {
    texels::numbers(texture.format())
}
