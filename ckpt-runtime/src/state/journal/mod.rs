//! Files that the program changes and closes again between two sites: no variable of a checkpoint holds them.
//!
//! Most need nothing: a file that is written anew is written anew after a restart as well. This module keeps those for
//! which that is not so: files that grow (opened to append, or without being cut), that are read and then written over,
//! created where there must be none, removed or renamed. What such a file was before the run first touched it goes into
//! `STORE/files.log` before it is touched; what it is at a checkpoint goes into the checkpoint. So a restart can bring it
//! back to any checkpoint: to what the checkpoint says, or, if that does not know the file yet, to what the log says.

mod interposition;
mod log;

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::{CStr, OsStr};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::snapshot::SnapshotBuilder;
use super::source::{Recorded, StateSource};
use super::statics::Place;
use crate::base::current::{self, FileObserver};
use crate::base::documents::Documents;
use crate::base::lock::locked;
use crate::base::report::{Fatal, headline};
use crate::handles::{LARGEST_CONTENT, moved, start_folder};
use crate::value::{Checkpoint, Decoder, Encoder, LoadError};
use log::{Log, Was};

/// The name under which a checkpoint holds them, among the statics of the program.
pub(crate) const KEY: &str = "ckpt::files";

/// How much of a file a checkpoint keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keeps {
    /// It only grows: what it was up to its length does not change.
    Length,
    /// All of it.
    Content,
}

/// What a session knows of the files that its program has touched.
#[derive(Debug)]
struct Watch {
    /// The folder of the session, as it was named and as it is.
    store: [PathBuf; 2],
    log: Log,
    /// Files that have been opened to read them.
    read: HashSet<PathBuf>,
    /// Files that were not there before, with the number of checkpoints that had been begun by then.
    made: HashMap<PathBuf, u64>,
    begun: u64,
    kept: BTreeMap<PathBuf, Keeps>,
    /// Length and time of change when a file was last brought to the disk.
    synced: HashMap<PathBuf, (u64, i64, i64)>,
    /// Why the files cannot be brought back any more.
    problem: Option<String>,
}

/// The files that the program changes, from the beginning of a session to its end.
#[derive(Debug)]
pub(crate) struct Journal {
    watch: Arc<Shared>,
    /// Whether files can be watched at all.
    sees_files: bool,
}

/// What functions of the C library reach as well. A leaf lock: nothing of the program is called while it is held.
#[derive(Debug)]
struct Shared(Mutex<Watch>);

thread_local! {
    /// Set while this module itself opens files. Of the thread, whatever session there is.
    static OWN: Cell<bool> = const { Cell::new(false) };
}

/// Who is to hear of what the program does to its files now.
fn observer() -> Option<Arc<dyn FileObserver>> {
    match OWN.get() {
        true => None,
        false => current::observer(),
    }
}

impl Shared {
    /// With the watch; what is opened meanwhile is ckpt's own business.
    fn with<R>(&self, act: impl FnOnce(&mut Watch) -> R) -> R {
        OWN.set(true);
        let result = act(&mut locked(&self.0));
        OWN.set(false);
        result
    }
}

impl Journal {
    /// A session begins. A restart watches from its arrival on, any other run at once.
    pub fn begin(store: &Path, documents: Arc<dyn Documents>, rank: u32, is_restart: bool) -> Journal {
        let sees_files = interposition::is_used();
        let named = start_folder().join(store);
        let store = [fs::canonicalize(&named).unwrap_or_else(|_| named.clone()), named];
        let log = Log::new(documents, rank);
        if !is_restart {
            log.forget();
        }
        let watch = Arc::new(Shared(Mutex::new(Watch {
            store,
            log,
            read: HashSet::new(),
            made: HashMap::new(),
            begun: 0,
            kept: BTreeMap::new(),
            synced: HashMap::new(),
            problem: None,
        })));
        let observer: Arc<dyn FileObserver> = watch.clone();
        current::observe_with(Some(observer));
        current::observe(!is_restart);
        Journal { watch, sees_files }
    }

