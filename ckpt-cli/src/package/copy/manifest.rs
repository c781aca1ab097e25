//! Edits of a Cargo.toml that leave the rest of it as it is written: the dependency on ckpt, and what a manifest needs
//! to mean the same in another place.

use std::fs;
use std::path::{Path, PathBuf};

use toml_edit::{Array, Document, DocumentMut, InlineTable, Item, Table, TableLike, Value, value};

use crate::failure::{AboutFile, Failure, OrFail, Outcome, says};
use crate::package::copy::features::WithSerde;
use crate::package::read::modules::cleaned;
use crate::package::read::workspace::RUNTIME;

/// Where cargo gets the library from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Runtime {
    /// A folder with its Cargo.toml.
    Path(PathBuf),
    /// A version of the registry.
    Version(String),
    /// A folder here, and the version that others find in the registry.
    Both(PathBuf, String),
}

impl Runtime {
    /// `CKPT_RUNTIME_PATH`, the source tree that this executable was built from, the one that was packed with it, or the registry.
    pub fn find() -> Self {
        let said = std::env::var_os("CKPT_RUNTIME_PATH").filter(|path| !path.is_empty());
        if let Some(path) = said {
            return Runtime::Path(std::path::absolute(&path).unwrap_or_else(|_| path.into()));
        }
        let beside = cleaned(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(RUNTIME));
        if beside.join("Cargo.toml").is_file() {
            return Runtime::Path(beside);
        }
        // `bin/cargo-ckpt` and `share/ckpt/ckpt-runtime`, as `./release` packs them.
        let here = std::env::current_exe().and_then(std::fs::canonicalize);
        if let Some(prefix) = here.as_deref().ok().and_then(|exe| exe.parent()?.parent()) {
            let packed = prefix.join("share/ckpt").join(RUNTIME);
            if packed.join("Cargo.toml").is_file() {
                return Runtime::Path(packed);
            }
        }
        Runtime::Version(env!("CARGO_PKG_VERSION").to_owned())
    }

    /// As it is written into a package of the user: with the version that is required also where the library is in a folder.
    pub fn for_source() -> Self {
        match Runtime::find() {
            Runtime::Path(path) => Runtime::Both(path, env!("CARGO_PKG_VERSION").to_owned()),
            known => known,
        }
    }
}

/// A Cargo.toml that is being edited.
#[derive(Debug)]
pub struct Manifest {
    path: PathBuf,
    document: DocumentMut,
}

/// The tables of a manifest that list dependencies: those of the program, its examples and tests.
const OF_PROGRAM: [&str; 3] = ["dependencies", "dev-dependencies", "dev_dependencies"];

/// Those of its build script, which is another program.
const OF_SCRIPT: [&str; 2] = ["build-dependencies", "build_dependencies"];

impl Manifest {
    /// Reads the text of the manifest at a path.
    pub fn parse(path: &Path, text: &str) -> Outcome<Self> {
        let document = text
            .parse::<DocumentMut>()
            .or_fail(|| Failure::build(says!("E3067: cannot read `{}`", path.display())))?;
        Ok(Manifest {
            path: path.to_path_buf(),
            document,
        })
    }

    /// The edited text.
    pub fn text(&self) -> String {
        self.document.to_string()
    }

    /// Changes the paths of dependencies. `rewritten` takes each path, absolute, and whether it was written so.
    pub fn rewrite_paths(&mut self, rewritten: &dyn Fn(&Path, bool) -> Option<PathBuf>) {
        let folder = self.path.parent().map_or_else(PathBuf::new, Path::to_path_buf);
        let rewritten = |written: &str| {
            let absolute = cleaned(&folder.join(written));
            rewritten(&absolute, Path::new(written).is_absolute())
        };
        let root = self.document.as_table_mut();
        rewrite_lists(root, &rewritten);
        for (_, target) in entries(root, "target") {
            if let Some(target) = target.as_table_like_mut() {
                rewrite_lists(target, &rewritten);
            }
        }
        if let Some(workspace) = root.get_mut("workspace").and_then(Item::as_table_like_mut) {
            rewrite_lists(workspace, &rewritten);
        }
        for (_, registry) in entries(root, "patch") {
            rewrite_list(registry, &rewritten);
        }
        if let Some(replaced) = root.get_mut("replace") {
            rewrite_list(replaced, &rewritten);
        }
    }

