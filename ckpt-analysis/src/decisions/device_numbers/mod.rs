//! Whether anything may hang on the number of devices. A restart shows a program in which nothing does the devices that are there,
//! and any other as many as it had.
//!
//! To show a program what it had is always right. So lists of devices are let do a few things, all of which choose one of them
//! ([`choices`]), and with anything else that is done with one, something may hang on how long it is.

mod choices;

use crate::source::{FileId, Program};
use ckpt_compiler::library::Library;

use super::devices::Devices;

/// What a restart may do with the number of devices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeviceNumber {
    /// Nothing hangs on it: the program is shown the devices that are there.
    Any,
    /// The program is shown as many as it had, because of this.
    AsBefore(Because),
}

/// Why something may hang on the number of devices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Because {
    /// Something else than a choice is done there with a list of devices, or with their number.
    Used {
        /// The file.
        file: FileId,
        /// The line there.
        line: usize,
        /// The list, or the number, as it stands there.
        text: String,
    },
    /// A package outside of the program's computes on devices as well.
    Others,
}

impl DeviceNumber {
    /// The word for it, as in `--format json`.
    pub fn word(&self) -> &'static str {
        match self {
            DeviceNumber::Any => "malleable",
            DeviceNumber::AsBefore(_) => "pseudo-malleable",
        }
    }
}

impl Because {
    /// In half a sentence, behind the place.
    pub fn words(&self) -> String {
        match self {
            Because::Used { text, .. } => {
                format!(
                    "`{text}` does more than choose a device, so something may hang on the number of devices"
                )
            }
            Because::Others => "a package outside of the program's asks for devices as well".into(),
        }
    }
}

/// What a run of the program may do with the number of devices; nothing where it does not compute on any.
pub(crate) fn device_number(library: &Library, program: &Program) -> Option<DeviceNumber> {
    let devices = Devices::of(library, program);
    if !devices.are_used() {
        return None;
    }
    if program.others_ask_for_devices {
        return Some(DeviceNumber::AsBefore(Because::Others));
    }
    let used = choices::other_use(library, program);
    Some(used.map_or(DeviceNumber::Any, DeviceNumber::AsBefore))
}
