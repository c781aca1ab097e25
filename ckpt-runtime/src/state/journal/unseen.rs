//! Files that can be changed without a call: somebody has them mapped into memory, or writes to them by a stream of the C
//! library. They are known by what they are, as their names may change meanwhile.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::names::{add_renamed, id_of};

/// A file by what it is, not by its name.
pub(super) type Id = (u64, u64);

/// The files of one process that can be so.
#[derive(Debug, Default)]
pub(super) struct Unseen {
    files: HashMap<Id, Names>,
    /// Those that were about to be made: what they are is asked later.
    unmade: BTreeSet<PathBuf>,
}

/// What a file is or was called.
#[derive(Debug, Default)]
struct Names {
    paths: BTreeSet<PathBuf>,
    /// It has had several names at a time, of which not all may be here.
    were_several: bool,
}

impl Unseen {
    /// What is at this path, or is about to be made there, can be changed so.
    pub fn add(&mut self, path: PathBuf) {
        match fs::symlink_metadata(&path) {
            Ok(found) => {
                let names = self.files.entry((found.dev(), found.ino())).or_default();
                names.were_several |= found.nlink() > 1;
                names.paths.insert(path);
            }
            Err(_) => drop(self.unmade.insert(path)),
        }
    }

    /// What was to be made may be there now.
    fn find_made(&mut self) {
        let unmade = std::mem::take(&mut self.unmade);
        unmade.into_iter().for_each(|path| self.add(path));
    }

    /// What is at `old`, and below it, is about to be called `new`. It may fail: the names so far stay.
    pub fn is_renamed(&mut self, old: &Path, new: &Path) {
        self.find_made();
        for names in self.files.values_mut() {
            add_renamed(&mut names.paths, old, new);
        }
    }

    /// A file is about to get another name.
    pub fn is_linked(&mut self, id: Id, new: &Path) {
        self.find_made();
        if let Some(names) = self.files.get_mut(&id) {
            names.were_several = true;
            names.paths.insert(new.to_owned());
        }
    }

    /// A file that has no name yet is about to get one: it may be one of those.
    pub fn gets_a_name(&mut self, new: &Path) {
        self.unmade.insert(new.to_owned());
    }

    /// Those that can still be changed so: where each is now, or a former name of one that may be anywhere.
    pub fn now(&mut self) -> Vec<Result<(Id, PathBuf), PathBuf>> {
        self.find_made();
        self.unmade.clear();
        if self.files.is_empty() {
            return Vec::new();
        }
        // Where it cannot be found out, all of them may be.
        let changeable = changeable().ok();
        let is_over = |id: &Id| changeable.as_ref().is_some_and(|all| !all.contains_key(id));
        self.files.retain(|id, _| !is_over(id));
        let mut now = Vec::new();
        for (id, names) in &mut self.files {
            let told = changeable.as_ref().and_then(|all| all.get(id));
            names.paths.extend(told.into_iter().flatten().cloned());
            let mut here = names.paths.iter().filter(|path| id_of(path) == Some(*id));
            match here.next() {
                Some(path) => now.push(Ok((*id, path.clone()))),
                None if names.were_several => now.extend(names.paths.first().cloned().map(Err)),
                // It has been removed.
                None => {}
            }
        }
        now
    }
}

/// What a file says that is not there any more: nothing.
fn unless_gone<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Files that this process can change now, as it has them open for writing, or mapped: with the names that the system has
/// for them, which are those of this moment unless they have been removed.
///
/// # Errors
/// The system does not say.
pub(super) fn changeable() -> io::Result<HashMap<Id, BTreeSet<PathBuf>>> {
    let mut found: HashMap<Id, BTreeSet<PathBuf>> = HashMap::new();
    for entry in fs::read_dir("/proc/self/fd")? {
        let entry = entry?;
        let flags = Path::new("/proc/self/fdinfo").join(entry.file_name());
        let text = unless_gone(fs::read_to_string(flags))?.unwrap_or_default();
        let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
        let writes = flags
            .and_then(|flags| i32::from_str_radix(flags.trim(), 8).ok())
            .is_some_and(|flags| flags & libc::O_ACCMODE != libc::O_RDONLY);
        if writes && let Some(file) = unless_gone(fs::metadata(entry.path()))? {
            let names = found.entry((file.dev(), file.ino())).or_default();
            names.extend(fs::read_link(entry.path()).ok());
        }
    }
    for line in fs::read("/proc/self/maps")?.split(|byte| *byte == b'\n') {
        let Some(mapping) = Mapping::of(line) else {
            continue;
        };
        // Some file systems number their devices in another way here than elsewhere: both count.
        found.entry(mapping.id).or_default();
        for (path, is_as_written) in mapping.paths() {
            if let Some(id) = id_of(&path)
                && (is_as_written || id.1 == mapping.id.1)
            {
                found.entry(id).or_default().insert(path);
            }
        }
    }
    Ok(found)
}

