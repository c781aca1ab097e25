//! A disk that keeps apart what has been synced, and what it may be after a power cut.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

use super::record::{Name, Node, Operation, ROOT};
use crate::program::Tree;

/// What is written at once or not at all.
const SECTOR: usize = 512;

/// What of that which was not synced is on the disk after a cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Survives {
    /// Nothing.
    Nothing,
    /// The bytes of files, and no names.
    Bytes,
    /// Names, and no bytes.
    Names,
    /// Names and lengths; what was written reads as zeros.
    Lengths,
    /// All of it.
    All,
    /// Some, chosen at random: every sector and every length as it was at some moment since the last sync, any names.
    Some(u64),
}

impl Survives {
    /// Those that are not random.
    pub const PLAIN: [Survives; 5] = [
        Survives::Nothing,
        Survives::Bytes,
        Survives::Names,
        Survives::Lengths,
        Survives::All,
    ];
}

/// A change of the bytes of a file.
#[derive(Debug, Clone)]
enum Change {
    Bytes { at: usize, bytes: Vec<u8> },
    Length(usize),
}

impl Change {
    fn make(&self, content: &mut Vec<u8>) {
        match self {
            Change::Length(length) => content.resize(*length, 0),
            Change::Bytes { at, bytes } => {
                let end = at + bytes.len();
                if content.len() < end {
                    content.resize(end, 0);
                }
                content[*at..end].copy_from_slice(bytes);
            }
        }
    }
}

#[derive(Debug, Default, Clone)]
struct File {
    is_folder: bool,
    synced: Vec<u8>,
    pending: Vec<Change>,
}

/// The disk.
#[derive(Debug, Default)]
pub struct Disk {
    files: HashMap<Node, File>,
    names: BTreeMap<Name, Node>,
    pending: Vec<Vec<(Name, Option<Node>)>>,
}

impl Disk {
    /// Something is done.
    pub fn make(&mut self, operation: &Operation) {
        match operation {
            Operation::Said(_) => {}
            Operation::Made { node, is_folder } => {
                let file = File {
                    is_folder: *is_folder,
                    ..File::default()
                };
                self.files.insert(*node, file);
            }
            Operation::Named(names) => self.pending.push(names.clone()),
            Operation::Wrote { file, at, bytes } => {
                let change = Change::Bytes {
                    at: *at as usize,
                    bytes: bytes.clone(),
                };
                self.files.entry(*file).or_default().pending.push(change);
            }
            Operation::Resized { file, length } => {
                let change = Change::Length(*length as usize);
                self.files.entry(*file).or_default().pending.push(change);
            }
            Operation::Synced(node) => self.sync(*node),
        }
    }

    fn sync(&mut self, node: Node) {
        let is_of = |names: &[(Name, Option<Node>)]| names.iter().any(|((folder, _), _)| *folder == node);
        let chosen = self.pending.iter().map(|names| is_of(names)).collect();
        let chosen = self.with_earlier(chosen);
        for (names, _) in self.pending.iter().zip(&chosen).filter(|(_, chosen)| **chosen) {
            rename(&mut self.names, names);
        }
        let mut chosen = chosen.into_iter();
        self.pending.retain(|_| !chosen.next().unwrap_or(false));
        if let Some(file) = self.files.get_mut(&node) {
            for change in std::mem::take(&mut file.pending) {
                change.make(&mut file.synced);
            }
        }
    }

    /// What is done to a name is done after all that was done to it before.
    fn with_earlier(&self, mut chosen: Vec<bool>) -> Vec<bool> {
        let mut needed = BTreeSet::new();
        for at in (0..self.pending.len()).rev() {
            let names = || self.pending[at].iter().map(|(name, _)| name);
            chosen[at] |= names().any(|name| needed.contains(name));
            if chosen[at] {
                needed.extend(names());
            }
        }
        chosen
    }

    /// All that is found after a cut.
    pub fn after_cut(&self, survives: Survives) -> Tree {
        let mut random = fastrand::Rng::with_seed(match survives {
            Survives::Some(seed) => seed,
            _ => 0,
        });
        let chosen = self.pending.iter().map(|_| match survives {
            Survives::Nothing | Survives::Bytes => false,
            Survives::Names | Survives::Lengths | Survives::All => true,
            Survives::Some(_) => random.bool(),
        });
        let chosen = self.with_earlier(chosen.collect());
        let mut names = self.names.clone();
        for (changes, _) in self.pending.iter().zip(chosen).filter(|(_, chosen)| *chosen) {
            rename(&mut names, changes);
        }
        let mut tree = Tree::new();
        let mut waiting = vec![(ROOT, PathBuf::new())];
        while let Some((folder, path)) = waiting.pop() {
            for ((_, name), node) in names.iter().filter(|((of, _), _)| *of == folder) {
                let path = path.join(name);
                let Some(file) = self.files.get(node) else {
                    continue;
                };
                if file.is_folder {
                    waiting.push((*node, path.clone()));
                    tree.insert(path, None);
                } else {
                    tree.insert(path, Some(file.after_cut(survives, &mut random)));
                }
            }
        }
        tree
    }
}

