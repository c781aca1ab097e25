//! The pages of the book do what they say: the commands of their blocks run in order, in a folder of their own, and print
//! what the page shows. `page` says how a page tells what is not to be run, and `compare` what counts as the same.

mod compare;
mod page;
#[path = "../../../tests/harness/src/profile.rs"]
mod profile;
#[path = "../../../tests/harness/src/sweep.rs"]
mod sweep;

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use page::{Step, commands, steps};

fn root() -> PathBuf {
    fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).unwrap()
}

fn read(page: &str) -> String {
    fs::read_to_string(root().join(page)).unwrap()
}

/// Where the commands of a page run.
struct Place {
    folder: tempfile::TempDir,
    page: &'static str,
    host: String,
    /// Settings of variables in front of each command.
    sets: String,
}

/// How long a command may take: some build packages.
const TOO_LONG: &str = "600";

impl Place {
    fn new(page: &'static str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        Self {
            folder,
            page,
            host: host.trim().to_owned(),
            sets: String::new(),
        }
    }

    /// Standard output and error as they come, and how it ended.
    fn run(&self, subfolder: &str, script: &str, fault: Option<&str>) -> (String, Option<i32>) {
        let folder = self.folder.path().join(subfolder);
        fs::create_dir_all(&folder).unwrap();
        let (mut reader, writer) = std::io::pipe().unwrap();
        let tool = Path::new(env!("CARGO_BIN_EXE_cargo-ckpt")).parent().unwrap();
        let path = format!("{}:{}", tool.display(), std::env::var("PATH").unwrap());
        let mut command = Command::new("timeout");
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("CKPT_")) {
            command.env_remove(name);
        }
        command
            .args([TOO_LONG, "bash", "-euc", &format!("{}{script}", self.sets)])
            .current_dir(folder)
            .env("PATH", path)
            .env("ROOT", root())
            // The dependencies are built once for all tests of packages.
            .env(
                "CARGO_TARGET_DIR",
                Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs"),
            )
            .env(
                "WORKSPACE",
                Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap(),
            )
            .envs(profile::PROFILE)
            .env("CARGO_NET_OFFLINE", "true")
            .env("CARGO_TERM_QUIET", "true")
            .env("CKPT_RUNTIME_PATH", root().join("ckpt-runtime"))
            .envs(fault.map(|fault| ("CKPT_FAULT", fault)))
            .stdin(std::process::Stdio::null())
            .stdout(writer.try_clone().unwrap())
            .stderr(writer);
        let mut child = command.spawn().unwrap();
        drop(command);
        let mut said = Vec::new();
        reader.read_to_end(&mut said).unwrap();
        let said = String::from_utf8_lossy(&said).into_owned();
        (said, child.wait().unwrap().code())
    }

    fn succeeds(&self, line: usize, script: &str, fault: Option<&str>) {
        let (said, code) = self.run("here", script, fault);
        assert_eq!(code, Some(0), "{}:{line}: {script}\n{said}", self.page);
    }

    fn compare(&self, line: usize, command: &str, shown: &str, printed: &str) {
        if let Some(difference) = compare::difference(shown, printed, &self.host) {
            panic!(
                "{}:{line}: `{command}`\n{difference}\nall of it:\n{printed}",
                self.page
            );
        }
    }

    /// A block with prompts shows what is printed; one without has commands only.
    fn block(&self, line: usize, text: &str, fault: Option<&str>, codes: &[i32]) {
        let commands = commands(text);
        if commands.is_empty() {
            let codes = codes.iter().chain(std::iter::repeat(&0));
            let lines = text.lines().zip(codes).map(|(line, code)| match code {
                0 => format!("{line}\n"),
                code => format!("{{ {line}\n}} || [ $? = {code} ]\n"),
            });
            return self.succeeds(line, &lines.collect::<String>(), fault);
        }
        for (index, (folder, command, shown)) in commands.iter().enumerate() {
            let (printed, code) = self.run(folder, command, fault.filter(|_| index == 0));
            match shown.trim().is_empty() {
                true => assert_eq!(code, Some(0), "{}:{line}: {command}\n{printed}", self.page),
                false => self.compare(line, command, shown, &printed),
            }
        }
    }
}

