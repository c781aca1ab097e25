//! What a variable of one rank holds, as far as it matters to messages.
//!
//! `numbers` computes with them, `provenance` remembers what unknown values were made of, `widening` gives up what goes on
//! changing. No rank and no message is known here.

pub(crate) mod numbers;
pub(crate) mod provenance;
pub(crate) mod widening;

pub use provenance::Provenance;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

/// A step from a place to a part of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Projection {
    /// `.name`
    Field(Rc<str>),
    /// `[index]`
    Index(usize),
    /// What a variant holds, by its index.
    Part(usize),
    /// An element, or some of them, not known which: writing there leaves nothing known of any but what they have in common.
    Any,
    /// Some elements that follow each other: their number.
    Slice(Rc<Value>),
}

impl Projection {
    /// Whether it says which part it leads to.
    pub fn is_told(&self) -> bool {
        !matches!(self, Projection::Any | Projection::Slice(_))
    }
}

/// A place that a reference leads to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MemoryPlace {
    /// The frame, counted from `main`.
    pub frame: usize,
    /// The variable.
    pub slot: usize,
    /// The part of it.
    pub path: Vec<Projection>,
}

/// Fields by name.
pub type Fields = BTreeMap<Rc<str>, Value>;

/// A value.
///
/// `Uniform` is not known, but wherever the same number stands, on whatever rank, it is the same value. The lowest bit of the
/// number says whether it is the opposite of the number without it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Value {
    /// Anything at all.
    #[default]
    Unknown,
    /// Not known, and no part of the communication library.
    Data,
    /// Not known, but the same wherever this number stands.
    Uniform(u64),
    /// `()`
    Unit,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i128),
    /// The bits of a number.
    Float(u64),
    /// A text.
    Text(Rc<str>),
    /// A tuple.
    Tuple(Rc<Vec<Value>>),
    /// An array, a vector, or what an iterator will give.
    List(Rc<Vec<Value>>),
    /// The same where the elements are not distinguished: the index of the first, their number, and what all of them are.
    Summary(Rc<[Value; 3]>),
    /// In the elements of `Summary`: the index of the element.
    At,
    /// Elements that are the same on all ranks, in another order on each: what they are known by, and whether it is a
    /// collection that hashes them, or a list of them.
    Unordered(Box<Value>, bool),
    /// A struct, or a variant with named fields, by the last segment of its path.
    Struct(Rc<str>, Rc<Fields>),
    /// A variant or a struct without names.
    Variant(Rc<str>, Rc<Vec<Value>>),
    /// From, up to and without, by how much.
    Range(Box<[Value; 3]>),
    /// `&mut`
    Ref(MemoryPlace),
    /// A closure and the frame that it was made in.
    Closure(usize, usize),
    /// A function of the program.
    Function(usize),
    /// A communicator.
    Comm(usize),
    /// What a crate has made that exchanges messages on this communicator: the crate, and that.
    Handle(Rc<str>, usize),
    /// A group: ranks by their number among all.
    Group(Rc<Vec<usize>>),
    /// A rank of a communicator.
    Process(usize, i128),
    /// Any rank of a communicator.
    AnyProcess(usize),
    /// The rank that a message came from, in its communicator, and its tag.
    Status(i128, Box<Value>),
    /// What has to be waited for.
    Request(u64),
    /// A message that is there and has not been taken.
    Message(u64),
    /// Another value of the communication library, by its name there, and what it is made of.
    Object(Rc<str>, Rc<Value>),
}

impl Value {
    /// `Some(value)`
    pub fn some(value: Value) -> Value {
        Value::Variant("Some".into(), Rc::new(vec![value]))
    }

    /// `None`
    pub fn none() -> Value {
        Value::Variant("None".into(), Rc::default())
    }

    /// A tuple.
    pub fn tuple(parts: Vec<Value>) -> Value {
        Value::Tuple(Rc::new(parts))
    }

    /// A list.
    pub fn list(parts: Vec<Value>) -> Value {
        Value::List(Rc::new(parts))
    }

