//! Where a process was started, and where its store was then. A run is moved or copied with its store: where the store is now says
//! where the folder is, also when the one that it was copied from is still there.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{moved, start_folder, start_folder_as_named};

/// Absolute paths; without links, where nothing else is said.
///
/// # Examples
///
/// ```
/// use ckpt::session::Place;
///
/// let place: Place = serde_json::from_str(r#"{"folder": "/home/a/heat", "store": "/home/a/heat/heat.ckpt.d"}"#)?;
/// let now = place.folder_beside("/scratch/heat/heat.ckpt.d".as_ref());
/// assert_eq!(now, std::path::Path::new("/scratch/heat"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The folder that the process was started in.
    pub folder: PathBuf,
    /// The folder of its store.
    pub store: PathBuf,
    /// What the shell called the folder, where that led over links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub named: Option<PathBuf>,
}

impl Place {
    /// That of this process with a store.
    pub(crate) fn of_this_process(store: &Path) -> Place {
        Place {
            folder: start_folder().to_owned(),
            store: without_links(store),
            named: start_folder_as_named().map(Path::to_owned),
        }
    }

    /// Where the folder is now that the store is at `store`, an absolute path without links: where `CKPT_MAP` says so, or else the
    /// store, as it is below the folder, or beside it in one that has moved as a whole.
    pub fn folder_beside(&self, store: &Path) -> PathBuf {
        let said = moved::now(self.folder.clone());
        if said != self.folder || self.store == store {
            return said;
        }
        let common = self
            .folder
            .ancestors()
            .find(|above| self.store.starts_with(above));
        let moved = common.and_then(|common| {
            let theirs = self.store.strip_prefix(common).ok()?;
            let above = without_end(store, theirs)?;
            let below = self.folder.strip_prefix(common).ok()?;
            let is_known = below == Path::new("") || common.parent().is_some() && above.join(below).is_dir();
            is_known.then(|| match below == Path::new("") {
                true => above.to_owned(),
                false => above.join(below),
            })
        });
        moved.unwrap_or(said)
    }

    /// Whether a process that is started in the folder `here` with the store at `store` is started where this one was. One whose folder
    /// is gone may have been moved by itself.
    pub fn is_now(&self, here: &Path, store: &Path) -> bool {
        let (here, store) = (without_links(here), without_links(store));
        let now = self.folder_beside(&store);
        without_links(&now) == here || !now.is_dir()
    }
}

/// What remains of a path without the end that it has.
fn without_end<'p>(path: &'p Path, end: &Path) -> Option<&'p Path> {
    let depth = end.components().count();
    let above = path.ancestors().nth(depth)?;
    (path.ends_with(end) && above.parent().is_some()).then_some(above)
}

/// A path from the folder that the process was started in, as a whole.
pub(crate) fn without_links(path: &Path) -> PathBuf {
    let path = start_folder().join(path);
    fs::canonicalize(&path).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_where_its_store_has_gone_with_it() {
        let scratch = tempfile::tempdir().unwrap();
        let path = |below: &str| scratch.path().join(below);
        fs::create_dir_all(path("q/run/a")).unwrap();
        for (folder, store, now, expected) in [
            ("w0", "w0/x.ckpt.d", "w1/x.ckpt.d", "w1"),
            ("w0", "w0/deep/x.ckpt.d", "w1/deep/x.ckpt.d", "w1"),
            ("w0", "w0/x.ckpt.d", "w0/x.ckpt.d", "w0"),
            // Only the store was moved.
            ("w0", "w0/x.ckpt.d", "stores/y.ckpt.d", "w0"),
            // Ranks, or runs, in folders of their own beside a common store.
            ("p/run/a", "p/run/store", "q/run/store", "q/run/a"),
            ("p/run/b", "p/run/store", "q/run/store", "p/run/b"),
            ("home/run", "scratch/x", "archive/x", "home/run"),
        ] {
            let place = Place {
                folder: path(folder),
                store: path(store),
                named: None,
            };
            assert_eq!(
                place.folder_beside(&path(now)),
                path(expected),
                "{folder} {store} {now}"
            );
        }
    }
}
