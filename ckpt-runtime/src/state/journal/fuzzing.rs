//! The readers of the journal, given bytes by a fuzzer.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::in_folder::Folder;
use super::log::{History, Log};
use super::record::{Content, Held, Record, Was};
use super::segment::{self, Segment};
use super::undo::{Plan, Records};
use crate::base::run_id::RunId;
use crate::handles::Allowed;

const RUN: RunId = RunId::numbered(7);
const EPOCH: u64 = 1;
/// Its smallest part that a disk writes at once.
const SECTOR: usize = 512;

/// The bytes of a part as it is written, of frames with records of every kind.
pub fn written() -> Vec<u8> {
    let head = segment::Head {
        run: RUN.number(),
        rank: 0,
        epoch: EPOCH,
        undone_to: 0,
        previous: 0,
        previous_length: 0,
        time: 1,
    };
    let path = |name: &str| PathBuf::from(name);
    let file = |held| Was::File {
        mode: 0o644,
        length: 3,
        held,
    };
    let was = |name: &str, was| Record::Was {
        path: path(name),
        was,
    };
    let new = |length: usize| Content::New((0..length).map(|n| n as u8).collect());
    let beside = Content::Beside {
        epoch: EPOCH,
        number: 1,
        length: 9,
        sum: 5,
    };
    let frames = [
        vec![was("a", Was::Absent), was("b", Was::Folder { mode: 0o755 })],
        vec![was("c", Was::Link { target: path("a") }), was("d", Was::Other)],
        vec![was("e", file(Held::There))],
        vec![Record::Bytes {
            path: path("e"),
            offset: 1,
            content: new(2),
        }],
        vec![
            was("f", file(Held::Apart(new(1200)))),
            was("g", file(Held::Apart(beside))),
        ],
        vec![was(
            "h",
            file(Held::Named {
                epoch: EPOCH,
                number: 2,
            }),
        )],
        vec![Record::Moved {
            moves: vec![(path("/a"), path("/b"))],
        }],
        vec![Record::Returning { to: 1 }],
        vec![Record::StartedIn {
            folder: path("/a"),
            store: Some(path("/a/s")),
        }],
        vec![Record::Lost {
            path: path("i"),
            why: "no room".to_owned(),
        }],
    ];
    let mut bytes = head.encode();
    for records in frames {
        let records: Vec<Vec<u8>> = records.iter().map(|record| record.encode(9)).collect();
        let frame = segment::frame(&records, EPOCH, bytes.len() as u64);
        bytes.extend(frame);
    }
    bytes
}

/// A file whose bytes are given to the reader.
#[derive(Debug)]
pub struct Part {
    file: File,
    whole: Vec<u8>,
    records: Vec<(u64, Record)>,
}

impl Part {
    /// In this file.
    ///
    /// # Errors
    /// It cannot be written.
    ///
    /// # Panics
    /// What was written is not what is read.
    pub fn new(file: File) -> io::Result<Part> {
        let mut part = Part {
            file,
            whole: written(),
            records: Vec::new(),
        };
        let whole = part.whole.clone();
        let read = part.read(&whole)?.expect("it has a head").expect("it is whole");
        assert!(read.damage.is_none() && read.length == whole.len() as u64);
        part.records = read.records;
        Ok(part)
    }

    fn read(&self, bytes: &[u8]) -> io::Result<Option<Result<Segment, String>>> {
        self.file.set_len(bytes.len() as u64)?;
        self.file.write_all_at(bytes, 0)?;
        segment::parse(&self.file, EPOCH)
    }

