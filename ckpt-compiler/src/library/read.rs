//! CallTable from text, with the line and the key of everything that is wrong.

mod messages;

use super::details::keys_of;
use super::{CallTable, Meaning, segments};
use crate::diagnostics::{Refusal, Unread};
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{Ident, Path, Token, parenthesized};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// What is wrong with a table, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {wrong}")]
pub struct TableError {
    /// The line, from 1.
    pub line: usize,
    /// What.
    pub wrong: Wrong,
}

/// What can be wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Wrong {
    /// It is not TOML.
    #[error("{0}")]
    Syntax(String),
    /// A key that means nothing.
    #[error("`{key}` is no key of `{table}`; there are {known}")]
    Key {
        /// The key.
        key: String,
        /// The table that it stands in.
        table: String,
        /// Those that do.
        known: String,
    },
    /// A setting in front of all tables.
    #[error("`{key}` stands above all headings: put it under `[{section}]`")]
    Above {
        /// The key.
        key: String,
        /// Where it belongs.
        section: &'static str,
    },
    /// A value of another kind than the key takes.
    #[error("`{key}` is {found}; expected {expected}")]
    Kind {
        /// The key.
        key: String,
        /// What it holds.
        found: &'static str,
        /// What it should hold.
        expected: &'static str,
    },
    /// A name that no call can have.
    #[error("`{name}` in `{key}` is no name of a call; write `name`, or `Type::name`, without arguments")]
    Name {
        /// The key.
        key: String,
        /// What it holds.
        name: String,
    },
    /// What is said of the messages of a call does not fit together.
    #[error("`{call}`: {said}")]
    Message {
        /// The call.
        call: String,
        /// What does not.
        said: String,
    },
}

/// Sections of `ckpt.toml`; those of the runtime are its own business.
const SECTIONS: &str = "`session`, `calls`";

impl CallTable {
    /// Reads a table of ckpt's own.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn of_library(text: &str) -> Result<Self, TableError> {
        let table = parse(text)?;
        let mut reader = Reader::new(text, false);
        reader.table(table.get_ref(), "the table")?;
        Ok(reader.tables)
    }

    /// Reads `[calls]` of a `ckpt.toml`.
    ///
    /// ```
    /// # use ckpt_compiler::library::CallTable;
    /// let text = "[session]\nevery = 5\n\n[calls]\npure = [\"energy\"]\nreexecute = [\"Mesh::read\"]\n";
    /// assert_eq!(CallTable::of_user(text).unwrap().said().len(), 2);
    /// let wrong = CallTable::of_user("[calls]\npurre = []\n").unwrap_err();
    /// assert!(wrong.to_string().starts_with("line 2: `purre` is no key of `[calls]`"));
    /// ```
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn of_user(text: &str) -> Result<Self, TableError> {
        let root = parse(text)?;
        let mut reader = Reader::new(text, true);
        for (key, value) in root.get_ref() {
            match key.get_ref().as_ref() {
                "session" => {}
                "calls" => reader.table(reader.as_table(key, value)?, "[calls]")?,
                other if !value.get_ref().is_table() => {
                    let section = match keys().contains(&other) {
                        true => "calls",
                        false => "session",
                    };
                    return Err(reader.wrong(
                        key.span().start,
                        Wrong::Above {
                            key: other.to_owned(),
                            section,
                        },
                    ));
                }
                other => {
                    return Err(reader.unknown(key, other, "ckpt.toml", SECTIONS.to_owned()));
                }
            }
        }
        Ok(reader.tables)
    }

    /// Of these tables what speaks of a name that `mentions` finds, as the argument of an attribute:
    /// `means(pure(energy), reexecute(Mesh::read))`; nothing where that is nothing.
    pub fn as_argument(&self, mentions: impl Fn(&str) -> bool) -> Option<String> {
        let mut parts = Vec::new();
        // What looks at states stands at the types that it looks at.
        for (key, meaning) in Meaning::ALL
            .into_iter()
            .filter(|(_, one)| *one != Meaning::Detects)
        {
            let names: Vec<&str> = self
                .said()
                .iter()
                .filter(|(one, name)| *one == meaning && name.rsplit("::").next().is_some_and(&mentions))
                .map(|(_, name)| name.as_str())
                .collect();
            if !names.is_empty() {
                parts.push(format!("{key}({})", names.join(", ")));
            }
        }
        (!parts.is_empty()).then(|| format!("means({})", parts.join(", ")))
    }
}

