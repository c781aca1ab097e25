//! Numbers and ranges.

use super::{Binary, Provenance, Value};

/// `!x`, `-x`.
pub(crate) fn unary(not: bool, value: &Value) -> Value {
    match (not, value) {
        (true, Value::Bool(_) | Value::Uniform(_)) => value.not(),
        (false, Value::Int(one)) => Value::Int(-one),
        (false, Value::Float(bits)) => Value::float(-f64::from_bits(*bits)),
        _ if value.is_uniform() => Value::uniform(&("unary", not, value)),
        _ => Value::Data,
    }
}

/// `x as T`
pub(crate) fn cast(value: &Value, to: &str, provenance: &Provenance) -> Value {
    let is_float = to.starts_with('f');
    match value {
        // An address is another in every process.
        _ if to == "*" => Value::Data,
        // The machine's numbers are longer than these, and their sums others.
        Value::Int(_) | Value::Float(_) if to == "f32" => Value::uniform(&("f32", value)),
        Value::Int(one) if is_float => Value::float(*one as f64),
        Value::Int(one) => Value::Int(wrapped(*one, to)),
        Value::Float(bits) if is_float => Value::Float(*bits),
        Value::Float(bits) => Value::Int(saturated(f64::from_bits(*bits), to)),
        Value::Bool(one) => Value::Int(i128::from(*one)),
        // A variant without parts is a number of its own.
        other if other.is_uniform() => {
            let value = Value::uniform(&("cast", to, other));
            provenance.note_cast(&value, to, other);
            value
        }
        _ => Value::Data,
    }
}

/// `number as to` for the integer types by their names; a type that has none of them takes the number as it is.
macro_rules! cast {
    ($number:expr, $to:expr) => {
        match $to {
            "u8" => i128::from($number as u8),
            "i8" => i128::from($number as i8),
            "u16" => i128::from($number as u16),
            "i16" => i128::from($number as i16),
            "u32" | "c_uint" => i128::from($number as u32),
            "i32" | "Rank" | "Tag" | "Count" | "c_int" => i128::from($number as i32),
            "u64" | "usize" => i128::from($number as u64),
            "i64" | "isize" => i128::from($number as i64),
            _ => $number as i128,
        }
    };
}

fn saturated(number: f64, to: &str) -> i128 {
    cast!(number, to)
}

fn wrapped(number: i128, to: &str) -> i128 {
    cast!(number, to)
}

/// `a..b`: from, up to and without, by how much.
pub(crate) fn range(
    start: Option<Value>,
    end: Option<Value>,
    inclusive: bool,
    provenance: &Provenance,
) -> Value {
    let one = Value::Int(1);
    let from = start.unwrap_or(Value::Unit);
    let to = match end {
        Some(end) if inclusive => Binary::Add.apply(&end, &one, provenance),
        Some(end) => end,
        None => Value::Unit,
    };
    Value::Range(Box::new([from, to, one]))
}

/// The numbers of a range, if they are known and not too many.
pub(crate) fn numbers(range: &[Value; 3], most: usize) -> Option<Vec<Value>> {
    let [Value::Int(from), Value::Int(to), Value::Int(by)] = range else {
        return None;
    };
    let (mut at, mut list) = (*from, Vec::new());
    while if *by > 0 { at < *to } else { at > *to } {
        if list.len() == most || *by == 0 {
            return None;
        }
        list.push(Value::Int(at));
        at += by;
    }
    Some(list)
}

/// `n.method(..)` of whole numbers.
pub(crate) fn of_int(number: i128, name: &str, unsigned: bool, arguments: &[Value]) -> Option<Value> {
    let first = match arguments.first() {
        Some(Value::Int(one)) => Some(*one),
        _ => None,
    };
    let fits = u32::try_from(first.unwrap_or(0)).ok();
    Some(match (name, first) {
        ("min", Some(other)) => Value::Int(number.min(other)),
        ("max", Some(other)) => Value::Int(number.max(other)),
        ("rem_euclid", Some(other)) if other != 0 => Value::Int(number.rem_euclid(other)),
        ("div_euclid", Some(other)) if other != 0 => Value::Int(number.div_euclid(other)),
        ("div_ceil", Some(other)) if other > 0 && number >= 0 => Value::Int((number + other - 1) / other),
        ("pow", Some(_)) => Value::Int(number.checked_pow(fits?)?),
        ("abs_diff", Some(other)) => Value::Int((number - other).abs()),
        ("is_multiple_of", Some(other)) if other != 0 => Value::Bool(number % other == 0),
        ("saturating_sub", Some(other)) if unsigned => Value::Int((number - other).max(0)),
        ("checked_sub", Some(other)) if unsigned && number < other => Value::none(),
        // Below zero it depends on the type.
        ("saturating_sub" | "wrapping_sub", Some(other)) if number >= other => Value::Int(number - other),
        ("checked_sub", Some(other)) if number >= other => Value::some(Value::Int(number - other)),
        ("saturating_add" | "wrapping_add", Some(other)) => Value::Int(number + other),
        ("checked_add", Some(other)) => Value::some(Value::Int(number + other)),
        ("clamp", Some(low)) => match arguments.get(1) {
            Some(Value::Int(high)) if low <= *high => Value::Int(number.clamp(low, *high)),
            _ => return None,
        },
        ("abs", None) => Value::Int(number.abs()),
        ("signum", None) => Value::Int(number.signum()),
        ("is_power_of_two", None) => Value::Bool(number.count_ones() == 1),
        ("trailing_zeros", None) if number > 0 => Value::Int(i128::from(number.trailing_zeros())),
        ("count_ones", None) if number >= 0 => Value::Int(i128::from(number.count_ones())),
        ("ilog2", None) if number > 0 => Value::Int(i128::from(number.ilog2())),
        ("isqrt", None) if number >= 0 => Value::Int((number as f64).sqrt().floor() as i128),
        ("next_power_of_two", None) if (0..1 << 60).contains(&number) => {
            Value::Int((number as u64).next_power_of_two().into())
        }
        ("is_positive", None) => Value::Bool(number > 0),
        ("is_negative", None) => Value::Bool(number < 0),
        ("into" | "clone" | "to_owned" | "borrow" | "as_ref", None) => Value::Int(number),
        ("try_into", None) => Value::Variant("Ok".into(), vec![Value::Int(number)].into()),
        _ => return None,
    })
}

/// The same of other numbers.
pub(crate) fn of_float(number: f64, name: &str, arguments: &[Value]) -> Option<Value> {
    let first = match arguments.first() {
        Some(Value::Float(bits)) => Some(f64::from_bits(*bits)),
        _ => None,
    };
    Some(match (name, first, arguments.first()) {
        ("sqrt", None, _) => Value::float(number.sqrt()),
        ("floor", None, _) => Value::float(number.floor()),
        ("ceil", None, _) => Value::float(number.ceil()),
        ("round", None, _) => Value::float(number.round()),
        ("abs", None, _) => Value::float(number.abs()),
        ("clone" | "into", None, _) => Value::float(number),
        ("powi", _, Some(Value::Int(by))) => Value::float(number.powi(i32::try_from(*by).ok()?)),
        ("min", Some(other), _) => Value::float(number.min(other)),
        ("max", Some(other), _) => Value::float(number.max(other)),
        _ => return None,
    })
}
