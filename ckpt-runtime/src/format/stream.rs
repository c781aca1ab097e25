//! A checkpoint whose large lists are written while they are gathered, straight from the program's memory: the program
//! waits for the disk, and there is no second copy of them.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::container;
use super::direct::Route;
use super::hdf5::{Id, Structure, Type};
use super::survey::{Source, dense};
use super::{Direct, StoreError, Ways};
use crate::base::fault::{Faults, Step};
use crate::base::kept_open::KeptOpen;
use crate::value::{DType, Sink, Written};

/// The file of a checkpoint that is being gathered.
pub(crate) struct Stream {
    pub(super) structure: Structure,
    pub(super) file: KeptOpen,
    path: PathBuf,
    /// The lists that have been written, and where.
    pub(super) written: Vec<Option<(Id, u64)>>,
    pub(super) route: Route,
    failure: Option<StoreError>,
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stream")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl Stream {
    /// Makes the file, which must not exist.
    pub fn create(
        path: &Path,
        faults: Faults,
        (direct, ways): (Direct, &Arc<Mutex<Ways>>),
    ) -> Result<Stream, StoreError> {
        faults.reached(Step::BeforeCreate);
        let structure = Structure::create(path)?;
        faults.reached(Step::Created);
        let file = container::reserve(path, 64 * 1024)?;
        Ok(Stream {
            structure,
            file,
            path: path.to_owned(),
            written: Vec::new(),
            route: Route::new(direct, ways),
            failure: None,
        })
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What went wrong while lists were written.
    pub fn failure(&self) -> Option<StoreError> {
        self.failure.clone()
    }

    fn write_list(&mut self, dtype: &DType, row: usize, bytes: &[u8]) -> Result<Option<Written>, StoreError> {
        let source = Source::Plain(bytes.into());
        let Some(block) = dense(&source, Some(row * dtype.size())) else {
            return Ok(None);
        };
        container::room_for(&self.file, &self.path, bytes.len() as u64)?;
        let items = (bytes.len() / dtype.size() / row) as u64;
        let dims = [items, row as u64];
        let of = Type::new(dtype, dtype.size(), &self.path)?;
        let (object, offset) = self
            .structure
            .unnamed(&of, if row == 1 { &dims[..1] } else { &dims })?;
        let checksums = self
            .route
            .write_and_sum((&self.file, &self.path), bytes, block, offset)
            .map_err(|error| StoreError::writing(&self.path, bytes.len() as u64, &error))?;
        self.written.push(Some((object, offset)));
        Ok(Some(Written {
            number: self.written.len() - 1,
            block,
            checksums,
        }))
    }
}

impl Sink for Stream {
    fn write(&mut self, dtype: &DType, row: usize, bytes: &[u8]) -> Option<Written> {
        // One failure is enough: what follows is gathered for nothing, but need not be copied.
        if self.failure.is_some() || matches!(dtype, DType::Object(_) | DType::Text) {
            return None;
        }
        self.write_list(dtype, row, bytes).unwrap_or_else(|error| {
            self.failure = Some(error);
            None
        })
    }
}
