//! What every message means, by its code: the entries of `messages.toml`, of which the book's page is made too.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::failure::{Failure, Outcome};

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
    /// Why it is said.
    pub cause: String,
    /// What to do.
    pub next: String,
    /// What leads to it.
    pub example: Option<String>,
}

impl Messages {
    /// Those of this version.
    ///
    /// # Panics
    /// If the file that was built in is no TOML: a test reads it.
    pub fn read() -> Messages {
        toml::from_str(include_str!("../messages.toml")).expect("a test reads the entries")
    }

    /// The entry of a code, which may be written `e1012` or, of an error, `1012` as well, with its full code.
    pub fn find(&self, code: &str) -> Outcome<(&str, &Entry)> {
        let full = match code.strip_prefix(['w', 'W']) {
            Some(number) => format!("W{number}"),
            None => format!("E{}", code.trim_start_matches(['e', 'E'])),
        };
        let found = self.message.get_key_value(&full);
        found.map(|(code, entry)| (code.as_str(), entry)).ok_or_else(|| {
            Failure::usage(format!("E3099: there is no message `{code}`"))
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
        let messages = Messages::read();
        for code in ["E1010", "e1010", "1010"] {
            assert!(messages.find(code).unwrap().1.says.contains("const fn"));
        }
        assert!(messages.find("w2001").unwrap().1.says.contains("is set"));
        assert!(messages.find("E0").is_err());
        assert_eq!(messages.group("E2153").unwrap().0, "Sessions");
    }
}
