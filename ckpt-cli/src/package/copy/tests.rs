//! Copies are made of small trees, built and run.

use std::time::SystemTime;

use super::*;
use crate::cargo::CargoOptions;
use crate::package::read::read;
use crate::package::testing::{Tree, manifest};

/// A tree with these files, and a library that stands for the one of ckpt.
fn tree(files: &[(&str, &str)]) -> Tree {
    let tree = Tree::new(files);
    let features = "[lib]\nname = \"ckpt\"\n[features]\nrand = []\n";
    tree.write("runtime/Cargo.toml", &manifest(RUNTIME, features));
    tree.write(
        "runtime/src/lib.rs",
        "pub fn word() -> &'static str { \"saved\" }",
    );
    tree
}

struct Case {
    tree: Tree,
    package: ReadPackage,
}

impl Case {
    fn new(tree: Tree, manifest_path: &str) -> Self {
        let options = CargoOptions {
            manifest_path: Some(tree.path(manifest_path)),
            target_dir: Some(tree.path(manifest_path).with_file_name("target")),
            offline: true,
            ..CargoOptions::default()
        };
        let package = read(&options).expect("read");
        Case { tree, package }
    }

    fn copy(&self, edited: &[(&str, &str)]) -> PackageCopy {
        self.try_copy(edited).expect("a copy")
    }

    fn try_copy(&self, edited: &[(&str, &str)]) -> Outcome<PackageCopy> {
        let target = self.package.target_directory();
        let runtime = Runtime::Path(self.tree.path("runtime"));
        let home = Home::first_usable(target.join("ckpt"), target, vec![], runtime)?;
        let text = |(path, text): &(&str, &str)| (self.tree.path(path), (*text).to_owned());
        let edited = edited.iter().map(text).collect();
        make_copy_in(&home, &self.package, &edited, &Adds::Library(&Needs::default()))
    }

    /// Changed paths from the root of the copy.
    fn changed(&self, copy: &PackageCopy) -> Vec<String> {
        let below = |path: &PathBuf| {
            path.strip_prefix(&copy.folder)
                .unwrap_or(path)
                .display()
                .to_string()
        };
        copy.changed.iter().map(below).collect()
    }

    /// Builds and runs the copy: what it prints.
    fn run(&self, copy: &PackageCopy) -> String {
        let output = Command::new("cargo")
            .args(["run", "--quiet", "--locked", "--offline", "--manifest-path"])
            .arg(&copy.manifest)
            .arg("--target-dir")
            .arg(&copy.build_directory)
            .current_dir(self.tree.root())
            .output()
            .expect("cargo");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }
}

const SAVED: &str = "fn main() { println!(\"{}\", ckpt::word()) }";

#[test]
fn a_copy_is_built_with_the_library_and_the_original_stays() {
    let main = "fn main() { println!(\"plain\") }";
    let case = Case::new(
        tree(&[
            ("app/Cargo.toml", &manifest("app", "")),
            ("app/src/main.rs", main),
            ("app/data/x.txt", "x"),
            ("app/src/notes.md", ""),
        ]),
        "app/Cargo.toml",
    );
    let copy = case.copy(&[]);
    assert_eq!(case.run(&copy), "plain");
    let copy = case.copy(&[("app/src/main.rs", SAVED)]);
    assert_eq!(case.changed(&copy), ["Cargo.toml", "src/main.rs"]);
    assert_eq!(case.run(&copy), "saved");
    assert_eq!(case.changed(&case.copy(&[("app/src/main.rs", SAVED)])), [""; 0]);
    assert_eq!(
        fs::read_to_string(case.tree.path("app/src/main.rs")).expect("there"),
        main
    );
    let file = case.tree.path("app/src/main.rs");
    let copied = copy.to_copy(&file).expect("in the copy");
    assert_eq!(fs::read_to_string(&copied).expect("there"), SAVED);
    assert_eq!(copy.to_original(&copied), Some(file));
    assert!(case.tree.path("app/target/CACHEDIR.TAG").exists());
    // Back to the plain text: cargo must see that the file changed, although the original is older.
    assert_eq!(case.run(&case.copy(&[])), "plain");
}