    /// Any bytes, as they are, and once more with the checksums that fit.
    ///
    /// # Errors
    /// The file cannot be used.
    ///
    /// # Panics
    /// What has been read is not the same when it is written and read again.
    pub fn any(&self, bytes: &[u8]) -> io::Result<()> {
        let _ = self.read(bytes)?;
        let mut bytes = bytes.to_vec();
        segment::reseal(&mut bytes, EPOCH);
        if let Some(Ok(part)) = self.read(&bytes)? {
            for (time, record) in part.records {
                let is_inside = matches!(
                    &record,
                    Record::Bytes {
                        content: Content::Inside { .. },
                        ..
                    } | Record::Was {
                        was: Was::File {
                            held: Held::Apart(Content::Inside { .. }),
                            ..
                        },
                        ..
                    }
                );
                if !is_inside && !matches!(record, Record::Lost { .. }) {
                    let again = Record::decode(&record.encode(time), EPOCH, 0);
                    assert_eq!(again, Some((time, record)));
                }
            }
        }
        Ok(())
    }

    /// The part that was written, damaged as a list of numbers says: what is read are the first of its records, and all of
    /// them unless the damage is noticed, or the end of the file is gone or was never written.
    ///
    /// # Errors
    /// The file cannot be used.
    ///
    /// # Panics
    /// Something else has been read.
    pub fn damaged(&self, how: &[u8]) -> io::Result<()> {
        let mut bytes = self.whole.clone();
        for edit in how.chunks_exact(4) {
            let at = usize::from(u16::from_le_bytes([edit[0], edit[1]])) % bytes.len().max(1);
            match edit[2] % 8 {
                0 => bytes.truncate(at),
                1 => {
                    let from = at / SECTOR * SECTOR;
                    let end = bytes.len().min(from + SECTOR);
                    bytes[from.min(end)..end].fill(0);
                }
                _ => {
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte ^= edit[3];
                    }
                }
            }
        }
        let read = match self.read(&bytes)? {
            Some(Ok(read)) => read,
            // Said to be damaged, or of nothing that was ever in it.
            Some(Err(_)) => return Ok(()),
            None => {
                let head = &bytes[..bytes.len().min(segment::HEAD as usize)];
                assert!(head.len() < segment::HEAD as usize || head.iter().all(|byte| *byte == 0));
                return Ok(());
            }
        };
        assert!(
            self.records.starts_with(&read.records),
            "another record is taken for one of these"
        );
        let is_all = read.records.len() == self.records.len();
        let ends_early = bytes.len() < self.whole.len();
        let from = read.length as usize;
        let mut sectors = (from..bytes.len()).map(|at| at / SECTOR);
        let was_lost = |sector: usize| {
            let sector = from.max(sector * SECTOR)..bytes.len().min((sector + 1) * SECTOR);
            bytes[sector].iter().all(|byte| *byte == 0)
        };
        assert!(
            is_all || read.damage.is_some() || ends_early || sectors.any(was_lost),
            "a record is gone, and nobody says so"
        );
        Ok(())
    }
}

/// A run's folder, and what is around it that no journal may change.
#[derive(Debug)]
pub struct Ground {
    around: PathBuf,
}

/// Names that paths are made of.
const NAMES: [&str; 8] = ["a", "b", "sub", "..", "there", "x.txt", "y.txt", "."];
const KEPT: &str = "kept.txt";

impl Ground {
    /// In an empty folder, which becomes the one that the process works in.
    ///
    /// # Errors
    /// It cannot be prepared.
    pub fn new(around: &Path) -> io::Result<Ground> {
        let around = fs::canonicalize(around)?;
        for folder in ["outside", "run", "store"] {
            fs::create_dir(around.join(folder))?;
        }
        fs::create_dir(around.join("outside/sub"))?;
        fs::write(around.join("outside/x.txt"), KEPT)?;
        fs::write(around.join("outside/sub/x.txt"), KEPT)?;
        std::env::set_current_dir(around.join("run"))?;
        crate::handles::note_start_folder();
        Ok(Ground { around })
    }

