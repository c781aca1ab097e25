//! What Cargo.toml and Cargo.lock say of a program: where its crates begin, which packages it takes from folders, and which
//! versions of others.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::{ReadFile, cleaned};

/// A package, as its manifest has it.
pub(super) struct Package {
    pub(super) folder: PathBuf,
    manifest: Table,
    /// The workspace that it is of, if it is one of several; with its folder.
    workspace: Option<(PathBuf, Table)>,
    /// Those of the files a package has by default that are there.
    library: Option<PathBuf>,
    script: Option<PathBuf>,
}

/// What a package depends on.
pub(super) struct Dependency {
    /// The name of the package.
    pub(super) package: String,
    /// Where it is, if it is in a folder.
    pub(super) folder: Option<PathBuf>,
    /// Its name in the manifest's table.
    name: String,
    /// That name, with the table.
    key: String,
    /// What else the manifest says about it, that decides what is built: its features.
    settings: Table,
}

fn text(bytes: Vec<u8>) -> Option<String> {
    String::from_utf8(bytes).ok()
}

fn table(path: &Path, read: ReadFile<'_>) -> Option<Table> {
    text(read(path)?)?.parse().ok()
}

fn at<'t>(table: &'t Table, path: &[&str]) -> Option<&'t Value> {
    let (first, rest) = path.split_first()?;
    let value = table.get(*first)?;
    match rest {
        [] => Some(value),
        rest => at(value.as_table()?, rest),
    }
}

impl Package {
    pub(super) fn read(folder: &Path, read: ReadFile<'_>) -> Option<Self> {
        let manifest = table(&folder.join("Cargo.toml"), read)?;
        let named = |path: &[&str]| Some(cleaned(&folder.join(at(&manifest, path)?.as_str()?)));
        let there = |path: PathBuf| read(&path).map(|_| path);
        let library = named(&["lib", "path"]).unwrap_or_else(|| folder.join("src/lib.rs"));
        let script = match at(&manifest, &["package", "build"]) {
            Some(Value::Boolean(false)) => None,
            _ => Some(named(&["package", "build"]).unwrap_or_else(|| folder.join("build.rs"))),
        };
        Some(Package {
            library: there(library),
            script: script.and_then(there),
            workspace: workspace(folder, &manifest, read),
            folder: folder.to_path_buf(),
            manifest,
        })
    }

    pub(super) fn library_and_script(&self) -> Vec<PathBuf> {
        self.library.iter().chain(&self.script).cloned().collect()
    }

    /// Where its crates begin, but for programs that cargo finds in the folders for them.
    pub(super) fn roots(&self) -> Vec<PathBuf> {
        let named = ["bin", "example", "test", "bench"].into_iter().flat_map(|kind| {
            let listed = self.manifest.get(kind).and_then(Value::as_array);
            listed.into_iter().flatten()
        });
        let named = named.filter_map(|one| at(one.as_table()?, &["path"])?.as_str());
        let named = named
            .chain(["src/main.rs"])
            .map(|path| cleaned(&self.folder.join(path)));
        self.library_and_script().into_iter().chain(named).collect()
    }

    /// The files where a program of this name may begin, the likeliest first.
    pub(super) fn roots_of(&self, target: &str) -> Vec<PathBuf> {
        let mut roots = Vec::new();
        for kind in ["bin", "example"] {
            let listed = self.manifest.get(kind).and_then(Value::as_array);
            for one in listed.into_iter().flatten().filter_map(Value::as_table) {
                let is_meant = one.get("name").and_then(Value::as_str) == Some(target);
                if let (true, Some(path)) = (is_meant, one.get("path").and_then(Value::as_str)) {
                    roots.push(path.to_owned());
                }
            }
        }
        if at(&self.manifest, &["package", "name"]).and_then(Value::as_str) == Some(target) {
            roots.push("src/main.rs".to_owned());
        }
        for folder in ["src/bin", "examples"] {
            roots.push(format!("{folder}/{target}.rs"));
            roots.push(format!("{folder}/{target}/main.rs"));
        }
        roots
            .into_iter()
            .map(|path| cleaned(&self.folder.join(path)))
            .collect()
    }

