//! Many arrays in one file: a zip archive of `.npy` files, as `numpy.load` reads it.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use ckpt::store::Restored;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::Named;
use super::npy::{self, NpyError};
use crate::failure::{AboutFile, Failure, Outcome};
use crate::values::checkpoint::unreadable;

/// Writes all of them under their names.
pub fn write(to: &Path, checkpoint: &Restored, list: &[Named<'_>]) -> Outcome<()> {
    let file = File::create(to).about("cannot write", to)?;
    let mut archive = ZipWriter::new(BufWriter::new(file));
    let failed = |error: &dyn std::fmt::Display| {
        Failure::store(format!("E3032: cannot write `{}`", to.display())).because(error)
    };
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .large_file(true);
    for one in list {
        archive
            .start_file(format!("{}.npy", one.name), options)
            .map_err(|error| failed(&error))?;
        npy::write(&mut archive, checkpoint, one.node).map_err(|error| match error {
            NpyError::Load(error) => unreadable(one.node)(error),
            NpyError::Write(error) => failed(&error),
        })?;
    }
    let mut file = archive.finish().map_err(|error| failed(&error))?;
    std::io::Write::flush(&mut file).about("cannot write", to)
}
