//! What every message means, by its code: the entries of `messages.toml`, of which the book's page is made too.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use ckpt_compiler::Code;
use serde::{Deserialize, Serialize};

use crate::failure::{Failure, Outcome, says};

/// All entries.
#[derive(Debug, Deserialize)]
pub struct Messages {
    group: Vec<Group>,
    message: BTreeMap<String, Entry>,
}

/// Messages that are found in the same place.
#[derive(Debug, Deserialize)]
struct Group {
    first: String,
    title: String,
    place: String,
}

/// What one message means.
#[derive(Debug, Deserialize, Serialize)]
pub struct Entry {
    /// Its words, with placeholders.
    pub says: String,
    /// The same as a user has seen it, where there are placeholders.
    pub shown: Option<String>,
    /// Why it is said.
    pub cause: String,
    /// What to do.
    pub next: String,
    /// What leads to it.
    pub example: Option<String>,
}

impl Entry {
    /// Its words, without placeholders.
    pub fn example_of_words(&self) -> &str {
        self.shown.as_deref().unwrap_or(&self.says)
    }

    /// What stands in a message for a placeholder of its words, such as `{Self}`.
    pub fn filled_in<'m>(&self, placeholder: &str, words: &'m str) -> Option<&'m str> {
        let (before, behind) = self.says.split_once(placeholder)?;
        let rest = words.strip_prefix(before)?;
        match behind.split_once(placeholder) {
            Some((between, _)) => Some(rest.split_once(between)?.0),
            None => rest.strip_suffix(behind),
        }
    }
}

impl Messages {
    /// Those of this version.
    ///
    /// # Panics
    /// If the file that was built in is no TOML: a test reads it.
    pub fn all() -> &'static Self {
        static ALL: LazyLock<Messages> = LazyLock::new(|| {
            toml::from_str(include_str!("../messages.toml")).expect("a test reads the entries")
        });
        &ALL
    }

    /// The entry of a code.
    pub fn entry(&self, code: Code) -> Option<&Entry> {
        self.message.get(&code.to_string())
    }

    /// The entry of a code, which may be written `e1012` or, of an error, `1012` as well, with its full code.
    pub fn find(&self, code: &str) -> Outcome<(&str, &Entry)> {
        let full = match code.strip_prefix(['w', 'W']) {
            Some(number) => format!("W{number}"),
            None => format!("E{}", code.trim_start_matches(['e', 'E'])),
        };
        let found = self.message.get_key_value(&full);
        found.map(|(code, entry)| (code.as_str(), entry)).ok_or_else(|| {
            Failure::usage(says!("E3099: there is no message `{code}`"))
                .help("the code stands in front of the message: E1012; `cargo ckpt explain` lists all")
        })
    }

    /// All of them, with their codes, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.message.iter().map(|(code, entry)| (code.as_str(), entry))
    }

    /// Where a message points, and the title of its group.
    pub fn group(&self, code: &str) -> Option<(&str, &str)> {
        let of_code = |group: &&Group| group.first.as_str() <= code;
        let group = self.group.iter().rfind(of_code)?;
        Some((&group.title, &group.place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_found_however_the_code_is_written() {
        let messages = Messages::all();
        for code in ["E1010", "e1010", "1010"] {
            assert!(messages.find(code).unwrap().1.says.contains("const fn"));
        }
        assert!(messages.find("w2001").unwrap().1.says.contains("is set"));
        assert!(messages.find("E0").is_err());
        assert_eq!(messages.group("E2153").unwrap().0, "Sessions");
    }

    /// A brace may be of the program's.
    #[test]
    fn an_entry_with_placeholders_has_an_example_of_its_words() {
        let lacks = |(code, entry): (&str, &Entry)| {
            let is_plain = entry.shown.is_some() || !entry.says.contains('{');
            (!is_plain).then(|| code.to_owned())
        };
        let lacking: Vec<String> = Messages::all().iter().filter_map(lacks).collect();
        assert!(lacking.is_empty(), "write `shown = ..` for {lacking:?}");
        let entry = Messages::all().find("E2207").unwrap().1;
        assert_eq!(
            entry.example_of_words(),
            "there is no checkpoint 000007 in heat.ckpt.d"
        );
    }

    /// What an entry shows is what it says, with something in place of each name, the same in place of the same name.
    #[test]
    fn what_is_shown_is_what_is_said() {
        for (code, entry) in Messages::all().iter() {
            let Some(shown) = &entry.shown else { continue };
            let mut pattern = String::from("(?s)^");
            let mut names = Vec::new();
            for (index, part) in entry.says.split(['{', '}']).enumerate() {
                match index % 2 {
                    0 => pattern += &regex::escape(part),
                    _ => {
                        names.push(part);
                        pattern += "(.*?)";
                    }
                }
            }
            // The lines below a heading are shown with a message, not in a list of them.
            let heading = pattern.lines().next().unwrap_or_default().to_owned() + "$";
            let pattern = regex::Regex::new(&(pattern + "$")).unwrap();
            let heading = regex::Regex::new(&heading).unwrap();
            let found = pattern.captures(shown).or_else(|| heading.captures(shown));
            let found = found.unwrap_or_else(|| panic!("{code}: `{shown}` is not `{}`", entry.says));
            let mut filled = BTreeMap::new();
            for (name, text) in names.iter().zip(found.iter().skip(1).flatten()) {
                let first = filled.entry(name).or_insert(text.as_str());
                assert!(
                    name.is_empty() || *first == text.as_str(),
                    "{code}: `{name}` is two things in `{shown}`"
                );
            }
        }
    }

    #[test]
    fn what_fills_a_placeholder_is_found_where_the_entry_has_it() {
        let filled = |code, words| Messages::all().entry(Code(code))?.filled_in("{Self}", words);
        assert_eq!(
            filled(1213, "`Vec<Rule>` cannot be saved in a checkpoint"),
            Some("Vec<Rule>")
        );
        let twice =
            "a field of `Rule` is lent to a call that leads to a site, and `Rule` cannot be taken apart";
        assert_eq!(filled(1201, twice), Some("Rule"));
        assert_eq!(filled(1213, "something else"), None);
        assert_eq!(filled(1205, "no placeholder"), None);
    }
}
