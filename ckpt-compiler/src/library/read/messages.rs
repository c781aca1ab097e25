//! `[calls.messages.CRATE]`: what the calls of a crate exchange.

use super::{Key, Reader, TableError, Value, Wrong, is_call, line_at};
use crate::library::messages::{CrateMessages, Exchange, MessageCall, MessageStep, Named, Waits};
use toml::de::{DeTable, DeValue};

/// The keys of a step; exactly one of the first five says what it does.
const KEYS: [&str; 11] = [
    "send",
    "receive",
    "collective",
    "handle",
    "duplicate",
    "comm",
    "root",
    "tag",
    "into",
    "same",
    "kind",
];
const WHAT: usize = 5;

const CALL: &str = "a table such as `{ collective = \"all\", comm = 0 }`, or a list of them";
const COMM: &str = "the number of an argument, or \"world\"";
const RANK: &str = "the number of an argument, or a rank as a text (\"0\")";
const SOURCE: &str = "the number of an argument, a rank as a text (\"0\"), or \"any\"";
const TAG: &str = "the number of an argument, or a text: a number, \"any\" (of a receive), or a name";
const ARGUMENT: &str = "the number of an argument";

/// What a name may stand for where an argument could be named as well.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Comm,
    Rank,
    Source,
    Tag,
    TagOrAny,
}

impl Wanted {
    fn expected(self) -> &'static str {
        match self {
            Self::Comm => COMM,
            Self::Rank => RANK,
            Self::Source => SOURCE,
            Self::Tag | Self::TagOrAny => TAG,
        }
    }
}

