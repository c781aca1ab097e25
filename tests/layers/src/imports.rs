//! Who names whom: the paths of a crate's sources.
//!
//! Sources are read as tokens, so that paths inside of macros count as well. A path that begins with `crate` leads to the
//! module that it names first, or to the one from which the crate's root takes that name; `self` and `super` to the module that
//! they reach. A form through which names arrive that are not written there is refused: another name for the root, all
//! names of the root at once, what the root has made itself.

use crate::sources::plain;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// One module names another one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Import {
    /// The module directly below the crate's root in which it stands.
    pub from: String,
    /// The one that it names.
    pub to: String,
    /// The file, from the folder of all crates.
    pub file: PathBuf,
    /// The line in it.
    pub line: usize,
}

/// What the crate's root takes from its modules.
#[derive(Debug, Default)]
pub struct Root {
    /// The modules that a name is from: a type and a function may share it. Of other crates, their names.
    names: BTreeMap<String, BTreeSet<String>>,
    /// Modules in the root's own file.
    inner: BTreeSet<String>,
    /// What the root is called besides `crate`.
    aliases: BTreeSet<String>,
}

impl Root {
    /// Whether the root takes this name from a module.
    pub fn passes_on(&self, name: &str) -> bool {
        self.names.contains_key(name)
    }

    /// Whether this is a module in the root's own file.
    pub fn has_inside(&self, name: &str) -> bool {
        self.inner.contains(name)
    }

    /// What the root's file says, and what in it is refused. `stage`: the module in a file.
    pub(crate) fn add(
        &mut self,
        file: &syn::File,
        stage: impl Fn(&str) -> Option<String>,
    ) -> Vec<(usize, String)> {
        let mut refused = Vec::new();
        let last_module = file
            .items
            .iter()
            .rposition(|item| matches!(item, syn::Item::Mod(_)));
        for (at, item) in file.items.iter().enumerate() {
            match item {
                syn::Item::Use(one) => self.tree(&one.tree, None),
                syn::Item::ExternCrate(one) => match &one.rename {
                    Some((_, name)) if one.ident == "self" => drop(self.aliases.insert(plain(name))),
                    _ => refused.push((one.ident.span().start().line, EXTERN_CRATE.to_owned())),
                },
                syn::Item::Mod(one) if one.content.is_some() => drop(self.inner.insert(plain(&one.ident))),
                syn::Item::Mod(one) => {
                    let path = one.attrs.iter().find_map(|one| match &one.meta {
                        syn::Meta::NameValue(pair) if pair.path.is_ident("path") => Some(&pair.value),
                        _ => None,
                    });
                    if let Some(syn::Expr::Lit(syn::ExprLit {
                        lit: syn::Lit::Str(path),
                        ..
                    })) = path
                    {
                        self.names
                            .entry(plain(&one.ident))
                            .or_default()
                            .extend(stage(&path.value()));
                    }
                }
                syn::Item::Macro(one) if one.ident.is_some() && Some(at) < last_module => {
                    let line = one.ident.as_ref().map_or(0, |name| name.span().start().line);
                    let what =
                        "a macro of the root that its modules know without a path: define it in a module";
                    refused.push((line, what.to_owned()));
                }
                _ => {}
            }
        }
        refused
    }

    /// Macros that a module defines and the root has.
    pub(crate) fn add_macros(&mut self, file: &syn::File, module: &str) {
        for item in &file.items {
            if let syn::Item::Macro(one) = item
                && let Some(name) = &one.ident
                && one.attrs.iter().any(|one| one.path().is_ident("macro_export"))
            {
                self.name(plain(name), Some(module));
            }
        }
    }

    fn tree(&mut self, tree: &syn::UseTree, module: Option<&str>) {
        match tree {
            syn::UseTree::Path(path) => {
                let name = plain(&path.ident);
                let module = match module {
                    None if name == "crate" || name == "self" => None,
                    None => Some(name.as_str()),
                    known => known,
                };
                self.tree(&path.tree, module);
            }
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.tree(tree, module)),
            syn::UseTree::Name(name) => self.name(plain(&name.ident), module),
            syn::UseTree::Rename(name) => {
                let source = plain(&name.ident);
                let module = module.or((source != "crate" && source != "self").then_some(&source));
                self.name(plain(&name.rename), module);
            }
            syn::UseTree::Glob(_) => {}
        }
    }

    fn name(&mut self, name: String, module: Option<&str>) {
        if let Some(module) = module {
            self.names.entry(name).or_default().insert(module.to_owned());
        }
    }
}

const EXTERN_CRATE: &str = "`extern crate`: name the crate itself";

/// What a file names.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Other modules.
    pub imports: Vec<(String, usize)>,
    /// Forms that are not followed, and what to write instead.
    pub refused: Vec<(String, usize)>,
    /// Files that stand for a part of this one, with the module around it; nothing for what is no text.
    pub included: Vec<(Option<String>, Vec<String>, usize)>,
}

