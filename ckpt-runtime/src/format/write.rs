//! A snapshot becomes a file: the HDF5 structure, the values at the places that HDF5 allotted, the index, the header.

use std::fs::File;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::bodies::Bodies;
use super::coding::Compression;
use super::columns::Stored;
use super::container::{self, Sealed};
use super::direct::Route;
use super::extents::Other;
use super::hdf5::{Id, Structure, Type};
use super::index::{Index, TableEntry};
use super::previous::{Base, Known, Storing};
use super::stream::Stream;
use super::survey::Source;
use super::tree::{self, Attribute};
use super::{CheckpointId, Direct, Files, Meta, StoreError, VariableContent, VariableInfo, Ways};
use crate::base::fault::{Faults, Step};
use crate::base::parallel;
use crate::state::snapshot::{Content, Snapshot, VariableRecord};
use crate::value::{Block, Column, DType, Data};

/// How a file is to be written.
#[derive(Clone, Copy)]
pub(crate) struct Order<'a> {
    pub id: CheckpointId,
    /// The files that it may build on.
    pub files: &'a dyn Files,
    /// Bytes that there is room for, where that is known.
    pub free: Option<u64>,
    pub faults: Faults,
    pub storing: Storing,
    /// What need not be stored again.
    pub base: Option<&'a Base>,
    /// Whether large bodies go past the cache, and what is known of that.
    pub direct: Direct,
    pub ways: &'a Arc<Mutex<Ways>>,
}

/// A file that is on the disk.
pub(crate) struct OnDisk {
    /// What the next one may rely on.
    pub base: Base,
    /// Its length.
    pub length: u64,
    /// How long it took to sync it.
    pub synced: Duration,
}

/// Writes a complete checkpoint file to `path`, which must not exist, and syncs it.
///
/// With a `stream` the file is there, and the large lists that the snapshot does not have are in it.
pub(crate) fn write(
    path: &Path,
    snapshot: &Snapshot,
    meta: &Meta,
    order: Order<'_>,
    stream: Option<Stream>,
) -> Result<OnDisk, StoreError> {
    let needed = needed(snapshot);
    let (structure, file, staged, route) = match stream {
        Some(stream) => {
            if let Some(failure) = stream.failure() {
                return Err(failure);
            }
            container::room_for(&stream.file, path, needed)?;
            (stream.structure, stream.file, stream.written, stream.route)
        }
        None => {
            order.faults.reached(Step::BeforeCreate);
            // HDF5 forgets why it could not make a file.
            let structure = Structure::create(path)
                .map_err(|error| container::full_or(error, path, needed, order.free))?;
            order.faults.reached(Step::Created);
            // HDF5 cannot give up cleanly on a full disk, so it is only let loose on space that is there.
            let file = container::reserve(path, needed)?;
            (structure, file, Vec::new(), Route::new(order.direct, order.ways))
        }
    };
    let Order {
        id,
        files,
        storing,
        base,
        faults,
        ..
    } = order;
    let mut writer = Writer {
        structure,
        path,
        index: Index::default(),
        bodies: Bodies::default(),
        id,
        files,
        compression: storing.compression,
        keeps_known: storing.full_every > 1,
        base,
        file: &file,
        needed,
        staged,
        route,
    };
    writer.root(snapshot, meta)?;
    let Writer {
        structure,
        index,
        mut bodies,
        staged,
        route,
        ..
    } = writer;
    // HDF5 closes a file when nothing of it is open any more.
    drop(staged);
    let known = std::mem::take(&mut bodies.known);
    bodies.close_group();
    structure.close()?;
    faults.reached(Step::Structure);
    Writer::write_later(&file, path, needed, &index.datasets, &bodies, faults)?;
    let Sealed { seal, length, synced } = container::seal(&file, path, &index, faults)?;
    route.ends(synced);
    Ok(OnDisk {
        base: next_base(base, known, Other { id, seal }, index.files),
        length,
        synced,
    })
}

/// What the next checkpoint may rely on.
fn next_base(
    base: Option<&Base>,
    known: Vec<(String, Option<usize>, Known)>,
    own: Other,
    mut files: Vec<Other>,
) -> Base {
    files.push(own);
    let mut next = Base {
        nth: base.map_or(1, |base| base.nth + 1),
        files,
        ..Base::default()
    };
    for (path, number, known) in known {
        let known = Arc::new(known);
        if let Some(number) = number {
            next.lists.resize(next.lists.len().max(number + 1), None);
            next.lists[number] = Some(Arc::clone(&known));
        }
        next.datasets.insert(path, known);
    }
    next
}

