//! Text: strings and the operating system's strings, which need not be UTF-8.

use std::collections::BTreeSet;
use std::env::Args;
use std::ffi::{CString, OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::handles::moved;
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
            const BITS: bool = true;
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

/// A path of a checkpoint, where it is now.
fn here(path: PathBuf) -> Result<PathBuf, LoadError> {
    let now = moved::now(path);
    match moved::is_left_behind(&now) {
        false => Ok(now),
        true => Err(LoadError::invalid(format!(
            "it is the path `{}`, in the folder that the run was started in, and the run is continued elsewhere: say where that folder is now, with `--map OLD=NEW` (CKPT_MAP)",
            now.display()
        ))),
    }
}

owned! {
    String, |s| s.as_str(), |from| from.text();
    Box<str>, |s| **s, |from| from.text().map(String::into_boxed_str);
    &str, |s| **s, |from| from.text().map(lasting);
    Box<OsStr>, |s| **s, |from| OsString::load(from).map(OsString::into_boxed_os_str);
    Box<Path>, |s| **s, |from| PathBuf::load(from).map(PathBuf::into_boxed_path);
    OsString, |s| s.as_os_str(), |from| from.text_bytes().map(OsString::from_vec);
    // What is a path by its type is mapped at a restart.
    PathBuf, |s| s.as_path(), |from| OsString::load(from).and_then(|path| here(path.into()));
}

impl Checkpoint for CString {
    fn save(&self, to: &mut Encoder<'_>) {
        to.text_bytes(self.as_bytes());
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        CString::new(from.text_bytes()?).map_err(LoadError::invalid)
    }
}

/// The arguments not yet taken: a restart has the same ones.
impl Checkpoint for Args {
    fn save(&self, to: &mut Encoder<'_>) {
        self.len().save(to);
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        let left = usize::load(from)?;
        let mut args = std::env::args();
        let all = args.len();
        let taken = all.checked_sub(left).ok_or_else(|| {
            LoadError::invalid(format_args!(
                "{left} arguments of the command line were left, and there are only {all}"
            ))
        })?;
        let _ = args.by_ref().take(taken).count();
        Ok(args)
    }
}

/// A piece of text that lasts: a literal in the program or a part of what it has read is, after a restart, some bytes on
/// the heap that are never given back, once for every text.
pub(super) fn lasting(text: String) -> &'static str {
    static TEXTS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = texts.get(text.as_str()) {
        return known;
    }
    let text: &'static str = text.leak();
    texts.insert(text);
    text
}
