//! What only ckpt's own tables say: how a call goes over items, what a type holds. Every detail answers one question that
//! the compiler asks.

use std::collections::HashMap;

/// One thing that a section of a table says about a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Detail {
    /// Goes over shared references to what is in the receiver.
    Shared,
    /// Goes over exclusive references to what is in the receiver.
    Exclusive,
    /// Gives the receiver's items as they are.
    Passes,
    /// Chooses items by where they stand alone.
    Positional,
}

impl Detail {
    /// All, with the sections and keys of the tables.
    const ALL: [(&'static str, &'static str, Self); 4] = [
        ("iterators", "shared", Self::Shared),
        ("iterators", "exclusive", Self::Exclusive),
        ("iterators", "passes", Self::Passes),
        ("iterators", "positional", Self::Positional),
    ];

    /// Whether tables have a section of this name.
    pub(super) fn is_section(name: &str) -> bool {
        Self::ALL.iter().any(|(section, ..)| *section == name)
    }

    /// The detail of a key in a section.
    pub(super) fn of_key(section: &str, key: &str) -> Option<Self> {
        let found = Self::ALL
            .iter()
            .find(|(of, name, _)| *of == section && *name == key);
        found.map(|(.., one)| *one)
    }

    /// The keys of a section.
    pub(super) fn keys(section: &str) -> Vec<&'static str> {
        let of_section = Self::ALL.iter().filter(|(of, ..)| *of == section);
        of_section.map(|(_, key, _)| *key).collect()
    }

    fn bit(self) -> u64 {
        1 << self as u8
    }
}

/// The details of one table.
#[derive(Debug, Clone, Default)]
pub struct Details {
    /// Bits by name, or by path `A::b`.
    names: HashMap<String, u64>,
}

impl Details {
    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    pub(super) fn say(&mut self, detail: Detail, name: String) {
        *self.names.entry(name).or_default() |= detail.bit();
    }

    pub(super) fn add(&mut self, other: &Self) {
        for (name, bits) in &other.names {
            *self.names.entry(name.clone()).or_default() |= bits;
        }
    }

    /// Whether this is said of a name.
    pub(super) fn says(&self, name: &str, detail: Detail) -> bool {
        self.names.get(name).is_some_and(|bits| bits & detail.bit() != 0)
    }
}
