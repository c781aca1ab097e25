//! Text: strings and the operating system's strings, which need not be UTF-8.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::value::{Checkpoint, Decoder, Encoder, LoadError};

impl Checkpoint for str {
    fn save(&self, to: &mut Encoder<'_>) {
        to.text(self);
    }
}

impl Checkpoint for OsStr {
    fn save(&self, to: &mut Encoder<'_>) {
        to.text_bytes(self.as_bytes());
    }
}

impl Checkpoint for Path {
    fn save(&self, to: &mut Encoder<'_>) {
        self.as_os_str().save(to);
    }
}

macro_rules! owned {
    ($($type:ty, |$value:ident| $borrow:expr, |$from:ident| $load:expr;)*) => {$(
        impl Checkpoint for $type {
            fn save(&self, to: &mut Encoder<'_>) {
                let $value = self;
                $borrow.save(to);
            }
            fn load($from: &mut Decoder<'_>) -> Result<Self, LoadError> {
                $load
            }
        }
    )*};
}

owned! {
    String, |s| s.as_str(), |from| from.text();
    Box<str>, |s| **s, |from| from.text().map(String::into_boxed_str);
    // A literal in the program, a few bytes on the heap after a restart.
    &'static str, |s| **s, |from| from.text().map(|text| &*text.leak());
    OsString, |s| s.as_os_str(), |from| from.text_bytes().map(OsString::from_vec);
    PathBuf, |s| s.as_path(), |from| OsString::load(from).map(PathBuf::from);
}
