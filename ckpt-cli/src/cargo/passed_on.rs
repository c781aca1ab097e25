//! Options that ckpt has no use for itself: cargo gets them wherever it builds, or is asked about, the package or its copy.

use std::path::{Path, PathBuf};

use clap::ArgAction;
use serde::{Deserialize, Serialize};

/// As cargo has them.
#[derive(Debug, Clone, Default, PartialEq, clap::Args, Serialize, Deserialize)]
#[command(next_help_heading = "Cargo options")]
#[serde(default)]
pub struct PassedOn {
    /// Build for this target, whose programs this machine can run
    #[arg(long, value_name = "TRIPLE")]
    pub target: Option<String>,
    /// As `--locked` and `--offline` together
    #[arg(long)]
    pub frozen: bool,
    /// Build as much as possible where something does not build
    #[arg(long)]
    pub keep_going: bool,
    /// A setting of cargo, KEY=VALUE, or a file with settings
    #[arg(long, value_name = "KEY=VALUE|PATH")]
    pub config: Vec<String>,
    /// A feature of cargo that is not stable, with its nightly versions
    #[arg(short = 'Z', value_name = "FLAG")]
    pub unstable: Vec<String>,
    /// How cargo writes messages of rustc; with `json`, `run`, `restart` and `crashtest` print all that cargo says of the build
    #[arg(long, value_name = "FORMAT", value_enum, value_delimiter = ',')]
    #[serde(skip)]
    pub message_format: Vec<MessageFormat>,
    /// Show what cargo starts, and of `crashtest` every trial; twice: cargo says even more
    #[arg(short, long, action = ArgAction::Count, conflicts_with = "quiet")]
    #[serde(skip)]
    pub verbose: u8,
}

/// The forms of cargo's messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum MessageFormat {
    Human,
    Short,
    Json,
    JsonDiagnosticShort,
    JsonDiagnosticRenderedAnsi,
    JsonRenderDiagnostics,
}

impl PassedOn {
    /// What cargo takes with whatever it is asked to do. An option and its value are one word: what begins with a dash must not
    /// become an option of its own.
    pub fn everywhere(&self) -> Vec<String> {
        let config = self.config.iter().map(|setting| format!("--config={setting}"));
        let unstable = self.unstable.iter().map(|feature| format!("-Z{feature}"));
        config.chain(unstable).collect()
    }

    /// What it takes where it builds.
    pub fn for_build(&self) -> Vec<String> {
        let mut words = self.everywhere();
        words.extend(self.target.iter().map(|target| format!("--target={target}")));
        words.extend(self.frozen.then(|| "--frozen".into()));
        words.extend(self.keep_going.then(|| "--keep-going".into()));
        words.extend((0..self.verbose).map(|_| "--verbose".into()));
        words
    }

    /// What decides about the program, as it is written on a command line.
    pub fn words(&self) -> Vec<String> {
        let target = self
            .target
            .iter()
            .map(|target| format!("--target {}", typed(target)));
        let config = self
            .config
            .iter()
            .map(|setting| format!("--config {}", typed(setting)));
        let unstable = self
            .unstable
            .iter()
            .map(|feature| format!("-Z {}", typed(feature)));
        target.chain(config).chain(unstable).collect()
    }

    /// The files among the settings.
    pub fn settings_files(&self) -> impl Iterator<Item = &Path> {
        self.config.iter().map(Path::new).filter(|path| path.is_file())
    }

    /// The same from any working folder.
    #[must_use]
    pub fn pinned(mut self) -> Self {
        let absolute = |text: &str| Some(std::path::absolute(text).ok()?.to_str()?.to_owned());
        let is_file = |text: &str| Path::new(text).is_file();
        for text in self.config.iter_mut().filter(|text| is_file(text)) {
            *text = absolute(text).unwrap_or_else(|| text.clone());
        }
        // One that is described by a file.
        for text in self.target.iter_mut().filter(|text| is_file(text)) {
            *text = absolute(text).unwrap_or_else(|| text.clone());
        }
        self
    }

    /// These options, and for what they do not say those of an earlier build.
    #[must_use]
    pub fn and_as_in(mut self, before: &Self) -> Self {
        self.target = self.target.or_else(|| before.target.clone());
        if self.config.is_empty() {
            self.config.clone_from(&before.config);
        }
        if self.unstable.is_empty() {
            self.unstable.clone_from(&before.unstable);
        }
        self.frozen |= before.frozen;
        self.keep_going |= before.keep_going;
        self
    }

