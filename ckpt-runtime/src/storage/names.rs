//! What the files of a store are called.

use crate::format::CheckpointId;

/// How the name of a file ends that is not finished.
pub(super) const UNFINISHED: &str = ".tmp";

/// How the files of a rank end.
fn suffix(rank: u32) -> String {
    format!(".r{rank}.h5")
}

/// The name of the file in which a rank has a checkpoint: `000042.r0.h5`.
pub fn file_name(id: CheckpointId, rank: u32) -> String {
    format!("{id}{}", suffix(rank))
}

/// The checkpoint and the rank that a file of this name is of, also if somebody else has named it: without a rank, which is
/// then the first, or with another number of digits. A session goes by the names only that it writes itself.
pub fn file_of(name: &str) -> Option<(CheckpointId, u32)> {
    let name = name.strip_suffix(".h5")?;
    let (id, rank) = name.split_once(".r").unwrap_or((name, "0"));
    Some((CheckpointId(id.parse().ok()?), rank.parse().ok()?))
}

/// The checkpoint and the rank that a file of this name is of; `None` if it is of none, or not finished.
pub(super) fn written_file_of(name: &str) -> Option<(CheckpointId, u32)> {
    let (_, rank) = name.strip_suffix(".h5")?.rsplit_once(".r")?;
    let rank = rank.parse().ok()?;
    let number = name.strip_suffix(&suffix(rank))?;
    let plain = number.len() >= 6 && number.bytes().all(|b| b.is_ascii_digit());
    let id: CheckpointId = number.parse().ok().filter(|_| plain)?;
    // `0000001` and `000001` must not both be checkpoint 1.
    (id.to_string() == number && id.0 < u64::MAX).then_some((id, rank))
}

/// The name of the file of a checkpoint while it is being written.
pub(super) fn unfinished(id: CheckpointId, rank: u32) -> String {
    format!(".{}{UNFINISHED}", file_name(id, rank))
}

/// Whether a file of this name is one of a rank that is not finished.
pub(super) fn is_unfinished(name: &str, rank: u32) -> bool {
    name.starts_with('.') && name.ends_with(&format!("{}{UNFINISHED}", suffix(rank)))
}

/// The name of the file that a rank locks.
pub(super) fn lock(rank: u32) -> String {
    match rank {
        0 => "lock".to_owned(),
        _ => format!("lock.r{rank}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_the_checkpoint_and_the_rank() {
        for (id, rank) in [(1, 0), (42, 3), (1_000_000, 12)] {
            let id = CheckpointId(id);
            assert_eq!(written_file_of(&file_name(id, rank)), Some((id, rank)));
            assert_eq!(written_file_of(&unfinished(id, rank)), None);
            assert!(is_unfinished(&unfinished(id, rank), rank));
            assert!(!is_unfinished(&unfinished(id, rank), rank + 1));
        }
        assert_eq!(file_of("000002.h5"), Some((CheckpointId(2), 0)));
        assert_eq!(file_of("7.r3.h5"), Some((CheckpointId(7), 3)));
        assert_eq!(file_of(".000002.r0.h5.tmp"), None);
        let others = [
            "000001.h5",
            "1.r0.h5",
            "0000001.r0.h5",
            "000001.r00.h5",
            "+00001.r0.h5",
            "000001.r+1.h5",
            "18446744073709551615.r0.h5",
            "lock",
        ];
        for other in others {
            assert_eq!(written_file_of(other), None, "{other}");
        }
    }
}