#[test]
fn what_is_right_keeps_its_time() {
    let case = Case::new(
        tree(&[
            ("app/Cargo.toml", &manifest("app", "")),
            ("app/src/main.rs", "fn main() {}"),
        ]),
        "app/Cargo.toml",
    );
    let times = |copy: &PackageCopy| -> Vec<SystemTime> {
        let paths = [
            copy.manifest.clone(),
            copy.folder.join("src/main.rs"),
            copy.folder.join("Cargo.lock"),
        ];
        let time = |path| fs::metadata(path).and_then(|found| found.modified());
        paths
            .into_iter()
            .map(|path| time(path).expect("a time"))
            .collect()
    };
    let first = times(&case.copy(&[]));
    assert_eq!(times(&case.copy(&[])), first);
}

#[test]
fn a_workspace_with_parts_outside_is_built() {
    let case = Case::new(
        tree(&[
            (
                "w/Cargo.toml",
                "[workspace]\nresolver = \"2\"\nmembers = [\"app\", \"../beside\"]\n\
                 [workspace.dependencies]\nfar = { path = \"../far\" }\n",
            ),
            (
                "w/app/Cargo.toml",
                &manifest(
                    "app",
                    "[dependencies]\nfar.workspace = true\nbeside = { path = \"../../beside\" }\n\
                     around = { path = \"../../around\" }\n",
                ),
            ),
            (
                "w/app/src/main.rs",
                "#[path = \"../../../loose/part.rs\"] mod part;\n\
                 fn main() { println!(\"{}{}{}{}\", far::F, beside::B, around::A, part::p()) }",
            ),
            (
                "loose/part.rs",
                "mod deeper; pub fn p() -> &'static str { deeper::TEXT }",
            ),
            (
                "loose/deeper.rs",
                "pub const TEXT: &str = include_str!(\"../words/text.txt\");",
            ),
            ("words/text.txt", "t"),
            ("far/Cargo.toml", &manifest("far", "")),
            ("far/src/lib.rs", "pub const F: char = 'f';"),
            ("beside/Cargo.toml", &manifest("beside", "workspace = \"../w\"\n")),
            ("beside/src/lib.rs", "pub const B: char = 'b';"),
            (
                "around/Cargo.toml",
                &manifest("around", "[dependencies]\nbeside = { path = \"../beside\" }\n"),
            ),
            ("around/src/lib.rs", "pub const A: char = beside::B;"),
        ]),
        "w/app/Cargo.toml",
    );
    let copy = case.copy(&[("beside/src/lib.rs", "pub const B: char = 'c';")]);
    assert_eq!(case.run(&copy), "fcct");
    assert!(
        copy.folder.join("w/Cargo.toml").exists(),
        "one level deeper: {:?}",
        copy.folder
    );
}

#[test]
fn a_package_in_the_folder_of_a_workspace_that_is_not_its_own() {
    let case = Case::new(
        tree(&[
            ("w/Cargo.toml", "[workspace]\nexclude = [\"app\"]\n"),
            (
                "w/app/Cargo.toml",
                &manifest("app", "[dependencies]\npart = { path = \"part\" }\n"),
            ),
            ("w/app/src/main.rs", "fn main() { println!(\"{}\", part::P) }"),
            ("w/app/part/Cargo.toml", &manifest("part", "[workspace]\n")),
            ("w/app/part/src/lib.rs", "pub const P: u8 = 1;"),
        ]),
        "w/app/Cargo.toml",
    );
    let copy = case.copy(&[("w/app/part/src/lib.rs", "pub const P: u8 = 2;")]);
    assert_eq!(case.run(&copy), "2");
}

