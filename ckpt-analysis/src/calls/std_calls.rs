//! What the calls of the standard library give: types and lengths, as far as they help.
//!
//! Which call gives what stands in `tables/std_calls.toml`; here are the kinds of results.

use super::walk::{Value, Walker};
use crate::items::amount::{Amount, Operation, Shape};
use crate::items::hints::{Ty, TypeKey};
use ckpt_compiler::library::{Adaptor, Iterators, Library, Methods, Section, Types};
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::LazyLock;

/// What a machine is taken to be good for.
const THREADS: f64 = 4.0;

static CALLS: LazyLock<StdCalls> = LazyLock::new(|| {
    let rows: Rows = toml::from_str(include_str!("../../tables/std_calls.toml"))
        .unwrap_or_else(|error| panic!("std_calls.toml: {error}"));
    let mut methods = HashMap::<String, Vec<usize>>::new();
    let (mut adaptors, mut iterators) = (Vec::new(), Vec::new());
    for (index, row) in rows.methods.iter().enumerate() {
        for name in &row.names {
            methods.entry(name.clone()).or_default().push(index);
        }
        adaptors.extend(row.adaptors.iter().map(|key| (kind::<Adaptor>(key), index)));
        iterators.extend(row.iterators.iter().map(|key| (kind::<Iterators>(key), index)));
    }
    StdCalls {
        rows,
        methods,
        adaptors,
        iterators,
    }
});

/// The key of a section of the compiler's tables.
fn kind<S: Section>(key: &str) -> S {
    let found = S::KEYS.iter().find(|(name, _)| *name == key);
    found
        .unwrap_or_else(|| panic!("std_calls.toml: `{key}` is no key of `{}`", S::NAME))
        .1
}

/// The rows of the table, in order; those of methods by their names and by the kinds of these as well.
struct StdCalls {
    rows: Rows,
    methods: HashMap<String, Vec<usize>>,
    adaptors: Vec<(Adaptor, usize)>,
    iterators: Vec<(Iterators, usize)>,
}

impl StdCalls {
    /// The rows that name a method, in order.
    fn of_method(&self, library: &Library, name: &str) -> impl Iterator<Item = &MethodRow> {
        let mut rows = self.methods.get(name).cloned().unwrap_or_default();
        rows.extend(of_kind(&self.adaptors, library, name));
        rows.extend(of_kind(&self.iterators, library, name));
        rows.sort_unstable();
        rows.into_iter().map(|index| &self.rows.methods[index])
    }
}

fn of_kind<S: Section>(rows: &[(S, usize)], library: &Library, name: &str) -> impl Iterator<Item = usize> {
    let named = rows.iter().filter(|(key, _)| library.says(name, *key));
    named.map(|(_, index)| *index)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rows {
    /// Methods that give their closure a state and an element.
    state: Vec<String>,
    /// Methods that give it two elements.
    two: Vec<String>,
    /// Functions of no type that give their first operand.
    first: Vec<String>,
    /// Functions that say how many threads the machine is good for, by their names or with the module in front.
    few: Vec<String>,
    /// The type that stands for one of which nothing is known.
    any: String,
    lists: Lists,
    functions: Vec<FunctionRow>,
    methods: Vec<MethodRow>,
}

/// What methods do to how many elements a list has.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Lists {
    /// The lists that may grow.
    types: Vec<String>,
    adds_one: Vec<String>,
    adds_all: Vec<String>,
    sets: Vec<String>,
    empties: Vec<String>,
    takes: Vec<String>,
}

/// What a method does to how many elements its receiver has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListChange {
    /// One more: the last argument.
    AddsOne,
    /// All that the argument has.
    AddsAll,
    /// As many as the first argument says, each like the second.
    Sets,
    /// None is left.
    Empties,
    /// How many are left, or whether there is one more, is not told.
    Takes,
}

/// What a method does to a list; nothing for one that leaves it as long as it is.
pub(super) fn list_change(name: &str) -> Option<ListChange> {
    let lists = &CALLS.rows.lists;
    let all = [
        (&lists.adds_one, ListChange::AddsOne),
        (&lists.adds_all, ListChange::AddsAll),
        (&lists.sets, ListChange::Sets),
        (&lists.empties, ListChange::Empties),
        (&lists.takes, ListChange::Takes),
    ];
    let found = all.into_iter().find(|(names, _)| is_among(names, name));
    found.map(|(_, change)| change)
}

