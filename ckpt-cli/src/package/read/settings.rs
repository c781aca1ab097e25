//! Cargo's configuration, as far as it decides which code is compiled: `.cargo/config.toml` of the working folder and those
//! above it, that of cargo's home, the profiles of the workspace, and the environment. Cargo does not print this on stable.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use crate::cargo::{PassedOn, settings_of};
use crate::failure::{Failure, Outcome, says};
use crate::package::read::cfg::Configuration;

/// The configuration files, the nearest first, the environment, which goes before them, and the command line, which goes before
/// that.
#[derive(Debug, Default)]
pub struct Settings {
    /// The target, where the command line names one.
    target: Option<String>,
    /// What the command line says, the last first: each with the path of a file in the working folder.
    said: Vec<(PathBuf, Table)>,
    files: Vec<(PathBuf, Table)>,
    variables: BTreeMap<String, String>,
}

/// What a profile says about `#[cfg]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// Whether `debug_assertions` holds.
    pub debug_assertions: bool,
    /// `unwind` or `abort`, where it is said.
    pub panic: Option<String>,
}

impl Settings {
    /// The files that cargo reads when it is started in a folder, and what it is told with these options.
    pub fn read(folder: &Path, options: &PassedOn) -> Outcome<Self> {
        let mut folders: Vec<PathBuf> = folder.ancestors().map(|above| above.join(".cargo")).collect();
        let home = cargo_home().filter(|home| !folders.contains(home));
        folders.extend(home);
        let mut files = Vec::new();
        for folder in folders {
            // Where both are there, cargo takes the one without an ending.
            let names = ["config", "config.toml"].map(|name| folder.join(name));
            if let Some(path) = names.into_iter().find(|path| path.is_file()) {
                let table = read_table(&path)?;
                files.push((path, table));
            }
        }
        let text =
            |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
        let variables = env::vars_os().filter_map(text).collect();
        let said = options.config.iter().rev().map(|word| said(word, folder));
        Ok(Settings {
            target: options.target.clone(),
            said: said.collect::<Outcome<_>>()?,
            files,
            variables,
        })
    }

    /// No files, and only these variables.
    #[cfg(test)]
    pub fn of_variables(variables: &[(&str, &str)]) -> Self {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Settings {
            variables: variables.iter().map(owned).collect(),
            ..Settings::default()
        }
    }

    /// The same, with these variables in place of the process's.
    #[cfg(test)]
    pub fn with_variables(self, variables: &[(&str, &str)]) -> Self {
        Settings {
            variables: Settings::of_variables(variables).variables,
            ..self
        }
    }

