//! Cargo's options, and building with them. `choice` finds which program is meant.

pub mod choice;
mod passed_on;
mod progress;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cargo_metadata::diagnostic::Diagnostic;
use cargo_metadata::{Message, Metadata, MetadataCommand, Package, PackageId, TargetKind};
use serde::{Deserialize, Serialize};

use crate::failure::{Failure, OrFail, Outcome, says};
use crate::output;
pub use choice::Choice;
use choice::candidate_packages;
pub use passed_on::{PassedOn, settings_of, typed};

/// The variable by which cargo is told where to keep what it builds on the way.
pub const BUILD_DIRECTORY: &str = "CARGO_BUILD_BUILD_DIR";

/// Which program, and how it is built: cargo's own options, passed on.
#[derive(Debug, Clone, Default, PartialEq, clap::Args, Serialize, Deserialize)]
#[command(next_help_heading = "Cargo options")]
#[serde(default)]
pub struct CargoOptions {
    /// Package with the program
    #[arg(short, long, value_name = "NAME")]
    pub package: Option<String>,
    /// Binary to run
    #[arg(long, value_name = "NAME", conflicts_with = "example")]
    pub bin: Option<String>,
    /// Example to run
    #[arg(long, value_name = "NAME")]
    pub example: Option<String>,
    /// Build with optimisations
    #[arg(short, long)]
    pub release: bool,
    /// Build with this profile; for `plan` without a NAME: measure the program instead of estimating
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "")]
    pub profile: Option<String>,
    /// Features to activate, separated by commas
    #[arg(short = 'F', long, value_name = "FEATURES")]
    pub features: Vec<String>,
    /// Activate all features
    #[arg(long)]
    pub all_features: bool,
    /// Do not activate the `default` feature
    #[arg(long)]
    pub no_default_features: bool,
    /// Path to Cargo.toml
    #[arg(long, value_name = "PATH")]
    pub manifest_path: Option<PathBuf>,
    /// Folder for build results
    #[arg(long, value_name = "FOLDER")]
    pub target_dir: Option<PathBuf>,
    /// Where cargo keeps what it builds on the way, if not there as well.
    #[arg(skip)]
    #[serde(skip)]
    pub build_dir: Option<PathBuf>,
    /// Whether the library of ckpt is built first, of which nobody wants to see the parts.
    #[arg(skip)]
    #[serde(skip)]
    pub builds_library: bool,
    /// Number of parallel build jobs
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<String>,
    /// Require that Cargo.lock is up to date
    #[arg(long)]
    pub locked: bool,
    /// Build without the network
    #[arg(long)]
    pub offline: bool,
    #[command(flatten)]
    #[serde(flatten)]
    pub passed_on: PassedOn,
    /// Results and errors only: no notes, no progress, cargo's neither
    #[arg(short, long)]
    pub quiet: bool,
    /// Save less: what never changes and is cheap to make is made again at a restart (packages without attributes)
    #[arg(long, help_heading = "Options of ckpt")]
    pub recompute: bool,
    /// Go by estimates although `cargo ckpt plan --profile` has measured this program
    #[arg(long, help_heading = "Options of ckpt")]
    pub no_profile: bool,
    /// Start this executable instead of building one: for machines without cargo
    #[arg(long, value_name = "FILE", conflicts_with_all = ["package", "bin", "example", "release", "profile", "target"])]
    pub exe: Option<PathBuf>,
}

/// Who has put the sites into a program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SitesOf {
    /// Its user, by attributes.
    #[default]
    User,
    /// `cargo ckpt`, into a copy.
    Ckpt,
    /// Nobody: no loop takes more than a moment.
    Nobody,
}

/// A program that is ready to start.
#[derive(Debug, Clone)]
pub struct Program {
    /// The executable.
    pub executable: PathBuf,
    /// The name that the default store folder is made of: that of the package.
    pub name: String,
    /// What cargo would start it by, with its arguments.
    runner: Option<Vec<OsString>>,
    /// What was chosen, when cargo was asked.
    choice: Option<Choice>,
    /// Folders with native libraries that build scripts made.
    library_folders: Vec<PathBuf>,
    /// Whether measured costs said where its sites are.
    measured: bool,
    /// The share of the run that its sites reach, from 0 to 1, if that leaves most of it outside.
    pub reaches_only: Option<f64>,
    /// Where it draws random numbers that no two runs have alike, if it is known to.
    pub unseeded: Option<String>,
    /// Where it adds floats up in parallel, block by block with sites between, if it does.
    pub adds_in_blocks: Option<String>,
    /// Who has put the sites into it.
    pub sites: SitesOf,
}

