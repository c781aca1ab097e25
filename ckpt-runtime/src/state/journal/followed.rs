//! Links by which the program gets out of its folder to what it changes: `out`, which leads to `/scratch/out`. The journal names files
//! where they really are. Whoever moves them and turns the link has to say so: what the program does by the link is done in the
//! new place, what the journal says in the old one.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use crate::base::changes::At;
use crate::handles::{Links, moved, real_among, start_folder};

/// So many ways are remembered, and so many links.
const MOST: usize = 1024;

/// What is below these folders is the system's, and leads to something else in each process.
const OF_THE_SYSTEM: [&str; 3] = ["/proc", "/sys", "/dev"];

/// The links, each with where it leads.
#[derive(Debug, Default)]
pub(super) struct Followed {
    /// Below the folder that the program was started in they are relative to it.
    links: BTreeMap<PathBuf, PathBuf>,
    /// Folders, as the program has named them, whose links are known.
    known: HashSet<PathBuf>,
}

impl Followed {
    /// Those that a note has.
    pub fn noted(text: &str) -> Followed {
        Followed {
            links: serde_json::from_str(text).unwrap_or_default(),
            known: HashSet::new(),
        }
    }

    /// The note of a checkpoint; none where there are no links, or one is no text.
    pub fn note(&mut self) -> Option<String> {
        self.links.retain(|link, leads| {
            let now = fs::canonicalize(start_folder().join(link));
            now.map(|now| *leads = now).is_ok()
        });
        let text = serde_json::to_string(&self.links).ok()?;
        (!self.links.is_empty()).then_some(text)
    }

    /// The program is about to change what it has named so, and what is really there.
    pub fn is_named(&mut self, at: At<'_>, really: &Path) {
        let path = Path::new(OsStr::from_bytes(at.path.to_bytes()));
        if really.starts_with(start_folder()) || path.is_relative() && at.folder != libc::AT_FDCWD {
            return;
        }
        let Ok(path) = std::path::absolute(path) else {
            return;
        };
        if path == really || OF_THE_SYSTEM.iter().any(|folder| path.starts_with(folder)) {
            return;
        }
        let is_link = at.follows && path.is_symlink();
        let way = match path.parent() {
            Some(folder) if !is_link => folder.to_owned(),
            _ => path,
        };
        if self.known.len() >= MOST {
            self.known.clear();
        }
        if self.known.insert(way.clone()) {
            self.follow(&way);
        }
    }

    fn follow(&mut self, way: &Path) {
        let mut here = PathBuf::new();
        for part in way.components() {
            match part {
                Component::ParentDir => drop(here.pop()),
                part => here.push(part),
            }
            if !here.is_symlink() {
                continue;
            }
            let Ok(leads) = fs::canonicalize(&here) else {
                return;
            };
            if !leads.starts_with(start_folder()) && self.links.len() < MOST {
                let link = here.strip_prefix(start_folder()).unwrap_or(&here);
                self.links.insert(link.to_owned(), leads.clone());
            }
            here = leads;
        }
    }

    /// Whether each link leads where it did, or where that is now, once those that are `coming` are made.
    ///
    /// # Errors
    /// One leads elsewhere, and nobody has said that the files behind it are there now.
    pub fn lead_where_they_did(&self, coming: &Links) -> Result<(), String> {
        for (link, then) in &self.links {
            let expected = moved::now(then.clone());
            let now = real_among(&start_folder().join(moved::now(link.clone())), coming);
            if now == real_among(&expected, coming) {
                continue;
            }
            let (link, then, now) = (link.display(), then.display(), now.display());
            return Err(format!(
                "`{link}` led to `{then}` at the checkpoint, and leads to `{now}` now: the run's files are taken for those behind the one, and its program goes on with those behind the other; make the link lead where it did, or, where all that was behind it is there now, say so: `--map {then}={now}` (CKPT_MAP)"
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_link_that_leads_elsewhere_is_found() {
        let scratch = tempfile::tempdir().unwrap();
        let scratch = fs::canonicalize(scratch.path()).unwrap();
        for name in ["disk1/out", "disk2/out"] {
            fs::create_dir_all(scratch.join(name)).unwrap();
        }
        let link = scratch.join("out");
        symlink(scratch.join("disk1/out"), &link).unwrap();
        let named = CString::new(link.join("f").as_os_str().as_bytes()).unwrap();
        let at = At {
            folder: libc::AT_FDCWD,
            path: &named,
            follows: true,
        };
        let mut followed = Followed::default();
        followed.is_named(at, &scratch.join("disk1/out/f"));
        let text = followed.note().unwrap();
        let followed = Followed::noted(&text);
        assert_eq!(followed.lead_where_they_did(&Links::new()), Ok(()));
        fs::remove_file(&link).unwrap();
        symlink(scratch.join("disk2/out"), &link).unwrap();
        let refused = followed.lead_where_they_did(&Links::new()).unwrap_err();
        assert!(
            refused.contains("disk2/out` now") && refused.contains("--map"),
            "{refused}"
        );
        // The program itself has turned it, and that is undone.
        let coming = Links::from([(link, Some(scratch.join("disk1/out")))]);
        assert_eq!(followed.lead_where_they_did(&coming), Ok(()));
    }
}
