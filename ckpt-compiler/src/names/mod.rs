//! The variables of a function: those of the user's, which [`crate::resolve`] finds, and those that ckpt adds, with names
//! that are hygienic, and readable in `cargo ckpt expand`.
//!
//! All names of ckpt are made here, and which they are is noted where they are made: nothing else goes by how they are
//! spelled.

mod locals;
mod spelling;

pub use locals::{Local, LocalId, LocalSet, Locals};
pub(crate) use locals::{replaced, with_text, words};
pub(crate) use spelling::respelled;
pub use spelling::{plain_text, spelling, spelling_of_captured};

use proc_macro2::{Ident, Span};
use quote::ToTokens;
use std::cell::{Cell, Ref, RefCell};
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
    /// The items of a parallel iterator that are worked on between two sites.
    Block = "block",
    /// How a parallel iterator is cut into blocks, and how far it is.
    Blocks = "blocks",
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
    /// The value of a field, before there is a struct that has it.
    Field = "field",
    /// What the items of a loop are gathered in.
    Gathered = "gathered",
    /// What stands for something outside of the program, of which each block of a parallel iterator has a clone.
    Handle = "handle",
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
    /// Where the items of a block are in a list.
    Places = "places",
    /// `self` in the threads of a method.
    Receiver = "self",
    /// What is returned early, or what an iterator still has.
    Rest = "rest",
    /// The value of a block.
    Result = "result",
    /// How many elements an item of a list has.
    Size = "size",
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

/// Hands out names that no user variable can have, and knows the variables of a function.
#[derive(Debug, Default, Clone)]
pub struct Names {
    next: Cell<u32>,
    locals: RefCell<Locals>,
}

impl Names {
    /// For a function with these variables.
    pub fn of(locals: Locals) -> Self {
        Self {
            next: Cell::default(),
            locals: RefCell::new(locals),
        }
    }

    /// A new name, unique in the function.
    pub fn fresh(&self, kind: Kind) -> Ident {
        self.next.set(self.next.get() + 1);
        self.note(kind, self.next.get())
    }

    /// The same, with the name of the field that it is for.
    pub fn fresh_of(&self, field: &Ident) -> Ident {
        self.next.set(self.next.get() + 1);
        self.note(
            Kind::Field,
            format_args!("{}_{}", self.next.get(), plain_text(field)),
        )
    }

    /// The name that goes with a variable of the user's.
    pub fn beside(&self, kind: Kind, name: &Ident) -> Ident {
        let name = plain_text(&self.written(name));
        self.note(kind, format_args!("_{name}"))
    }

    fn note(&self, kind: Kind, rest: impl Display) -> Ident {
        let name = made(format_args!("{}{rest}", kind.stem()));
        self.locals
            .borrow_mut()
            .add(&name, &name, Origin::Synthetic(kind));
        name
    }

    /// Takes note of the names of ckpt in a function.
    pub fn note_input(&self, function: &impl ToTokens) {
        self.locals.borrow_mut().add_synthetic(function.to_token_stream());
    }

    /// Takes note that a pass has declared the variable `mut`.
    pub fn set_mutable(&self, local: LocalId) {
        self.locals.borrow_mut().get_mut(local).mutable = true;
    }

    /// Whether two variables are called the same in what is emitted, so that one may hide the other.
    pub fn same_name(&self, one: &Ident, other: &Ident) -> bool {
        self.locals.borrow().same_name(one, other)
    }

    /// What a variable is called in the source, and in what is emitted.
    pub fn written(&self, name: &Ident) -> Ident {
        self.locals.borrow().written(name)
    }

    /// Looks at the variables that are known so far.
    pub fn read(&self) -> Ref<'_, Locals> {
        self.locals.borrow()
    }

    /// The variables that are known so far.
    pub fn locals(&self) -> Locals {
        self.locals.borrow().clone()
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
    let mut located = name.clone();
    located.set_span(name.span().located_at(at));
    located
}

/// The frame, the one variable of which each instrumented function has exactly one.
pub fn frame() -> Ident {
    Ident::new(PREFIX, Span::mixed_site())
}

/// What the outermost function holds as long as its variables are there.
pub fn lasting() -> Ident {
    made("lasting")
}

/// The registrar, the parameter of the closures that lend variables.
pub fn registrar() -> Ident {
    made("registrar")
}
