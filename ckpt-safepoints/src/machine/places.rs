//! Variables, references, and what they lead to.

use super::Rank;
use super::lists::element;
use crate::skeleton::{Access, MemoryOp, Var};
use crate::values::widening::{END, LENGTH, START};
use crate::values::{Binary, MemoryPlace, Projection, Provenance, Value};
use std::ops::Range;
use std::rc::Rc;

impl Rank {
    /// Nothing where the stack has not what the step needs.
    pub(super) fn memory_op(&mut self, op: &MemoryOp) -> Option<()> {
        match op {
            MemoryOp::Load(var) => {
                let value = self.variable(*var)?.clone();
                self.push(value);
            }
            MemoryOp::Address(var, _, access) => self.place_op(*var, *access)?,
            MemoryOp::Field(name) => self.field_op(name)?,
            MemoryOp::Element => self.element_op()?,
            MemoryOp::Follow => {
                let top = self.pop()?;
                let followed = self.follow(top);
                self.push(followed);
            }
            MemoryOp::Store => {
                let value = self.pop()?;
                let place = self.pop()?;
                self.write(&place, value);
            }
            MemoryOp::Update(operator) => {
                let right = self.pop()?;
                let place = self.pop()?;
                // `*x += 1` and `x += 1` where `x` is a reference: what it leads to.
                let place = self.followed(place);
                let (left, right) = (self.value(&place), self.value(&right));
                self.write(&place, operator.apply(&left, &right, &self.provenance));
            }
            MemoryOp::Declare(slot) => {
                let value = self.pop()?;
                *self.frame().slots.get_mut(*slot)? = value;
            }
            MemoryOp::Clear(range) => {
                let frame = self.frame();
                for slot in frame.slots.get_mut(range.clone())? {
                    *slot = Value::Unit;
                }
            }
            MemoryOp::Test(slot, pattern) => {
                let value = self.frame().slots.get(*slot)?.clone();
                let fits = self.fits(&value, pattern);
                self.push(fits);
            }
            MemoryOp::Bind(slot, pattern) => {
                let value = self.frame().slots.get(*slot)?.clone();
                self.bind(value, pattern);
            }
            MemoryOp::Havoc(vars) => {
                for var in vars {
                    let place = self.place_of(*var)?;
                    self.forget(&place, None);
                }
            }
            MemoryOp::Name(var, path) => {
                let mut place = self.place_of(*var)?;
                place.path.extend(path.iter().cloned().map(Projection::Field));
                self.name(&place);
            }
        }
        Some(())
    }

    /// Gives what is at a place a name, if it is not known.
    fn name(&mut self, place: &MemoryPlace) {
        if let Some(Value::Unknown | Value::Data) = self.at_place(place) {
            let name = Value::uniform(&("sent", self.index, self.named));
            self.named += 1;
            self.put(place, name);
        }
    }

    fn place_op(&mut self, var: Var, access: Access) -> Option<()> {
        let value = self.variable(var)?.clone();
        let place = Value::Ref(self.place_of(var)?);
        self.push(match access {
            Access::Written | Access::Given(..) => place,
            // A method's receiver, or a plain argument: what the variable holds.
            Access::Never | Access::Through | Access::Passed(..) => value,
        });
        Some(())
    }

    fn frame_of(&self, var: Var) -> Option<usize> {
        let mut frame = self.frames.len() - 1;
        for _ in 0..var.up {
            frame = self.frames.get(frame)?.parent?;
        }
        Some(frame)
    }

    pub(crate) fn variable(&self, var: Var) -> Option<&Value> {
        self.frames.get(self.frame_of(var)?)?.slots.get(var.slot)
    }

    pub(crate) fn place_of(&self, var: Var) -> Option<MemoryPlace> {
        Some(MemoryPlace {
            frame: self.frame_of(var)?,
            slot: var.slot,
            path: Vec::new(),
        })
    }

    /// What is at a place; nothing where the way there is not known.
    pub(crate) fn at_place(&self, place: &MemoryPlace) -> Option<Value> {
        let mut value = self.frames.get(place.frame)?.slots.get(place.slot)?.clone();
        for step in &place.path {
            value = self.part(&value, step)?;
        }
        Some(value)
    }

