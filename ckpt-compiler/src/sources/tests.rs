use super::*;

/// Files by their paths, in a folder.
struct Tree {
    folder: PathBuf,
    files: BTreeMap<PathBuf, String>,
}

impl Tree {
    fn at(folder: &str, files: &[(&str, &str)]) -> Self {
        let folder = PathBuf::from(folder);
        let file = |(path, text): &(&str, &str)| (folder.join(path), (*text).to_owned());
        Tree {
            files: files.iter().map(file).collect(),
            folder,
        }
    }

    fn with(mut self, path: &str, text: &str) -> Self {
        self.files.insert(self.folder.join(path), text.to_owned());
        self
    }

    fn without(mut self, path: &str) -> Self {
        self.files.remove(&self.folder.join(path));
        self
    }

    fn program(&self, package: &str, main: &str) -> Sources {
        let package = self.folder.join(package);
        let root = ProgramRoot {
            main: &package.join(main),
            package: &package,
            target: Some("heat"),
        };
        Sources::of(&root, &|path| Some(self.files.get(path)?.clone().into_bytes()))
    }

    fn sources(&self) -> Sources {
        self.program("heat", "src/main.rs")
    }

    fn names(&self) -> Vec<String> {
        self.sources().files.into_keys().collect()
    }

    fn changed_by(&self, other: &Tree) -> Vec<String> {
        let (before, after) = (self.sources(), other.sources());
        let hash = |sources: &Sources, name: &String| sources.files.get(name).map(|file| file.hash);
        let names: BTreeSet<String> = before.files.keys().chain(after.files.keys()).cloned().collect();
        let changed: Vec<String> = names
            .into_iter()
            .filter(|name| hash(&before, name) != hash(&after, name))
            .collect();
        assert_eq!(changed.is_empty(), before.hash() == after.hash());
        changed
    }
}

const MANIFEST: &str = r#"
[package]
name = "heat"
version = "1.0.0"
edition = "2024"
description = "Heat"

[dependencies]
ckpt = { package = "ckpt-runtime", version = "0.1" }
grid = { path = "../grid" }
rand = { version = "0.9", features = ["small_rng"] }

[dev-dependencies]
tried = "1"
"#;

const LOCK: &str = r#"
version = 4
[[package]]
name = "heat"
version = "1.0.0"
dependencies = ["ckpt-runtime", "grid", "rand", "tried"]
[[package]]
name = "grid"
version = "1.0.0"
dependencies = ["fast"]
[[package]]
name = "fast"
version = "1.0.0"
source = "registry"
checksum = "f1"
[[package]]
name = "rand"
version = "0.9.0"
source = "registry"
checksum = "r1"
dependencies = ["core 1.1.0"]
[[package]]
name = "core"
version = "1.1.0"
source = "registry"
checksum = "c1"
[[package]]
name = "core"
version = "2.0.0"
source = "registry"
checksum = "c2"
[[package]]
name = "tried"
version = "1.0.0"
source = "registry"
checksum = "t1"
[[package]]
name = "ckpt-runtime"
version = "0.1.0"
source = "registry"
checksum = "k1"
dependencies = ["core 2.0.0"]
"#;

const FILES: &[(&str, &str)] = &[
    ("Cargo.toml", "[workspace]\nmembers = ['heat', 'grid', 'other']\n"),
    ("Cargo.lock", LOCK),
    ("heat/Cargo.toml", MANIFEST),
    (
        "heat/src/main.rs",
        "mod solver; mod io { pub mod write; }\n#[path = \"deep/far.rs\"] pub(crate) mod near;\n\
         any! { mod hidden; } fn main() { solver::run(); const T: &str = include_str!(\"../table.txt\"); }",
    ),
    (
        "heat/src/solver.rs",
        "mod step;\npub fn run() { step::once(1.0) }",
    ),
    ("heat/src/solver/step.rs", "pub fn once(x: f64) {}"),
    (
        "heat/src/io/write.rs",
        "include!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/shared/names.rs\"));",
    ),
    ("heat/src/deep/far.rs", "mod beside;"),
    ("heat/src/deep/beside.rs", "fn f() {}"),
    ("heat/src/hidden/mod.rs", "#[cfg(windows)] mod nowhere;"),
    ("heat/shared/names.rs", "fn g() {}"),
    ("heat/table.txt", "1 2 3\n"),
    ("heat/build.rs", "fn main() {}"),
    ("heat/src/bin/other.rs", "fn main() {}"),
    ("heat/README.md", "# Heat"),
    (
        "grid/Cargo.toml",
        "[package]\nname = 'grid'\nversion = '1.0.0'\n[dependencies]\nfast = '1'\n",
    ),
    ("grid/src/lib.rs", "#![allow(x)] //! Grids.\nmod cell;"),
    ("grid/src/cell.rs", "fn c() {}"),
    ("other/Cargo.toml", "[package]\nname = 'other'\n"),
    ("other/src/lib.rs", "fn o() {}"),
];