    /// Makes the package the root of a workspace of its own, so that cargo looks for none above it.
    pub fn own_workspace(&mut self, excluded: &[String]) {
        let workspace = self
            .document
            .entry("workspace")
            .or_insert(Item::Table(Table::new()));
        if excluded.is_empty() {
            return;
        }
        if let Some(workspace) = workspace.as_table_like_mut() {
            workspace.insert("exclude", value(excluded.iter().collect::<Array>()));
        }
    }

    /// Whether the manifest has a `[workspace]`.
    pub fn is_workspace(&self) -> bool {
        self.document.contains_key("workspace")
    }

    /// Has rustc stop for no lint: what ckpt adds is not the user's.
    pub fn only_warn(&mut self) {
        let root = self.document.as_table_mut();
        if let Some(lints) = root.get_mut("lints") {
            warn_in(lints);
        }
        let workspace = root.get_mut("workspace").and_then(Item::as_table_like_mut);
        if let Some(lints) = workspace.and_then(|workspace| workspace.get_mut("lints")) {
            warn_in(lints);
        }
    }

    /// Has the library linked into the program: one that is loaded would have ckpt a second time, and does not link.
    pub fn link_library(&mut self) {
        let library = self.document.get_mut("lib").and_then(Item::as_table_like_mut);
        let kinds = library.and_then(|library| match library.contains_key("crate-type") {
            true => library.get_mut("crate-type"),
            false => library.get_mut("crate_type"),
        });
        let Some(kinds) = kinds.and_then(Item::as_array_mut) else {
            return;
        };
        let is = |kind: &Value, names: &[&str]| kind.as_str().is_some_and(|kind| names.contains(&kind));
        if !kinds.iter().any(|kind| is(kind, &["lib", "rlib", "dylib"])) {
            return;
        }
        kinds.retain(|kind| !is(kind, &["dylib", "cdylib", "staticlib"]));
        if kinds.is_empty() {
            kinds.push("lib");
        }
    }

    /// Has one dependency optimised in debug builds, unless the manifest says something about it.
    pub fn optimise(&mut self, package: &str) {
        let mut table: &mut dyn TableLike = self.document.as_table_mut();
        for key in ["profile", "dev", "package"] {
            let mut implicit = Table::new();
            implicit.set_implicit(true);
            let item = table.entry(key).or_insert(Item::Table(implicit));
            match item.as_table_like_mut() {
                Some(next) => table = next,
                None => return,
            }
        }
        let mut options = Table::new();
        options.insert("opt-level", value(3));
        table.entry(package).or_insert(Item::Table(options));
    }

    /// Adds the library under the name `ckpt`, with these features; where it is there, only features are added. `shared`
    /// is the manifest of the workspace's root, for a dependency that is inherited from there.
    pub fn add_runtime(
        &mut self,
        runtime: &Runtime,
        features: &[String],
        shared: Option<&Manifest>,
    ) -> Outcome<()> {
        let inherited = shared.map(|root| root.inherits_runtime());
        let is_own = self.is_workspace() && self.inherits_runtime();
        let path = self.path.clone();
        let dependencies = self.dependencies()?;
        if let Some(present) = dependencies.get_mut("ckpt") {
            if !is_runtime(present, inherited.unwrap_or(is_own)) {
                return Err(self_explaining(&path, "it has another dependency named `ckpt`")
                    .help("rename that one: `other_name = { package = \"ckpt\", .. }`"));
            }
            return add_features(present, features).ok_or_else(|| {
                self_explaining(&path, "the features of `ckpt` cannot be added to").help(format!(
                    "write `ckpt = {{ package = \"{RUNTIME}\", version = \"..\" }}`"
                ))
            });
        }
        // Without a rename, the library is `ckpt` as well.
        if let Some(present) = dependencies.get_mut(RUNTIME)
            && add_features(present, features).is_some()
        {
            return Ok(());
        }
        dependencies.insert(
            "ckpt",
            Item::Value(Value::InlineTable(runtime_entry(runtime, features))),
        );
        Ok(())
    }

