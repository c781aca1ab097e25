//! Methods of the standard library on numbers.

use crate::skeleton::std_calls::{FloatCall, NumberCall};
use crate::values::Value;

/// `n.method(..)` of whole numbers.
pub(crate) fn of_int(number: i128, call: NumberCall, unsigned: bool, arguments: &[Value]) -> Option<Value> {
    let first = match arguments.first() {
        Some(Value::Int(one)) => Some(*one),
        _ => None,
    };
    let fits = u32::try_from(first.unwrap_or(0)).ok();
    Some(match (call, first) {
        (NumberCall::Least, Some(other)) => Value::Int(number.min(other)),
        (NumberCall::Greatest, Some(other)) => Value::Int(number.max(other)),
        (NumberCall::RemEuclid, Some(other)) if other != 0 => Value::Int(number.rem_euclid(other)),
        (NumberCall::DivEuclid, Some(other)) if other != 0 => Value::Int(number.div_euclid(other)),
        (NumberCall::DivCeil, Some(other)) if other > 0 && number >= 0 => {
            Value::Int((number + other - 1) / other)
        }
        (NumberCall::Power, Some(_)) => Value::Int(number.checked_pow(fits?)?),
        (NumberCall::Distance, Some(other)) => Value::Int((number - other).abs()),
        (NumberCall::IsMultiple, Some(other)) if other != 0 => Value::Bool(number % other == 0),
        (NumberCall::SaturatingSub, Some(other)) if unsigned => Value::Int((number - other).max(0)),
        (NumberCall::CheckedSub, Some(other)) if unsigned && number < other => Value::none(),
        // Below zero it depends on the type.
        (NumberCall::SaturatingSub | NumberCall::WrappingSub, Some(other)) if number >= other => {
            Value::Int(number - other)
        }
        (NumberCall::CheckedSub, Some(other)) if number >= other => Value::some(Value::Int(number - other)),
        (NumberCall::Add, Some(other)) => Value::Int(number + other),
        (NumberCall::CheckedAdd, Some(other)) => Value::some(Value::Int(number + other)),
        (NumberCall::Clamp, Some(low)) => match arguments.get(1) {
            Some(Value::Int(high)) if low <= *high => Value::Int(number.clamp(low, *high)),
            _ => return None,
        },
        (NumberCall::Absolute, None) => Value::Int(number.abs()),
        (NumberCall::Sign, None) => Value::Int(number.signum()),
        (NumberCall::IsPowerOfTwo, None) => Value::Bool(number.count_ones() == 1),
        (NumberCall::TrailingZeros, None) if number > 0 => Value::Int(i128::from(number.trailing_zeros())),
        (NumberCall::Ones, None) if number >= 0 => Value::Int(i128::from(number.count_ones())),
        (NumberCall::Logarithm, None) if number > 0 => Value::Int(i128::from(number.ilog2())),
        (NumberCall::Root, None) if number >= 0 => Value::Int((number as f64).sqrt().floor() as i128),
        (NumberCall::NextPowerOfTwo, None) if (0..1 << 60).contains(&number) => {
            Value::Int((number as u64).next_power_of_two().into())
        }
        (NumberCall::IsPositive, None) => Value::Bool(number > 0),
        (NumberCall::IsNegative, None) => Value::Bool(number < 0),
        (NumberCall::Itself, None) => Value::Int(number),
        // Which type is meant is not told: of others it may be too large, or below zero.
        (NumberCall::Convert, None) if (0..=i128::from(i8::MAX)).contains(&number) => {
            Value::Variant("Ok".into(), vec![Value::Int(number)].into())
        }
        _ => return None,
    })
}

/// The same of other numbers.
pub(crate) fn of_float(number: f64, call: FloatCall, arguments: &[Value]) -> Option<Value> {
    let first = match arguments.first() {
        Some(Value::Float(bits)) => Some(f64::from_bits(*bits)),
        _ => None,
    };
    Some(match (call, first, arguments.first()) {
        (FloatCall::Root, None, _) => Value::float(number.sqrt()),
        (FloatCall::Floor, None, _) => Value::float(number.floor()),
        (FloatCall::Ceiling, None, _) => Value::float(number.ceil()),
        (FloatCall::Round, None, _) => Value::float(number.round()),
        (FloatCall::Absolute, None, _) => Value::float(number.abs()),
        (FloatCall::Itself, None, _) => Value::float(number),
        (FloatCall::Power, _, Some(Value::Int(by))) => Value::float(number.powi(i32::try_from(*by).ok()?)),
        (FloatCall::Least, Some(other), _) => Value::float(number.min(other)),
        (FloatCall::Greatest, Some(other), _) => Value::float(number.max(other)),
        _ => return None,
    })
}