    /// A path of names that the bytes choose, below the run's folder or the one around.
    fn path(&self, from: &mut impl Iterator<Item = u8>) -> PathBuf {
        let first = from.next().unwrap_or(0);
        let mut path = match first & 3 {
            0 => self.around.clone(),
            1 => self.around.join("outside"),
            _ => PathBuf::new(),
        };
        for _ in 0..=(first >> 2) % 4 {
            let name = NAMES[usize::from(from.next().unwrap_or(0)) % NAMES.len()];
            // Records with such a path are damage: most have none.
            if !matches!(name, "." | "..") || first & 0x80 != 0 {
                path.push(name);
            }
        }
        path
    }

    /// Undoes what a journal says that these bytes make, if that is allowed.
    ///
    /// # Errors
    /// The folders cannot be prepared.
    ///
    /// # Panics
    /// Something outside of the run's folder has changed.
    pub fn undo(&self, bytes: &[u8]) -> io::Result<()> {
        for folder in ["run", "store"] {
            for entry in fs::read_dir(self.around.join(folder))? {
                let path = entry?.path();
                match fs::symlink_metadata(&path)?.is_dir() {
                    true => fs::remove_dir_all(path)?,
                    false => fs::remove_file(path)?,
                }
            }
        }
        let mut from = bytes.iter().copied();
        let begun = from.next().unwrap_or(0);
        if begun & 1 != 0 {
            std::os::unix::fs::symlink("../outside", self.around.join("run/there"))?;
        }
        if begun & 2 != 0 {
            std::os::unix::fs::symlink("sub", self.around.join("run/a"))?;
        }
        if begun & 4 != 0 {
            fs::create_dir_all(self.around.join("run/sub"))?;
        }
        let mut records = Vec::new();
        while let Some(kind) = from.next() {
            let path = self.path(&mut from);
            let content =
                |bytes: &mut dyn Iterator<Item = u8>| Content::New(vec![bytes.next().unwrap_or(0); 2]);
            let was = match kind % 6 {
                0 => Was::Absent,
                1 => Was::Folder { mode: 0o755 },
                2 => Was::Link {
                    target: self.path(&mut from),
                },
                3 => Was::File {
                    mode: 0o644,
                    length: 2,
                    held: Held::Apart(content(&mut from)),
                },
                4 => Was::File {
                    mode: 0o644,
                    length: 2,
                    held: Held::There,
                },
                _ => {
                    records.push(Record::Bytes {
                        path,
                        offset: u64::from(from.next().unwrap_or(0)),
                        content: content(&mut from),
                    });
                    continue;
                }
            };
            records.push(Record::Was { path, was });
        }
        let documents = Folder::at(self.around.join("store"));
        let history = History::read(documents.clone(), RUN, 0)?;
        Log::begin(documents.clone(), RUN, 0, &history, 0)?.add(&records)?;
        let history = History::read(documents, RUN, 0)?;
        let own = Records {
            rank: 0,
            history: &history,
            to: EPOCH,
        };
        let Ok(plan) = Plan::new(&[own], 0, &[]) else {
            return Ok(());
        };
        if plan.is_allowed(&Allowed::below(&self.around.join("run"))).is_ok() {
            // Twice: a restart may have stopped on its way.
            for _ in 0..2 {
                let _ = plan.apply(None);
            }
        }
        self.is_untouched()
    }

    fn is_untouched(&self) -> io::Result<()> {
        let names = |folder: &str| -> io::Result<Vec<String>> {
            let entries = fs::read_dir(self.around.join(folder))?;
            let mut names: Vec<String> = entries
                .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
                .collect::<io::Result<_>>()?;
            names.sort();
            Ok(names)
        };
        assert_eq!(names("")?, ["outside", "run", "store"]);
        assert_eq!(names("outside")?, ["sub", "x.txt"]);
        assert_eq!(names("outside/sub")?, ["x.txt"]);
        for file in ["outside/x.txt", "outside/sub/x.txt"] {
            assert_eq!(fs::read_to_string(self.around.join(file))?, KEPT);
        }
        Ok(())
    }
}
