//! Tables of owned objects that say something else than what was saved: errors, never a panic or a long loop.

use std::borrow::Cow;

use super::tests::{decode, encode};
use super::{Checkpoint, Column, DType, Decoder, Encoder, LoadError, ObjectTable, Reach};

#[derive(Debug, PartialEq)]
struct Pair(u8, Option<Box<Pair>>, Vec<Pair>);

impl Checkpoint for Pair {
    fn save(&self, to: &mut Encoder<'_>) {
        const NAMES: &[Cow<'static, str>] = &[Cow::Borrowed("0"), Cow::Borrowed("1"), Cow::Borrowed("2")];
        self.0.save(&mut to.field(NAMES, 0));
        self.1.save(&mut to.field(NAMES, 1));
        self.2.save(&mut to.field(NAMES, 2));
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        Ok(Pair(
            from.field(&["0"])?,
            from.field(&["1"])?,
            from.field(&["2"])?,
        ))
    }
    fn reach(to: &mut Reach) {
        to.into_part::<u8>();
        to.into_part::<Option<Box<Pair>>>();
        to.into_part::<Vec<Pair>>();
    }
}

fn pair(depth: u8) -> Pair {
    let below = depth.checked_sub(1);
    Pair(
        depth,
        below.map(pair).map(Box::new),
        below.map(pair).into_iter().collect(),
    )
}

fn leaves(column: &mut Column, wanted: &mut impl FnMut(&DType, &mut Vec<u8>)) {
    match column {
        Column::Empty => {}
        Column::Data(data) => wanted(&data.dtype, &mut data.bytes),
        Column::Group(group) => group
            .children
            .iter_mut()
            .for_each(|(_, child)| leaves(child, wanted)),
        Column::Array { items, .. } => leaves(items, wanted),
    }
}

/// Every leaf of the tables, one after the other, after `change`.
fn with_changes(change: impl Fn(&DType, &mut Vec<u8>)) -> Vec<Result<Pair, LoadError>> {
    let (column, tables) = encode(&pair(4)).unwrap();
    let mut results = Vec::new();
    for number in 0.. {
        let mut tables: Vec<ObjectTable> = tables.clone();
        let mut seen = 0;
        let mut changed = false;
        for table in &mut tables {
            leaves(&mut table.items, &mut |dtype, bytes| {
                if seen == number {
                    change(dtype, bytes);
                    changed = true;
                }
                seen += 1;
            });
        }
        if !changed {
            return results;
        }
        results.push(decode(&(column.clone(), tables)));
    }
    unreachable!()
}

#[test]
fn it_comes_back() {
    let (column, tables) = encode(&pair(4)).unwrap();
    assert_eq!(tables.len(), 2);
    assert!(tables.iter().all(|table| table.ids.is_empty()));
    assert_eq!(decode::<Pair>(&(column, tables)).unwrap(), pair(4));
}

#[test]
fn columns_that_are_too_short_are_errors() {
    let results = with_changes(|dtype, bytes| bytes.truncate(bytes.len() - dtype.size()));
    assert!(results.len() >= 8);
    assert!(results.iter().all(Result::is_err), "{results:?}");
    assert!(with_changes(|_, bytes| bytes.clear()).iter().all(Result::is_err));
}

#[test]
fn numbers_that_lead_nowhere_are_errors() {
    for wrong in [u64::MAX, 1 << 40, 200] {
        let results = with_changes(|dtype, bytes| {
            if matches!(dtype, DType::Object(_)) {
                bytes[..8].copy_from_slice(&wrong.to_le_bytes());
            }
        });
        assert!(results.iter().any(Result::is_err));
    }
}

#[test]
fn an_object_has_one_owner_and_stands_before_it() {
    let same = with_changes(|dtype, bytes| {
        if matches!(dtype, DType::Object(_)) {
            bytes.chunks_exact_mut(8).for_each(|id| id.fill(0));
        }
    });
    assert!(
        same.iter()
            .flat_map(Result::as_ref)
            .all(|value| *value == pair(4))
    );
    assert!(
        same.iter()
            .any(|result| matches!(result, Err(error) if error.to_string().contains("two owners")))
    );
    let last = with_changes(|dtype, bytes| {
        if matches!(dtype, DType::Object(_)) {
            bytes
                .chunks_exact_mut(8)
                .for_each(|id| id.copy_from_slice(&6_u64.to_le_bytes()));
        }
    });
    assert!(last.iter().any(Result::is_err));
}

#[test]
fn lengths_without_end_are_errors() {
    let results = with_changes(|dtype, bytes| {
        if *dtype == DType::U64 {
            bytes.fill(0xff);
        }
    });
    assert!(results.iter().any(Result::is_err));
}

#[test]
fn a_table_that_does_not_exist_is_an_error() {
    let (column, _) = encode(&pair(4)).unwrap();
    let error = decode::<Pair>(&(column, Vec::new())).unwrap_err();
    assert!(error.to_string().contains("no shared table"), "{error}");
}

/// Without the help of a file that is right: as an older ckpt has saved it, every level at its own place.
#[test]
fn values_at_their_own_places_come_back() {
    #[derive(Debug)]
    struct Inline(Pair);
    impl Checkpoint for Inline {
        fn save(&self, to: &mut Encoder<'_>) {
            let was = std::mem::replace(&mut to.objects().in_place, true);
            self.0.save(to);
            to.objects().in_place = was;
        }
        fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
            Pair::load(from).map(Inline)
        }
    }
    let (column, tables) = encode(&Inline(pair(4))).unwrap();
    assert!(tables.is_empty());
    assert_eq!(decode::<Pair>(&(column, tables)).unwrap(), pair(4));
}

#[test]
fn deeper_than_the_bound_is_refused() {
    let mut objects = super::Objects::default();
    objects.enter("x");
    objects.deeper_than_all();
    let mut column = Column::Empty;
    pair(1).save(&mut Encoder::new(&mut column, false, &mut objects));
    let why = objects.finish().unwrap_err().why;
    assert!(why.contains("more than 2000000 deep"), "{why}");
}