/// Goes through the tokens of a file for paths that lead to other modules.
pub(crate) struct Finder<'s> {
    stage: &'s str,
    modules: &'s BTreeSet<String>,
    root: &'s Root,
    pub found: Found,
}

impl<'s> Finder<'s> {
    pub fn new(stage: &'s str, modules: &'s BTreeSet<String>, root: &'s Root) -> Self {
        Self {
            stage,
            modules,
            root,
            found: Found::default(),
        }
    }

    /// `place`: the module that the file is.
    pub fn file(&mut self, tokens: TokenStream, place: &[String]) {
        self.tokens(tokens, place);
    }

    fn tokens(&mut self, tokens: TokenStream, place: &[String]) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            if let Some((name, body, end)) = module_at(&tokens, at) {
                let mut inner = place.to_vec();
                inner.push(name);
                self.tokens(body, &inner);
                at = end;
                continue;
            }
            match &tokens[at] {
                TokenTree::Group(group) => self.tokens(group.stream(), place),
                TokenTree::Ident(word) => {
                    let line = word.span().start().line;
                    if word == "crate" && is_punct(tokens.get(at + 1), '$') {
                        let what = "a path of which a macro fills in the module: write it out";
                        self.found.refused.push((what.to_owned(), line));
                    }
                    if let Some(base) = self.base(&tokens, at, place) {
                        at = self.path(&tokens, at, base);
                        continue;
                    }
                    if word == "extern" && is_word(tokens.get(at + 1), "crate") {
                        self.found.refused.push((EXTERN_CRATE.to_owned(), line));
                        at += 1;
                    } else if word == "macro_use" {
                        let what = "`macro_use`: a macro is named by its path";
                        self.found.refused.push((what.to_owned(), line));
                    } else if word == "include"
                        && is_punct(tokens.get(at + 1), '!')
                        && let Some(TokenTree::Group(given)) = tokens.get(at + 2)
                    {
                        let text = syn::parse2::<syn::LitStr>(given.stream());
                        let text = text.ok().map(|text| text.value());
                        self.found.included.push((text, place.to_vec(), line));
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// The module from which a path goes on, if one begins here.
    fn base(&self, tokens: &[TokenTree], at: usize, place: &[String]) -> Option<Vec<String>> {
        let TokenTree::Ident(word) = &tokens[at] else {
            return None;
        };
        let word = word.to_string();
        match &*word {
            _ if is_lifetime(tokens, at) => None,
            "crate" => Some(Vec::new()),
            "self" if !is_behind_colons(tokens, at) => Some(place.to_vec()),
            "super" if !is_behind_colons(tokens, at) => {
                let (_, above) = place.split_last()?;
                Some(above.to_vec())
            }
            // `::ckpt::x`, but not `a::ckpt`.
            _ if self.root.aliases.contains(&word) => {
                let follows = is_behind_colons(tokens, at) && is_segment(tokens, at.wrapping_sub(3));
                (!follows).then(Vec::new)
            }
            _ => None,
        }
    }

    /// Follows a path, and returns where it ends.
    fn path(&mut self, tokens: &[TokenTree], at: usize, base: Vec<String>) -> usize {
        let mut steps = Vec::new();
        let end = steps_from(tokens, at, base.len(), &mut steps);
        for step in steps {
            self.step(step);
        }
        end
    }

    fn step(&mut self, step: Step) {
        let line = step.line;
        let refused = match step.what {
            What::Name { name, leads_on } => {
                let own = self.modules.get(&name);
                let mut known = own.is_some();
                let mut found: BTreeSet<&String> = own.into_iter().collect();
                // A module and a function may share a name: `use crate::a;` has both, `use crate::a::{self};` the module.
                if own.is_none() || !leads_on {
                    for module in self.root.names.get(&name).into_iter().flatten() {
                        // A name of another crate is no arrow in this one.
                        known = true;
                        found.extend(self.modules.get(module));
                    }
                }
                found.retain(|module| *module != self.stage);
                let found = found.into_iter().map(|module| (module.clone(), line));
                self.found.imports.extend(found);
                if known {
                    return;
                }
                format!("`crate::{name}` is of no module, but of the root, which is above all")
            }
            What::All => "all names of the root, `*`: write down which".to_owned(),
            What::Renamed => "another name for the root: write `crate`".to_owned(),
            What::FilledIn => "a path of which a macro fills in the module: write it out".to_owned(),
        };
        self.found.refused.push((refused, line));
    }
}

/// What stands directly behind the root of a crate.
#[derive(Debug)]
pub struct Step {
    /// What it is.
    pub what: What,
    /// Where it stands.
    pub line: usize,
}

/// See [`Step`].
#[derive(Debug)]
pub enum What {
    /// A name.
    Name {
        /// It.
        name: String,
        /// Whether the path goes on behind it.
        leads_on: bool,
    },
    /// `*`
    All,
    /// `as name`
    Renamed,
    /// `$name`
    FilledIn,
}

/// What is named directly behind `word::`, in these tokens and in all groups of them.
pub fn named_behind(tokens: TokenStream, word: &str) -> Vec<Step> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(name) if name == word && !is_lifetime(&tokens, at) => {
                steps_from(&tokens, at, 0, &mut found);
            }
            TokenTree::Group(group) => found.extend(named_behind(group.stream(), word)),
            _ => {}
        }
    }
    found
}

