//! What a call of a communication library does to messages.

use serde::Deserialize;
use std::rc::Rc;

/// What a call that receives returns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Gives {
    /// Nothing.
    #[default]
    Nothing,
    /// The value alone.
    Value,
    /// `Status`
    Status,
    /// `(value, Status)`
    #[serde(rename = "value and status")]
    ValueAndStatus,
    /// `(Message, Status)`
    #[serde(rename = "message and status")]
    MessageAndStatus,
}

/// Who waits for whom in a collective call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CollectiveOrder {
    /// Every rank for all.
    All,
    /// Every rank for the root.
    #[serde(rename = "from root")]
    FromRoot,
    /// The root for all.
    #[serde(rename = "to root")]
    ToRoot,
    /// Every rank for those below it.
    Below,
    /// Every rank for some others, not known which.
    Some,
}

/// What sort of call it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum CallKind {
    /// A message leaves.
    Send,
    /// A message comes.
    Receive,
    /// Waits for a message and leaves it.
    Probe,
    /// Asks whether a message is there.
    Ask,
    /// Asks whether a request is done.
    Test,
    /// One leaves and one comes.
    Exchange,
    /// All ranks together.
    Collective(CollectiveOrder),
    /// All ranks together, and a communicator comes of it.
    Communicator,
    /// What it does is not followed, and why.
    Opaque(String),
}

/// A call: numbers are indices of arguments, without the receiver.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CommCall {
    /// Its name.
    pub name: Rc<str>,
    /// What it is.
    pub kind: CallKind,
    /// What calls of a collective have in common that different ranks write differently.
    pub collective: Rc<str>,
    /// What is sent.
    pub data: Option<usize>,
    /// The tag: of what is received, or else of what is sent.
    pub tag: Option<usize>,
    /// The tag of what an exchange sends.
    pub send_tag: Option<usize>,
    /// Where an exchange sends to.
    pub to: Option<usize>,
    /// Where an exchange receives from.
    pub from: Option<usize>,
    /// Where what comes is put.
    pub into: Option<usize>,
    /// The colour of a split.
    pub color: Option<usize>,
    /// The key of a split.
    pub key: Option<usize>,
    /// The group of a split.
    pub group: Option<usize>,
    /// The dimensions that a subgroup keeps.
    pub retain: Option<usize>,
    /// Whether a grid of ranks is made.
    pub cartesian: bool,
    /// Whether a rank may get no communicator, so that what it is given is an `Option`.
    pub optional: bool,
    /// Whether a request is given.
    pub request: bool,
    /// Whether what comes is the same on all ranks.
    pub same: bool,
    /// Whether it is a function without a receiver, on all ranks of the program.
    pub world: bool,
    /// What is given back.
    pub gives: Gives,
}

impl CommCall {
    /// A call of which nothing more is known.
    pub fn new(name: &str, kind: CallKind) -> Self {
        Self {
            name: name.into(),
            kind,
            collective: name.into(),
            data: None,
            tag: None,
            send_tag: None,
            to: None,
            from: None,
            into: None,
            color: None,
            key: None,
            group: None,
            retain: None,
            cartesian: false,
            optional: false,
            request: false,
            same: false,
            world: false,
            gives: Gives::Nothing,
        }
    }
}