/// An upper bound for the memory that writing a snapshot takes beside it.
pub(crate) fn memory_for(snapshot: &Snapshot, storing: Storing) -> usize {
    /// HDF5's own, and what files are summed with.
    const ALWAYS: u64 = 4 << 20;
    /// Of every object in the file: its name, its entry in the index, and HDF5's.
    const OBJECT: u64 = 8 << 10;
    /// Of every block: checksum, place, entry in the index. Blocks are not smaller than a page.
    const BLOCK: u64 = 256;
    const PAGE: u64 = 4096;
    /// Of every thread that compresses blocks: one as it is, sorted, and compressed.
    const PACKED: u64 = 2 << 20;
    let objects: u64 = snapshot.columns().map(objects).sum();
    let blocks = snapshot.bytes() / PAGE;
    let packed = storing
        .compression
        .map_or(0, |_| PACKED * (1 + parallel::helpers(usize::MAX) as u64));
    let all = ALWAYS + (objects + snapshot.frames.len() as u64) * OBJECT + blocks * BLOCK + packed;
    usize::try_from(all).unwrap_or(usize::MAX)
}

/// An upper bound for the size of the file.
fn needed(snapshot: &Snapshot) -> u64 {
    let columns: u64 = snapshot.columns().map(objects).sum();
    let held = snapshot.held();
    // HDF5 has a tree of the chunks of a dataset.
    held + held / 32 + columns * 1024 + snapshot.frames.len() as u64 * 1024 + 64 * 1024
}

fn objects(column: &Column) -> u64 {
    match column {
        Column::Empty => 0,
        Column::Data(_) => 1,
        Column::Array { items, .. } => 1 + objects(items),
        Column::Group(group) => {
            1 + group
                .children
                .iter()
                .map(|(_, child)| objects(child))
                .sum::<u64>()
        }
    }
}

pub(super) struct Writer<'s> {
    pub structure: Structure,
    pub path: &'s Path,
    pub index: Index,
    pub bodies: Bodies<'s>,
    pub id: CheckpointId,
    files: &'s dyn Files,
    pub compression: Option<Compression>,
    /// Whether the next checkpoint may build on this one.
    pub keeps_known: bool,
    pub base: Option<&'s Base>,
    /// The file, beside HDF5.
    pub file: &'s File,
    pub needed: u64,
    /// Lists that are in the file and have no name yet.
    pub staged: Vec<Option<(Id, u64)>>,
    /// The way that large bodies go.
    pub route: Route,
}

impl<'s> Writer<'s> {
    /// The name of the file of another checkpoint.
    pub(super) fn file_name(&self, id: CheckpointId) -> String {
        let path = self.files.path(id);
        path.file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    }

    fn root(&mut self, snapshot: &'s Snapshot, meta: &Meta) -> Result<(), StoreError> {
        let root = self.structure.root();
        self.attributes(root, &tree::of_checkpoint(meta))?;
        let statics = match snapshot.statics.len() {
            0 => None,
            _ => Some(self.structure.group(root, "statics")?),
        };
        let shared = match snapshot.tables.len() {
            0 => None,
            _ => Some(self.structure.group(root, "shared")?),
        };
        self.index.meta = meta.clone();
        self.frames(snapshot)?;
        for variable in &snapshot.statics {
            let (Some(statics), Content::Value(column)) = (&statics, &variable.content) else {
                continue;
            };
            let place = ObjectPath {
                parent: statics,
                path: "/statics",
                name: &object_name(&variable.key),
            };
            let stored = self.column(&place, column, Some(variable))?;
            let mut info = variable_info(variable);
            info.bytes = stored.bytes();
            self.index.statics.push((info, Some(stored)));
        }
        for (number, table) in snapshot.tables.iter().enumerate() {
            let Some(shared) = &shared else { break };
            let group = self.structure.group(shared, &number.to_string())?;
            self.structure.text(&group, "rust_type", &table.type_name)?;
            let path = format!("/shared/{number}");
            let ids: Vec<u8> = table.ids.iter().flat_map(|id| id.to_le_bytes()).collect();
            let place = ObjectPath {
                parent: &group,
                path: &path,
                name: "ids",
            };
            let (dataset, _) = self.dataset(
                &place,
                &DType::U64,
                Some(&[table.ids.len() as u64]),
                Source::Plain(ids.into()),
            )?;
            let ids = Block {
                dataset,
                offset: 0,
                length: table.ids.len() as u64 * 8,
            };
            let items = self.column(
                &ObjectPath {
                    parent: &group,
                    path: &path,
                    name: "items",
                },
                &table.items,
                None,
            )?;
            self.index.tables.push(TableEntry {
                type_name: table.type_name.clone(),
                ids,
                items,
            });
        }
        Ok(())
    }

