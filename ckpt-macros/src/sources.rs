//! The files of the program that is being compiled, as cargo has told where it is.

use std::env;
use std::fs;
use std::path::PathBuf;

use ckpt_compiler::{ProgramRoot, SOURCES_RECORD, Sources};
use proc_macro::Span;

/// The files of the program whose `main` the macro stands on; `None` where they cannot be found: not under cargo, or in an
/// editor.
pub(crate) fn of_this_program() -> Option<Sources> {
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR")?);
    let record = package.join(SOURCES_RECORD);
    if let Ok(text) = fs::read_to_string(&record) {
        return Sources::recorded(&record, &text);
    }
    let main = env::current_dir().ok()?.join(Span::call_site().local_file()?);
    let target = env::var("CARGO_BIN_NAME").ok();
    let root = ProgramRoot {
        main: &main,
        package: &package,
        target: target.as_deref(),
    };
    Some(Sources::of(&root, &|path| fs::read(path).ok()))
}
