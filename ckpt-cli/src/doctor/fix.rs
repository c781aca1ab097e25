//! What `--fix` can do about a check: each says what it does in words, and does no more than that.

use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use toml_edit::{DocumentMut, Item, Table, value};

use crate::failure::{AboutFile, Failure, OrFail, Outcome, says};

/// What mends something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fix {
    /// A command that installs what is missing.
    Install(Vec<String>),
    /// A variable for everything that cargo starts below this folder.
    Variable {
        /// The folder.
        folder: PathBuf,
        /// `HDF5_DIR`.
        name: &'static str,
        /// What it is set to.
        value: String,
    },
    /// Files that nothing needs any more.
    Remove(Vec<PathBuf>),
    /// The dependency on ckpt, in this manifest.
    Depend(PathBuf),
}

impl Fix {
    /// What it does.
    pub fn words(&self) -> String {
        match self {
            Fix::Install(command) => command.join(" "),
            Fix::Variable { folder, name, value } => {
                format!("set {name} = \"{value}\" in {}", config(folder).display())
            }
            Fix::Remove(files) => {
                let names: Vec<_> = files.iter().map(|file| file.display().to_string()).collect();
                format!("remove {}", names.join(", "))
            }
            Fix::Depend(manifest) => format!("add the dependency on ckpt to {}", manifest.display()),
        }
    }

    /// Whether it is done for what only some programs need as well: it brings nothing new to the machine.
    pub fn is_tidying(&self) -> bool {
        !matches!(self, Fix::Install(_))
    }

    /// Does it.
    pub fn perform(&self) -> Outcome<()> {
        match self {
            Fix::Install(command) => install(command),
            Fix::Variable { folder, name, value } => set_variable(folder, name, value),
            Fix::Remove(files) => files.iter().try_for_each(|file| match fs::remove_file(file) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    Err(error).about("cannot remove", file)
                }
                _ => Ok(()),
            }),
            Fix::Depend(manifest) => crate::package::copy::manifest::add_dependency(manifest, &[]),
        }
    }
}

/// Runs a command of a package manager, which says itself what it does, on standard error: our standard output is for the
/// result.
fn install(command: &[String]) -> Outcome<()> {
    let run = |words: &[String]| {
        Command::new(&words[0])
            .args(&words[1..])
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdout(Stdio::from(std::io::stderr()))
            .status()
            .is_ok_and(|status| status.success())
    };
    if run(command) {
        return Ok(());
    }
    // Lists of packages that are old, or were never fetched.
    let place = command.iter().position(|word| word == "apt-get");
    let refreshed = place.is_some_and(|place| {
        let mut update = command[..=place].to_vec();
        update.push("update".into());
        run(&update) && run(command)
    });
    match refreshed {
        true => Ok(()),
        false => Err(Failure::no(says!("E3110: `{}` has failed", command.join(" ")))
            .help("what it says is above; ckpt needs what it was to install, wherever that comes from")),
    }
}

/// A command line for a person as one that asks nothing.
pub fn unattended(line: &str) -> Option<Fix> {
    let mut words = shlex::split(line)?;
    if words.first().is_some_and(|word| word == "sudo") && !std::io::stdin().is_terminal() {
        words.insert(1, "-n".into());
    }
    let place = words
        .iter()
        .position(|word| ["install", "-S", "update"].contains(&word.as_str()))?;
    match words.get(place.checked_sub(1)?)?.as_str() {
        "apt-get" | "dnf" => words.insert(place + 1, "-y".into()),
        "pacman" => words.insert(place + 1, "--noconfirm".into()),
        "zypper" => words.insert(place, "--non-interactive".into()),
        "brew" | "rustup" => {}
        _ => return None,
    }
    Some(Fix::Install(words))
}

fn config(folder: &Path) -> PathBuf {
    folder.join(".cargo/config.toml")
}

/// What a variable is set to for cargo in a folder, by the nearest `.cargo/config.toml` that says so.
pub fn variable(folder: &Path, name: &str) -> Option<String> {
    folder.ancestors().find_map(|folder| {
        let table: toml::Table = fs::read_to_string(config(folder)).ok()?.parse().ok()?;
        let said = table.get("env")?.get(name)?;
        let said = said.get("value").unwrap_or(said);
        said.as_str().map(str::to_owned)
    })
}

fn set_variable(folder: &Path, name: &str, text: &str) -> Outcome<()> {
    let path = config(folder);
    let before = match fs::read_to_string(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        read => read.about("cannot read", &path)?,
    };
    let mut document: DocumentMut = before
        .parse()
        .or_fail(|| Failure::store(says!("E3111: {} is not valid", path.display())))?;
    let env = document.entry("env").or_insert(Item::Table(Table::new()));
    env[name] = value(text);
    fs::create_dir_all(folder.join(".cargo")).about("cannot make", &folder.join(".cargo"))?;
    fs::write(&path, document.to_string()).about("cannot write", &path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_set_beside_what_is_there() {
        let here = tempfile::tempdir().unwrap();
        let below = here.path().join("a/b");
        assert_eq!(variable(&below, "HDF5_DIR"), None);
        fs::create_dir(here.path().join(".cargo")).unwrap();
        fs::write(config(here.path()), "[build] # mine\njobs = 3\n").unwrap();
        let fix = Fix::Variable {
            folder: here.path().into(),
            name: "HDF5_DIR",
            value: "/opt/hdf5".into(),
        };
        assert!(fix.words().starts_with("set HDF5_DIR = \"/opt/hdf5\" in "));
        fix.perform().unwrap();
        assert_eq!(variable(&below, "HDF5_DIR").as_deref(), Some("/opt/hdf5"));
        let text = fs::read_to_string(config(here.path())).unwrap();
        assert!(text.starts_with("[build] # mine\njobs = 3\n"), "{text}");
    }

    #[test]
    fn a_file_that_is_no_toml_is_left_as_it_is() {
        let here = tempfile::tempdir().unwrap();
        fs::create_dir(here.path().join(".cargo")).unwrap();
        fs::write(config(here.path()), "[build\n").unwrap();
        let refused = set_variable(here.path(), "HDF5_DIR", "/opt/hdf5").unwrap_err();
        assert_eq!(refused.as_data()["code"], "E3111");
        assert_eq!(fs::read_to_string(config(here.path())).unwrap(), "[build\n");
    }

    #[test]
    fn package_managers_are_told_not_to_ask() {
        let words = |line: &str| unattended(line).map(|fix| fix.words());
        assert_eq!(
            words("apt-get install libhdf5-dev").as_deref(),
            Some("apt-get install -y libhdf5-dev")
        );
        assert_eq!(
            words("pacman -S hdf5").as_deref(),
            Some("pacman -S --noconfirm hdf5")
        );
        assert_eq!(
            words("zypper install hdf5-devel").as_deref(),
            Some("zypper --non-interactive install hdf5-devel")
        );
        assert_eq!(words("install pkg-config"), None);
        assert_eq!(words("install Rust: https://rustup.rs"), None);
    }
}
