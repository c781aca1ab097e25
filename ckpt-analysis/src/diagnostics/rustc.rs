//! What rustc's answer has against a site, as values: a value that no checkpoint holds, or that the function does not
//! compile with the site.

use super::words;
use ckpt_compiler::Code;
use ckpt_compiler::diagnostics::Words;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::LazyLock;

/// What an error of rustc says, and who says it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Said {
    /// ckpt, through a macro or a trait of its own.
    Ckpt {
        /// The number of the code.
        code: u16,
        /// What cannot be done, with the code in front.
        what: String,
        /// Why not, as far as it is said.
        why: String,
        /// What to write instead, as far as it is said.
        instead: String,
    },
    /// rustc itself.
    Rustc {
        /// Its code, `E0502`; some errors have none.
        code: Option<String>,
        /// Its first line.
        text: String,
    },
}

impl Default for Said {
    fn default() -> Self {
        Self::Rustc {
            code: None,
            text: String::new(),
        }
    }
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ckpt { what, .. } => f.write_str(what),
            Self::Rustc { code, text } => match code {
                Some(code) => write!(f, "error[{code}]: {text}"),
                None => write!(f, "error: {text}"),
            },
        }
    }
}

/// A field that no checkpoint can hold: `Sim.rule: fn(f64) -> f64`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpaqueField {
    /// The type that has it, and its name there: `Sim.rule`.
    pub name: String,
    /// Its type; nothing where it is an object that borrows.
    pub type_name: Option<String>,
}

impl fmt::Display for OpaqueField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let type_name = self.type_name.as_deref().unwrap_or("an object that borrows");
        write!(f, "{}: {type_name}", self.name)
    }
}

/// What holds a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum HeldIn {
    /// The variables of one `let`.
    Variables(Vec<String>),
    /// A parameter.
    Parameter(String),
    /// A field of a type of the program: `Sim.grid`.
    Field(String),
    /// A static.
    Static,
    /// No variable.
    Nothing,
}

impl fmt::Display for HeldIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variables(names) => write!(f, "`{}`", names.join("`, `")),
            Self::Parameter(name) => write!(f, "parameter `{name}`"),
            Self::Field(name) => write!(f, "field `{name}`"),
            Self::Static => f.write_str("a static"),
            Self::Nothing => f.write_str("a value"),
        }
    }
}

/// What helps with values of a type that no checkpoint holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TypeAdvice {
    /// A writer of tables.
    TableWriter,
    /// An iterator.
    Iterator,
    /// A reference.
    Reference,
    /// A type that borrows.
    Borrows,
    /// Memory or a kernel on a device.
    Device {
        /// What may give its variable another one, and where.
        change: Option<String>,
    },
    /// What leads to something on a device, or is made for that, and may be another one later than the one that was made.
    DeviceHandle {
        /// What may change it, and where.
        change: Option<String>,
    },
    /// What leads to content on a device that no variable holds.
    DeviceHidden {
        /// By which it is known that there is some, in the words of a sentence.
        content: String,
    },
    /// A field of a struct with memory on a device, that gets something else.
    DeviceField {
        /// What may change it, and where.
        change: String,
    },
    /// A value with arrays of a device that is made by a function which does more with devices than to make them.
    DeviceCommand {
        /// What it does, and where.
        trace: String,
    },
    /// A value that would be made again, and is made from a variable that changes.
    ChangedInput {
        /// The variable, and where that is not in the function, its place.
        changed: String,
    },
    /// Commands that are noted for a device, or its memory while it is mapped.
    DeviceWork,
    /// A handle without a type, in a program that computes on devices.
    Untyped,
    /// Objects of a trait of the program's own, of which the types cannot be listed.
    Objects {
        /// Why not.
        unlisted: String,
    },
    /// Any other.
    Other,
}

