//! Every message is provoked by a test that has all its words noted: what happened, where, and the next step.
//!
//! The compiler's refusals are those of the examples in `ckpt-cli/messages.toml`, noted here in `refusals.txt`; types are in
//! `tests/ui`; what programs and commands say is noted by their own tests, in a `messages.txt` beside them. What no user can
//! bring about on purpose is provoked by a test beside the code: `PROVOKED_INSIDE`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};

/// Codes whose messages a test beside the code provokes, where no user can: that test looks for the code. `rustc` says the
/// words of some with what the test gives it. `E3040-E3042` are all from the first to the last.
const PROVOKED_INSIDE: &[(&str, &[&str])] = &[
    ("ckpt-compiler/src/validate.rs", &["E1006"]),
    ("ckpt-analysis/src/tests/state.rs", &["E1054"]),
    ("ckpt-compiler/src/desugar/regions/captures.rs", &["E1049"]),
    ("ckpt-runtime/src/devices/shown/noted.rs", &["W2420-W2421"]),
    ("ckpt-runtime/src/devices/opencl/shown.rs", &["E2421"]),
    ("devices/tests/tests/devices.rs", &["E2449-E2450"]),
    ("ckpt-runtime/src/value/places.rs", &["E2435"]),
    ("ckpt-runtime/src/value/homes.rs", &["E2445"]),
    ("ckpt-runtime/src/session/mod.rs", &["E2420"]),
    (
        "ckpt-cli/src/package/build/oracle/mod.rs",
        &["E1202", "E1204", "E1208", "E1211", "E1214"],
    ),
    (
        "tests/rollback/tests/rollback.rs",
        &[
            "E2336",
            "E2380-E2385",
            "E2387-E2392",
            "E2397",
            "W2092-W2096",
            "W2412-W2413",
        ],
    ),
    ("mpi/tests/tests/rollback.rs", &["E2393-E2396", "W2411"]),
    ("mpi/tests/tests/alone.rs", &["E2415"]),
    ("ckpt-cli/src/package/show/full.rs", &["E3064-E3065"]),
    ("ckpt-analysis/src/tests/statics.rs", &["E1307", "E1313", "E1314"]),
    ("machines/tests/tests/python.rs", &["W2002"]),
    ("ckpt-cli/tests/doctor.rs", &["E3110"]),
    ("ckpt-cli/tests/plans.rs", &["E1302"]),
    ("ckpt-cli/src/doctor/fix.rs", &["E3111"]),
    ("mpi/tests/tests/other_mpis.rs", &["E2018"]),
    ("ckpt-runtime/tests/session/outside.rs", &["W2060"]),
    ("ckpt-runtime/src/session/run.rs", &["W2007"]),
    ("ckpt-runtime/src/comm/agree.rs", &["W2011"]),
    ("ckpt-runtime/src/session/policy.rs", &["W2013"]),
    ("ckpt-cli/src/commands/run.rs", &["E3157"]),
    ("ckpt-cli/src/launch/ranks.rs", &["E3050"]),
    ("ckpt-cli/src/package/show/expand.rs", &["E3030"]),
    ("ckpt-cli/src/stores/checkpoint.rs", &["E3091"]),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The codes of all messages, and the examples that they have.
fn examples() -> BTreeMap<String, Option<String>> {
    let text = fs::read_to_string(root().join("ckpt-cli/messages.toml")).unwrap();
    let table: toml::Table = toml::from_str(&text).unwrap();
    let entries = table["message"].as_table().unwrap().iter();
    let example = |entry: &toml::Value| entry.get("example").map(|text| text.as_str().unwrap().to_owned());
    entries
        .map(|(code, entry)| (code.clone(), example(entry)))
        .collect()
}

/// The messages as `explain` shows them.
fn headings() -> BTreeMap<String, String> {
    let text = fs::read_to_string(root().join("ckpt-cli/messages.toml")).unwrap();
    let table: toml::Table = toml::from_str(&text).unwrap();
    let entries = table["message"].as_table().unwrap().iter();
    let heading = |entry: &toml::Value| {
        entry
            .get("shown")
            .unwrap_or(&entry["says"])
            .as_str()
            .unwrap()
            .to_owned()
    };
    entries
        .map(|(code, entry)| (code.clone(), heading(entry)))
        .collect()
}

/// What the macros make of an example.
fn refused(example: &str) -> Option<TokenStream> {
    let tokens = |text: &str| text.parse::<TokenStream>().expect(example);
    for (name, is_object) in [("#[ckpt::instrument", false), ("#[ckpt::object", true)] {
        if let Some(rest) = example.strip_prefix(name) {
            let (arguments, item) = rest.split_once(']').expect(example);
            let inside = arguments
                .strip_prefix('(')
                .and_then(|rest| rest.strip_suffix(')'));
            let arguments = inside.unwrap_or_default();
            return Some(match is_object {
                true => ckpt_compiler::object::object(tokens(arguments), tokens(item)),
                false => ckpt_compiler::instrument(tokens(arguments), tokens(item), &Default::default()),
            });
        }
    }
    let starts = |words: &[&str]| words.iter().any(|word| example.starts_with(word));
    if starts(&["#[derive(ckpt::Checkpoint)]", "struct ", "enum "]) {
        let item = example.trim_start_matches("#[derive(ckpt::Checkpoint)]");
        return Some(ckpt_compiler::derive::derive_checkpoint(tokens(item)));
    }
    starts(&["fn ", "const fn ", "async fn "])
        .then(|| ckpt_compiler::instrument(tokens(""), tokens(example), &Default::default()))
}

/// The errors in what a macro has made: the code that is underlined, and what is said of it.
fn errors(made: TokenStream, found: &mut Vec<(String, String)>) {
    for token in made {
        match token {
            TokenTree::Group(group) => errors(group.stream(), found),
            TokenTree::Literal(literal) => {
                let text = syn::parse_str::<syn::LitStr>(&literal.to_string()).map(|text| text.value());
                let text = text.unwrap_or_default();
                let text = text.strip_prefix("ckpt: ").unwrap_or(&text);
                if text.starts_with("E1") {
                    let at = literal.span().source_text().unwrap_or_default();
                    found.push((at, text.to_owned()));
                }
            }
            _ => {}
        }
    }
}

/// `CKPT_BLESS=1 cargo test -p book` notes what is said now.
#[test]
fn examples_of_the_compilers_refusals_are_refused() {
    let mut said = String::new();
    let (mut tried, mut wrong) = (0, Vec::new());
    let headings = headings();
    for (code, example) in examples().range("E1000".to_owned().."E1200".to_owned()) {
        // That one is not annotated, which only rustc sees: `tests/ui` has it.
        if code == "E1116" {
            continue;
        }
        let Some((example, made)) = example.as_deref().and_then(|text| Some((text, refused(text)?))) else {
            continue;
        };
        tried += 1;
        let mut found = Vec::new();
        errors(made, &mut found);
        match found.iter().find(|(_, text)| text.starts_with(code.as_str())) {
            Some((at, text)) => {
                let words = text.lines().next().unwrap_or_default();
                if words.get(6..).map(str::trim) != headings[code].lines().next() {
                    wrong.push(format!(
                        "{code}: the heading is not what its example gives: `{words}`"
                    ));
                }
                let text = text.replace('\n', "\n  ");
                said += &format!("{example}\n  at: {at}\n  {text}\n\n");
            }
            None => wrong.push(format!("{code}: {example}: {found:?}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tried > 40, "{tried}");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/refusals.txt");
    if std::env::var_os("CKPT_BLESS").is_some() {
        fs::write(&path, &said).unwrap();
    }
    let noted = fs::read_to_string(&path).unwrap_or_default();
    let difference = harness::Difference::between(noted.as_bytes(), said.as_bytes());
    if let Some(difference) = difference {
        panic!("{}: {difference}; `CKPT_BLESS=1` notes it", path.display());
    }
}

/// All files below a folder with this end.
fn files(folder: &Path, end: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path, end));
        } else if path.to_string_lossy().ends_with(end) {
            found.push(path);
        }
    }
    found
}

