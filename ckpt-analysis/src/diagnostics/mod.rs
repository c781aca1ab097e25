//! Diagnostics of a whole package: why a place has no site, and which statics are lost, as values. What they say is here;
//! what one function is refused for is worded by the compiler.

mod device_advice;
mod rustc;
mod safe_points;

pub use rustc::{HeldIn, OpaqueField, RustcObstacle, Said, TypeAdvice};

use crate::source::Position;
use ckpt_compiler::Code;
use ckpt_compiler::diagnostics::{Prose, Recovery, Refusal, Words};
use ckpt_safepoints::WayOut;

/// Why there is no site at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// It was not wanted there, and why.
    NotWanted(String),
    /// The stages of one function refuse it.
    Refused(Refusal),
    /// rustc refuses it.
    Rustc {
        /// What it has against it.
        obstacle: Box<RustcObstacle>,
        /// What that is about.
        place: Position,
    },
    /// The iterations of the loop, or it as a whole, are calls of a closure.
    Closure {
        /// What it is.
        loop_is: String,
        /// What to write instead.
        way_out: &'static str,
    },
    /// The call that would lead to it cannot be marked.
    CalledInside {
        /// What is called.
        callee: String,
        /// What the call is in.
        trap: String,
        /// What to write instead.
        way_out: &'static str,
    },
    /// The call that would lead to it has another name than the function.
    CalledAs {
        /// What is called.
        callee: String,
        /// How.
        other: String,
    },
    /// The user's annotation leaves out a call that would lead to it.
    NotMarked {
        /// What is annotated.
        function: String,
        /// What it does not mark.
        missing: String,
    },
    /// A message between processes may be on its way there.
    NotSafe {
        /// Whether it is the other sites that bring it about.
        with_others: bool,
        /// What is in the way, and where.
        obstacle: String,
        /// The call, or the crate, that is in the way.
        call: String,
        /// What can be done about it.
        way: WayOut,
    },
    /// An attribute would choose a loop, and nobody can tell whether it is safe.
    ChosenByAttribute {
        /// What is annotated.
        function: String,
    },
    /// A site of the user's whose place in the messages is not known.
    NotFollowed {
        /// What holds it.
        function: String,
    },
}

impl Cause {
    /// Whether something stands in the way; otherwise a site has only not been wanted.
    pub fn is_obstacle(&self) -> bool {
        !matches!(self, Self::NotWanted(_))
    }

    /// What may take it after all.
    pub fn recovery(&self) -> Option<Recovery> {
        match self {
            Self::Refused(refusal) => refusal.recovery(),
            _ => None,
        }
    }

    /// The code of the message; a place that was only not wanted has none.
    pub fn code(&self) -> Option<Code> {
        match self {
            Self::NotWanted(_) => None,
            Self::Refused(refusal) => refusal.code(),
            Self::Rustc { obstacle, .. } => Some(obstacle.code()),
            Self::CalledInside { .. } => Some(Code(1301)),
            Self::NotMarked { .. } => Some(Code(1302)),
            Self::NotSafe { .. } => Some(Code(1303)),
            Self::ChosenByAttribute { .. } => Some(Code(1304)),
            Self::NotFollowed { .. } => Some(Code(1305)),
            Self::CalledAs { .. } => Some(Code(1308)),
            Self::Closure { .. } => Some(Code(1309)),
        }
    }

    /// The byte that it is about, where rustc has pointed to it.
    pub fn place(&self) -> Option<Position> {
        match self {
            Self::Rustc { place, .. } => Some(*place),
            _ => None,
        }
    }

    /// The variables that it is about, by the names of the source.
    pub fn variables(&self) -> Vec<String> {
        match self {
            Self::Refused(refusal) => refusal.binding().map(ToString::to_string).into_iter().collect(),
            Self::Rustc { obstacle, .. } => obstacle.variables(),
            _ => Vec::new(),
        }
    }

    /// What is said.
    pub fn words(&self) -> Words {
        match self {
            Self::NotWanted(what) => words(what, "", ""),
            Self::Rustc { obstacle, .. } => obstacle.words(),
            Self::Refused(refusal) => refusal.words(),
            Self::Closure { loop_is, way_out } => words(
                format!("E1309: a restart cannot go on in this loop: {loop_is}"),
                CANNOT_ENTER,
                *way_out,
            ),
            Self::CalledInside {
                callee,
                trap,
                way_out,
            } => words(
                format!("E1301: `{callee}` is called inside {trap}"),
                CANNOT_ENTER,
                *way_out,
            ),
            Self::NotMarked { function, missing } => words(
                format!("E1302: `{function}` is annotated and does not mark `{missing}`"),
                "what the user has annotated is kept as it is",
                format!("add `{missing}` to its `calls(..)`, or take the attribute away"),
            ),
            Self::NotSafe {
                with_others,
                obstacle,
                call,
                way,
            } => {
                let others = match with_others {
                    true => ", together with the sites before it",
                    false => "",
                };
                words(
                    format!("E1303: it is not a safe point{others}: {obstacle}"),
                    EACH_FOR_ITSELF,
                    safe_points::instead(*way, call),
                )
            }
            Self::ChosenByAttribute { function } => words(
                format!("E1304: its attribute would choose a loop of `{function}`"),
                "an attribute sees one function, and cannot tell whether messages cross the loop's body",
                "take all attributes of ckpt out, and the loop is chosen where no message crosses; or put `ckpt::checkpoint!();` \
                 into the loop, which is looked at",
            ),
            Self::NotFollowed { function } => words(
                format!("E1305: a site in `{function}` is where the messages cannot be followed to"),
                EACH_FOR_ITSELF,
                "put it between two statements of a loop's body",
            ),
            Self::CalledAs { callee, other } => words(
                format!("E1308: `{callee}` is called by another name, `{other}`"),
                "a restart knows the functions on its way by their names, and several are called by this one",
                "call it by its own name",
            ),
        }
    }
}

