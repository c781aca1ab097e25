//! The crates that are linked to the one that is being compiled, as rustc has been told, and their files: cargo puts beside each what it
//! was made from (The Cargo Book, "Build cache": dep-info files).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

use ckpt_compiler::Crates;

/// The list of a crate's files, which may have been compiled several times.
pub(crate) type FileList = PathBuf;

/// The crates that a program may name, and those that they are made of, with the lists of their files.
pub(crate) fn linked() -> Crates<FileList> {
    from_arguments(arguments())
}

/// What rustc was called with, also what stands in a file.
fn arguments() -> impl Iterator<Item = String> {
    let given = env::args_os().filter_map(|one| one.into_string().ok());
    given.flat_map(|one| match one.strip_prefix('@').map(fs::read_to_string) {
        Some(Ok(text)) => text.lines().map(str::to_owned).collect(),
        _ => vec![one],
    })
}

fn from_arguments(mut arguments: impl Iterator<Item = String>) -> Crates<FileList> {
    let mut found: Crates<FileList> = Crates::default();
    let mut folders = BTreeSet::new();
    while let Some(one) = arguments.next() {
        if let Some(given) = value_of("--extern", &one, &mut arguments) {
            // `priv:name=path`; without a path it comes with the compiler. A macro is no trait.
            if let Some((name, path)) = given.split_once('=')
                && is_library(Path::new(path))
            {
                let name = name.rsplit(':').next().unwrap_or(name);
                let lists = found.named.entry(name.to_owned()).or_default();
                lists.push(list_of(Path::new(path)));
            }
        } else if let Some(given) = value_of("-L", &one, &mut arguments) {
            folders.extend(given.strip_prefix("dependency=").map(PathBuf::from));
        }
    }
    let entries = folders.iter().filter_map(|folder| fs::read_dir(folder).ok());
    let paths = entries.flatten().flatten().map(|entry| entry.path());
    for list in paths.filter(|path| is_library(path)).map(|path| list_of(&path)) {
        let stem = list.file_stem().unwrap_or_default().to_string_lossy();
        let name = stem.rsplit_once('-').map_or(&*stem, |(name, _)| name).to_owned();
        let lists = found.behind.entry(name).or_default();
        if !lists.contains(&list) {
            lists.push(list);
        }
    }
    for crates in [&mut found.named, &mut found.behind] {
        crates.retain(|name, _| !OF_CKPT.contains(&name.as_str()));
    }
    found
}

/// The value of an option, in the same argument or in the next.
fn value_of(option: &str, one: &str, rest: &mut impl Iterator<Item = String>) -> Option<String> {
    match one.strip_prefix(option)? {
        "" => rest.next(),
        behind => Some(behind.trim_start_matches('=').to_owned()),
    }
}

/// The names of ckpt's own library.
const OF_CKPT: [&str; 2] = ["ckpt", "ckpt_runtime"];

fn is_library(path: &Path) -> bool {
    path.extension()
        .is_some_and(|kind| kind == "rmeta" || kind == "rlib")
}

/// The list for `libheat-0123.rmeta`: `heat-0123.d`.
fn list_of(library: &Path) -> FileList {
    let name = library.file_stem().unwrap_or_default().to_string_lossy();
    let name = name.strip_prefix("lib").unwrap_or(&name);
    library.with_file_name(format!("{name}.d"))
}

/// The texts of the files of Rust in a list; `None` if one cannot be read.
pub(crate) fn texts(list: &FileList) -> Option<Vec<String>> {
    let listed = fs::read_to_string(list).ok()?;
    let of_rust = files_of(&listed)
        .into_iter()
        .filter(|path| path.extension().is_some_and(|kind| kind == "rs"));
    of_rust.map(|path| fs::read_to_string(path).ok()).collect()
}

/// The files of a rule such as `libheat.rmeta: src/lib.rs src/a\ b.rs`.
fn files_of(rules: &str) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let rules = rules.lines().filter(|line| !line.starts_with('#'));
    for files in rules.filter_map(|line| Some(line.split_once(": ")?.1)) {
        let mut path = String::new();
        let mut letters = files.chars().peekable();
        while let Some(one) = letters.next() {
            match one {
                '\\' if letters.next_if_eq(&' ').is_some() => path.push(' '),
                ' ' => _ = found.insert(PathBuf::from(std::mem::take(&mut path))),
                one => path.push(one),
            }
        }
        found.insert(PathBuf::from(path));
    }
    found.remove(Path::new(""));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_that_rustc_links() {
        let folder = env::temp_dir().join(format!("ckpt-linked-crates-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        for name in [
            "libcells-1.rmeta",
            "libinner-2.rlib",
            "libinner-2.rmeta",
            "libmade-3.so",
            "main-4.d",
        ] {
            fs::write(folder.join(name), "").expect("a file");
        }
        let at = |name: &str| format!("{}/{name}", folder.display());
        let given = [
            "--crate-name".to_owned(),
            "heat".to_owned(),
            "--extern".to_owned(),
            format!("grid={}", at("libcells-1.rmeta")),
            format!("--extern=priv:own={}", at("libown-5.rlib")),
            "--extern".to_owned(),
            "proc_macro".to_owned(),
            "--extern".to_owned(),
            format!("made={}", at("libmade-3.so")),
            "-L".to_owned(),
            format!("dependency={}", folder.display()),
            "-Lnative=/usr/lib".to_owned(),
        ];
        let found = from_arguments(given.into_iter());
        let lists = |list: &str| vec![PathBuf::from(at(list))];
        let all = |all: [(&str, &str); 2]| all.map(|(name, list)| (name.to_owned(), lists(list))).into();
        assert_eq!(found.named, all([("grid", "cells-1.d"), ("own", "own-5.d")]));
        assert_eq!(
            found.behind,
            all([("cells", "cells-1.d"), ("inner", "inner-2.d")])
        );
        fs::remove_dir_all(folder).expect("the folder is there");
    }

    #[test]
    fn files_in_a_list() {
        let rules = "/t/libheat.rmeta: /a/src/lib.rs /a/b\\ c/x.rs\n\n/t/heat.d: /a/src/lib.rs\n\n/a/src/lib.rs:\n# env-dep:A=b: c\n";
        let paths = ["/a/b c/x.rs", "/a/src/lib.rs"].map(PathBuf::from);
        assert_eq!(files_of(rules), paths.into());
        assert_eq!(texts(&PathBuf::from("/nowhere/heat-1.d")), None);
    }
}
