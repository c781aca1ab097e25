//! Tables of what the calls of a library do to messages.

use crate::skeleton::call::{CallKind, CollectiveOrder, CommCall, Gives};
use std::collections::HashMap;
use std::rc::Rc;
use toml::Table;

/// The calls of a library by their names.
#[derive(Debug)]
pub struct CallTable {
    calls: HashMap<String, Rc<CommCall>>,
    lists: HashMap<String, Vec<String>>,
}

impl CallTable {
    /// Reads a table: a section for each [`CallKind`] of call, with the positions of the arguments of each, and lists of
    /// names, in which a `*` stands for any letters at one end or both.
    ///
    /// # Panics
    /// If the table is malformed: it is part of this crate, or of a test.
    pub fn read(text: &str) -> Self {
        let table: Table = text.parse().unwrap_or_else(|error| panic!("{error}"));
        let mut calls = HashMap::new();
        let mut lists = HashMap::new();
        for (section, entries) in &table {
            if let Some(names) = entries.as_array() {
                let names = names.iter().filter_map(|name| name.as_str().map(str::to_owned));
                lists.insert(section.clone(), names.collect());
            }
            for (name, entry) in entries.as_table().into_iter().flatten() {
                let call = read(section, name, entry).unwrap_or_else(|| panic!("{section}.{name}"));
                calls.insert(name.clone(), Rc::new(call));
            }
        }
        Self { calls, lists }
    }

    /// What a call of this name does, if it communicates.
    pub fn get(&self, name: &str) -> Option<Rc<CommCall>> {
        self.calls.get(name).cloned()
    }

    /// Whether a name stands in a list of the table.
    pub fn lists(&self, list: &str, name: &str) -> bool {
        self.lists[list].iter().any(|one| fits(name, one))
    }
}

fn fits(name: &str, pattern: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(_), Some(_)) => name.contains(pattern.trim_matches('*')),
        (Some(end), None) => name.ends_with(end),
        (None, Some(start)) => name.starts_with(start),
        (None, None) => name == pattern,
    }
}

fn read(section: &str, name: &str, entry: &toml::Value) -> Option<CommCall> {
    let index = |key: &str| {
        let at = entry.get(key).and_then(toml::Value::as_integer);
        at.map(|at| at as usize)
    };
    let word = |key: &str| entry.get(key).and_then(toml::Value::as_str);
    let flag = |key: &str| entry.get(key).and_then(toml::Value::as_bool).unwrap_or(false);
    let kind = match section {
        "send" => CallKind::Send,
        "receive" => CallKind::Receive,
        "probe" => CallKind::Probe,
        "ask" => CallKind::Ask,
        "test" => CallKind::Test,
        "exchange" => CallKind::Exchange,
        "collective" => CallKind::Collective(match word("waits")? {
            "all" => CollectiveOrder::All,
            "from root" => CollectiveOrder::FromRoot,
            "to root" => CollectiveOrder::ToRoot,
            "below" => CollectiveOrder::Below,
            _ => return None,
        }),
        "communicator" => CallKind::Communicator,
        "opaque" => CallKind::Opaque(entry.as_str()?.to_owned()),
        _ => return None,
    };
    let gives = match word("gives") {
        None => Gives::Nothing,
        Some("status") => Gives::Status,
        Some("value") => Gives::Value,
        Some("value and status") => Gives::ValueAndStatus,
        Some("message and status") => Gives::MessageAndStatus,
        Some(_) => return None,
    };
    Some(CommCall {
        name: name.into(),
        kind,
        collective: word("kind").unwrap_or(name).into(),
        data: index("data"),
        tag: index("tag"),
        send_tag: index("send_tag"),
        to: index("to"),
        from: index("from"),
        into: index("into"),
        color: index("color"),
        key: index("key"),
        group: index("group"),
        retain: index("retain"),
        cartesian: flag("cartesian"),
        optional: flag("optional"),
        request: flag("request"),
        same: flag("same"),
        world: flag("world"),
        gives,
    })
}
