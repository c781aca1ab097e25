//! What calls mean: data, not code. ckpt brings one TOML table along for each library (`tables/*.toml`); the user adds
//! to them in `[calls]` of `ckpt.toml` or by `means(..)` in an attribute.
//!
//! `read` reads tables, `table` holds one, `details` what only ckpt's own say, `messages` what users say that other crates exchange; a [`Library`] answers what all of them say together. It is a value that is
//! handed down: who asks what a call means has been given one.

mod details;
mod messages;
mod own;
mod read;
mod table;
#[cfg(test)]
mod tests;

pub use details::{
    Adaptor, Blocks, Determined, DeviceHidden, DeviceMethods, DeviceNumbers, Ending, Functions, Iterators,
    Macros, Methods, Numbers, PlaceOf, Prelude, Section, Streams, Surroundings, Teams, Threads, Types,
};
pub use messages::{CrateMessages, Exchange, MessageCall, MessageStep, Named, Waits};
pub use own::{Crates, OwnNames, words_of_text};
pub(crate) use read::in_parentheses;
pub use read::{TableError, Wrong};
pub use table::{CallTable, Meaning};

use std::sync::{Arc, OnceLock};

/// Operations of a call of which nothing is known.
const UNKNOWN_CALL: f64 = 5.0;

/// The tables of the libraries.
const LIBRARIES: [(&str, &str); 17] = [
    ("std", include_str!("../../tables/std.toml")),
    ("ckpt", include_str!("../../tables/ckpt.toml")),
    ("sync", include_str!("../../tables/sync.toml")),
    ("rand", include_str!("../../tables/rand.toml")),
    ("rayon", include_str!("../../tables/rayon.toml")),
    ("ndarray", include_str!("../../tables/ndarray.toml")),
    ("nalgebra", include_str!("../../tables/nalgebra.toml")),
    ("clap", include_str!("../../tables/clap.toml")),
    ("libc", include_str!("../../tables/libc.toml")),
    ("signals", include_str!("../../tables/signals.toml")),
    ("csv", include_str!("../../tables/csv.toml")),
    ("image", include_str!("../../tables/image.toml")),
    ("indicatif", include_str!("../../tables/indicatif.toml")),
    ("regex", include_str!("../../tables/regex.toml")),
    ("log", include_str!("../../tables/log.toml")),
    ("mpi", include_str!("../../tables/mpi.toml")),
    ("devices", include_str!("../../tables/devices.toml")),
];

/// What calls mean: the tables that ckpt brings along, and what is added to them.
#[derive(Debug, Clone, Default)]
pub struct Library {
    added: CallTable,
    own: Arc<OwnNames>,
}

