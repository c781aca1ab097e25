//! How large variables are: from the newest checkpoint of the program, or from the types and initialisers that are written.

use std::collections::HashMap;

use ckpt::store::VariableContent;
use ckpt_analysis::{Bytes, FnId, PackageAnalysis};
use ckpt_compiler::VariableReport;

use crate::package::read::ReadPackage;
use crate::stores;
use crate::stores::lines::Lines;

/// What is known of the variables of a program.
pub struct Sizes<'a> {
    /// Bytes in the newest checkpoint, by function and name.
    found: HashMap<(String, String), u64>,
    /// Bytes of its statics.
    statics: Vec<u64>,
    source: Bytes<'a>,
}

impl<'a> Sizes<'a> {
    /// With those of the newest checkpoint in the store that a run in this folder would use, if there is one.
    pub fn of(package: &ReadPackage, analysis: &'a PackageAnalysis) -> Self {
        let name = &package.workspace.choice.package;
        let mut found = HashMap::new();
        let store = stores::for_program(None, name).ok();
        let loaded = store.and_then(|store| Lines::of(&store).ok()?.newest());
        let frames = loaded.as_ref().map_or(&[][..], |checkpoint| checkpoint.frames());
        for frame in frames {
            for variable in &frame.variables {
                let bytes = match &variable.content {
                    VariableContent::Value => Some(variable.bytes),
                    // What is lent is as large as it is where it was saved.
                    VariableContent::Link { frame, key } => {
                        let lent_to = frames.get(*frame).map(|frame| &frame.variables);
                        let target = lent_to.and_then(|all| all.iter().find(|one| one.key == *key));
                        target.map(|one| one.bytes)
                    }
                };
                if let Some(bytes) = bytes {
                    found.insert((frame.function.clone(), variable.key.clone()), bytes);
                }
            }
        }
        let statics = loaded.iter().flat_map(|checkpoint| checkpoint.statics());
        Self {
            found,
            statics: statics.map(|one| one.bytes).collect(),
            source: analysis.bytes(),
        }
    }

    /// Those of the program's statics, as far as the newest checkpoint has them.
    pub fn of_statics(&self) -> impl Iterator<Item = u64> + '_ {
        self.statics.iter().copied()
    }

    /// Those of the variables of a function.
    pub fn of_function(&self, analysis: &PackageAnalysis, function: FnId) -> SizesHere<'_> {
        SizesHere {
            all: self,
            function: analysis.function(function).display.clone(),
            initial: self.source.of_variables(function),
        }
    }
}

/// The variables of one function.
pub struct SizesHere<'s> {
    all: &'s Sizes<'s>,
    /// Its name, with its modules in front.
    function: String,
    initial: HashMap<(String, usize), u64>,
}

impl SizesHere<'_> {
    /// The bytes of a variable, if they are known.
    pub fn of_variable(&self, variable: &VariableReport) -> Option<u64> {
        let is_it = |of: &str, name: &str| {
            name == variable.name && (self.function == of || self.function.ends_with(&format!("::{of}")))
        };
        let found = self.all.found.iter().find(|((of, name), _)| is_it(of, name));
        found
            .map(|(_, bytes)| *bytes)
            .or_else(|| self.all.source.of_type_text(variable.type_text.as_deref()?))
            .or_else(|| self.initial.get(&(variable.name.clone(), variable.line)).copied())
    }
}
