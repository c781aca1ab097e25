//! What a checkpoint says of the devices that its program was shown.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// All of them, by library.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Noted {
    /// OpenCL's platforms, in their order; nothing where the program has not asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub platforms: Vec<Platform>,
    /// Into how many parts a device was divided, by which device and how.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parts: BTreeMap<String, u32>,
    /// The adapters of wgpu, by the set of libraries that was asked.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub adapters: BTreeMap<u32, Vec<Device>>,
    /// Those that it has given something to do, each once: those of its queues.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub computes_on: Vec<Device>,
}

/// A platform of OpenCL.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Platform {
    /// Its name.
    pub name: String,
    /// Its devices, if the program has asked for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub devices: Option<Vec<Device>>,
}

/// A device.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// Its name.
    pub name: String,
    /// Who has made it.
    pub vendor: String,
    /// The platform or library by which it computes.
    pub platform: String,
    /// `CPU`, `GPU` or what else it is.
    pub kind: String,
    /// What it is shown as, as the library numbers kinds: that of the device that it was first.
    #[serde(default)]
    pub shown_as: u64,
}

impl Noted {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Noted::default()
    }

    /// Whether what the program has been shown so far is what it was shown then.
    pub(crate) fn is_served_by(&self, now: &Noted) -> bool {
        let count = |platform: &Platform| platform.devices.as_ref().map(Vec::len);
        let mut platforms = now.platforms.iter().zip(&self.platforms);
        let are_alike = |(now, then): (&Platform, &Platform)| {
            count(now).is_none() || count(then).is_none() || count(now) == count(then)
        };
        let mut adapters = now.adapters.iter();
        let have_as_many = |(of, now): (&u32, &Vec<Device>)| {
            let then = self.adapters.get(of);
            then.is_none_or(|then| then.len() == now.len())
        };
        (now.platforms.is_empty()
            || self.platforms.is_empty()
            || now.platforms.len() == self.platforms.len() && platforms.all(are_alike))
            && adapters.all(have_as_many)
    }

    /// This, and what was noted before of what has not been asked for since.
    pub(crate) fn and(self, before: &Noted) -> Noted {
        let mut all = self;
        if all.platforms.is_empty() {
            all.platforms = before.platforms.clone();
        }
        // In the order of `before` where the program is shown what it had.
        if all.platforms.len() == before.platforms.len() {
            for (now, then) in all.platforms.iter_mut().zip(&before.platforms) {
                if now.devices.is_none() {
                    now.devices.clone_from(&then.devices);
                }
            }
        }
        for (what, count) in &before.parts {
            all.parts.entry(what.clone()).or_insert(*count);
        }
        for (of, adapters) in &before.adapters {
            all.adapters.entry(*of).or_insert_with(|| adapters.clone());
        }
        all
    }
}

impl Device {
    fn described(&self) -> String {
        let Device {
            name,
            vendor,
            platform,
            kind,
            ..
        } = self;
        format!("`{name}` ({kind} of {vendor}, {platform})")
    }

    /// Whether two of them may be expected to compute alike, to the last digit.
    pub(super) fn is_of_the_kind_of(&self, other: &Device) -> bool {
        self.kind == other.kind && self.vendor == other.vendor && self.platform == other.platform
    }
}

/// For each of those that the program had, which of those that are there it is shown: one of the same kind, in turn, or any
/// where there is none.
#[cfg_attr(
    not(any(feature = "opencl", feature = "wgpu", test)),
    expect(dead_code, reason = "no library has devices")
)]
pub(crate) fn assigned<K: PartialEq>(had: &[K], there: &[K]) -> Vec<usize> {
    let mut shown: Vec<usize> = Vec::new();
    for (at, kind) in had.iter().enumerate() {
        let alike: Vec<usize> = (0..there.len()).filter(|one| there[*one] == *kind).collect();
        let before = had[..at].iter().filter(|one| *one == kind).count();
        let choice = match alike.is_empty() {
            true => (0..there.len()).collect(),
            false => alike,
        };
        if !choice.is_empty() {
            shown.push(choice[before % choice.len()]);
        }
    }
    shown
}