/// What a call of a method goes over: its receiver, or the argument that is put there.
pub(super) fn gone_over<'v>(name: &str, receiver: &'v Value, arguments: &'v [Value]) -> &'v Amount {
    match (list_change(name), arguments.first()) {
        (Some(ListChange::AddsAll), Some(first)) => &first.length,
        (Some(ListChange::Sets), Some(first)) => &first.number,
        _ => &receiver.length,
    }
}

/// Whether a value of this type is a list that may grow.
pub(super) fn is_list(ty: &Ty) -> bool {
    ty.outside_name()
        .is_some_and(|name| is_among(&CALLS.rows.lists.types, name))
}

/// Functions of types.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FunctionRow {
    of: Vec<String>,
    /// Of this name, or any.
    names: Option<Vec<String>>,
    gives: Constructed,
}

/// What a function of a type gives.
#[derive(Clone, Copy, Deserialize)]
enum Constructed {
    /// The first argument.
    #[serde(rename = "first")]
    First,
    /// One of the type with the first argument in it.
    #[serde(rename = "around first")]
    AroundFirst,
    /// One of the type with the elements of the first argument.
    #[serde(rename = "elements of first")]
    ElementsOfFirst,
    /// One of the type, or an error.
    #[serde(rename = "result")]
    Result,
    /// One of the type with nothing in it yet.
    #[serde(rename = "empty")]
    Empty,
    /// The first argument as a number of the type.
    #[serde(rename = "number")]
    Number,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MethodRow {
    #[serde(default)]
    names: Vec<String>,
    /// All adaptors of these kinds.
    #[serde(default)]
    adaptors: Vec<String>,
    /// All methods that go over items in these ways.
    #[serde(default)]
    iterators: Vec<String>,
    on: Option<On>,
    gives: Gives,
}

/// What a row of methods asks of the call.
#[derive(Clone, Copy, Deserialize)]
enum On {
    #[serde(rename = "option")]
    Option,
    #[serde(rename = "no option")]
    NoOption,
    /// A type that has elements, as its name tells: neither an option nor a number.
    #[serde(rename = "collection")]
    Collection,
    /// A call with an argument.
    #[serde(rename = "argument")]
    Argument,
    #[serde(rename = "no argument")]
    NoArgument,
}

/// What a method gives.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Gives {
    /// How many elements the receiver has.
    Length,
    Receiver,
    /// What is in the receiver: an `Option`, a `Result`.
    Inside,
    #[serde(rename = "inside or first")]
    InsideOrFirst,
    /// What the receiver guards: a `RefCell`, a `Mutex`.
    Guarded,
    /// The receiver gone over.
    Iteration,
    Iterator {
        of: Part,
        length: Length,
    },
    /// What a closure makes of what is in the receiver.
    Mapped {
        of: Part,
        length: Length,
    },
    /// The elements of the receiver in what is asked for, or a `Vec`.
    Collection,
    /// A value whose number and length are not known.
    Value {
        of: Part,
        r#in: Option<String>,
    },
    /// The receiver's number and the first argument's, or another, put together.
    Arithmetic {
        operation: Operation,
        by: Option<f64>,
    },
}

/// A type that comes of a receiver and arguments.
#[derive(Clone, Deserialize)]
enum Part {
    #[serde(rename = "receiver")]
    Receiver,
    #[serde(rename = "element")]
    Element,
    /// The value of a map, the element of other collections.
    #[serde(rename = "what is held")]
    Held,
    #[serde(rename = "first part")]
    First,
    #[serde(rename = "second part")]
    Second,
    #[serde(rename = "numbered element")]
    Numbered,
    #[serde(rename = "pair of elements")]
    Pair,
    /// What is in what is in the receiver.
    #[serde(rename = "element of element")]
    Deep,
    #[serde(rename = "slice")]
    Slice,
    #[serde(rename = "two slices")]
    TwoSlices,
    /// What the closure that is given returns.
    #[serde(rename = "output")]
    Output,
    #[serde(rename = "inside of output")]
    InsideOfOutput,
    /// What is written in `::<..>`.
    #[serde(rename = "asked for")]
    AskedFor,
    #[serde(rename = "asked for or element")]
    AskedForOrElement,
    /// One of this name.
    #[serde(rename = "type")]
    Type(String),
}

/// How many elements there are, by those of the receiver and what is given.
#[derive(Clone, Copy, Deserialize)]
enum Length {
    #[serde(rename = "same")]
    Same,
    #[serde(rename = "unknown")]
    Unknown,
    #[serde(rename = "divided")]
    Divided,
    /// Pieces of the size that is given; where that is not known, as many as each has elements.
    #[serde(rename = "pieces")]
    Pieces,
    #[serde(rename = "less")]
    Less,
    /// No more than the number that is given.
    #[serde(rename = "least")]
    Least,
    #[serde(rename = "sum")]
    Sum,
    /// That of the receiver or of what is given, whichever is shorter.
    #[serde(rename = "shorter")]
    Shorter,
    /// One for every place that a number of neighbours, which is given, has in the receiver.
    #[serde(rename = "of neighbours")]
    Windows,
    /// The elements of all elements.
    #[serde(rename = "of all elements")]
    OfElements,
    /// The elements of all that the closure gives.
    #[serde(rename = "of all results")]
    OfResults,
}

