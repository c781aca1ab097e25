//! The records of the journal, and how each stands in the file: numbers with the lowest byte first, a path or text with its
//! length in front. See the page on the format in the book.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

/// What the journal says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Record {
    /// What was at a path when the epoch began.
    Was { path: PathBuf, was: Was },
    /// What bytes of the file at a path were when the epoch began; it stands after the record that says how long it was.
    Bytes {
        path: PathBuf,
        offset: u64,
        content: Content,
    },
    /// What was at a path could not be kept: no checkpoint up to this epoch can be restored.
    Lost { path: PathBuf, why: String },
    /// The files are about to become what they were at the begin of an epoch: later ones are given up.
    Returning { to: u64 },
    /// Paths in all records up to here are elsewhere now: old and new.
    Moved { moves: Vec<(PathBuf, PathBuf)> },
    /// The folder that the program was started in, below which the other paths of this part are that are not absolute; and where the
    /// store was then, which older parts do not say.
    StartedIn { folder: PathBuf, store: Option<PathBuf> },
}

impl Record {
    /// The path whose past it keeps.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Record::Was { path, .. } | Record::Bytes { path, .. } => Some(path),
            Record::Lost { .. }
            | Record::Returning { .. }
            | Record::Moved { .. }
            | Record::StartedIn { .. } => None,
        }
    }

    /// The same of another path, where it keeps the past of one.
    #[must_use]
    pub fn at(mut self, other: PathBuf) -> Record {
        if let Record::Was { path, .. } | Record::Bytes { path, .. } = &mut self {
            *path = other;
        }
        self
    }
}

/// What was at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Was {
    Absent,
    Folder {
        mode: u32,
    },
    Link {
        target: PathBuf,
    },
    File {
        mode: u32,
        length: u64,
        held: Held,
    },
    /// Something that is not brought back: a pipe, a socket, a device.
    Other,
}

/// Where the bytes of a file are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Held {
    /// In the file itself, but for those of [`Record::Bytes`].
    There,
    Apart(Content),
    /// In the file itself, which has another name beside the journal, as it has several anyway.
    Named {
        epoch: u64,
        number: u32,
    },
}

/// Bytes that are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Content {
    /// To be written into the record.
    New(Vec<u8>),
    /// In a record that has been read: where in which part of the journal.
    Inside { epoch: u64, at: u64, length: u64 },
    /// In a file of their own.
    Beside {
        epoch: u64,
        number: u32,
        length: u64,
        sum: u128,
    },
}

impl Content {
    pub fn length(&self) -> u64 {
        match self {
            Content::New(bytes) => bytes.len() as u64,
            Content::Inside { length, .. } | Content::Beside { length, .. } => *length,
        }
    }
}

const ABSENT: u8 = 1;
const FOLDER: u8 = 2;
const LINK: u8 = 3;
const FILE: u8 = 4;
const OTHER: u8 = 5;
const BYTES: u8 = 6;
const LOST: u8 = 7;
const RETURNING: u8 = 8;
const MOVED: u8 = 9;
const STARTED_IN: u8 = 10;

const THERE: u8 = 0;
const INSIDE: u8 = 1;
const BESIDE: u8 = 2;
const NAMED: u8 = 3;

impl Record {
    /// The record with the time of day at which it was made, in nanoseconds.
    pub fn encode(&self, time: u64) -> Vec<u8> {
        let mut to = time.to_le_bytes().to_vec();
        match self {
            Record::Was { path, was } => {
                let tag = match was {
                    Was::Absent => ABSENT,
                    Was::Folder { .. } => FOLDER,
                    Was::Link { .. } => LINK,
                    Was::File { .. } => FILE,
                    Was::Other => OTHER,
                };
                to.push(tag);
                put_path(&mut to, path);
                match was {
                    Was::Absent | Was::Other => {}
                    Was::Folder { mode } => to.extend(mode.to_le_bytes()),
                    Was::Link { target } => put_path(&mut to, target),
                    Was::File { mode, length, held } => {
                        to.extend(mode.to_le_bytes());
                        to.extend(length.to_le_bytes());
                        match held {
                            Held::There => to.push(THERE),
                            Held::Apart(content) => put_content(&mut to, content),
                            Held::Named { number, .. } => {
                                to.push(NAMED);
                                to.extend(number.to_le_bytes());
                            }
                        }
                    }
                }
            }
            Record::Bytes {
                path,
                offset,
                content,
            } => {
                to.push(BYTES);
                put_path(&mut to, path);
                to.extend(offset.to_le_bytes());
                put_content(&mut to, content);
            }
            Record::Lost { path, why } => {
                to.push(LOST);
                put_path(&mut to, path);
                put_bytes(&mut to, why.as_bytes());
            }
            Record::Returning { to: epoch } => {
                to.push(RETURNING);
                to.extend(epoch.to_le_bytes());
            }
            Record::StartedIn { folder, store } => {
                to.push(STARTED_IN);
                put_path(&mut to, folder);
                store.iter().for_each(|store| put_path(&mut to, store));
            }
            Record::Moved { moves } => {
                to.push(MOVED);
                to.extend((moves.len() as u32).to_le_bytes());
                for (old, new) in moves {
                    put_path(&mut to, old);
                    put_path(&mut to, new);
                }
            }
        }
        to
    }

