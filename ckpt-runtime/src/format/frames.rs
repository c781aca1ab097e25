//! The frames of a snapshot in a file: those of the program's own thread, and those of every member of a team.

use std::collections::HashSet;

use super::columns::Stored;
use super::hdf5::{Id, Type};
use super::index::Frame;
use super::survey::Source;
use super::tree::{frame_paths, of_frame};
use super::write::{ObjectPath, Writer, object_name, variable_info};
use super::{FrameInfo, StoreError};
use crate::base::sorted::SortedMap;
use crate::state::snapshot::{Content, FrameRecord, Snapshot, VariableRecord};
use crate::value::{Block, Column, DType, Data};

/// With more single values than this in a frame they share tables: a dataset of its own costs 400 bytes and 30 microseconds.
const MOST_SCALARS: usize = 256;

impl<'s> Writer<'s> {
    pub(super) fn frames(&mut self, snapshot: &'s Snapshot) -> Result<(), StoreError> {
        let paths = frame_paths(snapshot.frames.iter().map(|frame| frame.thread));
        let variables = snapshot.frames.iter().flat_map(|frame| &frame.variables);
        let targets: HashSet<(usize, &str)> = variables.filter_map(link_target).collect();
        let links = Links {
            targets: &targets,
            paths: &paths,
        };
        let mut parent = self.structure.group(self.structure.root(), "frames")?;
        let mut threads = None;
        // Those of a thread stand together, and the program's own come first.
        let mut current = 0;
        for (number, frame) in snapshot.frames.iter().enumerate() {
            if frame.thread != current {
                current = frame.thread;
                if threads.is_none() {
                    threads = Some(self.structure.group(self.structure.root(), "threads")?);
                }
                let team = threads.as_ref().unwrap_or(&parent);
                parent = self.structure.group(team, &current.to_string())?;
            }
            let name = paths[number].rsplit('/').next().unwrap_or_default();
            let group = self.structure.group(&parent, name)?;
            self.frame(&group, number, frame, &links)?;
        }
        Ok(())
    }

    fn frame(
        &mut self,
        group: &Id,
        number: usize,
        frame: &'s FrameRecord,
        links: &Links<'_>,
    ) -> Result<(), StoreError> {
        let mut info = frame_info(frame);
        self.attributes(group, &of_frame(&info))?;

        let path = links.paths[number].clone();
        let is_scalar = |variable: &VariableRecord| match &variable.content {
            Content::Value(Column::Data(Data {
                single: true, dtype, ..
            })) => *dtype != DType::Text && !links.targets.contains(&(number, variable.key.as_ref())),
            _ => false,
        };
        let pack = frame
            .variables
            .iter()
            .filter(|variable| is_scalar(variable))
            .count()
            > MOST_SCALARS;
        let mut columns: Vec<Option<Stored>> = vec![None; frame.variables.len()];
        let mut scalars: SortedMap<&str, Vec<usize>> = SortedMap::new();
        for (position, variable) in frame.variables.iter().enumerate() {
            let name = object_name(&variable.key);
            match &variable.content {
                Content::Value(_) if pack && is_scalar(variable) => {
                    scalars.entry(variable.rust_type).or_default().push(position);
                }
                Content::Value(column) => {
                    let place = ObjectPath {
                        parent: group,
                        path: &path,
                        name: &name,
                    };
                    columns[position] = Some(self.column(&place, column, Some(variable))?);
                }
                Content::Link { frame: target, key } => {
                    let target = format!("{}/{}", links.paths[*target], object_name(key));
                    self.structure.link(group, &name, &target)?;
                }
            }
        }
        if !scalars.is_empty() {
            let tables = self.structure.group(group, "#scalars")?;
            let path = format!("{path}/#scalars");
            for (rust_type, positions) in scalars {
                let name = object_name(rust_type);
                let place = ObjectPath {
                    parent: &tables,
                    path: &path,
                    name: &name,
                };
                self.scalars(&place, frame, &positions, &mut columns)?;
            }
        }
        for (variable, column) in info.variables.iter_mut().zip(&columns) {
            variable.bytes = column.as_ref().map_or(0, Stored::bytes);
        }
        self.index.frames.push(Frame { info, columns });
        Ok(())
    }