    /// A number.
    pub fn float(number: f64) -> Value {
        Value::Float(number.to_bits())
    }

    /// A value that is the same wherever it is made of the same things.
    pub fn uniform(of: &impl Hash) -> Value {
        let mut hasher = DefaultHasher::new();
        of.hash(&mut hasher);
        Value::Uniform(hasher.finish() & !1)
    }

    /// A list of this many elements which are all this.
    pub fn summary(count: Value, element: Value) -> Value {
        Value::Summary(Rc::new([Value::Int(0), count, element]))
    }

    /// Whether it is the same on all ranks that have it, though maybe not known.
    pub fn is_uniform(&self) -> bool {
        self.all(&|part| {
            !matches!(
                part,
                Value::Unknown
                    | Value::Data
                    | Value::Ref(_)
                    | Value::Closure(..)
                    | Value::Request(_)
                    | Value::Message(_)
                    | Value::Unordered(..)
            )
        })
    }

    /// `!x` of a truth value; of a number, another number.
    pub fn not(&self) -> Value {
        match self {
            Value::Bool(one) => Value::Bool(!one),
            Value::Uniform(number) => Value::Uniform(number ^ 1),
            other if other.is_uniform() => Value::uniform(&("not", other)),
            other => other.blurred(),
        }
    }

    /// Whether all of it is known to be plain data.
    pub fn is_data(&self) -> bool {
        self.all(&|part| {
            matches!(
                part,
                Value::Data
                    | Value::Uniform(_)
                    | Value::Unit
                    | Value::Bool(_)
                    | Value::Int(_)
                    | Value::Float(_)
                    | Value::Text(_)
                    | Value::Tuple(_)
                    | Value::List(_)
                    | Value::Summary(_)
                    | Value::At
                    | Value::Unordered(..)
                    | Value::Struct(..)
                    | Value::Variant(..)
                    | Value::Range(_)
            )
        })
    }

    /// Whether nothing is known of it.
    pub fn is_unknown(&self) -> bool {
        matches!(self, Value::Unknown | Value::Data)
    }

    /// What is left of it when all that is known of it is given up.
    pub fn blurred(&self) -> Value {
        if self.is_data() {
            Value::Data
        } else {
            Value::Unknown
        }
    }

    /// What both are.
    pub fn join(&self, other: &Value) -> Value {
        let each =
            |a: &[Value], b: &[Value]| -> Vec<Value> { a.iter().zip(b).map(|(a, b)| a.join(b)).collect() };
        match (self, other) {
            _ if self == other => self.clone(),
            (Value::Tuple(a), Value::Tuple(b)) if a.len() == b.len() => Value::tuple(each(a, b)),
            (Value::List(a), Value::List(b)) if a.len() == b.len() => Value::list(each(a, b)),
            (Value::Summary(a), Value::Summary(b)) if a[..2] == b[..2] => {
                Value::Summary(Rc::new([a[0].clone(), a[1].clone(), a[2].join(&b[2])]))
            }
            (Value::Variant(name, a), Value::Variant(is, b)) if name == is && a.len() == b.len() => {
                Value::Variant(name.clone(), Rc::new(each(a, b)))
            }
            (Value::Struct(name, a), Value::Struct(is, b)) if name == is && a.keys().eq(b.keys()) => {
                let fields = a.iter().map(|(key, one)| (key.clone(), one.join(&b[key])));
                Value::Struct(name.clone(), Rc::new(fields.collect()))
            }
            _ if self.is_data() && other.is_data() => Value::Data,
            _ => Value::Unknown,
        }
    }

    /// How many elements a list has, or what an iterator still yields; nothing for what is no list.
    pub fn length(&self, provenance: &Provenance) -> Option<Value> {
        match self {
            Value::List(parts) => Some(Value::Int(parts.len() as i128)),
            Value::Summary(parts) if parts[0] == Value::Int(0) => Some(parts[1].clone()),
            Value::Summary(parts) => Some(Binary::Sub.apply(&parts[1], &parts[0], provenance)),
            other if other.is_uniform() => Some(other.uniform_length()),
            _ => None,
        }
    }

