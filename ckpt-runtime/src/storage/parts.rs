//! Which folder of a store is which rank's, and who has files there, as far as their names tell.

use std::fs;
use std::path::{Path, PathBuf};

use super::names::file_of;
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

/// The checkpoints in a folder, and the ranks that they are of. In any order; none where the folder cannot be read.
pub fn files_in(folder: &Path) -> Vec<(CheckpointId, u32)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter_map(|name| file_of(&name)).collect()
}

/// The ranks that have files in the store, or, where each has a folder of its own, one on this machine. In any order.
pub fn ranks_here(store: &Path) -> Vec<u32> {
    let Some(place) = store.ancestors().filter(|part| has_place_for_rank(part)).last() else {
        return files_in(store).into_iter().map(|(_, rank)| rank).collect();
    };
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    let Some((before, after)) = name.split_once(RANK) else {
        return Vec::new();
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
    let entries = fs::read_dir(around).into_iter().flatten().flatten();
    let ranks = entries.filter_map(|entry| rank(entry.file_name().to_str()?));
    ranks
        .filter(|&rank| folder_of_rank(store, rank).is_dir())
        .collect()
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