    /// Turns a feature of a dependency on, wherever the manifest lists it: for the program, for its examples and tests, or
    /// for a target. One list more, under another name, would make it two crates to cargo.
    pub fn enable(&mut self, with: &WithSerde) -> Outcome<()> {
        let features = std::slice::from_ref(&with.feature);
        let root = self.document.as_table_mut();
        let mut is_on = enable_in_lists(root, &with.name, features);
        for (_, target) in entries(root, "target") {
            if let Some(target) = target.as_table_like_mut() {
                is_on |= enable_in_lists(target, &with.name, features);
            }
        }
        if is_on {
            return Ok(());
        }
        // A crate that only others depend on: cargo joins the features of what is the same version.
        let mut entry = InlineTable::new();
        entry.insert("package", with.name.as_str().into());
        entry.insert("version", format!("={}", with.version).into());
        entry.insert("default-features", false.into());
        entry.insert("features", Value::Array(features.iter().collect()));
        self.dependencies()?.insert(
            &format!("{}-with-serde", with.name),
            Item::Value(Value::InlineTable(entry)),
        );
        Ok(())
    }

    /// Adds a crate in a folder under a name.
    pub fn add_crate(&mut self, name: &str, package: &str, folder: &Path) -> Outcome<()> {
        let mut entry = InlineTable::new();
        entry.insert("path", folder.display().to_string().into());
        entry.insert("package", package.into());
        self.dependencies()?
            .insert(name, Item::Value(Value::InlineTable(entry)));
        Ok(())
    }

    fn dependencies(&mut self) -> Outcome<&mut dyn TableLike> {
        let table = self
            .document
            .entry("dependencies")
            .or_insert(Item::Table(Table::new()));
        table.as_table_like_mut().ok_or_else(|| {
            self_explaining(&self.path, "`dependencies` is not a table")
                .help("write `[dependencies]`, and below it a line for each")
        })
    }

    /// Whether `ckpt = { workspace = true }` means the library here.
    fn inherits_runtime(&self) -> bool {
        let workspace = self.document.get("workspace").and_then(Item::as_table_like);
        let shared = workspace.and_then(|table| table.get("dependencies")?.as_table_like()?.get("ckpt"));
        shared.is_some_and(|item| is_runtime(item, false))
    }
}

/// The levels in a table of lints, which are words, or stand in tables of their own beside a priority.
fn warn_in(item: &mut Item) {
    if matches!(item.as_str(), Some("deny" | "forbid")) {
        *item = value("warn");
    } else if let Some(table) = item.as_table_like_mut() {
        table.iter_mut().for_each(|(_, item)| warn_in(item));
    }
}

fn self_explaining(path: &Path, why: &str) -> Failure {
    Failure::build(says!(
        "E3068: cannot add the dependency on ckpt to `{}`",
        path.display()
    ))
    .because(why)
}

fn entries<'t>(root: &'t mut Table, key: &str) -> Vec<(String, &'t mut Item)> {
    let table = root.get_mut(key).and_then(Item::as_table_like_mut);
    table.map_or_else(Vec::new, |table| {
        let owned = |(key, item): (toml_edit::KeyMut<'t>, &'t mut Item)| (key.get().to_owned(), item);
        table.iter_mut().map(owned).collect()
    })
}

fn rewrite_lists(table: &mut dyn TableLike, rewritten: &dyn Fn(&str) -> Option<PathBuf>) {
    for name in OF_PROGRAM.into_iter().chain(OF_SCRIPT) {
        if let Some(list) = table.get_mut(name) {
            rewrite_list(list, rewritten);
        }
    }
}

fn rewrite_list(list: &mut Item, rewritten: &dyn Fn(&str) -> Option<PathBuf>) {
    let Some(list) = list.as_table_like_mut() else {
        return;
    };
    for (_, dependency) in list.iter_mut() {
        let Some(dependency) = dependency.as_table_like_mut() else {
            continue;
        };
        if let Some(path) = dependency.get_mut("path")
            && let Some(new) = path.as_str().and_then(rewritten)
        {
            *path = value(new.display().to_string());
        }
    }
}

/// Turns features of a crate on in the lists of a table; whether one of them has it.
fn enable_in_lists(table: &mut dyn TableLike, name: &str, features: &[String]) -> bool {
    let mut is_on = false;
    for list in OF_PROGRAM {
        let Some(list) = table.get_mut(list).and_then(Item::as_table_like_mut) else {
            continue;
        };
        for (key, dependency) in list.iter_mut() {
            let package = { dependency.as_table_like() }.and_then(|table| table.get("package")?.as_str());
            if package.unwrap_or(key.get()) == name {
                is_on |= add_features(dependency, features).is_some();
            }
        }
    }
    is_on
}