/// What happens to the messages of rustc.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Diagnostics {
    /// Cargo prints them.
    Shown,
    /// They are handed on as they come, and cargo prints the rest; those that are wanted in a form of cargo's it prints.
    Handed,
    /// They come back in [`Built`].
    Kept,
}

/// What a run of cargo gave.
#[derive(Debug, Default)]
pub struct Built {
    /// Whether cargo was content.
    pub success: bool,
    /// The program.
    pub executable: Option<PathBuf>,
    /// Folders with native libraries that build scripts made.
    pub library_folders: Vec<PathBuf>,
    /// The flags for `#[cfg]` that build scripts set.
    pub flags: BTreeMap<PackageId, Vec<String>>,
    /// What rustc said, if kept.
    pub diagnostics: Vec<Diagnostic>,
    /// All that cargo said, line by line, where it is to be printed.
    pub messages: Vec<String>,
    /// Whether measured costs said where its sites are.
    pub measured: bool,
    /// The share of the run that its sites reach, from 0 to 1, if that leaves most of it outside.
    pub reaches_only: Option<f64>,
    /// Where it draws random numbers that no two runs have alike, if it is known to.
    pub unseeded: Option<String>,
    /// Where it adds floats up in parallel, block by block with sites between, if it does.
    pub adds_in_blocks: Option<String>,
    /// Who has put the sites into it.
    pub sites: SitesOf,
}

impl Built {
    /// Prints what cargo said, where that is wanted.
    pub fn print_messages(&self) {
        let mut out = std::io::stdout().lock();
        for line in &self.messages {
            let _ = writeln!(out, "{line}"); // nobody may read it any more
        }
    }
}

/// The variables that name the folder of build results, the first before the second.
const TARGET_VARIABLES: [&str; 2] = ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR"];

impl CargoOptions {
    /// Whether nothing at all was said about which program and how to build it.
    pub fn is_unset(&self) -> bool {
        *self
            == CargoOptions {
                quiet: self.quiet,
                passed_on: PassedOn::default().saying_as(&self.passed_on),
                ..CargoOptions::default()
            }
    }

    /// Options that choose and build this very program from any working folder.
    pub fn pinned_to(&self, program: &Program) -> Self {
        let mut variables = TARGET_VARIABLES.iter().filter_map(std::env::var_os);
        let variable = variables.find(|value| !value.is_empty());
        self.pinned_with(program, variable.map(PathBuf::from))
    }

    fn pinned_with(&self, program: &Program, variable: Option<PathBuf>) -> Self {
        let mut options = self.clone();
        options.passed_on = options.passed_on.pinned();
        // A relative one is another folder elsewhere, also where a variable names it.
        let variable = variable.filter(|path| path.is_relative());
        let named = self.target_dir.clone().or(variable);
        options.target_dir = named.map(|path| std::path::absolute(&path).unwrap_or(path));
        match &program.choice {
            None => options.exe = Some(program.executable.clone()),
            Some(choice) => {
                options.package = Some(choice.package.clone());
                // Its sites must stay where they are, though it be measured later.
                options.no_profile |= !program.measured;
                options.manifest_path = Some(choice.manifest.clone());
                let is_example = choice.kind == TargetKind::Example;
                let target = Some(choice.target.clone());
                (options.bin, options.example) = if is_example {
                    (None, target)
                } else {
                    (target, None)
                };
            }
        }
        options
    }

    /// Whether these options and others, each [pinned](Self::pinned_to), may be of one program: a package may have moved, and of an
    /// executable nobody knows what it was made of.
    pub fn may_choose_the_same_as(&self, other: &Self) -> bool {
        let choice = |of: &Self| {
            let package = of.package.clone()?;
            Some((package, of.bin.clone(), of.example.clone()))
        };
        choice(self).is_none_or(|own| choice(other).is_none_or(|others| own == others))
    }

