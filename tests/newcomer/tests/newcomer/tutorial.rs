//! The tutorial, step by step, as it is written.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::account::Account;
use crate::compare::difference_in_terminal;
use crate::page::{Step, commands, steps_as_written};
use crate::terminal::{COLUMNS, Shown, Terminal};

/// Does what the page says; what it shows has to appear.
pub fn is_what_happens(account: &Account, terminal: &mut Terminal) {
    let unpacked = account.unpacked.as_deref().expect("an archive");
    // The tutorial says that the library has another place there.
    let page = crate::tutorial().replace(
        "--path ../ckpt/ckpt-runtime",
        &format!("--path ../{unpacked}/share/ckpt/ckpt-runtime"),
    );
    // It was written with an archive for one kind of machine.
    let named = "ckpt-0.1.0-x86_64-unknown-linux-gnu";
    assert!(page.contains(named), "the page names no archive");
    let page = page.replace(named, unpacked);
    for step in steps_as_written(&page) {
        match step {
            Step::SetUp(command) => succeeds(&command, terminal.types(&command)),
            Step::Killed { command, .. } => {
                let shown = types_and_kills(terminal, &command);
                assert_eq!(shown.code, 137, "{command}: {}", shown.text);
            }
            Step::Write { path, text } => {
                let path = folder_of(terminal).join(path);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
            }
            Step::Newcomer { line, text } => block(terminal, line, &text, false),
            Step::Run {
                line, text, fault, ..
            } => block(terminal, line, &text, fault.is_some()),
            Step::Says { line, command, text } => {
                let shown = terminal.types(&command);
                looks_the_same(line, &command, &text, &shown);
            }
            Step::Other { language } => assert!(
                language.starts_with("rust"),
                "nobody does what stands in {language}"
            ),
            Step::Set(_) | Step::NotRun { .. } => {}
        }
    }
}

fn succeeds(command: &str, shown: Shown) {
    assert_eq!(shown.code, 0, "{command}: {}", shown.text);
}

/// The commands of a block, of which the first may be killed.
fn block(terminal: &mut Terminal, line: usize, text: &str, is_killed: bool) {
    let commands = commands(text);
    assert!(!commands.is_empty(), "line {line}: a block without a command");
    for (index, (_, command, expected)) in commands.iter().enumerate() {
        let shown = match is_killed && index == 0 {
            true => types_and_kills(terminal, command),
            false => terminal.types(command),
        };
        match expected.trim().is_empty() {
            true => succeeds(command, shown),
            false => looks_the_same(line, command, expected, &shown),
        }
    }
}

fn looks_the_same(line: usize, command: &str, expected: &str, shown: &Shown) {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let printed: Vec<&str> = shown.text.lines().filter(|line| !is_of_cargo(line)).collect();
    let printed = printed.join("\n");
    if let Some(difference) = difference_in_terminal(COLUMNS, expected, &printed, host.trim()) {
        panic!(
            "tutorial.md:{line}: `{command}`\n{difference}\nall of it:\n{}",
            shown.text
        );
    }
}

/// `   Compiling serde v1.0.2`: a word that ends in the twelfth column.
fn is_of_cargo(line: &str) -> bool {
    let (Some(verb), Some(rest)) = (line.get(..12), line.get(12..)) else {
        return false;
    };
    let verb = verb.trim_start();
    let is_verb = verb.starts_with(|first: char| first.is_ascii_uppercase())
        && verb.chars().all(|letter| letter.is_ascii_alphabetic());
    is_verb && rest.starts_with(' ')
}

/// Where the shell is.
fn folder_of(terminal: &mut Terminal) -> PathBuf {
    PathBuf::from(terminal.types("pwd").text.trim())
}

/// From another terminal, the program is killed after a few seconds: when it has written its third checkpoint.
fn types_and_kills(terminal: &mut Terminal, command: &str) -> Shown {
    let folder = folder_of(terminal);
    let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
    let (store, program) = (
        folder.join(format!("{name}.ckpt.d")),
        folder.join("target/release").join(&name),
    );
    let mut is_killed = false;
    let shown = terminal.types_and(command, &mut || {
        if !is_killed && newest(&store) >= 3 {
            is_killed = processes(&program).iter().any(|pid| kill(*pid));
        }
    });
    assert!(is_killed, "{command}: {}", shown.text);
    shown
}

/// The number of the newest checkpoint in a store.
fn newest(store: &Path) -> u64 {
    let entries = std::fs::read_dir(store).into_iter().flatten().flatten();
    let number = |name: &str| name.strip_suffix(".r0.h5")?.parse().ok();
    let numbers = entries.filter_map(|entry| number(entry.file_name().to_str()?));
    numbers.max().unwrap_or(0)
}

/// Those that execute a program, which lies in the newcomer's own home.
fn processes(program: &Path) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| std::fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe == program))
        .collect()
}

fn kill(pid: u32) -> bool {
    let status = Command::new("kill").args(["-9", &pid.to_string()]).status();
    status.is_ok_and(|status| status.success())
}

#[test]
fn what_cargo_is_doing_is_told_by_its_column() {
    for line in [
        "   Compiling serde v1.0.2",
        "    Finished `release` profile",
        " Downloading crates ...",
    ] {
        assert!(is_of_cargo(line), "{line}");
    }
    for line in [
        "2 takes 1 steps",
        "ckpt: restarting from the latest",
        "   = note: if the type",
        "Checkpoint 000003 of",
    ] {
        assert!(!is_of_cargo(line), "{line}");
    }
}