const CANNOT_ENTER: &str = "a restart walks from statement to statement and cannot enter it";
const EACH_FOR_ITSELF: &str =
    "a checkpoint is taken by each rank for itself at the same visit, so no message may be on its way there";

/// A static whose value a restart would lose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LostStatic {
    /// `static mut`, which only `unsafe` code can look at.
    Mutable {
        /// Its name.
        name: String,
        /// A function that changes it.
        by: String,
    },
    /// A macro of the program makes it, wherever it is called.
    OfMacro {
        /// The macro's name.
        name: String,
    },
    /// Nothing outside its function can name it.
    Hidden {
        /// Its name.
        name: String,
    },
    /// A generator of random numbers that a crate keeps to itself, and whose state it does not give.
    Generator {
        /// The crate.
        krate: String,
    },
}

impl LostStatic {
    /// What is said.
    pub fn words(&self) -> Words {
        match self {
            Self::Mutable { name, by } => words(
                format!("E1306: `static mut {name}` is changed by `{by}`, and no checkpoint can hold it"),
                "looking at it is `unsafe`, and ckpt writes safe code only: a restart would find it at its initial value",
                format!(
                    "make `{name}` an atomic, a `Mutex` or a `thread_local!` of a `Cell`, all of which are saved; or a variable of `main` that is passed on"
                ),
            ),
            Self::OfMacro { name } => words(
                format!("E1313: the macro `{name}!` makes a static that changes, and ckpt cannot name it"),
                "what a macro makes is not in the source: no checkpoint would hold it, and a restart would find it at its initial value",
                format!("write the static out where `{name}!` is called, or have the macro be given one"),
            ),
            Self::Hidden { name } => words(
                format!(
                    "E1307: the static `{name}` is hidden in its function and leans on other items there"
                ),
                "a restart has to put it back before the function runs, so it has to be nameable from outside",
                format!("put `{name}`, with what it needs, in front of the function"),
            ),
            Self::Generator { krate } => words(
                format!(
                    "E1314: `{krate}` keeps its generator of random numbers to itself, and no checkpoint can hold it"
                ),
                "no function gives its state: a restart would find it as it was at the beginning, and draw other numbers than the run did",
                "draw from a generator in a variable, `rand_pcg::Pcg64::seed_from_u64(1)` or `fastrand::Rng::with_seed(1)`, which is saved",
            ),
        }
    }
}

fn words(what: impl Into<Prose>, why: impl Into<Prose>, instead: impl Into<Prose>) -> Words {
    Words {
        what: what.into(),
        why: why.into(),
        instead: instead.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_of_a_cause_stands_in_front_of_its_words() {
        let name = String::new;
        let rustc = |obstacle| Cause::Rustc {
            obstacle: Box::new(obstacle),
            place: (crate::source::FileId(0), 0),
        };
        let of_rustc = |text: &str| {
            rustc(RustcObstacle::DoesNotCompile {
                holder: HeldIn::Nothing,
                said: Said::Rustc {
                    code: None,
                    text: text.into(),
                },
            })
        };
        let unsaved = |is_destructor| {
            let (holder, type_name, field) = (HeldIn::Nothing, name(), None);
            let advice = TypeAdvice::Other;
            rustc(match is_destructor {
                true => RustcObstacle::Destructor {
                    holder,
                    type_name,
                    field,
                    advice,
                },
                false => RustcObstacle::NotSaved {
                    holder,
                    type_name,
                    field,
                    advice,
                },
            })
        };
        let all = [
            Cause::Refused(Refusal::ConstFunction),
            of_rustc("mismatched types"),
            unsaved(false),
            unsaved(true),
            Cause::Closure {
                loop_is: name(),
                way_out: "",
            },
            Cause::CalledInside {
                callee: name(),
                trap: name(),
                way_out: "",
            },
            Cause::CalledAs {
                callee: name(),
                other: name(),
            },
            Cause::NotMarked {
                function: name(),
                missing: name(),
            },
            Cause::NotSafe {
                with_others: false,
                obstacle: name(),
                call: name(),
                way: WayOut::Follow,
            },
            Cause::ChosenByAttribute { function: name() },
            Cause::NotFollowed { function: name() },
        ];
        for cause in all {
            let code = cause.code().expect("an obstacle has a code");
            let what = cause.words().what.to_string();
            assert!(what.starts_with(&format!("{code}: ")), "{code}: {what}");
        }
        assert_eq!(Cause::NotWanted(name()).code(), None);
    }
}