    /// What the package depends on, on whatever target; for programs of its developers also what only those need.
    pub(super) fn dependencies(&self, is_for_developers: bool) -> Vec<Dependency> {
        let mut kinds = vec!["dependencies", "build-dependencies"];
        if is_for_developers {
            kinds.push("dev-dependencies");
        }
        let targets = self.manifest.get("target").and_then(Value::as_table);
        let of_targets = targets
            .into_iter()
            .flatten()
            .filter_map(|(name, table)| Some((format!("target.{name}."), table.as_table()?)));
        let mut found = Vec::new();
        for (place, tables) in [(String::new(), &self.manifest)].into_iter().chain(of_targets) {
            for kind in &kinds {
                let listed = tables.get(*kind).and_then(Value::as_table);
                for (name, said) in listed.into_iter().flatten() {
                    found.push(self.dependency(format!("{place}{kind}.{name}"), name, said));
                }
            }
        }
        found
    }

    /// The names of the package's features: those of its table, and the optional dependencies that are not hidden by a `dep:`
    /// in it (Cargo's book, "Optional dependencies").
    pub(super) fn features(&self) -> BTreeSet<String> {
        let listed = self.manifest.get("features").and_then(Value::as_table);
        let mut features = BTreeSet::new();
        let mut hidden = BTreeSet::new();
        for (name, turns_on) in listed.into_iter().flatten() {
            features.insert(name.clone());
            let turns_on = turns_on
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str);
            hidden.extend(
                turns_on
                    .filter_map(|word| word.strip_prefix("dep:"))
                    .map(str::to_owned),
            );
        }
        let is_optional =
            |one: &Dependency| one.settings.get("optional").and_then(Value::as_bool) == Some(true);
        let optional = self.dependencies(false).into_iter().filter(is_optional);
        features.extend(optional.map(|one| one.name).filter(|name| !hidden.contains(name)));
        features
    }

    fn dependency(&self, key: String, name: &str, said: &Value) -> Dependency {
        let mut settings = said.as_table().cloned().unwrap_or_default();
        let mut from = self.folder.as_path();
        let inherits = settings.remove("workspace").is_some();
        if let (true, Some((folder, workspace))) = (inherits, &self.workspace) {
            let inherited = at(workspace, &["workspace", "dependencies", name]);
            for (setting, value) in inherited.and_then(Value::as_table).into_iter().flatten() {
                match (settings.get_mut(setting), value) {
                    // Features are added to those of the workspace.
                    (Some(Value::Array(own)), Value::Array(theirs)) => own.extend(theirs.iter().cloned()),
                    (Some(_), _) => {}
                    (None, value) => {
                        settings.insert(setting.clone(), value.clone());
                    }
                }
            }
            from = folder;
        }
        let package = settings.get("package").and_then(Value::as_str).unwrap_or(name);
        let package = package.to_owned();
        let folder = settings.get("path").and_then(Value::as_str);
        let folder = folder.map(|path| cleaned(&from.join(path)));
        const DECIDES: [&str; 4] = ["features", "default-features", "optional", "package"];
        settings.retain(|setting, _| DECIDES.contains(&setting));
        Dependency {
            package,
            folder,
            name: name.to_owned(),
            key,
            settings,
        }
    }

    /// What of the manifest decides what is built, as one text. Versions are in Cargo.lock.
    pub(super) fn manifest_words(&self, dependencies: &[Dependency]) -> String {
        let mut words = Table::new();
        let edition = match at(&self.manifest, &["package", "edition"]) {
            Some(Value::Table(_)) => {
                let workspace = self.workspace.as_ref();
                workspace.and_then(|(_, table)| at(table, &["workspace", "package", "edition"]))
            }
            own => own,
        };
        words.extend(edition.map(|edition| ("edition".to_owned(), edition.clone())));
        let features = self.manifest.get("features");
        words.extend(features.map(|features| ("features".to_owned(), features.clone())));
        let own = dependencies.iter().filter(|one| one.package != super::RUNTIME);
        words.extend(own.map(|one| (one.key.clone(), Value::Table(one.settings.clone()))));
        words.to_string()
    }

    /// The packages in folders that stand in for ones from elsewhere.
    pub(super) fn patches(&self) -> Vec<(String, PathBuf)> {
        let own = (&self.folder, &self.manifest);
        let (folder, root) = self
            .workspace
            .as_ref()
            .map_or(own, |(folder, table)| (folder, table));
        let sources = root.get("patch").and_then(Value::as_table);
        let patches = sources
            .into_iter()
            .flatten()
            .filter_map(|(_, patches)| patches.as_table());
        let patch = |(name, said): (&String, &Value)| {
            let said = said.as_table()?;
            let name = said.get("package").and_then(Value::as_str).unwrap_or(name);
            let path = said.get("path")?.as_str()?;
            Some((name.to_owned(), cleaned(&folder.join(path))))
        };
        patches.flatten().filter_map(patch).collect()
    }

    /// The Cargo.lock that the package is built with.
    pub(super) fn lock(&self, read: ReadFile<'_>) -> Option<(PathBuf, String)> {
        let folder = self.workspace.as_ref().map_or(&self.folder, |(folder, _)| folder);
        let path = folder.join("Cargo.lock");
        let text = text(read(&path)?)?;
        Some((path, text))
    }
}