    /// The names of the variables that are set.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.variables.keys().map(String::as_str)
    }

    /// A variable.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// What the command line says, and the files, the nearest first.
    pub fn tables(&self) -> impl DoubleEndedIterator<Item = &(PathBuf, Table)> {
        self.said.iter().chain(&self.files)
    }

    /// The value at a path of keys, on the command line or in the nearest file that has one.
    pub fn value(&self, keys: &[&str]) -> Option<(&Path, &Value)> {
        self.tables()
            .find_map(|(path, table)| Some((path.as_path(), at(table, keys)?)))
    }

    /// The value at a path of keys on the command line, which goes before the environment.
    fn said(&self, keys: &[&str]) -> Option<&Value> {
        self.said_with_place(keys).map(|(_, value)| value)
    }

    /// The same, with the file where it stands.
    pub fn said_with_place(&self, keys: &[&str]) -> Option<(&Path, &Value)> {
        self.said
            .iter()
            .find_map(|(path, table)| Some((path.as_path(), at(table, keys)?)))
    }

    fn text(&self, variable: &str, keys: &[&str]) -> Option<String> {
        let given = self.said(keys).and_then(Value::as_str);
        let given = given.or_else(|| self.variable(variable).filter(|text| !text.is_empty()));
        given.or_else(|| self.value(keys)?.1.as_str()).map(str::to_owned)
    }

    /// The compiler that cargo would start.
    pub fn rustc(&self) -> PathBuf {
        let variables = ["RUSTC", "CARGO_BUILD_RUSTC"].into_iter();
        let is_said = self.said(&["build", "rustc"]).is_some();
        let set = |name| self.variable(name).filter(|path| !path.is_empty());
        if let Some(path) = variables.filter(|_| !is_said).find_map(set) {
            return path.into();
        }
        match self.value(&["build", "rustc"]) {
            // A path with folders is meant from the folder that holds `.cargo`.
            Some((file, Value::String(path))) if path.contains(['/', '\\']) => file
                .parent()
                .and_then(Path::parent)
                .map_or_else(|| path.into(), |folder| folder.join(path)),
            Some((_, Value::String(name))) => name.into(),
            _ => "rustc".into(),
        }
    }

    /// The target to build for, where it is not the machine's own.
    pub fn build_target(&self) -> Option<String> {
        if let Some(target) = &self.target {
            return Some(target.clone()).filter(|target| target != "host-tuple");
        }
        if let Some((_, Value::Array(several))) = self.value(&["build", "target"])
            && self.variable("CARGO_BUILD_TARGET").is_none()
        {
            return several.first()?.as_str().map(str::to_owned);
        }
        self.text("CARGO_BUILD_TARGET", &["build", "target"])
    }

    /// The flags that cargo would pass to rustc for a target: those of the first source that has any.
    pub fn rustflags(&self, target: &str, bare: &Configuration) -> Vec<String> {
        if let Some(encoded) = self.variable("CARGO_ENCODED_RUSTFLAGS") {
            let parts = encoded.split('\u{1f}').filter(|part| !part.is_empty());
            return parts.map(str::to_owned).collect();
        }
        if let Some(flags) = self.variable("RUSTFLAGS") {
            return words(flags);
        }
        let mut for_target = self.joined(&["target", target, "rustflags"]);
        let variable = variable_of_target(target, "rustflags");
        for_target.extend(self.variable(&variable).map_or(vec![], words));
        for (_, table) in self.tables().rev() {
            let targets = at(table, &["target"]).and_then(Value::as_table);
            for (name, entry) in targets.into_iter().flatten() {
                if bare.holds_text(name) {
                    for_target.extend(entry.get("rustflags").map_or(vec![], flags));
                }
            }
        }
        if !for_target.is_empty() {
            return for_target;
        }
        let mut of_build = self.joined(&["build", "rustflags"]);
        of_build.extend(self.variable("CARGO_BUILD_RUSTFLAGS").map_or(vec![], words));
        of_build
    }

    /// A list that cargo puts together from all files, the nearest last.
    fn joined(&self, keys: &[&str]) -> Vec<String> {
        self.tables()
            .rev()
            .filter_map(|(_, table)| at(table, keys))
            .flat_map(flags)
            .collect()
    }

    /// Whether cargo has a profile of this name.
    pub fn has_profile(&self, name: &str, manifest: &Table) -> bool {
        matches!(name, "dev" | "release") || self.parent(name, manifest).is_some()
    }

    /// A profile, by the environment, the configuration, the root manifest, and what it inherits from.
    pub fn profile(&self, name: &str, manifest: &Table) -> Profile {
        let debug = self.of_profile(name, "debug-assertions", manifest, 0);
        let debug = debug.and_then(|value| match value {
            Value::Boolean(on) => Some(on),
            Value::String(text) => Some(text == "true"),
            _ => None,
        });
        let built_in = self.ancestor(name, manifest, 0);
        let panic = self.of_profile(name, "panic", manifest, 0);
        Profile {
            debug_assertions: debug.unwrap_or(matches!(built_in.as_str(), "dev" | "test")),
            panic: panic.and_then(|value| value.as_str().map(str::to_owned)),
        }
    }

    /// What a profile says about one package apart from the others.
    pub fn package_debug_assertions(&self, profile: &str, package: &str, manifest: &Table) -> Option<bool> {
        let keys = ["profile", profile, "package", package, "debug-assertions"];
        let (_, value) = self
            .value(&keys)
            .or_else(|| Some((Path::new(""), at(manifest, &keys)?)))?;
        value.as_bool()
    }

    fn said_of_profile(&self, name: &str, key: &str, manifest: &Table) -> Option<Value> {
        let keys = ["profile", name, key];
        if let Some(value) = self.said(&keys) {
            return Some(value.clone());
        }
        let shouted = |text: &str| text.to_uppercase().replace('-', "_");
        let variable = format!("CARGO_PROFILE_{}_{}", shouted(name), shouted(key));
        if let Some(text) = self.variable(&variable) {
            return Some(Value::String(text.to_owned()));
        }
        let configured = self.value(&keys).map(|(_, value)| value);
        configured.or_else(|| at(manifest, &keys)).cloned()
    }

    fn of_profile(&self, name: &str, key: &str, manifest: &Table, depth: usize) -> Option<Value> {
        let said = self.said_of_profile(name, key, manifest);
        said.or_else(|| {
            let parent = self.parent(name, manifest).filter(|_| depth < 16)?;
            self.of_profile(&parent, key, manifest, depth + 1)
        })
    }

    /// What a profile inherits from; `dev` and `release` from nothing.
    fn parent(&self, name: &str, manifest: &Table) -> Option<String> {
        match name {
            "dev" | "release" => None,
            "test" => Some("dev".into()),
            "bench" => Some("release".into()),
            other => Some(
                self.said_of_profile(other, "inherits", manifest)?
                    .as_str()?
                    .to_owned(),
            ),
        }
    }

    fn ancestor(&self, name: &str, manifest: &Table, depth: usize) -> String {
        match self.parent(name, manifest).filter(|_| depth < 16) {
            Some(parent) => self.ancestor(&parent, manifest, depth + 1),
            None => name.to_owned(),
        }
    }
}

