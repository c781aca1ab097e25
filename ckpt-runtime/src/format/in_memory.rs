//! A snapshot that stays in memory, to be read as a checkpoint is. There is no file behind it.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::columns::Stored;
use super::frames::frame_info;
use super::index::{Frame, Index, TableEntry};
use super::write::variable_info;
use super::{Meta, VariableInfo};
use crate::state::snapshot::{Content, Snapshot, VariableRecord};
use crate::value::{Block, Bytes, Column, LoadError, LoadProblem, Source};

/// What it is called in messages, in place of a file.
const NAME: &str = "in memory";

/// The values of a snapshot, and where each is among them.
#[derive(Debug)]
pub(crate) struct InMemory {
    pub(super) index: Index,
    /// The bytes of each column, as blocks of datasets say it.
    columns: Vec<Bytes>,
    pub(super) place: PathBuf,
}

impl InMemory {
    /// Takes a snapshot over; `None` if a part of it is in files only, or was not copied.
    pub fn of(snapshot: Snapshot, meta: Meta, store: &Path) -> Option<InMemory> {
        snapshot.wait().ok()?;
        let mut memory = InMemory {
            index: Index {
                meta,
                ..Index::default()
            },
            columns: Vec::new(),
            place: store.join(NAME),
        };
        let Snapshot {
            frames,
            tables,
            statics,
            ..
        } = snapshot;
        for frame in frames {
            let mut info = frame_info(&frame);
            let stored = frame
                .variables
                .into_iter()
                .map(|variable| memory.variable(variable));
            let columns: Vec<Option<Stored>> = stored.collect::<Option<_>>()?;
            for (variable, column) in info.variables.iter_mut().zip(&columns) {
                variable.bytes = column.as_ref().map_or(0, Stored::bytes);
            }
            memory.index.frames.push(Frame { info, columns });
        }
        for table in tables {
            let ids: Vec<u8> = table.ids.iter().flat_map(|id| id.to_le_bytes()).collect();
            let ids = memory.block(Bytes::from(ids))?;
            let entry = TableEntry {
                type_name: table.type_name,
                ids,
                items: memory.column(table.items)?,
            };
            memory.index.tables.push(entry);
        }
        for variable in statics {
            let info: VariableInfo = variable_info(&variable);
            let column = memory.variable(variable)?;
            memory.index.statics.push((info, column));
        }
        Some(memory)
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> u64 {
        self.columns.iter().map(|column| column.held() as u64).sum()
    }

    /// What is known about it.
    pub fn meta(&self) -> &Meta {
        &self.index.meta
    }

    /// `Some(None)` for what is another variable's.
    fn variable(&mut self, variable: VariableRecord) -> Option<Option<Stored>> {
        match variable.content {
            Content::Value(column) => self.column(column).map(Some),
            Content::Link { .. } => Some(None),
        }
    }

    fn column(&mut self, column: Column) -> Option<Stored> {
        Some(match column {
            Column::Empty => Stored::Empty,
            Column::Data(data) => Stored::Data {
                dtype: data.dtype,
                single: data.single,
                block: self.block(data.bytes)?,
            },
            Column::Group(group) => {
                let mut children = Vec::new();
                for (name, child) in group.children {
                    children.push((Cow::into_owned(name), self.column(child)?));
                }
                Stored::Group {
                    kind: group.kind,
                    children,
                }
            }
            Column::Array { length, items } => Stored::Array {
                length,
                items: Box::new(self.column(*items)?),
            },
        })
    }

    fn block(&mut self, bytes: Bytes) -> Option<Block> {
        if !bytes.is_all_here() {
            return None;
        }
        let block = Block {
            dataset: self.columns.len() as u32,
            offset: 0,
            length: bytes.len() as u64,
        };
        self.columns.push(bytes);
        Some(block)
    }
}

impl Source for InMemory {
    fn read(&self, block: &Block, into: &mut [u8]) -> Result<(), LoadError> {
        let column = self.columns.get(block.dataset as usize);
        let offset = usize::try_from(block.offset).ok();
        let copied = column
            .zip(offset)
            .is_some_and(|(column, offset)| column.copy_to(offset, into));
        match copied {
            true => Ok(()),
            false => Err(LoadProblem::Damaged("a block beyond its column".into()).into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::format::{CheckpointId, Restored};
    use crate::plan::FunctionPlan;
    use crate::state::snapshot::SnapshotBuilder;
    use crate::value::Capture;

    static PLAN: FunctionPlan = FunctionPlan::SAMPLE;

    #[test]
    fn values_come_back_from_memory() {
        let mut large: Vec<f64> = (0..400_000).map(f64::from).collect();
        large[100_000..300_000].fill(0.0);
        let (small, words) = (7_u64, vec!["one".to_owned(), String::new()]);
        let shared = std::rc::Rc::new(vec![1_u32, 2]);
        let pair = (shared.clone(), shared);
        let mut builder = SnapshotBuilder::in_blocks(Capture::default());
        builder.frame(&PLAN, 1);
        builder.value(0, "large", 1, None, &large);
        builder.value(0, "small", 2, None, &small);
        builder.value(0, "words", 3, None, &words);
        builder.value(0, "pair", 4, None, &pair);
        let snapshot = builder.finish().unwrap();
        let memory = InMemory::of(snapshot, Meta::default(), Path::new("store")).unwrap();
        assert!(memory.bytes() < 2_000_000, "zeros are not kept");
        let memory = Arc::new(memory);
        // More than once.
        for _ in 0..2 {
            let restored = Restored::in_memory(CheckpointId(3), Arc::clone(&memory));
            assert_eq!(restored.decode::<Vec<f64>>(0, "large").unwrap(), large);
            assert_eq!(restored.decode::<u64>(0, "small").unwrap(), small);
            assert_eq!(restored.decode::<Vec<String>>(0, "words").unwrap(), words);
            type Shared = std::rc::Rc<Vec<u32>>;
            let (one, other) = restored.decode::<(Shared, Shared)>(0, "pair").unwrap();
            assert!(std::rc::Rc::ptr_eq(&one, &other) && *one == [1, 2]);
        }
    }
}
