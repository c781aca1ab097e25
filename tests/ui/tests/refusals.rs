//! Every case must be refused, with exactly the messages that stand beside it.
//!
//! `CKPT_BLESS=1 cargo test -p ui` writes down what is said now. Only messages, places and notes are compared, not how
//! rustc draws them; what rustc adds about other types and bounds is left out.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, ExitCode};

/// Notes that rustc adds of its own accord begin so.
const NOISE: [&str; 9] = [
    "the following other types",
    "the trait `",
    "required by a bound",
    "required for",
    "required by this bound",
    "consider",
    "this error originates",
    "the full name for the type",
    "the full type name",
];

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let filters: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let chosen = |name: &String| filters.is_empty() || filters.iter().any(|f| name.contains(f.as_str()));
    let cases: Vec<String> = names(&root.join("cases")).into_iter().filter(chosen).collect();
    let said = match said_of(root, &cases) {
        Ok(said) => said,
        Err(error) => {
            println!("{error}");
            return ExitCode::FAILURE;
        }
    };
    let failed = cases
        .iter()
        .filter(|case| !is_as_expected(root, case, said.get(*case)))
        .count();
    println!("{} cases, {failed} failed", cases.len());
    if failed == 0 && !cases.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("the folder of cases can be read");
    let paths = entries.flatten().map(|entry| entry.path());
    let rust = paths.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    let mut names: Vec<String> = rust
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_string()))
        .collect();
    names.sort();
    names
}

fn is_as_expected(root: &Path, case: &str, said: Option<&String>) -> bool {
    let Some(said) = said else {
        println!("{case}: is accepted");
        return false;
    };
    let path = root.join("cases").join(format!("{case}.txt"));
    if std::env::var_os("CKPT_BLESS").is_some() {
        std::fs::write(&path, said).expect("an expectation can be written");
        return true;
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    if let Some(difference) = harness::Difference::between(expected.as_bytes(), said.as_bytes()) {
        println!("{case}: {difference}\n  whole:\n{said}");
        return false;
    }
    true
}

/// Compiles every case as a binary of one package; what is said of each that fails.
fn said_of(root: &Path, cases: &[String]) -> std::io::Result<BTreeMap<String, String>> {
    let folder = harness::scratch_directory();
    let workspace = root.join("../..");
    std::fs::create_dir(folder.path().join("src"))?;
    std::fs::write(folder.path().join("Cargo.toml"), manifest(&workspace, cases))?;
    std::fs::copy(workspace.join("Cargo.lock"), folder.path().join("Cargo.lock"))?;
    for case in cases {
        let file = format!("{case}.rs");
        std::fs::copy(
            root.join("cases").join(&file),
            folder.path().join("src").join(&file),
        )?;
    }
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["build", "--offline", "--keep-going", "--message-format=json"])
        .current_dir(folder.path())
        .env(
            "CARGO_TARGET_DIR",
            Path::new(env!("CARGO_TARGET_TMPDIR")).join("generated"),
        )
        .output()?;
    let mut said: BTreeMap<String, String> = BTreeMap::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        if let Some((case, text)) = message(line) {
            let known: &mut String = said.entry(case).or_default();
            if !known.contains(&text) {
                *known += &text;
            }
        }
    }
    if said.is_empty() && !cases.is_empty() {
        return Err(std::io::Error::other(
            String::from_utf8_lossy(&output.stderr).into_owned(),
        ));
    }
    Ok(said)
}

fn manifest(workspace: &Path, cases: &[String]) -> String {
    let root = workspace.display();
    let mut text = format!(
        "[package]\nname = \"cases\"\nversion = \"0.1.0\"\nedition = \"2024\"\nautobins = false\n\n\
         [dependencies]\nckpt = {{ path = \"{root}/ckpt-runtime\", package = \"ckpt-runtime\" }}\n\n\
         [profile.dev]\ndebug = 1\n\n[workspace]\n"
    );
    for case in cases {
        text += &format!("\n[[bin]]\nname = \"{case}\"\npath = \"src/{case}.rs\"\n");
    }
    text
}

/// The case that a line of cargo's stream is about, and the error in it as it is compared.
fn message(line: &str) -> Option<(String, String)> {
    let entry: Value = serde_json::from_str(line).ok()?;
    let case = entry.get("target")?.get("name")?.as_str()?.to_string();
    let message = entry.get("message")?;
    let spans = message.get("spans")?.as_array()?;
    if message.get("level")?.as_str()? != "error" || spans.is_empty() {
        return None;
    }
    let mut text = format!("error{}: {}\n", place(spans), message.get("message")?.as_str()?);
    let labels = spans.iter().filter_map(|span| span.get("label")?.as_str());
    labels.for_each(|label| text += &format!("  label: {label}\n"));
    for child in message.get("children")?.as_array()? {
        let note = child.get("message")?.as_str()?;
        if !NOISE.iter().any(|noise| note.starts_with(noise)) {
            text += &format!("  {}: {note}\n", child.get("level")?.as_str()?);
        }
    }
    Some((case, text))
}

/// Line and column of the first primary span, where the user wrote what it was expanded from.
fn place(spans: &[Value]) -> String {
    let mut span = spans
        .iter()
        .find(|span| span.get("is_primary").and_then(Value::as_bool) == Some(true));
    let own = |span: &Value| {
        span.get("file_name")
            .and_then(Value::as_str)
            .is_some_and(|file| file.starts_with("src/"))
    };
    while let Some(outer) = span
        .filter(|span| !own(span))
        .and_then(|span| span.get("expansion")?.get("span"))
    {
        span = Some(outer);
    }
    let number = |name| {
        span.and_then(|span| span.get(name))
            .and_then(Value::as_u64)
            .unwrap_or(0)
    };
    format!(" {}:{}", number("line_start"), number("column_start"))
}
