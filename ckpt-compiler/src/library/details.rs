//! What only ckpt's own tables say, in sections: how a call goes over items, what a type holds. Every section is a type,
//! every key of it a value; [`Library::says`](super::Library::says) asks whether a name is listed there.
//!
//! A name may begin or end with `*`, for any letters in its place; a path `A::b` stands for functions whose path ends so.

use std::collections::HashMap;

/// A section of the tables.
pub trait Section: Copy + PartialEq + 'static {
    /// Its name in the tables.
    const NAME: &'static str;
    /// Its keys.
    const KEYS: &'static [(&'static str, Self)];

    /// The place of this key among them.
    fn index(self) -> usize;
}

macro_rules! sections {
    ($($(#[$of_section:meta])* $section:literal => $kind:ident {
        $($(#[$of_key:meta])* $one:ident = $key:literal,)*
    })*) => {
        $(
            $(#[$of_section])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq)]
            pub enum $kind {
                $($(#[$of_key])* $one,)*
            }

            impl Section for $kind {
                const NAME: &'static str = $section;
                const KEYS: &'static [(&'static str, Self)] = &[$(($key, Self::$one),)*];

                fn index(self) -> usize {
                    self as usize
                }
            }
        )*

        /// The keys of the section of this name, if there is one.
        pub(super) fn keys_of(section: &str) -> Option<Vec<&'static str>> {
            match section {
                $($section => Some($kind::KEYS.iter().map(|(key, _)| *key).collect()),)*
                _ => None,
            }
        }
    };
}

sections! {
    /// How a method goes over items.
    "iterators" => Iterators {
        /// Goes over shared references to what is in the receiver.
        Shared = "shared",
        /// Goes over exclusive references to what is in the receiver.
        Exclusive = "exclusive",
        /// Gives the receiver's items as they are.
        Passes = "passes",
        /// Chooses items by where they stand alone.
        Positional = "positional",
    }
}

/// The details of one table.
#[derive(Debug, Clone, Default)]
pub struct Details {
    /// By section: what stands there, a bit for each key.
    sections: HashMap<String, Names>,
}

#[derive(Debug, Clone, Default)]
struct Names {
    exact: HashMap<String, u64>,
    /// Names with a `*`.
    open: Vec<(String, u64)>,
}

impl Details {
    pub(super) fn is_empty(&self) -> bool {
        self.sections.is_empty()
    }

    /// Says it of a name; `key` is an index in [`keys_of`] this section.
    pub(super) fn say(&mut self, section: &str, key: usize, name: &str) {
        let names = self.sections.entry(section.to_owned()).or_default();
        if name.contains('*') {
            names.open.push((name.to_owned(), 1 << key));
        } else {
            *names.exact.entry(name.to_owned()).or_default() |= 1 << key;
        }
    }

    pub(super) fn add(&mut self, other: &Self) {
        for (section, names) in &other.sections {
            let own = self.sections.entry(section.clone()).or_default();
            for (name, bits) in &names.exact {
                *own.exact.entry(name.clone()).or_default() |= bits;
            }
            own.open.extend(names.open.iter().cloned());
        }
    }

    /// The keys under which a name stands, a bit for each.
    pub(super) fn bits<S: Section>(&self, name: &str) -> u64 {
        let Some(names) = self.sections.get(S::NAME) else {
            return 0;
        };
        let exact = names.exact.get(name).copied().unwrap_or_default();
        let fitting = names.open.iter().filter(|(pattern, _)| fits(name, pattern));
        fitting.fold(exact, |bits, (_, more)| bits | more)
    }
}

/// Whether a name is what a pattern with `*` at one end or both stands for.
fn fits(name: &str, pattern: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(end), None) => name.ends_with(end),
        (None, Some(start)) => name.starts_with(start),
        (Some(_), Some(_)) => name.contains(pattern.trim_matches('*')),
        (None, None) => name == pattern,
    }
}
