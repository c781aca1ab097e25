//! What a program does to its files, in its order, with all bytes.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::program::Tree;
use crate::tracer::{Action, Call, Kind, Tracee, Watcher};

/// A file or folder, whatever it is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Node(pub u32);

/// The folder that the program works in.
pub const ROOT: Node = Node(0);

/// A name in a folder.
pub type Name = (Node, OsString);

/// One thing that was done.
#[derive(Debug, Clone)]
pub enum Operation {
    /// A file or folder came to be. It has no name yet.
    Made {
        /// Which.
        node: Node,
        /// Whether it is a folder.
        is_folder: bool,
    },
    /// Names now stand for these, or for nothing; all of them at once.
    Named(Vec<(Name, Option<Node>)>),
    /// Bytes were written.
    Wrote {
        /// To which file.
        file: Node,
        /// Where.
        at: u64,
        /// What.
        bytes: Vec<u8>,
    },
    /// A file has another length.
    Resized {
        /// Which.
        file: Node,
        /// So many bytes.
        length: u64,
    },
    /// A file or folder was synced.
    Synced(Node),
    /// The program printed something.
    Said(String),
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operation::Made { node, is_folder } => {
                let what = if *is_folder { "folder" } else { "file" };
                write!(f, "{what} {} made", node.0)
            }
            Operation::Named(names) => {
                let names = names.iter().map(|((folder, name), node)| {
                    let node = node.map_or("nothing".to_owned(), |node| node.0.to_string());
                    format!("{}/{} is {node}", folder.0, name.display())
                });
                write!(f, "{}", names.collect::<Vec<_>>().join(", "))
            }
            Operation::Wrote { file, at, bytes } => {
                write!(f, "{} bytes at {at} to {}", bytes.len(), file.0)
            }
            Operation::Resized { file, length } => write!(f, "{} has {length} bytes", file.0),
            Operation::Synced(node) => write!(f, "{} synced", node.0),
            Operation::Said(text) => write!(f, "said {text:?}"),
        }
    }
}

/// Records what a program does below a folder.
#[derive(Debug)]
pub struct Recorder {
    folder: PathBuf,
    operations: Vec<Operation>,
    /// What names stand for now.
    names: HashMap<Name, Node>,
    /// Nodes by device and number.
    nodes: HashMap<(u64, u64), Node>,
    next: u32,
    /// Something that cannot be recorded.
    failure: Option<String>,
}

impl Recorder {
    /// For a program that works in `folder`, which is empty.
    pub fn new(folder: &Path) -> Recorder {
        let mut recorder = Recorder {
            folder: folder.to_owned(),
            operations: Vec::new(),
            names: HashMap::new(),
            nodes: HashMap::new(),
            next: 1,
            failure: None,
        };
        if let Some(identity) = identity(folder) {
            recorder.nodes.insert(identity, ROOT);
        }
        recorder
    }

    /// For a program that finds all this there, on the disk: what is recorded first is how it came to be.
    pub fn over(folder: &Path, tree: &Tree) -> Recorder {
        let mut recorder = Recorder::new(folder);
        for (path, bytes) in tree {
            let path = folder.join(path);
            // A folder comes before what is in it.
            let Some(name) = recorder.name(&path) else {
                continue;
            };
            let above = name.0;
            let node = recorder.make(name, bytes.is_none(), identity(&path));
            if let Some(bytes) = bytes {
                recorder.operations.push(Operation::Wrote {
                    file: node,
                    at: 0,
                    bytes: bytes.clone(),
                });
            }
            recorder.operations.push(Operation::Synced(node));
            recorder.operations.push(Operation::Synced(above));
        }
        recorder
    }

    /// How many things were done so far.
    pub fn length(&self) -> usize {
        self.operations.len()
    }

    /// All that was done.
    ///
    /// # Errors
    /// Something was that cannot be recorded.
    pub fn operations(self) -> io::Result<Vec<Operation>> {
        match self.failure {
            None => Ok(self.operations),
            Some(what) => Err(io::Error::other(what)),
        }
    }

    fn name(&self, path: &Path) -> Option<Name> {
        let below = path.strip_prefix(&self.folder).ok()?;
        let name = below.file_name()?.to_owned();
        let mut folder = ROOT;
        for part in below.parent()?.components() {
            folder = *self.names.get(&(folder, part.as_os_str().to_owned()))?;
        }
        Some((folder, name))
    }

    fn set(&mut self, names: Vec<(Name, Option<Node>)>) {
        for (name, node) in &names {
            match node {
                Some(node) => self.names.insert(name.clone(), *node),
                None => self.names.remove(name),
            };
        }
        self.operations.push(Operation::Named(names));
    }

    fn make(&mut self, name: Name, is_folder: bool, identity: Option<(u64, u64)>) -> Node {
        let node = Node(self.next);
        self.next += 1;
        if let Some(identity) = identity {
            // A number may be given again.
            self.nodes.insert(identity, node);
        }
        self.operations.push(Operation::Made { node, is_folder });
        self.set(vec![(name, Some(node))]);
        node
    }

    fn node(&mut self, tracee: &Tracee, descriptor: u64) -> Option<Node> {
        let node = tracee
            .identity(descriptor as i32)
            .and_then(|identity| self.nodes.get(&identity).copied());
        if node.is_none() {
            self.failure
                .get_or_insert("a file is written to that nobody has made".to_owned());
        }
        node
    }

