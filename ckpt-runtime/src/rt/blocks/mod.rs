//! Parallel iterators that are cut into blocks of items, with a site between them.
//!
//! [`Blocks`] counts items by where they stand; `items` has what they are taken from, `joined` what becomes of that which the
//! blocks give, `pace` how many items a block has.

mod items;
mod joined;
mod pace;

use std::borrow::Cow;

pub use items::*;
pub use joined::*;
use pace::Pace;

use crate::value::{Checkpoint, Decoder, Encoder, LoadError};

/// How far a parallel iterator is that is gone over block by block.
#[derive(Debug)]
pub struct Blocks {
    next: u64,
    end: u64,
    /// Whether there has been a block: an iterator over nothing has one as well, which says what comes of nothing.
    begun: bool,
    pace: Pace,
}

/// Some items, by their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    from: u64,
    to: u64,
}

impl Block {
    fn count(self) -> usize {
        index(self.to - self.from)
    }
}

/// A number that is known to be less than the length of something in memory.
fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Begins with so many items. Where it stands in the source says which blocks have been measured before.
#[track_caller]
#[inline]
pub fn blocks(count: u64) -> Blocks {
    Blocks {
        next: 0,
        end: count,
        begun: false,
        pace: Pace::at(std::panic::Location::caller()),
    }
}

/// Whether there is another block. What was done since the last one began was that one.
#[inline]
pub fn goes_on(blocks: &mut Blocks) -> bool {
    blocks.pace.done();
    blocks.next < blocks.end || !blocks.begun
}

/// The next block.
#[inline]
pub fn block(blocks: &mut Blocks) -> Block {
    let from = blocks.next;
    blocks.next += blocks.pace.begin(blocks.end - from);
    blocks.begun = true;
    Block {
        from,
        to: blocks.next,
    }
}

impl Checkpoint for Blocks {
    fn save(&self, to: &mut Encoder<'_>) {
        const NAMES: &[Cow<'static, str>] = &[Cow::Borrowed("next"), Cow::Borrowed("end")];
        self.next.save(&mut to.field(NAMES, 0));
        self.end.save(&mut to.field(NAMES, 1));
    }

    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        let (next, end): (u64, u64) = (from.field(&["next"])?, from.field(&["end"])?);
        Ok(Blocks {
            next: next.min(end),
            end,
            // A site stands in front of a block: where none has been, the first is still to come.
            begun: false,
            pace: Pace::default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::tests::round_trip;

    #[test]
    fn without_a_session_all_items_are_one_block() {
        for count in [0, 1, 1000] {
            let mut all = blocks(count);
            assert!(goes_on(&mut all));
            assert_eq!(block(&mut all), Block { from: 0, to: count });
            assert!(!goes_on(&mut all));
        }
    }

    #[test]
    fn what_comes_back_goes_on_where_it_was() {
        let half = Blocks {
            next: 7,
            begun: true,
            ..blocks(10)
        };
        let mut rest = round_trip(&half);
        assert!(goes_on(&mut rest));
        assert_eq!(block(&mut rest), Block { from: 7, to: 10 });
        assert!(!goes_on(&mut rest));
    }
}