/// What is in an `Option`, a `Result`, a guard.
pub(super) fn unwrapped(value: Value) -> Value {
    match value.ty {
        Ty::Named(TypeKey::Other(ref name), ref arguments) if name == "Option" || name == "Result" => {
            let ty = arguments.first().cloned().unwrap_or_default();
            Value::shaped(ty, value.shape())
        }
        _ => value,
    }
}

/// `Vec::new()`, `Box::new(x)`.
pub(super) fn constructed(
    library: &Library,
    owner: &str,
    name: &str,
    arguments: &[Ty],
    first: Value,
    length: Amount,
) -> Value {
    let fits = |row: &&FunctionRow| {
        let of_name = row.names.as_ref().is_none_or(|names| is_among(names, name));
        is_among(&row.of, owner) && of_name
    };
    let row = CALLS.rows.functions.iter().find(fits);
    let of_owner = |parts: Vec<Ty>| Value::of(Ty::other(owner, parts));
    let Some(row) = row else {
        return Value {
            length,
            ..of_owner(arguments.to_vec())
        };
    };
    match row.gives {
        Constructed::First => first,
        Constructed::AroundFirst => {
            let shape = first.shape();
            Value::shaped(Ty::other(owner, vec![first.ty]), shape)
        }
        Constructed::ElementsOfFirst => {
            let shape = Shape::of(first.length.clone(), first.shape().element());
            Value::shaped(Ty::other(owner, vec![first.ty.element(library)]), shape)
        }
        Constructed::Empty => Value {
            length: Amount::Default(0.0),
            ..of_owner(arguments.to_vec())
        },
        Constructed::Result => Value::of(Ty::other("Result", vec![Ty::other(owner, Vec::new())])),
        Constructed::Number => Value {
            number: first.number,
            ..of_owner(Vec::new())
        },
    }
}

/// What a function of a type gives of which nothing is known.
pub(super) fn constructed_by_any(library: &Library, name: &str, first: Value) -> Value {
    constructed(library, &CALLS.rows.any, name, &[], first, Amount::Unknown)
}

/// Whether a function of no type gives its first operand.
pub(super) fn gives_first(name: &str) -> bool {
    is_among(&CALLS.rows.first, name)
}

/// How many threads the machine is good for, if the function says that.
pub(super) fn few_threads(path: &[String]) -> Option<Amount> {
    let in_module = path.last_chunk::<2>().map(|names| names.join("::"));
    let names = path.last().into_iter().chain(&in_module);
    let mut said = names.filter(|name| is_among(&CALLS.rows.few, name));
    said.next().map(|_| Amount::Default(THREADS))
}

/// What a method that goes over elements gives to its closure.
pub(super) fn given_to_closure(name: &str, element: Value) -> Vec<Value> {
    if is_among(&CALLS.rows.state, name) {
        vec![Value::default(), element]
    } else if is_among(&CALLS.rows.two, name) {
        vec![element.clone(), element]
    } else {
        vec![element]
    }
}

fn is_among(list: &[String], name: &str) -> bool {
    list.iter().any(|one| one == name)
}

/// What a method of the standard library gives.
pub(super) fn method(
    walker: &Walker<'_>,
    receiver: Value,
    name: &str,
    arguments: &[Value],
    turbofish: Option<Ty>,
) -> Value {
    let call = MethodCall {
        library: walker.library,
        element: walker.element(&receiver),
        first_element: arguments.first().map(|one| walker.element(one)),
        copies: walker.library.says(name, Methods::Clones) || walker.library.says(name, Methods::Copies),
        receiver,
        first: arguments.first(),
        turbofish,
    };
    let mut rows = CALLS.of_method(walker.library, name);
    match rows.find(|row| call.fits(row.on)) {
        Some(row) => call.gives(&row.gives),
        None => Value::default(),
    }
}

/// A call of a method, as far as it tells what the method gives.
struct MethodCall<'a> {
    library: &'a Library,
    receiver: Value,
    /// Whether it gives a copy.
    copies: bool,
    element: Ty,
    first: Option<&'a Value>,
    first_element: Option<Ty>,
    turbofish: Option<Ty>,
}

