//! The files of the program that is being compiled, as cargo has told where it is, and those of the crates that it links: `crates`.

mod crates;

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use ckpt_compiler::{
    OwnNames, ProgramRoot, SOURCES_RECORD, Sources, files_from, folders_of_packages, may_lead_away,
    roots_of_package,
};
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

/// What cargo puts into the folder that it builds in; the first only if it has made the folder.
const BUILT: [&str; 2] = ["CACHEDIR.TAG", ".rustc_info.json"];

/// So many files are read at most.
const MOST: usize = 20_000;

/// What the package that is being compiled declares, and those from folders that it depends on, and the methods that traits of other
/// crates bring along. Files are read once for all functions of a crate.
pub(crate) fn own_names() -> &'static Arc<OwnNames> {
    static NAMES: OnceLock<Arc<OwnNames>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let mut names = OwnNames::default();
        match env::var_os("CARGO_MANIFEST_DIR") {
            Some(package) => {
                let mut found = Files::default();
                let folders = folders_of_packages(Path::new(&package), &|path| fs::read(path).ok());
                folders.iter().for_each(|folder| found.of_package(folder));
                found.files.values().for_each(|text| names.read(text));
                let texts = found.files.values().map(String::as_str);
                names.read_crates(texts, &crates::linked(), crates::texts);
                if !found.are_all {
                    names.may_be_any();
                }
            }
            None => names.may_be_any(),
        }
        Arc::new(names)
    })
}

/// Files of Rust and what is in them.
struct Files {
    files: BTreeMap<PathBuf, String>,
    /// Folders that have been looked into, whatever links lead there.
    folders: BTreeSet<PathBuf>,
    are_all: bool,
}

impl Default for Files {
    fn default() -> Self {
        Files {
            files: BTreeMap::new(),
            folders: BTreeSet::new(),
            are_all: true,
        }
    }
}

impl Files {
    /// The files in the folder of a package, and those elsewhere that are a part of it.
    fn of_package(&mut self, folder: &Path) {
        let before: BTreeSet<PathBuf> = self.files.keys().cloned().collect();
        self.below(folder);
        let read = |path: &Path| fs::read(path).ok();
        // A crate's root comes first: where the modules of other files are looked for hangs on what they are modules of.
        let mut roots = roots_of_package(folder, &read);
        let is_new = |path: &&PathBuf| !before.contains(*path);
        let leads_away: Vec<PathBuf> = { self.files.iter() }
            .filter(|(path, text)| is_new(path) && may_lead_away(text))
            .map(|(path, _)| path.clone())
            .collect();
        if leads_away.is_empty() && roots.iter().all(|root| root.starts_with(folder)) {
            return;
        }
        roots.extend(leads_away);
        for file in files_from(&roots, folder, &read) {
            match file {
                Some(path) => self.file(path),
                None => self.are_all = false,
            }
        }
    }

    /// The files of Rust in a folder and those in it, but for those of other packages and what is built there.
    fn below(&mut self, folder: &Path) {
        let is_new = fs::canonicalize(folder).is_ok_and(|real| self.folders.insert(real));
        let Ok(entries) = fs::read_dir(folder) else { return };
        for entry in entries.flatten().filter(|_| is_new) {
            let (path, name) = (entry.path(), entry.file_name());
            let name = name.to_string_lossy();
            match fs::metadata(&path) {
                Ok(kind) if kind.is_dir() => {
                    let is_module = || path.join("mod.rs").exists() || path.with_extension("rs").exists();
                    let is_of_another = || path.join("Cargo.toml").exists() && !is_module();
                    // What is built lies in a folder that cargo marks, whatever its name.
                    let is_built = || BUILT.iter().any(|mark| path.join(mark).exists());
                    if !name.starts_with('.') && !is_built() && !is_of_another() {
                        self.below(&path);
                    }
                }
                Ok(_) if name.ends_with(".rs") => self.file(path),
                _ => {}
            }
        }
    }

