//! What calls mean, read from the TOML tables under `tables/`: data, not code.

use std::collections::HashSet;
use std::sync::OnceLock;

/// The meaning of the calls of one or more libraries.
#[derive(Debug)]
pub struct Tables {
    pure: HashSet<String>,
    borrows: HashSet<String>,
    mutably: HashSet<String>,
    adapts: HashSet<String>,
    changes: HashSet<String>,
    consumes: HashSet<String>,
    collects: HashSet<String>,
    device: HashSet<String>,
    formats: HashSet<String>,
}

impl Tables {
    /// The tables that ckpt brings along.
    pub fn builtin() -> &'static Self {
        static BUILTIN: OnceLock<Tables> = OnceLock::new();
        BUILTIN.get_or_init(|| Self::parse(include_str!("../tables/std.toml")))
    }

    /// Panics where a table that is part of this crate is malformed: that is a bug, and a test reads them all.
    fn parse(text: &str) -> Self {
        let table: toml::Table = text.parse().expect("the built-in tables are valid TOML");
        let set = |name: &str| -> HashSet<String> {
            let list = table[name].as_array().expect("every entry of a table is a list");
            list.iter()
                .filter_map(|word| word.as_str())
                .map(str::to_owned)
                .collect()
        };
        Self {
            pure: set("pure"),
            borrows: set("borrows"),
            mutably: set("mutably"),
            adapts: set("adapts"),
            changes: set("changes"),
            consumes: set("consumes"),
            collects: set("collects"),
            device: set("device"),
            formats: set("formats"),
        }
    }

    /// Whether the method may be called again at any time.
    pub fn is_pure(&self, method: &str) -> bool {
        self.pure.contains(method)
    }

    /// Whether the method's result borrows from its receiver.
    pub fn borrows(&self, method: &str) -> bool {
        self.borrows.contains(method)
    }

    /// Whether the method's result borrows exclusively from its receiver.
    pub fn borrows_mutably(&self, method: &str) -> bool {
        self.mutably.contains(method)
    }

    /// Whether the method turns a borrow or an iterator into another one.
    pub fn adapts(&self, method: &str) -> bool {
        self.adapts.contains(method)
    }

    /// Whether the method changes its receiver in place.
    pub fn changes(&self, method: &str) -> bool {
        self.changes.contains(method)
    }

    /// Whether the method takes its receiver by value.
    pub fn consumes(&self, method: &str) -> bool {
        self.consumes.contains(method) || method.starts_with("into_")
    }

    /// Whether the method runs an iterator to its end and makes a new value of what it gives.
    pub fn collects(&self, method: &str) -> bool {
        self.collects.contains(method)
    }

    /// Whether the function's result is tied to this process: arguments, clocks, files, devices.
    pub fn is_device(&self, path: &syn::Path) -> bool {
        let text = path
            .segments
            .iter()
            .map(|one| one.ident.to_string())
            .collect::<Vec<_>>()
            .join("::");
        self.device.contains(&text)
            || self
                .device
                .iter()
                .any(|known| known.contains("::") && text.ends_with(&format!("::{known}")))
    }

    /// Whether the macro takes a format string or plain expressions, by reference or value.
    pub fn formats(&self, name: &str) -> bool {
        self.formats.contains(name)
    }
}
