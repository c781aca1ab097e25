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
    /// What a value is that is known elsewhere.
    Of(Leaf),
    /// Two of them, put together.
    Two(Operation, Box<Amount>, Box<Amount>),
}

/// The number or the length of a value, or of something in it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Leaf {
    /// The value.
    pub root: Root,
    /// The way from it to what is in it.
    pub way: Vec<Hop>,
    /// Whether it is the length.
    pub is_length: bool,
}

/// A value that the whole program has to be asked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Root {
    /// The parameter of this index; `self` counts.
    Parameter(usize),
    /// A field of a type, the same in all values that the program makes.
    Field(TypeId, String),
    /// What the call of this number gives.
    Result(usize),
    /// The variable of this number, which the function changes.
    Changed(usize),
}

/// A step into a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Hop {
    /// To any of its elements.
    Element,
    /// To the part of a tuple.
    Part(usize),
}

/// How much larger a number becomes by an exponent that is a guess: no run has time for `1 << 100` of anything.
const MOST_OF_GUESSED_EXPONENT: f64 = 1e6;

/// What is in the elements of elements of elements is not told apart any more.
const MOST_HOPS: usize = 4;

/// Numbers and lengths of a value and of what is in it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Shape {
    /// What number it is.
    pub number: Amount,
    /// How many elements it has.
    pub length: Amount,
    /// Each of its elements; of something that can be called, what it gives.
    pub element: Option<Box<Shape>>,
    /// The parts of a tuple.
    pub parts: Vec<Shape>,
    /// The value that it is, or is in, with the way there.
    pub place: Option<(Root, Vec<Hop>)>,
}

impl Shape {
    /// Of a value that the whole program has to be asked for.
    pub fn at(root: Root, way: Vec<Hop>) -> Shape {
        if way.len() > MOST_HOPS {
            return Shape::default();
        }
        let leaf = |is_length| {
            let (root, way) = (root.clone(), way.clone());
            Amount::Of(Leaf { root, way, is_length })
        };
        Shape {
            number: leaf(false),
            length: leaf(true),
            place: Some((root, way)),
            ..Shape::default()
        }
    }

    /// Of so many elements.
    pub fn of(length: Amount, element: Shape) -> Shape {
        Shape {
            length,
            element: Some(Box::new(element)),
            ..Shape::default()
        }
    }

    /// Of a tuple.
    pub fn tuple(parts: Vec<Shape>) -> Shape {
        Shape {
            parts,
            ..Shape::default()
        }
    }

    /// What is one step into it.
    pub fn step(&self, hop: Hop) -> Shape {
        let known = match hop {
            Hop::Element => self.element.as_deref(),
            Hop::Part(index) => self.parts.get(index),
        };
        match (known, &self.place) {
            (Some(known), _) => known.clone(),
            (None, Some((root, way))) => {
                let way = way.iter().copied().chain([hop]).collect();
                Shape::at(root.clone(), way)
            }
            (None, None) => Shape::default(),
        }
    }

    /// Each of its elements.
    pub fn element(&self) -> Shape {
        self.step(Hop::Element)
    }

    /// What a way into it leads to.
    pub fn along(&self, way: &[Hop]) -> Shape {
        way.iter().fold(self.clone(), |shape, hop| shape.step(*hop))
    }

    /// Whether a way into it goes through a list that begins with nothing in it.
    pub fn is_empty_before(&self, way: &[Hop]) -> bool {
        (0..way.len()).any(|end| self.along(&way[..end]).length == Amount::Default(0.0))
    }

    /// The same of a value of its own: what is put into it is not put into the other.
    pub fn copied(&self) -> Shape {
        self.copied_to(MOST_HOPS)
    }

    fn copied_to(&self, hops: usize) -> Shape {
        let is_in = self.element.is_some() || self.place.is_some();
        let element = (is_in && hops > 0).then(|| Box::new(self.element().copied_to(hops - 1)));
        Shape {
            number: self.number.clone(),
            length: self.length.clone(),
            element,
            parts: self
                .parts
                .iter()
                .map(|part| part.copied_to(hops.saturating_sub(1)))
                .collect(),
            place: None,
        }
    }

    /// It may be another one as well: of two numbers, or lengths, that differ the larger one is a guess.
    pub fn either(self, other: Shape) -> Shape {
        let parts = match self.parts.len() == other.parts.len() {
            true => {
                let pairs = self.parts.into_iter().zip(other.parts);
                pairs.map(|(one, other)| one.either(other)).collect()
            }
            false if self.parts.is_empty() => other.parts,
            false => self.parts,
        };
        Shape {
            number: self.number.or_number(other.number),
            length: match (self.length, other.length) {
                (Amount::Unknown, other) | (other, Amount::Unknown) => other,
                (own, other) if own == other => own,
                (own, other) => Amount::both(Operation::Greatest, own, other),
            },
            element: self.element.or(other.element),
            parts,
            place: self.place.filter(|place| other.place.as_ref() == Some(place)),
        }
    }

    /// Whether it tells nothing.
    pub fn is_blank(&self) -> bool {
        *self == Shape::default()
    }
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
    /// How often the second goes into the first as a factor.
    Factors,
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

