//! Numbers that are known, or may become known once the callers have been looked at.

use crate::items::TypeId;
use std::fmt;

/// A number of the program, as far as its text tells it.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Amount {
    /// Depends on input, or on more than is looked at.
    #[default]
    Unknown,
    /// This number.
    Known(f64),
    /// A number that holds unless the user says otherwise: `unwrap_or(100)`.
    Default(f64),
    /// The parameter of this index; `self` counts.
    Parameter(usize),
    /// The length of what the parameter of this index holds.
    LengthOf(usize),
    /// A field of a type, the same in all values that the program makes.
    Field(TypeId, String),
    /// The length of such a field.
    FieldLength(TypeId, String),
    /// Two of them, put together.
    Two(Operation, Box<Amount>, Box<Amount>),
}

/// How two amounts are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Remainder,
    /// `<<`
    Shift,
    /// `>>`
    ShiftBack,
    /// `min`
    Least,
    /// `max`
    Greatest,
    /// `pow`
    Power,
}

/// Depth behind which a compound number is given up.
const DEEPEST: usize = 24;

impl Amount {
    /// Two amounts, folded where both are known.
    pub fn two(operation: Operation, left: Amount, right: Amount) -> Amount {
        if left == Amount::Unknown || right == Amount::Unknown {
            return Amount::Unknown;
        }
        match (&left, &right) {
            (Amount::Known(a), Amount::Known(b)) => Amount::Known(apply(operation, *a, *b)),
            (Amount::Known(a) | Amount::Default(a), Amount::Known(b) | Amount::Default(b)) => {
                Amount::Default(apply(operation, *a, *b))
            }
            _ if left.depth() + right.depth() > DEEPEST => Amount::Unknown,
            _ => Amount::Two(operation, Box::new(left), Box::new(right)),
        }
    }

    fn depth(&self) -> usize {
        match self {
            Amount::Two(_, left, right) => 1 + left.depth().max(right.depth()),
            _ => 0,
        }
    }

    /// The number, given what is known of parameters and fields; `true` where it is certain.
    pub fn value(&self, known: &impl Fn(&Amount) -> Option<(f64, bool)>) -> Option<(f64, bool)> {
        match self {
            Amount::Unknown => None,
            Amount::Known(number) => Some((*number, true)),
            Amount::Default(number) => Some((*number, false)),
            Amount::Two(operation, left, right) => {
                let (left, right) = (left.value(known)?, right.value(known)?);
                Some((apply(*operation, left.0, right.0), left.1 && right.1))
            }
            other => known(other),
        }
    }
}

fn apply(operation: Operation, a: f64, b: f64) -> f64 {
    match operation {
        Operation::Add => a + b,
        Operation::Subtract => a - b,
        Operation::Multiply => a * b,
        Operation::Divide => {
            if b == 0.0 {
                0.0
            } else if a.fract() == 0.0 && b.fract() == 0.0 {
                (a / b).trunc()
            } else {
                a / b
            }
        }
        Operation::Remainder => {
            if b == 0.0 {
                0.0
            } else {
                a % b
            }
        }
        Operation::Shift => a * b.clamp(0.0, 127.0).exp2(),
        Operation::ShiftBack => (a / b.clamp(0.0, 127.0).exp2()).floor(),
        Operation::Least => a.min(b),
        Operation::Greatest => a.max(b),
        Operation::Power => a.powf(b),
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("?"),
            Self::Known(number) => write!(f, "{number}"),
            Self::Default(number) => write!(f, "{number} unless told otherwise"),
            Self::Parameter(index) => write!(f, "parameter {index}"),
            Self::LengthOf(index) => write!(f, "length of parameter {index}"),
            Self::Field(_, name) => write!(f, "field {name}"),
            Self::FieldLength(_, name) => write!(f, "length of field {name}"),
            Self::Two(operation, left, right) => write!(f, "({left} {operation:?} {right})"),
        }
    }
}