impl Reader<'_> {
    /// The crates of `[calls.messages]`.
    pub(super) fn messages(&mut self, table: &DeTable<'_>) -> Result<(), TableError> {
        for (name, calls) in table {
            let mut found = Vec::new();
            for (call, steps) in self.as_table(name, calls)? {
                if !is_call(call.get_ref()) {
                    let (key, call_name) = (name.get_ref().to_string(), call.get_ref().to_string());
                    let wrong = Wrong::Name { key, name: call_name };
                    return Err(self.wrong(call.span().start, wrong));
                }
                found.push(MessageCall {
                    path: call.get_ref().split("::").map(str::to_owned).collect(),
                    steps: self.steps(call, steps)?,
                });
            }
            self.tables.say_messages(CrateMessages {
                name: name.get_ref().replace('-', "_"),
                line: line_at(self.text, name.span().start),
                calls: found,
            });
        }
        Ok(())
    }

    fn steps(&self, call: &Key<'_>, value: &Value<'_>) -> Result<Vec<MessageStep>, TableError> {
        match value.get_ref() {
            DeValue::Table(one) => Ok(vec![self.step(call, one)?]),
            DeValue::Array(list) => list
                .iter()
                .map(|one| match one.get_ref().as_table() {
                    Some(table) => self.step(call, table),
                    None => Err(self.kind(call, one, CALL)),
                })
                .collect(),
            _ => Err(self.kind(call, value, CALL)),
        }
    }

    fn step(&self, call: &Key<'_>, table: &DeTable<'_>) -> Result<MessageStep, TableError> {
        let known = |key: &str| KEYS.contains(&key);
        if let Some((key, _)) = table.iter().find(|(key, _)| !known(key.get_ref())) {
            let known = format!("`{}`", KEYS.join("`, `"));
            return Err(self.unknown(key, key.get_ref(), call.get_ref(), known));
        }
        let get = |key: &str| table.iter().find(|(one, _)| one.get_ref() == key);
        let named = |key: &str, wanted: Wanted| match get(key) {
            Some((key, value)) => self.named(key, value, wanted).map(Some),
            None => Ok(None),
        };
        let inconsistent = |said: &str| {
            let wrong = Wrong::Message {
                call: call.get_ref().to_string(),
                said: said.to_owned(),
            };
            self.wrong(call.span().start, wrong)
        };
        if KEYS[..WHAT].iter().filter(|key| get(key).is_some()).count() != 1 {
            return Err(inconsistent(&format!(
                "one of `{}` says what it does",
                KEYS[..WHAT].join("`, `")
            )));
        }
        let same = match get("same") {
            Some((key, value)) => {
                let truth = value.get_ref().as_bool();
                truth.ok_or_else(|| self.kind(key, value, "true or false"))?
            }
            None => false,
        };
        let into = match get("into") {
            Some((key, value)) => Some(self.argument(key, value)?),
            None => None,
        };
        let kind = match get("kind") {
            Some((key, value)) => {
                let text = value.get_ref().as_str();
                Some(text.ok_or_else(|| self.kind(key, value, "a name"))?.to_owned())
            }
            None => None,
        };
        let comm = named("comm", Wanted::Comm)?;
        let root = named("root", Wanted::Rank)?;
        let is_receive = get("receive").is_some();
        let tag = named("tag", if is_receive { Wanted::TagOrAny } else { Wanted::Tag })?;
        let what = if let Some(to) = named("send", Wanted::Rank)? {
            Exchange::Send(to)
        } else if let Some(from) = named("receive", Wanted::Source)? {
            Exchange::Receive(from)
        } else if let Some(comm) = named("handle", Wanted::Comm)? {
            Exchange::Handle(comm)
        } else if let Some(comm) = named("duplicate", Wanted::Comm)? {
            Exchange::Duplicate(comm)
        } else {
            Exchange::Collective(self.waits(get("collective"))?, root.clone())
        };
        let is_collective = matches!(what, Exchange::Collective(..));
        let is_message = matches!(what, Exchange::Send(_) | Exchange::Receive(_));
        let wrong = match &what {
            Exchange::Collective(..) if comm.is_none() => Some("it is a call of all ranks of which `comm`?"),
            Exchange::Collective(Waits::FromRoot | Waits::ToRoot, None) => Some("which rank is its `root`?"),
            Exchange::Collective(Waits::Some | Waits::ToRoot | Waits::Below, _) if same => Some(
                "`same` goes with `collective = \"all\"` or \"from root\": the others do not give the same to all",
            ),
            Exchange::Send(rank) | Exchange::Receive(rank)
                if comm.is_none() && !matches!(rank, Named::Argument(_)) =>
            {
                Some("on which `comm`?")
            }
            _ if !is_collective && (same || root.is_some() || kind.is_some()) => {
                Some("`same`, `root` and `kind` go with `collective`")
            }
            _ if !is_message && tag.is_some() => Some("`tag` goes with `send` and `receive`"),
            Exchange::Handle(_) | Exchange::Duplicate(_) if comm.is_some() || into.is_some() => {
                Some("`handle` and `duplicate` name their communicator themselves")
            }
            Exchange::Send(_) if into.is_some() => {
                Some("nothing comes `into` anything where something is sent")
            }
            _ => None,
        };
        match wrong {
            Some(wrong) => Err(inconsistent(wrong)),
            None => Ok(MessageStep {
                what,
                comm,
                tag,
                into,
                same,
                kind,
            }),
        }
    }

    fn waits(&self, found: Option<(&Key<'_>, &Value<'_>)>) -> Result<Waits, TableError> {
        let Some((key, value)) = found else {
            return Ok(Waits::Some);
        };
        let word = value.get_ref().as_str();
        let known = Waits::ALL.iter().find(|(name, _)| Some(*name) == word);
        known.map(|(_, one)| *one).ok_or_else(|| {
            self.kind(
                key,
                value,
                "\"all\", \"some\", \"from root\", \"to root\" or \"below\"",
            )
        })
    }

    fn argument(&self, key: &Key<'_>, value: &Value<'_>) -> Result<usize, TableError> {
        let number = value
            .get_ref()
            .as_integer()
            .and_then(|one| one.as_str().parse().ok());
        number.ok_or_else(|| self.kind(key, value, ARGUMENT))
    }

    fn named(&self, key: &Key<'_>, value: &Value<'_>, wanted: Wanted) -> Result<Named, TableError> {
        let Some(text) = value.get_ref().as_str() else {
            return self
                .argument(key, value)
                .map(Named::Argument)
                .map_err(|_| self.kind(key, value, wanted.expected()));
        };
        Ok(match (text, wanted, text.parse::<i64>()) {
            ("world", Wanted::Comm, _) => Named::World,
            ("any", Wanted::Source | Wanted::TagOrAny, _) => Named::Any,
            (_, Wanted::Rank | Wanted::Source | Wanted::Tag | Wanted::TagOrAny, Ok(number)) => {
                Named::Number(number)
            }
            (name, Wanted::Tag | Wanted::TagOrAny, _) if name != "any" => Named::Own(name.to_owned()),
            _ => return Err(self.kind(key, value, wanted.expected())),
        })
    }
}