/// What the system says of a file that is mapped so that others see what is written.
#[derive(Debug, PartialEq, Eq)]
struct Mapping {
    id: Id,
    path: Vec<u8>,
}

impl Mapping {
    /// By a line of `/proc/self/maps`.
    fn of(line: &[u8]) -> Option<Mapping> {
        let mut rest = line;
        let mut word = || {
            rest = rest.trim_ascii_start();
            let end = rest.iter().position(|byte| *byte == b' ')?;
            let (word, behind) = rest.split_at(end);
            rest = behind;
            std::str::from_utf8(word).ok()
        };
        let (_, rights, _, device, inode) = (word()?, word()?, word()?, word()?, word()?);
        let path = rest.trim_ascii_start();
        if !rights.ends_with('s') || path.first() != Some(&b'/') {
            return None;
        }
        let (major, minor) = device.split_once(':')?;
        let number = |text: &str| u32::from_str_radix(text, 16).ok();
        let device = rustix::fs::makedev(number(major)?, number(minor)?);
        Some(Mapping {
            id: (device, inode.parse().ok()?),
            path: path.to_owned(),
        })
    }

    /// The names that this may stand for, and whether it is as it is written: a line end is written as a number, and what is
    /// behind the name of a file that was removed may be a part of a name.
    fn paths(&self) -> Vec<(PathBuf, bool)> {
        const REMOVED: &[u8] = b" (deleted)";
        let mut forms = vec![(self.path.clone(), true)];
        let decoded = decoded(&self.path);
        if decoded != self.path {
            forms.push((decoded, false));
        }
        let kept: Vec<Vec<u8>> = forms
            .iter()
            .filter_map(|(form, _)| form.strip_suffix(REMOVED).map(<[u8]>::to_vec))
            .collect();
        forms.extend(kept.into_iter().map(|form| (form, false)));
        let path = |(form, is_as_written)| (PathBuf::from(OsString::from_vec(form)), is_as_written);
        forms.into_iter().map(path).collect()
    }
}

/// A path with its line ends, which the system writes as `\012`.
fn decoded(path: &[u8]) -> Vec<u8> {
    const LINE_END: &[u8] = b"\\012";
    let mut decoded = Vec::with_capacity(path.len());
    let mut rest = path;
    while let Some(byte) = rest.first() {
        match rest.strip_prefix(LINE_END) {
            Some(behind) => {
                decoded.push(b'\n');
                rest = behind;
            }
            None => {
                decoded.push(*byte);
                rest = &rest[1..];
            }
        }
    }
    decoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_mappings_are_read() {
        let line = b"7f00-7f01 rw-s 00001000 08:0a 77                         /tmp/a b\\012c (deleted)";
        let mapping = Mapping::of(line).unwrap();
        assert_eq!(mapping.id, (rustix::fs::makedev(8, 10), 77));
        let paths = mapping.paths().into_iter();
        let paths: Vec<String> = paths.map(|(path, _)| path.display().to_string()).collect();
        assert_eq!(
            paths,
            [
                "/tmp/a b\\012c (deleted)",
                "/tmp/a b\nc (deleted)",
                "/tmp/a b\\012c",
                "/tmp/a b\nc",
            ]
        );
        for other in [
            &b"7f00-7f01 rw-p 00001000 08:0a 77   /tmp/a"[..],
            b"7f00-7f01 rw-s 00000000 00:00 0    [anon_shmem]",
            b"7f00-7f01 rw-s 00000000 00:00 0",
            b"",
        ] {
            assert_eq!(Mapping::of(other), None);
        }
    }

    #[test]
    fn a_mapped_file_is_found_under_the_name_that_it_has() {
        let folder = tempfile::tempdir().unwrap();
        let old = folder.path().join("old");
        let new = folder.path().join("a new\nname (deleted)");
        fs::write(&old, [0; 4096]).unwrap();
        let file = fs::File::options().read(true).write(true).open(&old).unwrap();
        let id = id_of(&old).unwrap();
        // SAFETY: a new mapping, which is not looked at.
        let at = unsafe {
            use rustix::mm::{MapFlags, ProtFlags, mmap};
            let rights = ProtFlags::READ | ProtFlags::WRITE;
            mmap(std::ptr::null_mut(), 4096, rights, MapFlags::SHARED, &file, 0).unwrap()
        };
        drop(file);
        let names = |id: &Id| changeable().unwrap().get(id).cloned();
        assert_eq!(names(&id), Some(BTreeSet::from([old.clone()])));
        fs::rename(&old, &new).unwrap();
        assert_eq!(names(&id), Some(BTreeSet::from([new.clone()])));
        let third = folder.path().join("third");
        fs::hard_link(&new, &third).unwrap();
        fs::remove_file(&new).unwrap();
        assert!(names(&id).is_some());
        // SAFETY: the mapping from above.
        unsafe { rustix::mm::munmap(at, 4096).unwrap() };
        assert_eq!(names(&id), None);
    }
}
