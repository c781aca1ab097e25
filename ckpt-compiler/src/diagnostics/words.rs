//! Every refusal of the compiler, and its words: what cannot be done, why, and what to write instead.
//!
//! Nothing else of the compiler words a refusal, and nothing reads these words but who shows them. A new one takes the next
//! code of its group, and an entry in `ckpt-cli/messages.toml`, which has the words for those who ask for more.

use super::{Code, Words};
use crate::names::Locals;
use proc_macro2::Ident;
use std::fmt;

/// `Name { its, arguments } says .. why .. instead ..`, for each an alternative of [`Refusal`] with these words.
macro_rules! refusals {
    ($(
        $(#[$doc:meta])*
        $name:ident $({ $($argument:ident: $ty:ty),* })?
        says $says:literal $(why $why:literal instead $instead:literal)?;
    )*) => {
        /// What is refused, with what the words about it name.
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[allow(missing_docs, reason = "the arguments are named as the words name them")]
        pub enum Refusal {
            $($(#[$doc])* $name $({ $($argument: $ty),* })?,)*
        }

        impl Refusal {
            /// The code that its words begin with; a mistake of ckpt has none.
            pub fn code(&self) -> Option<Code> {
                let says = match self {
                    $(Self::$name { .. } => $says,)*
                };
                Some(Code::in_front_of(says)?.0)
            }

            /// The first variable that the words name.
            pub fn binding(&self) -> Option<&Ident> {
                match self {
                    $(Self::$name $({ $($argument),* })? => {
                        let named: &[&dyn Argument] = &[$($($argument),*)?];
                        named.iter().find_map(|one| one.variable())
                    })*
                }
            }

            /// Takes the names of the source.
            pub fn restore(&mut self, locals: &Locals) {
                match self {
                    $(Self::$name $({ $($argument),* })? => {
                        let named: &mut [&mut dyn Argument] = &mut [$($($argument),*)?];
                        named.iter_mut().for_each(|one| one.restore(locals));
                    })*
                }
            }

            /// What is said.
            #[allow(clippy::needless_update)] // Not all say why.
            pub fn words(&self) -> Words {
                match self {
                    $(Self::$name $({ $($argument),* })? => Words {
                        what: format!($says).into(),
                        $(why: format!($why).into(), instead: format!($instead).into(),)?
                        ..Words::default()
                    },)*
                }
            }
        }
    };
}

/// What words are about.
trait Argument {
    /// The variable, where it is one.
    fn variable(&self) -> Option<&Ident> {
        None
    }

    /// Takes the names of the source.
    fn restore(&mut self, _: &Locals) {}
}

impl Argument for &'static str {}
impl Argument for usize {}
impl Argument for Effect {}

impl Argument for String {
    fn restore(&mut self, locals: &Locals) {
        *self = locals.restore_text(self).into_owned();
    }
}

impl Argument for Ident {
    fn restore(&mut self, locals: &Locals) {
        *self = locals.written(self);
    }

    fn variable(&self) -> Option<&Ident> {
        Some(self)
    }
}

impl Argument for Subject {
    fn restore(&mut self, locals: &Locals) {
        if let Self::Variable(name) = self {
            name.restore(locals);
        }
    }

    fn variable(&self) -> Option<&Ident> {
        match self {
            Self::Variable(name) => Some(name),
            _ => None,
        }
    }
}

/// What borrows, or is lent: a variable of the user's, or what ckpt has made of the user's code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// A variable.
    Variable(Ident),
    /// What a `for` goes over.
    ForIterator,
    /// The same, where the loop is what the words are about.
    LoopIterator,
    /// The argument of a call.
    Argument,
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(name) => write!(f, "`{name}`"),
            Self::ForIterator => f.write_str("the iterator of a `for`"),
            Self::LoopIterator => f.write_str("the loop's iterator"),
            Self::Argument => f.write_str("an argument"),
        }
    }
}

