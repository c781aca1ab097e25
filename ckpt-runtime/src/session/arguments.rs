//! The arguments of a run. What it has read from them is in its variables: a restart with others would go on with the old
//! ones, whatever its command line says.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use super::SessionError;
use super::config::Config;
use super::job::COMMAND_NOTE;
use crate::format::Restored;
use crate::handles::moved;
use crate::state::source::Recorded;

/// The command line of this process.
pub(super) fn command() -> Vec<String> {
    std::env::args_os()
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect()
}

/// The command line as a checkpoint keeps it: a JSON list.
pub(super) fn command_note() -> String {
    serde_json::to_string(&command()).unwrap_or_default()
}

/// What an argument of a run is where paths have moved: `map` is what `CKPT_MAP` is set to.
///
/// ```
/// use ckpt::session::arguments::moved_argument;
///
/// assert_eq!(moved_argument("/home/a/deck.toml", "/home/a=/work".as_ref()), "/work/deck.toml");
/// assert_eq!(moved_argument("deck.toml", "/home/a=/work".as_ref()), "deck.toml");
/// ```
pub fn moved_argument(argument: &str, map: &OsStr) -> OsString {
    match moved::read(map) {
        Some(moves) => moved::moved(PathBuf::from(argument), &moves).into_os_string(),
        None => argument.into(),
    }
}

/// A restart goes on with the arguments that its run has read.
///
/// # Errors
/// This process was given others, and it was not said that this is meant.
pub(super) fn are_the_same(restored: &Restored, config: &Config) -> Result<(), SessionError> {
    let (Some(theirs), false) = (theirs(restored), config.arguments_changed) else {
        return Ok(());
    };
    if are_ours(&theirs) {
        return Ok(());
    }
    Err(SessionError::OtherArguments {
        id: restored.id(),
        theirs: line(&theirs),
        ours: line(&command()),
    })
}

/// The command line of a run, where its checkpoint has it.
pub(super) fn theirs(restored: &Restored) -> Option<Vec<String>> {
    serde_json::from_str(restored.note(COMMAND_NOTE)?).ok()
}

/// Whether a command line has the arguments of this process. A path in them may have moved.
pub(super) fn are_ours(theirs: &[String]) -> bool {
    let map = std::env::var_os(moved::VARIABLE).unwrap_or_default();
    let here = |argument: &String| moved_argument(argument, &map).to_string_lossy().into_owned();
    theirs.iter().skip(1).map(here).eq(command().into_iter().skip(1))
}

/// A command line as one line, with quotes where there would be a doubt, and no control characters.
pub(super) fn line(command: &[String]) -> String {
    let word = |word: &String| {
        let plain = |c: char| c.is_alphanumeric() || "-_=+./:,@%".contains(c);
        match !word.is_empty() && word.chars().all(plain) {
            true => word.clone(),
            false => format!("{word:?}"),
        }
    };
    command.iter().map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_is_shown_so_that_its_words_can_be_told_apart() {
        let words = ["heat", "a b", "", "--n=3", "\u{1b}[2J"].map(str::to_owned);
        assert_eq!(line(&words), r#"heat "a b" "" --n=3 "\u{1b}[2J""#);
    }
}
