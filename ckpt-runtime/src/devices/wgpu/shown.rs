//! Which adapters the program is shown: those that are there, or as many as it had, each of them one of those that are there.

use std::collections::BTreeMap;
use std::sync::Mutex;

use ::wgpu::{Adapter, AdapterInfo, Backends};

use crate::base::lock::locked;
use crate::devices::shown::{self, Device, Noted, assigned};

/// By the libraries that were asked.
static SHOWN: Mutex<BTreeMap<u32, Vec<Device>>> = Mutex::new(BTreeMap::new());

/// What a checkpoint has of them.
pub(in crate::devices) fn note(to: &mut Noted) {
    to.adapters.clone_from(&locked(&SHOWN));
}

/// What the program gets in the place of these, which were found through the libraries that it has asked.
pub(in crate::devices) fn in_place_of(there: Vec<Adapter>, asked: Backends) -> Vec<Adapter> {
    let asked = asked.bits();
    let known: Vec<Device> = { there.iter() }.map(|one| about(one.get_info())).collect();
    let had = shown::noted().adapters.get(&asked).cloned().unwrap_or_default();
    let is_first_time = !locked(&SHOWN).contains_key(&asked);
    let choice = choice(&had, &known);
    let (now, adapters): (Vec<Device>, Vec<Adapter>) = { choice.into_iter() }
        .map(|one| (known[one].clone(), there[one].clone()))
        .unzip();
    locked(&SHOWN).insert(asked, now.clone());
    if is_first_time {
        shown::mention_changed(&had, &now, there.len(), "wgpu");
    }
    adapters
}

/// Which of those that are there are shown.
fn choice(had: &[Device], there: &[Device]) -> Vec<usize> {
    let kinds = |list: &[Device]| -> Vec<(String, String)> {
        let kind = |one: &Device| (one.kind.clone(), one.platform.clone());
        list.iter().map(kind).collect()
    };
    let (had, there) = (kinds(had), kinds(there));
    match shown::shows_as_before() && !had.is_empty() && !there.is_empty() && had != there {
        true => assigned(&had, &there),
        false => (0..there.len()).collect(),
    }
}

/// What an adapter, or the one of a device, says of itself.
pub(super) fn about(about: AdapterInfo) -> Device {
    Device {
        name: about.name,
        vendor: format!("vendor {:#06x}", about.vendor),
        platform: format!("{:?}", about.backend),
        kind: format!("{:?}", about.device_type),
        shown_as: 0,
    }
}