/// `pure(energy), reexecute(Mesh::read)`: what stands in `means(..)`.
impl CallTable {
    /// What stands between the parentheses of an argument, and nothing behind.
    ///
    /// # Errors
    /// Where it is not of this form, or a key is none.
    #[cfg(test)]
    pub fn of_argument_text(text: &str) -> Result<Self, Unread> {
        let read = |input: ParseStream<'_>| Unread::drain(input, Self::of_argument(input));
        syn::parse::Parser::parse_str(read, text)?
    }

    /// Reads it.
    ///
    /// # Errors
    /// Where it is not of this form, or a key is none.
    pub fn of_argument(input: ParseStream<'_>) -> Result<Self, Unread> {
        let mut tables = Self::default();
        while !input.is_empty() {
            let key: Ident = input.parse()?;
            let Some(meaning) = Meaning::of_key(&key.to_string()) else {
                let known = keys().join("`, `");
                return Err(Unread::Refused(key.span(), Refusal::UnknownMeaning { known }));
            };
            let content = in_parentheses(input)?;
            for path in Punctuated::<Path, Token![,]>::parse_terminated(&content)? {
                tables.say(meaning, &segments(&path).join("::"), true);
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(tables)
    }
}

/// What stands between parentheses.
pub(crate) fn in_parentheses<'i>(input: ParseStream<'i>) -> syn::Result<syn::parse::ParseBuffer<'i>> {
    let content;
    parenthesized!(content in input);
    Ok(content)
}

fn keys() -> Vec<&'static str> {
    Meaning::ALL.iter().map(|(key, _)| *key).collect()
}

fn parse(text: &str) -> Result<Spanned<DeTable<'_>>, TableError> {
    DeTable::parse(text).map_err(|error| TableError {
        line: line_at(text, error.span().map_or(0, |span| span.start)),
        wrong: Wrong::Syntax(error.message().replace('\n', ", ")),
    })
}

fn line_at(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

struct Reader<'t> {
    text: &'t str,
    by_user: bool,
    tables: CallTable,
}

type Key<'t> = Spanned<std::borrow::Cow<'t, str>>;
type Value<'t> = Spanned<DeValue<'t>>;

impl<'t> Reader<'t> {
    fn new(text: &'t str, by_user: bool) -> Self {
        Self {
            text,
            by_user,
            tables: CallTable::default(),
        }
    }

    fn table(&mut self, table: &DeTable<'_>, name: &str) -> Result<(), TableError> {
        for (key, value) in table {
            let word = key.get_ref().as_ref();
            match word {
                "cost" => self.tables.call = self.numbers(key, value)?,
                "element" => self.tables.element = self.numbers(key, value)?,
                "messages" if self.by_user => {
                    let crates = self.as_table(key, value)?;
                    self.messages(crates)?;
                }
                "look_up" if !self.by_user => self.tables.look_up = self.numbers(key, value)?,
                "common" if !self.by_user => {
                    let list = self.names(key, value)?;
                    self.tables.common.extend(list.into_iter().map(|(name, _)| name));
                }
                section if !self.by_user && keys_of(section).is_some() => {
                    self.details(section, self.as_table(key, value)?)?;
                }
                _ => {
                    let Some(meaning) = Meaning::of_key(word) else {
                        let known = format!("`{}`, `cost`, `element`, `messages`", keys().join("`, `"));
                        return Err(self.unknown(key, word, name, known));
                    };
                    for call in self.calls(key, value)? {
                        self.tables.say(meaning, &call, self.by_user);
                    }
                }
            }
        }
        Ok(())
    }