    fn file(&mut self, path: PathBuf) {
        if self.files.contains_key(&path) {
            return;
        }
        if self.files.len() >= MOST {
            self.are_all = false;
            return;
        }
        // What is no text is no file of Rust.
        if let Ok(text) = fs::read_to_string(&path) {
            self.files.insert(path, text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHANGING: &str = "pub trait Cells { fn clamp(&mut self, k: usize); }";

    /// The names in a package `heat` with these files, which lie in a folder around it.
    fn names(test: &str, files: &[(&str, &str)]) -> OwnNames {
        let around = env::temp_dir().join(format!("ckpt-own-names-{}-{test}", std::process::id()));
        let manifest =
            "[package]\nname = \"heat\"\n[[bin]]\nname = \"beside\"\npath = \"../beside/main.rs\"\n";
        for (path, text) in [("heat/Cargo.toml", manifest)].iter().chain(files) {
            let path = around.join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        let mut found = Files::default();
        found.of_package(&around.join("heat"));
        let mut names = OwnNames::default();
        found.files.values().for_each(|text| names.read(text));
        if !found.are_all {
            names.may_be_any();
        }
        fs::remove_dir_all(around).expect("the folder is there");
        names
    }

    #[test]
    fn files_of_a_program_lie_anywhere() {
        let main = "heat/src/main.rs";
        for (test, files) in [
            (
                "target",
                [(main, "mod target;"), ("heat/src/target/mod.rs", CHANGING)],
            ),
            (
                "path",
                [
                    (main, "#[path = \"../../common/x.rs\"] mod x;"),
                    ("common/x.rs", CHANGING),
                ],
            ),
            (
                "inline",
                [
                    (main, "mod a { #[path = \"../../../common/x.rs\"] mod x; }"),
                    ("common/x.rs", CHANGING),
                ],
            ),
            (
                "sometimes",
                [
                    (main, "#[cfg_attr(unix, path = \"../../common/x.rs\")] mod x;"),
                    ("common/x.rs", CHANGING),
                ],
            ),
            (
                "hidden",
                [
                    (main, "#[path = \".hidden/x.rs\"] mod x;"),
                    ("heat/src/.hidden/x.rs", CHANGING),
                ],
            ),
            (
                "include",
                [
                    (main, "include!(\"../../common/x.inc\");"),
                    ("common/x.inc", CHANGING),
                ],
            ),
            (
                "unknown",
                [
                    (main, "include!(concat!(env!(\"OUT_DIR\"), \"/x.rs\"));"),
                    ("heat/src/x.rs", ""),
                ],
            ),
            ("bin", [("beside/main.rs", "mod x;"), ("beside/x.rs", CHANGING)]),
            (
                "module",
                [
                    ("heat/src/x/mod.rs", CHANGING),
                    ("heat/src/x/Cargo.toml", "not that of a package"),
                ],
            ),
        ] {
            assert!(names(test, &files).may_change("clamp"), "{test}");
        }
        for (test, files) in [
            (
                "built",
                [("heat/target/x.rs", CHANGING), ("heat/target/CACHEDIR.TAG", "")],
            ),
            (
                "another",
                [("heat/x/src/lib.rs", CHANGING), ("heat/x/Cargo.toml", "")],
            ),
            ("beside", [(main, "fn main() {}"), ("common/x.rs", CHANGING)]),
        ] {
            assert!(!names(test, &files).may_change("clamp"), "{test}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_once() {
        let folder = env::temp_dir().join(format!("ckpt-own-names-{}-links", std::process::id()));
        fs::create_dir_all(folder.join("heat/src")).expect("a folder");
        fs::create_dir_all(folder.join("common")).expect("a folder");
        fs::write(folder.join("common/x.rs"), CHANGING).expect("a file");
        let link = |to: &str, from: &str| std::os::unix::fs::symlink(folder.join(to), folder.join(from));
        link("common", "heat/src/shared").expect("a link");
        link("heat", "heat/src/round").expect("a link");
        let mut found = Files::default();
        found.of_package(&folder.join("heat"));
        let found: Vec<&PathBuf> = found.files.keys().collect();
        assert_eq!(found, [&folder.join("heat/src/shared/x.rs")]);
        fs::remove_dir_all(folder).expect("the folder is there");
    }
}
