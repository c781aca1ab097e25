//! Texts of the system in a document: UTF-8 as it is, anything else as its bytes.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use serde::{Deserialize, Serialize};

/// A path, or the name or value of a variable.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Text {
    Plain(String),
    Bytes(Vec<u8>),
}

impl From<&OsStr> for Text {
    fn from(text: &OsStr) -> Text {
        match text.to_str() {
            Some(plain) => Text::Plain(plain.to_owned()),
            None => Text::Bytes(text.as_bytes().to_vec()),
        }
    }
}

impl From<&Text> for OsString {
    fn from(text: &Text) -> OsString {
        match text {
            Text::Plain(plain) => plain.into(),
            Text::Bytes(bytes) => OsString::from_vec(bytes.clone()),
        }
    }
}