    /// Whether files can be watched at all.
    pub fn sees_files(&self) -> bool {
        self.sees_files
    }

    /// The restart has arrived: the files become what they were at its checkpoint.
    ///
    /// # Errors
    /// Which file cannot be brought back, and why.
    pub fn arrive(&self, restored: &dyn Recorded) -> Result<(), LoadError> {
        let closed = Closed(&self.watch);
        if restored.names().contains(&KEY) {
            restored.put_back(KEY, &closed)?;
        } else {
            closed.bring_back(Vec::new()).map_err(LoadError::invalid)?;
        }
        current::observe(true);
        Ok(())
    }
}

impl StateSource for Journal {
    fn save(&mut self, to: &mut SnapshotBuilder) -> Result<(), Fatal> {
        let has_any = self.watch.with(|watch| {
            watch.begun += 1;
            !watch.kept.is_empty() || watch.problem.is_some()
        });
        if has_any {
            to.global(KEY, "files", &Closed(&self.watch));
        }
        Ok(())
    }

    /// Those that are open become what they were, then those that are closed.
    fn restore(&mut self, from: &dyn Recorded) -> Result<(), Fatal> {
        let settled = from.settle_files().and_then(|()| self.arrive(from));
        settled.map_err(|error| Fatal::refused(headline!("E2029: {error}")).help(FILES_NEEDED))
    }
}

const FILES_NEEDED: &str =
    "the program goes on writing where it was: it needs its output files, and the right to change them";

impl FileObserver for Shared {
    fn before_open(&self, path: &CStr, flags: libc::c_int) {
        self.with(|watch| {
            let Some(path) = absolute(path, &watch.store) else {
                return;
            };
            match flags & libc::O_ACCMODE {
                libc::O_RDONLY => {
                    watch.read.insert(path);
                }
                access => watch.before_change(path, access == libc::O_RDWR, flags),
            }
        });
    }

    fn before_removal(&self, path: &CStr) {
        self.with(|watch| {
            if let Some(path) = absolute(path, &watch.store) {
                watch.before_removal(path);
            }
        });
    }

    fn before_replacement(&self, path: &CStr) {
        self.with(|watch| {
            if let Some(path) = absolute(path, &watch.store) {
                watch.before_replacement(path);
            }
        });
    }
}

/// The path as the program means it now, if it is a file that may matter.
fn absolute(path: &CStr, store: &[PathBuf]) -> Option<PathBuf> {
    let path = Path::new(OsStr::from_bytes(path.to_bytes()));
    let path = std::path::absolute(path).ok()?;
    let others = ["/proc", "/sys", "/dev"].map(Path::new).into_iter();
    let mut others = others.chain(store.iter().map(PathBuf::as_path));
    (!others.any(|root| path.starts_with(root))).then_some(path)
}

impl Watch {
    fn before_change(&mut self, path: PathBuf, reads: bool, flags: libc::c_int) {
        let has = |flag| flags & flag != 0;
        if has(libc::O_TRUNC) {
            return self.before_replacement(path);
        }
        if self.kept.get(&path) == Some(&Keeps::Content) {
            return;
        }
        let length = match length_of(&path) {
            Ok(length) => length,
            Err(_) => return,
        };
        // What is only added is cut off again; what is changed in place may be read before it is changed again.
        let in_place = !has(libc::O_APPEND) && (reads || self.read.contains(&path));
        match length {
            Some(_) if in_place => self.keep(path, Keeps::Content),
            None if !has(libc::O_CREAT) => {}
            _ if !self.kept.contains_key(&path) => self.keep(path, Keeps::Length),
            _ => {}
        }
    }

    /// What replaces the whole file does so after a restart as well: it matters only if the program looks at the old one.
    fn before_replacement(&mut self, path: PathBuf) {
        match length_of(&path) {
            Ok(None) => {
                self.made.insert(path, self.begun);
            }
            Ok(Some(_)) if self.read.contains(&path) || self.kept.contains_key(&path) => {
                self.keep(path, Keeps::Content);
            }
            _ => {}
        }
    }

