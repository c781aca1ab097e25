//! What is often done wrong. Each ends in a message whose code the book explains, and in an exit code that it lists.

use harness::{SmallDisk, skipped};

use crate::account::Account;
use crate::page::{Step, steps};
use crate::terminal::{COLUMNS, Terminal};

struct Misuse {
    what: &'static str,
    /// A line that is typed before, and succeeds.
    before: &'static str,
    types: &'static str,
    says: &'static str,
    ends_with: i32,
}

/// In this order, in the package of a run that was killed.
const MISUSES: [Misuse; 12] = [
    Misuse {
        what: "a folder that is no package",
        before: "mkdir ../empty && cd ../empty",
        types: "cargo ckpt run",
        says: "E3036",
        ends_with: 2,
    },
    Misuse {
        what: "a restart where nothing has run",
        before: "true",
        types: "cargo ckpt restart",
        says: "E3087",
        ends_with: 76,
    },
    Misuse {
        what: "a store that is not there",
        before: "cd ../collatz",
        types: "cargo ckpt restart --dir colatz.ckpt.d",
        says: "E3085",
        ends_with: 76,
    },
    Misuse {
        what: "an example that is not there",
        before: "true",
        types: "cargo ckpt run --example colatz",
        says: "E3044",
        ends_with: 101,
    },
    Misuse {
        what: "a command of cargo that ckpt has not",
        before: "true",
        types: "cargo ckpt test",
        says: "E3113",
        ends_with: 2,
    },
    Misuse {
        what: "an option that is not there",
        before: "true",
        types: "cargo ckpt run --evry 3",
        says: "unexpected argument '--evry'",
        ends_with: 2,
    },
    Misuse {
        what: "a value that no checkpoint has",
        before: "true",
        types: "cargo ckpt inspect latest campion",
        says: "E3094",
        ends_with: 2,
    },
    Misuse {
        what: "a checkpoint that is not there",
        before: "true",
        types: "cargo ckpt restart 77",
        says: "E3090",
        ends_with: 76,
    },
    Misuse {
        what: "a store where nobody may write",
        before: "true",
        types: "cargo ckpt run --dir /proc/ckpt -- 1000",
        says: "E2203",
        ends_with: 78,
    },
    Misuse {
        what: "another number of ranks",
        before: "true",
        types: "cargo ckpt restart -n 2",
        says: "E3189",
        ends_with: 77,
    },
    Misuse {
        what: "a changed program",
        before: "cp src/main.rs whole.rs && sed -i 's/, mut most) = (1, 0)/, mut most, mut all) = (1, 0, 0)/; s/let steps = steps(start);/& all += steps;/; s/takes the most: {most}/& {all}/' src/main.rs",
        types: "cargo ckpt restart",
        says: "E2024",
        ends_with: 77,
    },
    Misuse {
        what: "damaged files",
        before: "cp whole.rs src/main.rs && for file in collatz.ckpt.d/*.h5; do printf x | dd of=$file bs=1 seek=3000 conv=notrunc status=none; done",
        types: "cargo ckpt restart",
        says: "E2104",
        ends_with: 76,
    },
];

pub fn are_answered(account: &Account, terminal: &mut Terminal) {
    let folder = account.home.path().join("misused/collatz");
    std::fs::create_dir_all(folder.join("src")).unwrap();
    std::fs::write(folder.join("src/main.rs"), program()).unwrap();
    let library = match &account.unpacked {
        Some(unpacked) => account.home.path().join(unpacked).join("share/ckpt/ckpt-runtime"),
        None => crate::root().join("ckpt-runtime"),
    };
    let manifest = format!(
        "[package]\nname = \"collatz\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
        [dependencies]\nckpt = {{ package = \"ckpt-runtime\", path = \"{}\" }}\n",
        library.display()
    );
    std::fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    does(terminal, "cd misused/collatz", 0);
    does(
        terminal,
        "CKPT_FAULT=visit:30000 cargo ckpt run --every 9000 -- 60000",
        137,
    );
    a_full_disk(account, terminal);
    let mut wrong = Vec::new();
    for misuse in &MISUSES {
        does(terminal, misuse.before, 0);
        let shown = terminal.types(misuse.types);
        let is_said = shown.text.contains(misuse.says);
        let is_wide = |line: &str| line.chars().count() > COLUMNS;
        if !is_said || shown.code != misuse.ends_with || shown.text.lines().any(is_wide) {
            wrong.push(format!(
                "{}: {shown:#?}, not {} and {}",
                misuse.what, misuse.says, misuse.ends_with
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn does(terminal: &mut Terminal, line: &str, code: i32) {
    let shown = terminal.types(line);
    assert_eq!(shown.code, code, "{line}: {}", shown.text);
}

/// The program goes on, and says that it has no checkpoint.
fn a_full_disk(account: &Account, terminal: &mut Terminal) {
    let folder = account.home.path().join("misused/full");
    std::fs::create_dir(&folder).unwrap();
    let Some(_disk) = SmallDisk::mount(&folder, 64) else {
        return skipped("a full disk at a terminal", "this user may not mount");
    };
    let line = "cargo ckpt run --every 9000 --dir ../full/store -- 60000";
    let shown = terminal.types(line);
    assert_eq!(shown.code, 0, "{}", shown.text);
    for code in ["W2005", "E2202", "W2006"] {
        assert!(shown.text.contains(code), "{code}: {}", shown.text);
    }
}

/// That of the tutorial with one line more.
fn program() -> String {
    let steps = steps(&crate::tutorial());
    let written = steps.into_iter().filter_map(|step| match step {
        Step::Write { path, text } if path == "src/main.rs" => Some(text),
        _ => None,
    });
    let mut with_a_line = written.filter(|text| text.starts_with("#[ckpt::main]"));
    with_a_line.next().expect("`#[ckpt::main]` in the tutorial")
}

#[test]
fn the_book_has_all_of_them() {
    let page = |name: &str| std::fs::read_to_string(crate::root().join("docs/src").join(name)).unwrap();
    let (messages, codes) = (page("messages.md"), page("exit-codes.md"));
    for misuse in &MISUSES {
        let is_code = misuse.says.starts_with("E") && misuse.says.len() == 5;
        assert!(!is_code || messages.contains(misuse.says), "{}", misuse.says);
        let number = regex::Regex::new(&format!(r"\b{}\b", misuse.ends_with)).unwrap();
        assert!(number.is_match(&codes), "{}", misuse.ends_with);
    }
}