    fn record(&mut self, call: &Call, result: i64, tracee: &Tracee) -> Option<()> {
        let path = call.path.as_deref().unwrap_or(Path::new(""));
        let name = || self.name(path);
        match call.kind {
            Kind::Open { .. } => {
                let flags = match call.number {
                    libc::SYS_openat => call.arguments[2],
                    libc::SYS_creat => (libc::O_CREAT | libc::O_TRUNC) as u64,
                    _ => call.arguments[1],
                } as i32;
                let name = name()?;
                match self.names.get(&name).copied() {
                    None if flags & libc::O_CREAT != 0 => {
                        self.make(name, false, tracee.identity(result as i32));
                    }
                    Some(file) if flags & libc::O_TRUNC != 0 => {
                        self.operations.push(Operation::Resized { file, length: 0 });
                    }
                    _ => {}
                }
            }
            Kind::Write | Kind::Copy => self.wrote(call, result as u64, tracee)?,
            Kind::Truncate => {
                let file = match call.number {
                    libc::SYS_truncate => *self.names.get(&name()?)?,
                    _ => self.node(tracee, call.arguments[0])?,
                };
                let length = call.arguments[1];
                self.operations.push(Operation::Resized { file, length });
            }
            Kind::Allocate => {
                let keeps = call.arguments[1] as i32 & libc::FALLOC_FL_KEEP_SIZE != 0;
                let file = self.node(tracee, call.arguments[0])?;
                let length = call.arguments[2] + call.arguments[3];
                if !keeps {
                    self.operations.push(Operation::Resized { file, length });
                }
            }
            Kind::Rename => {
                let (from, to) = (name()?, self.name(call.other.as_deref()?)?);
                let node = *self.names.get(&from)?;
                self.set(vec![(from, None), (to, Some(node))]);
            }
            Kind::Unlink => {
                let name = name()?;
                self.set(vec![(name, None)]);
            }
            Kind::MakeFolder => {
                let name = name()?;
                self.make(name, true, identity(path));
            }
            Kind::Link => {
                let (from, to) = (name()?, self.name(call.other.as_deref()?)?);
                let node = *self.names.get(&from)?;
                self.set(vec![(to, Some(node))]);
            }
            Kind::Sync if call.number != libc::SYS_sync_file_range => {
                let node = self.node(tracee, call.arguments[0])?;
                self.operations.push(Operation::Synced(node));
            }
            _ => {}
        }
        Some(())
    }

    fn wrote(&mut self, call: &Call, result: u64, tracee: &Tracee) -> Option<()> {
        let descriptor = match call.number {
            libc::SYS_copy_file_range => call.arguments[2],
            _ => call.arguments[0],
        };
        let at = match call.number {
            libc::SYS_pwrite64 | libc::SYS_pwritev => call.arguments[3],
            // It stands behind what was written, also where that was added to the end.
            _ => tracee.position(descriptor as i32)?.0 - result,
        };
        let file = self.node(tracee, descriptor)?;
        let mut bytes = vec![0; result as usize];
        // What the program has put there is what the file has there now: nobody else writes to it.
        let path = self.path_of(file)?;
        let read = std::fs::File::open(path).and_then(|file| file.read_exact_at(&mut bytes, at));
        if let Err(error) = read {
            self.failure
                .get_or_insert(format!("what was written cannot be read: {error}"));
        }
        self.operations.push(Operation::Wrote { file, at, bytes });
        Some(())
    }

    /// Where a file is now.
    fn path_of(&self, node: Node) -> Option<PathBuf> {
        if node == ROOT {
            return Some(self.folder.clone());
        }
        let ((folder, name), _) = self.names.iter().find(|(_, named)| **named == node)?;
        Some(self.path_of(*folder)?.join(name))
    }
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let found = std::fs::metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}

impl Watcher for Recorder {
    fn call(&mut self, call: &Call, tracee: &Tracee) -> Action {
        if call.kind == Kind::Write && call.arguments[0] == libc::STDOUT_FILENO as u64 {
            let text = tracee.memory(call.arguments[1], call.arguments[2] as usize);
            let text = String::from_utf8_lossy(&text).into_owned();
            self.operations.push(Operation::Said(text));
        }
        if !call.is_below(&self.folder) {
            return Action::Go;
        }
        if call.kind == Kind::Sync {
            // It is enough to know of it.
            self.record(call, 0, tracee);
            return Action::Fail(0);
        }
        let is_shared = call.kind == Kind::Map
            && call.arguments[2] as i32 & libc::PROT_WRITE != 0
            && call.arguments[3] as i32 & libc::MAP_SHARED != 0;
        if is_shared {
            self.failure
                .get_or_insert("a file is written to through memory".to_owned());
        }
        match call.kind {
            Kind::Open {
                creates: false,
                writes: false,
            }
            | Kind::Read
            | Kind::Look
            | Kind::List
            | Kind::Seek
            | Kind::Map
            | Kind::Lock
            | Kind::Duplicate
            | Kind::Close
            | Kind::Rights => Action::Go,
            _ => Action::GoAndTell,
        }
    }

    fn returned(&mut self, call: &Call, result: i64, tracee: &Tracee) {
        if result >= 0 {
            self.record(call, result, tracee);
        }
    }
}