    /// The same, of numbers that may not be known: those stay in it, so that `n * n` is more than `n`.
    pub fn both(operation: Operation, left: Amount, right: Amount) -> Amount {
        use Operation::{Add, Subtract};
        match (&left, &right) {
            (Amount::Unknown, Amount::Unknown) if !operation.tells_of_guesses() => Amount::Unknown,
            (_, Amount::Known(zero)) if *zero == 0.0 && matches!(operation, Add | Subtract) => left,
            (Amount::Known(zero), _) if *zero == 0.0 && operation == Add => right,
            (Amount::Unknown, _) | (_, Amount::Unknown) => match left.depth() + right.depth() > DEEPEST {
                true => Amount::Unknown,
                false => Amount::Two(operation, Box::new(left), Box::new(right)),
            },
            _ => Amount::two(operation, left, right),
        }
    }

    fn or_number(self, other: Amount) -> Amount {
        match (self, other) {
            (own, other) if own == other => own,
            (Amount::Known(a) | Amount::Default(a), Amount::Known(b) | Amount::Default(b)) => {
                Amount::Default(a.max(b))
            }
            _ => Amount::Unknown,
        }
    }

    /// Whether there is something in it of which nothing is known.
    pub fn is_open(&self) -> bool {
        match self {
            Amount::Unknown => true,
            Amount::Two(_, left, right) => left.is_open() || right.is_open(),
            _ => false,
        }
    }

    fn depth(&self) -> usize {
        match self {
            Amount::Two(_, left, right) => 1 + left.depth().max(right.depth()),
            _ => 0,
        }
    }

    /// The number, given what is known of other values; `true` where it is certain. What is not known counts as `guess`,
    /// but for a whole number of which nothing is known.
    pub fn value(&self, guess: f64, known: &mut dyn FnMut(&Leaf) -> Told) -> Told {
        match self {
            Amount::Unknown => Told::Unknown,
            Amount::Known(number) => Told::Number(*number, true),
            Amount::Default(number) => Told::Number(*number, false),
            Amount::Of(leaf) => known(leaf),
            Amount::Two(operation, left, right) => {
                match (left.value(guess, known), right.value(guess, known)) {
                    (Told::Cut, _) | (_, Told::Cut) => Told::Cut,
                    (Told::Number(a, first), Told::Number(b, second)) => {
                        let exact = apply(*operation, a, b);
                        let most = match operation.raises() && !second {
                            true => a.abs().max(1.0) * MOST_OF_GUESSED_EXPONENT,
                            false => f64::INFINITY,
                        };
                        Told::Number(exact.min(most), first && second)
                    }
                    (Told::Unknown, Told::Unknown) if operation.tells_of_guesses() => {
                        Told::Number(apply(*operation, guess, guess), false)
                    }
                    (Told::Number(a, _), Told::Unknown) if operation.tells_beside_a_guess() => {
                        Told::Number(apply(*operation, a, guess), false)
                    }
                    (Told::Unknown, Told::Number(b, _)) if *operation != Operation::Remainder => {
                        Told::Number(apply(*operation, guess, b), false)
                    }
                    _ => Told::Unknown,
                }
            }
        }
    }
}

/// What is told of a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Told {
    /// This; `true` where it is certain.
    Number(f64, bool),
    /// Nothing.
    Unknown,
    /// It depends on itself: what else it depends on has to tell.
    Cut,
}

impl Operation {
    /// Whether two numbers that are not known make one that is worth more than a guess.
    fn tells_of_guesses(self) -> bool {
        matches!(self, Operation::Add | Operation::Multiply)
    }

    /// Whether the second number is an exponent.
    fn raises(self) -> bool {
        matches!(self, Operation::Shift | Operation::Power)
    }

    /// Whether a number makes one with a second that is not known.
    fn tells_beside_a_guess(self) -> bool {
        use Operation::{Add, Greatest, Least, Multiply, Subtract};
        matches!(self, Add | Subtract | Multiply | Least | Greatest)
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
        Operation::Factors => {
            if a > 1.0 && b > 1.0 {
                (a.ln() / b.ln() - 1e-9).ceil()
            } else {
                0.0
            }
        }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("?"),
            Self::Known(number) => write!(f, "{number}"),
            Self::Default(number) => write!(f, "{number} unless told otherwise"),
            Self::Of(leaf) => write!(f, "{leaf}"),
            Self::Two(operation, left, right) => write!(f, "({left} {operation:?} {right})"),
        }
    }
}

impl fmt::Display for Leaf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_length {
            f.write_str("length of ")?;
        }
        for hop in self.way.iter().rev() {
            match hop {
                Hop::Element => f.write_str("an element of ")?,
                Hop::Part(index) => write!(f, "part {index} of ")?,
            }
        }
        match &self.root {
            Root::Parameter(index) => write!(f, "parameter {index}"),
            Root::Field(_, name) => write!(f, "field {name}"),
            Root::Result(call) => write!(f, "what call {call} gives"),
            Root::Changed(number) => write!(f, "variable {number}"),
        }
    }
}