    /// What is said of how the messages of a build are shown; the rest is as in another.
    #[must_use]
    pub fn saying_as(self, other: &Self) -> Self {
        PassedOn {
            verbose: other.verbose,
            message_format: other.message_format.clone(),
            ..self
        }
    }

    /// What cargo is told about messages which ckpt reads, and which rustc's are kept of or shown by cargo.
    pub fn format_of_messages(&self, are_shown: bool) -> String {
        let is_asked = |one: MessageFormat| self.message_format.contains(&one);
        let is_short = is_asked(MessageFormat::Short) || is_asked(MessageFormat::JsonDiagnosticShort);
        let is_shown =
            are_shown && (!self.prints_messages() || is_asked(MessageFormat::JsonRenderDiagnostics));
        let kind = match (is_shown, is_short) {
            (true, true) => "json-render-diagnostics,json-diagnostic-short",
            (true, false) => "json-render-diagnostics",
            (false, true) => "json-diagnostic-short",
            (false, false) if are_shown => "json",
            (false, false) => "json-diagnostic-rendered-ansi",
        };
        format!("--message-format={kind}")
    }

    /// Whether the user has said how messages are shown.
    pub fn says_how(&self) -> bool {
        !self.message_format.is_empty()
    }

    /// Whether all that cargo says of a build is printed.
    pub fn prints_messages(&self) -> bool {
        let is_json = |one: &MessageFormat| !matches!(one, MessageFormat::Human | MessageFormat::Short);
        self.message_format.iter().any(is_json)
    }
}

/// As a shell takes it.
pub fn typed(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| format!("{word:?}"), Into::into)
}

/// The settings of a command line that stand in a file, with that file's path, or in the word itself.
pub fn settings_of(word: &str) -> (PathBuf, Result<String, std::io::Error>) {
    let path = Path::new(word);
    match path.is_file() {
        true => (path.to_path_buf(), std::fs::read_to_string(path)),
        false => (PathBuf::from("--config"), Ok(word.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cargo_is_given_and_what_is_shown_of_it() {
        let options = PassedOn {
            target: Some("x-y".into()),
            frozen: true,
            config: vec!["build.rustflags=[\"--cfg\", \"a\"]".into()],
            unstable: vec!["build-std".into()],
            keep_going: true,
            verbose: 2,
            message_format: Vec::new(),
        };
        assert_eq!(
            options.for_build(),
            [
                "--config=build.rustflags=[\"--cfg\", \"a\"]",
                "-Zbuild-std",
                "--target=x-y",
                "--frozen",
                "--keep-going",
                "--verbose",
                "--verbose"
            ]
        );
        let words = options.words().join(" ");
        assert_eq!(
            shlex::split(&words).expect("a command line"),
            [
                "--target",
                "x-y",
                "--config",
                "build.rustflags=[\"--cfg\", \"a\"]",
                "-Z",
                "build-std"
            ]
        );
    }

    #[test]
    fn messages_are_in_the_form_that_was_asked_for() {
        let format = |asked: &[MessageFormat], are_shown| {
            let options = PassedOn {
                message_format: asked.to_vec(),
                ..PassedOn::default()
            };
            let said = options.format_of_messages(are_shown);
            said.strip_prefix("--message-format=")
                .expect("an option")
                .to_owned()
        };
        assert_eq!(format(&[], true), "json-render-diagnostics");
        assert_eq!(format(&[], false), "json-diagnostic-rendered-ansi");
        assert_eq!(
            format(&[MessageFormat::Short], true),
            "json-render-diagnostics,json-diagnostic-short"
        );
        assert_eq!(format(&[MessageFormat::Json], true), "json");
        assert_eq!(
            format(&[MessageFormat::JsonRenderDiagnostics], true),
            "json-render-diagnostics"
        );
        assert_eq!(
            format(&[MessageFormat::JsonDiagnosticShort], false),
            "json-diagnostic-short"
        );
    }

    #[test]
    fn a_restart_builds_as_before_and_speaks_as_now() {
        let before = PassedOn {
            target: Some("x-y".into()),
            config: vec!["a=1".into()],
            ..PassedOn::default()
        };
        let now = PassedOn {
            config: vec!["a=2".into()],
            verbose: 1,
            ..PassedOn::default()
        };
        let both = now.clone().and_as_in(&before);
        assert_eq!(
            (both.target.as_deref(), both.config, both.verbose),
            (Some("x-y"), vec!["a=2".to_owned()], 1)
        );
        assert_eq!(before.saying_as(&now).verbose, 1);
    }
}
