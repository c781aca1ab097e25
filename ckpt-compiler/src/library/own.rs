//! Names that a program gives to things of its own, and that the tables may know as those of others: by a name alone nobody can tell
//! which of them is meant. `others` has the names of the crates that it depends on.

mod others;

pub use others::Crates;

use std::collections::BTreeSet;

/// What the files of a program declare, by name.
///
/// ```
/// let mut own = ckpt_compiler::library::OwnNames::default();
/// own.read("trait Stack { fn first(&mut self) -> f64; fn last(&self) -> f64; }");
/// assert!(own.may_change("first") && !own.may_change("last"));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnNames {
    /// Methods that take their receiver otherwise than as `&self`.
    methods: BTreeSet<String>,
    /// Functions, types and macros, also where `use` only names them so.
    others: BTreeSet<String>,
    /// Whether there may be methods of any name: macros name them, or not all files are known.
    are_made: bool,
}

impl OwnNames {
    /// Takes what a file declares. What stands in comments and texts counts as well: that makes nobody believe more than is so.
    pub fn read(&mut self, text: &str) {
        let words = words_of_text(text);
        let mut rest = words.as_slice();
        while let [word, behind @ ..] = rest {
            rest = behind;
            match (*word, behind) {
                ("fn", ["$", named @ ..]) => self.are_made |= !is_shared(receiver(named)),
                ("fn", [name, ..]) => match receiver(behind) {
                    Some(receiver) if is_shared(Some(receiver)) => {}
                    Some(_) => _ = self.methods.insert((*name).to_owned()),
                    None => _ = self.others.insert((*name).to_owned()),
                },
                ("struct" | "enum" | "union" | "type" | "trait", [name, ..])
                | ("macro_rules", ["!", name, ..]) => {
                    self.others.insert((*name).to_owned());
                }
                ("use", _) => {
                    let end = behind
                        .iter()
                        .position(|word| *word == ";")
                        .unwrap_or(behind.len());
                    let names = behind[..end].windows(2).filter(|two| two[0] == "as");
                    self.others.extend(names.map(|two| two[1].to_owned()));
                    rest = &behind[end..];
                }
                _ => {}
            }
        }
    }

    /// Not all of them are known.
    pub fn may_be_any(&mut self) {
        self.are_made = true;
    }

    /// Whether a method of this name may be one of the program's own that changes what it is called on.
    pub fn may_change(&self, method: &str) -> bool {
        self.are_made || self.methods.contains(method)
    }

    /// Whether a function, type or macro of this name may be the program's own.
    pub fn has(&self, name: &str) -> bool {
        self.others.contains(name)
    }
}

/// The names and numbers of a text, and each other letter, without the space between them.
pub fn words_of_text(text: &str) -> Vec<&str> {
    Words(text).collect()
}

/// The same, one after the other.
struct Words<'t>(&'t str);

impl<'t> Iterator for Words<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let rest = self.0.trim_start();
        let first = rest.chars().next()?;
        let end = match is_of_word(first) {
            true => rest.find(|one| !is_of_word(one)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (word, behind) = rest.split_at(end);
        self.0 = behind;
        Some(word)
    }
}

fn is_of_word(one: char) -> bool {
    one.is_alphanumeric() || one == '_'
}

/// The words of a function's first parameter, if that is `self`; they begin with the function's name.
fn receiver<'w, 't>(words: &'w [&'t str]) -> Option<&'w [&'t str]> {
    let inside = match &words[1..] {
        ["<", ..] => words.get(1 + end_of_generics(&words[1..])..)?,
        behind => behind,
    };
    let ["(", inside @ ..] = inside else { return None };
    let end = { inside.iter() }
        .position(|word| matches!(*word, "," | ")"))
        .unwrap_or(inside.len());
    let first = &inside[..end];
    let is_receiver = first
        .iter()
        .take_while(|word| **word != ":")
        .any(|word| *word == "self");
    is_receiver.then_some(first)
}

/// How many words are within these angle brackets, with them; that of an arrow is none.
fn end_of_generics(words: &[&str]) -> usize {
    let mut depth = 0;
    let mut before = "";
    for (at, word) in words.iter().enumerate() {
        match *word {
            "<" => depth += 1,
            ">" if before != "-" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
        before = word;
    }
    words.len()
}

/// `&self`, `&'a self`, `self: &Self`.
fn is_shared(receiver: Option<&[&str]>) -> bool {
    receiver.is_none_or(|words| {
        let of_type = words.iter().position(|word| *word == ":");
        let manner = of_type.map_or(words, |at| &words[at + 1..]);
        manner.first() == Some(&"&") && !manner.contains(&"mut")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_that_may_change_their_receiver() {
        let mut own = OwnNames::default();
        own.read(
            "impl<T: Fn(u32) -> u64> Table<T> {
                fn get(&mut self, k: usize) -> f64 { 0.0 }
                fn len(&self) -> usize { 0 }
                pub fn finish<'a, F: FnMut(&str) -> bool>(&'a mut self, f: F) {}
                fn join(self) {}
                fn iter(self: &Self) {}
                fn first(self: &mut Self) {}
                fn new(of: usize) -> Self { Self }
                fn seen<'a>(&'a self, other: &mut Self) {}
            }",
        );
        for method in ["get", "finish", "join", "first"] {
            assert!(own.may_change(method), "{method}");
        }
        for method in ["len", "iter", "new", "seen"] {
            assert!(!own.may_change(method), "{method}");
        }
        assert!(own.has("new") && !own.has("get"));
    }

    #[test]
    fn what_else_has_a_name() {
        let mut own = OwnNames::default();
        own.read(
            "use log::{debug as tell, Level}; pub(crate) use bump as trace;
             pub struct BinaryHeap<T>(Vec<T>); enum Cow { One } type Text = String;
             macro_rules! dbg { ($of:expr) => { $of += 1 } }
             mod process { pub fn exit(cells: &mut [f64]) {} }
             fn main() { let x = 3 as f64; }",
        );
        for name in [
            "tell",
            "trace",
            "BinaryHeap",
            "Cow",
            "Text",
            "dbg",
            "exit",
            "main",
        ] {
            assert!(own.has(name), "{name}");
        }
        assert!(!own.has("f64") && !own.has("debug") && !own.may_change("get"));
        own.read("macro_rules! all { ($($name:ident)*) => { $(fn $name(&mut self) {})* } }");
        assert!(own.may_change("get"));
    }
}