    /// The record of a payload that begins at `at` of the part of an epoch, with its time; `None` where it is none.
    pub fn decode(payload: &[u8], epoch: u64, at: u64) -> Option<(u64, Record)> {
        let mut from = Reader {
            left: payload,
            whole: payload.len(),
            epoch,
            at,
        };
        let time = from.u64()?;
        let tag = from.u8()?;
        let record = match tag {
            RETURNING => Record::Returning { to: from.u64()? },
            STARTED_IN => Record::StartedIn {
                folder: from.place().filter(|folder| folder.is_absolute())?,
                store: match from.left.is_empty() {
                    true => None,
                    false => Some(from.place().filter(|store| store.is_absolute())?),
                },
            },
            MOVED => {
                let count = from.u32()?;
                let moves = (0..count).map(|_| Some((from.place()?, from.place()?)));
                Record::Moved {
                    moves: moves.collect::<Option<_>>()?,
                }
            }
            _ => {
                let path = match tag {
                    LOST => from.path()?,
                    _ => from.place()?,
                };
                match tag {
                    BYTES => Record::Bytes {
                        path,
                        offset: from.u64()?,
                        content: match from.held()? {
                            Held::Apart(content) => content,
                            Held::There | Held::Named { .. } => return None,
                        },
                    },
                    LOST => Record::Lost {
                        path,
                        why: String::from_utf8_lossy(from.bytes()?).into_owned(),
                    },
                    _ => {
                        let was = match tag {
                            ABSENT => Was::Absent,
                            OTHER => Was::Other,
                            FOLDER => Was::Folder { mode: from.u32()? },
                            LINK => Was::Link { target: from.path()? },
                            FILE => Was::File {
                                mode: from.u32()?,
                                length: from.u64()?,
                                held: from.held()?,
                            },
                            _ => return None,
                        };
                        Record::Was { path, was }
                    }
                }
            }
        };
        from.left.is_empty().then_some((time, record))
    }
}

fn put_bytes(to: &mut Vec<u8>, bytes: &[u8]) {
    to.extend((bytes.len() as u32).to_le_bytes());
    to.extend(bytes);
}

fn put_path(to: &mut Vec<u8>, path: &Path) {
    put_bytes(to, path.as_os_str().as_bytes());
}

fn put_content(to: &mut Vec<u8>, content: &Content) {
    match content {
        Content::New(bytes) => {
            to.push(INSIDE);
            put_bytes(to, bytes);
        }
        // Records are written once.
        Content::Inside { .. } => to.push(THERE),
        Content::Beside {
            number, length, sum, ..
        } => {
            to.push(BESIDE);
            to.extend(number.to_le_bytes());
            to.extend(length.to_le_bytes());
            to.extend(sum.to_le_bytes());
        }
    }
}

