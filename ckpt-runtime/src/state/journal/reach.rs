//! To which epochs of its run a session can bring the files back: what retention goes by, which asks with every checkpoint.
//! The journal on the disk says the same to whoever reads it.

use std::sync::Mutex;

use crate::base::lock::locked;
use crate::base::sorted::SortedSet;

/// What the session knows of that; where nothing speaks against an epoch, it can be reached. A leaf lock.
#[derive(Debug, Default)]
pub(crate) struct Reach(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// Those that were out of reach when the session began, of those that have a checkpoint.
    before: SortedSet<u64>,
    /// Up to here something could not be kept.
    lost: Option<u64>,
    /// Those that began behind the first and before the second were given up, as the files were brought back to the first.
    given_up: Vec<(u64, u64)>,
}

impl Reach {
    /// With those that are out of reach already.
    pub(super) fn without(before: SortedSet<u64>) -> Reach {
        Reach(Mutex::new(Known {
            before,
            ..Known::default()
        }))
    }

    /// Something of this epoch could not be kept.
    pub(super) fn lose(&self, epoch: u64) {
        let lost = &mut locked(&self.0).lost;
        *lost = (*lost).max(Some(epoch));
    }

    /// The files were brought back to the begin of an epoch, and another began.
    pub(super) fn give_up(&self, to: u64, next: u64) {
        locked(&self.0).given_up.push((to, next));
    }

    /// Whether the files can be brought back to the begin of an epoch.
    pub(crate) fn has(&self, epoch: u64) -> bool {
        let known = locked(&self.0);
        let is_given_up = |(to, next): &(u64, u64)| *to < epoch && epoch < *next;
        !known.before.contains(&epoch)
            && known.lost.is_none_or(|lost| epoch > lost)
            && !known.given_up.iter().any(is_given_up)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_lost_or_given_up_is_out_of_reach() {
        let reach = Reach::without(SortedSet::from([2]));
        let reached = |reach: &Reach| (1..10).filter(|epoch| reach.has(*epoch)).collect::<Vec<u64>>();
        assert_eq!(reached(&reach), [1, 3, 4, 5, 6, 7, 8, 9]);
        reach.give_up(3, 6);
        assert_eq!(reached(&reach), [1, 3, 6, 7, 8, 9]);
        reach.lose(7);
        reach.lose(6);
        assert_eq!(reached(&reach), [8, 9]);
    }
}
