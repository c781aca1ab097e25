//! What a user says that the calls of a crate exchange with other processes: `[calls.messages.CRATE]` of `ckpt.toml`.
//! Whose calls these are and what comes of them is worked out elsewhere; here is what stands in the table.

/// A crate whose calls are told: those that are not named exchange nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrateMessages {
    /// Its name in paths.
    pub name: String,
    /// The line that it stands in, from 1.
    pub line: usize,
    /// Its calls that exchange messages, or make what does.
    pub calls: Vec<MessageCall>,
}

/// A function or method of the crate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageCall {
    /// `["Solver", "norm"]`: how the path of the function ends, or the type and the method.
    pub path: Vec<String>,
    /// What it does, in order.
    pub steps: Vec<MessageStep>,
}

/// One of the things that a call does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageStep {
    /// What.
    pub what: Exchange,
    /// The communicator, where that is not the one of the process that is named.
    pub comm: Option<Named>,
    /// The tag; nothing for one that only this crate uses.
    pub tag: Option<Named>,
    /// The argument that what comes is put into.
    pub into: Option<usize>,
    /// Whether what comes is the same on all ranks.
    pub same: bool,
    /// What the calls of one collective have in common where ranks make different ones.
    pub kind: Option<String>,
}

/// What a call does to messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exchange {
    /// A message leaves for this rank.
    Send(Named),
    /// A message comes from this rank.
    Receive(Named),
    /// All ranks of the communicator make it, equally often; the root, if it has one.
    Collective(Waits, Option<Named>),
    /// What it returns exchanges messages on this communicator.
    Handle(Named),
    /// What it returns does so on a communicator of its own, which all ranks of this one make together.
    Duplicate(Named),
}

/// Who waits for whom in a call of all ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waits {
    /// Every rank for all.
    All,
    /// Every rank for the root.
    FromRoot,
    /// The root for all.
    ToRoot,
    /// Every rank for those below it.
    Below,
    /// Every rank for some others: all that is sent is received in it, and nothing is known but that.
    Some,
}

impl Waits {
    /// All, with the words for them.
    pub const ALL: [(&'static str, Self); 5] = [
        ("all", Self::All),
        ("some", Self::Some),
        ("from root", Self::FromRoot),
        ("to root", Self::ToRoot),
        ("below", Self::Below),
    ];
}

/// How a communicator, a rank or a tag is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Named {
    /// By an argument, counted from 0; of a method, what it is called on is the first.
    Argument(usize),
    /// A number, wherever it is called.
    Number(i64),
    /// The communicator of all ranks.
    World,
    /// Any rank, or any tag.
    Any,
    /// A tag of the crate's own, by a name.
    Own(String),
}