impl MethodCall<'_> {
    fn fits(&self, on: Option<On>) -> bool {
        let name = self.receiver.ty.outside_name();
        match on {
            None => true,
            Some(On::Option) => name == Some("Option"),
            Some(On::NoOption) => name != Some("Option"),
            Some(On::Collection) => name.is_some_and(|name| {
                !matches!(name, "int" | "Option") && name.starts_with(|first: char| !first.is_lowercase())
            }),
            Some(On::Argument) => self.first.is_some(),
            Some(On::NoArgument) => self.first.is_none(),
        }
    }

    fn gives(self, gives: &Gives) -> Value {
        match gives {
            Gives::Length => Value::number(self.receiver.length),
            Gives::Receiver if self.copies => {
                let shape = self.receiver.shape().copied();
                Value {
                    closure: self.receiver.closure,
                    functions: self.receiver.functions,
                    parameter: self.receiver.parameter,
                    ..Value::shaped(self.receiver.ty, shape)
                }
            }
            Gives::Receiver => self.receiver,
            Gives::Inside => unwrapped(self.receiver),
            Gives::InsideOrFirst => self.inside_or_first(),
            Gives::Guarded => {
                let shape = self.receiver.shape();
                let ty = match self.receiver.ty.is(self.library, Types::Cells) {
                    true => self.receiver.ty.argument(0),
                    false => self.receiver.ty,
                };
                Value::shaped(ty, shape)
            }
            Gives::Iteration => Value {
                number: self.receiver.number.clone(),
                element: self.shape(&Part::Element),
                ..Value::iterator(self.element, self.receiver.length)
            },
            Gives::Iterator { of, length } => Value {
                element: self.shape(of),
                ..Value::iterator(self.part(of).unwrap_or_default(), self.length(*length))
            },
            Gives::Mapped { of, length } => self.mapped(of, *length),
            Gives::Collection => self.collection(),
            Gives::Value { of, r#in } => {
                let shape = self.shape(of).map(|shape| *shape).unwrap_or_default();
                match (self.part(of), r#in) {
                    (Some(ty), Some(name)) => Value::shaped(Ty::other(name, vec![ty]), shape),
                    (Some(ty), None) => Value::shaped(ty, shape),
                    (None, _) => Value::default(),
                }
            }
            Gives::Arithmetic { operation, by } => {
                let right = by.map_or_else(|| self.number(), Amount::Known);
                Value {
                    number: Amount::both(*operation, self.receiver.number, right),
                    ..Value::of(self.receiver.ty)
                }
            }
        }
    }

    /// What is known of a part, beside its type.
    fn shape(&self, part: &Part) -> Option<Box<Shape>> {
        let receiver = self.receiver.shape();
        let element = || receiver.element();
        let shape = match part {
            Part::Element | Part::Held => element(),
            Part::Numbered => {
                let half = Amount::two(Operation::Divide, receiver.length.clone(), Amount::Default(2.0));
                let index = Shape {
                    number: half,
                    ..Shape::default()
                };
                Shape::tuple(vec![index, element()])
            }
            Part::Pair => {
                let second = self.first.map(|one| one.shape().element());
                Shape::tuple(vec![element(), second.unwrap_or_default()])
            }
            Part::Deep => element().element(),
            Part::Slice => {
                let size = match self.number() {
                    size if size.is_open() => {
                        Amount::both(Operation::Power, receiver.length.clone(), Amount::Default(0.5))
                    }
                    size => size,
                };
                Shape::of(size, element())
            }
            Part::TwoSlices => {
                let all = receiver.length.clone();
                let first = match self.number() {
                    size if size.is_open() => {
                        Amount::both(Operation::Divide, all.clone(), Amount::Default(2.0))
                    }
                    size => size,
                };
                let rest = Amount::both(Operation::Subtract, all, first.clone());
                Shape::tuple(vec![Shape::of(first, element()), Shape::of(rest, element())])
            }
            Part::Output | Part::InsideOfOutput => self.first?.output()?.shape(),
            Part::Receiver
            | Part::First
            | Part::Second
            | Part::AskedFor
            | Part::AskedForOrElement
            | Part::Type(_) => return None,
        };
        Some(Box::new(shape))
    }

    /// The type, but for that of what is no closure.
    fn part(&self, part: &Part) -> Option<Ty> {
        let slice = || Ty::other("[]", vec![self.element.clone()]);
        Some(match part {
            Part::Receiver => self.receiver.ty.clone(),
            Part::Element => self.element.clone(),
            Part::Held if self.receiver.ty.is(self.library, Types::Maps) => self.receiver.ty.argument(1),
            Part::Held => self.element.clone(),
            Part::First => self.receiver.ty.argument(0),
            Part::Second => self.receiver.ty.argument(1),
            Part::Numbered => Ty::Tuple(vec![Ty::other("int", Vec::new()), self.element.clone()]),
            Part::Pair => Ty::Tuple(vec![
                self.element.clone(),
                self.first_element.clone().unwrap_or_default(),
            ]),
            Part::Deep => self.element.element(self.library),
            Part::Slice => slice(),
            Part::TwoSlices => Ty::Tuple(vec![slice(), slice()]),
            Part::Output => match &self.first?.ty {
                Ty::Callable(output) => (**output).clone(),
                _ => return None,
            },
            Part::InsideOfOutput => unwrapped(Value::of(self.part(&Part::Output)?)).ty,
            Part::AskedFor => self.turbofish.clone().unwrap_or_default(),
            Part::AskedForOrElement => self.turbofish.clone().unwrap_or_else(|| self.element.clone()),
            Part::Type(name) => Ty::other(name, Vec::new()),
        })
    }

    fn length(&self, length: Length) -> Amount {
        let own = self.receiver.length.clone();
        let of_first = || self.first.map_or(Amount::Unknown, |one| one.length.clone());
        match length {
            Length::Same => own,
            Length::Unknown => Amount::Unknown,
            Length::Divided => Amount::both(Operation::Divide, own, self.number()),
            Length::Pieces => match self.number() {
                size if size.is_open() => Amount::both(Operation::Power, own, Amount::Default(0.5)),
                size => Amount::both(Operation::Divide, own, size),
            },
            Length::Less => Amount::both(Operation::Subtract, own, self.number()),
            Length::Windows => {
                let less = Amount::both(Operation::Subtract, self.number(), Amount::Known(1.0));
                Amount::both(Operation::Subtract, own, less)
            }
            Length::Least => match (own, self.number()) {
                (Amount::Unknown, wanted) => wanted,
                (known, Amount::Unknown) => known,
                (known, wanted) => Amount::both(Operation::Least, known, wanted),
            },
            Length::Sum => Amount::both(Operation::Add, own, of_first()),
            Length::Shorter => match (own, of_first()) {
                (Amount::Unknown, other) => other,
                (known, Amount::Unknown) => known,
                (known, other) => Amount::both(Operation::Least, known, other),
            },
            Length::OfElements => {
                Amount::both(Operation::Multiply, own, self.receiver.shape().element().length)
            }
            Length::OfResults => {
                let output = self.first.and_then(Value::output);
                Amount::both(Operation::Multiply, own, output.unwrap_or_default().length)
            }
        }
    }

    /// The number that is given.
    fn number(&self) -> Amount {
        self.first.map_or(Amount::Unknown, |one| one.number.clone())
    }

    fn mapped(self, of: &Part, length: Length) -> Value {
        let output = || self.part(&Part::Output).unwrap_or_default();
        let element = match length {
            Length::OfResults => {
                let output = self.first.and_then(Value::output);
                output.map(|output| Box::new(output.shape().element()))
            }
            _ => self.shape(of),
        };
        match self.receiver.ty.outside_name() {
            Some("Result") => Value::of(Ty::other("Result", vec![output()])),
            Some("[]") if matches!(self.receiver.ty, Ty::Array(..)) => Value {
                length: self.receiver.length.clone(),
                element,
                ..Value::of(Ty::Array(Box::new(output()), self.receiver.length.clone()))
            },
            _ => Value {
                element,
                ..Value::iterator(self.part(of).unwrap_or_default(), self.length(length))
            },
        }
    }

    fn collection(self) -> Value {
        let shape = Shape::of(
            self.receiver.length.clone(),
            self.receiver.shape().element().copied(),
        );
        let ty = match self.turbofish {
            Some(Ty::Named(key, parts)) if parts.iter().all(|one| *one == Ty::Unknown) => {
                Ty::Named(key, vec![self.element])
            }
            Some(ty) => ty,
            None => Ty::list(self.element),
        };
        Value::shaped(ty, shape)
    }

    fn inside_or_first(self) -> Value {
        let guess = self.number();
        let value = unwrapped(self.receiver);
        let shape = value.shape();
        let number = match guess {
            Amount::Known(number) if !matches!(value.number, Amount::Known(_)) => Amount::Default(number),
            other => other,
        };
        let ty = if value.ty == Ty::Unknown {
            self.first.map(|one| one.ty.clone()).unwrap_or_default()
        } else {
            value.ty
        };
        Value {
            number,
            ..Value::shaped(ty, shape)
        }
    }
}