    fn before_removal(&mut self, path: PathBuf) {
        let is_new = self.made.get(&path) == Some(&self.begun) && !self.kept.contains_key(&path);
        if !is_new && matches!(length_of(&path), Ok(Some(_))) {
            self.keep(path, Keeps::Content);
        }
    }

    /// Notes what the file is now, and keeps it from here on.
    fn keep(&mut self, path: PathBuf, keeps: Keeps) {
        let before = self.kept.get(&path);
        if before == Some(&Keeps::Content) || before == Some(&keeps) {
            return;
        }
        let noted = look(&path, keeps).and_then(|was| {
            self.log
                .add(&relative(&path), &was)
                .map_err(|error| format!("what `{}` was cannot be written down: {error}", path.display()))
        });
        match noted {
            Ok(()) => {
                self.kept.insert(path, keeps);
            }
            Err(why) => self.problem = Some(why),
        }
    }
}

/// The length of a file, if there is one.
///
/// # Errors
/// There is something else at the path.
fn length_of(path: &Path) -> io::Result<Option<u64>> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() => Ok(Some(found.len())),
        Ok(_) => Err(io::ErrorKind::InvalidInput.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// What a file is now.
fn look(path: &Path, keeps: Keeps) -> Result<Was, String> {
    let failed = |error: io::Error| {
        format!(
            "the file `{}`, which the program changes, cannot be read: {error}",
            path.display()
        )
    };
    match (length_of(path).map_err(failed)?, keeps) {
        (None, _) => Ok(Was::Absent),
        (Some(length), Keeps::Length) => Ok(Was::Length(length)),
        (Some(length), Keeps::Content) if length > LARGEST_CONTENT => Err(format!(
            "the program reads the file `{}` and writes it again, or removes it, and it has {length} bytes; ckpt keeps the bytes of such a file up to {LARGEST_CONTENT}; keep what it holds in a variable, or give every version a name of its own",
            path.display()
        )),
        (Some(_), Keeps::Content) => fs::read(path).map(Was::Content).map_err(failed),
    }
}

/// Relative to the folder that the program was started in, if it lies below it.
fn relative(path: &Path) -> PathBuf {
    path.strip_prefix(start_folder()).unwrap_or(path).to_owned()
}

/// The kept files as a checkpoint has them.
struct Closed<'a>(&'a Shared);

impl Place for Closed<'_> {
    fn save(&self, to: &mut Encoder<'_>) {
        let files = self.0.with(|watch| watch.files(to));
        match files {
            Ok(files) => files.save(to),
            Err(why) => to.fail(why),
        }
    }

    fn restore(&self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
        self.bring_back(Vec::load(from)?).map_err(LoadError::invalid)
    }
}

impl Watch {
    /// What the files are now; those that have changed are brought to the disk with the checkpoint.
    fn files(&mut self, to: &mut Encoder<'_>) -> Result<Vec<Kept>, String> {
        if let Some(problem) = &self.problem {
            return Err(problem.clone());
        }
        let mut files = Vec::with_capacity(self.kept.len());
        for (path, &keeps) in &self.kept {
            let was = look(path, keeps)?;
            if was != Was::Absent
                && let Ok(file) = File::open(path)
                && let Ok(metadata) = file.metadata()
            {
                let state = (metadata.len(), metadata.mtime(), metadata.mtime_nsec());
                if self.synced.insert(path.clone(), state) != Some(state) {
                    to.objects().files.written_elsewhere(file, metadata, path);
                }
            }
            files.push(Kept {
                path: relative(path),
                grows: keeps == Keeps::Length,
                was,
            });
        }
        Ok(files)
    }
}

/// One file of a checkpoint.
#[derive(Debug)]
struct Kept {
    path: PathBuf,
    grows: bool,
    was: Was,
}

