//! The imports held against the picture.

use crate::imports::{What, is_lifetime, is_word, named_behind};
use crate::picture::{Layers, Picture};
use crate::sources::Sources;
use anyhow::{Context, Result};
use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The crates of a folder, with the picture in it.
#[derive(Debug)]
pub struct House {
    picture: Picture,
    sources: BTreeMap<String, Sources>,
    dependencies: Vec<(String, String)>,
}

impl House {
    /// Reads it.
    ///
    /// # Errors
    /// Files that cannot be read, or a picture without layers of the `crates`.
    pub fn read(root: &Path) -> Result<Self> {
        let page = root.join("ARCHITECTURE.md");
        let page = fs::read_to_string(&page).with_context(|| format!("cannot read {}", page.display()))?;
        let picture = Picture::read(&page)?;
        let crates = picture
            .layers
            .get("crates")
            .context("ARCHITECTURE.md draws no layers of the `crates`")?;
        let mut sources = BTreeMap::new();
        let mut dependencies = Vec::new();
        for krate in crates.modules() {
            sources.insert(krate.to_owned(), Sources::read(root, krate)?);
            let path = root.join(krate).join("Cargo.toml");
            let text =
                fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            let of = dependencies_of(&text.parse()?);
            dependencies.extend(of.into_iter().map(|name| (krate.to_owned(), name)));
        }
        Ok(Self {
            picture,
            sources,
            dependencies,
        })
    }

    /// Everything in which the crates are not what the picture shows, each with the line that it is about.
    pub fn differences(&self) -> Vec<String> {
        let picture = &self.picture;
        let mut wrong = Vec::new();
        let Some(crates) = picture.layers.get("crates") else {
            return wrong;
        };
        for (krate, name) in &self.dependencies {
            if crates.of(name).is_some() && crates.of(name) <= crates.of(krate) {
                wrong.push(format!(
                    "{krate}/Cargo.toml: {krate} depends on {name}, which is not below it"
                ));
            }
        }
        for krate in crates.modules() {
            let sources = &self.sources[krate];
            match picture.layers.get(krate) {
                Some(layers) => imports(sources, layers, &mut wrong),
                None if sources.modules.is_empty() => {}
                None => wrong.push(format!("ARCHITECTURE.md draws no layers of {krate}")),
            }
            wrong.extend(sources.refused.iter().cloned());
            words(sources, picture, &mut wrong);
            passed_on(sources, picture, &mut wrong);
            statics(sources, picture, &mut wrong);
        }
        for (krate, others) in &picture.roots {
            for other in others {
                roots(&self.sources[krate], &self.sources[other], other, &mut wrong);
            }
        }
        wrong
    }

    /// Whether the picture lists the statics; where it does not, they are not looked at.
    pub fn lists_statics(&self) -> bool {
        self.picture.statics.is_some()
    }

    /// What the picture allows, and no code needs.
    pub fn unused(&self) -> Vec<String> {
        let only = self.picture.only.iter();
        let only = only.flat_map(|(word, places)| places.iter().map(move |place| (word.as_str(), place)));
        let statics = self.picture.statics.iter().flatten();
        let statics = statics.map(|(place, _)| ("static", place));
        let files = || self.sources.values().flat_map(|one| &one.files);
        let is_needed = |word: &str, place: &str| {
            files().any(|file| {
                file.path.with_extension("").starts_with(place) && !lines_of(&file.tokens, word).is_empty()
            })
        };
        only.chain(statics)
            .filter(|(word, place)| !is_needed(word, place))
            .map(|(word, place)| format!("ARCHITECTURE.md: there is no `{word}` in {place}"))
            .collect()
    }
}

/// The packages that a manifest names, for every target and for build scripts; those of tests aside.
fn dependencies_of(manifest: &toml::Table) -> Vec<String> {
    let mut found = Vec::new();
    for (section, table) in manifest {
        let Some(table) = table.as_table() else { continue };
        match &**section {
            "dependencies" | "build-dependencies" => {
                for (name, one) in table {
                    let package = one.get("package").and_then(toml::Value::as_str);
                    // The runtime's library is called `ckpt`.
                    found.push(match package.unwrap_or(name) {
                        "ckpt" => "ckpt-runtime".to_owned(),
                        name => name.to_owned(),
                    });
                }
            }
            "target" => {
                let targets = table.values().filter_map(toml::Value::as_table);
                found.extend(targets.flat_map(dependencies_of));
            }
            _ => {}
        }
    }
    found
}

fn imports(sources: &Sources, layers: &Layers, wrong: &mut Vec<String>) {
    let krate = &layers.name;
    for module in &sources.modules {
        if layers.of(module).is_none() {
            wrong.push(format!(
                "{krate}/src: `{module}` is in no layer of ARCHITECTURE.md"
            ));
        }
    }
    for module in layers.modules() {
        if !sources.modules.contains(module) {
            wrong.push(format!("ARCHITECTURE.md: there is no `{module}` in {krate}/src"));
        }
    }
    for one in &sources.imports {
        if let (Some(from), Some(to)) = (layers.of(&one.from), layers.of(&one.to)) {
            let how = match to {
                to if to > from => continue,
                to if to == from => "beside",
                _ => "above",
            };
            wrong.push(format!(
                "{}:{}: `{}` knows `{}`, which is {how} it",
                one.file.display(),
                one.line,
                one.from,
                one.to
            ));
        }
    }
}

