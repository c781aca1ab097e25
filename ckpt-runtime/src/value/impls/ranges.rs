//! Ranges, and the adapters of ranges whose state can be seen from outside: a `for` saves how far it got as one of them.

use std::borrow::Cow;
use std::iter::{Rev, StepBy};
use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use super::transparent;
use crate::value::{Checkpoint, Decoder, Encoder, LoadError};

const FIELDS: &[Cow<'static, str>] = &[
    Cow::Borrowed("start"),
    Cow::Borrowed("end"),
    Cow::Borrowed("exhausted"),
];
const START_END: &[Cow<'static, str>] = FIELDS.split_at(2).0;

transparent! {
    [T: Checkpoint] RangeFrom<T> => T, |range| &range.start, |start| start..;
    [T: Checkpoint] RangeTo<T> => T, |range| &range.end, |end| ..end;
    [T: Checkpoint] RangeToInclusive<T> => T, |range| &range.end, |end| ..=end;
    [] RangeFull => (), |_range| &(), |_all| ..;
}

impl<T: Checkpoint> Checkpoint for Range<T> {
    const BITS: bool = T::BITS;
    fn save(&self, to: &mut Encoder<'_>) {
        self.start.save(&mut to.field(START_END, 0));
        self.end.save(&mut to.field(START_END, 1));
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        Ok(from.field(&["start"])?..from.field(&["end"])?)
    }
}

/// `exhaust` makes a range that has given its last item; it can only be used on ranges that give items.
macro_rules! inclusive {
    ($($type:ty)*, $exhaust:expr) => {$(
        impl Checkpoint for RangeInclusive<$type> {
            const BITS: bool = true;
            fn save(&self, to: &mut Encoder<'_>) {
                let exhausted = self.start() <= self.end() && self.is_empty();
                self.start().save(&mut to.field(FIELDS, 0));
                self.end().save(&mut to.field(FIELDS, 1));
                exhausted.save(&mut to.field(FIELDS, 2));
            }
            fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
                let mut range = RangeInclusive::new(from.field(&["start"])?, from.field(&["end"])?);
                if from.field(&["exhausted"])? {
                    let exhaust: fn(&mut RangeInclusive<$type>) = $exhaust;
                    exhaust(&mut range);
                }
                Ok(range)
            }
        }
    )*};
}

inclusive!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize char, |range| {
    // `nth` beyond the end leaves start at the end, exhausted: as `next` does after the last item.
    range.nth(usize::MAX);
    while range.next().is_some() {}
});
inclusive!(f32 f64, |_| ());

/// First and last item that a stepped range still yields, and the step, from its public behaviour.
macro_rules! steps {
    ($steps:expr, $type:ty, $unsigned:ty, $to:ident) => {{
        let mut ahead = $steps.clone();
        let count = ahead.size_hint();
        match (ahead.next(), ahead.next()) {
            (None, _) => None,
            (Some(first), None) => Some((first, first, 1)),
            (Some(first), Some(second)) => {
                if count.1 != Some(count.0) {
                    $to.fail("a stepped range in it has more items than this machine can count");
                }
                // Modulo 2^n, as the range itself counts: a step of 150 leads from -100 to 50 in an `i8`.
                let step = second.wrapping_sub(first) as $unsigned;
                let way = (count.0 as $unsigned).wrapping_sub(1).wrapping_mul(step);
                Some((first, first.wrapping_add(way as $type), step as u64))
            }
        }
    }};
}
/// Iterators that are saved as the range of what they still give.
macro_rules! remaining {
    ($($type:ty as $unsigned:ty;)*) => {$(
        impl Checkpoint for Rev<Range<$type>> {
            const BITS: bool = true;
            fn save(&self, to: &mut Encoder<'_>) {
                // The largest item comes first; an empty range is saved as some empty range.
                let range = match (self.clone().next_back(), self.clone().next()) {
                    (Some(start), Some(last)) => start..last + 1,
                    _ => 0..0,
                };
                range.save(to);
            }
            fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
                Range::load(from).map(Iterator::rev)
            }
        }

        impl Checkpoint for Rev<RangeInclusive<$type>> {
            const BITS: bool = true;
            fn save(&self, to: &mut Encoder<'_>) {
                let range = match (self.clone().next_back(), self.clone().next()) {
                    (Some(start), Some(last)) => start..=last,
                    _ => RangeInclusive::new(1, 0),
                };
                range.save(to);
            }
            fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
                RangeInclusive::load(from).map(Iterator::rev)
            }
        }

        impl Checkpoint for StepBy<Range<$type>> {
            const BITS: bool = true;
            fn save(&self, to: &mut Encoder<'_>) {
                match steps!(self, $type, $unsigned, to) {
                    Some((first, last, step)) => ((first..last + 1), step).save(to),
                    None => (0 as $type..0, 1_u64).save(to),
                }
            }
            fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
                let (range, step) = <(Range<$type>, u64)>::load(from)?;
                Ok(range.step_by(step_size(step)?))
            }
        }

        impl Checkpoint for StepBy<RangeInclusive<$type>> {
            const BITS: bool = true;
            fn save(&self, to: &mut Encoder<'_>) {
                match steps!(self, $type, $unsigned, to) {
                    Some((first, last, step)) => ((first..=last), step).save(to),
                    None => (RangeInclusive::<$type>::new(1, 0), 1_u64).save(to),
                }
            }
            fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
                let (range, step) = <(RangeInclusive<$type>, u64)>::load(from)?;
                Ok(range.step_by(step_size(step)?))
            }
        }
    )*};
}

remaining! {
    u8 as u8; u16 as u16; u32 as u32; u64 as u64; usize as usize;
    i8 as u8; i16 as u16; i32 as u32; i64 as u64; isize as usize;
}

fn step_size(step: u64) -> Result<usize, LoadError> {
    match usize::try_from(step) {
        Ok(0) => Err(LoadError::invalid("a range has the step 0")),
        Ok(step) => Ok(step),
        Err(_) => Err(LoadError::invalid(format_args!(
            "the step {step} is too large for this machine"
        ))),
    }
}