fn tree() -> Tree {
    Tree::at("/home/a", FILES)
}

#[test]
fn a_program_is_what_its_modules_and_packages_lead_to() {
    assert_eq!(
        tree().names(),
        [
            "Cargo.lock",
            "Cargo.toml",
            "build.rs",
            "grid:Cargo.toml",
            "grid:src/cell.rs",
            "grid:src/lib.rs",
            "shared/names.rs",
            "src/deep/beside.rs",
            "src/deep/far.rs",
            "src/hidden/mod.rs",
            "src/io/write.rs",
            "src/main.rs",
            "src/solver.rs",
            "src/solver/step.rs",
            "table.txt",
        ]
    );
}

#[test]
fn where_it_lies_does_not_matter() {
    let elsewhere = Tree::at("/work/b c", FILES);
    assert_eq!(tree().changed_by(&elsewhere), [""; 0]);
    assert_ne!(tree().sources(), elsewhere.sources(), "the paths are others");
}

#[test]
fn neither_comments_nor_layout_nor_what_is_not_built_are_a_change() {
    let same = tree()
        .with(
            "heat/src/solver.rs",
            "\u{feff}//! Solver.\r\n\r\nmod step;\r\n/// Runs.\r\npub fn run() {\r\n    step::once(1.0) // once\r\n}\r\n",
        )
        .with("grid/src/lib.rs", "#![allow(x)]\nmod cell;")
        .with("heat/src/bin/other.rs", "fn main() { panic!() }")
        .with("heat/README.md", "# Other")
        .with("other/src/lib.rs", "")
        .with("heat/target/debug/build/out.rs", "fn new() {}")
        .with("heat/Cargo.toml", &MANIFEST.replace("\"Heat\"", "\"Warmth\"").replace("0.1\"", "0.2\""))
        .with(
            "Cargo.lock",
            &LOCK.replace("t1", "t2").replace("k1", "k2").replace("c2", "c3"),
        );
    assert_eq!(tree().changed_by(&same), [""; 0]);
}

#[test]
fn what_is_built_is_a_change_in_its_own_file() {
    let changes = [
        (
            "heat/src/solver/step.rs",
            "pub fn once(x: f32) {}",
            "src/solver/step.rs",
        ),
        ("grid/src/cell.rs", "fn c() { 1 }", "grid:src/cell.rs"),
        ("heat/table.txt", "1 2 3\r\n", "table.txt"),
        ("heat/shared/names.rs", "fn h() {}", "shared/names.rs"),
        ("heat/build.rs", "fn main() { main() }", "build.rs"),
    ];
    for (path, text, name) in changes {
        assert_eq!(tree().changed_by(&tree().with(path, text)), [name]);
    }
    let locks = [("f1", "f2"), ("r1", "r2"), ("c1", "c4"), ("0.9.0", "0.9.1")];
    for (from, to) in locks {
        let other = tree().with("Cargo.lock", &LOCK.replace(from, to));
        assert_eq!(tree().changed_by(&other), ["Cargo.lock"], "{from}");
    }
    for (from, to) in [("2024", "2021"), ("\"small_rng\"", "")] {
        let other = tree().with("heat/Cargo.toml", &MANIFEST.replace(from, to));
        assert_eq!(tree().changed_by(&other), ["Cargo.toml"], "{from}");
    }
    let gone = tree().without("heat/src/io/write.rs");
    assert_eq!(tree().changed_by(&gone), ["shared/names.rs", "src/io/write.rs"]);
}

#[test]
fn the_root_is_found_where_main_is_in_a_module() {
    let tree = tree()
        .with("heat/src/main.rs", "mod app; mod solver;")
        .with("heat/src/app.rs", "mod cli;");
    let names: Vec<_> = tree.program("heat", "src/app.rs").files.into_keys().collect();
    for name in ["src/main.rs", "src/app.rs", "src/solver.rs", "src/solver/step.rs"] {
        assert!(names.iter().any(|known| known == name), "{name}: {names:?}");
    }
}

#[test]
fn examples_have_what_only_developers_need() {
    let tree = tree().with("heat/examples/heat.rs", "fn main() {}");
    let example = tree.program("heat", "examples/heat.rs");
    assert!(!example.files.contains_key("src/main.rs"));
    let lock = |checksum: &str| {
        let tree = Tree::at("/home/a", FILES).with("heat/examples/heat.rs", "fn main() {}");
        let tree = tree.with("Cargo.lock", &LOCK.replace("t1", checksum));
        tree.program("heat", "examples/heat.rs").files["Cargo.lock"].hash
    };
    assert_ne!(lock("t1"), lock("t2"));
}

