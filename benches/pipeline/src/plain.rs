//! What checkpoints are compared with: a plain file, and HDF5 as any program uses it.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use super::state::by_all_cores;

pub fn write_raw(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

pub fn write_hdf5(path: &Path, state: &[u64]) -> anyhow::Result<()> {
    let file = hdf5_metno::File::create(path)?;
    file.new_dataset::<u64>()
        .shape(state.len())
        .create("state")?
        .write(state)?;
    file.close()?;
    File::open(path)?.sync_all()?;
    Ok(())
}

pub fn read_hdf5(path: &Path) -> anyhow::Result<Vec<u64>> {
    let file = hdf5_metno::File::open(path)?;
    Ok(file.dataset("state")?.read_raw::<u64>()?)
}

/// The bytes of numbers as a file has them.
pub fn bytes_of(state: &[u64]) -> Vec<u8> {
    let mut bytes = vec![0; state.len() * 8];
    let pieces = bytes.chunks_mut(1 << 20).zip(state.chunks(1 << 17));
    by_all_cores(pieces, |(to, from)| {
        for (to, from) in to.chunks_exact_mut(8).zip(from) {
            to.copy_from_slice(&from.to_le_bytes());
        }
    });
    bytes
}
