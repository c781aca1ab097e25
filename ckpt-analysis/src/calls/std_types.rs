//! What the calls of the standard library give: types and lengths, as far as they help.

use super::walk::{Value, Walker, array_length};
use crate::items::amount::{Amount, Operation};
use crate::items::hints::{Ty, TypeKey};

/// What is in an `Option`, a `Result`, a guard.
pub(super) fn unwrapped(value: Value) -> Value {
    match value.ty {
        Ty::Named(TypeKey::Other(name), arguments) if name == "Option" || name == "Result" => {
            let ty = arguments.into_iter().next().unwrap_or_default();
            Value {
                length: array_length(&ty).unwrap_or(value.length),
                number: value.number,
                ..Value::of(ty)
            }
        }
        _ => value,
    }
}

/// `Vec::new()`, `Box::new(x)`.
pub(super) fn constructed(owner: &str, name: &str, arguments: &[Ty], first: Value, length: Amount) -> Value {
    match (owner, name) {
        ("Box" | "Rc" | "Arc", "new" | "from" | "clone" | "pin") => first,
        ("RefCell" | "Cell" | "Mutex" | "RwLock" | "OnceCell", "new" | "from") => Value {
            length: first.length,
            number: first.number,
            ..Value::of(Ty::other(owner, vec![first.ty]))
        },
        ("Vec" | "VecDeque" | "Box", "from" | "from_iter") => Value {
            length: first.length.clone(),
            ..Value::of(Ty::other(owner, vec![first.ty.element()]))
        },
        ("File" | "TcpStream" | "BufReader" | "BufWriter", _) => {
            Value::of(Ty::other("Result", vec![Ty::other(owner, Vec::new())]))
        }
        ("u8" | "u16" | "u32" | "u64" | "usize" | "i32" | "i64" | "isize" | "f64" | "f32", "from") => Value {
            number: first.number,
            ..Value::of(Ty::other(owner, Vec::new()))
        },
        _ => Value {
            length,
            ..Value::of(Ty::other(owner, arguments.to_vec()))
        },
    }
}

