//! The order in which the entries of a hash table are stored: that of their keys' stored form.

use super::column::{Column, DType, Data, Kind};
use super::{Checkpoint, Encoder};

/// The order of these keys; `None` where it cannot be told, which has been reported.
pub(crate) fn order_of<'k, K: Checkpoint + 'k>(
    keys: impl ExactSizeIterator<Item = &'k K> + Clone,
    to: &mut Encoder<'_>,
) -> Option<Vec<usize>> {
    if to.measures() {
        return None;
    }
    let count = keys.len();
    let columns = to.aside(keys);
    // The bytes of all, where each ends, and what they are sorted by.
    let needed = columns.bytes() as usize * 2 + count * (size_of::<usize>() + size_of::<(u128, usize)>());
    (!to.failed() && to.has_room(needed)).then(|| order(&columns, count))
}

/// The rows `0..count` of `keys`, sorted: numbers by value, strings by bytes, everything else by its columns from the
/// first to the last.
pub(crate) fn order(keys: &Column, count: usize) -> Vec<usize> {
    let numbers = match keys {
        Column::Data(data) => order_of_numbers(data, count),
        _ => None,
    };
    if let Some(order) = numbers {
        return order;
    }
    let mut all = Vec::new();
    let mut ends = Vec::with_capacity(count);
    let mut reader = Reader::of(keys);
    for _ in 0..count {
        reader.row(&mut all);
        ends.push(all.len());
    }
    let row = |index: usize| &all[if index == 0 { 0 } else { ends[index - 1] }..ends[index]];
    // Most rows differ in their first bytes, which are compared without going to the rows.
    let mut keyed: Vec<(u128, usize)> = (0..count).map(|index| (first_bytes(row(index)), index)).collect();
    keyed.sort_unstable_by(|a, b| {
        let by_rows = || row(a.1).cmp(row(b.1)).then(a.1.cmp(&b.1));
        a.0.cmp(&b.0).then_with(by_rows)
    });
    keyed.into_iter().map(|(_, row)| row).collect()
}

/// A number of which the order is that of the rows, as far as it tells them apart: what is behind the end of a row is zero.
fn first_bytes(row: &[u8]) -> u128 {
    let mut first = [0; 16];
    let count = row.len().min(first.len());
    first[..count].copy_from_slice(&row[..count]);
    u128::from_be_bytes(first)
}

fn order_of_numbers(data: &Data, count: usize) -> Option<Vec<usize>> {
    let size = data.dtype.size();
    if size > 8 || data.bytes.len() != size * count {
        return None;
    }
    let mut keyed: Vec<(u64, usize)> = data
        .bytes
        .chunks_exact(size)
        .enumerate()
        .map(|(row, bytes)| {
            let mut wide = [0; 8];
            wide[8 - size..].copy_from_slice(&sortable(&data.dtype, bytes)[..size]);
            (u64::from_be_bytes(wide), row)
        })
        .collect();
    keyed.sort_unstable();
    Some(keyed.into_iter().map(|(_, row)| row).collect())
}

/// The bytes of a stored element such that comparing bytes compares values.
fn sortable(dtype: &DType, stored: &[u8]) -> [u8; 16] {
    let mut bytes = [0; 16];
    for (to, from) in bytes.iter_mut().zip(stored.iter().rev()) {
        *to = *from;
    }
    if matches!(
        dtype,
        DType::I8 | DType::I16 | DType::I32 | DType::I64 | DType::I128
    ) {
        bytes[0] ^= 0x80;
    }
    bytes
}

/// Walks a column tree row by row.
enum Reader<'a> {
    Empty,
    Data { data: &'a Data, at: usize },
    Group { kind: Kind, children: Vec<Reader<'a>> },
    Array { length: u64, items: Box<Reader<'a>> },
}

impl<'a> Reader<'a> {
    fn of(column: &'a Column) -> Self {
        match column {
            Column::Empty => Reader::Empty,
            Column::Data(data) => Reader::Data { data, at: 0 },
            Column::Group(group) => Reader::Group {
                kind: group.kind,
                children: group
                    .children
                    .iter()
                    .map(|(_, child)| Reader::of(child))
                    .collect(),
            },
            Column::Array { length, items } => Reader::Array {
                length: *length,
                items: Box::new(Reader::of(items)),
            },
        }
    }

    /// Appends the bytes of the next row.
    fn row(&mut self, to: &mut Vec<u8>) {
        match self {
            Reader::Empty => {}
            Reader::Data { data, at } => {
                let size = data.dtype.size();
                if let Some(stored) = data.bytes.get(*at..*at + size) {
                    to.extend_from_slice(&sortable(&data.dtype, stored)[..size]);
                }
                *at += size;
            }
            Reader::Array { length, items } => (0..(*length).max(1)).for_each(|_| items.row(to)),
            Reader::Group { kind, children } => match (kind, children.as_mut_slice()) {
                (Kind::Struct, children) => children.iter_mut().for_each(|child| child.row(to)),
                // The items first: a prefix sorts before what it is a prefix of, whatever the lengths.
                (Kind::Strings, [lengths, text]) => {
                    let length = lengths.number();
                    if let Reader::Data { data, at } = text {
                        to.extend_from_slice(data.bytes.get(*at..*at + length).unwrap_or_default());
                        *at += length;
                    }
                }
                (Kind::List, [lengths, items]) => (0..lengths.number()).for_each(|_| {
                    to.push(1);
                    items.row(to);
                }),
                (Kind::Map, [keys, values, lengths]) => (0..lengths.number()).for_each(|_| {
                    to.push(1);
                    keys.row(to);
                    values.row(to);
                }),
                (Kind::Option, [present, value]) => {
                    let before = to.len();
                    present.row(to);
                    if to.get(before) == Some(&1) {
                        value.row(to);
                    }
                }
                (Kind::Enum | Kind::Dyn, [variant, payloads @ ..]) => {
                    let number = variant.number();
                    to.extend_from_slice(&(number as u32).to_be_bytes());
                    if let Some(payload) = payloads.get_mut(number) {
                        payload.row(to);
                    }
                }
                _ => {}
            },
        }
        // Rows of different length side by side must not run into each other.
        if matches!(
            self,
            Reader::Group {
                kind: Kind::Strings | Kind::List | Kind::Map,
                ..
            }
        ) {
            to.push(0);
        }
    }

    /// Takes the next element as a number.
    fn number(&mut self) -> usize {
        let Reader::Data { data, at } = self else { return 0 };
        let size = data.dtype.size();
        let stored = data.bytes.get(*at..*at + size).unwrap_or_default();
        *at += size;
        stored
            .iter()
            .rev()
            .fold(0, |number, &byte| number << 8 | usize::from(byte))
    }
}