    /// These options, and for what they do not say those of an earlier build: which program it was, with which features and profile. An
    /// executable is not built, and another package has other features.
    #[must_use]
    pub fn and_as_in(mut self, before: &Self) -> Self {
        let is_another = |own: &Option<String>, other: &Option<String>| own.is_some() && own != other;
        if self.exe.is_some() || before.exe.is_some() || is_another(&self.package, &before.package) {
            return self;
        }
        let names_no_target = self.bin.is_none() && self.example.is_none();
        if names_no_target {
            (self.bin, self.example) = (before.bin.clone(), before.example.clone());
        }
        self.package = self.package.or_else(|| before.package.clone());
        self.manifest_path = self.manifest_path.or_else(|| before.manifest_path.clone());
        self.target_dir = self.target_dir.or_else(|| before.target_dir.clone());
        if self.features.is_empty() && !self.all_features && !self.no_default_features {
            self.features.clone_from(&before.features);
            self.all_features = before.all_features;
            self.no_default_features = before.no_default_features;
        }
        if !self.release && self.profile.is_none() {
            self.release = before.release;
            self.profile.clone_from(&before.profile);
        }
        self.locked |= before.locked;
        self.offline |= before.offline;
        self.recompute |= before.recompute;
        self.passed_on = self.passed_on.and_as_in(&before.passed_on);
        self
    }

    /// These options, where they are of a run on this machine. Those of one that came from elsewhere name folders that
    /// are not here: then it is the package of the current folder, built in the same way.
    pub fn on_this_machine(self) -> Self {
        let is_gone = |path: &Option<PathBuf>| path.as_ref().is_some_and(|path| !path.exists());
        if !is_gone(&self.manifest_path) && !is_gone(&self.exe) {
            return self;
        }
        CargoOptions {
            manifest_path: None,
            target_dir: None,
            exe: None,
            ..self
        }
    }

