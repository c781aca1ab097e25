//! Many arrays in one file: a zip archive of `.npy` files, as `numpy.load` reads it.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use ckpt::store::Restored;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::Named;
use super::npy::{self, NpyError};
use crate::failure::{AboutFile, Outcome};
use crate::stores::checkpoint::unreadable;

/// Writes all of them under their names.
pub fn write(to: &Path, checkpoint: &Restored, list: &[Named<'_>]) -> Outcome<()> {
    let file = File::create(to).about("cannot write", to)?;
    let mut archive = ZipWriter::new(BufWriter::new(file));
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .large_file(true);
    for one in list {
        let name = format!("{}.npy", one.name);
        let begun = archive.start_file(name, options).map_err(std::io::Error::other);
        begun.about("cannot write", to)?;
        match npy::write(&mut archive, checkpoint, one) {
            Ok(()) => {}
            Err(NpyError::Load(error)) => return Err(unreadable(one.node)(error)),
            Err(NpyError::Write(error)) => return Err(error).about("cannot write", to),
        }
    }
    let finished = archive.finish().map_err(std::io::Error::other);
    std::io::Write::flush(&mut finished.about("cannot write", to)?).about("cannot write", to)
}