fn is_runtime(dependency: &Item, inherited: bool) -> bool {
    let Some(table) = dependency.as_table_like() else {
        return false;
    };
    is_inherited(dependency) && inherited || table.get("package").and_then(Item::as_str) == Some(RUNTIME)
}

fn is_inherited(dependency: &Item) -> bool {
    let table = dependency.as_table_like();
    table.is_some_and(|table| table.get("workspace").and_then(Item::as_bool) == Some(true))
}

/// Adds what is missing to the features of a dependency; nothing where it has an odd shape.
fn add_features(dependency: &mut Item, features: &[String]) -> Option<()> {
    if let Some(version) = dependency.as_str() {
        let mut table = InlineTable::new();
        table.insert("version", version.into());
        *dependency = Item::Value(Value::InlineTable(table));
    }
    let table = dependency.as_table_like_mut()?;
    if features.is_empty() {
        return Some(());
    }
    let list = table
        .entry("features")
        .or_insert(value(Array::new()))
        .as_array_mut()?;
    for feature in features {
        if !list.iter().any(|present| present.as_str() == Some(feature)) {
            list.push(feature);
        }
    }
    Some(())
}

fn runtime_entry(runtime: &Runtime, features: &[String]) -> InlineTable {
    let mut entry = InlineTable::new();
    match runtime {
        Runtime::Path(path) => entry.insert("path", path.display().to_string().into()),
        Runtime::Version(version) => entry.insert("version", version.as_str().into()),
        Runtime::Both(path, version) => {
            entry.insert("version", version.as_str().into());
            entry.insert("path", path.display().to_string().into())
        }
    };
    entry.insert("package", RUNTIME.into());
    if !features.is_empty() {
        entry.insert("features", Value::Array(features.iter().collect()));
    }
    entry
}

/// The text of a manifest with ckpt in it.
pub fn with_dependency(manifest: &Path, text: &str, features: &[String]) -> Outcome<String> {
    let mut edited = Manifest::parse(manifest, text)?;
    edited.add_runtime(&Runtime::for_source(), features, None)?;
    Ok(match has_carriage_returns(text) {
        true => edited.text().replace("\r\n", "\n").replace('\n', "\r\n"),
        false => edited.text(),
    })
}

/// Whether all lines of a text end as on Windows.
fn has_carriage_returns(text: &str) -> bool {
    let ends = text.matches("\r\n").count();
    ends > 0 && ends == text.matches('\n').count()
}

/// The text of a manifest without the entry that [`with_dependency`] has added: what stands above it, below it and behind it stays.
/// An entry in another form, or in a table in braces, is somebody else's and stays as well.
pub fn without_dependency(manifest: &Path, text: &str) -> Outcome<String> {
    let document = Document::parse(text)
        .or_fail(|| Failure::build(says!("E3067: cannot read `{}`", manifest.display())))?;
    let dependencies = document.get("dependencies").and_then(Item::as_table);
    let entry = dependencies.and_then(|table| table.get_key_value("ckpt"));
    let written = entry.filter(|(_, item)| item.is_value() && is_runtime(item, false));
    let Some((Some(key), Some(value))) = written.map(|(key, item)| (key.span(), item.span())) else {
        return Ok(text.to_owned());
    };
    let (above, behind) = (&text[..key.start], &text[value.end..]);
    let start = above.rfind('\n').map_or(0, |end| end + 1);
    let (rest, below) = behind.split_at(behind.find('\n').map_or(behind.len(), |end| end + 1));
    Ok([&text[..start], rest.trim_start(), below].concat())
}

/// Whether a manifest has a dependency that is named `ckpt`.
pub fn has_dependency(text: &str) -> bool {
    let document = Document::parse(text).ok();
    document.is_some_and(|document| {
        let dependencies = document.get("dependencies").and_then(Item::as_table_like);
        dependencies.and_then(|table| table.get("ckpt")).is_some()
    })
}

/// Whether two manifests say the same, however they are written.
pub fn say_the_same(one: &str, other: &str) -> bool {
    let read = |text: &str| {
        let mut table: toml::Table = text.parse().ok()?;
        table.retain(|_, value| value.as_table().is_none_or(|table| !table.is_empty()));
        Some(table)
    };
    read(one).is_some_and(|one| Some(one) == read(other))
}

