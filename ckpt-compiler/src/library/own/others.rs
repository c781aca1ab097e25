//! Methods that traits of other crates bring along: in scope they come before those of the standard library that need one step more to
//! reach what they are called on (The Rust Reference, "Method-call expressions").

use std::collections::{BTreeMap, BTreeSet};

use super::{OwnNames, Words, end_of_generics, is_of_word, is_shared, receiver, words_of_text};

/// The crates that a program may have traits from, by the names that they have in paths. Each name leads to what may be meant by it.
#[derive(Debug, Default)]
pub struct Crates<C> {
    /// Those that the program itself can name.
    pub named: BTreeMap<String, Vec<C>>,
    /// Those that others may hand on, and perhaps more.
    pub behind: BTreeMap<String, Vec<C>>,
}

impl OwnNames {
    /// Takes the methods of traits of the crates that a program names, and of those that these hand on with `pub use`: a trait counts
    /// only where its name is in scope. `texts` are the program's; `files` gives the texts of a crate, where they can be read.
    ///
    /// ```
    /// use ckpt_compiler::Crates;
    /// let mut names = ckpt_compiler::OwnNames::default();
    /// let mut crates = Crates::default();
    /// crates.named.insert("cells".to_owned(), vec![()]);
    /// names.read_crates(["use cells::Cells;"], &crates, |()| {
    ///     Some(vec!["pub trait Cells { fn first(&mut self) -> f64; }".to_owned()])
    /// });
    /// assert!(names.may_change("first"));
    /// ```
    pub fn read_crates<'t, C>(
        &mut self,
        texts: impl IntoIterator<Item = &'t str>,
        crates: &Crates<C>,
        files: impl Fn(&C) -> Option<Vec<String>>,
    ) {
        let mut named: BTreeSet<&str> = BTreeSet::new();
        for text in texts {
            named.extend(
                crates
                    .named
                    .keys()
                    .map(String::as_str)
                    .filter(|name| names(text, name)),
            );
        }
        let mut open = BTreeSet::new();
        for one in named.iter().flat_map(|name| &crates.named[*name]) {
            match files(one) {
                Some(texts) => open.extend(self.read_crate(&texts, &crates.behind)),
                None => self.may_be_any(),
            }
        }
        let mut seen = BTreeSet::new();
        while let Some(name) = open.pop_first() {
            if !seen.insert(name) {
                continue;
            }
            // What cannot be read is none of this program's, but has the name of one of its crates.
            for texts in crates.behind[name].iter().filter_map(&files) {
                open.extend(self.read_crate(&texts, &crates.behind));
            }
        }
    }

    /// Takes the methods of one crate's traits; gives the names of the crates that it hands on.
    fn read_crate<'c, C>(
        &mut self,
        texts: &[String],
        behind: &'c BTreeMap<String, Vec<C>>,
    ) -> BTreeSet<&'c str> {
        let mut traits = Traits::default();
        let mut found = BTreeSet::new();
        for text in texts {
            traits.read(text);
            found.extend(handed_on(text, behind));
        }
        self.are_made |= traits.are_made;
        self.methods.extend(traits.changing());
        // A module of its own comes before a crate of the same name.
        found.retain(|name| !texts.iter().any(|text| has_module(text, name)));
        found
    }
}

/// Whether a text declares a module of this name.
fn has_module(text: &str, name: &str) -> bool {
    text.match_indices("mod").any(|(at, word)| {
        let behind = text[at + word.len()..].trim_start();
        behind
            .strip_prefix(name)
            .is_some_and(|rest| rest.trim_start().starts_with([';', '{']))
    })
}

/// Whether a text has this word in it.
fn names(text: &str, name: &str) -> bool {
    behind_each(text, name).next().is_some()
}

/// What stands behind each place where a text has this word.
fn behind_each<'t>(text: &'t str, word: &str) -> impl Iterator<Item = &'t str> {
    text.match_indices(word).filter_map(|(at, found)| {
        let (before, behind) = (&text[..at], &text[at + found.len()..]);
        let is_whole = !before.ends_with(is_of_word) && !behind.starts_with(is_of_word);
        is_whole.then_some(behind)
    })
}

