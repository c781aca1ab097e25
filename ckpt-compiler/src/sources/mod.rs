//! The files that a program is made of, and a hash for each: what tells a restart that its checkpoint was taken by a
//! build of other sources.
//!
//! A program is the crate of its `main`, the library and build script of its package, and the same of every package that
//! one of them takes from a folder. `modules` follows a crate from file to file, `packages` reads manifests and Cargo.lock.
//! Files are read by whoever asks: there is no I/O here. Neither the folder where all this lies nor the order in which it
//! is found has a part in the hashes.

mod modules;
mod packages;
mod surroundings;
#[cfg(test)]
mod tests;
mod variables;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::str::FromStr;

use proc_macro2::{Literal, TokenStream, TokenTree};
use quote::quote;
use toml::{Table, Value};
use twox_hash::XxHash3_128;

use crate::paths::rt;
use crate::syntax::words::words;
use modules::Crate;
pub use modules::may_lead_away;
use packages::Package;
pub use surroundings::AskedOfBuild;

/// Name of the file, beside the Cargo.toml of a package that `cargo ckpt` has rewritten, that has the hashes of what it was
/// before.
pub const SOURCES_RECORD: &str = ".ckpt-sources.toml";

/// The parts of it.
const FILES: &str = "files";
const FEATURES: &str = "features";
const VARIABLES: &str = "variables";
const VARIABLES_OF_BUILD: &str = "variables-of-build";
const CONDITIONS: &str = "conditions";

/// Gives what is in a file; nothing where there is none.
pub type ReadFile<'r> = &'r dyn Fn(&Path) -> Option<Vec<u8>>;

/// Where a program begins.
#[derive(Debug, Clone)]
pub struct ProgramRoot<'a> {
    /// The file that has its `main`.
    pub main: &'a Path,
    /// The folder of its Cargo.toml.
    pub package: &'a Path,
    /// The name of the target, where it is known: its root is another file than that of `main` if that is in a module.
    pub target: Option<&'a str>,
}

/// A file of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceHash {
    /// Where it is.
    pub path: PathBuf,
    /// XXH3-128 of its words if it is Rust, of its bytes if the program includes it as data, of what the build of the program
    /// follows if it is one of cargo's.
    pub hash: u128,
}

/// The files of a program, by their names: the path from the folder of the program's package, or `NAME:` and the path
/// from the folder of another package.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sources {
    /// Each file once.
    pub files: BTreeMap<String, SourceHash>,
    /// The features that the program's package has. Which of them are on is known to the compiler of the program alone.
    pub features: BTreeSet<String>,
    /// The environment variables that it reads by name.
    pub variables: BTreeSet<String>,
    /// What it asks its build for.
    pub asked: AskedOfBuild,
}

impl Sources {
    /// Reads the program.
    pub fn of(root: &ProgramRoot<'_>, read: ReadFile<'_>) -> Self {
        let mut gathering = Gathering {
            read,
            sources: Sources::default(),
            known: BTreeSet::new(),
            registry: BTreeSet::new(),
        };
        gathering.program(root);
        gathering.sources
    }

    /// One hash for all files.
    pub fn hash(&self) -> u128 {
        let mut hasher = XxHash3_128::new();
        for (name, file) in &self.files {
            hasher.write(name.as_bytes());
            hasher.write(&[0]);
            hasher.write(&file.hash.to_be_bytes());
        }
        hasher.finish_128()
    }

    /// The text of a record of them, which [`Sources::recorded`] reads.
    pub fn record(&self) -> String {
        let line =
            |(name, file): (&String, &SourceHash)| (name.clone(), Value::from(format!("{:032x}", file.hash)));
        let files: Table = self.files.iter().map(line).collect();
        let list = |names: &BTreeSet<String>| names.iter().cloned().map(Value::from).collect::<Vec<_>>();
        let parts = [
            (CONDITIONS, Value::from(list(&self.asked.conditions))),
            (FEATURES, Value::from(list(&self.features))),
            (FILES, Value::from(files)),
            (VARIABLES, Value::from(list(&self.variables))),
            (VARIABLES_OF_BUILD, Value::from(list(&self.asked.variables))),
        ];
        let record: Table = parts
            .map(|(name, part)| (name.to_owned(), part))
            .into_iter()
            .collect();
        record.to_string()
    }

    /// The sources that the record in a file has.
    pub fn recorded(record: &Path, text: &str) -> Option<Self> {
        let table = text.parse::<Table>().ok()?;
        let file = |(name, hash): (&String, &Value)| {
            let file = SourceHash {
                path: record.to_path_buf(),
                hash: u128::from_str_radix(hash.as_str()?, 16).ok()?,
            };
            Some((name.clone(), file))
        };
        let files = table
            .get(FILES)?
            .as_table()?
            .iter()
            .map(file)
            .collect::<Option<_>>()?;
        let list = |part: &str| {
            let names = table.get(part)?.as_array()?.iter();
            names
                .map(|name| Some(name.as_str()?.to_owned()))
                .collect::<Option<_>>()
        };
        Some(Sources {
            files,
            features: list(FEATURES)?,
            variables: list(VARIABLES)?,
            asked: AskedOfBuild {
                variables: list(VARIABLES_OF_BUILD)?,
                conditions: list(CONDITIONS)?,
            },
        })
    }

