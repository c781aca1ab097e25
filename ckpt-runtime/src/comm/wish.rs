//! A rank that wants to go back to a checkpoint. All go back together, at a site visit at which all know of it: no message is under
//! way there, neither of the program nor of ckpt. What the rank wants it for is told there.

use std::fmt::Display;
use std::time::Duration;

use super::world::{World, locked};
use crate::base::report::{Fatal, headline};

/// A rank that is about to end all says why; the others give it so much time.
const SPEAKS: Duration = Duration::from_secs(5);

/// A rank that cannot go back ends as one that has panicked: whatever has started the job starts it again.
pub(crate) const FAILED: i32 = 101;

/// Bytes of a text in one number, which is not below 0.
const BYTES: usize = 7;
/// Numbers that a text has.
const NUMBERS: usize = 64;

/// What a rank wants to go back for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wish {
    /// Why, for people.
    pub reason: String,
    /// The number of the checkpoint; none for the newest that may help.
    pub to: Option<u64>,
    /// The site visits of the rank by then.
    pub visits: u64,
    /// A test wants it: nothing is wrong.
    pub is_a_test: bool,
}

impl World {
    /// This rank wants to go back. An earlier wish stays.
    pub(crate) fn wants_back(&self, wish: Wish) {
        locked(&self.wish).get_or_insert(wish);
    }

    /// Whether this rank wants to go back, and has not.
    pub(crate) fn has_a_wish(&self) -> bool {
        locked(&self.wish).is_some()
    }

    /// What the first rank that wants to go back wants it for; none where no rank does. All ask, and wait for each other.
    pub(crate) fn wish_of_all(&self) -> Option<(u32, Wish)> {
        let own = locked(&self.wish).take();
        let (rank, size) = self.member().map_or((0, 1), |member| (member.rank, member.size));
        let place = i64::from(size) - i64::from(rank);
        let [first] = self.largest([own.as_ref().map_or(0, |_| place)]);
        if first == 0 {
            return None;
        }
        let told = own.filter(|_| place == first);
        let numbers = told.as_ref().map_or([0; 2], |wish| {
            let to = wish.to.map_or(0, |to| to as i64 + 1);
            [wish.visits as i64, to]
        });
        let [visits, to] = self.largest(numbers);
        let reason = self.largest(told.map_or([0; NUMBERS], |wish| packed(&wish.reason)));
        let wish = Wish {
            reason: unpacked(&reason),
            to: (to > 0).then(|| to.unsigned_abs() - 1),
            visits: visits.unsigned_abs(),
            is_a_test: false,
        };
        Some((size - first as u32, wish))
    }

    /// The program is over for this rank, which may want to go back and comes to no site any more: what it has computed is wrong. The
    /// others are not asked, who may wait for this one.
    pub(crate) fn wants_nothing(&self) -> Result<(), Fatal> {
        match locked(&self.wish).take() {
            Some(wish) if !wish.is_a_test => Err(not_heard(&wish)),
            _ => Ok(()),
        }
    }

    /// This rank could not go back with the others, or another could not: all end. The first that has a reason gives it.
    pub(crate) fn cannot_go_back(&self, why: Option<Fatal>) -> ! {
        match why {
            Some(fatal) => fatal.exit(),
            None => {
                std::thread::sleep(SPEAKS);
                cannot_go_back(&"another cannot, which says why").exit()
            }
        }
    }
}

fn not_heard(wish: &Wish) -> Fatal {
    Fatal::new(
        FAILED,
        headline!(
            "E2394: this rank was to go back to a checkpoint, and came to no site any more: {}",
            wish.reason
        ),
    )
    .why("ranks go back together, at a site: there is none behind the place where the rank has asked for it, and what it has computed is wrong")
    .help("restart the job from its newest line, which was taken before; put a site behind the last look at the state")
}

/// What a rank says that was to go back to a checkpoint, and cannot.
pub(crate) fn cannot_go_back(why: &dyn Display) -> Fatal {
    Fatal::new(
        FAILED,
        headline!("E2395: a rank was to go back to a checkpoint, and this one cannot: {why}"),
    )
    .why("what the ranks have computed since their newest line may be wrong")
    .help("restart the job from its newest line")
}

/// As much of a text as there is room for.
fn packed(text: &str) -> [i64; NUMBERS] {
    let mut numbers = [0; NUMBERS];
    for (number, bytes) in numbers.iter_mut().zip(text.as_bytes().chunks(BYTES)) {
        *number = { bytes.iter().rev() }.fold(0, |number, byte| number << 8 | i64::from(*byte));
    }
    numbers
}

fn unpacked(numbers: &[i64; NUMBERS]) -> String {
    let bytes = numbers
        .iter()
        .flat_map(|number| number.to_le_bytes().into_iter().take(BYTES));
    let bytes: Vec<u8> = bytes.take_while(|byte| *byte != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_arrives_as_far_as_there_is_room() {
        let text = |times| "the energy is 7 \u{b5}J; ".repeat(times);
        for times in [0, 1, 2, 10] {
            assert_eq!(unpacked(&packed(&text(times))), text(times));
            assert!(packed(&text(times)).iter().all(|number| *number >= 0));
        }
        let long = unpacked(&packed(&text(100)));
        assert!(long.len() >= BYTES * NUMBERS - 2 && long.starts_with(&text(10)));
    }
}
