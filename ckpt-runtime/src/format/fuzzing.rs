//! The readers of this folder, given bytes by a fuzzer.

use std::fs::File;

use super::container;
use super::index::Index;

/// Reads an index. What can be read is written, and is the same when it is read again.
pub fn index(bytes: &[u8]) {
    let limit = u64::MAX / 2;
    let _ = Index::head_from_bytes(bytes);
    if let Ok(index) = Index::from_bytes(bytes, limit) {
        assert!(Index::from_bytes(&index.to_bytes(), limit) == Ok(index));
    }
}

/// Makes the checksums of a file fit what it holds, as far as it has a header and an index: what a fuzzer changes then is
/// looked at behind them.
///
/// # Errors
/// The file cannot be read or written.
pub fn reseal(file: &File) -> std::io::Result<()> {
    container::reseal(file)
}