    /// The length of what is not known and the same on all ranks.
    pub(crate) fn uniform_length(&self) -> Value {
        Value::uniform(&("length", self))
    }

    /// The elements of a list of which nothing is known but that it is the same on all ranks.
    pub fn elements(&self, count: usize) -> Value {
        Value::list(
            (0..count)
                .map(|at| Value::uniform(&(self, Value::Int(at as i128))))
                .collect(),
        )
    }

    /// What all elements of a list are.
    pub fn any_element(&self) -> Value {
        match self {
            Value::List(parts) => match parts.split_first() {
                Some((first, rest)) => rest.iter().fold(first.clone(), |all, one| all.join(one)),
                None => Value::Data,
            },
            Value::Summary(parts) => parts[2].at(&Value::Data),
            other => other.blurred(),
        }
    }

    /// An element of `Summary` as the one with this index.
    pub fn at(&self, index: &Value) -> Value {
        self.map(&mut |part| match part {
            Value::At => Some(index.clone()),
            // What stands in another list is known by that.
            Value::Summary(_) => Some(part.clone()),
            _ => None,
        })
    }

    fn all(&self, holds: &impl Fn(&Value) -> bool) -> bool {
        holds(self) && self.parts().all(|part| part.all(holds))
    }

    /// The values in it.
    pub fn parts(&self) -> Box<dyn Iterator<Item = &Value> + '_> {
        match self {
            Value::Tuple(parts) | Value::List(parts) | Value::Variant(_, parts) => Box::new(parts.iter()),
            Value::Struct(_, fields) => Box::new(fields.values()),
            Value::Range(parts) => Box::new(parts.iter()),
            Value::Summary(parts) => Box::new(parts.iter()),
            Value::Status(_, inner) | Value::Unordered(inner, _) => Box::new(std::iter::once(&**inner)),
            Value::Object(_, inner) => Box::new(std::iter::once(&**inner)),
            _ => Box::new(std::iter::empty()),
        }
    }

    /// The same with every value in it replaced.
    pub fn map(&self, change: &mut dyn FnMut(&Value) -> Option<Value>) -> Value {
        if let Some(new) = change(self) {
            return new;
        }
        let mut each = |parts: &Rc<Vec<Value>>| -> Rc<Vec<Value>> {
            Rc::new(parts.iter().map(|part| part.map(change)).collect())
        };
        match self {
            Value::Tuple(parts) => Value::Tuple(each(parts)),
            Value::List(parts) => Value::List(each(parts)),
            Value::Variant(name, parts) => Value::Variant(name.clone(), each(parts)),
            Value::Struct(name, fields) => {
                let fields = fields.iter().map(|(key, part)| (key.clone(), part.map(change)));
                Value::Struct(name.clone(), Rc::new(fields.collect()))
            }
            Value::Range(parts) => {
                let [from, to, by] = &**parts;
                Value::Range(Box::new([from.map(change), to.map(change), by.map(change)]))
            }
            Value::Summary(parts) => {
                let [from, count, element] = &**parts;
                Value::Summary(Rc::new([
                    from.map(change),
                    count.map(change),
                    element.map(change),
                ]))
            }
            Value::Object(name, inner) => Value::Object(name.clone(), Rc::new(inner.map(change))),
            Value::Unordered(inner, is_hashed) => Value::Unordered(Box::new(inner.map(change)), *is_hashed),
            Value::Status(source, tag) => Value::Status(*source, Box::new(tag.map(change))),
            other => other.clone(),
        }
    }
}

/// An operator with two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Binary {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Rem,
    /// `&`, `&&`
    And,
    /// `|`, `||`
    Or,
    /// `^`
    Xor,
    /// `<<`
    Shl,
    /// `>>`
    Shr,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