    pub(super) fn column(
        &mut self,
        place: &ObjectPath<'_>,
        column: &'s Column,
        variable: Option<&VariableRecord>,
    ) -> Result<Stored, StoreError> {
        // Arrays of plain elements are further dimensions of one dataset.
        let (mut lengths, mut inner) = (Vec::new(), column);
        while let Column::Array { length, items } = inner {
            lengths.push(*length);
            inner = items;
        }
        if let Column::Data(data) = inner {
            let (number, object) = self.data(place, data, &lengths)?;
            self.describe(&object, variable)?;
            let block = Block {
                dataset: number,
                offset: 0,
                length: data.bytes.len() as u64,
            };
            let stored = Stored::Data {
                dtype: data.dtype.clone(),
                single: data.single,
                block,
            };
            let wrap = |items, length: &u64| Stored::Array {
                length: *length,
                items: Box::new(items),
            };
            return Ok(lengths.iter().rev().fold(stored, wrap));
        }
        match column {
            // A variable is always there for people to see; other columns without a value are not.
            Column::Empty if variable.is_none() => Ok(Stored::Empty),
            Column::Empty | Column::Data(_) => {
                let group = self.structure.group(place.parent, place.name)?;
                self.describe(&group, variable)?;
                Ok(Stored::Empty)
            }
            Column::Array { length, items } => {
                let group = self.structure.group(place.parent, place.name)?;
                self.describe(&group, variable)?;
                self.structure.text(&group, "kind", "array")?;
                self.structure.number(&group, "length", *length)?;
                let path = format!("{}/{}", place.path, place.name);
                let items = self.column(
                    &ObjectPath {
                        parent: &group,
                        path: &path,
                        name: "items",
                    },
                    items,
                    None,
                )?;
                Ok(Stored::Array {
                    length: *length,
                    items: Box::new(items),
                })
            }
            Column::Group(columns) => {
                let group = self.structure.group(place.parent, place.name)?;
                self.describe(&group, variable)?;
                self.structure.text(&group, "kind", columns.kind.name())?;
                let path = format!("{}/{}", place.path, place.name);
                let mut children = Vec::with_capacity(columns.children.len());
                for (name, child) in &columns.children {
                    let object = object_name(name);
                    let place = ObjectPath {
                        parent: &group,
                        path: &path,
                        name: &object,
                    };
                    children.push((name.to_string(), self.column(&place, child, None)?));
                }
                Ok(Stored::Group {
                    kind: columns.kind,
                    children,
                })
            }
        }
    }

    fn data(
        &mut self,
        place: &ObjectPath<'_>,
        data: &'s Data,
        lengths: &[u64],
    ) -> Result<(u32, Id), StoreError> {
        let body = match data.bytes.body() {
            Some(body) => Source::Blocks(body),
            None => Source::Plain(data.bytes.as_slice().into()),
        };
        if data.single || data.dtype == DType::Text {
            return self.dataset(place, &data.dtype, None, body);
        }
        // Arrays without items have one byte each, which is a list.
        let lengths: Vec<u64> = lengths.iter().copied().filter(|&length| length > 0).collect();
        let rows = lengths
            .iter()
            .try_fold((data.bytes.len() / data.dtype.size()) as u64, |n, &length| {
                n.checked_div(length)
            });
        let shape: Vec<u64> = std::iter::once(rows.unwrap_or(0))
            .chain(lengths.iter().copied())
            .collect();
        self.dataset(place, &data.dtype, Some(&shape), body)
    }

    /// Makes a dataset, one element without a `shape`, and keeps its values to be written later.
    fn dataset(
        &mut self,
        place: &ObjectPath<'_>,
        dtype: &DType,
        shape: Option<&[u64]>,
        body: Source<'s>,
    ) -> Result<(u32, Id), StoreError> {
        /// HDF5 keeps the size of a type in 32 bits.
        const LONGEST_TEXT: usize = 1 << 31;
        if *dtype == DType::Text && body.len() > LONGEST_TEXT {
            let of = Type::new(&DType::U8, 1, self.path)?;
            return self.dataset_of(place, dtype, &of, Some(&[body.len() as u64]), body);
        }
        let of = Type::new(dtype, body.len(), self.path)?;
        self.dataset_of(place, dtype, &of, shape, body)
    }

    fn describe(&self, object: &Id, variable: Option<&VariableRecord>) -> Result<(), StoreError> {
        let Some(variable) = variable else { return Ok(()) };
        let said = tree::of_declaration(variable.rust_type, variable.line, variable.parameter);
        self.attributes(object, &said)
    }

    pub(super) fn attributes(&self, object: &Id, all: &[(String, Attribute)]) -> Result<(), StoreError> {
        all.iter().try_for_each(|(name, attribute)| match attribute {
            Attribute::Text(text) => self.structure.text(object, &object_name(name), text),
            Attribute::Unsigned(number) => self.structure.number(object, name, *number),
        })
    }
}

/// Where an object is made.
pub(super) struct ObjectPath<'a> {
    pub parent: &'a Id,
    /// Path of the parent.
    pub path: &'a str,
    pub name: &'a str,
}

pub(super) fn variable_info(variable: &VariableRecord) -> VariableInfo {
    VariableInfo {
        key: variable.key.to_string(),
        line: variable.line,
        rust_type: variable.rust_type.to_owned(),
        parameter: variable.parameter,
        content: match &variable.content {
            Content::Value(_) => VariableContent::Value,
            Content::Link { frame, key } => VariableContent::Link {
                frame: *frame,
                key: key.clone(),
            },
        },
        bytes: 0,
    }
}

/// A name as HDF5 takes it: `/` would begin a new level, a zero byte ends a string, `.` means the group itself.
pub(super) fn object_name(name: &str) -> String {
    if matches!(name, "" | "." | "..") {
        return format!("%{name}");
    }
    let mut safe = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '/' | '%' | '\0'..='\x1f' => safe.push_str(&format!("%{:02X}", c as u32)),
            c => safe.push(c),
        }
    }
    safe
}