/// The settings in a word of the command line, as those of a file in the working folder: paths in them are relative to that.
fn said(word: &str, folder: &Path) -> Outcome<(PathBuf, Table)> {
    let (place, text) = settings_of(word);
    let as_in = match place.is_file() {
        true => std::path::absolute(&place).unwrap_or(place.clone()),
        false => folder.join(".cargo").join("config.toml"),
    };
    let wrong = |why: &dyn std::fmt::Display| {
        Failure::build(says!("E3067: cannot read `{}`", place.display())).because(why)
    };
    let text = text.map_err(|error| wrong(&error))?;
    let table = text.parse().map_err(|error: toml::de::Error| wrong(&error))?;
    Ok((as_in, table))
}

/// The variable that stands for a key of a target's table.
pub fn variable_of_target(target: &str, key: &str) -> String {
    let shouted = |text: &str| text.to_uppercase().replace(['-', '.'], "_");
    format!("CARGO_TARGET_{}_{}", shouted(target), shouted(key))
}

/// The value at a path of keys.
pub fn at<'t>(table: &'t Table, keys: &[&str]) -> Option<&'t Value> {
    let (first, rest) = keys.split_first()?;
    let value = table.get(*first)?;
    match rest {
        [] => Some(value),
        rest => at(value.as_table()?, rest),
    }
}

/// A list of words, or one string of words between spaces.
fn flags(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => words(text),
        Value::Array(list) => list
            .iter()
            .filter_map(|one| one.as_str().map(str::to_owned))
            .collect(),
        _ => Vec::new(),
    }
}

/// Words between spaces.
pub fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// Cargo's own folder, with a configuration that holds wherever one is.
pub fn cargo_home() -> Option<PathBuf> {
    let said = env::var_os("CARGO_HOME").filter(|path| !path.is_empty());
    said.map(PathBuf::from)
        .or_else(|| Some(env::home_dir()?.join(".cargo")))
}

