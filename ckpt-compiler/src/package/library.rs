//! What calls of the standard library cost: `tables/cost.toml`.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

/// Operations of a call of which nothing is known.
const CALL: f64 = 5.0;

#[derive(Debug, Default)]
struct Costs {
    call: HashMap<String, f64>,
    element: HashMap<String, f64>,
    each: HashSet<String>,
    common: HashSet<String>,
}

fn costs() -> &'static Costs {
    static COSTS: OnceLock<Costs> = OnceLock::new();
    COSTS.get_or_init(|| Costs::parse(include_str!("../../tables/cost.toml")).unwrap_or_default())
}

impl Costs {
    fn parse(text: &str) -> Option<Self> {
        let table: toml::Table = text.parse().ok()?;
        let numbers = |name: &str| -> Option<HashMap<String, f64>> {
            let entries = table.get(name)?.as_table()?.iter();
            entries
                .map(|(name, cost)| {
                    let number = cost
                        .as_float()
                        .or_else(|| cost.as_integer().map(|one| one as f64))?;
                    Some((name.clone(), number))
                })
                .collect()
        };
        let lists = table.get("lists")?.as_table()?;
        let words = |name: &str| -> Option<HashSet<String>> {
            let list = lists.get(name)?.as_array()?.iter();
            list.map(|word| word.as_str().map(str::to_owned)).collect()
        };
        Some(Self {
            call: numbers("call")?,
            element: numbers("element")?,
            each: words("each")?,
            common: words("common")?,
        })
    }
}

/// Operations of one call, whatever it is applied to.
pub fn call(name: &str) -> f64 {
    costs().call.get(name).copied().unwrap_or(CALL)
}

/// Operations for each element of what the method is applied to.
pub fn per_element(name: &str) -> Option<f64> {
    costs().element.get(name).copied()
}

/// Whether the method calls a closure for each element.
pub fn calls_for_each(name: &str) -> bool {
    costs().each.contains(name)
}

/// Whether a method of this name and number of arguments is most likely the standard library's.
pub fn is_common(name: &str, arguments: usize) -> bool {
    costs().common.contains(&format!("{name}/{arguments}"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_table_is_read() {
        let table = super::Costs::parse(include_str!("../../tables/cost.toml")).expect("a valid table");
        assert!(table.call.len() > 20 && table.each.contains("map") && table.common.contains("len/0"));
    }
}
