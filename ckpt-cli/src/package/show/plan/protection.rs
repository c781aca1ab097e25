//! What the memory of a program needs against errors that nobody has made, variable by variable and in all.

use std::collections::BTreeMap;

use ckpt_compiler::{Class, Memory, Protection, SiteReport};
use serde::{Serialize, Serializer};

use crate::package::show::sizes::{Sizes, SizesHere};

/// The classes of all variables at all sites.
#[derive(Debug, Serialize)]
pub struct ProtectionPlan {
    /// The program's memory by class: each variable once, in the class that needs most.
    pub classes: Vec<ClassTotal>,
    /// The sites and the calls that lead to them, in the order of the functions.
    pub sites: Vec<SiteProtection>,
}

/// The variables at a site.
#[derive(Debug, Serialize)]
pub struct SiteProtection {
    /// The function.
    pub function: String,
    /// The file, below the workspace.
    pub file: String,
    /// The line of the site.
    pub line: usize,
    /// The function that is called there, where the site is a call that leads to others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub callee: Option<String>,
    /// The variables of the function in scope here.
    pub variables: Vec<ProtectedVariable>,
}

/// A variable at a site.
#[derive(Debug, Serialize)]
pub struct ProtectedVariable {
    /// Its name.
    pub name: String,
    /// The line of its declaration.
    pub line: usize,
    /// What it needs.
    #[serde(serialize_with = "class_in_words")]
    pub class: Class,
    /// Whose memory it is. It counts where its owner is.
    #[serde(serialize_with = "memory_in_words")]
    pub memory: Memory,
    /// Its bytes, where they are known.
    pub bytes: Option<u64>,
    /// Why.
    pub why: &'static str,
}

/// A class, over the whole program.
#[derive(Debug, Serialize)]
pub struct ClassTotal {
    /// Which.
    #[serde(serialize_with = "class_in_words")]
    pub class: Class,
    /// How many variables.
    pub variables: usize,
    /// Of how many of them the size is not known.
    pub of_unknown_size: usize,
    /// The bytes of the others.
    pub bytes: u64,
    /// These of all bytes that are known, 0 to 1.
    pub share: Option<f64>,
}

fn class_in_words<S: Serializer>(class: &Class, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(class.word())
}

fn memory_in_words<S: Serializer>(memory: &Memory, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(memory.word())
}

impl SiteProtection {
    /// Of a site of a function in this file.
    pub(super) fn of(
        (function, file): (&str, &str),
        line: usize,
        (report, protection): &(SiteReport, Vec<Protection>),
        sizes: &SizesHere<'_>,
    ) -> Self {
        let variables = report.variables.iter().zip(protection);
        Self {
            function: function.to_owned(),
            file: file.to_owned(),
            line,
            callee: report.callee.clone(),
            variables: variables
                .map(|(variable, protection)| ProtectedVariable {
                    name: variable.name.clone(),
                    line: variable.line,
                    class: protection.class,
                    memory: protection.memory,
                    bytes: sizes.of_variable(variable),
                    why: protection.why.unwrap_or(variable.why),
                })
                .collect(),
        }
    }
}

/// A variable of the program: its file and function, its name and line.
type Key<'s> = (&'s str, &'s str, &'s str, usize);

impl ProtectionPlan {
    /// With the shares; statics are in every checkpoint.
    pub(super) fn of(sites: Vec<SiteProtection>, sizes: &Sizes<'_>) -> Self {
        let mut all: BTreeMap<Key<'_>, (Class, Option<u64>)> = BTreeMap::new();
        for site in &sites {
            let own = site.variables.iter().filter(|one| one.memory == Memory::Own);
            for one in own {
                let key = (&*site.file, &*site.function, &*one.name, one.line);
                let (class, bytes) = all.entry(key).or_insert((one.class, one.bytes));
                *class = (*class).max(one.class);
                *bytes = (*bytes).max(one.bytes);
            }
        }
        let statics = sizes.of_statics().map(|bytes| (Class::MustBeSaved, Some(bytes)));
        let all: Vec<(Class, Option<u64>)> = all.values().copied().chain(statics).collect();
        let known: u64 = all.iter().filter_map(|(_, bytes)| *bytes).sum();
        let total = |class: Class| {
            let here = all.iter().filter(|(of, _)| *of == class);
            let bytes = here.clone().filter_map(|(_, bytes)| *bytes).sum();
            ClassTotal {
                class,
                variables: here.clone().count(),
                of_unknown_size: here.filter(|(_, bytes)| bytes.is_none()).count(),
                bytes,
                share: (known > 0).then(|| bytes as f64 / known as f64),
            }
        };
        let classes = Class::ALL.map(total).into();
        Self { classes, sites }
    }

    /// Variables of which nobody knows the size.
    pub fn of_unknown_size(&self) -> usize {
        self.classes.iter().map(|one| one.of_unknown_size).sum()
    }
}
