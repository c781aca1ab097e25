//! Kinds of calls as tables have them: a kind, and the names that mean it.

use serde::Deserialize;
use std::collections::HashMap;
use std::hash::Hash;

/// The kinds of calls on a sort of values, by their names.
#[derive(Debug, Deserialize)]
#[serde(
    from = "HashMap<K, Vec<String>>",
    bound(deserialize = "K: Deserialize<'de> + Copy + Eq + Hash")
)]
pub(crate) struct Family<K>(HashMap<String, K>);

impl<K: Copy> From<HashMap<K, Vec<String>>> for Family<K> {
    fn from(kinds: HashMap<K, Vec<String>>) -> Self {
        let names = kinds
            .into_iter()
            .flat_map(|(kind, names)| names.into_iter().map(move |name| (name, kind)));
        Self(names.collect())
    }
}

impl<K: Copy> Family<K> {
    /// What a call of this name is.
    pub fn get(&self, name: &str) -> Option<K> {
        self.0.get(name).copied()
    }

    /// What a function with this path is, by its last name and the one before it, or by its last name.
    pub fn at_end(&self, path: &[impl AsRef<str>]) -> Option<K> {
        let with_owner = match path {
            [.., owner, last] => self.get(&format!("{}::{}", owner.as_ref(), last.as_ref())),
            _ => None,
        };
        with_owner.or_else(|| self.get(path.last()?.as_ref()))
    }
}