/// Takes a payload apart.
struct Reader<'a> {
    left: &'a [u8],
    whole: usize,
    epoch: u64,
    at: u64,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, left) = self.left.split_at_checked(count)?;
        self.left = left;
        Some(taken)
    }

    fn u8(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    fn u32(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take(8)?.try_into().ok().map(u64::from_le_bytes)
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let count = self.u32()?;
        self.take(count as usize)
    }

    fn path(&mut self) -> Option<PathBuf> {
        let bytes = self.bytes()?;
        Some(OsString::from_vec(bytes.to_vec()).into())
    }

    /// A path as the system has resolved it, written in one way only. With `..`, or with `.` behind a link, what it stands
    /// for would depend on what is there when the files are brought back, and not only on what the journal says.
    fn place(&mut self) -> Option<PathBuf> {
        let path = self.path()?;
        let is_plain = |part| matches!(part, Component::RootDir | Component::Normal(_));
        let plain: Option<PathBuf> = path
            .components()
            .map(|part| is_plain(part).then_some(part))
            .collect();
        plain.filter(|plain| !plain.as_os_str().is_empty() && plain.as_os_str() == path.as_os_str())
    }

    fn held(&mut self) -> Option<Held> {
        let epoch = self.epoch;
        Some(match self.u8()? {
            THERE => Held::There,
            NAMED => Held::Named {
                epoch,
                number: self.u32()?,
            },
            INSIDE => {
                let length = self.u32()?;
                let at = self.at + (self.whole - self.left.len()) as u64;
                self.take(length as usize)?;
                Held::Apart(Content::Inside {
                    epoch,
                    at,
                    length: u64::from(length),
                })
            }
            BESIDE => Held::Apart(Content::Beside {
                epoch,
                number: self.u32()?,
                length: self.u64()?,
                sum: u128::from_le_bytes(self.take(16)?.try_into().ok()?),
            }),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_written_in_one_way_and_a_link_may_lead_up() {
        let absent = |path: &str| Record::Was {
            path: path.into(),
            was: Was::Absent,
        };
        let read = |record: &Record| Record::decode(&record.encode(1), 3, 0).is_some();
        for bad in [
            "",
            "..",
            "a/../there",
            "/a/..",
            "./..",
            ".",
            "./a",
            "a/.",
            "a/./b",
            "a/",
            "a//b",
            "//a",
        ] {
            assert!(!read(&absent(bad)), "{bad}");
            assert!(
                !read(&Record::Moved {
                    moves: vec![("/a".into(), bad.into())],
                }),
                "{bad}"
            );
        }
        for good in ["a..b", "...", ".a", "/", "/a/b"] {
            assert!(read(&absent(good)), "{good}");
        }
        assert!(read(&Record::Was {
            path: "a".into(),
            was: Was::Link {
                target: "../b".into()
            },
        }));
        // What could not be looked at is named as the program did.
        assert!(read(&Record::Lost {
            path: "../a".into(),
            why: "EIO".to_owned(),
        }));
    }

    #[test]
    fn every_record_comes_back_and_none_that_is_cut() {
        let path = PathBuf::from(OsString::from_vec(b"a/\xff".to_vec()));
        let file = |held| Was::File {
            mode: 0o644,
            length: 7,
            held,
        };
        let beside = Content::Beside {
            epoch: 3,
            number: 2,
            length: 1 << 40,
            sum: 1 << 100,
        };
        let mut records: Vec<Record> = [
            Was::Absent,
            Was::Other,
            Was::Folder { mode: 0o755 },
            Was::Link { target: "b".into() },
            file(Held::There),
            file(Held::Apart(Content::New(b"some".to_vec()))),
            file(Held::Apart(beside.clone())),
            file(Held::Named { epoch: 3, number: 9 }),
        ]
        .into_iter()
        .map(|was| Record::Was {
            path: path.clone(),
            was,
        })
        .collect();
        records.push(Record::Bytes {
            path: path.clone(),
            offset: 5,
            content: beside,
        });
        records.push(Record::Lost {
            path,
            why: "no room".to_owned(),
        });
        records.push(Record::Returning { to: 4 });
        records.push(Record::Moved {
            moves: vec![("/a".into(), "/b".into())],
        });
        for record in records {
            let payload = record.encode(99);
            let (time, mut found) = Record::decode(&payload, 3, 1000).unwrap();
            assert_eq!(time, 99);
            if let Record::Was {
                was:
                    Was::File {
                        held: Held::Apart(content),
                        ..
                    },
                ..
            } = &mut found
                && let Content::Inside { at, length, .. } = *content
            {
                let from = (at - 1000) as usize;
                *content = Content::New(payload[from..from + length as usize].to_vec());
            }
            assert_eq!(found, record);
            for end in 0..payload.len() {
                assert_eq!(
                    Record::decode(&payload[..end], 3, 1000),
                    None,
                    "{record:?} to {end}"
                );
            }
        }
    }
}