    /// Many single values of one Rust type as one table.
    fn scalars(
        &mut self,
        place: &ObjectPath<'_>,
        frame: &'s FrameRecord,
        positions: &[usize],
        columns: &mut [Option<Stored>],
    ) -> Result<(), StoreError> {
        let rows: Vec<(usize, &VariableRecord, &Data)> = positions
            .iter()
            .filter_map(|&position| match &frame.variables[position].content {
                Content::Value(Column::Data(data)) => Some((position, &frame.variables[position], data)),
                _ => None,
            })
            .collect();
        let Some((_, _, first)) = rows.first() else {
            return Ok(());
        };
        let dtype = first.dtype.clone();
        let name_size = rows
            .iter()
            .map(|(_, variable, _)| variable.key.len())
            .max()
            .unwrap_or(0)
            .max(1);
        let (size, row_size) = (dtype.size(), name_size + dtype.size() + 12);
        let mut body = Vec::with_capacity(rows.len() * row_size);
        let dataset = self.index.datasets.len() as u32;
        for (position, variable, data) in &rows {
            let start = body.len();
            body.extend_from_slice(variable.key.as_bytes());
            body.resize(start + name_size, 0);
            let block = Block {
                dataset,
                offset: body.len() as u64,
                length: size as u64,
            };
            columns[*position] = Some(Stored::Data {
                dtype: data.dtype.clone(),
                single: true,
                block,
            });
            body.extend_from_slice(&data.bytes);
            body.extend_from_slice(&variable.line.to_le_bytes());
            body.extend_from_slice(&variable.parameter.map_or(-1, i64::from).to_le_bytes());
        }
        let text = Type::new(&DType::Text, name_size, self.path)?;
        let value = Type::new(&dtype, size, self.path)?;
        let (line, parameter) = (
            Type::new(&DType::U32, 4, self.path)?,
            Type::new(&DType::I64, 8, self.path)?,
        );
        let parts = [
            ("name", &text, name_size),
            ("value", &value, size),
            ("line", &line, 4),
            ("parameter", &parameter, 8),
        ];
        let of = Type::record(&parts, self.path)?;
        let (_, object) = self.dataset_of(
            place,
            &DType::Record(row_size as u32),
            &of,
            Some(&[rows.len() as u64]),
            Source::Plain(body.into()),
        )?;
        self.structure.text(&object, "rust_type", rows[0].1.rust_type)
    }
}

fn link_target(variable: &VariableRecord) -> Option<(usize, &str)> {
    match &variable.content {
        Content::Link { frame, key } => Some((*frame, key)),
        Content::Value(_) => None,
    }
}

/// Where the variables of a checkpoint are that others are lent to.
struct Links<'a> {
    targets: &'a HashSet<(usize, &'a str)>,
    /// The path of every frame.
    paths: &'a [String],
}

pub(super) fn frame_info(frame: &FrameRecord) -> FrameInfo {
    let plan = frame.plan;
    let site = (frame.site as usize)
        .checked_sub(1)
        .and_then(|index| plan.sites.get(index));
    FrameInfo {
        function: plan.function.to_owned(),
        module: plan.module.to_owned(),
        file: plan.file.to_owned(),
        line: plan.line,
        thread: frame.thread,
        site: frame.site,
        site_line: site.map_or(0, |site| site.line),
        site_column: site.map_or(0, |site| site.column),
        callee: site.and_then(|site| site.kind.callee()).map(str::to_owned),
        layout: plan.layout,
        source: plan.source,
        variables: frame.variables.iter().map(variable_info).collect(),
    }
}