impl Binary {
    /// What comes of it.
    pub fn apply(self, left: &Value, right: &Value, provenance: &Provenance) -> Value {
        match self {
            // One question has one number, however it is put.
            Self::Ne => return Self::Eq.apply(left, right, provenance).not(),
            Self::Gt => return Self::Lt.apply(right, left, provenance),
            Self::Ge => return Self::Le.apply(right, left, provenance),
            Self::Eq if left > right => return self.apply(right, left, provenance),
            _ => {}
        }
        let known = match (left, right) {
            (Value::Int(a), Value::Int(b)) => self.ints(*a, *b),
            (Value::Float(a), Value::Float(b)) => self.floats(f64::from_bits(*a), f64::from_bits(*b)),
            (Value::Bool(a), Value::Bool(b)) => self.bools(*a, *b),
            (Value::Bool(false), _) | (_, Value::Bool(false)) if self == Self::And => {
                Some(Value::Bool(false))
            }
            (Value::Bool(true), _) | (_, Value::Bool(true)) if self == Self::Or => Some(Value::Bool(true)),
            (Value::Bool(true), other) | (other, Value::Bool(true)) if self == Self::And => {
                Some(other.clone())
            }
            (Value::Bool(false), other) | (other, Value::Bool(false)) if self == Self::Or => {
                Some(other.clone())
            }
            _ => self.compared(left, right),
        };
        let known = known.or_else(|| provenance.compared(self, left, right).map(Value::Bool));
        match known {
            Some(value) => value,
            None if left.is_uniform() && right.is_uniform() => {
                let value = Value::uniform(&(self, left, right));
                provenance.note(&value, self, left, right);
                value
            }
            None if left.is_data() && right.is_data() => Value::Data,
            None => Value::Unknown,
        }
    }

    /// Texts, options and the like are equal or not.
    fn compared(self, left: &Value, right: &Value) -> Option<Value> {
        let known = |value: &Value| {
            value.is_data() && value.all(&|part| !matches!(part, Value::Data | Value::Uniform(_)))
        };
        if !known(left) || !known(right) {
            return None;
        }
        match self {
            Self::Eq => Some(Value::Bool(left == right)),
            _ => None,
        }
    }

    fn ints(self, a: i128, b: i128) -> Option<Value> {
        let shift = u32::try_from(b).ok().filter(|by| *by < 100);
        let number = match self {
            Self::Add => a.checked_add(b),
            Self::Sub => a.checked_sub(b),
            Self::Mul => a.checked_mul(b),
            Self::Div => a.checked_div(b),
            Self::Rem => a.checked_rem(b),
            Self::And => Some(a & b),
            Self::Or => Some(a | b),
            Self::Xor => Some(a ^ b),
            Self::Shl => shift.and_then(|by| a.checked_mul(1_i128 << by)),
            Self::Shr => shift.map(|by| a >> by),
            _ => return self.ordered(a.cmp(&b)),
        };
        // What no type of the program holds has wrapped around, or panicked.
        number
            .filter(|number| (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(number))
            .map(Value::Int)
    }

    fn floats(self, a: f64, b: f64) -> Option<Value> {
        Some(match self {
            Self::Add => Value::float(a + b),
            Self::Sub => Value::float(a - b),
            Self::Mul => Value::float(a * b),
            Self::Div => Value::float(a / b),
            Self::Rem => Value::float(a % b),
            Self::Ne => Value::Bool(a != b),
            _ => {
                return a
                    .partial_cmp(&b)
                    .map_or(Some(Value::Bool(false)), |order| self.ordered(order));
            }
        })
    }

    fn bools(self, a: bool, b: bool) -> Option<Value> {
        Some(Value::Bool(match self {
            Self::And => a && b,
            Self::Or => a || b,
            Self::Xor | Self::Ne => a != b,
            Self::Eq => a == b,
            _ => return None,
        }))
    }

    fn ordered(self, order: std::cmp::Ordering) -> Option<Value> {
        Some(Value::Bool(match self {
            Self::Eq => order.is_eq(),
            Self::Ne => order.is_ne(),
            Self::Lt => order.is_lt(),
            Self::Le => order.is_le(),
            Self::Gt => order.is_gt(),
            Self::Ge => order.is_ge(),
            _ => return None,
        }))
    }
}
