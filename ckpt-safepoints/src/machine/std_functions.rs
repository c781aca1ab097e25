//! Functions of other crates.

use super::{Rank, View};
use crate::skeleton::{Determinacy, Outside};
use crate::values::{Binary, Provenance, Value};
use std::rc::Rc;

/// What every process, or every node, has for itself.
fn is_of_node(name: &Value) -> bool {
    const ROOTS: [&str; 6] = ["/proc/", "/sys/", "/dev/", "/etc/", "/tmp/", "/run/"];
    matches!(name, Value::Text(name) if ROOTS.iter().any(|root| name.starts_with(root)))
}

impl Rank {
    /// Calls a function of another crate.
    pub(crate) fn outside(&mut self, function: &Outside, arguments: Vec<Value>, view: &mut View<'_>) {
        if let Some(call) = &function.message {
            return self.communicate_by_path(call, &arguments, view);
        }
        let names: Vec<&str> = function.path.iter().map(|name| &**name).collect();
        let plain: Vec<Value> = arguments.iter().map(|one| self.value(one)).collect();
        if self.library_function(&names, &plain, view) {
            return;
        }
        let found = match (&names[..], &plain[..]) {
            (_, [only]) if function.wraps => Some(only.clone()),
            ([.., "Vec", "new"], []) | ([.., "Vec", "with_capacity"], [_]) => Some(Value::list(Vec::new())),
            ([.., "max"], [a, b]) => extreme(Binary::Ge, a, b, &self.provenance),
            ([.., "min"], [a, b]) => extreme(Binary::Le, a, b, &self.provenance),
            (
                [
                    ..,
                    "i8" | "i16" | "i32" | "i64" | "u8" | "u16" | "u32" | "u64" | "usize" | "isize" | "Rank",
                    "from",
                ],
                [only @ Value::Int(_)],
            ) => Some(only.clone()),
            ([.., "f32" | "f64", "from"], [Value::Int(number)]) => Some(Value::float(*number as f64)),
            ([.., "f32" | "f64", "from"], [only @ Value::Float(_)]) => Some(only.clone()),
            ([.., "try_from"], [only @ Value::Int(_)]) => {
                Some(Value::Variant("Ok".into(), Rc::new(vec![only.clone()])))
            }
            ([.., "mem", "take"], _) => None,
            ([.., "mem", "swap"] | ["swap"], [a, b]) => {
                let (a, b) = (a.clone(), b.clone());
                self.write(&arguments[0], b);
                self.write(&arguments[1], a);
                Some(Value::Unit)
            }
            ([.., "mem", "replace"] | ["replace"], [old, _]) => {
                let old = old.clone();
                self.write(&arguments[0], arguments[1].clone());
                Some(old)
            }
            ([.., "drop"], [_]) => Some(Value::Unit),
            _ => None,
        };
        if let Some(found) = found {
            self.push(found);
            return;
        }
        if self.begins_parallel_region(&function.path, &arguments, view) {
            return;
        }
        arguments.iter().for_each(|one| self.leak(one));
        self.unseen(&arguments, view);
        let same = match function.determinacy {
            Determinacy::Always => true,
            Determinacy::BeforeMessages => !plain.iter().any(is_of_node) && !self.is_amid_messages(view),
            Determinacy::Never => false,
        };
        let same = same && plain.iter().all(Value::is_uniform);
        self.push(match same {
            true => Value::uniform(&(&names, &plain)),
            false if plain.iter().all(Value::is_data) => Value::Data,
            false => Value::Unknown,
        });
    }

    /// `format!(..)`
    pub(crate) fn text(
        &mut self,
        pattern: &Rc<str>,
        parts: &[Value],
        writers: &[usize],
        view: &mut View<'_>,
    ) {
        let parts: Vec<Value> = parts.iter().map(|one| self.value(one)).collect();
        let settled = writers.iter().all(|one| self.is_determined(*one, view));
        let text = match settled && parts.iter().all(Value::is_uniform) {
            true => Value::uniform(&(pattern, parts)),
            false => Value::Data,
        };
        self.push(text);
    }
}

fn extreme(order: Binary, a: &Value, b: &Value, provenance: &Provenance) -> Option<Value> {
    match order.apply(a, b, provenance) {
        Value::Bool(true) => Some(a.clone()),
        Value::Bool(false) => Some(b.clone()),
        _ => None,
    }
}