/// The steps of a path that has come to a module so many levels below the root at a token. Returns the index of what follows.
fn steps_from(tokens: &[TokenTree], mut at: usize, mut depth: usize, found: &mut Vec<Step>) -> usize {
    let line = |at: usize| tokens[at].span().start().line;
    loop {
        let Some(next) = behind_colons(tokens, at) else {
            if depth == 0 && is_word(tokens.get(at + 1), "as") {
                found.push(Step {
                    what: What::Renamed,
                    line: line(at),
                });
            }
            return at + 1;
        };
        match &tokens[next] {
            TokenTree::Ident(word) if word == "super" && depth > 0 => depth -= 1,
            TokenTree::Ident(word) if word == "super" || word == "self" => {}
            TokenTree::Ident(word) if depth == 0 => {
                found.push(Step {
                    what: What::Name {
                        name: plain(word),
                        leads_on: behind_colons(tokens, next).is_some(),
                    },
                    line: line(next),
                });
                return next + 1;
            }
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                let inside: Vec<TokenTree> = group.stream().into_iter().collect();
                entries(&inside, depth, found);
                return next + 1;
            }
            TokenTree::Punct(one) if depth == 0 && one.as_char() == '*' => {
                found.push(Step {
                    what: What::All,
                    line: line(next),
                });
                return next + 1;
            }
            TokenTree::Punct(one) if depth == 0 && one.as_char() == '$' => {
                found.push(Step {
                    what: What::FilledIn,
                    line: line(next),
                });
                return next + 1;
            }
            _ => return next,
        }
        at = next;
    }
}

/// The paths in the braces of a `use`.
fn entries(inside: &[TokenTree], depth: usize, found: &mut Vec<Step>) {
    let starts = (0..inside.len()).filter(|&at| at == 0 || is_punct(inside.get(at - 1), ','));
    for at in starts {
        let line = inside[at].span().start().line;
        let what = match &inside[at] {
            TokenTree::Ident(word) if word == "self" => {
                steps_from(inside, at, depth, found);
                continue;
            }
            TokenTree::Ident(word) if word == "super" => {
                steps_from(inside, at, depth.saturating_sub(1), found);
                continue;
            }
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                let inside: Vec<TokenTree> = group.stream().into_iter().collect();
                entries(&inside, depth, found);
                continue;
            }
            _ if depth > 0 => continue,
            TokenTree::Ident(word) => What::Name {
                name: plain(word),
                leads_on: behind_colons(inside, at).is_some(),
            },
            TokenTree::Punct(one) if one.as_char() == '*' => What::All,
            TokenTree::Punct(one) if one.as_char() == '$' => What::FilledIn,
            _ => continue,
        };
        found.push(Step { what, line });
    }
}

/// `mod name { .. }`, also where a macro fills the name in: the name, what is in the braces, and the index behind them.
fn module_at(tokens: &[TokenTree], at: usize) -> Option<(String, TokenStream, usize)> {
    if !is_word(tokens.get(at), "mod") {
        return None;
    }
    let filled_in = usize::from(is_punct(tokens.get(at + 1), '$'));
    match (tokens.get(at + 1 + filled_in)?, tokens.get(at + 2 + filled_in)?) {
        (TokenTree::Ident(name), TokenTree::Group(body)) if body.delimiter() == Delimiter::Brace => {
            Some((plain(name), body.stream(), at + 3 + filled_in))
        }
        _ => None,
    }
}

pub(crate) fn is_word(token: Option<&TokenTree>, word: &str) -> bool {
    matches!(token, Some(TokenTree::Ident(one)) if one == word)
}

fn is_punct(token: Option<&TokenTree>, punct: char) -> bool {
    matches!(token, Some(TokenTree::Punct(one)) if one.as_char() == punct)
}

/// `'static`
pub(crate) fn is_lifetime(tokens: &[TokenTree], at: usize) -> bool {
    at > 0 && is_punct(tokens.get(at - 1), '\'')
}

/// The index of what follows the `::` behind a token.
fn behind_colons(tokens: &[TokenTree], at: usize) -> Option<usize> {
    let both = is_punct(tokens.get(at + 1), ':') && is_punct(tokens.get(at + 2), ':');
    (both && tokens.len() > at + 3).then_some(at + 3)
}

fn is_behind_colons(tokens: &[TokenTree], at: usize) -> bool {
    at > 1 && is_punct(tokens.get(at - 1), ':') && is_punct(tokens.get(at - 2), ':')
}

/// Whether a path may have come here: `a` or the end of `a<B>`.
fn is_segment(tokens: &[TokenTree], at: usize) -> bool {
    matches!(tokens.get(at), Some(TokenTree::Ident(word)) if word != "use" && word != "as" && word != "in" && word != "return")
        || is_punct(tokens.get(at), '>')
}
