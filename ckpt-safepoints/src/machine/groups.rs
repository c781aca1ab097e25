//! Groups of ranks.

use super::Rank;
use crate::values::Value;
use std::rc::Rc;

impl Rank {
    /// A method of a group; nothing where it cannot be worked out.
    pub(crate) fn group_method(
        &mut self,
        members: &Rc<Vec<usize>>,
        name: &str,
        plain: &[Value],
    ) -> Option<Value> {
        let group = |list: Vec<usize>| Value::Group(Rc::new(list));
        let both = |other: &[usize], wanted: bool| -> Vec<usize> {
            let kept = members.iter().filter(|one| other.contains(one) == wanted);
            kept.copied().collect()
        };
        Some(match (name, plain) {
            ("clone" | "as_ref", []) => Value::Group(Rc::clone(members)),
            ("size", []) => Value::Int(members.len() as i128),
            ("rank", []) => match members.iter().position(|one| *one == self.index) {
                Some(at) => Value::some(Value::Int(at as i128)),
                None => Value::none(),
            },
            ("union", [Value::Group(other)]) => {
                let more = other.iter().filter(|one| !members.contains(one));
                group(members.iter().chain(more).copied().collect())
            }
            ("intersection", [Value::Group(other)]) => group(both(other, true)),
            ("difference", [Value::Group(other)]) => group(both(other, false)),
            ("include", [list]) => group(
                numbers(list)?
                    .into_iter()
                    .map(|at| members.get(at).copied())
                    .collect::<Option<_>>()?,
            ),
            ("exclude", [list]) => {
                let without = numbers(list)?;
                let kept = members.iter().enumerate().filter(|(at, _)| !without.contains(at));
                group(kept.map(|(_, one)| *one).collect())
            }
            ("compare" | "translate_rank" | "translate_ranks", _) => Value::Unknown,
            _ => return None,
        })
    }
}

fn numbers(list: &Value) -> Option<Vec<usize>> {
    let Value::List(parts) = list else { return None };
    let number = |part: &Value| match part {
        Value::Int(number) => usize::try_from(*number).ok(),
        _ => None,
    };
    parts.iter().map(number).collect()
}