    /// What the runtime is told, as an expression. The compiler makes it again when one of the files has changed.
    pub(crate) fn expression(&self) -> TokenStream {
        let rt = rt();
        let hash = Literal::u128_suffixed(self.hash());
        let files = self.files.iter().map(|(name, file)| {
            let hash = Literal::u128_suffixed(file.hash);
            quote!((#name, #hash))
        });
        // A feature that is on counts as a file that is there, and so does a condition that holds.
        let of_features = self
            .features
            .iter()
            .map(|name| (format!("feature {name}"), quote!(feature = #name)));
        let of_conditions = self.asked.conditions.iter().filter_map(|condition| {
            let tokens = TokenStream::from_str(condition).ok()?;
            Some((format!("cfg {condition}"), tokens))
        });
        let (features, hashes): (Vec<_>, Vec<_>) = of_features
            .chain(of_conditions)
            .map(|(shown, condition)| {
                let hash = Literal::u128_suffixed(of_bytes(shown.as_bytes()));
                (
                    quote!(#[cfg(#condition)] (#shown, #hash)),
                    quote!(^ if ::core::cfg!(#condition) { #hash } else { 0 }),
                )
            })
            .unzip();
        let (told, hashes_of_told): (Vec<_>, Vec<_>) = self
            .asked
            .variables
            .iter()
            .map(|name| {
                let shown = format!("variable {name} of the build");
                let hash = quote!(#rt::of_build_variable(#name, ::core::option_env!(#name)));
                (quote!((#shown, #hash)), quote!(^ #hash))
            })
            .unzip();
        // A condition of another package is not declared in this one.
        let allowed = (!self.asked.conditions.is_empty()).then(|| quote!(#[allow(unexpected_cfgs)]));
        let variables = self.variables.iter();
        let tracked: BTreeSet<&str> = self
            .files
            .values()
            .filter_map(|file| file.path.to_str())
            .collect();
        let tracked = tracked.into_iter();
        quote! {{
            #(const _: &[u8] = ::core::include_bytes!(#tracked);)*
            #allowed
            const HASH: ::core::primitive::u128 = #hash #(#hashes)* #(#hashes_of_told)*;
            #allowed
            const FILES: &[(&::core::primitive::str, ::core::primitive::u128)] = &[#(#files,)* #(#features,)* #(#told,)*];
            ::core::option::Option::Some(&#rt::Sources { hash: HASH, files: FILES, variables: &[#(#variables),*] })
        }}
    }
}

/// The folder of a package, and those of all packages from folders that it depends on, also for its developers; without ckpt's own
/// library.
pub fn folders_of_packages(package: &Path, read: ReadFile<'_>) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut open = vec![cleaned(package)];
    while let Some(folder) = open.pop() {
        if !found.insert(folder.clone()) {
            continue;
        }
        let package = Package::read(&folder, read);
        let dependencies = package.iter().flat_map(|package| package.dependencies(true));
        let others = dependencies.filter(|one| one.package != RUNTIME);
        open.extend(others.filter_map(|one| one.folder));
    }
    found
}

/// The files of Rust that these lead to, themselves included, along modules, `#[path]` and `include!`; `None` in the place of those that
/// cannot be told, as of an `include!` of what a build has made.
pub fn files_from(files: &[PathBuf], package: &Path, read: ReadFile<'_>) -> BTreeSet<Option<PathBuf>> {
    let (krate, is_whole) = Crate::read_all(files, package, read);
    let is_code = |file: &modules::File| matches!(file, modules::File::Rust(_));
    let found = krate.into_iter().filter(|(_, file)| is_code(file));
    let unknown = (!is_whole).then_some(None);
    found.map(|(path, _)| Some(path)).chain(unknown).collect()
}

/// Where the crates of the package in a folder begin: as its manifest says, or where cargo looks otherwise. Those that
/// are not there count as well.
pub fn roots_of_package(folder: &Path, read: ReadFile<'_>) -> Vec<PathBuf> {
    Package::read(folder, read).map_or_else(Vec::new, |package| package.roots())
}

/// The names of ckpt's own library, which is no part of the program.
const RUNTIME: &str = "ckpt-runtime";

struct Gathering<'r> {
    read: ReadFile<'r>,
    sources: Sources,
    /// Folders of packages that have been looked at.
    known: BTreeSet<PathBuf>,
    /// The packages that come from elsewhere.
    registry: BTreeSet<String>,
}

impl Gathering<'_> {
    fn program(&mut self, root: &ProgramRoot<'_>) {
        let folder = cleaned(root.package);
        let main = cleaned(root.main);
        let package = Package::read(&folder, self.read);
        let mut roots = vec![main.clone()];
        if let Some(package) = &package {
            let named = root.target.map(|name| package.roots_of(name)).unwrap_or_default();
            if !named.contains(&main) {
                roots.extend(named.into_iter().find(|path| (self.read)(path).is_some()));
            }
        }
        for root in roots {
            self.krate(&root, &folder, "");
        }
        let Some(package) = package else { return };
        let is_for_developers = ["examples", "tests", "benches"]
            .into_iter()
            .any(|part| main.starts_with(folder.join(part)));
        self.known.insert(folder);
        self.sources.features = package.features();
        self.package(&package, "", is_for_developers);
        let Some((path, text)) = package.lock(self.read) else {
            return;
        };
        // A package that stands in for one from elsewhere brings others along.
        let mut locked = packages::locked(&text, &self.registry);
        for (name, folder) in package.patches() {
            if locked.in_folders.contains(&name) {
                self.package_in(folder, &name);
                locked = packages::locked(&text, &self.registry);
            }
        }
        self.add("Cargo.lock".into(), path, of_bytes(locked.text.as_bytes()));
    }

    /// The library and build script of a package, and the packages that it takes from folders.
    fn package(&mut self, package: &Package, prefix: &str, is_for_developers: bool) {
        for root in package.library_and_script() {
            self.krate(&root, &package.folder, prefix);
        }
        let dependencies = package.dependencies(is_for_developers);
        let manifest = package.manifest_words(&dependencies);
        let path = package.folder.join("Cargo.toml");
        self.add(format!("{prefix}Cargo.toml"), path, of_bytes(manifest.as_bytes()));
        for dependency in dependencies.into_iter().filter(|one| one.package != RUNTIME) {
            match dependency.folder {
                Some(folder) => self.package_in(folder, &dependency.package),
                None => {
                    self.registry.insert(dependency.package);
                }
            }
        }
    }

    fn package_in(&mut self, folder: PathBuf, name: &str) {
        if self.known.insert(folder.clone())
            && let Some(package) = Package::read(&folder, self.read)
        {
            self.package(&package, &format!("{name}:"), false);
        }
    }

    fn krate(&mut self, root: &Path, folder: &Path, prefix: &str) {
        let found = Crate::read(root, folder, self.read);
        for (path, file) in found.files {
            let hash = match file {
                modules::File::Rust(tokens) => {
                    everywhere(&tokens, &mut |here| {
                        self.sources.variables.extend(variables::named(here));
                        self.sources.asked.read_at(here);
                    });
                    of_tokens(&tokens)
                }
                modules::File::Data(bytes) => of_bytes(&bytes),
            };
            self.add(format!("{prefix}{}", name_below(folder, &path)), path, hash);
        }
    }

    fn add(&mut self, mut name: String, path: PathBuf, hash: u128) {
        // Two packages in different folders may have one name.
        let is_taken = |name: &String| self.sources.files.get(name).is_some_and(|file| file.path != path);
        while is_taken(&name) {
            name.push('\'');
        }
        self.sources.files.insert(name, SourceHash { path, hash });
    }
}

fn of_bytes(bytes: &[u8]) -> u128 {
    XxHash3_128::oneshot(bytes)
}

/// Looks at every place in tokens, with what follows it there, whatever `#[cfg]` says.
fn everywhere(tokens: &TokenStream, look: &mut dyn FnMut(&[TokenTree])) {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        if let TokenTree::Group(group) = token {
            everywhere(&group.stream(), look);
        }
        look(&tokens[at..]);
    }
}

fn of_tokens(tokens: &TokenStream) -> u128 {
    let mut hasher = XxHash3_128::new();
    words(tokens, &mut |word| {
        hasher.write(word.as_bytes());
        hasher.write(&[0]);
    });
    hasher.finish_128()
}

/// The tokens of a text, whatever its line ends are; none where it is not Rust.
fn tokens_of(bytes: &[u8]) -> Option<TokenStream> {
    let text = std::str::from_utf8(bytes).ok()?;
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    let text = match text.strip_prefix("#!") {
        Some(rest) if !rest.trim_start().starts_with('[') => {
            rest.split_once('\n').map_or("", |(_, rest)| rest)
        }
        _ => &text,
    };
    TokenStream::from_str(text).ok()
}

/// A path from a folder, with `/` on every system.
fn name_below(folder: &Path, path: &Path) -> String {
    let mut ups = 0;
    let common = folder.ancestors().find(|above| {
        let is_common = path.starts_with(above);
        ups += usize::from(!is_common);
        is_common
    });
    let Some(below) = common.and_then(|common| path.strip_prefix(common).ok()) else {
        return path.to_string_lossy().into_owned();
    };
    let parts = below
        .components()
        .map(|part| part.as_os_str().to_string_lossy().into_owned());
    let ups = std::iter::repeat_n("..".to_owned(), ups);
    ups.chain(parts).collect::<Vec<_>>().join("/")
}

/// A path without `.` and `..`, as far as that can be told from its text.
fn cleaned(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(clean.components().next_back(), Some(Component::Normal(_))) => {
                clean.pop();
            }
            part => clean.push(part),
        }
    }
    clean
}