#[test]
fn the_build_script_and_the_program_find_their_data() {
    let case = Case::new(
        tree(&[
            ("app/Cargo.toml", &manifest("app", "build = \"build.rs\"\n")),
            (
                "app/build.rs",
                "fn main() { let n = std::fs::read_to_string(\"data/n.txt\").unwrap(); println!(\"cargo:rustc-env=N={n}\"); }",
            ),
            (
                "app/src/main.rs",
                "fn main() { print!(env!(\"N\")); let path = concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/data/n.txt\");\n\
                 std::fs::write(path, std::fs::read_to_string(path).unwrap() + \"!\").unwrap(); }",
            ),
            ("app/data/n.txt", "7"),
        ]),
        "app/Cargo.toml",
    );
    assert_eq!(case.run(&case.copy(&[])), "7");
    let data = fs::read_to_string(case.tree.path("app/data/n.txt"));
    assert_eq!(data.expect("there"), "7!", "the program writes where it would");
}

#[test]
fn a_library_of_the_name_is_refused() {
    let case = Case::new(
        tree(&[
            (
                "app/Cargo.toml",
                &manifest("app", "[dependencies]\nckpt = { path = \"ckpt\" }\n"),
            ),
            ("app/src/main.rs", "fn main() {}"),
            ("app/ckpt/Cargo.toml", &manifest("ckpt", "")),
            ("app/ckpt/src/lib.rs", ""),
        ]),
        "app/Cargo.toml",
    );
    let failure = case
        .try_copy(&[("app/src/main.rs", SAVED)])
        .expect_err("refused")
        .to_string();
    assert!(failure.contains("another dependency named `ckpt`"), "{failure}");
}

#[test]
#[cfg(unix)]
fn links_lead_to_the_same_places() {
    let tree = tree(&[
        ("app/Cargo.toml", &manifest("app", "")),
        (
            "app/src/main.rs",
            "mod inner; mod outer; fn main() { println!(\"{}{}\", inner::part::P, outer::P) }",
        ),
        ("app/shared/mod.rs", "pub mod part;"),
        ("app/shared/part.rs", "pub const P: u8 = 1;"),
        ("elsewhere/mod.rs", "pub const P: u8 = 1;"),
    ]);
    let link =
        |target: &str, path: &str| std::os::unix::fs::symlink(target, tree.path(path)).expect("a link");
    link("../shared", "app/src/inner");
    link(&tree.path("elsewhere").display().to_string(), "app/src/outer");
    let case = Case::new(tree, "app/Cargo.toml");
    assert_eq!(case.run(&case.copy(&[])), "11");
    let edited = "pub const P: u8 = 2;";
    let copy = case.copy(&[
        ("app/src/inner/part.rs", edited),
        ("app/src/outer/mod.rs", edited),
    ]);
    assert_eq!(case.run(&copy), "22");
    for path in ["app/shared/part.rs", "elsewhere/mod.rs"] {
        let text = fs::read_to_string(case.tree.path(path)).expect("there");
        assert!(text.contains("= 1"), "{path} is the user's");
    }
}

#[test]
fn what_is_no_source_is_left_out() {
    let case = Case::new(
        tree(&[
            ("app/Cargo.toml", &manifest("app", "")),
            ("app/src/main.rs", "fn main() {}"),
            ("app/.git/config", ""),
            ("app/app.ckpt.d/1/rank.h5", ""),
            ("app/build/CACHEDIR.TAG", ""),
            ("app/build/made.rs", ""),
        ]),
        "app/Cargo.toml",
    );
    let copy = case.copy(&[]);
    let mut names: Vec<_> = fs::read_dir(&copy.workspace_root)
        .expect("a folder")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .into_string()
                .expect("a name")
        })
        .collect();
    names.sort();
    assert_eq!(names, [SOURCES_RECORD, "Cargo.lock", "Cargo.toml", "src"]);
}

/// Reads another program with the same copy.
fn read_in(tree: &Tree, manifest_path: &str, bin: &str) -> ReadPackage {
    let options = CargoOptions {
        manifest_path: Some(tree.path(manifest_path)),
        target_dir: Some(tree.path("w/target")),
        bin: Some(bin.into()),
        offline: true,
        ..CargoOptions::default()
    };
    read(&options).expect("read")
}

