//! Names of the variables that ckpt adds: hygienic, and readable in `cargo ckpt expand`.
//!
//! All of them are made here, and which they are is noted where they are made: nothing else goes by how they are spelled.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt::Display;

/// What the names that ckpt makes begin with.
const PREFIX: &str = "__ckpt";

/// Where a variable comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The user's source.
    User,
    /// A stage of ckpt.
    Synthetic(Kind),
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $stem:literal,)*) => {
        /// What a variable is for that ckpt has made.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Kind {
            $($(#[$doc])* $kind,)*
            /// What is only written at the end, or stands in the input already.
            Other,
        }

        impl Kind {
            const ALL: &[(Kind, &str)] = &[$((Kind::$kind, $stem),)*];
        }
    };
}

kinds! {
    /// An argument of a call that leads to a site.
    Argument = "argument",
    /// The best item so far.
    Best = "best",
    /// What the pattern of a branch binds.
    Bindings = "bindings",
    /// Which branch is taken, with what it binds.
    Choice = "choice",
    /// The condition of a branch that chooses an operand.
    Chosen = "chosen",
    /// Whether a branch is taken.
    Condition = "condition",
    /// How many items are gone, or there are.
    Count = "count",
    /// What the items of a loop are gathered in.
    Gathered = "gathered",
    /// An argument of a closure.
    Given = "given",
    /// Whether an item has been found.
    Hit = "hit",
    /// The place of the inner expression in one that is around a site.
    Hole = "hole",
    /// The number of an item.
    Index = "index",
    /// An item of an iterator.
    Item = "item",
    /// What a `for` goes over, before it is an iterator.
    Iterable = "iterable",
    /// The iterator of a `for`.
    Iterator = "iterator",
    /// The key by which something is looked up.
    Key = "key",
    /// What knows the type of what is lent to a filled value.
    TypeOfLent = "kind",
    /// How many items are still to come.
    Left = "left",
    /// A value that is filled, as it is made.
    Made = "made",
    /// An operand beside a site.
    Operand = "operand",
    /// A part of a value that is filled.
    Part = "part",
    /// What is returned early, or what an iterator still has.
    Rest = "rest",
    /// The value of a block.
    Result = "result",
    /// An iterator behind adaptors.
    Source = "source",
    /// The turn of a loop, as a label.
    Turn = "turn",
    /// A value by itself.
    Value = "value",
    /// A whole loop, as a label.
    Whole = "whole",
}

impl Kind {
    fn stem(self) -> &'static str {
        let found = Self::ALL.iter().find(|(kind, _)| *kind == self);
        found.map_or("", |(_, stem)| stem)
    }
}

/// The names that ckpt has made for a function, each with what it is for.
#[derive(Debug, Clone)]
pub struct Made(HashMap<String, Kind>);

impl Default for Made {
    /// Those that need no number.
    fn default() -> Self {
        let plain = Kind::ALL.iter();
        Self(
            plain
                .map(|(kind, _)| (made(kind.stem()).to_string(), *kind))
                .collect(),
        )
    }
}

impl Made {
    /// Whether a name is the user's, or what it is for.
    pub fn origin(&self, name: &Ident) -> Origin {
        match self.0.get(&name.to_string()) {
            Some(kind) => Origin::Synthetic(*kind),
            None => Origin::User,
        }
    }

    /// Whether ckpt has made the name.
    pub fn has(&self, name: &Ident) -> bool {
        self.origin(name) != Origin::User
    }

    /// Whether ckpt has made the name for this.
    pub fn is(&self, name: &Ident, kind: Kind) -> bool {
        self.origin(name) == Origin::Synthetic(kind)
    }

    /// What a file calls the variable: a name of ckpt is no identifier there.
    pub fn shown(&self, name: &Ident) -> String {
        let text = name.to_string();
        match (self.origin(name), text.get(PREFIX.len() + 1..)) {
            (Origin::Synthetic(_), Some(label)) => format!("ckpt.{label}"),
            _ => text,
        }
    }

    /// The names in the input that ckpt has put there before: in another form of the function, in what is around a
    /// thread, in the text of a package. A name of the user's that begins like them is one of them.
    fn add_input(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.add_input(group.stream()),
                TokenTree::Ident(name) => {
                    let name = name.to_string();
                    let Some(label) = name.strip_prefix(PREFIX) else {
                        continue;
                    };
                    let label = label.trim_start_matches('_');
                    let stem = label.split(|c: char| !c.is_ascii_alphabetic()).next();
                    let kind = Kind::ALL.iter().find(|(_, known)| Some(*known) == stem);
                    let kind = kind.map_or(Kind::Other, |(kind, _)| *kind);
                    self.0.entry(name).or_insert(kind);
                }
                _ => {}
            }
        }
    }
}

/// Hands out names that no user variable can have.
#[derive(Debug, Default)]
pub struct Names {
    next: Cell<u32>,
    made: RefCell<Made>,
}

impl Names {
    /// For a function, which may have names of ckpt in it already.
    pub fn of(function: &impl ToTokens) -> Self {
        let names = Self::default();
        names.made.borrow_mut().add_input(function.to_token_stream());
        names
    }

    /// A new name, unique in the function.
    pub fn fresh(&self, kind: Kind) -> Ident {
        self.next.set(self.next.get() + 1);
        self.note(kind, self.next.get())
    }

    /// The name that goes with a variable of the user's.
    pub fn beside(&self, kind: Kind, name: &Ident) -> Ident {
        self.note(kind, format_args!("_{name}"))
    }

    fn note(&self, kind: Kind, rest: impl Display) -> Ident {
        let name = made(format_args!("{}{rest}", kind.stem()));
        self.made.borrow_mut().0.insert(name.to_string(), kind);
        name
    }

    /// All that have been made so far.
    pub fn made(&self) -> Made {
        self.made.borrow().clone()
    }
}

/// A name for what is seen in one statement only.
pub fn plain(kind: Kind) -> Ident {
    made(kind.stem())
}

/// A name that only the emission uses: nothing asks where it comes from.
pub fn made(label: impl Display) -> Ident {
    Ident::new(&format!("{PREFIX}_{label}"), Span::mixed_site())
}

/// The name at the place of what it stands for, so that rustc's words about it point there.
pub fn located(name: &Ident, at: Span) -> Ident {
    Ident::new(&name.to_string(), name.span().located_at(at))
}

/// The frame, the one variable of which each instrumented function has exactly one.
pub fn frame() -> Ident {
    Ident::new(PREFIX, Span::mixed_site())
}

/// The registrar, the parameter of the closures that lend variables.
pub fn registrar() -> Ident {
    made("registrar")
}