    /// The options that say how to build, as they are written on a command line.
    pub fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        let options = [
            ("--bin", &self.bin),
            ("--example", &self.example),
            ("--profile", &self.profile),
        ];
        for (name, value) in options {
            words.extend(value.iter().map(|value| format!("{name} {}", typed(value))));
        }
        words.extend(
            self.exe
                .iter()
                .map(|path| format!("--exe {}", typed(&path.to_string_lossy()))),
        );
        words.extend(
            self.features
                .iter()
                .map(|features| format!("--features {}", typed(features))),
        );
        for (name, on) in [
            ("--release", self.release),
            ("--all-features", self.all_features),
            ("--no-default-features", self.no_default_features),
            ("--recompute", self.recompute),
        ] {
            words.extend(on.then(|| name.to_owned()));
        }
        words.extend(self.passed_on.words());
        words
    }

    /// Whether cargo may not use the network.
    pub fn is_offline(&self) -> bool {
        self.offline || self.passed_on.frozen
    }

    /// What `cargo metadata` knows about the workspace, without its dependencies.
    pub fn metadata(&self) -> Outcome<Metadata> {
        let mut command = self.metadata_command()?;
        command.no_deps().other_options(self.passed_on.everywhere());
        command.exec().map_err(|error| self.metadata_failure(error))
    }

    /// What `cargo metadata` knows about the workspace and all that it depends on, for one target. A Cargo.lock that is
    /// up to date is followed without the network; otherwise cargo writes it as `cargo build` would.
    pub fn resolved_metadata(&self, target: &str) -> Outcome<Metadata> {
        let ask = |more: &[&str]| {
            let mut command = self.metadata_command()?;
            let mut words = self.feature_arguments();
            words.extend(self.passed_on.everywhere());
            words.extend(["--filter-platform", target].map(str::to_owned));
            words.extend(more.iter().map(|&word| word.to_owned()));
            Ok(command.other_options(words).exec())
        };
        if let Ok(found) = ask(&["--offline", "--locked"])? {
            return Ok(found);
        }
        let is_locked = self.locked || self.passed_on.frozen;
        let (order, last_resort): (&[&str], Option<&[&str]>) = match (self.is_offline(), is_locked) {
            (true, true) => (&["--offline", "--locked"], None),
            (true, false) => (&["--offline"], None),
            (false, true) => (&["--locked"], None),
            (false, false) => (&[], Some(&["--offline"])),
        };
        ask(order)?.or_else(|error| {
            let found = last_resort.map(ask).transpose()?.and_then(Result::ok);
            found.ok_or_else(|| self.metadata_failure(error))
        })
    }

    /// What clap cannot see.
    fn check(&self) -> Outcome<()> {
        match &self.profile {
            Some(name) if name.is_empty() => Err(Failure::usage(says!(
                "E3033: `--profile` wants the name of a profile"
            ))
            .help("for a run that measures the loops: `cargo ckpt plan --profile -- ARGS`")),
            Some(name) if self.release => Err(Failure::usage(says!(
                "E3034: `--release` and `--profile {name}` cannot be used together"
            ))),
            _ => Ok(()),
        }
    }

    fn metadata_command(&self) -> Outcome<MetadataCommand> {
        self.check()?;
        let mut command = MetadataCommand::new();
        if let Some(path) = &self.manifest_path {
            if !path.is_file() {
                return Err(
                    Failure::usage(says!("E3035: there is no manifest `{}`", path.display()))
                        .help("`--manifest-path` wants the path of a Cargo.toml"),
                );
            }
            command.manifest_path(path);
        }
        Ok(command)
    }

    /// The options that choose features, as cargo takes them.
    pub fn feature_arguments(&self) -> Vec<String> {
        let mut words = Vec::new();
        // In one word with its option: what begins with a dash must not become an option of its own.
        words.extend(
            self.features
                .iter()
                .map(|features| format!("--features={features}")),
        );
        words.extend(self.all_features.then(|| "--all-features".to_owned()));
        words.extend(
            self.no_default_features
                .then(|| "--no-default-features".to_owned()),
        );
        words
    }

    /// The profile that the program is built with.
    pub fn profile_name(&self) -> &str {
        match &self.profile {
            Some(name) => name,
            None if self.release => "release",
            None => "dev",
        }
    }

    fn metadata_failure(&self, error: cargo_metadata::Error) -> Failure {
        let folder = std::env::current_dir().unwrap_or_default();
        let unreadable = || {
            Failure::build(says!("E3037: cargo cannot read the package"))
                .help("mend what cargo says, in Cargo.toml or the options; `cargo metadata` asks it the same")
        };
        match error {
            cargo_metadata::Error::CargoMetadata { .. } if self.is_outside_of_packages(&folder) => {
                Failure::usage(says!("E3036: `{}` is not in a cargo package", folder.display())).help(
                    "go to the folder of the program's Cargo.toml, name it with `--manifest-path`,\nor start a built program with `--exe FILE`",
                )
            }
            cargo_metadata::Error::CargoMetadata { stderr } => {
                unreadable().because(error_of(&stderr).to_owned())
            }
            cargo_metadata::Error::Io(error) => Failure::start(says!("E3038: cannot start `cargo`"))
                .because(error)
                .help("`cargo ckpt doctor` says what is missing; `--exe FILE` starts a program that is built already"),
            other => unreadable().because(other),
        }
    }

    /// Whether cargo has no manifest: none is named, and none is in the folder or above it.
    fn is_outside_of_packages(&self, folder: &Path) -> bool {
        let mut folders = folder.ancestors();
        self.manifest_path.is_none() && !folders.any(|folder| folder.join("Cargo.toml").is_file())
    }

    /// The packages that the options mean.
    pub fn packages<'m>(&self, metadata: &'m Metadata) -> Outcome<Vec<&'m Package>> {
        candidate_packages(metadata, self)
    }

    /// Builds and insists on success; cargo shows what is wrong.
    pub fn cargo_build(
        &self,
        choice: &Choice,
        target_directory: &Path,
        show: &mut dyn FnMut(&Diagnostic),
    ) -> Outcome<Built> {
        let mut built = self.run_cargo_showing("build", choice, Diagnostics::Handed, show)?;
        if !built.success {
            built.print_messages();
            return Err(Failure::build(says!("E3039: `{}` does not build", choice.target))
                .help("cargo says why, above; nothing was started"));
        }
        built
            .library_folders
            .retain(|folder: &PathBuf| folder.starts_with(target_directory));
        Ok(built)
    }

    /// Runs `cargo build` or `cargo check` on the choice, with these options.
    pub fn run_cargo(&self, verb: &str, choice: &Choice, diagnostics: Diagnostics) -> Outcome<Built> {
        self.run_cargo_showing(verb, choice, diagnostics, &mut |_| {})
    }

    /// The same, with what is shown of a message of rustc that is handed on.
    fn run_cargo_showing(
        &self,
        verb: &str,
        choice: &Choice,
        diagnostics: Diagnostics,
        show: &mut dyn FnMut(&Diagnostic),
    ) -> Outcome<Built> {
        let is_handed = diagnostics == Diagnostics::Handed && !self.passed_on.says_how();
        let are_shown = !is_handed && diagnostics != Diagnostics::Kept;
        let format = self.passed_on.format_of_messages(are_shown);
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command
            .arg(verb)
            .arg(format)
            .args(self.cargo_arguments(choice))
            .stdout(Stdio::piped());
        if let Some(folder) = &self.build_dir {
            command.env(BUILD_DIRECTORY, folder);
        }
        if diagnostics == Diagnostics::Kept {
            progress::pipe(&mut command);
        }
        let mut child = command
            .spawn()
            .or_fail(|| Failure::start(says!("E3040: cannot start `cargo {verb}`")))?;
        let has_bar = self.builds_library && !self.quiet && self.passed_on.verbose == 0;
        let bar = has_bar.then(|| output::steps_bar("Building ckpt's library"));
        let shown = child.stderr.take().map(|said| progress::forward(said, bar));
        let mut built = Built::default();
        if let Some(stdout) = child.stdout.take() {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let mut messages = Message::parse_stream(line.as_bytes());
                let Some(Ok(message)) = messages.next() else {
                    continue;
                };
                if self.passed_on.prints_messages() {
                    built.messages.push(line.clone());
                }
                match message {
                    Message::CompilerArtifact(artifact)
                        if artifact.target.name == choice.target
                            && artifact.target.kind.contains(&choice.kind) =>
                    {
                        built.executable = artifact.executable.map(Into::into).or(built.executable);
                    }
                    Message::BuildScriptExecuted(script) => {
                        built.library_folders.extend(
                            script
                                .linked_paths
                                .iter()
                                .map(|path| native_folder(path.as_str())),
                        );
                        built.flags.insert(script.package_id, script.cfgs);
                    }
                    Message::CompilerMessage(message) => {
                        if is_handed {
                            show(&message.message);
                        }
                        built.diagnostics.push(message.message);
                    }
                    _ => {}
                }
            }
        }
        let status = child
            .wait()
            .or_fail(|| Failure::start(says!("E3021: cannot wait")))?;
        if let Some(shown) = shown {
            let _ = shown.join(); // it ends with cargo's stream and cannot fail otherwise
        }
        built.success = status.success();
        Ok(built)
    }

    fn cargo_arguments(&self, choice: &Choice) -> Vec<OsString> {
        let mut list: Vec<OsString> = Vec::new();
        // In one word with its option: what begins with a dash must not become an option of its own.
        let mut option = |name: &str, value: Option<OsString>| {
            if let Some(value) = value {
                let mut word = OsString::from(name);
                word.push("=");
                word.push(value);
                list.push(word);
            }
        };
        option("--package", Some(choice.package.clone().into()));
        let kind = if choice.kind == TargetKind::Example {
            "--example"
        } else {
            "--bin"
        };
        option(kind, Some(choice.target.clone().into()));
        option("--profile", self.profile.clone().map(Into::into));
        option("--manifest-path", self.manifest_path.clone().map(Into::into));
        option("--target-dir", self.target_dir.clone().map(Into::into));
        option("--jobs", self.jobs.clone().map(Into::into));
        for features in &self.features {
            option("--features", Some(features.into()));
        }
        let flags = [
            ("--release", self.release),
            ("--all-features", self.all_features),
            ("--no-default-features", self.no_default_features),
            ("--locked", self.locked),
            ("--offline", self.offline),
            ("--quiet", self.quiet),
        ];
        list.extend(
            flags
                .iter()
                .filter(|(_, on)| *on)
                .map(|(name, _)| OsString::from(name)),
        );
        list.extend(self.passed_on.for_build().into_iter().map(OsString::from));
        list
    }
}

