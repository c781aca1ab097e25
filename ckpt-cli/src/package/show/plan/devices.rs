//! The arrays that a program has on devices, one by one: what writes to each, and what a checkpoint holds of it.

use ckpt_analysis::{Access, Because, DeviceArray, DeviceNumber, FnId};
use ckpt_compiler::{SiteReport, VariableReport};
use serde::{Serialize, Serializer};

use super::Shown;

/// What a restart may do with the number of devices.
#[derive(Debug, Serialize)]
pub struct DeviceNumberPlan {
    /// `malleable`, or `pseudo-malleable`.
    pub kind: &'static str,
    /// Where something hangs on the number, with the line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// Why.
    pub why: String,
    /// Whether a restart shows the program as many as it had.
    #[serde(skip)]
    as_before: bool,
}

impl DeviceNumberPlan {
    pub(super) fn of(number: &DeviceNumber, shown: &Shown<'_>) -> Self {
        let because = match number {
            DeviceNumber::Any => None,
            DeviceNumber::AsBefore(because) => Some(because),
        };
        let place = because.and_then(|because| match because {
            Because::Used { file, line, .. } => Some((*file, *line)),
            Because::Others => None,
        });
        Self {
            as_before: because.is_some(),
            kind: number.word(),
            file: place.map(|(file, _)| shown.file(file)),
            line: place.map(|(_, line)| line),
            why: because.map_or_else(
                || "nothing hangs on the number of devices".to_owned(),
                Because::words,
            ),
        }
    }

    /// In a line, for people.
    pub fn sentence(&self) -> String {
        let shows = match (&self.file, self.line) {
            (Some(file), Some(line)) => format!("{file}:{line}: {}", self.why),
            _ => self.why.clone(),
        };
        let then = match self.as_before {
            true => "a restart shows as many as there were",
            false => "a restart takes those that are there",
        };
        format!("{}: {then} ({shows})", self.kind)
    }
}

/// The arrays on devices at a site, or at a call that leads to one.
#[derive(Debug, Serialize)]
pub struct SiteArrays {
    /// The function.
    pub function: String,
    /// The file, below the workspace.
    pub file: String,
    /// The line of the site.
    pub line: usize,
    /// The function that is called there, where the site is a call that leads to others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub callee: Option<String>,
    /// The arrays of the function in scope here.
    pub arrays: Vec<ArrayPlan>,
}

/// An array on a device.
#[derive(Debug, Serialize)]
pub struct ArrayPlan {
    /// The variable, or the part of one: `field.now`.
    pub name: String,
    /// The line of the variable's declaration.
    pub line: usize,
    /// The kernels that have it as an argument.
    pub kernels: Vec<KernelUse>,
    /// The commands that write to it, by the names of the methods.
    pub commands: Vec<String>,
    /// Whether all that is done with it was seen.
    pub followed: bool,
    /// What its elements are, where only shaders know it and all that have it agree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elements: Option<String>,
    /// Whether a checkpoint has its bytes alone, as no shader says what they are, or as they are structs of the program's.
    pub bytes: bool,
    /// Whether its content is in a checkpoint that is taken here.
    pub saved: bool,
    /// Why.
    pub why: &'static str,
}

/// A kernel that has an array as an argument.
#[derive(Debug, Serialize)]
pub struct KernelUse {
    /// Its name, where it was found.
    pub name: Option<String>,
    /// What it does with the array.
    #[serde(serialize_with = "in_words")]
    pub access: Access,
}

fn in_words<S: Serializer>(access: &Access, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(access.word())
}

impl SiteArrays {
    /// At a site of a function in this file; nothing where there are no arrays.
    pub(super) fn of(
        (function, name, file): (FnId, &str, &str),
        line: usize,
        report: &SiteReport,
        all: &[DeviceArray],
    ) -> Option<Self> {
        // A list that is put together has another variable until it is complete.
        let is_last = |(index, variable): &(usize, &VariableReport)| {
            let mut behind = report.variables[index + 1..].iter();
            !behind.any(|other| (&other.name, other.line) == (&variable.name, variable.line))
        };
        let variables = report.variables.iter().enumerate().filter(is_last);
        let arrays = variables.flat_map(|(_, variable)| {
            let is_of_variable = move |array: &&DeviceArray| {
                array.function == function && array.line == variable.line && array.variable == variable.name
            };
            let saved = variable.fate.is_saved();
            all.iter().filter(is_of_variable).map(move |array| ArrayPlan {
                name: format!("{}{}", array.variable, array.part),
                line: variable.line,
                kernels: array
                    .kernels
                    .iter()
                    .map(|(name, access)| KernelUse {
                        name: name.clone(),
                        access: *access,
                    })
                    .collect(),
                commands: array.commands.iter().cloned().collect(),
                followed: array.is_followed,
                elements: array.elements.word().map(str::to_owned),
                bytes: array.elements.are_bytes(),
                saved,
                why: match saved && array.is_only_read() {
                    true => "needed after the site; nothing writes to it: `full-every` may leave it out",
                    false => variable.why,
                },
            })
        });
        let arrays: Vec<ArrayPlan> = arrays.collect();
        (!arrays.is_empty()).then(|| Self {
            function: name.to_owned(),
            file: file.to_owned(),
            line,
            callee: report.callee.clone(),
            arrays,
        })
    }
}

impl ArrayPlan {
    /// What a checkpoint has of it, for people.
    pub fn content(&self) -> String {
        match (self.saved, &self.elements) {
            (false, _) => "nothing".to_owned(),
            (true, Some(elements)) => format!("content ({elements})"),
            (true, None) if self.bytes => "content (bytes)".to_owned(),
            (true, None) => "content".to_owned(),
        }
    }

    /// What writes to it, for people.
    pub fn writers(&self) -> String {
        let by = |access: Access| {
            let those = self.kernels.iter().filter(move |one| one.access == access);
            those.map(|one| one.name.as_deref().unwrap_or("a kernel"))
        };
        let mut list: Vec<String> = by(Access::Writes).map(str::to_owned).collect();
        list.extend(by(Access::NotKnown).map(|name| format!("{name}?")));
        list.extend(self.commands.iter().map(|name| format!("{name}()")));
        if !self.followed {
            list.push("others?".to_owned());
        }
        or_nothing(list)
    }

    /// What only reads it, for people.
    pub fn readers(&self) -> String {
        let those = self.kernels.iter().filter(|one| one.access == Access::Reads);
        or_nothing(those.filter_map(|one| one.name.clone()).collect())
    }
}

fn or_nothing(list: Vec<String>) -> String {
    match list.is_empty() {
        true => "-".to_owned(),
        false => list.join(", "),
    }
}