/// Reads a TOML file.
pub fn read_table(path: &Path) -> Outcome<Table> {
    let wrong = |why: &dyn std::fmt::Display| {
        Failure::build(says!("E3067: cannot read `{}`", path.display())).because(why)
    };
    let text = fs::read_to_string(path).map_err(|error| wrong(&error))?;
    text.parse().map_err(|error: toml::de::Error| wrong(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(texts: &[&str]) -> Settings {
        let file = |text: &&str| {
            (
                PathBuf::from("/w/.cargo/config.toml"),
                text.parse().expect("TOML"),
            )
        };
        Settings {
            files: texts.iter().map(file).collect(),
            ..Settings::default()
        }
    }

    #[test]
    fn the_nearest_file_wins_and_lists_are_joined() {
        let near = "[build]\nrustflags = [\"--cfg\", \"near\"]\ntarget = \"a-b\"";
        let far = "[build]\nrustflags = \"--cfg far\"\ntarget = \"c-d\"";
        let both = settings(&[near, far]);
        assert_eq!(
            both.joined(&["build", "rustflags"]),
            ["--cfg", "far", "--cfg", "near"]
        );
        assert_eq!(
            both.value(&["build", "target"]).expect("said").1.as_str(),
            Some("a-b")
        );
    }

    #[test]
    fn flags_of_the_target_stand_in_for_those_of_the_build() {
        let text = "[build]\nrustflags = [\"--cfg\", \"b\"]\n[target.'cfg(unix)']\nrustflags = [\"--cfg\", \"u\"]\n\
            [target.x-y]\nrustflags = \"--cfg t\"";
        let found = settings(&[text]).rustflags("x-y", &Configuration::printed("unix"));
        assert_eq!(found, ["--cfg", "t", "--cfg", "u"]);
        let found = settings(&[text]).rustflags("z", &Configuration::printed("windows"));
        assert_eq!(found, ["--cfg", "b"]);
    }

    #[test]
    fn the_environment_goes_first() {
        let mut both = settings(&["[build]\nrustflags = \"--cfg b\""]);
        both.variables
            .insert("CARGO_PROFILE_DEV_DEBUG_ASSERTIONS".into(), "false".into());
        both.variables.insert("RUSTFLAGS".into(), "--cfg  r".into());
        assert_eq!(both.rustflags("z", &Configuration::default()), ["--cfg", "r"]);
        assert!(!both.profile("dev", &Table::new()).debug_assertions);
    }

    #[test]
    fn the_command_line_goes_before_the_environment() {
        let options = PassedOn {
            target: Some("a-b".into()),
            config: vec![
                "profile.dev.debug-assertions=true".into(),
                "build.rustflags=[\"--cfg\", \"said\"]".into(),
            ],
            ..PassedOn::default()
        };
        let folder = tempfile::tempdir().expect("a folder");
        let mut settings = Settings::read(folder.path(), &options).expect("settings");
        settings
            .variables
            .insert("CARGO_PROFILE_DEV_DEBUG_ASSERTIONS".into(), "false".into());
        settings.variables.remove("RUSTFLAGS");
        assert!(settings.profile("dev", &Table::new()).debug_assertions);
        assert!(
            settings
                .rustflags("z", &Configuration::default())
                .ends_with(&["--cfg".into(), "said".into()])
        );
        assert_eq!(settings.build_target().as_deref(), Some("a-b"));
        let wrong = PassedOn {
            config: vec!["build.jobs".into()],
            ..PassedOn::default()
        };
        let failure = Settings::read(folder.path(), &wrong)
            .expect_err("no setting")
            .to_string();
        assert!(failure.contains("`--config`"), "{failure}");
    }

    #[test]
    fn profiles_inherit() {
        let manifest: Table =
            "[profile.release]\npanic = \"abort\"\n[profile.slow]\ninherits = \"release\"\n\
            debug-assertions = true\n[profile.quick]\ninherits = \"dev\"\n\
            [profile.dev.package.core]\ndebug-assertions = false"
                .parse()
                .expect("TOML");
        let settings = Settings::default();
        let profile = |name| {
            let found = settings.profile(name, &manifest);
            (found.debug_assertions, found.panic)
        };
        assert_eq!(profile("dev"), (true, None));
        assert_eq!(profile("release"), (false, Some("abort".into())));
        assert_eq!(profile("slow"), (true, Some("abort".into())));
        assert_eq!(profile("quick"), (true, None));
        assert_eq!(
            settings.package_debug_assertions("dev", "core", &manifest),
            Some(false)
        );
    }

    #[test]
    fn a_configuration_that_cannot_be_read_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join(".cargo")).expect("a folder");
        fs::write(folder.path().join(".cargo/config.toml"), "[build\n").expect("a file");
        let failure = Settings::read(folder.path(), &PassedOn::default())
            .expect_err("no TOML")
            .to_string();
        assert!(failure.contains("config.toml"), "{failure}");
    }
}
