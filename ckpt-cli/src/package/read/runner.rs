//! What cargo's configuration has programs of a target started by: `runner` of `[target.TRIPLE]` or `[target.'cfg(..)']`, or
//! `CARGO_TARGET_TRIPLE_RUNNER`. The rules are those of `cargo run`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use toml::Value;

use crate::cargo::CargoOptions;
use crate::failure::{Failure, OrFail, Outcome, says};
use crate::package::read::cfg::{Compiler, Configuration};
use crate::package::read::settings::{Profile, Settings, at, variable_of_target, words};

const KEY: &str = "runner";

/// The command that starts the program which the options mean, without the program itself; none if it is started as it is.
pub fn runner(options: &CargoOptions) -> Outcome<Option<Vec<OsString>>> {
    let folder =
        std::env::current_dir().or_fail(|| Failure::start(says!("E3074: there is no working folder")))?;
    let settings = Settings::read(&folder, &options.passed_on)?;
    // To ask rustc takes its time, and hardly anybody has one.
    if !settings.names_a_runner() {
        return Ok(None);
    }
    let compiler = Compiler::ask(&settings)?;
    // As cargo asks, for whom no profile decides about this.
    let profile = Profile {
        debug_assertions: true,
        panic: None,
    };
    let flags = compiler.configuration(&settings, &profile)?;
    settings.runner(&compiler.target, &flags, &folder)
}

impl Settings {
    /// Whether there is one for any target.
    fn names_a_runner(&self) -> bool {
        let in_tables = self.tables().any(|(_, table)| {
            let targets = at(table, &["target"]).and_then(Value::as_table);
            targets.is_some_and(|targets| targets.values().any(|entry| entry.get(KEY).is_some()))
        });
        let is_runner = |name: &str| name.starts_with("CARGO_TARGET_") && name.ends_with("_RUNNER");
        in_tables || self.variables().any(is_runner)
    }

    /// That of a target for which these flags hold. What names the target goes before a `cfg`, of which only one may hold.
    fn runner(&self, target: &str, flags: &Configuration, folder: &Path) -> Outcome<Option<Vec<OsString>>> {
        let keys = ["target", target, KEY];
        if let Some((place, value)) = self.said_with_place(&keys) {
            return command(place, target, value).map(Some);
        }
        let variable = self.variable(&variable_of_target(target, KEY));
        if let Some(text) = variable.filter(|text| !text.trim().is_empty()) {
            return Ok(Some(resolved(words(text), folder)));
        }
        if let Some((place, value)) = self.value(&keys) {
            return command(place, target, value).map(Some);
        }
        let mut found: BTreeMap<&str, (&Path, &Value)> = BTreeMap::new();
        for (place, table) in self.tables() {
            let targets = at(table, &["target"]).and_then(Value::as_table);
            for (name, entry) in targets.into_iter().flatten() {
                if let Some(value) = entry.get(KEY).filter(|_| flags.holds_text(name)) {
                    found.entry(name).or_insert((place, value));
                }
            }
        }
        // Where several hold, cargo has refused to build.
        let only = found.into_iter().next();
        only.map(|(name, (place, value))| command(place, name, value))
            .transpose()
    }
}

/// The words of a value that stands in a file.
fn command(file: &Path, target: &str, value: &Value) -> Outcome<Vec<OsString>> {
    let list = match value {
        Value::String(text) => Some(words(text)),
        Value::Array(list) => {
            let texts = list.iter().map(|one| one.as_str().map(str::to_owned));
            texts.collect()
        }
        _ => None,
    };
    let list = list.filter(|list| list.first().is_some_and(|program| !program.is_empty()));
    let list = list.ok_or_else(|| {
        Failure::build(says!("E3067: cannot read `{}`", file.display())).because(format!(
            "`target.{target}.runner` is neither a text nor a list of texts that begins with a program"
        ))
    })?;
    // It is meant from the folder that holds `.cargo`.
    let folder = file.parent().and_then(Path::parent).unwrap_or(file);
    Ok(resolved(list, folder))
}

/// A program whose name has folders in it is meant from a folder; another one is looked for on the path.
fn resolved(mut words: Vec<String>, folder: &Path) -> Vec<OsString> {
    let arguments = words.split_off(1);
    let program = words.into_iter().map(|name| match name.contains('/') {
        true => folder.join(name),
        false => PathBuf::from(name),
    });
    let arguments = arguments.into_iter().map(OsString::from);
    program.map(PathBuf::into_os_string).chain(arguments).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cargo::PassedOn;

    fn found(files: &str, variables: &[(&str, &str)], said: &[&str]) -> Outcome<Option<Vec<OsString>>> {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join(".cargo")).expect("a folder");
        std::fs::write(folder.path().join(".cargo/config.toml"), files).expect("a file");
        let options = PassedOn {
            config: said.iter().map(|&word| word.to_owned()).collect(),
            ..PassedOn::default()
        };
        let settings = Settings::read(folder.path(), &options)
            .expect("settings")
            .with_variables(variables);
        assert_eq!(
            settings.names_a_runner(),
            !(files.is_empty() && variables.is_empty() && said.is_empty())
        );
        settings.runner("x-y.z", &Configuration::printed("unix"), "/here".as_ref())
    }

    fn words_of(found: Outcome<Option<Vec<OsString>>>) -> Vec<String> {
        let words = found.expect("a runner").unwrap_or_default();
        words
            .into_iter()
            .map(|word| word.into_string().expect("a text"))
            .collect()
    }

    #[test]
    fn a_target_goes_before_what_holds_for_it() {
        let files =
            "[target.'cfg(unix)']\nrunner = \"of-unix\"\n[target.'x-y.z']\nrunner = [\"of target\", \"a b\"]";
        assert_eq!(words_of(found(files, &[], &[])), ["of target", "a b"]);
        let variable = [("CARGO_TARGET_X_Y_Z_RUNNER", "./set  1")];
        assert_eq!(words_of(found(files, &variable, &[])), ["/here/./set", "1"]);
        let said = ["target.'x-y.z'.runner = \"said\""];
        assert_eq!(words_of(found(files, &variable, &said)), ["said"]);
        let files = "[target.'cfg(unix)']\nrunner = \"of-unix\"\n[target.'cfg(windows)']\nrunner = \"w\"";
        assert_eq!(words_of(found(files, &[], &[])), ["of-unix"]);
        let nearer = ["target.'cfg(unix)'.runner = \"nearer\""];
        assert_eq!(words_of(found(files, &[], &nearer)), ["nearer"]);
        assert_eq!(words_of(found("", &[], &[])), [""; 0]);
    }

    #[test]
    fn what_names_no_program_is_refused() {
        for value in ["7", "[]", "[1]", "\"\""] {
            let files = format!("[target.'x-y.z']\nrunner = {value}");
            let refused = found(&files, &[], &[]).expect_err(value).to_string();
            assert!(refused.contains("config.toml"), "{refused}");
        }
    }
}