    /// A section of what only ckpt's own tables say.
    fn details(&mut self, section: &str, table: &DeTable<'_>) -> Result<(), TableError> {
        let keys = keys_of(section).unwrap_or_default();
        for (key, value) in table {
            let word = key.get_ref().as_ref();
            let Some(index) = keys.iter().position(|one| *one == word) else {
                let known = format!("`{}`", keys.join("`, `"));
                return Err(self.unknown(key, word, section, known));
            };
            for (name, at) in self.names(key, value)? {
                if !is_call(&name.trim_matches('*').replace('*', " ")) {
                    let key = word.to_owned();
                    return Err(self.wrong(at, Wrong::Name { key, name }));
                }
                self.tables.details.say(section, index, &name);
            }
        }
        Ok(())
    }

    /// Names that calls can have.
    fn calls(&self, key: &Key<'_>, value: &Value<'_>) -> Result<Vec<String>, TableError> {
        let names = self.names(key, value)?.into_iter();
        names
            .map(|(name, at)| match is_call(&name) {
                true => Ok(name),
                false => {
                    let key = key.get_ref().to_string();
                    Err(self.wrong(at, Wrong::Name { key, name }))
                }
            })
            .collect()
    }

    fn names(&self, key: &Key<'_>, value: &Value<'_>) -> Result<Vec<(String, usize)>, TableError> {
        const EXPECTED: &str = "a list of names";
        let Some(list) = value.get_ref().as_array() else {
            return Err(self.kind(key, value, EXPECTED));
        };
        list.iter()
            .map(|one| match one.get_ref().as_str() {
                Some(name) => Ok((name.to_owned(), one.span().start)),
                None => Err(self.kind(key, one, EXPECTED)),
            })
            .collect()
    }

    fn numbers(
        &self,
        key: &Key<'_>,
        value: &Value<'_>,
    ) -> Result<std::collections::HashMap<String, f64>, TableError> {
        let mut found = std::collections::HashMap::new();
        for (name, cost) in self.as_table(key, value)? {
            let text = match cost.get_ref() {
                DeValue::Integer(number) => number.as_str(),
                DeValue::Float(number) => number.as_str(),
                _ => return Err(self.kind(name, cost, "a number of operations")),
            };
            match text.replace('_', "").parse::<f64>() {
                Ok(number) if number.is_finite() && number >= 0.0 => {
                    found.insert(name.get_ref().to_string(), number);
                }
                _ => return Err(self.kind(name, cost, "a number of operations, 0 or more")),
            }
        }
        Ok(found)
    }

    fn as_table<'v, 'i>(&self, key: &Key<'_>, value: &'v Value<'i>) -> Result<&'v DeTable<'i>, TableError> {
        let table = value.get_ref().as_table();
        table.ok_or_else(|| self.kind(key, value, "a table"))
    }

    fn kind(&self, key: &Key<'_>, value: &Value<'_>, expected: &'static str) -> TableError {
        let wrong = Wrong::Kind {
            key: key.get_ref().to_string(),
            found: match value.get_ref() {
                DeValue::String(_) => "a text",
                DeValue::Integer(_) | DeValue::Float(_) => "a number",
                DeValue::Boolean(_) => "a truth value",
                DeValue::Datetime(_) => "a time",
                DeValue::Array(_) => "a list",
                DeValue::Table(_) => "a table",
            },
            expected,
        };
        self.wrong(value.span().start, wrong)
    }

    fn unknown(&self, key: &Key<'_>, word: &str, table: &str, known: String) -> TableError {
        let wrong = Wrong::Key {
            key: word.to_owned(),
            table: table.to_owned(),
            known,
        };
        self.wrong(key.span().start, wrong)
    }

    fn wrong(&self, at: usize, wrong: Wrong) -> TableError {
        TableError {
            line: line_at(self.text, at),
            wrong,
        }
    }
}

/// `name`, `Type::name`.
fn is_call(name: &str) -> bool {
    syn::parse_str::<Path>(name).is_ok_and(|path| {
        path.leading_colon.is_none() && path.segments.iter().all(|one| one.arguments.is_none())
    })
}
