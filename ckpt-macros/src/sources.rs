//! The files of the program that is being compiled, as cargo has told where it is.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use ckpt_compiler::{OwnNames, ProgramRoot, SOURCES_RECORD, Sources, folders_of_packages};
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

/// So many files are read at most.
const MOST: usize = 20_000;

/// What the package that is being compiled declares, and those from folders that it depends on. Files are read once for all functions of
/// a crate.
pub(crate) fn own_names() -> &'static Arc<OwnNames> {
    static NAMES: OnceLock<Arc<OwnNames>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let mut names = OwnNames::default();
        let mut left = MOST;
        match env::var_os("CARGO_MANIFEST_DIR") {
            Some(package) => {
                let folders = folders_of_packages(Path::new(&package), &|path| fs::read(path).ok());
                folders
                    .iter()
                    .for_each(|folder| read_below(folder, &mut names, &mut left));
            }
            None => left = 0,
        }
        if left == 0 {
            names.may_be_any();
        }
        Arc::new(names)
    })
}

/// Reads the files of Rust in a folder and those in it, but for those of other packages and what is built there.
fn read_below(folder: &Path, names: &mut OwnNames, left: &mut usize) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => {
                let is_own = !name.starts_with('.') && name != "target" && !path.join("Cargo.toml").exists();
                if is_own {
                    read_below(&path, names, left);
                }
            }
            Ok(_) if name.ends_with(".rs") && *left > 0 => {
                *left -= 1;
                if let Ok(text) = fs::read_to_string(&path) {
                    names.read(&text);
                }
            }
            _ => {}
        }
    }
}