impl Program {
    /// The program that cargo has built.
    pub fn of(choice: &Choice, built: Built) -> Outcome<Self> {
        Ok(Self {
            executable: built.executable.ok_or_else(|| no_executable(choice))?,
            name: choice.package.clone(),
            runner: None,
            choice: Some(choice.clone()),
            library_folders: built.library_folders,
            measured: built.measured,
            reaches_only: built.reaches_only,
            unseeded: built.unseeded,
            adds_in_blocks: built.adds_in_blocks,
            sites: built.sites,
        })
    }

    /// The same program, started by another one.
    #[must_use]
    pub fn started_by(self, runner: Option<Vec<OsString>>) -> Self {
        let runner = runner.filter(|words| !words.is_empty());
        Program { runner, ..self }
    }

    /// The executable, where another program starts it: the process that is started is then not that of the program.
    pub fn behind_runner(&self) -> Option<&Path> {
        self.runner.as_ref().map(|_| self.executable.as_path())
    }

    /// A command that starts the program as `cargo run` would.
    pub fn command(&self) -> Command {
        let mut command = match self.runner.as_deref() {
            Some([runner, arguments @ ..]) => {
                let mut command = Command::new(runner);
                command.args(arguments).arg(&self.executable);
                command
            }
            _ => Command::new(&self.executable),
        };
        if let Some(folder) = self.choice.as_ref().and_then(|choice| choice.manifest.parent()) {
            command
                .env("CARGO_MANIFEST_DIR", folder)
                .env("CARGO_PKG_NAME", &self.name);
        }
        if !self.library_folders.is_empty() {
            let variable = if cfg!(target_os = "macos") {
                "DYLD_FALLBACK_LIBRARY_PATH"
            } else {
                "LD_LIBRARY_PATH"
            };
            let inherited = std::env::var_os(variable).unwrap_or_default();
            let all = self
                .library_folders
                .iter()
                .cloned()
                .chain(std::env::split_paths(&inherited));
            if let Ok(joined) = std::env::join_paths(all) {
                command.env(variable, joined);
            }
        }
        command
    }
}