/// Adds ckpt to a manifest, and says so.
pub fn add_dependency(manifest: &Path, features: &[String]) -> Outcome<()> {
    let text = fs::read_to_string(manifest).about("cannot read", manifest)?;
    let new = with_dependency(manifest, &text, features)?;
    if new == text {
        println!("{} has ckpt already", manifest.display());
        return Ok(());
    }
    fs::write(manifest, new).about("cannot write", manifest)?;
    println!("{}: added ckpt", manifest.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feature_is_turned_on_where_the_dependency_stands() {
        let with = |text: &str| {
            let mut manifest = manifest(text);
            let glam = WithSerde {
                name: "glam".into(),
                version: "0.30.1".into(),
                feature: "serde".into(),
            };
            manifest.enable(&glam).expect("it is turned on");
            manifest.text()
        };
        assert!(
            with("[dependencies]\nglam = \"0.30\"\n")
                .contains("glam = { version = \"0.30\", features = [\"serde\"] }")
        );
        let renamed = with("[dependencies]\ng = { package = \"glam\", version = \"0.30\" }\n");
        assert!(
            renamed.contains("g = { package = \"glam\", version = \"0.30\" , features = [\"serde\"] }"),
            "{renamed}"
        );
        for list in ["dev-dependencies", "target.'cfg(unix)'.dependencies"] {
            let listed = with(&format!("[{list}]\nglam = \"0.30\"\n"));
            assert!(
                listed.contains("glam = { version = \"0.30\", features = [\"serde\"] }"),
                "{listed}"
            );
        }
        let scripts = with("[build-dependencies]\nglam = \"0.30\"\n");
        assert!(
            scripts.contains("glam-with-serde = {") && scripts.contains("\nglam = \"0.30\"\n"),
            "{scripts}"
        );
        let elsewhere = with("[dependencies]\nother = \"1\"\n");
        assert!(
            elsewhere.contains("glam-with-serde = { package = \"glam\", version = \"=0.30.1\""),
            "{elsewhere}"
        );
    }

    fn manifest(text: &str) -> Manifest {
        Manifest::parse(Path::new("/w/app/Cargo.toml"), text).expect("a manifest")
    }

    fn with_runtime(text: &str, features: &[&str]) -> String {
        let mut manifest = manifest(text);
        let features: Vec<_> = features.iter().map(|&name| name.to_owned()).collect();
        let runtime = Runtime::Version("0.1.0".into());
        manifest.add_runtime(&runtime, &features, None).expect("added");
        manifest.text()
    }

    #[test]
    fn the_library_is_added_and_the_rest_stays_as_written() {
        let text =
            "[package] # mine\nname=\"app\"\n\n[dependencies]\nrand   = '0.9' # dice\n\n[features]\nx = []\n";
        let expected = text.replace(
            "# dice\n",
            "# dice\nckpt = { version = \"0.1.0\", package = \"ckpt-runtime\", features = [\"rand\"] }\n",
        );
        assert_eq!(with_runtime(text, &["rand"]), expected);
        assert_eq!(with_runtime(&expected, &["rand"]), expected, "twice is once");
    }

    #[test]
    fn a_manifest_without_dependencies_gets_the_table() {
        let line = "ckpt = { version = \"0.1.0\", package = \"ckpt-runtime\" }\n";
        let text = "[package]\nname = \"app\"\n";
        assert_eq!(with_runtime(text, &[]), format!("{text}\n[dependencies]\n{line}"));
        let with_table = "[package]\nname = \"app\"\n\n[dependencies.rand]\nversion = \"0.9\"\n";
        let added: toml::Table = with_runtime(with_table, &[]).parse().expect("TOML");
        assert!(added["dependencies"]["rand"].is_table() && added["dependencies"]["ckpt"].is_table());
    }

    #[test]
    fn features_are_added_to_a_library_that_is_there() {
        let text =
            "[dependencies]\nckpt = { path = \"x\", package = \"ckpt-runtime\", features = [\"serde\"] }\n";
        let added = with_runtime(text, &["rand", "serde"]);
        assert!(added.contains("features = [\"serde\", \"rand\"]"), "{added}");
        let added = with_runtime("[dependencies]\nckpt-runtime = \"0.1\"\n", &["rand"]);
        assert_eq!(
            added,
            "[dependencies]\nckpt-runtime = { version = \"0.1\", features = [\"rand\"] }\n"
        );
        let shared =
            manifest("[workspace.dependencies]\nckpt = { package = \"ckpt-runtime\", version = \"1\" }\n");
        let mut inheriting = manifest("[dependencies]\nckpt.workspace = true\n");
        let features = ["rand".to_owned()];
        inheriting
            .add_runtime(&Runtime::Version("1".into()), &features, Some(&shared))
            .expect("added");
        let table: toml::Table = inheriting.text().parse().expect("TOML");
        assert_eq!(
            table["dependencies"]["ckpt"]["features"][0].as_str(),
            Some("rand")
        );
    }

    #[test]
    fn another_crate_of_the_name_is_refused() {
        for text in [
            "[dependencies]\nckpt = \"2\"\n",
            "[dependencies]\nckpt.workspace = true\n",
        ] {
            let failure = manifest(text).add_runtime(&Runtime::Version("1".into()), &[], None);
            let failure = failure.expect_err("refused").to_string();
            assert!(failure.contains("another dependency named `ckpt`"), "{failure}");
        }
    }

    #[test]
    fn paths_are_rewritten_wherever_dependencies_stand() {
        let mut manifest = manifest(
            "[dependencies]\na = { path = \"../out/a\" } # keep\nb = { path = \"in\" }\n[dependencies.c]\npath = \"/out/c\"\n\
             [dev-dependencies]\nd.path = \"../out/d\"\n[target.'cfg(unix)'.build-dependencies]\ne = { path = '../out/e' }\n\
             [workspace.dependencies]\nf = { path = \"../out/f\" }\n[patch.crates-io]\ng = { path = \"../out/g\" }\n\
             [replace]\n\"h:0.1.0\" = { path = \"../out/h\" }\n",
        );
        manifest.rewrite_paths(&|path, absolute| {
            assert_eq!(absolute, path.starts_with("/out"));
            (!path.starts_with("/w/app")).then(|| path.to_path_buf())
        });
        let text = manifest.text();
        assert!(
            text.contains("{ path = \"/w/out/a\" } # keep\nb = { path = \"in\" }"),
            "{text}"
        );
        for name in ["a", "d", "e", "f", "g", "h"] {
            assert!(text.contains(&format!("\"/w/out/{name}\"")), "{name}: {text}");
        }
        assert!(!text.contains(".."), "{text}");
    }

    #[test]
    fn lints_that_stop_a_build_warn() {
        let text = "[lints.rust]\nwarnings = \"deny\"\nunused = { level = \"forbid\", priority = -1 }\ndead_code = \"allow\"\n\n\
                    [workspace.lints.clippy]\nall = \"deny\"\n";
        let mut manifest = manifest(text);
        manifest.only_warn();
        let expected = text
            .replace("\"deny\"", "\"warn\"")
            .replace("\"forbid\"", "\"warn\"");
        assert_eq!(manifest.text(), expected);
    }

    #[test]
    fn a_library_is_linked_into_the_program() {
        let linked = |kinds: &str| {
            let mut manifest = manifest(&format!(
                "[package]\nname = \"app\"\n\n[lib]\ncrate-type = {kinds}\n"
            ));
            manifest.link_library();
            let text = manifest.text();
            text.split_once("crate-type = ").unwrap().1.trim_end().to_owned()
        };
        assert_eq!(linked(r#"["rlib", "dylib"]"#), r#"["rlib"]"#);
        assert_eq!(linked(r#"["dylib"]"#), r#"["lib"]"#);
        assert_eq!(linked(r#"["cdylib"]"#), r#"["cdylib"]"#);
        assert_eq!(linked(r#"["proc-macro"]"#), r#"["proc-macro"]"#);
    }

    #[test]
    fn a_package_becomes_its_own_workspace() {
        let mut manifest = manifest("[package]\nname = \"app\"\n");
        manifest.own_workspace(&["parts".to_owned()]);
        manifest.optimise("twox-hash");
        assert_eq!(
            manifest.text(),
            "[package]\nname = \"app\"\n\n[workspace]\nexclude = [\"parts\"]\n\n\
             [profile.dev.package.twox-hash]\nopt-level = 3\n"
        );
    }
}