/// What a method of the standard library gives.
pub(super) fn method(
    walker: &Walker<'_>,
    receiver: Value,
    name: &str,
    arguments: &[Value],
    turbofish: Option<Ty>,
) -> Value {
    let element = walker.element(&receiver);
    let length = receiver.length.clone();
    let first = arguments.first();
    let number = || first.map_or(Amount::Unknown, |one| one.number.clone());
    match name {
        "len" | "count" => Value::number(length),
        "iter" | "iter_mut" | "into_iter" | "par_iter" | "par_iter_mut" | "into_par_iter" | "drain"
        | "copied" | "cloned" | "rev" | "filter" | "skip_while" | "take_while" | "inspect" | "peekable"
        | "fuse" | "by_ref" | "cycle" | "elements"
            if receiver.ty.outside_name() != Some("Option") =>
        {
            Value {
                number: receiver.number,
                ..Value::iterator(element, length)
            }
        }
        "chars" => Value::iterator(Ty::other("char", Vec::new()), length),
        "bytes" | "as_bytes" => Value::iterator(Ty::other("u8", Vec::new()), length),
        "lines" | "split_whitespace" | "split" => {
            Value::iterator(Ty::other("str", Vec::new()), Amount::Unknown)
        }
        "keys" | "into_keys" => Value::iterator(first_argument(&receiver.ty), length),
        "values" | "values_mut" | "into_values" => Value::iterator(second_argument(&receiver.ty), length),
        "enumerate" => Value::iterator(Ty::Tuple(vec![Ty::other("int", Vec::new()), element]), length),
        "zip" => {
            let other = first.map(|one| walker.element(one)).unwrap_or_default();
            let length = match length {
                Amount::Unknown => first.map_or(Amount::Unknown, |one| one.length.clone()),
                known => known,
            };
            Value::iterator(Ty::Tuple(vec![element, other]), length)
        }
        "map" | "filter_map" | "flat_map" | "map_while" if receiver.ty.outside_name() != Some("Option") => {
            let output = match first.map(|one| &one.ty) {
                Some(Ty::Callable(output)) => (**output).clone(),
                _ => Ty::Unknown,
            };
            match receiver.ty.outside_name() {
                Some("Result") => Value::of(Ty::other("Result", vec![output])),
                Some("[]") if matches!(receiver.ty, Ty::Array(..)) => Value {
                    length: length.clone(),
                    ..Value::of(Ty::Array(Box::new(output), length))
                },
                _ => {
                    let output = if name == "map" {
                        output
                    } else {
                        unwrapped(Value::of(output)).ty
                    };
                    let length = if name == "flat_map" {
                        Amount::Unknown
                    } else {
                        length
                    };
                    Value::iterator(output, length)
                }
            }
        }
        "map" => match first.map(|one| &one.ty) {
            Some(Ty::Callable(output)) => Value::of(Ty::other("Option", vec![(**output).clone()])),
            _ => Value::default(),
        },
        "step_by" | "chunks" | "chunks_exact" | "chunks_mut" | "chunks_exact_mut" | "par_chunks"
        | "par_chunks_mut" | "array_chunks" => {
            let inner = if name == "step_by" {
                element
            } else {
                Ty::other("[]", vec![element])
            };
            Value::iterator(inner, Amount::two(Operation::Divide, length, number()))
        }
        "windows" => Value::iterator(Ty::other("[]", vec![element]), length),
        "skip" => Value::iterator(element, Amount::two(Operation::Subtract, length, number())),
        "take" if first.is_some() => match (length, number()) {
            (Amount::Unknown, wanted) => Value::iterator(element, wanted),
            (known, Amount::Unknown) => Value::iterator(element, known),
            (known, wanted) => Value::iterator(element, Amount::two(Operation::Least, known, wanted)),
        },
        "chain" => {
            let other = first.map_or(Amount::Unknown, |one| one.length.clone());
            Value::iterator(element, Amount::two(Operation::Add, length, other))
        }
        "collect" | "to_vec" | "into_vec" | "into_boxed_slice" => {
            let ty = match turbofish {
                Some(Ty::Named(key, parts)) if parts.iter().all(|one| *one == Ty::Unknown) => {
                    Ty::Named(key, vec![element])
                }
                Some(ty) => ty,
                None => Ty::other("Vec", vec![element]),
            };
            Value {
                length,
                ..Value::of(ty)
            }
        }
        "get" | "get_mut" | "first" | "last" | "first_mut" | "last_mut" | "next" | "pop" | "pop_front"
        | "pop_back" | "peek" | "nth" | "find" | "max_by" | "min_by" | "max_by_key" | "min_by_key"
        | "remove" | "back" | "front" | "find_map" | "position" | "max" | "min"
            if matches!(receiver.ty.outside_name(), Some(outside) if outside != "int" && outside.starts_with(|c: char| !c.is_lowercase())) =>
        {
            let element = match receiver.ty.outside_name() {
                Some("HashMap" | "BTreeMap") if name != "next" => second_argument(&receiver.ty),
                Some("Option") => return receiver,
                _ => element,
            };
            Value::of(Ty::other("Option", vec![element]))
        }
        "min" => two(Operation::Least, receiver, number()),
        "max" => two(Operation::Greatest, receiver, number()),
        "pow" | "powi" => two(Operation::Power, receiver, number()),
        "wrapping_sub" | "saturating_sub" => two(Operation::Subtract, receiver, number()),
        "wrapping_add" | "saturating_add" => two(Operation::Add, receiver, number()),
        "div_ceil" => two(Operation::Divide, receiver, number()),
        "isqrt" | "sqrt" => two(Operation::Power, receiver, Amount::Known(0.5)),
        "unwrap_or" => {
            let value = unwrapped(receiver);
            let guess = match number() {
                Amount::Known(number) if value.number == Amount::Unknown => Amount::Default(number),
                other => other,
            };
            let ty = if value.ty == Ty::Unknown {
                first.map(|one| one.ty.clone()).unwrap_or_default()
            } else {
                value.ty
            };
            Value {
                number: guess,
                ..Value::of(ty)
            }
        }
        "unwrap" | "expect" | "unwrap_or_default" | "unwrap_or_else" | "context" | "with_context" => {
            unwrapped(receiver)
        }
        "unwrap_unchecked" => unwrapped(receiver),
        "ok" | "err" | "as_ref" | "as_mut" | "as_deref" | "as_deref_mut" | "take" | "replace" | "ok_or"
        | "ok_or_else" | "map_err" | "or_else" | "insert" => receiver,
        "and_then" => match first.map(|one| &one.ty) {
            Some(Ty::Callable(output)) => Value::of((**output).clone()),
            _ => Value::default(),
        },
        "borrow" | "borrow_mut" | "lock" | "read" | "write" | "get_mut_unchecked" => Value {
            length,
            ..Value::of(guarded(receiver.ty))
        },
        "clone" | "to_owned" | "as_slice" | "as_mut_slice" | "into" | "as_mut_ptr" | "as_ptr"
        | "into_inner" | "try_into" | "deref" | "deref_mut" => receiver,
        "split_at" | "split_at_mut" => {
            let half = Ty::other("[]", vec![element]);
            Value::of(Ty::Tuple(vec![half.clone(), half]))
        }
        "add" | "sub" | "offset" => receiver,
        "abs" | "sin" | "cos" | "exp" | "ln" | "floor" | "ceil" | "round" | "powf" => Value::of(receiver.ty),
        "parse" => Value::of(Ty::other("Result", vec![turbofish.unwrap_or_default()])),
        "sum" | "product" => Value::of(turbofish.unwrap_or(element)),
        "entry" => Value::of(Ty::other("Entry", vec![second_argument(&receiver.ty)])),
        "or_insert" | "or_insert_with" | "or_default" => Value::of(element),
        "to_string" | "trim" | "to_uppercase" | "to_lowercase" | "as_str" => {
            Value::of(Ty::other("String", Vec::new()))
        }
        _ => Value::default(),
    }
}

fn two(operation: Operation, left: Value, right: Amount) -> Value {
    Value {
        number: Amount::two(operation, left.number, right),
        ..Value::of(left.ty)
    }
}

fn first_argument(ty: &Ty) -> Ty {
    match ty {
        Ty::Named(_, arguments) => arguments.first().cloned().unwrap_or_default(),
        _ => Ty::Unknown,
    }
}

fn second_argument(ty: &Ty) -> Ty {
    match ty {
        Ty::Named(_, arguments) => arguments.get(1).cloned().unwrap_or_default(),
        _ => Ty::Unknown,
    }
}

/// What a `RefCell`, `Mutex` or `RwLock` holds.
fn guarded(ty: Ty) -> Ty {
    match ty {
        Ty::Named(TypeKey::Other(name), arguments)
            if matches!(name.as_str(), "RefCell" | "Mutex" | "RwLock" | "Cell") =>
        {
            arguments.into_iter().next().unwrap_or_default()
        }
        other => other,
    }
}
