//! A page as a list of steps. Comments, which readers do not see, say what a test has to know beside what the page shows:
//!
//! ```text
//! <!-- console: not run: WHY -->          the next block
//! <!-- console: newcomer: WHY -->         the next block: a newcomer only
//! <!-- console: set up: COMMAND -->       runs it before
//! <!-- console: killed at visit:30: COMMAND -->  runs it before, and it dies there
//! <!-- console: file: PATH -->            the next block is written to this file
//! <!-- console: says: COMMAND -->         the next block is what this command prints
//! <!-- console: fault: visit:30 -->       the first command of the next block dies there
//! <!-- console: ends with: 1 0 -->        the exit codes of the next block's commands, if not 0
//! <!-- console: set: NAME=VALUE -->       a variable from here on
//! <!-- console: put: A => B -->           from here on, B stands where the page says A, in commands and in what they print
//! ```
//!
//! A newcomer (`tests/newcomer`) does what the page says: without the `put`s, and what dies is killed from elsewhere.

#![allow(
    dead_code,
    reason = "each of the tests that read pages looks at something else"
)]

/// What a page has somebody do, in order.
#[derive(Debug)]
pub enum Step {
    /// Nothing that the page shows.
    SetUp(String),
    /// Nor this, which dies there.
    Killed {
        command: String,
        fault: String,
    },
    Set(String),
    Write {
        path: String,
        text: String,
    },
    Run {
        line: usize,
        text: String,
        fault: Option<String>,
        codes: Vec<i32>,
    },
    Says {
        line: usize,
        command: String,
        text: String,
    },
    NotRun {
        line: usize,
        why: String,
    },
    Newcomer {
        line: usize,
        text: String,
    },
    /// A block in a language that this is not about.
    Other {
        language: String,
    },
}

/// What the comments before a block say of it.
#[derive(Default)]
struct Notes {
    not_run: Option<String>,
    newcomer: bool,
    file: Option<String>,
    says: Option<String>,
    fault: Option<String>,
    codes: Vec<i32>,
}

#[derive(Default)]
struct Reader {
    notes: Notes,
    puts: Vec<(String, String)>,
    puts_are_taken: bool,
    steps: Vec<Step>,
}

/// What is done to look at a page: something shorter where the comments say so.
pub fn steps(page: &str) -> Vec<Step> {
    let mut reader = Reader {
        puts_are_taken: true,
        ..Reader::default()
    };
    // Built without optimisation: the runs are short.
    reader.puts.push((" --release".into(), String::new()));
    reader.read(page)
}

/// What the page itself says.
pub fn steps_as_written(page: &str) -> Vec<Step> {
    Reader::default().read(page)
}

impl Reader {
    fn read(mut self, page: &str) -> Vec<Step> {
        let reader = &mut self;
        let mut lines = page.lines().enumerate();
        while let Some((at, line)) = lines.next() {
            let line = line.trim();
            if let Some(comment) = line.strip_prefix("<!-- console: ") {
                let words = comment.strip_suffix(" -->").expect("a comment of one line");
                reader.comment(words);
            } else if let Some(language) = line.strip_prefix("```") {
                let inside = lines.by_ref().map(|(_, line)| line);
                let inside: Vec<&str> = inside.take_while(|line| line.trim() != "```").collect();
                reader.block(at + 1, language, &inside);
            }
        }
        self.steps
    }

    fn comment(&mut self, words: &str) {
        let (kind, rest) = words.split_once(": ").unwrap_or_else(|| panic!("{words}"));
        let rest = rest.to_owned();
        match kind {
            "not run" => self.notes.not_run = Some(rest),
            "newcomer" => self.notes.newcomer = true,
            "file" => self.notes.file = Some(rest),
            "says" => self.notes.says = Some(rest),
            "fault" => self.notes.fault = Some(rest),
            "ends with" => self.notes.codes = rest.split(' ').map(|code| code.parse().unwrap()).collect(),
            "set" => self.steps.push(Step::Set(rest)),
            "set up" => self.steps.push(Step::SetUp(rest)),
            _ if kind.starts_with("killed at ") => {
                let (fault, command) = words["killed at ".len()..].split_once(": ").expect("a command");
                let command = self.put(command);
                let fault = fault.to_owned();
                self.steps.push(Step::Killed { command, fault });
            }
            "put" if !self.puts_are_taken => {}
            "put" => {
                let (shown, real) = rest.split_once(" =>").unwrap_or_else(|| panic!("{words}"));
                self.puts.push((shown.to_owned(), real.trim_start().to_owned()));
            }
            _ => panic!("no such comment: {words}"),
        }
    }

    fn block(&mut self, line: usize, language: &str, inside: &[&str]) {
        let notes = std::mem::take(&mut self.notes);
        let is_rust = language.starts_with("rust");
        let text = inside.iter().map(
            |line| match line.strip_prefix("# ").or((*line == "#").then_some("")) {
                Some(hidden) if is_rust => format!("{hidden}\n"),
                _ => format!("{line}\n"),
            },
        );
        let text = text.collect::<String>();
        let put = |text: &str| self.put(text);
        let step = match (notes, language) {
            (Notes { newcomer: true, .. }, _) => Step::Newcomer { line, text },
            (
                Notes {
                    not_run: Some(why), ..
                },
                _,
            ) => Step::NotRun { line, why },
            (Notes { file: Some(path), .. }, _) => Step::Write { path, text },
            (
                Notes {
                    says: Some(command), ..
                },
                _,
            ) => Step::Says {
                line,
                command,
                text: put(&text),
            },
            (Notes { fault, codes, .. }, "console" | "sh") => Step::Run {
                line,
                text: put(&text),
                fault,
                codes,
            },
            (_, language) => Step::Other {
                language: language.to_owned(),
            },
        };
        self.steps.push(step);
    }

    fn put(&self, text: &str) -> String {
        let puts = self.puts.iter();
        puts.fold(text.to_owned(), |text, (shown, real)| text.replace(shown, real))
    }
}

/// The commands of a block, each with the folder that its prompt names and what is shown of its output.
pub fn commands(text: &str) -> Vec<(&str, &str, String)> {
    let mut commands: Vec<(&str, &str, String)> = Vec::new();
    for line in text.lines() {
        let prompt = line
            .split_once("$ ")
            .filter(|(folder, _)| ["", "here", "there"].contains(folder));
        match (prompt, commands.last_mut()) {
            (Some((folder, command)), _) => {
                let folder = if folder.is_empty() { "here" } else { folder };
                commands.push((folder, command, String::new()));
            }
            (None, Some((_, _, shown))) => *shown += &format!("{line}\n"),
            (None, None) => {}
        }
    }
    commands
}