impl Library {
    /// What ckpt's own tables say, and nothing else.
    pub fn builtin() -> &'static Self {
        static BUILTIN: OnceLock<Library> = OnceLock::new();
        BUILTIN.get_or_init(Self::default)
    }

    /// What is said beyond ckpt's own tables.
    pub fn added(&self) -> &CallTable {
        &self.added
    }

    /// Adds what a table says.
    pub fn add(&mut self, table: &CallTable) {
        self.added.add(table);
    }

    /// The names of the program's own are these.
    pub fn set_own(&mut self, own: &Arc<OwnNames>) {
        self.own = Arc::clone(own);
    }

    /// The names of the program's own, where they are known.
    pub fn own(&self) -> &Arc<OwnNames> {
        &self.own
    }

    /// Whether the tables say anything of a macro of this name.
    pub fn speaks_of_macro(&self, name: &str) -> bool {
        self.bits(name) & Meaning::of_macros() != 0
    }

    /// What is added of a macro of the program's own replaces what ckpt's tables say of one of its name.
    fn bits(&self, word: &str) -> u32 {
        let added = self.added.bits(word);
        let hidden = if added & Meaning::Own.bit() == 0 {
            0
        } else {
            Meaning::of_macros()
        };
        builtin().bits(word) & !hidden | added
    }

    fn means(&self, word: &str, meaning: Meaning) -> bool {
        self.bits(word) & meaning.bit() != 0
    }

    /// Whether a function's path ends as one of the tables' does that means this.
    fn path_means(&self, path: &[String], meaning: Meaning) -> bool {
        self.added.path_means(path, meaning) || builtin().path_means(path, meaning)
    }

    /// Whether the tables say anything of a method, function or macro of this name.
    pub fn knows(&self, name: &str) -> bool {
        self.bits(name) != 0
    }

    /// Whether the method may be called again at any time.
    pub fn is_pure(&self, method: &str) -> bool {
        self.means(method, Meaning::Pure)
    }

    /// Whether the function of this path may be called again, or what it gives is made again: by any table.
    pub fn may_be_called_again(&self, path: &[String]) -> bool {
        self.added.may_be_reexecuted(path) || builtin().may_be_reexecuted(path)
    }

    /// Whether the function may be called again at any time.
    pub fn is_pure_function(&self, path: &syn::Path) -> bool {
        self.path_means(&segments(path), Meaning::Pure)
    }

    /// Whether the method's result borrows from its receiver.
    pub fn borrows(&self, method: &str) -> bool {
        self.means(method, Meaning::Borrows)
    }

    /// Whether the result of the call borrows from its receiver: methods that share their name with one of the tables'
    /// but take other arguments mean something else (`Cell::get`).
    pub fn borrows_by_call(&self, call: &syn::ExprMethodCall) -> bool {
        let method = call.method.to_string();
        let arguments = match () {
            () if self.says(&method, Methods::Finds) => Some(1),
            () if self.says(&method, Methods::Guards) => Some(0),
            () => None,
        };
        self.borrows(&method) && arguments.is_none_or(|count| count == call.args.len())
    }

    /// Whether the macro computes a value, or checks one, and does nothing else.
    pub fn only_computes(&self, name: &str) -> bool {
        [Macros::Computes, Macros::Condition, Macros::Comparison]
            .iter()
            .any(|key| self.says(name, *key))
    }

    /// Whether a type of this name changes behind a shared reference, or a function of it makes a queue that does.
    pub fn changes_inside(&self, name: &str) -> bool {
        self.changes_behind_references(name, true) || self.says(name, Types::ChangesInside)
    }

    /// Whether the method's result borrows exclusively from its receiver.
    pub fn borrows_mutably(&self, method: &str) -> bool {
        self.means(method, Meaning::Mutably)
    }

    /// Whether the method turns a borrow or an iterator into another one.
    pub fn adapts(&self, method: &str) -> bool {
        self.means(method, Meaning::Adapts)
    }

    /// Whether the method changes its receiver in place.
    pub fn changes(&self, method: &str) -> bool {
        self.means(method, Meaning::Changes)
    }

    /// Whether the method takes its receiver by value.
    pub fn consumes(&self, method: &str) -> bool {
        self.means(method, Meaning::Consumes) || method.starts_with("into_")
    }

    /// Whether the method runs an iterator to its end and makes a new value of what it gives.
    pub fn collects(&self, method: &str) -> bool {
        self.means(method, Meaning::Collects)
    }

    /// Whether what the function gives is rebuilt at a restart: arguments, clocks, files, devices, and what the user
    /// says.
    pub fn is_device(&self, path: &syn::Path) -> bool {
        let path = segments(path);
        self.added.is_device(&path) || builtin().is_device(&path)
    }

    /// Whether what the function gives is made again at a restart however it has been used since: the user says so, or it
    /// [is unseeded](Library::is_unseeded).
    pub fn is_made_again(&self, path: &syn::Path) -> bool {
        self.added.is_device(&segments(path)) || self.is_unseeded(path)
    }

    /// Whether the function gives a handle to a generator of random numbers that the system seeds.
    pub fn is_unseeded(&self, path: &syn::Path) -> bool {
        let path = segments(path);
        self.added.is_unseeded(&path) || builtin().is_unseeded(&path)
    }

    /// Whether the function only computes, so that the statements around may run again.
    pub fn may_run_again(&self, path: &syn::Path) -> bool {
        self.is_pure_function(path) || self.added.path_means(&segments(path), Meaning::Again)
    }

    /// Whether the function draws random numbers that no two runs have alike, or makes a generator or a seed for them. `is_own`: the
    /// program has a function or variable of its last name.
    pub fn draws(&self, path: &[String], is_own: bool) -> bool {
        self.added.draws(path, is_own) || builtin().draws(path, is_own)
    }

    /// Whether the function seeds what others of its crate draw from.
    pub fn seeds(&self, path: &[String]) -> bool {
        self.added.path_means(path, Meaning::Seeds) || builtin().path_means(path, Meaning::Seeds)
    }

    /// Whether the function asks for the environment of the process.
    pub fn reads_environment(&self, path: &[String]) -> bool {
        match path {
            [.., of, last] => self.says(of, Surroundings::Modules) && self.says(last, Surroundings::Reads),
            [last] => self.says(last, Surroundings::Reads),
            [] => false,
        }
    }

    /// Whether the function asks for a file, and not for what is in it.
    pub fn asks_for_file(&self, path: &[String]) -> bool {
        self.says_of_function(path, Surroundings::AsksFiles)
    }

    /// Whether the function reads what is in a file.
    pub fn reads_file(&self, path: &[String]) -> bool {
        self.says_of_function(path, Surroundings::ReadsFiles)
    }

    /// Whether the function may change what is in a file.
    pub fn writes_file(&self, path: &[String]) -> bool {
        self.says_of_function(path, Surroundings::WritesFiles)
    }

    /// Whether a function is listed there with what it is of.
    fn says_of_function(&self, path: &[String], listed: Surroundings) -> bool {
        matches!(path, [.., of, last] if self.says(&format!("{of}::{last}"), listed))
    }

    /// Whether what the method gives is rebuilt at a restart.
    pub fn is_device_method(&self, method: &str) -> bool {
        self.means(method, Meaning::Reexecute)
    }

    /// Whether the macro takes a format string or plain expressions, by reference or value.
    pub fn formats(&self, name: &str) -> bool {
        self.means(name, Meaning::Formats)
    }

    /// Whether a method, macro or function of this last name leaves a trace outside the program.
    pub fn leaves_a_trace(&self, name: &str) -> bool {
        self.means(name, Meaning::Traces)
    }

    /// Whether what is in a crate or module of this name are functions in another language; by the custom of its name, those
    /// of a crate `.._sys` are.
    pub fn is_foreign(&self, name: &str) -> bool {
        self.means(name, Meaning::Foreign) || name.ends_with("_sys")
    }

    /// Whether a function or macro of this last name does not come back.
    pub fn ends(&self, name: &str) -> bool {
        self.means(name, Meaning::Ends)
    }

    /// Whether the method calls a closure for each element.
    pub fn calls_for_each(&self, method: &str) -> bool {
        self.means(method, Meaning::Each)
    }

    /// Whether the method changes how many elements its receiver has.
    pub fn grows(&self, method: &str) -> bool {
        self.means(method, Meaning::Grows)
    }

    /// Whether the method gives every element of its receiver a new value.
    pub fn fills(&self, method: &str) -> bool {
        self.means(method, Meaning::Fills)
    }

    /// Whether the method gives its receiver a new value.
    pub fn resets(&self, method: &str) -> bool {
        self.means(method, Meaning::Resets)
    }

    /// Whether the macro never leaves a loop around it of its own accord.
    pub fn stays(&self, name: &str) -> bool {
        self.means(name, Meaning::Stays) || self.formats(name)
    }

    /// Whether the macro may leave the function or closure around it.
    pub fn returns(&self, name: &str) -> bool {
        self.means(name, Meaning::Returns)
    }

    /// Whether the macro may declare variables whose names it is given.
    pub fn declares(&self, name: &str) -> bool {
        self.means(name, Meaning::Declares)
    }

    /// Whether a name stands under this key of a section.
    pub fn says<S: Section>(&self, name: &str, key: S) -> bool {
        self.details::<S>(name) & (1 << key.index()) != 0
    }

    /// Whether the name of a method that is called stands under this key of a section.
    pub fn is_call<S: Section>(&self, call: &syn::ExprMethodCall, key: S) -> bool {
        self.says(&call.method.to_string(), key)
    }

    /// The key of a section under which a name stands, the first of several.
    pub fn key<S: Section>(&self, name: &str) -> Option<S> {
        let first = self.details::<S>(name).trailing_zeros() as usize;
        S::KEYS.get(first).map(|(_, key)| *key)
    }

    /// The key of a section under which a path stands, the first of several.
    pub fn key_of_path<S: Section>(&self, path: &syn::Path) -> Option<S> {
        let names = segments(path);
        (0..names.len()).find_map(|from| self.key(&names[from..].join("::")))
    }

    /// Whether a path ends as one that stands under this key.
    pub fn says_of_path<S: Section>(&self, path: &syn::Path, key: S) -> bool {
        let names = segments(path);
        (0..names.len()).any(|from| self.says(&names[from..].join("::"), key))
    }

    fn details<S: Section>(&self, name: &str) -> u128 {
        self.added.details.bits::<S>(name) | builtin().details.bits::<S>(name)
    }

    /// Whether the method goes over references to what is in its receiver.
    pub fn goes_over_references(&self, method: &str) -> bool {
        self.says(method, Iterators::Shared) || self.goes_over_exclusively(method)
    }

    /// Whether the method leaves its receiver as it is, but for what changes behind a shared reference.
    pub fn only_looks(&self, method: &str) -> bool {
        self.says(method, Methods::Looks)
            || self.says(method, Methods::Interior)
            || self.is_pure(method) && !self.lends_exclusively(method)
    }

    /// Whether the method, which leaves its receiver as it is, may be one that takes it by value: for numbers the two are the same.
    pub fn may_take(&self, method: &str) -> bool {
        self.says(method, Methods::ByValue) || self.says(method, Numbers::Gives)
    }

    /// Whether the method lends its receiver or a part of it exclusively.
    pub fn lends_exclusively(&self, method: &str) -> bool {
        self.says(method, Methods::Lends) || self.borrows_mutably(method)
    }

    /// Whether an iterator certainly begins with the method, and may as often as it is called.
    pub fn begins_an_iterator(&self, method: &str) -> bool {
        self.goes_over_references(method) || self.says(method, Iterators::Begins)
    }

    /// Whether the method goes over exclusive references to what is in its receiver.
    pub fn goes_over_exclusively(&self, method: &str) -> bool {
        self.says(method, Iterators::Exclusive)
    }

    /// Whether the method makes an iterator of an iterator.
    pub fn is_adaptor(&self, method: &str) -> bool {
        self.key::<Adaptor>(method).is_some() || self.passes_on_items(method)
    }

    /// Whether the adaptor gives the items of the iterator that it is called on as they are, if not all of them or in
    /// another order.
    pub fn passes_on_items(&self, method: &str) -> bool {
        self.says(method, Iterators::Passes) || self.keeps_by_position(method)
    }

    /// Whether the adaptor chooses and orders items by where they stand alone: it does the same to their indices.
    pub fn keeps_by_position(&self, method: &str) -> bool {
        self.says(method, Iterators::Positional)
    }

    /// Whether a value of the type changes behind a shared reference by itself; what is set once counts if `once` says so.
    pub fn changes_behind_references(&self, name: &str, once: bool) -> bool {
        self.says(name, Types::Cells)
            || self.says(name, Types::Atomics)
            || once && self.says(name, Types::Once)
    }

    /// Operations of one call, whatever it is applied to.
    pub fn cost_of_call(&self, name: &str) -> f64 {
        let said = |table: &CallTable| table.call.get(name).copied();
        said(&self.added)
            .or_else(|| said(builtin()))
            .unwrap_or(UNKNOWN_CALL)
    }

    /// Operations of any method of this type, on top: a look-up.
    pub fn cost_of_look_up(&self, ty: &str) -> f64 {
        builtin().look_up.get(ty).copied().unwrap_or_default()
    }

    /// Operations for each element of what the method is applied to.
    pub fn cost_per_element(&self, name: &str) -> Option<f64> {
        let said = |table: &CallTable| table.element.get(name).copied();
        said(&self.added).or_else(|| said(builtin()))
    }

    /// Whether a method of this name and number of arguments is most likely the standard library's.
    pub fn is_common(&self, name: &str, arguments: usize) -> bool {
        builtin().common.contains(&format!("{name}/{arguments}"))
    }
}

/// The tables that ckpt brings along, added up.
fn builtin() -> &'static CallTable {
    static BUILTIN: OnceLock<CallTable> = OnceLock::new();
    BUILTIN.get_or_init(|| {
        let mut all = CallTable::default();
        for (name, text) in LIBRARIES {
            // A table of this crate that is malformed is a bug, and a test reads them all.
            let table = CallTable::of_library(text).unwrap_or_else(|error| panic!("{name}.toml: {error}"));
            all.add(&table);
        }
        all
    })
}

/// The names of a path's segments.
pub fn segments(path: &syn::Path) -> Vec<String> {
    path.segments.iter().map(|one| one.ident.to_string()).collect()
}

/// The last name of a path, without its arguments.
pub fn last_name(path: &syn::Path) -> String {
    let last = path.segments.last();
    last.map(|last| last.ident.to_string()).unwrap_or_default()
}
