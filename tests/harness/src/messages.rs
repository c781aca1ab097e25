//! The words of messages, noted beside the tests that provoke them: a test gives what a process printed on standard error,
//! and every message in it has to be in the file of noted ones, all lines of it. What is another each time (numbers, hosts,
//! folders) is not compared. `CKPT_BLESS=1` notes what is new.
//!
//! Tests of crates that are published include this file by its path.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Mutex;

/// One test at a time writes.
static WRITING: Mutex<()> = Mutex::new(());

/// Those that depend on how fast the machine is, or on what its kernel can do, may come at any time.
const BY_CHANCE: [&str; 6] = ["W2002", "W2004", "W2005", "W2006", "W2011", "W2012"];

/// Compares the messages of a process with those that are noted.
///
/// # Panics
/// If one is not there.
#[track_caller]
pub fn compare(noted: &Path, stderr: &str) {
    let is_blessed = std::env::var_os("CKPT_BLESS").is_some();
    let _alone = WRITING.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let text = fs::read_to_string(noted).unwrap_or_default();
    let mut known: BTreeSet<String> = text.split_terminator("\n\n").map(str::to_owned).collect();
    let before = known.len();
    for message in messages(stderr) {
        if !is_blessed {
            let by_chance = BY_CHANCE.iter().any(|code| message.contains(code));
            assert!(
                by_chance || known.contains(&message),
                "not in {}; `CKPT_BLESS=1` notes it:\n{message}\nmade of:\n{stderr}",
                noted.display()
            );
        }
        known.insert(message);
    }
    if is_blessed && known.len() > before {
        let text: String = known.iter().map(|message| format!("{message}\n\n")).collect();
        fs::write(noted, text).expect("messages can be noted");
    }
}

/// The messages in what was printed: a line with a code, and the lines that belong to it.
fn messages(stderr: &str) -> Vec<String> {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let mut found: Vec<String> = Vec::new();
    // Errors end with where to read more; warnings have lines that are indented, if any.
    let (mut inside, mut ends) = (false, true);
    for line in stderr.lines() {
        let line = &without_colors(line);
        let starts = has_code(line);
        let belongs = line.starts_with("  ") && !line.starts_with("   ")
            || line.starts_with("help: ")
            || line.starts_with("more: ");
        inside = starts || inside && (belongs || !ends);
        ends = match starts {
            true => line.contains("warning["),
            false => ends || line.trim_start().starts_with("more: "),
        };
        let line = shape(line.trim_end(), host.trim());
        match (starts, inside) {
            (true, _) => found.push(line),
            (false, true) if line.is_empty() => {}
            (false, true) => *found.last_mut().expect("one has begun") += &format!("\n{line}"),
            (false, false) => {}
        }
    }
    found
}

/// rustc's own codes begin with 0.
fn has_code(line: &str) -> bool {
    let after = |start: &str| line.split_once(start).and_then(|(_, rest)| rest.chars().next());
    after("error[E").is_some_and(|digit| digit != '0') || after("warning[W").is_some()
}

fn without_colors(line: &str) -> String {
    let mut parts = line.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        text + part.split_once('m').map_or("", |(_, rest)| rest)
    })
}

/// A line without what is another each time.
fn shape(line: &str, host: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = root
        .ancestors()
        .find(|folder| folder.join("Cargo.lock").is_file());
    let mut line = line.to_owned();
    if let Some(root) = root {
        line = line.replace(&root.display().to_string(), "ROOT");
    }
    let line = without_folders(&line);
    // A file that was being made has a name of its own.
    let line = match line.split_once("/.pack-") {
        Some((folder, name)) => format!(
            "{folder}/.pack-{}",
            name.trim_start_matches(|c: char| c.is_ascii_alphanumeric())
        ),
        None => line,
    };
    let line = without_hashes(&line);
    let is_sum = |word: &str| word.len() == 32 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let words = line
        .split(' ')
        .map(|word| match word.trim_matches(['`', ',', ';', ':']) {
            sum if is_sum(sum) => word.replace(sum, "#"),
            name if !host.is_empty() && name == host => word.replace(host, "HOST"),
            _ => word.to_owned(),
        });
    without_numbers(&without_runs(&without_modules(
        &words.collect::<Vec<_>>().join(" "),
    )))
}

/// Cargo gives the executables of tests names with a hash.
fn without_hashes(line: &str) -> String {
    let is_hash = |end: &str| end.len() == 16 && end.bytes().all(|byte| byte.is_ascii_hexdigit());
    let words = line.split(' ').map(|word| match word.rsplit_once('-') {
        Some((name, end)) if is_hash(end) => format!("{name}-HASH"),
        _ => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Every run has its own identity, of which people see the beginning. A rank that does not know its run yet has one in the name
/// of a folder.
fn without_runs(line: &str) -> String {
    let parts = line.split('.').map(|part| {
        let end = part.find('/').unwrap_or(part.len());
        match end == 32 && part[..end].bytes().all(|byte| byte.is_ascii_hexdigit()) {
            true => format!("RUN{}", &part[end..]),
            false => part.to_owned(),
        }
    });
    let mut line = parts.collect::<Vec<_>>().join(".");
    for before in ["run ", "CKPT_RUN=", "runs/"] {
        let mut parts = line.split(before);
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let digits = part
                .find(|c: char| !c.is_ascii_digit() && !('a'..='f').contains(&c))
                .unwrap_or(part.len());
            let whole = !part[digits..].starts_with(|c: char| c.is_alphanumeric());
            text += before;
            text += match digits {
                8 | 32 if whole => "RUN",
                _ => &part[..digits],
            };
            text += &part[digits..];
        }
        line = text;
    }
    line
}

/// Where in the standard library a type is may change.
fn without_modules(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    let is_path = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    while let Some(at) = ["std::", "core::", "alloc::"]
        .iter()
        .filter_map(|name| rest.find(name))
        .min()
    {
        let end = rest[at..]
            .find(|c| !is_path(c))
            .map_or(rest.len(), |length| at + length);
        text += &rest[..at];
        text += rest[at..end].rsplit("::").next().unwrap_or_default();
        rest = &rest[end..];
    }
    text + rest
}

/// Temporary folders have names of their own.
fn without_folders(line: &str) -> String {
    let temporary = std::env::temp_dir().display().to_string();
    let mut parts = line.split(&temporary);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let name = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
        let rest = part.trim_start_matches('/');
        // Of `/tmp/.tmpAbCdEf/x` the folder goes, and what is in it stays.
        let own = rest.find(|c| c == '/' || !name(c)).unwrap_or(rest.len());
        text += "HERE";
        text += &rest[own..];
    }
    text
}

fn without_numbers(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, number) = rest.split_at(at);
        text += before;
        // But not the time behind a date.
        let is_name =
            text.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_') && !text.ends_with("#T");
        let length = number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len());
        text += if is_name { &number[..length] } else { "#" };
        rest = &number[length..];
    }
    text + rest
}