/// `E1012` and the like in a text.
fn codes(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    let is_code = |word: &&str| {
        let digits = word.strip_prefix(['E', 'W']).unwrap_or_default();
        digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    words.filter(is_code).map(str::to_owned).collect()
}

/// Whether a code is one of `E3040-E3042`, or the one that is named alone.
fn is_in(code: &str, range: &str) -> bool {
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    (first..=last).contains(&code)
}

/// The tests in a file: all of it, or the module of tests at its end.
fn tests_of(path: &str) -> String {
    let text = fs::read_to_string(root().join(path)).unwrap();
    let is_all = path.contains("/tests/");
    let at = text.find("#[cfg(test)]").unwrap_or(text.len());
    text[if is_all { 0 } else { at }..].to_owned()
}

#[test]
fn every_message_is_provoked() {
    let folders = [
        "tests/book/tests",
        "tests/ui/cases",
        "ckpt-cli/tests",
        "ckpt-runtime/tests",
        "tests/faults/tests",
        "mpi/tests/tests",
    ];
    let noted = folders
        .iter()
        .flat_map(|folder| files(&root().join(folder), ".txt"));
    let mut provoked: BTreeSet<String> = BTreeSet::new();
    for path in noted {
        let text = fs::read_to_string(path).unwrap();
        let text = text.lines().filter(|line| !line.contains("cargo ckpt explain"));
        provoked.extend(text.flat_map(codes));
    }
    let all = examples();
    let mut not_there = Vec::new();
    for (path, ranges) in PROVOKED_INSIDE {
        let text = tests_of(path);
        for code in all
            .keys()
            .filter(|code| ranges.iter().any(|range| is_in(code, range)))
        {
            match text.contains(code.as_str()) {
                true => _ = provoked.insert(code.clone()),
                false => not_there.push((path, code)),
            }
        }
    }
    assert!(not_there.is_empty(), "no test is there: {not_there:?}");
    let missing: Vec<&String> = all.keys().filter(|code| !provoked.contains(*code)).collect();
    assert!(missing.is_empty(), "no test has the words of these: {missing:?}");
}
