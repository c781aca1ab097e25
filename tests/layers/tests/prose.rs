//! Nothing goes by words: a refusal is a value that is worded in one place and only shown, a name of ckpt is made in one place
//! and told apart by what has made it.

use layers::branches::{Decides, decides};
use layers::sources::{SourceFile, Sources};
use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const CRATES: [&str; 6] = [
    "ckpt-compiler",
    "ckpt-analysis",
    "ckpt-safepoints",
    "ckpt-macros",
    "ckpt-runtime",
    "ckpt-cli",
];

/// Those in which refusals are found and worded.
const OF_REFUSALS: [&str; 5] = [
    "ckpt-compiler",
    "ckpt-analysis",
    "ckpt-safepoints",
    "ckpt-macros",
    "ckpt-cli",
];

/// Texts with several words, backticks, codes of messages or `ckpt` by which something is decided, each with why that is no
/// message and no name of ckpt's.
const OTHERS: [(&str, &[&str], &str); 25] = [
    (
        "ckpt-runtime/src/format/chunks.rs",
        &["where is a chunk"],
        "bytes that are written to a file in memory and looked for there",
    ),
    // What the user writes.
    (
        "ckpt-compiler/src",
        &["ckpt"],
        "the crate, as a path or an attribute names it",
    ),
    (
        "ckpt-compiler/src/object.rs",
        &["Self : Sized"],
        "a bound of the user's trait, as tokens",
    ),
    (
        "ckpt-analysis/src",
        &["ckpt"],
        "the crate, as a path or an attribute names it",
    ),
    (
        "ckpt-analysis/src/decisions",
        &["dyn ", "(dyn "],
        "the beginning of a type",
    ),
    (
        "ckpt-analysis/src/decisions/bounds.rs",
        &[" as "],
        "`<T as Trait>::f`, a path",
    ),
    (
        "ckpt-cli/src/commands/line.rs",
        &["ckpt"],
        "the word that cargo puts in front",
    ),
    (
        "ckpt-runtime/src/base/columns.rs",
        &["`"],
        "where a line of any text may be broken",
    ),
    // Names of files and settings, which are an interface.
    (
        "ckpt-cli/src",
        &[".ckpt.d", "CKPT_", "ckpt.toml"],
        "files and settings",
    ),
    (
        "ckpt-cli/src/doctor/here.rs",
        &[".ckpt-doctor-"],
        "a file of an earlier look, to be removed",
    ),
    (
        "ckpt-runtime/src/session/config/environment.rs",
        &["CKPT_"],
        "settings",
    ),
    // Formats of ckpt's own, which are written in the same file or beside it.
    (
        "ckpt-runtime/src/value/serde/json.rs",
        &["NaN "],
        "a number in JSON",
    ),
    (
        "ckpt-cli/src/package/profile/found.rs",
        &["nanos "],
        "the file of a profile",
    ),
    // What other programs and libraries print, and say in no other way.
    (
        "ckpt-runtime/src/value/impls/csv.rs",
        &[
            "Writer { core: ",
            ", wtr: ",
            ", buf: Buffer { buf: [",
            "], len: ",
            " }, state: ",
        ],
        "what a writer is in is known from its `Debug` alone; checked where it is used",
    ),
    (
        "ckpt-runtime/src/state/journal/unseen.rs",
        &[" (deleted)"],
        "what the system writes behind the name of a file that was removed",
    ),
    (
        "ckpt-runtime/src/format/hdf5.rs",
        &["errno = "],
        "HDF5 has the number in its text alone",
    ),
    (
        "ckpt-cli/src/doctor/hdf5.rs",
        &["#define H5_VERSION "],
        "a header of C",
    ),
    (
        "ckpt-cli/src/doctor/tools.rs",
        &["mpicc: ", "rustc "],
        "versions of tools",
    ),
    (
        "ckpt-cli/src/launch/ranks.rs",
        &["Open MPI"],
        "whose `mpirun` it is",
    ),
    (
        "ckpt-cli/src/crashtest/process.rs",
        &["stack backtrace:"],
        "where the backtrace of a panic begins, not to be shown",
    ),
    (
        "ckpt-cli/src/commands/line.rs",
        &["Usage: "],
        "clap's heading, taken off before clap writes it again",
    ),
    (
        "ckpt-cli/src/cargo/progress.rs",
        &["Compiling ", "Building ["],
        "cargo's bar, shown as another one: where cargo writes it otherwise, nothing is shown",
    ),
    (
        "ckpt-cli/src/cargo/mod.rs",
        &["error: "],
        "taken off before it is shown",
    ),
    (
        "ckpt-cli/src/package/build/oracle",
        &["`", "dyn ", "dyn Fn"],
        "rustc's reports: names between backticks, by the table of sentences; what a type begins with",
    ),
    // How it looks.
    (
        "ckpt-cli/src/report/page.rs",
        &["`"],
        "what is between backticks is shown as code",
    ),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Whether a text is that of a message, or what a name of ckpt has.
fn is_message_or_name(text: &str) -> bool {
    let is_prose = text.contains(' ') && text.contains(char::is_alphabetic);
    is_prose || text.contains('`') || begins_with_a_code(text) || text.to_lowercase().contains("ckpt")
}

/// `E1234`
fn begins_with_a_code(text: &str) -> bool {
    let number = text.strip_prefix(['E', 'W']).and_then(|rest| rest.get(..4));
    number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

fn found_in(file: &SourceFile) -> Vec<Decides> {
    let all = decides(file).into_iter();
    all.filter(|one| is_message_or_name(&one.text)).collect()
}

#[test]
fn nothing_branches_on_a_message_or_on_a_name_of_ckpt() {
    let mut wrong = Vec::new();
    let mut met = BTreeSet::new();
    for krate in CRATES {
        for file in &Sources::read(&root(), krate).unwrap().files {
            for one in found_in(file) {
                let mut fits = OTHERS
                    .iter()
                    .filter(|(start, texts, _)| one.file.starts_with(start) && texts.contains(&&*one.text));
                match fits.next() {
                    Some((start, ..)) => drop(met.insert((*start, one.text))),
                    None => wrong.push(one.to_string()),
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "go by a code, a kind or a binding:\n{}",
        wrong.join("\n")
    );
    for (start, texts, why) in OTHERS {
        assert!(!why.is_empty());
        for text in texts {
            assert!(
                met.contains(&(start, (*text).to_owned())),
                "nothing in {start} goes by {text:?} any more"
            );
        }
    }
}

/// A file of this text, in a crate.
fn house(text: &str) -> Sources {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("house/src");
    std::fs::create_dir_all(&source).unwrap();
    std::fs::write(source.join("lib.rs"), text).unwrap();
    Sources::read(folder.path(), "house").unwrap()
}

#[test]
fn a_branch_on_words_is_found_in_every_form() {
    for form in [
        "why == \"it is gone\"",
        "\"it is gone\" != why",
        "*why == *\"it is gone\"",
        "why.starts_with(\"it is gone\")",
        "why.split_once(\n\"it is gone\",\n).is_some()",
        "[\"a\", \"it is gone\"].contains(&why)",
        "matches!(why, \"a\"\n | \"it is gone\")",
        "matches!(why, \"it is gone\")",
        "Some(why) == Some(\"it is gone\")",
        "match why { \"a\"\n | \"it is gone\" => true, _ => false }",
        "match whys { (Some(\"it is gone\"), _) => true, _ => false }",
        "if let \"it is gone\" = why { true } else { false }",
        "shingle!(why == \"it is gone\")",
        "shingle!(why.contains(\"it is gone\"))",
        "shingle!(match why { \"it is gone\" => true })",
        "why.trim_end_matches(\"it is gone\").is_empty()",
        "why.trim_matches(\"it is gone\").is_empty()",
        "why.rsplitn(2, \"it is gone\").count() == 2",
        "why.replace(\"it is gone\", \"\") == why",
        "let words = \"it is gone\"; why == words",
        "let words: &str = \"it is gone\"; why.contains(words)",
        "const WORDS: [&str; 1] = [\"it is gone\"]; WORDS.contains(&why)",
        "let words = [\"it is gone\"]; why == words[0]",
        "let words = [\"it is gone\"]; words.iter().any(|one| one == why) || words.contains(&why)",
        "let words = BTreeMap::from([(\"it is gone\", 1)]); words.contains_key(why)",
        "let words = [(\"it is gone\", 1)]; let words = HashMap::from(words); words.get(why).is_some()",
    ] {
        let house = house(&format!("fn f() -> bool {{\n{form}\n}}\n"));
        let found: Vec<String> = found_in(&house.files[0])
            .into_iter()
            .map(|one| one.text)
            .collect();
        assert_eq!(found, ["it is gone"], "{form}");
    }
    for (text, is_one) in [
        ("__ckpt_frame", true),
        ("E1204", true),
        ("`x` moves", true),
        ("CKPT_NEXT_COUNT", true),
        ("iter", false),
        (", ", false),
    ] {
        let house = house(&format!("fn f() -> bool {{ name.contains({text:?}) }}\n"));
        assert_eq!(!found_in(&house.files[0]).is_empty(), is_one, "{text}");
    }
    for form in [
        "println!(\"it is gone\"); true",
        "say(\"it is gone\")",
        "let words = \"it is gone\"; say(words); why == what",
        "/// it is gone\nfn g() {} true",
        "shingle! { /// it is gone\n fn g() {} } true",
        "#[deprecated = \"it is gone\"] fn g() {} true",
    ] {
        let house = house(&format!("fn f() -> bool {{\n{form}\n}}\n"));
        assert_eq!(found_in(&house.files[0]), [], "{form}");
    }
}

/// The places of a text or of a call in files other than these.
fn others(allowed: &[&str], crates: &[&str], is_there: &impl Fn(&SourceFile) -> Vec<usize>) -> Vec<String> {
    let mut found = Vec::new();
    for krate in crates {
        for file in &Sources::read(&root(), krate).unwrap().files {
            if !allowed.iter().any(|one| file.path.starts_with(one)) {
                let lines = is_there(file).into_iter();
                found.extend(lines.map(|line| format!("{}:{line}", file.path.display())));
            }
        }
    }
    found
}

/// Every text in the code and every name, comments aside.
fn lines_with(file: &SourceFile, is_one: &impl Fn(&str) -> bool) -> Vec<usize> {
    fn look(tokens: TokenStream, is_one: &impl Fn(&str) -> bool, found: &mut Vec<usize>) {
        let mut of_comment = false;
        for token in tokens {
            let line = token.span().start().line;
            match token {
                TokenTree::Group(group) => look(group.stream(), is_one, found),
                TokenTree::Literal(one) if !of_comment => {
                    let text = syn::parse_str::<syn::LitStr>(&one.to_string());
                    found.extend(text.is_ok_and(|text| is_one(&text.value())).then_some(line));
                }
                TokenTree::Ident(word) => {
                    of_comment = word == "doc";
                    found.extend(is_one(&word.to_string()).then_some(line));
                }
                _ => {}
            }
        }
    }
    let mut found = Vec::new();
    look(file.tokens.clone(), is_one, &mut found);
    found
}

#[test]
fn names_of_ckpt_are_made_in_one_place() {
    let allowed = [
        "ckpt-compiler/src/names/mod.rs",
        // A lifetime, and a variable of a macro: no stage meets them again.
        "ckpt-compiler/src/derive/parts.rs",
        "ckpt-compiler/src/syntax/own_macros/captures.rs",
    ];
    let found = others(&allowed, &OF_REFUSALS, &|file| {
        lines_with(file, &|text| text.contains("__ckpt"))
    });
    assert!(
        found.is_empty(),
        "`names` makes the names of ckpt, and `Binding::origin` tells them from the user's:\n{}",
        found.join("\n")
    );
}

#[test]
fn refusals_are_worded_in_one_place() {
    let allowed = [
        "ckpt-compiler/src/diagnostics/words.rs",
        "ckpt-analysis/src/diagnostics/mod.rs",
        "ckpt-analysis/src/diagnostics/rustc.rs",
    ];
    let of_analysis = ["ckpt-compiler", "ckpt-analysis", "ckpt-safepoints", "ckpt-macros"];
    let found = others(&allowed, &of_analysis, &|file| {
        lines_with(file, &|text| {
            begins_with_a_code(text) && text.get(5..).is_some_and(|rest| rest.starts_with(": "))
        })
    });
    assert!(
        found.is_empty(),
        "a refusal is a value of `Refusal` or `Cause`, which have the words:\n{}",
        found.join("\n")
    );
}

/// Calls of `words` and `message` without arguments, in macros as well.
fn asks_for_words(tokens: TokenStream) -> Vec<usize> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => found.extend(asks_for_words(group.stream())),
            TokenTree::Ident(name) if name == "words" || name == "message" => {
                let before = at.checked_sub(1).and_then(|at| tokens.get(at));
                let is_method = matches!(before, Some(TokenTree::Punct(one)) if one.as_char() == '.');
                let is_alone =
                    matches!(tokens.get(at + 1), Some(TokenTree::Group(given)) if given.stream().is_empty());
                found.extend((is_method && is_alone).then(|| name.span().start().line));
            }
            _ => {}
        }
    }
    found
}

/// They are shown by rustc and by the command; of the stages only what prints them as text asks for them.
#[test]
fn no_stage_asks_for_the_words_of_a_refusal() {
    let allowed = [
        "ckpt-compiler/src/diagnostics/mod.rs",
        "ckpt-compiler/src/diagnostics/words.rs",
        "ckpt-analysis/src/diagnostics/mod.rs",
        "ckpt-analysis/src/diagnostics/rustc.rs",
        "ckpt-analysis/src/placement/show.rs",
        "ckpt-compiler/src/passes/show.rs",
        // What the reader of TOML says.
        "ckpt-compiler/src/library/read.rs",
    ];
    let of_stages = ["ckpt-compiler", "ckpt-analysis", "ckpt-safepoints", "ckpt-macros"];
    let found = others(&allowed, &of_stages, &|file| asks_for_words(file.tokens.clone()));
    assert!(
        found.is_empty(),
        "go by `code`, `binding` or `recovery`:\n{}",
        found.join("\n")
    );
    let text = "fn f() { x\n.y()\n.words(); }\n#[cfg(test)] mod tests {}\nfn g() { println!(x.message()); y.words(1) }";
    assert_eq!(asks_for_words(house(text).files[0].tokens.clone()), [3, 5]);
}