const NAMES: &[Cow<'static, str>] = &[
    Cow::Borrowed("path"),
    Cow::Borrowed("grows"),
    Cow::Borrowed("length"),
    Cow::Borrowed("content"),
];

impl Checkpoint for Kept {
    fn save(&self, to: &mut Encoder<'_>) {
        let (length, content) = match &self.was {
            Was::Absent => (None, None),
            Was::Length(length) => (Some(*length), None),
            Was::Content(bytes) => (Some(bytes.len() as u64), Some(bytes.clone())),
        };
        self.path.save(&mut to.field(NAMES, 0));
        self.grows.save(&mut to.field(NAMES, 1));
        length.save(&mut to.field(NAMES, 2));
        content.save(&mut to.field(NAMES, 3));
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        let path = from.field(&["path"])?;
        let grows = from.field(&["grows"])?;
        let length: Option<u64> = from.field(&["length"])?;
        let was = match (length, from.field(&["content"])?) {
            (_, Some(bytes)) => Was::Content(bytes),
            (Some(length), None) => Was::Length(length),
            (None, None) => Was::Absent,
        };
        Ok(Kept { path, grows, was })
    }
}

impl Closed<'_> {
    /// Brings all files back: those that the checkpoint has, and those that the run has touched since.
    fn bring_back(&self, saved: Vec<Kept>) -> Result<(), String> {
        self.0.with(|watch| {
            watch.log.move_paths(moved::now)?;
            let log = watch.log.read()?;
            let known: HashSet<&Path> = saved.iter().map(|kept| kept.path.as_path()).collect();
            let mut first: BTreeMap<&Path, &Was> = BTreeMap::new();
            for (path, was) in &log {
                first.entry(path).or_insert(was);
            }
            let touched_since = first.into_iter().filter(|(path, _)| !known.contains(path));
            let all = saved.iter().map(|kept| (kept.path.as_path(), &kept.was));
            for (path, was) in all.chain(touched_since) {
                // One that only grew, and was then replaced: the log has what it had grown to.
                let grown = log.iter().find_map(|(other, then)| match (then, was) {
                    (Was::Content(bytes), Was::Length(length)) if other == path => {
                        bytes.get(..*length as usize)
                    }
                    _ => None,
                });
                restore(path, was, grown)?;
            }
            for kept in &saved {
                let keeps = if kept.grows { Keeps::Length } else { Keeps::Content };
                watch.kept.insert(start_folder().join(&kept.path), keeps);
            }
            Ok(())
        })
    }
}

/// Makes a file what it was.
fn restore(path: &Path, was: &Was, grown: Option<&[u8]>) -> Result<(), String> {
    let full = start_folder().join(path);
    let shown = path.display();
    let failed = |error: io::Error| format!("`{shown}` cannot be brought back to what it was: {error}");
    let is_there = length_of(&full).map_err(failed)?;
    match (was, grown) {
        (Was::Absent, _) if is_there.is_none() => Ok(()),
        (Was::Absent, _) => fs::remove_file(&full).map_err(failed),
        (Was::Content(bytes), _) => write(&full, bytes).map_err(failed),
        (Was::Length(_), Some(bytes)) => write(&full, bytes).map_err(failed),
        (Was::Length(length), None) => match is_there {
            Some(now) if now == *length => Ok(()),
            Some(now) if now > *length => {
                let file = File::options().write(true).open(&full);
                file.and_then(|file| file.set_len(*length)).map_err(failed)
            }
            now => Err(format!(
                "the file `{shown}` has {} bytes now and had {length} at the checkpoint; put it back as it was, or restart from an older checkpoint",
                now.unwrap_or(0)
            )),
        },
    }
}

/// Replaces the bytes of a file, which stays the same file for those who have it open.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::read(path).is_ok_and(|now| now == bytes) {
        return Ok(());
    }
    let mut file = File::create(path)?;
    file.write_all(bytes)
}
