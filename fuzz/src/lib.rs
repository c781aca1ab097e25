//! What the targets have in common: a store on a file system in memory, and a checkpoint that is whole; [`packs`] and [`records`]
//! give bytes to what the command reads.

pub mod packs;
pub mod records;

// The modules of the command that read what others may have written, and those that they need; the targets call a part of them.
#[allow(dead_code, unused_imports)]
#[path = "../../ckpt-cli/src/cargo/mod.rs"]
mod cargo;
#[allow(dead_code, unused_imports)]
#[path = "../../ckpt-cli/src/failure.rs"]
mod failure;
#[allow(dead_code, unused_imports)]
#[path = "../../ckpt-cli/src/launch/mod.rs"]
mod launch;
#[allow(dead_code, unused_imports)]
#[path = "../../ckpt-cli/src/output.rs"]
mod output;
#[allow(dead_code, unused_imports)]
#[path = "../../ckpt-cli/src/pack/mod.rs"]
mod pack;
#[allow(dead_code, unused_imports)]
#[path = "../../ckpt-cli/src/render/mod.rs"]
mod render;
#[allow(dead_code, unused_imports)]
#[path = "../../ckpt-cli/src/stores/mod.rs"]
mod stores;

use std::path::PathBuf;

use ckpt::Checkpoint;
use ckpt::fuzzing::Part;
use ckpt::plan::{FunctionPlan, SiteKind, SitePlan};
use ckpt::snapshot::SnapshotBuilder;
use ckpt::store::{CheckpointId, Compression, Meta, Mode, Store, Storing};

static PLAN: FunctionPlan = FunctionPlan {
    function: "advance",
    module: "demo::sim",
    file: "src/sim.rs",
    line: 10,
    layout: 0x1234,
    source: 0x5678,
    attribute: "ckpt::instrument",
    sites: &[SitePlan {
        line: 12,
        column: 9,
        kind: SiteKind::Checkpoint,
        variables: &[],
    }],
};

/// Values of many shapes.
#[derive(Checkpoint, Clone, Debug, PartialEq)]
pub struct State {
    step: u64,
    grid: Vec<f64>,
    name: String,
    cells: Vec<Cell>,
    seen: std::collections::BTreeMap<u32, Option<String>>,
    shared: [std::rc::Rc<u8>; 2],
    blocks: Vec<u64>,
}

#[derive(Checkpoint, Clone, Debug, PartialEq)]
enum Cell {
    Empty,
    Full { mass: f64, of: Vec<u16> },
    Linked(Box<Cell>),
}

impl State {
    /// The one that is written.
    pub fn new() -> Self {
        let one = std::rc::Rc::new(7);
        State {
            step: 3,
            grid: vec![0.5, -1.0, f64::MAX],
            name: "heat".into(),
            cells: vec![
                Cell::Empty,
                Cell::Linked(Box::new(Cell::Full {
                    mass: 2.0,
                    of: vec![1, 2],
                })),
            ],
            seen: [(1, None), (2, Some("two".into()))].into(),
            shared: [one.clone(), one],
            blocks: (0..9000).map(|k| k / 3000).collect(),
        }
    }
}

impl Default for State {
    fn default() -> Self {
        State::new()
    }
}

/// A folder in memory.
pub fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").expect("there is a file system in memory")
}

thread_local! {
    /// A part of the journal of files, in memory.
    pub static PART: Part = {
        let file = tempfile::tempfile_in("/dev/shm").expect("there is a file system in memory");
        Part::new(file).expect("the file can be used")
    };
}

/// A store in memory.
pub struct Folder {
    folder: tempfile::TempDir,
    /// The store.
    pub store: Store,
}

impl Folder {
    /// With one checkpoint; gives its bytes, too.
    pub fn new() -> (Folder, Vec<u8>) {
        let folder = scratch();
        let mut store = Store::open(folder.path(), Mode::ReadWrite).expect("a store");
        store.set_storing(Storing {
            compression: Some(Compression::Lz4),
            ..Storing::default()
        });
        let mut builder = SnapshotBuilder::new();
        let frame = builder.frame(&PLAN, 1);
        builder.value(frame, "state", 11, None, &State::new());
        let snapshot = builder.finish().expect("it can be saved");
        let meta = Meta {
            program: "demo".into(),
            ..Meta::default()
        };
        let id = store.commit(&snapshot, &meta).expect("it can be written");
        assert_eq!(id, ID);
        let bytes = std::fs::read(store.path(ID)).expect("it is there");
        (Folder { folder, store }, bytes)
    }

    /// The file of its checkpoint.
    pub fn path(&self) -> PathBuf {
        assert!(self.folder.path().is_dir());
        self.store.path(ID)
    }
}

/// What a fuzzer begins with besides the files in `seeds/`: as today's writer makes it, in the folder that `FUZZ_SEEDS` names.
pub fn begin_with(bytes: &[u8]) {
    if let Some(folder) = std::env::var_os("FUZZ_SEEDS") {
        std::fs::write(PathBuf::from(folder).join("written"), bytes).expect("it can be written");
    }
}

/// The index in the bytes of a file.
pub fn index_in(file: &[u8]) -> &[u8] {
    let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|k| file[at + k])) as usize;
    let (offset, length) = (number(24), number(32));
    &file[offset..offset + length]
}

/// The checkpoint.
pub const ID: CheckpointId = CheckpointId(1);
