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
            let value = Value::uniform(&("as", to, other));
            provenance.note_cast(&value, to, other);
            value
        }
        _ => Value::Data,
    }
}

/// Whether a number is one of an integer type; of a type that is none, it is taken to be.
pub(crate) fn fits(number: i128, of: &str) -> bool {
    wrapped(number, of) == number
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
            "i32" | "c_int" => i128::from($number as i32),
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