#[test]
fn programs_of_a_workspace_leave_each_other_as_they_are() {
    let part = "[dependencies]\npart = { path = \"../part\" }\n";
    let tree = tree(&[
        (
            "w/Cargo.toml",
            "[workspace]\nresolver = \"2\"\nmembers = [\"a\", \"b\", \"part\"]\n",
        ),
        ("w/a/Cargo.toml", &manifest("a", part)),
        ("w/a/src/main.rs", "fn main() { println!(\"a\") }"),
        (
            "w/b/Cargo.toml",
            &manifest("b", &format!("default-run = \"b\"\n{part}")),
        ),
        ("w/b/src/main.rs", "fn main() { println!(\"b\") }"),
        ("w/b/src/bin/more.rs", "fn main() { println!(\"more\") }"),
        ("w/part/Cargo.toml", &manifest("part", "")),
        ("w/part/src/lib.rs", ""),
    ]);
    let package = read_in(&tree, "w/a/Cargo.toml", "a");
    let mut case = Case { tree, package };
    let saved = |path| [(path, SAVED)];
    case.copy(&saved("w/a/src/main.rs"));
    let (a, b) = (case.package, |tree: &Tree| read_in(tree, "w/b/Cargo.toml", "b"));

    // Nothing of the first is undone, and nothing has to be done for it again.
    case.package = b(&case.tree);
    let copy = case.copy(&saved("w/b/src/main.rs"));
    let record = format!("b/{SOURCES_RECORD}");
    assert_eq!(case.changed(&copy), [&record, "b/Cargo.toml", "b/src/main.rs"]);
    assert_eq!(case.run(&copy), "saved");
    case.package = a;
    let copy = case.copy(&saved("w/a/src/main.rs"));
    assert_eq!(case.changed(&copy), [""; 0]);
    assert_eq!(case.run(&copy), "saved");

    // Whoever is given the copy gets the second as the user has it.
    case.tree.write("given/b/src/main.rs", SAVED);
    case.tree.write(&format!("given/b/{SOURCES_RECORD}"), "");
    copy.leave_out_others(&case.tree.path("given")).expect("written");
    let given = |path: &str| fs::read_to_string(case.tree.path(path)).ok();
    assert_eq!(given("given/b/src/main.rs"), given("w/b/src/main.rs"));
    let manifest_of_b = given("given/b/Cargo.toml").expect("there");
    assert!(!manifest_of_b.contains(RUNTIME), "{manifest_of_b}");
    assert_eq!(given(&format!("given/b/{SOURCES_RECORD}")), None);

    // The same of programs of one package.
    case.package = read_in(&case.tree, "w/b/Cargo.toml", "more");
    let copy = case.copy(&saved("w/b/src/bin/more.rs"));
    assert_eq!(case.changed(&copy), [&record, "b/src/bin/more.rs"]);
    case.package = b(&case.tree);
    let copy = case.copy(&saved("w/b/src/main.rs"));
    assert_eq!(case.changed(&copy), [record.as_str()]);

    // What is in a library is of all that are built with it, and what the user changes comes into the copy.
    let both = [
        ("w/a/src/main.rs", SAVED),
        ("w/part/src/lib.rs", "pub fn more() {}"),
    ];
    case.package = read_in(&case.tree, "w/a/Cargo.toml", "a");
    case.copy(&both);
    case.package = b(&case.tree);
    let copy = case.copy(&saved("w/b/src/main.rs"));
    assert_eq!(case.changed(&copy), ["part/Cargo.toml", "part/src/lib.rs"]);
    case.tree
        .write("w/a/src/main.rs", "fn main() { println!(\"new\") }");
    case.package = b(&case.tree);
    let copy = case.copy(&saved("w/b/src/main.rs"));
    assert_eq!(case.changed(&copy), ["a/src/main.rs"]);
    case.tree.write(
        "w/a/Cargo.toml",
        &manifest("a", &format!("{part}[features]\nfast = []\n")),
    );
    case.package = b(&case.tree);
    let copy = case.copy(&saved("w/b/src/main.rs"));
    assert_eq!(case.changed(&copy), ["a/Cargo.toml"]);
    case.package = read_in(&case.tree, "w/a/Cargo.toml", "a");
    assert_eq!(case.run(&case.copy(&[])), "new");
}