    fn part(&self, value: &Value, step: &Projection) -> Option<Value> {
        let value = match value {
            Value::Ref(place) => self.at_place(place)?,
            other => other.clone(),
        };
        match (step, &value) {
            (Projection::Field(name), _) => Some(self.get_field(&value, name)),
            (Projection::Index(at), Value::List(parts))
            | (Projection::Part(at), Value::Variant(_, parts)) => parts.get(*at).cloned(),
            (Projection::Index(at), Value::Summary(parts)) => Some(parts[2].at(&Value::Int(*at as i128))),
            // Which one is meant is not known, and may differ between the ranks.
            (Projection::Any, _) => Some(value.any_element()),
            (Projection::Slice(count), _) => Some(Value::summary((**count).clone(), value.any_element())),
            (Projection::Index(at), value) if value.is_uniform() => {
                Some(Value::uniform(&(value, &Value::Int(*at as i128))))
            }
            (_, value) if value.is_uniform() => Some(Value::uniform(&(step, value))),
            (_, value) => Some(value.blurred()),
        }
    }

    /// The value, with all references followed.
    pub(crate) fn value(&self, value: &Value) -> Value {
        let mut value = value.clone();
        for _ in 0..16 {
            match &value {
                Value::Ref(place) => value = self.at_place(place).unwrap_or_default(),
                _ => return value,
            }
        }
        Value::Unknown
    }

    /// A place that holds a reference is where that leads.
    pub(crate) fn follow(&self, top: Value) -> Value {
        if let Value::Ref(place) = &top
            && let Some(inner @ Value::Ref(_)) = self.at_place(place)
        {
            return inner;
        }
        top
    }

    /// The same, to the end.
    pub(crate) fn followed(&self, mut top: Value) -> Value {
        for _ in 0..16 {
            let next = self.follow(top.clone());
            if next == top {
                break;
            }
            top = next;
        }
        top
    }

    pub(crate) fn field_op(&mut self, name: &Rc<str>) -> Option<()> {
        let top = self.pop()?;
        let part = match self.followed(top) {
            Value::Ref(mut place) => {
                place.path.push(Projection::Field(name.clone()));
                Value::Ref(place)
            }
            other => self.get_field(&other, name),
        };
        self.push(part);
        Some(())
    }

    pub(crate) fn element_op(&mut self) -> Option<()> {
        let index = self.pop()?;
        let top = self.pop()?;
        let index = self.value(&index);
        let part = match self.followed(top) {
            Value::Ref(place) if is_all(&index) => Value::Ref(place),
            Value::Ref(mut place) => {
                let whole = self.at_place(&place).unwrap_or_default();
                if let (Value::List(parts), Value::Range(range)) = (&whole, &index)
                    && let Some(range) = bounds(parts, range)
                {
                    let elements = range.map(|at| element(&place, at)).collect();
                    self.push(Value::list(elements));
                    return Some(());
                }
                place.path.push(match index {
                    Value::Int(at) if matches!(whole, Value::List(_) | Value::Uniform(_)) && at >= 0 => {
                        Projection::Index(at as usize)
                    }
                    Value::Range(range) => {
                        Projection::Slice(Rc::new(count_of(&range, &whole, &self.provenance)))
                    }
                    _ => Projection::Any,
                });
                Value::Ref(place)
            }
            other => self.get_element(&other, &index),
        };
        self.push(part);
        Some(())
    }

    pub(crate) fn get_field(&self, value: &Value, name: &str) -> Value {
        match self.value(value) {
            Value::Struct(_, fields) => fields.get(name).cloned().unwrap_or_default(),
            Value::Tuple(parts) | Value::Variant(_, parts) => name
                .parse::<usize>()
                .ok()
                .and_then(|at| parts.get(at).cloned())
                .unwrap_or_default(),
            Value::Range(parts) if name == "start" => parts[0].clone(),
            Value::Range(parts) if name == "end" => parts[1].clone(),
            Value::Range(parts) if name == START => parts[0].clone(),
            Value::Range(parts) if name == END => parts[1].clone(),
            Value::Summary(parts) if name == START => parts[0].clone(),
            Value::Summary(parts) if name == END => parts[1].clone(),
            list @ (Value::List(_) | Value::Summary(_)) if name == LENGTH => {
                list.length(&self.provenance).unwrap_or_default()
            }
            other if other.is_uniform() => Value::uniform(&(name, other)),
            other => other.blurred(),
        }
    }