/// The crates of which a text hands on something.
fn handed_on<'c, C>(text: &str, crates: &'c BTreeMap<String, Vec<C>>) -> impl Iterator<Item = &'c str> {
    let mut found = BTreeSet::new();
    for (at, _) in text.match_indices("pub") {
        let behind = text[at + "pub".len()..].trim_start();
        if behind.starts_with("use") || behind.starts_with("extern") {
            let end = behind.find(';').unwrap_or(behind.len());
            found.extend({ words_of_text(&behind[..end]) }.into_iter().filter_map(|word| {
                let (name, _) = crates.get_key_value(word)?;
                Some(name.as_str())
            }));
        }
    }
    found.into_iter()
}

/// What the traits of a crate say of their methods.
#[derive(Default)]
struct Traits {
    /// Methods that take their receiver by `&mut`, or in another manner that is not `&self`.
    by_reference: BTreeSet<String>,
    /// Those that take it by value, by their traits.
    by_value: BTreeMap<String, BTreeSet<String>>,
    /// The traits that something changeable may be lent to by value: `impl Sorted for &mut Vec<f64>`.
    of_loans: BTreeSet<String>,
    are_made: bool,
}

impl Traits {
    fn changing(self) -> BTreeSet<String> {
        let Traits {
            mut by_reference,
            by_value,
            of_loans,
            ..
        } = self;
        let lent = by_value.into_iter().filter(|(name, _)| of_loans.contains(name));
        by_reference.extend(lent.flat_map(|(_, methods)| methods));
        by_reference
    }

    /// No more of a text is taken apart than traits, and the heads of implementations: crates are large.
    fn read(&mut self, text: &str) {
        for behind in behind_each(text, "trait") {
            let mut words = Words(behind);
            let Some(name) = words.next() else { continue };
            let (mut depth, mut is_over) = (0_usize, false);
            let of_trait = words.take_while(|word| {
                let is_of_it = !is_over;
                match *word {
                    "{" => depth += 1,
                    "}" => depth = depth.saturating_sub(1),
                    _ => {}
                }
                is_over = depth == 0 && matches!(*word, "}" | ";");
                is_of_it
            });
            self.declared(name, &of_trait.collect::<Vec<_>>());
        }
        for behind in behind_each(text, "impl") {
            let mut is_over = false;
            let head = Words(behind).take_while(|word| {
                let is_of_it = !is_over;
                is_over = matches!(*word, "{" | ";");
                is_of_it
            });
            self.implemented(&head.collect::<Vec<_>>());
        }
    }

    /// A trait, with the words behind its name.
    fn declared(&mut self, name: &str, behind: &[&str]) {
        let Some(head) = behind.iter().position(|word| matches!(*word, "{" | ";")) else {
            return;
        };
        // No collection is an iterator.
        if behind[head] == ";" || behind[..head].contains(&"Iterator") {
            return;
        }
        let body = &behind[head + 1..];
        let mut depth = 1;
        for (at, word) in body.iter().enumerate() {
            match *word {
                "{" => depth += 1,
                "}" => depth -= 1,
                "fn" if depth == 1 => self.method(name, &body[at + 1..]),
                _ => {}
            }
            if depth == 0 {
                return;
            }
        }
    }

    /// A method of a trait, with the words from its name on.
    fn method(&mut self, of: &str, words: &[&str]) {
        let (name, receiver) = match words {
            ["$", named @ ..] if !named.is_empty() => ("$", receiver(named)),
            [name, _, ..] => (*name, receiver(words)),
            _ => return,
        };
        match receiver {
            shared if is_shared(shared) => {}
            _ if name == "$" => self.are_made = true,
            Some(["self"] | ["mut", "self"]) => {
                self.by_value
                    .entry(of.to_owned())
                    .or_default()
                    .insert(name.to_owned());
            }
            _ => _ = self.by_reference.insert(name.to_owned()),
        }
    }