fn rename(names: &mut BTreeMap<Name, Node>, changes: &[(Name, Option<Node>)]) {
    for (name, node) in changes {
        match node {
            Some(node) => names.insert(name.clone(), *node),
            None => names.remove(name),
        };
    }
}

impl File {
    fn after_cut(&self, survives: Survives, random: &mut fastrand::Rng) -> Vec<u8> {
        let mut now = self.synced.clone();
        match survives {
            Survives::Nothing | Survives::Names => return now,
            Survives::Bytes | Survives::All => {
                self.pending.iter().for_each(|change| change.make(&mut now));
                return now;
            }
            Survives::Lengths => {
                let length = self.lengths().last().copied().unwrap_or(now.len());
                now.resize(length, 0);
                return now;
            }
            Survives::Some(_) => {}
        }
        if self.pending.is_empty() {
            return now;
        }
        let lengths = self.lengths();
        let longest = lengths.iter().copied().max().unwrap_or(0).max(now.len());
        // When each sector was last written to the disk: before any change, or after one of them. Often it is the same for all.
        let moments = self.pending.len() + 1;
        let together = random.bool().then(|| random.usize(..moments));
        let mut sectors: Vec<Vec<usize>> = vec![Vec::new(); moments];
        for sector in 0..longest.div_ceil(SECTOR) {
            let moment = match together {
                Some(moment) if random.u8(..8) > 0 => moment,
                _ => random.usize(..moments),
            };
            sectors[moment].push(sector);
        }
        let mut found = vec![0; longest];
        for (moment, sectors) in sectors.iter().enumerate() {
            if let Some(change) = moment.checked_sub(1) {
                self.pending[change].make(&mut now);
            }
            for sector in sectors {
                let from = (sector * SECTOR).min(now.len());
                let to = (from + SECTOR).min(now.len());
                found[from..to].copy_from_slice(&now[from..to]);
            }
        }
        let length = match random.usize(..moments) {
            0 => self.synced.len(),
            moment => lengths[moment - 1],
        };
        found.truncate(length);
        found.resize(length, 0);
        found
    }

    /// Its length after each change.
    fn lengths(&self) -> Vec<usize> {
        let mut length = self.synced.len();
        let lengths = self.pending.iter().map(|change| {
            length = match change {
                Change::Length(now) => *now,
                Change::Bytes { at, bytes } => length.max(at + bytes.len()),
            };
            length
        });
        lengths.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(name: &str) -> Name {
        (ROOT, name.into())
    }

    /// A file of three bytes that has been synced, and its name with it.
    fn begun() -> Disk {
        let mut disk = Disk::default();
        let (node, bytes) = (Node(1), b"old".to_vec());
        disk.make(&Operation::Made {
            node,
            is_folder: false,
        });
        disk.make(&Operation::Named(vec![(name("a"), Some(node))]));
        disk.make(&Operation::Wrote {
            file: node,
            at: 0,
            bytes,
        });
        disk.make(&Operation::Synced(node));
        disk
    }

    fn found(disk: &Disk, survives: Survives) -> Vec<(String, String)> {
        let tree = disk.after_cut(survives).into_iter();
        let shown = tree.map(|(path, bytes)| {
            let bytes = bytes.unwrap_or_default();
            (
                path.display().to_string(),
                String::from_utf8_lossy(&bytes).into_owned(),
            )
        });
        shown.collect()
    }

    #[test]
    fn a_name_is_safe_when_its_folder_is() {
        let mut disk = begun();
        assert_eq!(found(&disk, Survives::Nothing), []);
        assert_eq!(found(&disk, Survives::Names), [("a".into(), "old".into())]);
        disk.make(&Operation::Synced(ROOT));
        assert_eq!(found(&disk, Survives::Nothing), [("a".into(), "old".into())]);
    }

    #[test]
    fn bytes_that_were_not_synced_may_be_there_or_not() {
        let mut disk = begun();
        disk.make(&Operation::Synced(ROOT));
        let bytes = b"new one".to_vec();
        disk.make(&Operation::Wrote {
            file: Node(1),
            at: 0,
            bytes,
        });
        assert_eq!(found(&disk, Survives::Names)[0].1, "old");
        assert_eq!(found(&disk, Survives::Lengths)[0].1, "old\0\0\0\0");
        assert_eq!(found(&disk, Survives::Bytes)[0].1, "new one");
        let some: BTreeSet<String> = (0..200)
            .map(|seed| found(&disk, Survives::Some(seed))[0].1.clone())
            .collect();
        let possible = ["old", "new", "new one", "old\0\0\0\0"].map(str::to_owned);
        assert!(some.iter().all(|found| possible.contains(found)), "{some:?}");
        assert!(some.len() > 2, "{some:?}");
    }

    #[test]
    fn a_rename_is_whole_and_comes_after_what_was_done_to_its_names() {
        let mut disk = begun();
        disk.make(&Operation::Named(vec![
            (name("a"), None),
            (name("b"), Some(Node(1))),
        ]));
        for seed in 0..50 {
            let names: Vec<String> = found(&disk, Survives::Some(seed))
                .into_iter()
                .map(|(name, _)| name)
                .collect();
            assert!(names.len() <= 1, "{names:?}");
        }
        assert_eq!(found(&disk, Survives::All), [("b".into(), "old".into())]);
    }
}