/// So many devices are named; more are counted.
const NAMED: usize = 6;

/// What a program computes on now, if it had none of that kind at the checkpoint.
pub(super) fn change_of_kind(checkpoint: &str, before: &[Device], now: &[Device]) -> Option<String> {
    let is_new = |one: &&Device| !before.iter().any(|then| then.is_of_the_kind_of(one));
    let new: Vec<&Device> = now.iter().filter(is_new).collect();
    if before.is_empty() || new.is_empty() {
        return None;
    }
    let all = |list: &[&Device]| {
        let mut words: Vec<String> = list.iter().take(NAMED).map(|one| one.described()).collect();
        if let Some(more) = list.len().checked_sub(NAMED).filter(|more| *more > 0) {
            words.push(format!("and {more} more"));
        }
        words.join(", ")
    };
    let before: Vec<&Device> = before.iter().collect();
    Some(of_another_kind(
        checkpoint,
        &format!(
            "it had computed on {}, and computes on {}",
            all(&before),
            all(&new)
        ),
    ))
}

fn of_another_kind(checkpoint: &str, list: &str) -> String {
    format!(
        "warning[W2421]: checkpoint {checkpoint} was taken on devices of another kind: {list}; results may differ in the last digits\n  \
         why:   devices of other kinds, vendors and platforms may round otherwise, and their compilers may arrange sums in another way\n  \
         help:  nothing has to be done where the change was meant; for the same digits, restart on devices like those before"
    )
}

/// What is said of devices that are others than at the checkpoint: of those that are shown in the place of others by `now`, of
/// so many that are there.
pub(super) fn changes(
    checkpoint: &str,
    before: &[Device],
    now: &[Device],
    there: usize,
    where_is: &str,
) -> Vec<String> {
    let pairs = || before.iter().zip(now).enumerate();
    let listed = |pairs: &mut dyn Iterator<Item = (usize, (&Device, &Device))>, is_short: bool| {
        let mut list: Vec<String> = pairs
            .map(|(at, (then, now))| match is_short {
                true => format!("device {at} was `{}` and is `{}`", then.name, now.name),
                false => format!("device {at} was {} and is {}", then.described(), now.described()),
            })
            .collect();
        let more = list.len().saturating_sub(NAMED);
        list.truncate(NAMED);
        if more > 0 {
            list.push(format!("and {more} more"));
        }
        (!list.is_empty()).then(|| list.join(", "))
    };
    let mut said = Vec::new();
    if before.len() == now.len() && before.len() != there {
        said.push(format!(
            "the program is shown {} of {where_is}, as at checkpoint {checkpoint}; there {}",
            counted(before.len()),
            match there {
                1 => "is 1".to_owned(),
                more => format!("are {more}"),
            }
        ));
    }
    let mut differently = pairs().filter(|(_, (then, now))| !then.is_of_the_kind_of(now));
    if let Some(list) = listed(&mut differently, false) {
        said.push(of_another_kind(checkpoint, &list));
    }
    let mut of_another_name =
        pairs().filter(|(_, (then, now))| then.is_of_the_kind_of(now) && then.name != now.name);
    if let Some(list) = listed(&mut of_another_name, true) {
        said.push(format!(
            "warning[W2420]: checkpoint {checkpoint} was taken on other devices: {list}\n  \
             why:   a restart takes the devices that are there; these are of the kind, the vendor and the platform that they were\n  \
             help:  nothing has to be done where the change was meant"
        ));
    }
    said
}