impl TypeAdvice {
    fn words(&self) -> &'static str {
        match self {
            Self::TableWriter => {
                "keep the `File` in the variable, and make the writer where rows are written: \
                 `csv::WriterBuilder::new().has_headers(false).from_writer(&file)`; it writes them out when it goes"
            }
            Self::Iterator => {
                "collect what it goes over into a `Vec` before the loop, and keep an index into that"
            }
            Self::Reference => {
                "borrow inside the loop, where the value is used; or hold what it borrows by value"
            }
            Self::Borrows => {
                "make the value inside the loop, where it is used, or behind it from what the loop has gathered in a `Vec`; \
                 a type of your own can hold by value what it borrows"
            }
            Self::Device { .. } => {
                "hold each array on a device in a variable, also in a list, an `Option`, a tuple or a struct, that gets no other array: its \
                 value is made by calls that do nothing else, and that of a list by `(0..4).map(..).collect()`. Of the `Buffer` and \
                 `Image` of `ocl` and `opencl3`, the `Buffer` and `Texture` of `wgpu`, and the `CudaSlice` of `cudarc`, a checkpoint has the content \
                 then. Arrays that take turns are two variables of one block that change places, \
                 `std::mem::swap(&mut now, &mut next)` or `(now, next) = (next, now)`, or two arguments of a kernel. A kernel is made \
                 where it is used, with all of its arguments"
            }
            Self::DeviceHandle { .. } => {
                "a restart makes it again, as it was made: let the variable have the same one in all of the function, without setting \
                 anything of it later (`set_dims`, `set_default_global_work_size`: give sizes with each command, \
                 `kernel.cmd().global_work_size(n).enq()`), and choose among \
                 several by the step, `let group = if step % 2 == 0 { &there } else { &back };`, or make it inside the loop. Two variables \
                 that are declared in one block may change places, but for kernels of OpenCL: `std::mem::swap(&mut there, &mut back)` or \
                 `(there, back) = (back, there)`. What \
                 several statements make is made by statements of one block directly behind its `let`, from nothing that changes later: \
                 `program.build(..)?;`, `builder.arg(&now);`, `limits.max_immediate_size = 16;`"
            }
            Self::DeviceHidden { .. } => {
                "let the program hold all content in arrays that kernels get as arguments: a `CudaSlice` in a variable. A module that is \
                 read from a file cannot be looked into: `Ptx::from_src(include_str!(\"kernels.ptx\"))` can"
            }
            Self::DeviceField { .. } => {
                "let each field of a struct have the same arrays as long as it is there, and choose among them by the step, \
                 `let (before, behind) = match self.steps % 2 { 0 => (&self.now, &self.next), _ => (&self.next, &self.now) };`, where they \
                 are exchanged now; or hold them in variables of one block, which may change places. Two fields of one type may change \
                 places by `std::mem::swap(&mut self.now, &mut self.next)` where the struct is made by literals with all fields, has no \
                 other name, no `#[repr]`, and no derive but `Debug`, `Clone`, `PartialEq` and `Eq`. A restart makes the struct again, \
                 with its arrays, and fills these"
            }
            Self::DeviceCommand { .. } => {
                "let that stand behind the statement that makes the value, in front of the loop: a restart leaves it out, and fills the \
                 arrays from the checkpoint. A function that makes arrays may give content to those that it has made itself, each \
                 `let now = device.create_buffer(..)` in a variable of its own, by a command: `queue.write_buffer(&now, 0, ..)`. An array \
                 that it makes and only lends to a group of arrays or a view (`create_bind_group`, `create_view`) belongs into what it \
                 returns, beside that"
            }
            Self::ChangedInput { .. } => {
                "copy what of that variable the value is made from to a variable that does not change, and make the value from the copy; \
                 or make the value inside the loop, where it is used"
            }
            Self::DeviceWork => {
                "let it end before the site: wait for the event, submit the commands (`queue.submit([encoder.finish()])`), drop the view and \
                 `unmap()` the array, wait with `device.poll(wgpu::PollType::wait_indefinitely())`. What is made for one command \
                 (`launch_builder`, a view, an event) belongs into the loop"
            }
            Self::Untyped => {
                "hold an array in a `Buffer<u8>`, `Buffer::<u8>::create(..)`, or in one of its elements, and a context, a queue or a kernel \
                 in the library's type for it. The content of a `cl_mem` is saved where it is in a variable that gets no other one, \
                 `let array = unsafe { create_buffer(..)? }`, and as bytes"
            }
            Self::Objects { .. } => {
                "a checkpoint has the objects of a trait if their types can be listed at the trait: have what implements it in the crate \
                 of the trait, without references in it, and no parameters or associated types of the trait; or make the value inside the loop"
            }
            Self::Other => {
                "make the value inside the loop; or, if making it again gives the same value and nothing changes it later, `#[ckpt(reexecute)]` on its `let`, or \
                 without a change to the program `reexecute = [\"Type::new\"]`, the function that makes it, under `[calls]` in `ckpt.toml`. \
                 A type of another crate can be saved if it has serde, often a feature of that crate"
            }
        }
    }
}

/// What rustc has against a site.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum RustcObstacle {
    /// A value cannot be saved.
    NotSaved {
        /// What holds it.
        holder: HeldIn,
        /// Its type, as rustc writes it.
        type_name: String,
        /// What of the type cannot be saved, as far as the program's own types tell.
        field: Option<OpaqueField>,
        /// What helps.
        advice: TypeAdvice,
    },
    /// A value that would be left out has a destructor.
    Destructor {
        /// What holds it.
        holder: HeldIn,
        /// Its type, as rustc writes it.
        type_name: String,
        /// What of the type cannot be saved, as far as the program's own types tell.
        field: Option<OpaqueField>,
        /// What helps.
        advice: TypeAdvice,
    },
    /// The function does not compile with the site.
    DoesNotCompile {
        /// What holds the value that it is about, if that is a variable.
        holder: HeldIn,
        /// What is wrong.
        said: Said,
    },
}

impl RustcObstacle {
    /// The code of the message.
    pub fn code(&self) -> Code {
        match self {
            Self::NotSaved { .. } => Code(1310),
            Self::Destructor { .. } => Code(1311),
            Self::DoesNotCompile { said, .. } => match said {
                Said::Ckpt { code, .. } => Code(*code),
                Said::Rustc { .. } => Code(1312),
            },
        }
    }

