//! What rustc's answer has against a site, as values: a value that no checkpoint holds, or that the function does not
//! compile with the site.

use super::{device_advice, words};
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
        /// The crates that it may be of.
        crates: Vec<String>,
        /// What may give its variable another one, and where.
        change: Option<String>,
    },
    /// A list that gets more memory on a device in the loop with the site.
    DeviceGrows {
        /// The crates that it may be of.
        crates: Vec<String>,
        /// What gives it more, and where.
        change: String,
    },
    /// What leads to something on a device, or is made for that, and may be another one later than the one that was made.
    DeviceHandle {
        /// The crates that it may be of.
        crates: Vec<String>,
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
        /// Whether it has memory there itself.
        has_arrays: bool,
    },
    /// A field that is of the type of a parameter, which stands for one with memory on a device.
    DeviceParameter,
    /// What leads to a device, together with something that changes behind shared references.
    DeviceShared {
        /// What changes it, and where.
        change: String,
    },
    /// Objects of a trait of the program's own, one of which has memory on a device.
    DeviceObjects {
        /// The type of that one.
        type_name: String,
    },
    /// A value with arrays of a device that is made by a function which does more with devices than to make them.
    DeviceCommand {
        /// The crates that it may be of.
        crates: Vec<String>,
        /// What it does, and where.
        trace: String,
    },
    /// A value that is made from a variable, or from numbers that are drawn, which changes by that what the next one is made from.
    TakesFrom {
        /// What changes it, and where.
        change: String,
    },
    /// What is made for a device from a file that the program may write.
    DeviceFile {
        /// What makes it, and where.
        made: String,
        /// What writes a file, and where.
        written: String,
    },
    /// A value that would be made again, and is made from a variable that changes.
    ChangedInput {
        /// The variable, and where that is not in the function, its place.
        changed: String,
    },
    /// Commands that are noted for a device, or its memory while it is mapped.
    DeviceWork {
        /// The crates that it may be of.
        crates: Vec<String>,
    },
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
    fn words(&self) -> String {
        match self {
            Self::Device { crates, .. } => device_advice::arrays(crates),
            Self::DeviceGrows { crates, .. } => device_advice::growing(crates),
            Self::DeviceHandle { crates, .. } => device_advice::handles(crates),
            Self::DeviceCommand { crates, .. } => device_advice::commands(crates),
            Self::DeviceWork { crates } => device_advice::work(crates),
            other => other.words_of_any_library().to_owned(),
        }
    }

    fn words_of_any_library(&self) -> &'static str {
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
            Self::DeviceHidden { .. } => {
                "let the program hold all content in arrays that kernels get as arguments: a `CudaSlice` in a variable. A module that is \
                 read from a file cannot be looked into: `Ptx::from_src(include_str!(\"kernels.ptx\"))` can"
            }
            Self::DeviceField { has_arrays: true, .. } => {
                "let each field of a struct have the same arrays as long as it is there, from where the struct is made (an `Option` that is \
                 `None` there gets none later), and choose among them by the step, \
                 `let (before, behind) = match self.steps % 2 { 0 => (&self.now, &self.next), _ => (&self.next, &self.now) };`, where they \
                 are exchanged now; or hold them in variables of one block, which may change places. Two fields of one type may change \
                 places by `std::mem::swap(&mut self.now, &mut self.next)` where the struct is made by literals with all fields, has no \
                 other name, no `#[repr]`, and no derive but `Debug`, `Clone`, `PartialEq` and `Eq`. A restart makes the struct again, \
                 with its arrays, and fills these"
            }
            Self::DeviceField { .. } => {
                "let a struct with arrays keep what leads to the device as it was made with it, a list of that with as many elements: a \
                 kernel with other arguments is made in the loop, where it is used; or the struct has one for each case from the beginning, \
                 among which the step chooses. Two fields of one type may change places, \
                 `std::mem::swap(&mut self.there, &mut self.back)`"
            }
            Self::DeviceParameter => {
                "hold the arrays in a struct whose fields have their types written out, `struct Fields { front: Buffer<f32>, back: Buffer<f32> }`, \
                 with its own functions; a function may have a type parameter that it is lent as, `fn run<B: Backend>(backend: &mut B)`"
            }
            Self::DeviceShared { .. } => {
                "hold what changes in a variable of its own, apart from what leads to the device, and lend it where it is changed: \
                 `let counts = Counts::default(); field.step(0.1, &counts)?;`, or a number as `&mut launches`"
            }
            Self::DeviceObjects { .. } => {
                "lend the value as one of a type parameter, `fn run<B: Backend>(backend: &mut B)`, from a variable of its own type, \
                 `let mut gpu = Gpu::new()?; run(&mut gpu)`, in the place of `Box<dyn Backend>` and `&mut dyn Backend`"
            }
            Self::TakesFrom { .. } => {
                "have what is taken from there made in front, in a variable of its own, which a checkpoint has: \
                 `let start = numbers(&mut rng);`, and make the value from it, `let value = Value::new(&start)?;`"
            }
            Self::DeviceFile { .. } => {
                "hold the text of the file in a variable, which a checkpoint has: `let source = std::fs::read_to_string(\"kernels.cl\")?;`, and \
                 make it from that, `.src(source.as_str())`; or from one that is there when the program is compiled, \
                 `include_str!(\"kernels.cl\")`"
            }
            Self::ChangedInput { .. } => {
                "copy what of that variable the value is made from to a variable that does not change, and make the value from the copy; \
                 or make the value inside the loop, where it is used"
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
            // Said in the words of the library.
            Self::Device { .. }
            | Self::DeviceGrows { .. }
            | Self::DeviceHandle { .. }
            | Self::DeviceCommand { .. }
            | Self::DeviceWork { .. } => "",
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
        TypeAdvice::DeviceCommand { trace, .. } => Some(format!(
            "a restart would make it again, and with that run {trace}"
        )),
        TypeAdvice::Device { change, .. } | TypeAdvice::DeviceHandle { change, .. } => {
            change.as_ref().map(|change| {
                format!("it may be another one than a restart makes again: {change} may change it")
            })
        }
        TypeAdvice::DeviceField { change, .. } => Some(format!(
            "a restart makes the struct again, with that field as it was made: {change} may change it"
        )),
        TypeAdvice::DeviceGrows { change, .. } => Some(format!(
            "it has more elements from turn to turn, and a restart would make as many again as there are in front of the loop: {change}"
        )),
        TypeAdvice::DeviceParameter => Some(
            "what has arrays on a device is filled where the type of the field says so, and this one is a type parameter".to_owned(),
        ),
        TypeAdvice::DeviceShared { change } => Some(format!(
            "a restart makes again what leads to the device, and with it what changes: {change}"
        )),
        TypeAdvice::DeviceObjects { type_name } => Some(format!(
            "it may be a `{type_name}`, which has arrays on a device, and these are not filled behind a `dyn`"
        )),
        TypeAdvice::DeviceHidden { content } => Some(format!(
            "there may be content on the device that no variable holds, and a restart would not bring it back: {content}"
        )),
        TypeAdvice::TakesFrom { change } => Some(format!(
            "a restart would make it again, and with that change a second time what it is made from: {change}"
        )),
        TypeAdvice::DeviceFile { made, written } => Some(format!(
            "a restart would make it again from the file ({made}), which may be another one by then: {written} writes a file"
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