fn counted(devices: usize) -> String {
    match devices {
        1 => "the 1 device".to_owned(),
        more => format!("the {more} devices"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(name: &str, kind: &str) -> Device {
        Device {
            name: name.into(),
            vendor: "a vendor".into(),
            platform: "a platform".into(),
            kind: kind.into(),
            shown_as: 2,
        }
    }

    #[test]
    fn those_that_are_there_are_shown_in_turn() {
        assert_eq!(assigned(&["c", "c", "c"], &["c"]), [0, 0, 0]);
        assert_eq!(assigned(&["c", "c", "c"], &["c", "c"]), [0, 1, 0]);
        assert_eq!(assigned(&["c"], &["c", "c", "c"]), [0]);
        assert_eq!(assigned(&["c", "g", "c", "g"], &["g", "c"]), [1, 0, 1, 0]);
        assert_eq!(assigned(&["c", "c", "g"], &["g", "g"]), [0, 1, 0]);
        assert!(assigned(&["c"], &[]).is_empty());
    }

    #[test]
    fn another_name_is_told_of_and_another_kind_with_what_follows_from_it() {
        let before = [device("a", "CPU"), device("b", "CPU"), device("c", "GPU")];
        let of = |now: &[Device], there: usize| changes("000004", &before, now, there, "a platform");
        assert!(of(&before, 3).is_empty());
        let renamed = of(&[before[0].clone(), device("d", "CPU"), before[2].clone()], 3);
        assert!(
            matches!(&renamed[..], [one] if one.contains("W2420") && one.contains("device 1 was `b` and is `d`")),
            "{renamed:?}"
        );
        let computed = of(&[before[0].clone(), before[1].clone(), device("c", "CPU")], 2);
        assert!(
            matches!(&computed[..], [number, one] if number.contains("the 3 devices") && number.contains("are 2")
                && one.contains("W2421") && one.contains("`c` (GPU of a vendor, a platform)") && one.contains("last digits")),
            "{computed:?}"
        );
        let many: Vec<Device> = (0..9).map(|_| device("x", "CPU")).collect();
        let others: Vec<Device> = (0..9).map(|_| device("y", "CPU")).collect();
        let said = changes("000004", &many, &others, 9, "a platform");
        assert!(said[0].contains("and 3 more"), "{said:?}");
    }

    #[test]
    fn what_a_program_computes_on_is_told_of_if_it_had_none_of_the_kind() {
        let of = |before: &[Device], now: &[Device]| change_of_kind("000004", before, now);
        let (one, other) = (device("a", "CPU"), device("b", "GPU"));
        assert_eq!(of(&[one.clone(), other.clone()], &[device("c", "GPU")]), None);
        assert_eq!(of(&[], std::slice::from_ref(&one)), None);
        assert_eq!(of(std::slice::from_ref(&one), &[]), None);
        let said = of(std::slice::from_ref(&one), &[one.clone(), other]).expect("another kind");
        assert!(
            said.contains("W2421")
                && said.contains("computes on `b` (GPU of a vendor")
                && said.contains("last digits"),
            "{said}"
        );
        let kept = Noted {
            computes_on: vec![device("a", "CPU")],
            ..Noted::default()
        };
        assert!(Noted::default().and(&kept).is_empty());
    }

    #[test]
    fn what_was_not_asked_for_since_is_noted_as_it_was() {
        let platform = |devices: Option<usize>| Platform {
            name: "p".into(),
            devices: devices.map(|count| vec![device("a", "CPU"); count]),
        };
        let of = |devices: &[Option<usize>]| Noted {
            platforms: devices.iter().map(|count| platform(*count)).collect(),
            ..Noted::default()
        };
        assert_eq!(Noted::default().and(&of(&[Some(2)])), of(&[Some(2)]));
        assert_eq!(
            of(&[Some(3), None]).and(&of(&[Some(1), Some(2)])),
            of(&[Some(3), Some(2)])
        );
        assert!(of(&[Some(2)]).is_served_by(&Noted::default()) && of(&[None]).is_served_by(&of(&[Some(1)])));
        assert!(
            of(&[Some(2)]).is_served_by(&of(&[Some(2)])) && !of(&[Some(2)]).is_served_by(&of(&[Some(1)]))
        );
        assert!(!of(&[Some(2)]).is_served_by(&of(&[Some(2), None])));
        let text = serde_json::to_string(&of(&[Some(1)])).expect("JSON");
        assert_eq!(
            serde_json::from_str::<Noted>(&text).expect("a note"),
            of(&[Some(1)])
        );
    }
}
