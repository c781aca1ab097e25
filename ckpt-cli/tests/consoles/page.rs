//! A page as a list of steps. Comments, which readers do not see, say what a test has to know beside what the page shows:
//!
//! ```text
//! <!-- console: not run: WHY -->          the next block
//! <!-- console: set up: COMMAND -->       runs it before
//! <!-- console: file: PATH -->            the next block is written to this file
//! <!-- console: says: COMMAND -->         the next block is what this command prints
//! <!-- console: fault: visit:30 -->       the first command of the next block dies there
//! <!-- console: ends with: 1 0 -->        the exit codes of the next block's commands, if not 0
//! <!-- console: set: NAME=VALUE -->       a variable from here on
//! <!-- console: put: A => B -->           from here on, B stands where the page says A, in commands and in what they print
//! ```

/// What a page has somebody do, in order.
#[derive(Debug)]
pub enum Step {
    /// Nothing that the page shows.
    SetUp(String),
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
    /// A block in a language that this is not about.
    Other {
        language: String,
    },
}

/// What the comments before a block say of it.
#[derive(Default)]
struct Notes {
    not_run: Option<String>,
    file: Option<String>,
    says: Option<String>,
    fault: Option<String>,
    codes: Vec<i32>,
}

#[derive(Default)]
struct Reader {
    notes: Notes,
    puts: Vec<(String, String)>,
    steps: Vec<Step>,
}

pub fn steps(page: &str) -> Vec<Step> {
    let mut reader = Reader::default();
    // Built without optimisation: the runs are short.
    reader.puts.push((" --release".into(), String::new()));
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
    reader.steps
}

impl Reader {
    fn comment(&mut self, words: &str) {
        let (kind, rest) = words.split_once(": ").unwrap_or_else(|| panic!("{words}"));
        let rest = rest.to_owned();
        match kind {
            "not run" => self.notes.not_run = Some(rest),
            "file" => self.notes.file = Some(rest),
            "says" => self.notes.says = Some(rest),
            "fault" => self.notes.fault = Some(rest),
            "ends with" => self.notes.codes = rest.split(' ').map(|code| code.parse().unwrap()).collect(),
            "set" => self.steps.push(Step::Set(rest)),
            "set up" => self.steps.push(Step::SetUp(rest)),
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
        let put = |text: &str| {
            let puts = self.puts.iter();
            puts.fold(text.to_owned(), |text, (shown, real)| text.replace(shown, real))
        };
        self.steps.push(match (notes, language) {
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
        });
    }
}
