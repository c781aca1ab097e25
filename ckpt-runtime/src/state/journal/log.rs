//! `STORE/files.log`: what the program's files were before a run touched them, one JSON object a line.
//!
//! A line is on the disk before the file is touched. A last line that is torn is of a file that has not been touched.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::base::documents::{self, Documents, Durability};

/// Name of the log in the store folder; other ranks than the first have their own.
fn name(rank: u32) -> String {
    match rank {
        0 => "files.log".to_owned(),
        _ => format!("files.r{rank}.log"),
    }
}

/// What a file was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Was {
    /// There was none.
    Absent,
    /// So long; its bytes have not been changed.
    Length(u64),
    /// These bytes.
    Content(Vec<u8>),
}

/// A line of the log; without length and bytes, there was no file.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    #[serde(with = "path_text")]
    path: PathBuf,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    length: Option<u64>,
    /// In hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bytes: Option<String>,
}

impl Line {
    /// It, as it stands in the log.
    fn of(path: &Path, was: &Was) -> io::Result<Vec<u8>> {
        let line = Line {
            path: path.to_owned(),
            length: match was {
                Was::Length(length) => Some(*length),
                Was::Absent | Was::Content(_) => None,
            },
            bytes: match was {
                Was::Content(bytes) => Some(hexadecimal(bytes)),
                Was::Absent | Was::Length(_) => None,
            },
        };
        let mut text = serde_json::to_vec(&line)?;
        text.push(b'\n');
        Ok(text)
    }
}

/// The log of a store.
#[derive(Debug)]
pub(super) struct Log {
    documents: Arc<dyn Documents>,
    name: String,
    open: Option<Box<dyn documents::Log>>,
}

impl Log {
    pub fn new(documents: Arc<dyn Documents>, rank: u32) -> Self {
        Self {
            documents,
            name: name(rank),
            open: None,
        }
    }

    /// Another run begins.
    pub fn forget(&self) {
        // Where it cannot be removed, nothing can be written either.
        let _ = self.documents.remove(&self.name);
    }

    /// Writes a line.
    ///
    /// # Errors
    /// It is not on the disk.
    pub fn add(&mut self, path: &Path, was: &Was) -> io::Result<()> {
        let line = Line::of(path, was)?;
        let log = match &mut self.open {
            Some(log) => log,
            empty => empty.insert(open(&*self.documents, &self.name)?),
        };
        log.add(&line)
    }

    /// The files that it lists are elsewhere now, as `moved` says: from here on the log names them so. Without
    /// that, a later restart would look for them where others may have files.
    ///
    /// # Errors
    /// It cannot be read, or written again.
    pub fn move_paths(&mut self, moved: impl Fn(PathBuf) -> PathBuf) -> Result<(), String> {
        let lines = self.read()?;
        if lines.iter().all(|(path, _)| moved(path.clone()) == *path) {
            return Ok(());
        }
        let text = lines.into_iter().map(|(path, was)| Line::of(&moved(path), &was));
        let text: io::Result<Vec<Vec<u8>>> = text.collect();
        text.and_then(|text| {
            self.documents
                .replace(&self.name, &text.concat(), Durability::Synced)
        })
        .map_err(|error| format!("{} cannot be written again: {error}", self.named()))?;
        self.open = None;
        Ok(())
    }

    fn named(&self) -> String {
        format!("`{}`", self.documents.path_of(&self.name).display())
    }

    /// All lines that are whole, oldest first.
    ///
    /// # Errors
    /// The log is there and cannot be read.
    pub fn read(&self) -> Result<Vec<(PathBuf, Was)>, String> {
        let text = self.documents.read(&self.name);
        let text = text.map_err(|error| format!("{} cannot be read: {error}", self.named()))?;
        let text = text.unwrap_or_default();
        let lines = text
            .split(|byte| *byte == b'\n')
            .map_while(|line| serde_json::from_slice::<Line>(line).ok());
        Ok(lines
            .map(|line| {
                let was = match (line.bytes, line.length) {
                    (Some(digits), _) => Was::Content(bytes(&digits)),
                    (None, Some(length)) => Was::Length(length),
                    (None, None) => Was::Absent,
                };
                (line.path, was)
            })
            .collect())
    }
}

