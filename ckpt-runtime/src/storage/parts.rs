//! Which folder of a store is which rank's, and who has files there, as far as their names tell.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::fallback::{self, Seen};
use super::names::{self, file_of};
use crate::base::files;
use crate::format::CheckpointId;

/// Stands for the number of the rank in the name of a store.
const RANK: &str = "{rank}";

/// Whether every rank has a folder of its own in the store of this name: there is a `{rank}` in it.
pub fn has_place_for_rank(store: &Path) -> bool {
    store.to_str().is_some_and(|name| name.contains(RANK))
}

/// The folder that a rank writes in: `{rank}` in the name of a store is the number of the rank.
pub fn folder_of_rank(store: &Path, rank: u32) -> PathBuf {
    match store.to_str() {
        Some(name) if name.contains(RANK) => name.replace(RANK, &rank.to_string()).into(),
        _ => store.to_owned(),
    }
}

/// The checkpoints in a folder, or in the fallback of a rank that has one, and the ranks that they are of. In any order; none where there is no such folder. What has
/// such a name and is no plain file is none.
///
/// # Errors
/// The folder, or what is in it under such a name, cannot be looked at: there may be more than can be seen.
pub fn files_in(folder: &Path) -> io::Result<Vec<(CheckpointId, u32)>> {
    let mut found = files_of_checkpoints(folder)?;
    for rank in fallback::ranks_with_one(folder)? {
        if let Seen::There(fallback) = fallback::seen_from(folder, rank)? {
            found.extend(
                files_of_checkpoints(&fallback)?
                    .into_iter()
                    .filter(|file| file.1 == rank),
            );
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

fn files_of_checkpoints(folder: &Path) -> io::Result<Vec<(CheckpointId, u32)>> {
    let mut found = Vec::new();
    for entry in entries_of(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if let Some(file) = name.to_str().and_then(file_of)
            && files::kind(&entry)?.is_some_and(|kind| kind.is_file())
        {
            found.push(file);
        }
    }
    Ok(found)
}

fn entries_of(folder: &Path) -> io::Result<impl Iterator<Item = io::Result<fs::DirEntry>>> {
    match fs::read_dir(folder) {
        Ok(entries) => Ok(Some(entries).into_iter().flatten()),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(None.into_iter().flatten())
        }
        Err(error) => Err(error),
    }
}

/// Whether a rank has ever written in a folder, if only that it is at work there.
pub fn has_been_here(folder: &Path, rank: u32) -> bool {
    folder.join(names::lock(rank)).exists()
}

/// The ranks that have files in the store, or, where each has a folder of its own, one on this machine. In any order.
///
/// # Errors
/// As [`files_in`].
pub fn ranks_here(store: &Path) -> io::Result<Vec<u32>> {
    let Some(place) = store.ancestors().filter(|part| has_place_for_rank(part)).last() else {
        return Ok(files_in(store)?.into_iter().map(|(_, rank)| rank).collect());
    };
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    let Some((before, after)) = name.split_once(RANK) else {
        return Ok(Vec::new());
    };
    let after = after.rsplit(RANK).next().unwrap_or_default();
    let around = place
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let rank = |name: &str| -> Option<u32> {
        let digits = name.strip_prefix(before)?.strip_suffix(after)?;
        let digits = digits
            .chars()
            .take_while(char::is_ascii_digit)
            .collect::<String>();
        digits.parse().ok()
    };
    let mut ranks = Vec::new();
    for entry in entries_of(around)? {
        let name = entry?.file_name();
        ranks.extend(name.to_str().and_then(rank));
    }
    ranks.retain(|&rank| folder_of_rank(store, rank).is_dir());
    Ok(ranks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_has_its_place_in_the_name_of_a_folder() {
        let store = Path::new("/local/{rank}/x.ckpt.d");
        assert!(has_place_for_rank(store) && !has_place_for_rank(Path::new("x.ckpt.d")));
        assert_eq!(folder_of_rank(store, 3), Path::new("/local/3/x.ckpt.d"));
        assert_eq!(folder_of_rank(Path::new("x.ckpt.d"), 3), Path::new("x.ckpt.d"));
    }
}