    /// rustc's code, where rustc's own words are all that there is.
    pub fn rustc_code(&self) -> Option<&str> {
        match self {
            Self::DoesNotCompile {
                said: Said::Rustc { code, .. },
                ..
            } => code.as_deref(),
            _ => None,
        }
    }

    /// The variables that it is about.
    pub fn variables(&self) -> Vec<String> {
        match self {
            Self::NotSaved { holder, .. }
            | Self::Destructor { holder, .. }
            | Self::DoesNotCompile { holder, .. } => match holder {
                HeldIn::Variables(names) => names.clone(),
                HeldIn::Parameter(name) | HeldIn::Field(name) => vec![name.clone()],
                HeldIn::Static | HeldIn::Nothing => Vec::new(),
            },
        }
    }

    /// What is said.
    pub fn words(&self) -> Words {
        match self {
            Self::NotSaved {
                holder,
                type_name,
                field,
                advice,
            } => words(
                format!("E1310: {holder} is of a type that no checkpoint holds: `{type_name}`"),
                in_the_way(field.as_ref(), advice),
                advice.words(),
            ),
            Self::Destructor {
                holder,
                type_name,
                field,
                advice,
            } => words(
                format!("E1311: {holder} has a destructor that a restart would miss: `{type_name}`"),
                in_the_way(field.as_ref(), advice),
                advice.words(),
            ),
            Self::DoesNotCompile { said, .. } => match said {
                Said::Ckpt {
                    what, why, instead, ..
                } => words(what.as_str(), why.as_str(), instead.as_str()),
                Said::Rustc { code, .. } => {
                    let row = ADVICE.row_of(code.as_deref());
                    words(
                        format!("E1312: the function does not compile with a site in this loop: {said}"),
                        row.why.as_str(),
                        row.instead.as_str(),
                    )
                }
            },
        }
    }
}

fn in_the_way(field: Option<&OpaqueField>, advice: &TypeAdvice) -> String {
    let of_field = field.map(|field| match &field.type_name {
        Some(type_name) => format!("its field `{}` is of the type `{type_name}`", field.name),
        None => format!("its field `{}` is an object that borrows", field.name),
    });
    let unlisted = match advice {
        TypeAdvice::Objects { unlisted } => Some(unlisted.clone()),
        TypeAdvice::DeviceCommand { trace } => Some(format!(
            "a restart would make it again, and with that run {trace}"
        )),
        TypeAdvice::Device { change } | TypeAdvice::DeviceHandle { change } => {
            change.as_ref().map(|change| {
                format!("it may be another one than a restart makes again: {change} may change it")
            })
        }
        TypeAdvice::DeviceField { change } => Some(format!(
            "a restart makes the struct again, with that field as it was made: {change} may change it"
        )),
        TypeAdvice::DeviceHidden { content } => Some(format!(
            "there may be content on the device that no variable holds, and a restart would not bring it back: {content}"
        )),
        TypeAdvice::ChangedInput { changed } => Some(format!(
            "a restart would make it again from {changed}, which may change after it was made"
        )),
        _ => None,
    };
    let reasons: Vec<String> = of_field.into_iter().chain(unlisted).collect();
    reasons.join("; ")
}

/// What helps where rustc does not take the rewritten function, by rustc's code.
#[derive(Debug, Deserialize)]
struct Table {
    row: Vec<Row>,
    otherwise: Row,
}

#[derive(Debug, Deserialize)]
struct Row {
    #[serde(default)]
    codes: Vec<String>,
    why: String,
    instead: String,
}

impl Table {
    fn row_of(&self, code: Option<&str>) -> &Row {
        let has_code = |row: &&Row| row.codes.iter().any(|one| Some(one.as_str()) == code);
        self.row.iter().find(has_code).unwrap_or(&self.otherwise)
    }
}

static ADVICE: LazyLock<Table> = LazyLock::new(|| {
    toml::from_str(include_str!("../../tables/rustc_codes.toml")).expect("a test reads the table")
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn why_objects_are_not_saved_is_said_behind_the_field_with_them() {
        let advice = TypeAdvice::Objects {
            unlisted: "`S` has an associated type".into(),
        };
        let field = OpaqueField {
            name: "World.objects".into(),
            type_name: Some("dyn S".into()),
        };
        assert_eq!(
            in_the_way(Some(&field), &advice),
            "its field `World.objects` is of the type `dyn S`; `S` has an associated type"
        );
        assert_eq!(in_the_way(None, &advice), "`S` has an associated type");
        assert_eq!(in_the_way(None, &TypeAdvice::Other), "");
    }

    #[test]
    fn every_code_of_rustc_stands_once() {
        let mut codes: Vec<&String> = ADVICE.row.iter().flat_map(|row| &row.codes).collect();
        let all = codes.len();
        codes.sort();
        codes.dedup();
        assert_eq!(codes.len(), all);
        assert!(codes.iter().all(|code| code.len() == 5));
        assert!(ADVICE.otherwise.codes.is_empty());
    }
}
