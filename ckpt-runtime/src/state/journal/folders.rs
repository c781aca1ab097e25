//! Which folder the paths of a journal are relative to. A run can be moved with its files, so paths below the folder that it was
//! started in are kept relative to it; every part says which folder that was. Ranks may be started in folders of their
//! own, and so may other runs of the store: the same name stands for another file there.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::log::History;
use super::record::Record;
use crate::handles::{Place, start_folder};

/// The folders that this rank of this run was started in, here and before it was moved: they are one.
#[derive(Debug)]
pub(super) struct Folders {
    own: BTreeSet<PathBuf>,
    /// Where the store is now.
    store: PathBuf,
}

impl Folders {
    /// Those of a rank, by its journal.
    pub fn of(history: &History) -> Folders {
        let before = history.folders().map(Path::to_owned);
        Folders {
            own: before.chain([start_folder().to_owned()]).collect(),
            store: history.store(),
        }
    }

    /// A record of another rank or run that was started in a folder, with its store in another, if that is known: with its path as this
    /// rank writes it.
    pub fn own<'r>(&self, record: &'r Record, started_in: Option<(&Path, Option<&Path>)>) -> Cow<'r, Record> {
        // The folder that it has become, where it was moved or copied with the store.
        let now = started_in.map(|(folder, store)| now_of(folder, store, &self.store));
        let elsewhere = now.filter(|now| !self.own.contains(now));
        let (Some(folder), Some(path)) = (elsewhere, record.path()) else {
            return Cow::Borrowed(record);
        };
        let full = folder.join(path);
        let below = self.own.iter().find_map(|own| full.strip_prefix(own).ok());
        let own = below.filter(|below| *below != Path::new("")).unwrap_or(&full);
        Cow::Owned(record.clone().at(own.to_owned()))
    }
}

/// Where the folder is that a process was started in when its store was at `store`, if that is known, which is `now` elsewhere.
pub(super) fn now_of(folder: &Path, store: Option<&Path>, now: &Path) -> PathBuf {
    let place = Place {
        folder: folder.to_owned(),
        store: store.unwrap_or(now).to_owned(),
        named: None,
    };
    place.folder_beside(now)
}

#[cfg(test)]
mod tests {
    use super::super::record::Was;
    use super::*;

    #[test]
    fn a_name_stands_for_the_file_of_the_rank_that_wrote_it() {
        let folders = Folders {
            own: ["/a/0", "/b/0"].map(PathBuf::from).into(),
            store: "/a/0/s".into(),
        };
        let path = |path: &str, started_in: Option<&str>| {
            let started_in = started_in.map(|text| match text.split_once(' ') {
                Some((folder, store)) => (Path::new(folder), Some(Path::new(store))),
                None => (Path::new(text), None),
            });
            let record = Record::Was {
                path: path.into(),
                was: Was::Absent,
            };
            let own = folders.own(&record, started_in);
            own.path().map(|path| path.display().to_string())
        };
        let expected = |path: &str| Some(path.to_owned());
        // Of before journals said it.
        assert_eq!(path("f", None), expected("f"));
        assert_eq!(path("f", Some("/a/0")), expected("f"));
        assert_eq!(path("f", Some("/b/0")), expected("f"));
        assert_eq!(path("f", Some("/a/1")), expected("/a/1/f"));
        assert_eq!(path("0/f", Some("/a")), expected("f"));
        assert_eq!(path("f", Some("/a/0/d")), expected("d/f"));
        assert_eq!(path("/c/f", Some("/a/1")), expected("/c/f"));
        assert_eq!(path("/b/0/f", Some("/a/1")), expected("f"));
        // It was moved, or copied, with its store.
        assert_eq!(path("f", Some("/c/0 /c/0/s")), expected("f"));
        assert_eq!(path("f", Some("/c/0 /c/0/t")), expected("/c/0/f"));
    }
}