/// The programs of several pages have one name and are built in one folder: the one that a page has built must still be
/// there when it is run, and run again.
static HEAT: Mutex<()> = Mutex::new(());

fn does_what_it_says(page: &'static str) {
    let text = read(page);
    let of_heat = text.contains("consoles/heat") || text.contains("examples/heat");
    let _turn = of_heat.then(|| HEAT.lock().unwrap_or_else(PoisonError::into_inner));
    let mut place = Place::new(page);
    for step in steps(&text) {
        match step {
            Step::SetUp(command) => place.succeeds(0, &command, None),
            Step::Set(set) => place.sets += &format!("export {set}; "),
            Step::Write { path, text } => {
                let path = place.folder.path().join("here").join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            Step::Run {
                line,
                text,
                fault,
                codes,
            } => place.block(line, &text, fault.as_deref(), &codes),
            Step::Says { line, command, text } => {
                let (printed, _) = place.run("here", &command, None);
                place.compare(line, &command, &text, &printed);
            }
            Step::Killed { command, fault } => {
                let (said, code) = place.run("here", &command, Some(&fault));
                assert_eq!(code, Some(137), "{page}: {command}\n{said}");
            }
            Step::NotRun { .. } | Step::Newcomer { .. } | Step::Other { .. } => {}
        }
    }
}

/// Pages that are always tried, and those that `SWEEPS=all` adds.
macro_rules! pages {
    (always { $($name:ident = $path:literal;)* } in_sweeps { $($more:ident = $other:literal;)* }) => {
        const PAGES: &[&str] = &[$($path,)* $($other),*];
        $(
            #[test]
            fn $name() {
                does_what_it_says($path);
            }
        )*
        $(
            #[test]
            fn $more() {
                if sweep::is_all_swept() {
                    does_what_it_says($other);
                }
            }
        )*
    };
}

pages! {
    always {
        the_readme = "README.md";
        the_page_on_commands = "docs/src/commands.md";
        the_page_on_unmodified_programs = "docs/src/unmodified.md";
        the_tutorial = "docs/src/tutorial.md";
    }
    in_sweeps {
        the_page_on_batch_systems = "docs/src/batch.md";
        the_page_on_configuration = "docs/src/configuration.md";
        the_page_on_machines = "docs/src/machines.md";
        the_page_on_rolling_back = "docs/src/rollback.md";
        the_page_on_soft_errors = "docs/src/soft-errors.md";
    }
}

/// Blocks that only say what somebody could do, elsewhere: they are counted, so that they do not become more unnoticed.
const NOT_RUN: usize = 27;

#[test]
fn every_block_is_run_or_says_why_not() {
    let folder = fs::read_dir(root().join("docs/src")).unwrap();
    let names = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let pages = names
        .filter(|name| name.ends_with(".md"))
        .map(|name| format!("docs/src/{name}"));
    let pages = pages.chain(["README.md", "CONTRIBUTING.md"].map(str::to_owned));
    let (mut run, mut not_run) = (0, Vec::new());
    let mut unknown = BTreeSet::new();
    for page in pages {
        for step in steps(&read(&page)) {
            match step {
                Step::SetUp(_) | Step::Set(_) | Step::Killed { .. } => {}
                Step::Newcomer { line, .. } => {
                    assert_eq!(page, "docs/src/tutorial.md", "line {line}: no newcomer reads it");
                }
                Step::Run { line, .. } | Step::Says { line, .. } => {
                    run += 1;
                    assert!(PAGES.contains(&page.as_str()), "{page}:{line} is run by no test");
                }
                Step::Write { .. } => run += 1,
                Step::NotRun { line, why } => not_run.push(format!("{page}:{line}: {why}")),
                // rustc compiles Rust, `machines/tests` runs Python, text is for people.
                Step::Other { language } => {
                    unknown.extend((!is_looked_at(&language)).then(|| format!("{page}: {language}")));
                }
            }
        }
    }
    assert!(unknown.is_empty(), "nothing compiles or runs these: {unknown:?}");
    assert!(run > 40, "{run}");
    assert_eq!(not_run.len(), NOT_RUN, "not run:\n{}", not_run.join("\n"));
}

fn is_looked_at(language: &str) -> bool {
    ["rust", "python", "text"]
        .iter()
        .any(|known| language.starts_with(known))
}