#[test]
fn a_package_in_a_folder_may_stand_in_for_another() {
    let patched = |text: &str| {
        tree()
            .with(
                "Cargo.toml",
                "[workspace]\n[patch.crates-io]\ncore = { path = 'mine' }\n",
            )
            .with(
                "mine/Cargo.toml",
                "[package]\nname = 'core'\n[dependencies]\ntried = '1'",
            )
            .with("mine/src/lib.rs", text)
            .with(
                "Cargo.lock",
                &LOCK.replace("source = \"registry\"\nchecksum = \"c1\"\n", ""),
            )
    };
    let before = patched("fn m() {}");
    assert!(before.names().contains(&"core:src/lib.rs".to_owned()));
    assert_eq!(before.changed_by(&patched("fn n() {}")), ["core:src/lib.rs"]);
}

#[test]
fn members_take_from_their_workspace() {
    let inheriting = |features: &str| {
        tree()
            .with(
                "Cargo.toml",
                &format!(
                    "[workspace]\n[workspace.package]\nedition = '2021'\n[workspace.dependencies]\n\
                     grid = {{ path = 'grid' }}\nrand = {{ version = '0.9', features = {features} }}\n"
                ),
            )
            .with(
                "heat/Cargo.toml",
                "[package]\nname = 'heat'\nedition.workspace = true\n[dependencies]\ngrid.workspace = true\nrand.workspace = true\n",
            )
    };
    let before = inheriting("[]");
    assert!(before.names().contains(&"grid:src/cell.rs".to_owned()));
    assert_eq!(before.changed_by(&inheriting("['std']")), ["Cargo.toml"]);
}

#[test]
fn what_cannot_be_read_as_rust_counts_with_every_byte() {
    let broken = |text: &str| tree().with("heat/shared/names.rs", text);
    assert_eq!(
        broken("fn ( {").changed_by(&broken("fn  ( {")),
        ["shared/names.rs"]
    );
}

#[test]
fn a_record_has_the_same_hashes() {
    let sources = tree().sources();
    let record = Path::new("/copy/.ckpt-sources.toml");
    let again = Sources::recorded(record, &sources.record()).unwrap();
    assert_eq!(again.hash(), sources.hash());
    assert_eq!(again.features, sources.features);
    assert!(again.files.values().all(|file| file.path == record));
    assert_eq!(Sources::recorded(record, "a = 1"), None);
    let expression = again.expression().to_string();
    assert_eq!(expression.matches("include_bytes").count(), 1, "each file once");
}

#[test]
fn features_are_those_that_cargo_knows() {
    let manifest = format!(
        "{MANIFEST}\nserde = {{ version = '1', optional = true }}\nhidden = {{ version = '1', optional = true }}\n\
         [dependencies.named]\nversion = '1'\noptional = true\n\
         [features]\ndefault = ['fast']\nfast = ['dep:hidden', 'named?/std']\n"
    );
    let manifest = manifest.replace("[dev-dependencies]\ntried = \"1\"", "");
    let sources = tree().with("heat/Cargo.toml", &manifest).sources();
    let features: Vec<&str> = sources.features.iter().map(String::as_str).collect();
    assert_eq!(features, ["default", "fast", "named", "serde"]);
    let record = Path::new("/copy/.ckpt-sources.toml");
    let again = Sources::recorded(record, &sources.record()).unwrap();
    assert_eq!(
        again,
        Sources {
            files: again.files.clone(),
            features: sources.features.clone(),
            variables: sources.variables.clone(),
            asked: sources.asked.clone(),
        }
    );
    let expression = again.expression().to_string();
    for feature in features {
        let asked = format!("feature = \"{feature}\"");
        assert_eq!(expression.matches(&asked).count(), 2, "{expression}");
    }
}

#[test]
fn what_the_build_is_asked_for_is_recorded() {
    let main = "fn main() { let tuned = option_env!(\"TUNED\"); if cfg!(any(quick, unix)) { run(tuned) } }";
    let sources = tree().with("heat/src/main.rs", main).sources();
    let record = Path::new("/copy/.ckpt-sources.toml");
    let again = Sources::recorded(record, &sources.record()).unwrap();
    assert_eq!(again.asked, sources.asked);
    let expression = again.expression().to_string();
    for (asked, times) in [("(quick)", 2), ("(unix)", 0), ("option_env ! (\"TUNED\")", 2)] {
        assert_eq!(expression.matches(asked).count(), times, "{asked}: {expression}");
    }
}