fn no_executable(choice: &Choice) -> Failure {
    Failure::build(says!(
        "E3042: cargo built `{}` but named no executable",
        choice.target
    ))
}

/// `native=/path` and `/path`, as build scripts print them.
fn native_folder(printed: &str) -> PathBuf {
    match printed.split_once('=') {
        Some((kind, path)) if !kind.contains('/') => path.into(),
        _ => printed.into(),
    }
}

fn executable_name(executable: &Path) -> String {
    executable
        .file_stem()
        .map_or_else(|| "program".into(), |stem| stem.to_string_lossy().into_owned())
}

impl Program {
    /// One that is built already.
    pub fn existing(executable: &Path) -> Outcome<Self> {
        let absolute = std::fs::canonicalize(executable).or_fail(|| {
            Failure::start(says!("E3020: cannot start `{}`", executable.display()))
                .help("`--exe` wants the path of a program that this machine can run")
        })?;
        let name = executable_name(&absolute);
        Ok(Program {
            executable: absolute,
            name,
            runner: None,
            choice: None,
            library_folders: Vec::new(),
            measured: false,
            reaches_only: None,
            unseeded: None,
            adds_in_blocks: None,
            sites: SitesOf::User,
        })
    }

    /// An executable that the user has named may be started as one with checkpoints; what is built here may have none, and says so.
    ///
    /// # Errors
    /// It was built without ckpt.
    pub fn has_checkpoints(&self) -> Outcome<()> {
        if self.choice.is_none() && is_without_ckpt(&self.executable) {
            return Err(Failure::refused(says!(
                "E3025: `{}` was built without ckpt: it takes no checkpoints and continues from none",
                self.executable.display()
            ))
            .because("a restart of it would start at the beginning, with the files that the run has left")
            .help("name the executable that `cargo ckpt run` has built (`launch.json` in the store has its path), or leave `--exe` out; a program that loads a library with sessions of its own is started by a script: `--exe start.sh`"));
        }
        Ok(())
    }
}