    /// An implementation, with the words behind `impl`.
    fn implemented(&mut self, behind: &[&str]) {
        let (generics, behind) = match behind.first() {
            Some(&"<") => behind.split_at(end_of_generics(behind)),
            _ => behind.split_at(0),
        };
        let head = behind
            .iter()
            .position(|word| matches!(*word, "{" | ";"))
            .unwrap_or(0);
        let Some(at) = behind[..head].iter().position(|word| *word == "for") else {
            return;
        };
        let (of, to) = (&behind[..at], &behind[at + 1..head]);
        let end = of.iter().position(|word| *word == "<").unwrap_or(of.len());
        let Some(name) = of[..end].last() else { return };
        let is_of_all = |word: &str| {
            generics.contains(&word)
                && !generics.contains(&"Iterator")
                && !behind[..head].contains(&"Iterator")
        };
        let may_be_lent = match to {
            ["$", ..] => true,
            ["&", rest @ ..] => rest.iter().take(3).any(|word| *word == "mut"),
            [one] | [one, "where", ..] => is_of_all(one),
            _ => false,
        };
        if may_be_lent {
            self.of_loans.insert((*name).to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names after a program of one text has been read, which can name the first of these crates, with their texts.
    fn names_of(program: &str, crates: &[(&str, &str)]) -> OwnNames {
        let mut names = OwnNames::default();
        let mut all = crates
            .iter()
            .map(|(name, text)| ((*name).to_owned(), vec![(*text).to_owned()]));
        let named = all.next().into_iter().collect();
        let crates = Crates {
            named,
            behind: all.collect(),
        };
        names.read_crates([program], &crates, |text| {
            (!text.is_empty()).then(|| vec![text.clone()])
        });
        names
    }

    #[test]
    fn methods_of_traits_of_others() {
        let cells = "
            pub trait Cells<T: Fn(u8) -> u8>: Sized {
                fn first(&mut self) -> f64 { self.get() }
                fn len(&self) -> usize;
                fn new(of: usize) -> Self;
                fn last(self: &mut Self);
            }
            impl Table { pub fn contains(&mut self) {} }
            pub trait Walk: Iterator { fn join(&mut self) -> String; }
            pub trait Kept { fn chunks(self) -> usize; }
            impl Kept for Table {}
            pub trait Lent { fn windows(self) -> usize; fn iter(self) -> usize; }
            impl<'a, T> cells::Lent for &'a mut Vec<T> where T: Copy { fn windows(self) -> usize { 0 } }
            pub trait All { fn concat(self) -> usize; }
            impl<T> All for T where T: Copy {}
            pub trait Walked { fn rev(self) -> usize; }
            impl<T: Iterator> Walked for T {}";
        let names = names_of("use cells::*;", &[("cells", cells)]);
        for method in ["first", "last", "windows", "iter", "concat"] {
            assert!(names.may_change(method), "{method}");
        }
        for method in ["get", "len", "new", "contains", "join", "chunks", "rev"] {
            assert!(!names.may_change(method), "{method}");
        }
    }

    #[test]
    fn traits_count_where_they_can_be_in_scope() {
        let crates = [
            (
                "cells",
                "pub use inner::Changing; pub use types::*; mod types { } pub use gone::Gone; use hidden::Changed;",
            ),
            ("types", "pub trait Types { fn len(&mut self); }"),
            ("gone", ""),
            ("inner", "pub trait Changing { fn first(&mut self); }"),
            ("hidden", "pub trait Changed { fn last(&mut self); }"),
            ("unused", "pub trait Changed { fn get(&mut self); }"),
        ];
        let names = names_of("use cells::Changing; fn unused_too() {}", &crates);
        assert!(names.may_change("first"));
        for method in ["last", "get", "len", "any"] {
            assert!(!names.may_change(method), "{method}");
        }
    }

    #[test]
    fn what_cannot_be_read_may_have_any() {
        let made = "macro_rules! all { ($name:ident) => { pub trait All { fn $name(&mut self); } } }";
        assert!(names_of("all::all!(first);", &[("all", made)]).may_change("last"));
        assert!(names_of("use cells::Cells;", &[("cells", "")]).may_change("last"));
        assert!(!names_of("fn main() {}", &[("cells", "")]).may_change("last"));
    }
}