    pub(crate) fn get_element(&self, value: &Value, index: &Value) -> Value {
        let (value, index) = (self.value(value), self.value(index));
        match (&value, &index) {
            (Value::List(parts), Value::Int(at)) => {
                let at = usize::try_from(*at).ok();
                at.and_then(|at| parts.get(at).cloned()).unwrap_or_default()
            }
            (Value::List(parts), Value::Range(range)) => match bounds(parts, range) {
                Some(range) => Value::list(parts[range].to_vec()),
                None => Value::summary(count_of(range, &value, &self.provenance), value.any_element()),
            },
            (Value::Summary(_), Value::Range(range)) => {
                Value::summary(count_of(range, &value, &self.provenance), value.any_element())
            }
            (Value::Summary(parts), _) if index.is_uniform() => parts[2].at(&index),
            (Value::Summary(_), _) => value.any_element(),
            _ if value.is_uniform() && index.is_uniform() => Value::uniform(&(&value, &index)),
            (Value::Unordered(inner, true), _) if index.is_uniform() => Value::uniform(&(inner, &index)),
            _ => value.blurred(),
        }
    }

    /// Puts a value where a reference leads. Where that is not known, the borrow checker has seen to it that nothing
    /// else is looked at through it: its variable has been given up when the reference was.
    pub(crate) fn write(&mut self, place: &Value, value: Value) {
        if let Value::Ref(place) = place {
            self.put(place, value);
        }
    }

    pub(crate) fn put(&mut self, place: &MemoryPlace, value: Value) {
        // A reference on the way is followed first.
        for cut in 0..place.path.len() {
            let front = MemoryPlace {
                path: place.path[..cut].to_vec(),
                ..place.clone()
            };
            if let Some(Value::Ref(inner)) = self.at_place(&front) {
                let mut to = inner;
                to.path.extend(place.path[cut..].iter().cloned());
                if to != *place {
                    self.put(&to, value);
                }
                return;
            }
        }
        // An element of a slice that is lent.
        if let Some(Projection::Index(_) | Projection::Any) = place.path.last()
            && !matches!(value, Value::Ref(_))
            && let Some(Value::Ref(inner)) = self.at_place(place)
            && inner != *place
        {
            return self.put(&inner, value);
        }
        let provenance = self.provenance.clone();
        let Some(root) = self
            .frames
            .get_mut(place.frame)
            .and_then(|frame| frame.slots.get_mut(place.slot))
        else {
            return;
        };
        set(root, &place.path, value, &provenance);
    }

    /// Puts a value where a message is received: what is there keeps its length.
    pub(crate) fn fill(&mut self, place: &MemoryPlace, value: Value) {
        let old = self.at_place(place).unwrap_or_default();
        let new = match (&old, &value) {
            (Value::List(parts), Value::Uniform(_)) => value.elements(parts.len()),
            (Value::List(parts), _) if !matches!(value, Value::List(_)) => {
                Value::list(vec![value.blurred(); parts.len()])
            }
            (Value::Summary(parts), _) if !value.is_uniform() => {
                Value::Summary(Rc::new([parts[0].clone(), parts[1].clone(), value.any_element()]))
            }
            _ => value,
        };
        self.put(place, new);
    }

    /// Gives up what is known of a place. With a key, what is there then is the same on all ranks with that key.
    pub(crate) fn forget(&mut self, place: &MemoryPlace, key: Option<u64>) {
        let old = self.at_place(place).unwrap_or_default();
        if let Value::Ref(inner) = &old {
            let inner = inner.clone();
            if inner != *place {
                self.forget(&inner, key);
            }
            return;
        }
        let new = match key {
            Some(_) if matches!(place.path.last(), Some(Projection::Any)) => forgotten(&old),
            Some(key) => {
                let told = Value::uniform(&(key, place.slot, &place.path));
                match old {
                    Value::Unordered(_, is_hashed) => Value::Unordered(Box::new(told), is_hashed),
                    _ => told,
                }
            }
            None => forgotten(&old),
        };
        self.put(place, new);
    }

    /// The same of what is in a value.
    pub(crate) fn leak_parts(&mut self, value: &Value) {
        let parts: Vec<Value> = value.parts().cloned().collect();
        parts.iter().for_each(|part| self.leak(part));
    }

    /// A value that goes where it cannot be followed: what its references lead to may be written to.
    pub(crate) fn leak(&mut self, value: &Value) {
        match value {
            Value::Ref(place) => self.forget(place, None),
            other => {
                self.leak_parts(other);
            }
        }
    }
}