/// What must not happen a second time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// A call of a method.
    Method(String),
    /// A call of a function.
    Function(String),
    /// A macro.
    Macro(String),
    /// A site.
    Checkpoint,
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Method(name) => write!(f, "`.{name}(..)` is called"),
            Self::Function(name) => write!(f, "`{name}` is called"),
            Self::Macro(name) => write!(f, "`{name}!` is used"),
            Self::Checkpoint => f.write_str("a checkpoint"),
        }
    }
}

/// For messages of syn.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.words().what.fmt(f)
    }
}

refusals! {
    /// What a value in use is made from changes.
    ChangesInUse { changed: Ident, shown: Subject }
        says "E1001: `{changed}` changes while {shown}, which is made from it, is still in use at a site"
        why "a restart makes it again from the changed value and would not get the same"
        instead "copy `{changed}` to a variable that does not change, and use the copy there";
    /// What a value in use is found by changes.
    KeyChangesInUse { changed: Ident, shown: Subject }
        says "E1001: `{changed}` changes while {shown}, which is made from it, is still in use at a site"
        why "a restart makes it again from the changed value and would not get the same"
        instead "copy the key behind the `&` to a variable that does not change, and use the copy there";
    /// What a value in use is made from is no variable, and may be another by the time of a restart.
    StateInUse { state: String, shown: Subject }
        says "E1054: {shown} is made from {state}, and is still in use at a site"
        why "a restart makes it again, and would not get the same if that has changed since"
        instead "copy what is looked at there to a variable, which a checkpoint has, and use the copy: `let level = level.get();`, `let names: Vec<String> = map.keys().cloned().collect();`";
    /// An iterator, or a reference that moves on.
    Advances { name: Ident }
        says "E1002: `{name}` borrows, changes on its way, and is still in use at a site"
        why "a restart can make it again, but not bring it to where it was"
        instead "keep an index instead of `{name}`, or collect what it goes over into a `Vec` and use `for`";
    /// `#[ckpt(elsewhere)]` is wrong.
    UsedHere { name: Ident }
        says "E1003: `{name}` is said to be used elsewhere, and a site leads to a use of it"
        why "a restart at that site would have no value for it"
        instead "take `#[ckpt(elsewhere)]` away; `#[ckpt(skip)]` gives it the `Default` of its type";
    /// A variable that is filled is written again.
    FilledIsReplaced { name: Ident }
        says "E1004: `{name}` is to be made again and filled, and gets another value later"
        why "a restart makes the first one again, and what cannot be saved of the other is lost"
        instead "give the other value a name of its own";
    /// What a filled value is made from changes.
    FilledFromChanged { changed: Ident, name: Ident }
        says "E1005: `{changed}` changes, and `{name}`, which is made from it, is to be made again and filled"
        why "a restart makes it from the changed value, and what cannot be saved of it would not be the same"
        instead "make `{name}` from a variable that does not change: a copy of `{changed}`, or of what `{name}` needs of it; or keep what changes in a variable of its own";
    /// A mistake of ckpt: code of the user's is not in what was emitted.
    WouldBeLost { text: String }
        says "E1006: `{text}` would be lost in the function with checkpoints"
        why "this is a mistake of ckpt, found before it could do harm"
        instead "report it with this function, and put the checkpoint into another loop meanwhile";
    /// A region in a thread of a region.
    ThreadsInThread
        says "E1007: a thread with a site starts threads of its own"
        why "a checkpoint holds the threads of one region only"
        instead "start all threads in the same region, or take the site out of this one";
    /// On the declaration of a method.
    WithoutBody { attribute: &'static str }
        says "E1008: `{attribute}` on a method without a body"
        why "there is nothing to instrument: each implementation has a body of its own"
        instead "put it on the method in the `impl` blocks of the trait";
    /// On another item.
    NoFunction { attribute: &'static str }
        says "E1009: `{attribute}` on something that is no function"
        why "it rewrites the body of one function or method"
        instead "put it on the functions that have a site in them, or that call one which has";
    /// On a `const fn`.
    ConstFunction
        says "E1010: a `const fn` cannot be instrumented"
        why "it may run at compile time, where there is nothing to restart"
        instead "make it a plain `fn`";
    /// On an `async fn`.
    AsyncFunction
        says "E1011: an `async fn` cannot be instrumented"
        why "its frame belongs to an executor, which ckpt cannot rebuild"
        instead "put the loop into a function that is not `async`, and wait in that for each future where it is needed: `pollster::block_on(instance.request_adapter(&wanted))`";
    /// A site in a closure and the like.
    SiteInside { holder: &'static str, way_out: &'static str }
        says "E1012: a site inside {holder}"
        why "a restart walks from statement to statement and cannot enter it"
        instead "{way_out}";
    /// `calls(..)` names what is not called.
    NeverCalls { function: String, name: String }
        says "E1013: `{function}` never calls `{name}`"
        why "`calls(..)` names the calls that lead to a site, and there is no such call in this function"
        instead "correct the name or take it out of `calls(..)`";
    /// Sites by hand only, and none.
    HasNoSite { function: String }
        says "E1014: `{function}` has no site"
        why "with `sites = \"manual\"` only `ckpt::checkpoint!()` and marked calls count"
        instead "write `ckpt::checkpoint!();` where a checkpoint may be taken, or mark the call with `calls(..)`";
    /// Nowhere to put a site.
    HasNoLoop { function: String }
        says "E1015: `{function}` has no loop to place a site in"
        why "a checkpoint is worth taking only in code that runs long"
        instead "write `ckpt::checkpoint!();` where a checkpoint may be taken, or mark the call that leads to one with `calls(..)`";
    /// `#[ckpt::object]` on another item.
    ObjectOfNoTrait
        says "E1016: `#[ckpt::object(..)]` goes on a trait"
        why "it makes the objects of that trait, `dyn Trait`, something that a checkpoint can hold"
        instead "put it on the trait; a struct or enum gets `#[derive(ckpt::Checkpoint)]`";
    /// `#[ckpt::object()]`
    ObjectWithoutTypes { name: String }
        says "E1017: `#[ckpt::object(..)]` without types"
        why "a restart has to know what may stand behind the trait object"
        instead "list the types that implement `{name}`: `#[ckpt::object(TypeA, TypeB)]`";
    /// `#[ckpt::object]` on a generic trait.
    ObjectOfGenericTrait
        says "E1018: the objects of a generic trait cannot be saved"
        why "every set of arguments makes another trait, with other types behind it"
        instead "make it a trait without parameters, or an enum of the types that implement it";
    /// `#[ckpt::object]` on a trait with an associated type.
    ObjectWithAssociatedType
        says "E1019: the objects of a trait with an associated type cannot be saved"
        why "every choice of the type makes another trait object"
        instead "make it a type parameter of the methods, or an enum of the types that implement the trait";
    /// Threads with sites in a program with a changing `thread_local!`.
    KeptPerThread { name: String }
        says "E1020: the program keeps `{name}` per thread, and threads would have sites"
        why "of a `thread_local!` a checkpoint has what it holds on the thread of `main` only"
        instead "make it a variable of the threads, or put the site outside of the region";
    /// A variable that may not exist.
    UnderCfg { name: Ident }
        says "E1021: `{name}` is declared under a `#[cfg(..)]` and used across a site"
        why "whether it exists is decided after ckpt has done its work"
        instead "put the `#[cfg(..)]` inside the initialiser: `let x = if cfg!(..) {{ .. }} else {{ .. }};`";
    /// A part that ckpt cannot tell from the rest is lent on.
    PartIsLent { name: Subject }
        says "E1022: a part of {name} is borrowed exclusively by a call that leads to a site"
        why "during the call nobody may look at the rest of it, so the rest could not be saved"
        instead "pass {name} as a whole, or take the part out (`std::mem::take`), pass it, and put it back";
    /// A loan beside a part that is lent on.
    NextToPart { shown: Subject, base: Ident }
        says "E1023: {shown} borrows from `{base}`, and is in use at a call that is lent another part of `{base}`"
        why "for the call the whole has to be taken apart, so that the rest of it can be saved"
        instead "borrow from `{base}` again after the call, or use a copy there";
    /// An exclusive loan that cannot be reborrowed by name.
    HiddenAtSite { reference: Ident, base: Ident }
        says "E1024: `{reference}` borrows `{base}` exclusively, and one of the two is hidden by another variable of its name at a site where `{reference}` is in use"
        why "the borrow ends at the site and is made again after it, by name"
        instead "give the variable that hides it another name";
    /// A closure with exclusive captures.
    ClosureChanges { name: Ident }
        says "E1025: the closure `{name}` changes what it captures and is still in use at a site"
        why "what it borrows cannot be looked at while the borrow lasts, so it could not be saved"
        instead "make it a function that takes what it changes as an argument";
    /// A closure that captures exclusive references.
    ClosureLooks { name: Ident }
        says "E1026: the closure `{name}` looks through an exclusive borrow and is still in use at a site"
        why "what it borrows cannot be looked at while the borrow lasts, so it could not be saved"
        instead "make it a function that takes what it looks at as an argument";
    /// An exclusive loan of a pattern.
    PatternBorrowsExclusively { name: Ident }
        says "E1027: `{name}` is bound by a pattern, borrows exclusively, and is still in use at a site"
        why "what it borrows cannot be looked at while the borrow lasts, so it could not be saved"
        instead "take the value out before the site and put it back after it";
    /// An exclusive loan of another kind.
    BorrowsExclusively { name: Ident }
        says "E1028: `{name}` borrows exclusively and is still in use at a site"
        why "what it borrows cannot be looked at while the borrow lasts, so it could not be saved"
        instead "borrow it again after the site";
    /// A filled value with an exclusive loan of what another statement looks at.
    FilledBorrowsExclusively { name: Ident, other: Ident, base: Ident }
        says "E1028: `{name}` borrows exclusively and is still in use at a site"
        why "a restart makes `{other}` again from `{base}`, which holds nothing until `{name}` is filled"
        instead "put `{other}` and what uses it into a block of their own: `{{ .. }}`";
    /// A macro may hold a `break`.
    MacroMayLeave { called: String, name: Ident }
        says "E1029: the macro `{called}!` may leave a loop in which `{name}` is moved away and given a value again"
        why "what it holds must be put aside before every `break` and `continue`, and ckpt does not see those of a macro"
        instead "write the `break` or `continue` without the macro, or use the macro where the loop ends";
    /// A statement that is re-executed would borrow what is gone.
    MovedLater { borrowed: Ident }
        says "E1030: `{borrowed}` is borrowed by a statement that runs again at restart, and moved away before a later site"
        why "a restart at that site would borrow it again, and has no value for it"
        instead "where it is moved, give a copy, `{borrowed}.clone()` (if it is a number, which is copied: write its type, `let {borrowed}: i32 = ..`), but not of what has arrays on a device, which is made in the expression that it is moved to, `Sim {{ now: Field::new(&queue), queue }}`; or put the borrow and the statements that use it into a block of their own: `{{ .. }}`";
    /// What is put aside cannot be named.
    HidesMoved { name: Ident }
        says "E1031: this `{name}` hides another `{name}` where a loop is left or goes on"
        why "what the outer one holds must be put aside there, and can only be named where it is not hidden"
        instead "give the inner `{name}` another name";
    /// A site that may not exist.
    SiteUnderCfg
        says "E1032: a site under a `#[cfg(..)]`"
        why "whether it exists is decided after ckpt has done its work"
        instead "write `if cfg!(..) {{ .. }}`, or put the `#[cfg(..)]` on the whole function";
    /// What a region does besides starting threads.
    NotTwice { what: Effect }
        says "E1033: {what} among the statements that start threads with sites"
        why "a restart runs these statements again to start the threads, and it may not do this a second time"
        instead "do it in front of the region, or in the threads";
    /// A thread of a method.
    ThreadCapturesSelf
        says "E1034: a thread with a site captures `self` of a method that may change it"
        why "what the thread changes of it could not be told from what others do"
        instead "bind the fields that the thread uses to variables in front of the region: `let grid = &self.grid;`";
    /// What is changed in a thread is hidden there.
    ThreadHides { name: Ident }
        says "E1035: a thread with a site changes `{name}`, which it borrows, and has another variable of that name"
        why "the variable is the region's and not the thread's, and it is reached by its name"
        instead "give the other variable another name";
    /// Work of the thread that starts the others.
    WorkBetween
        says "E1036: work between the start of threads with sites and their end"
        why "the thread that starts them takes the checkpoints of all while it waits for them, and here the program does not wait yet"
        instead "join the threads first, or have one more thread do it";
    /// `handles.map(..join()..)` with the start in one.
    StartedAndJoined
        says "E1037: threads with sites are started and joined in one statement"
        why "the thread that starts them takes the checkpoints of all, between the last start and the first `join`"
        instead "collect the handles with one statement and join them with the next";
    /// One of several threads.
    ThreadWithoutSite
        says "E1038: a thread without a site among threads with sites"
        why "a checkpoint holds what every thread of the region has computed, each at a site"
        instead "put a site into the loop of every one, or start the others in a region of their own, in front or behind";
    /// The closure of a thread with an argument.
    ThreadTakesArgument
        says "E1039: a thread with a site takes an argument"
        why "ckpt starts the thread itself, and has no argument for it"
        instead "write `|_|` for an argument that it does not look at";
    /// An iterator with effects.
    IteratorHasEffects
        says "E1040: a closure in the iterator of a `for` with a site does more than compute"
        why "a restart makes the iterator again and goes over it up to where it was, so that would happen again"
        instead "do it in the body of the loop, or collect the items into a `Vec` and go over that";
    /// `#[ckpt(refill)]` where it cannot be.
    FillsNoValue
        says "E1041: what is to be made again and filled comes from a statement that does not make one value alone"
        why "a restart makes the value again, and then fills it from the checkpoint"
        instead "make it by `let x = ..;`, with one name and without a call that leads to a site";
    /// A site that leaves.
    SiteInLetElse
        says "E1042: a site in the `else` of a `let .. else`"
        why "the block leaves the scope, so a restart could not come back to it"
        instead "use `match` and put the site into its arm";
    /// `checkpoint!(x)`
    CheckpointOf
        says "E1043: `checkpoint!()` takes no arguments but `safe`, `short`, `phase` and `phase_end`"
        why "what is saved is worked out by the compiler"
        instead "write `ckpt::checkpoint!()`, or `ckpt::checkpoint!(safe)` where you know that no message between processes crosses the site; `#[ckpt(save)]` and `#[ckpt(skip)]` on a `let` overrule the choice";
    /// An expression without operands in a known order.
    SiteInExpression
        says "E1044: a site inside an expression that ckpt cannot re-enter"
        why "a restart could not walk into it"
        instead "move the call that leads to the site into a statement of its own";
    /// References of a chain.
    SiteUnderChain
        says "E1045: a site under an `if let` chain that binds references and has an `else`"
        why "what the references are taken from would have to be evaluated again at restart"
        instead "nest the conditions, or bind values instead of references";
    /// A site in a guard.
    SiteInGuard
        says "E1046: a site in the guard of a `match` arm"
        why "a guard is evaluated while the match is still being decided"
        instead "compute the value with a `let` before the `match`";
    /// A site in an `if let`.
    SiteInCondition
        says "E1047: a site inside a condition that binds variables"
        why "the condition would have to be entered half-way at restart"
        instead "compute the value with a `let` before the condition";
    /// `for x in &mut list`
    ForBorrowsExclusively
        says "E1048: a `for` that borrows what it goes over exclusively has a site in it"
        why "what it borrows cannot be looked at while the borrow lasts, so it could not be saved"
        instead "go over the indices, and borrow the element after the site";
    /// A mistake of ckpt in what a thread uses.
    CapturesUnknown
        says "E1049: what a thread captures is not known"
        why "a mistake of ckpt: it does not find where the thread is started"
        instead "put the site outside of the threads meanwhile, and report it";
    /// A pattern for what a member of a team is given.
    TeamTakesApart
        says "E1050: the closure of a team takes its argument apart"
        why "what a thread changes of it is saved by its name"
        instead "give it a name: `|member, part|`";
    /// `#[ckpt(refill(part))]` is wrong.
    PartDoesNotMove { part: Ident }
        says "E1051: `{part}` is said to move into a value that is filled, and its initialiser does not move it"
        why "a restart passes something of its type in its place, as an argument or as a field"
        instead "name variables that are arguments of the initialiser or values of its fields";
    /// `declare!(x)` beside a site.
    MacroDeclares { called: String }
        says "E1052: the macro `{called}!` declares variables for the statements behind it, in a block with a site"
        why "ckpt does not see what a macro declares, so a variable that it hides would be taken for the one before, and a new one would not be in a checkpoint"
        instead "write the `let` without the macro, or put the macro and all that uses the variable into a block of its own without a site";
    /// A site in the loop that puts elements into a list which is filled.
    SiteAmongElements { list: Ident }
        says "E1053: a site among the statements that give `{list}` its elements, which a restart makes again"
        why "a restart executes these statements again as a whole, and then fills what they have made"
        instead "put the site behind them, or into a function that they do not call";

    /// A derive on a union.
    Union
        says "E1101: a union cannot be saved in a checkpoint: nothing says which of its fields is valid; use an enum, or implement `ckpt::Checkpoint` for it by hand";
    /// `keep` in an enum.
    KeptInEnum
        says "E1102: a field of an enum cannot be kept: the value that is made again may be another variant";
    /// `keep` with other words.
    KeptAndMore { word: &'static str }
        says "E1103: a field with `{word}` holds what the initialiser makes of it; nothing else can be said about it";
    /// `skip` with `serde`.
    SkippedThroughSerde
        says "E1104: `skip` and `serde` exclude each other: a skipped field is not saved at all";
    /// `skip` with a name.
    SkippedWithName
        says "E1105: a skipped field is not in the file and needs no name there";
    /// Names in the file.
    SameName { what: &'static str, name: String }
        says "E1106: two {what} are called `{name}` in the file; `rename` or `alias` must differ";
    /// One word twice.
    GivenTwice { name: String }
        says "E1107: `{name}` is given twice";
    /// `refill` on a parameter.
    RefillOfParameter
        says "E1108: `refill` is for what is passed by value, under one name: put it on the `let` in the caller";
    /// `sites = ..`
    UnknownSites
        says "E1109: `sites` is \"auto\" or \"manual\"";
    /// `#[ckpt::instrument(..)]`
    UnknownArgument
        says "E1110: expected `calls(name, ..)`, `means(pure(name), ..)`, `owners`, `recursive` or `sites = \"manual\"`";
    /// `#[ckpt(..)]` on a `let`.
    UnknownTreatment
        says "E1111: expected `reexecute`, `refill`, `save`, `serde`, `skip` or `elsewhere`";
    /// `serde` on a `for`.
    SerdeOfFor
        says "E1112: `serde` is for variables: on a `for` write `save` or `reexecute`";
    /// `means(..)`
    UnknownMeaning { known: String }
        says "E1113: expected one of `{known}`, each with names: `pure(energy)`";
    /// `#[ckpt(..)]` on a type or a field.
    UnknownWord { place: &'static str, known: String }
        says "E1114: {place} takes {known}";
    /// `#[ckpt::object(..)]`
    TypesExpected
        says "E1115: a list of types is expected, perhaps with `..` at its end";
    /// What syn cannot read.
    Syntax { said: String }
        says "E1117: {said}";

    /// A mistake of ckpt: the plan wants a site where no statement begins.
    NoStatement { function: String, at: usize }
        says "a bug in ckpt: `{function}` has no statement at byte {at}"
        why "the plan wants a site there"
        instead "put the site there by hand";
}