/// The workspace of a package: the one that it names, or that of its own manifest or the next one above.
fn workspace(folder: &Path, manifest: &Table, read: ReadFile<'_>) -> Option<(PathBuf, Table)> {
    if let Some(named) = at(manifest, &["package", "workspace"]).and_then(Value::as_str) {
        let folder = cleaned(&folder.join(named));
        let table = table(&folder.join("Cargo.toml"), read)?;
        return Some((folder, table));
    }
    let manifests = folder
        .ancestors()
        .filter_map(|above| Some((above, table(&above.join("Cargo.toml"), read)?)));
    let found = manifests
        .into_iter()
        .find(|(_, table)| table.contains_key("workspace"));
    let (root, table) = found?;
    let excluded = at(&table, &["workspace", "exclude"]).and_then(Value::as_array);
    let excluded = excluded.into_iter().flatten().filter_map(Value::as_str);
    let is_out = { excluded }.any(|path| folder.starts_with(cleaned(&root.join(path))));
    (!is_out).then(|| (root.to_path_buf(), table))
}

/// What a Cargo.lock says of some packages and those that they lead to.
pub(super) struct Locked {
    /// The versions and checksums of those that come from elsewhere, one a line.
    pub(super) text: String,
    /// The names of those that lie in folders.
    pub(super) in_folders: BTreeSet<String>,
}

/// What a Cargo.lock says of the packages of these names.
pub(super) fn locked(lock: &str, from: &BTreeSet<String>) -> Locked {
    let lock = lock.parse::<Table>().unwrap_or_default();
    let packages = lock.get("package").and_then(Value::as_array);
    let packages: Vec<&Table> = packages
        .into_iter()
        .flatten()
        .filter_map(Value::as_table)
        .collect();
    let said = |package: &Table, key: &str| {
        let said = package.get(key).and_then(Value::as_str);
        said.unwrap_or_default().to_owned()
    };
    let mut by_name = BTreeMap::<String, Vec<usize>>::new();
    for (place, package) in packages.iter().enumerate() {
        by_name.entry(said(package, "name")).or_default().push(place);
    }
    let mut reached = BTreeSet::new();
    let mut pending: Vec<String> = from.iter().cloned().collect();
    while let Some(wanted) = pending.pop() {
        let mut words = wanted.split(' ');
        let (name, version) = (words.next().unwrap_or_default(), words.next());
        for &place in by_name.get(name).into_iter().flatten() {
            let package = packages[place];
            let is_meant = version.is_none_or(|version| said(package, "version") == version);
            if is_meant && name != super::RUNTIME && reached.insert(place) {
                let next = package.get("dependencies").and_then(Value::as_array);
                let next = next.into_iter().flatten().filter_map(Value::as_str);
                pending.extend(next.map(str::to_owned));
            }
        }
    }
    let (elsewhere, here): (Vec<&Table>, Vec<&Table>) = reached
        .into_iter()
        .map(|place| packages[place])
        .partition(|package| package.contains_key("source"));
    let line = |package: &Table| {
        ["name", "version", "source", "checksum"]
            .map(|key| said(package, key))
            .join(" ")
            + "\n"
    };
    let lines: BTreeSet<String> = elsewhere.into_iter().map(line).collect();
    Locked {
        text: lines.into_iter().collect(),
        in_folders: here.into_iter().map(|package| said(package, "name")).collect(),
    }
}
