//! Tables of what the calls of a library do to messages.

use crate::skeleton::call::{CallKind, CollectiveOrder, CommCall, Gives};
use serde::Deserialize;
use std::collections::HashMap;
use std::rc::Rc;

/// The calls of a library by their names: a section for each [`CallKind`], with the positions of the arguments of each.
#[derive(Debug, Deserialize)]
#[serde(from = "Sections")]
pub struct CallTable(HashMap<String, Rc<CommCall>>);

impl CallTable {
    /// Reads a table.
    ///
    /// # Panics
    /// If the table is malformed: it is part of a test.
    #[cfg(test)]
    pub fn read(text: &str) -> Self {
        toml::from_str(text).unwrap_or_else(|error| panic!("{error}"))
    }

    /// What a call of this name does, if it communicates.
    pub fn get(&self, name: &str) -> Option<Rc<CommCall>> {
        self.0.get(name).cloned()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
struct Sections {
    send: HashMap<String, Arguments>,
    receive: HashMap<String, Arguments>,
    probe: HashMap<String, Arguments>,
    ask: HashMap<String, Arguments>,
    test: HashMap<String, Arguments>,
    exchange: HashMap<String, Arguments>,
    collective: HashMap<String, Together>,
    communicator: HashMap<String, Arguments>,
    opaque: HashMap<String, String>,
}

/// See [`CommCall`].
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Arguments {
    data: Option<usize>,
    tag: Option<usize>,
    send_tag: Option<usize>,
    to: Option<usize>,
    from: Option<usize>,
    into: Option<usize>,
    color: Option<usize>,
    key: Option<usize>,
    group: Option<usize>,
    retain: Option<usize>,
    cartesian: bool,
    optional: bool,
    request: bool,
    world: bool,
    gives: Gives,
}

/// The same of a call of all ranks.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Together {
    waits: CollectiveOrder,
    /// [`CommCall::collective`], where that is not its name.
    kind: Option<String>,
    data: Option<usize>,
    into: Option<usize>,
    #[serde(default)]
    request: bool,
    #[serde(default)]
    same: bool,
    #[serde(default)]
    world: bool,
}

impl Arguments {
    fn of(self, name: &str, kind: CallKind) -> CommCall {
        CommCall {
            data: self.data,
            tag: self.tag,
            send_tag: self.send_tag,
            to: self.to,
            from: self.from,
            into: self.into,
            color: self.color,
            key: self.key,
            group: self.group,
            retain: self.retain,
            cartesian: self.cartesian,
            optional: self.optional,
            request: self.request,
            world: self.world,
            gives: self.gives,
            ..CommCall::new(name, kind)
        }
    }
}

impl Together {
    fn of(self, name: &str) -> CommCall {
        let call = CommCall::new(name, CallKind::Collective(self.waits));
        CommCall {
            collective: self.kind.map_or(call.collective.clone(), Rc::from),
            data: self.data,
            into: self.into,
            request: self.request,
            same: self.same,
            world: self.world,
            ..call
        }
    }
}

impl From<Sections> for CallTable {
    fn from(sections: Sections) -> Self {
        let plain = [
            (sections.send, CallKind::Send),
            (sections.receive, CallKind::Receive),
            (sections.probe, CallKind::Probe),
            (sections.ask, CallKind::Ask),
            (sections.test, CallKind::Test),
            (sections.exchange, CallKind::Exchange),
            (sections.communicator, CallKind::Communicator),
        ];
        let plain = plain.into_iter().flat_map(|(calls, kind)| {
            calls
                .into_iter()
                .map(move |(name, one)| one.of(&name, kind.clone()))
        });
        let together = sections.collective.into_iter();
        let opaque = sections.opaque.into_iter();
        let all = plain
            .chain(together.map(|(name, one)| one.of(&name)))
            .chain(opaque.map(|(name, why)| CommCall::new(&name, CallKind::Opaque(why))));
        Self(all.map(|call| (call.name.to_string(), Rc::new(call))).collect())
    }
}

/// A list of names, in which a `*` stands for any letters at one end or both.
#[derive(Debug, Deserialize)]
pub struct Names(Vec<String>);

impl Names {
    /// Whether a name stands in it.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|one| fits(name, one))
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