/// Words that may stand in some folders only.
fn words(sources: &Sources, picture: &Picture, wrong: &mut Vec<String>) {
    for (word, folders) in &picture.only {
        for file in &sources.files {
            let module = file.path.with_extension("");
            if folders.iter().any(|folder| module.starts_with(folder)) {
                continue;
            }
            if let Some(line) = lines_of(&file.tokens, word).first() {
                wrong.push(format!(
                    "{}:{line}: `{word}` stands outside of {}",
                    file.path.display(),
                    folders.join(", ")
                ));
            }
        }
    }
}

/// Words that may stand in some folders only, in a `pub use`: what stands elsewhere would have them under another path.
fn passed_on(sources: &Sources, picture: &Picture, wrong: &mut Vec<String>) {
    for file in &sources.files {
        for line in lines_passed_on(file.tokens.clone(), &|line| {
            let words = picture.only.keys();
            words
                .filter_map(|word| lines_of(line, word).first().copied())
                .min()
        }) {
            wrong.push(format!(
                "{}:{line}: a `pub use` of what may stand in some folders only",
                file.path.display()
            ));
        }
    }
}

/// Statics, in `thread_local!` as well, that are not listed with what they are, or are more than are listed.
fn statics(sources: &Sources, picture: &Picture, wrong: &mut Vec<String>) {
    let Some(listed) = &picture.statics else { return };
    let mut met: BTreeMap<&str, usize> = BTreeMap::new();
    for file in &sources.files {
        let module = file.path.with_extension("");
        // The line that is nearest to the file.
        let place = listed.iter().filter(|(place, _)| module.starts_with(place));
        let place = place.max_by_key(|(place, _)| place.len());
        for line in lines_of(&file.tokens, "static") {
            let at = format!("{}:{line}", file.path.display());
            let Some((place, allowed)) = place else {
                wrong.push(format!(
                    "{at}: a static that is not in the list of ARCHITECTURE.md"
                ));
                continue;
            };
            let count = met.entry(place).or_default();
            *count += 1;
            if *count > *allowed {
                wrong.push(format!(
                    "{at}: static number {count} of {place}, for which ARCHITECTURE.md lists {allowed}"
                ));
            }
        }
    }
    wrong.extend(met.into_iter().filter_map(|(place, count)| {
        let allowed = listed[place];
        (count < allowed)
            .then(|| format!("ARCHITECTURE.md: {place} has {count} statics, not the {allowed} of the list"))
    }));
}

/// Modules of another crate that a crate names, where it has to know the root only.
fn roots(sources: &Sources, other: &Sources, name: &str, wrong: &mut Vec<String>) {
    let name = name.replace('-', "_");
    for file in &sources.files {
        for one in named_behind(file.tokens.clone(), &name) {
            let what = match &one.what {
                What::Name {
                    name: inner,
                    leads_on,
                } => {
                    let is_module = other.root.has_inside(inner)
                        || other.modules.contains(inner) && (*leads_on || !other.root.passes_on(inner));
                    if !is_module {
                        continue;
                    }
                    format!("`{name}::{inner}` is a module, and only the root of the crate may be named here")
                }
                What::All => format!("all names of `{name}`, `*`: write down which"),
                What::Renamed => format!("another name for `{name}`: write it as it is"),
                What::FilledIn => format!("a path in `{name}` that a macro fills in: write it out"),
            };
            wrong.push(format!("{}:{}: {what}", file.path.display(), one.line));
        }
    }
}

/// The lines with this word, that of no lifetime; of `crate::name`, those where it is named; of `name!`, those of its calls.
fn lines_of(tokens: &TokenStream, word: &str) -> Vec<usize> {
    if let Some((krate, name)) = word.split_once("::") {
        let found = named_behind(tokens.clone(), krate).into_iter();
        return found
            .filter(|one| !matches!(&one.what, What::Name { name: other, .. } if other != name))
            .map(|one| one.line)
            .collect();
    }
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let mut found = Vec::new();
    let (name, is_macro) = word.strip_suffix('!').map_or((word, false), |name| (name, true));
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => found.extend(lines_of(&group.stream(), word)),
            TokenTree::Ident(one) if is_macro => {
                let follows =
                    matches!(tokens.get(at + 1), Some(TokenTree::Punct(sign)) if sign.as_char() == '!');
                found.extend((one == name && follows).then(|| one.span().start().line));
            }
            // `Token![static]` is the word itself.
            TokenTree::Ident(one)
                if one == word && !is_lifetime(&tokens, at) && (word != "static" || tokens.len() > 1) =>
            {
                found.push(one.span().start().line);
            }
            _ => {}
        }
    }
    found
}

/// The lines of every `pub use` with one of these words.
fn lines_passed_on(tokens: TokenStream, has_one: &impl Fn(&TokenStream) -> Option<usize>) -> Vec<usize> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if let TokenTree::Group(group) = token {
            found.extend(lines_passed_on(group.stream(), has_one));
        }
        if !is_word(Some(token), "pub") {
            continue;
        }
        let visibility = usize::from(matches!(tokens.get(at + 1), Some(TokenTree::Group(_))));
        if !is_word(tokens.get(at + 1 + visibility), "use") {
            continue;
        }
        let line = tokens[at + 2 + visibility..]
            .iter()
            .take_while(|token| !matches!(token, TokenTree::Punct(one) if one.as_char() == ';'));
        found.extend(has_one(&line.cloned().collect()));
    }
    found
}