/// What is left of a value that may have been written to: numbers stay numbers.
fn forgotten(old: &Value) -> Value {
    match old {
        Value::Int(_)
        | Value::Bool(_)
        | Value::Float(_)
        | Value::Text(_)
        | Value::Data
        | Value::Uniform(_)
        | Value::Unordered(..)
        | Value::Unit => Value::Data,
        _ => Value::Unknown,
    }
}

/// How many elements a range takes from a list.
fn count_of(range: &[Value; 3], list: &Value, provenance: &Provenance) -> Value {
    let to = match &range[1] {
        Value::Unit => list.length(provenance).unwrap_or(Value::Data),
        to => to.clone(),
    };
    match &range[0] {
        Value::Unit | Value::Int(0) => to,
        from => Binary::Sub.apply(&to, from, provenance),
    }
}

/// `[..]`
fn is_all(index: &Value) -> bool {
    let bounds = match index {
        Value::Range(bounds) => &bounds[..2],
        _ => return false,
    };
    matches!(bounds, [Value::Unit | Value::Int(0), Value::Unit])
}

fn bounds(parts: &[Value], range: &[Value; 3]) -> Option<Range<usize>> {
    let bound = |value: &Value, default: usize| match value {
        Value::Unit => Some(default),
        Value::Int(at) => usize::try_from(*at).ok(),
        _ => None,
    };
    let (from, to) = (bound(&range[0], 0)?, bound(&range[1], parts.len())?);
    parts.get(from..to).map(|_| from..to)
}

fn set(root: &mut Value, path: &[Projection], value: Value, provenance: &Provenance) {
    let Some((step, rest)) = path.split_first() else {
        *root = value;
        return;
    };
    if matches!(step, Projection::Any | Projection::Slice(_))
        || matches!((step, &*root), (Projection::Index(_), Value::Summary(_)))
    {
        set_some(root, path, value, provenance);
        return;
    }
    match (step, &mut *root) {
        (Projection::Field(name), Value::Struct(_, fields)) => {
            let fields = Rc::make_mut(fields);
            set(fields.entry(name.clone()).or_default(), rest, value, provenance);
        }
        (Projection::Field(name), Value::Tuple(parts) | Value::Variant(_, parts)) => {
            let at = name.parse::<usize>().ok();
            if let Some(part) = at.and_then(|at| Rc::make_mut(parts).get_mut(at)) {
                set(part, rest, value, provenance);
            }
        }
        (Projection::Index(at), Value::List(parts)) | (Projection::Part(at), Value::Variant(_, parts)) => {
            if let Some(part) = Rc::make_mut(parts).get_mut(*at) {
                set(part, rest, value, provenance);
            }
        }
        // Something that is the same on all ranks, where all write the same.
        (_, Value::Uniform(_))
            if path.iter().all(Projection::is_told) && value.is_uniform() && value.is_data() =>
        {
            *root = Value::uniform(&("written", &*root, path, value));
        }
        // A part of something of which no parts are known.
        (_, Value::Data) if value.is_data() => {}
        (_, other) => {
            let data = other.is_data() && value.is_data();
            *root = if data { Value::Data } else { Value::Unknown };
        }
    }
}

/// Writes to an element that is not known, or to some: it may have been any of them.
fn set_some(root: &mut Value, path: &[Projection], value: Value, provenance: &Provenance) {
    let front = match &*root {
        Value::Summary(parts) => Some([parts[0].clone(), parts[1].clone()]),
        other if other.is_data() || matches!(other, Value::List(_)) => {
            other.length(provenance).map(|count| [Value::Int(0), count])
        }
        _ => None,
    };
    let Some([from, count]) = front else {
        let data = root.is_data() && value.is_data();
        *root = if data { Value::Data } else { Value::Unknown };
        return;
    };
    let element = root.any_element();
    let rest = match path {
        // The element of a slice.
        [
            Projection::Slice(_),
            Projection::Any | Projection::Index(_),
            rest @ ..,
        ] => rest,
        [Projection::Slice(_), rest @ ..] if matches!(rest.first(), Some(Projection::Slice(_))) => {
            return set_some(root, rest, value, provenance);
        }
        [_, rest @ ..] => rest,
        [] => return,
    };
    let whole_slice = matches!(path, [Projection::Slice(_)]);
    let mut new = element.clone();
    set(
        &mut new,
        rest,
        if whole_slice { value.any_element() } else { value },
        provenance,
    );
    *root = Value::Summary(Rc::new([from, count, element.join(&new)]));
}
