//! Which devices a program was shown. A restart may find others, or another number of them: where something that is saved
//! hangs on the number, the program is shown as many as it had, each of them one of those that are there, in turn.
//!
//! The libraries' own parts are in [`super::opencl`] and [`super::wgpu`]: they ask what the checkpoint has noted when the program first asks for
//! devices, which is after the session has opened.

mod noted;

use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

use crate::base::lock::locked;
use crate::base::report::say;
#[cfg(feature = "opencl")]
pub(crate) use noted::Platform;
#[cfg(any(feature = "opencl", feature = "wgpu"))]
pub(crate) use noted::assigned;
pub use noted::{Device, Noted};

/// Name of the note in every checkpoint of a program that has asked for devices, as JSON.
pub const DEVICES_NOTE: &str = "devices";

/// The program has said that nothing in its checkpoints hangs on the number of devices.
static ANY_NUMBER: AtomicBool = AtomicBool::new(false);

static HAD: Mutex<Option<Had>> = Mutex::new(None);

/// What the checkpoint says that a restart begins from.
#[derive(Debug, Clone)]
struct Had {
    /// The checkpoint.
    checkpoint: String,
    noted: Noted,
    /// All ranks would say the same, or it was said that they are of another kind.
    is_quiet: bool,
}

fn had() -> MutexGuard<'static, Option<Had>> {
    locked(&HAD)
}

/// Nothing that a checkpoint of this program has hangs on the number of devices: a restart shows those that are there.
pub fn any_number() {
    ANY_NUMBER.store(true, Ordering::Relaxed);
}

/// Whether a restart shows as many as there were.
#[cfg(any(feature = "opencl", feature = "wgpu"))]
pub(crate) fn shows_as_before() -> bool {
    !ANY_NUMBER.load(Ordering::Relaxed)
}

/// A session begins, with a restart from a checkpoint or from nothing.
///
/// # Errors
/// The program has asked for devices before, and was shown others than at the checkpoint.
pub(crate) fn begin<Id: Display + Copy>(from: Option<(Id, Option<&str>)>, is_quiet: bool) -> Result<(), Id> {
    begin_after(&now(), from, is_quiet)
}

/// The same, after the program was shown these.
fn begin_after<Id: Display + Copy>(
    shown: &Noted,
    from: Option<(Id, Option<&str>)>,
    is_quiet: bool,
) -> Result<(), Id> {
    let is_free = ANY_NUMBER.load(Ordering::Relaxed);
    let from = from.and_then(|(id, note)| {
        // What makes no sense says nothing; the values are under checksums of their own.
        Some((id, serde_json::from_str::<Noted>(note?).ok()?))
    });
    let unserved = from
        .iter()
        .find(|(_, noted)| !is_free && !noted.is_served_by(shown));
    let unserved = unserved.map(|(id, _)| *id);
    *had() = from.map(|(id, noted)| Had {
        checkpoint: id.to_string(),
        noted,
        is_quiet,
    });
    unserved.map_or(Ok(()), Err)
}

/// What the checkpoint has noted that this process goes on from.
#[cfg(any(feature = "opencl", feature = "wgpu"))]
pub(crate) fn noted() -> Noted {
    let had = had();
    had.as_ref().map(|had| had.noted.clone()).unwrap_or_default()
}

/// What the program has been shown in this process.
fn now() -> Noted {
    #[allow(unused_mut, reason = "each library has its own")]
    let mut now = Noted {
        computes_on: super::computes_on(),
        ..Noted::default()
    };
    #[cfg(feature = "opencl")]
    super::opencl::note_shown(&mut now);
    #[cfg(feature = "wgpu")]
    super::wgpu::note_shown(&mut now);
    now
}

/// What a checkpoint has of the devices that the program was shown; nothing where it has asked for none.
pub(crate) fn note() -> Option<(String, String)> {
    let now = now();
    let noted = match &*had() {
        // What is asked for only later is shown as it was.
        Some(had) => now.and(&had.noted),
        None => now,
    };
    let text = serde_json::to_string(&noted).ok()?;
    (!noted.is_empty()).then(|| (DEVICES_NOTE.to_owned(), text))
}

/// The walk of a restart has arrived: the program has what it computes on.
pub(crate) fn mention_another_kind() {
    let Some(Had {
        checkpoint,
        noted,
        is_quiet: false,
    }) = had().clone()
    else {
        return;
    };
    if let Some(text) = noted::change_of_kind(&checkpoint, &noted.computes_on, &super::computes_on()) {
        say(&text);
    }
}

/// Whether the program computes on devices of another kind now than at the checkpoint that it goes on from: the libraries for them
/// are others, and may do other things to the process.
pub(crate) fn are_of_another_kind() -> bool {
    had().clone().is_some_and(|had| {
        noted::change_of_kind(&had.checkpoint, &had.noted.computes_on, &super::computes_on()).is_some()
    })
}

/// The session is over.
pub(crate) fn forget() {
    *had() = None;
}

/// Says what has become of devices that the program had. `where_is`: of which platform they are.
#[cfg_attr(
    not(any(feature = "opencl", feature = "wgpu")),
    expect(dead_code, reason = "no library has devices")
)]
pub(crate) fn mention_changed(before: &[Device], now: &[Device], there: usize, where_is: &str) {
    let mut had = had();
    let Some(Had {
        checkpoint,
        is_quiet: is_quiet @ false,
        ..
    }) = &mut *had
    else {
        return;
    };
    for text in noted::changes(checkpoint, before, now, there, where_is) {
        say(&text);
    }
    *is_quiet = !before
        .iter()
        .zip(now)
        .all(|(then, now)| then.is_of_the_kind_of(now));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_was_shown_others_before_its_session_cannot_go_on() {
        let shown = |devices: &str| serde_json::from_str::<Noted>(&note_of(devices)).expect("a note");
        let note = note_of("{\"name\":\"a\",\"vendor\":\"b\",\"platform\":\"p\",\"kind\":\"CPU\"}");
        assert_eq!(
            begin_after(&Noted::default(), Some((4, Some(&note))), true),
            Ok(())
        );
        assert_eq!(begin_after(&shown(""), Some((4, Some(&note))), true), Err(4));
        assert_eq!(begin_after(&shown(""), Some((4, Some("no JSON"))), true), Ok(()));
        assert_eq!(begin_after::<u32>(&shown(""), None, true), Ok(()));
        forget();
    }

    fn note_of(devices: &str) -> String {
        format!("{{\"platforms\":[{{\"name\":\"p\",\"devices\":[{devices}]}}]}}")
    }
}