/// What stands in every program with checkpoints: the name of the variable that it is restarted by.
const MARK: &str = "CKPT_RESTART";

/// Whether a file is an executable of this system's own format in which there is nothing of ckpt. Of a script nobody knows what it
/// starts.
fn is_without_ckpt(executable: &Path) -> bool {
    let (Ok(bytes), Ok(mark)) = (std::fs::read(executable), regex::bytes::Regex::new(MARK)) else {
        return false;
    };
    bytes.starts_with(b"\x7fELF") && !mark.is_match(&bytes)
}

/// What cargo says is wrong, without what it says on the way there, as that it waits for another cargo.
pub(crate) fn error_of(stderr: &str) -> &str {
    const ERROR: &str = "error: ";
    let text = stderr.trim_start();
    let behind_others = || Some(text.split_once(&format!("\n{ERROR}"))?.1);
    let error = text.strip_prefix(ERROR).or_else(behind_others);
    error.unwrap_or(text).trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cargo_says_on_the_way_to_an_error_is_left_out() {
        let waits = "    Blocking waiting for file lock on package cache\nerror: no such file\n\nCaused by:\n  it is gone\n";
        assert_eq!(error_of(waits), "no such file\n\nCaused by:\n  it is gone");
        assert_eq!(error_of("it was ended\n"), "it was ended");
    }

    #[test]
    fn a_program_without_ckpt_is_told_from_one_with_it() {
        assert!(is_without_ckpt("/bin/true".as_ref()));
        assert!(!is_without_ckpt(&std::env::current_exe().unwrap()));
        assert!(!is_without_ckpt(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")
        ));
    }

    #[test]
    fn what_is_not_said_is_as_before() {
        let before = CargoOptions {
            package: Some("heat".into()),
            bin: Some("heat".into()),
            features: vec!["fast".into()],
            release: true,
            ..CargoOptions::default()
        };
        let given = |change: &dyn Fn(&mut CargoOptions)| {
            let mut options = CargoOptions::default();
            change(&mut options);
            options.and_as_in(&before)
        };
        assert_eq!(given(&|options| options.bin = Some("heat".into())), before);
        let moved = given(&|options| options.manifest_path = Some("/new/Cargo.toml".into()));
        assert_eq!((moved.bin, moved.release), (Some("heat".into()), true));
        let slow = given(&|options| options.no_default_features = true);
        assert!(slow.features.is_empty() && slow.release);
        let dev = given(&|options| options.profile = Some("dev".into()));
        assert!(!dev.release && dev.features == ["fast"]);
        let other = given(&|options| options.package = Some("other".into()));
        assert_eq!((other.bin, other.features.len()), (None, 0));
    }

    #[test]
    fn a_run_from_elsewhere_is_built_from_the_package_here_in_the_same_way() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let options = |manifest_path: PathBuf| CargoOptions {
            manifest_path: Some(manifest_path),
            target_dir: Some("/home/anna/target".into()),
            release: true,
            ..CargoOptions::default()
        };
        let stays = options(here.clone()).on_this_machine();
        assert_eq!(stays.manifest_path, Some(here));
        let moved = options("/home/anna/heat/Cargo.toml".into()).on_this_machine();
        assert_eq!((moved.manifest_path, moved.target_dir), (None, None));
        assert!(moved.release);
    }

    #[test]
    fn a_folder_of_results_is_the_same_from_any_working_folder() {
        let here = std::env::current_dir().unwrap();
        let program = Program {
            executable: "/somewhere/heat".into(),
            ..Program::existing(&std::env::current_exe().unwrap()).unwrap()
        };
        let pinned = |named: Option<&str>, variable: Option<&str>| {
            let options = CargoOptions {
                target_dir: named.map(Into::into),
                ..CargoOptions::default()
            };
            options.pinned_with(&program, variable.map(Into::into)).target_dir
        };
        assert_eq!(pinned(None, None), None);
        assert_eq!(
            pinned(None, Some("/elsewhere")),
            None,
            "it is the same everywhere"
        );
        assert_eq!(pinned(None, Some("results")), Some(here.join("results")));
        assert_eq!(pinned(Some("named"), Some("results")), Some(here.join("named")));
    }
}