/// A path as JSON can say it: one that is no text as an object with its bytes.
mod path_text {
    use std::ffi::OsString;
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    use std::path::{Path, PathBuf};

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Written {
        Text(PathBuf),
        Bytes { hexadecimal: String },
    }

    pub fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        let written = match path.to_str() {
            Some(_) => Written::Text(path.to_owned()),
            None => Written::Bytes {
                hexadecimal: super::hexadecimal(path.as_os_str().as_bytes()),
            },
        };
        written.serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        Ok(match Written::deserialize(from)? {
            Written::Text(path) => path,
            Written::Bytes { hexadecimal } => OsString::from_vec(super::bytes(&hexadecimal)).into(),
        })
    }
}

/// Opens the log to add to it; what a torn line has left is cut off.
fn open(documents: &dyn Documents, name: &str) -> io::Result<Box<dyn documents::Log>> {
    let mut log = documents.log(name, Durability::Synced)?;
    let text = documents.read(name)?.unwrap_or_default();
    let whole = text
        .iter()
        .rposition(|&byte| byte == b'\n')
        .map_or(0, |at| at + 1);
    if whole < text.len() {
        log.cut(whole as u64)?;
    }
    Ok(log)
}

fn hexadecimal(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| char::from(DIGITS[usize::from(digit)]))
        .collect()
}

fn bytes(digits: &str) -> Vec<u8> {
    digits
        .as_bytes()
        .chunks_exact(2)
        .filter_map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::documents::in_memory::Shelf;

    #[test]
    fn paths_that_have_moved_are_written_anew() {
        use std::os::unix::ffi::OsStringExt;
        let shelf = Arc::new(Shelf::default());
        let not_text = PathBuf::from(std::ffi::OsString::from_vec(b"/old/\xff".to_vec()));
        let entries = [
            (not_text.clone(), Was::Length(3)),
            (PathBuf::from("/old/a"), Was::Absent),
            (PathBuf::from("b"), Was::Content(vec![1])),
        ];
        let mut log = Log::new(shelf.clone(), 0);
        for (path, was) in &entries {
            log.add(path, was).unwrap();
        }
        assert_eq!(log.read().unwrap(), entries);
        let moved = |path: PathBuf| match path.strip_prefix("/old") {
            Ok(rest) => Path::new("/new").join(rest),
            Err(_) => path,
        };
        log.move_paths(moved).unwrap();
        log.move_paths(moved).unwrap();
        log.add(Path::new("c"), &Was::Absent).unwrap();
        let found: Vec<PathBuf> = log.read().unwrap().into_iter().map(|(path, _)| path).collect();
        assert_eq!(found, [moved(not_text), "/new/a".into(), "b".into(), "c".into()]);
    }

    #[test]
    fn a_torn_line_is_passed_over_and_cut_off() {
        let shelf = Arc::new(Shelf::default());
        let entries = [
            (PathBuf::from("a"), Was::Absent),
            (PathBuf::from("b"), Was::Length(7)),
            (PathBuf::from("c/ä"), Was::Content(vec![0, 255, b'\n', 16])),
        ];
        let mut log = Log::new(shelf.clone(), 0);
        for (path, was) in &entries[..2] {
            log.add(path, was).unwrap();
        }
        let mut file = shelf.log(&name(0), Durability::Synced).unwrap();
        file.add(b"{\"path\":\"torn\",\"len").unwrap();
        let mut log = Log::new(shelf.clone(), 0);
        assert_eq!(log.read().unwrap(), entries[..2]);
        log.add(&entries[2].0, &entries[2].1).unwrap();
        assert_eq!(log.read().unwrap(), entries);
        log.forget();
        assert_eq!(log.read().unwrap(), []);
    }
}
