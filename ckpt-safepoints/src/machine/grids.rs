//! Grids of ranks, as MPI numbers them.

use super::Grid;
use crate::values::Value;

fn ints(value: &Value) -> Option<Vec<i128>> {
    let Value::List(parts) = value else { return None };
    let number = |part: &Value| match part {
        Value::Int(number) => Some(*number),
        Value::Bool(truth) => Some(i128::from(*truth)),
        _ => None,
    };
    parts.iter().map(number).collect()
}

/// The dimensions of a grid of ranks.
pub(crate) fn grid(plain: &[Value]) -> Option<Grid> {
    let dims = ints(plain.first()?)?;
    let periods: Vec<bool> = ints(plain.get(1)?)?.into_iter().map(|one| one != 0).collect();
    (dims.len() == periods.len() && dims.iter().all(|one| *one > 0)).then_some((dims, periods))
}

/// Colour and key of a rank in a part of a grid, and the dimensions of that part.
pub(crate) fn subgrid(grid: &Grid, me: i128, retain: Option<&Value>) -> Option<(i128, i128, Grid)> {
    let retain = ints(retain?)?;
    if retain.len() != grid.0.len() {
        return None;
    }
    let at = coordinates(&grid.0, me);
    let (mut color, mut key, mut left) = (0, 0, (Vec::new(), Vec::new()));
    for (axis, keep) in retain.iter().enumerate() {
        if *keep == 0 {
            color = color * grid.0[axis] + at[axis];
        } else {
            key = key * grid.0[axis] + at[axis];
            left.0.push(grid.0[axis]);
            left.1.push(grid.1[axis]);
        }
    }
    Some((color, key, left))
}

/// Ranks are numbered by rows.
pub(crate) fn coordinates(dims: &[i128], mut rank: i128) -> Vec<i128> {
    let mut list: Vec<i128> = dims
        .iter()
        .rev()
        .map(|dim| {
            let at = rank % dim;
            rank /= dim;
            at
        })
        .collect();
    list.reverse();
    list
}

/// The rank at some coordinates.
pub(crate) fn rank_at(dims: &[i128], periods: &[bool], list: &[Value]) -> Option<Value> {
    let at = ints(&Value::list(list.to_vec()))?;
    if at.len() != dims.len() {
        return None;
    }
    let mut rank = 0;
    for ((at, dim), periodic) in at.into_iter().zip(dims).zip(periods) {
        if !periodic && !(0..*dim).contains(&at) {
            return None;
        }
        rank = rank * dim + at.rem_euclid(*dim);
    }
    Some(Value::Int(rank))
}

/// The neighbour of a rank along an axis.
pub(crate) fn shifted(dims: &[i128], periods: &[bool], me: i128, axis: usize, by: i128) -> Option<i128> {
    let mut at = coordinates(dims, me);
    at[axis] += by;
    if !periods[axis] && !(0..dims[axis]).contains(&at[axis]) {
        return None;
    }
    at[axis] = at[axis].rem_euclid(dims[axis]);
    Some(at.iter().zip(dims).fold(0, |rank, (at, dim)| rank * dim + at))
}
