//! Which line a restart begins from: the newest that every rank has, whole.

use super::site_history;
use super::world::World;

/// What a rank has, at or below the line that is asked for.
#[derive(Debug)]
pub(crate) enum Found<T, E> {
    /// The newest checkpoint that is whole: its number, its site history, and it.
    Whole(u64, u64, T),
    /// None.
    Nothing,
    /// It was written by another number of ranks.
    OfOthers(u32),
    /// It cannot even look.
    Failed(E),
}

/// What the ranks have agreed on.
#[derive(Debug)]
pub(crate) enum Verdict<T, E> {
    /// This line, which this rank has opened.
    Line(T),
    /// There is none; this rank is the first that has nothing.
    None {
        /// The rank.
        lacking: u32,
    },
    /// The checkpoints are of so many ranks.
    OfOthers(u32),
    /// The files of this number are of different moments.
    Apart(u64),
    /// Some rank cannot look: the error of this one, if it is the first of them.
    Failed(Option<E>),
}

/// Finds the line, at or below this bound. `find` returns what this rank has at or below a number; `passed` is called with a line that not all have whole, and of
/// the first rank that has none as new.
/// One reduction for every line that is tried.
pub(crate) fn negotiate<T, E>(
    world: &World,
    mut bound: u64,
    mut find: impl FnMut(u64) -> Found<T, E>,
    mut passed: impl FnMut(u64, u32),
) -> Verdict<T, E> {
    loop {
        let found = find(bound);
        let of_all = compare(world, &found);
        if of_all.failed > 0 {
            return Verdict::Failed(match found {
                Found::Failed(error) if of_all.first_failed(world) => Some(error),
                _ => None,
            });
        }
        if of_all.others > 0 {
            return Verdict::OfOthers(of_all.others as u32);
        }
        if of_all.oldest == 0 {
            return Verdict::None {
                lacking: of_all.first_lacking(world),
            };
        }
        match found {
            Found::Whole(id, _, _) if of_all.oldest == of_all.newest && !of_all.same_history => {
                return Verdict::Apart(id);
            }
            Found::Whole(_, _, line) if of_all.oldest == of_all.newest => return Verdict::Line(line),
            _ => {
                passed(of_all.newest, of_all.last);
                bound = of_all.oldest;
            }
        }
    }
}

/// What the ranks have, all together.
struct OfAll {
    newest: u64,
    oldest: u64,
    /// The first rank that has the oldest.
    last: u32,
    others: i64,
    /// The size of the world less the first rank that failed, or has nothing; 0 if there is none.
    failed: i64,
    lacking: i64,
    same_history: bool,
}

impl OfAll {
    fn first_failed(&self, world: &World) -> bool {
        world
            .member()
            .is_none_or(|member| i64::from(member.size) - i64::from(member.rank) == self.failed)
    }

    fn first_lacking(&self, world: &World) -> u32 {
        let size = world.member().map_or(1, |member| member.size);
        size - self.lacking as u32
    }
}

fn compare<T, E>(world: &World, found: &Found<T, E>) -> OfAll {
    let place = world
        .member()
        .map_or(1, |member| i64::from(member.size) - i64::from(member.rank));
    let (mut id, mut others, mut failed, mut lacking, mut own_history) = (0, 0, 0, 0, 0);
    match found {
        Found::Whole(number, history, _) => (id, own_history) = (*number as i64, *history),
        Found::Nothing => lacking = place,
        Found::OfOthers(ranks) => others = i64::from(*ranks),
        Found::Failed(_) => failed = place,
    }
    // The smallest of all is the largest of the negatives; among equals the first rank has the largest place.
    let size = world.member().map_or(1, |member| i64::from(member.size));
    let [history, negative] = site_history::both_ways(own_history);
    let values = [
        id,
        place - 1 - id * size,
        others,
        failed,
        lacking,
        history,
        negative,
    ];
    let [newest, oldest, others, failed, lacking, history, negative] = world.largest(values);
    OfAll {
        newest: newest as u64,
        oldest: oldest.div_euclid(size).unsigned_abs(),
        last: (size - 1 - oldest.rem_euclid(size)) as u32,
        others,
        failed,
        lacking,
        same_history: site_history::is_same([history, negative]),
    }
}
