//! The table of a function's variables.
//!
//! Between the stages `resolve` and `emit` every variable has a name that no other variable of the function has, so that a
//! name in the syntax tree stands for one [`LocalId`], wherever a pass moves it. What is emitted, saved and shown to the user
//! has the names of the source, which come back by [`Locals::restore`].

use super::{Kind, Origin, PREFIX, made, plain_text, spelling};
use proc_macro2::{Group, Ident, Literal, Spacing, TokenStream, TokenTree};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

/// A variable of a function, whatever others are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalId(usize);

/// What is known of a variable.
#[derive(Debug, Clone)]
pub struct Local {
    /// The name by which the stages know it, which no other variable has.
    pub name: Ident,
    /// The name that it has in the source, and in what is emitted.
    pub written: Ident,
    /// Who has declared it.
    pub origin: Origin,
    /// Whether the user's source declares it `mut`, or as `ref mut`.
    pub mutable: bool,
    /// Whether it is a parameter that borrows exclusively.
    pub exclusive: bool,
    /// Whether it is no variable, but an item or import which has the name of one elsewhere in the function.
    pub is_item: bool,
}

/// Some of a function's variables.
#[derive(Debug, Clone, Default)]
pub struct LocalSet(fixedbitset::FixedBitSet);

impl PartialEq for LocalSet {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for LocalSet {}

impl LocalSet {
    /// Adds a variable; whether it is new.
    pub fn insert(&mut self, local: LocalId) -> bool {
        self.0.grow(local.0 + 1);
        !self.0.put(local.0)
    }

    /// Whether the variable is one of these.
    pub fn contains(&self, local: LocalId) -> bool {
        self.0.contains(local.0)
    }

    /// Takes a variable out.
    pub fn remove(&mut self, local: LocalId) {
        if self.contains(local) {
            self.0.set(local.0, false);
        }
    }

    /// Keeps those of which something is said.
    pub fn retain(&mut self, keep: impl Fn(LocalId) -> bool) {
        let kept = self.iter().filter(|local| keep(*local)).collect();
        *self = kept;
    }

    /// Takes others out.
    pub fn remove_all(&mut self, others: &Self) {
        self.0.difference_with(&others.0);
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_clear()
    }

    /// The variables, in the order of their declaration.
    pub fn iter(&self) -> impl Iterator<Item = LocalId> + '_ {
        self.0.ones().map(LocalId)
    }

    /// Whether none of these is one of the others.
    pub fn is_disjoint(&self, others: &Self) -> bool {
        self.0.is_disjoint(&others.0)
    }
}

impl Extend<LocalId> for LocalSet {
    fn extend<T: IntoIterator<Item = LocalId>>(&mut self, more: T) {
        for local in more {
            self.insert(local);
        }
    }
}

impl FromIterator<LocalId> for LocalSet {
    fn from_iter<T: IntoIterator<Item = LocalId>>(all: T) -> Self {
        let mut set = Self::default();
        set.extend(all);
        set
    }
}

/// The variables of a function.
#[derive(Debug, Clone)]
pub struct Locals {
    all: Vec<Local>,
    of_name: HashMap<String, LocalId>,
    /// The names that are not those of the source, with these.
    renamed: HashMap<String, Ident>,
}

impl Default for Locals {
    /// The names of ckpt that need no number.
    fn default() -> Self {
        let mut locals = Self {
            all: Vec::new(),
            of_name: HashMap::new(),
            renamed: HashMap::new(),
        };
        for (kind, stem) in Kind::ALL {
            let name = made(stem);
            locals.add(&name, &name, Origin::Synthetic(*kind));
        }
        locals
    }
}

impl Locals {
    /// Adds a variable, unless there is one of that name.
    pub(crate) fn add(&mut self, name: &Ident, written: &Ident, origin: Origin) -> LocalId {
        let next = LocalId(self.all.len());
        let id = *self.of_name.entry(spelling(name)).or_insert(next);
        if id == next {
            self.all.push(Local {
                name: name.clone(),
                written: written.clone(),
                origin,
                mutable: false,
                exclusive: false,
                is_item: false,
            });
            if name != written {
                self.renamed.insert(spelling(name), written.clone());
            }
        }
        id
    }

    /// Adds what is no variable but has the name of one.
    pub(crate) fn add_item(&mut self, name: &Ident) {
        let id = self.add(name, name, Origin::User);
        self.get_mut(id).is_item = true;
    }

    /// Whether a name stands for a variable.
    pub fn is_variable(&self, name: &Ident) -> bool {
        self.id(name).is_some_and(|id| !self.get(id).is_item)
    }

    /// The names of all variables.
    pub fn names(&self) -> impl Iterator<Item = &Ident> {
        self.all.iter().map(|local| &local.name)
    }

    /// A variable, of which more is known now.
    pub(crate) fn get_mut(&mut self, local: LocalId) -> &mut Local {
        &mut self.all[local.0]
    }

    /// The variable that a name stands for; nothing for what is none: a constant, a function, a field.
    pub fn id(&self, name: &Ident) -> Option<LocalId> {
        self.named(&spelling(name))
    }

    /// The same of a name in its one [`spelling`].
    pub fn named(&self, name: &str) -> Option<LocalId> {
        self.of_name.get(name).copied()
    }

    /// A variable.
    ///
    /// # Panics
    /// Where the variable is of another function.
    pub fn get(&self, local: LocalId) -> &Local {
        &self.all[local.0]
    }

    /// Whether the variable is declared `mut`.
    pub fn is_mutable(&self, local: LocalId) -> bool {
        self.get(local).mutable
    }

    /// The name by which the stages know a variable.
    pub fn name(&self, local: LocalId) -> &Ident {
        &self.get(local).name
    }

    /// Variables in the order of their names in the source.
    pub fn by_name(&self, set: &LocalSet) -> Vec<LocalId> {
        let mut all: Vec<LocalId> = set.iter().collect();
        all.sort_by_key(|id| &self.get(*id).written);
        all
    }

    /// Whether one of the variables has, in what is emitted, the name of one of the others, which it would hide.
    pub fn hide(&self, declared: &LocalSet, others: &LocalSet) -> bool {
        let written = |id: LocalId| &self.get(id).written;
        declared
            .iter()
            .any(|one| others.iter().any(|other| written(one) == written(other)))
    }

    /// Whether a name is the user's, or what it is for.
    pub fn origin(&self, name: &Ident) -> Origin {
        self.id(name).map_or(Origin::User, |id| self.get(id).origin)
    }

    /// Whether ckpt has made the name.
    pub fn is_synthetic(&self, name: &Ident) -> bool {
        self.origin(name) != Origin::User
    }

    /// Whether ckpt has made the name for this.
    pub fn is(&self, name: &Ident, kind: Kind) -> bool {
        self.origin(name) == Origin::Synthetic(kind)
    }

    /// The name in the source and in what is emitted, at the same place.
    pub fn written(&self, name: &Ident) -> Ident {
        match self.renamed.get(&spelling(name)) {
            Some(written) => {
                let mut written = written.clone();
                written.set_span(name.span());
                written
            }
            None => name.clone(),
        }
    }

    /// Whether two variables are called the same in what is emitted, so that one may hide the other.
    pub fn same_name(&self, one: &Ident, other: &Ident) -> bool {
        one == other || !self.renamed.is_empty() && self.written(one) == self.written(other)
    }

    /// What a file calls the variable: a name of ckpt is no identifier there.
    pub fn shown(&self, name: &Ident) -> String {
        let text = plain_text(&self.written(name));
        match (self.origin(name), text.get(PREFIX.len() + 1..)) {
            (Origin::Synthetic(_), Some(label)) => format!("ckpt.{label}"),
            _ => text,
        }
    }

    /// The names in the input that ckpt has put there before: in what is around a thread, in the text of a package. A name
    /// of the user's that begins like them is one of them.
    pub(crate) fn add_synthetic(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.add_synthetic(group.stream()),
                TokenTree::Ident(ident) => {
                    let name = ident.to_string();
                    let Some(label) = name.strip_prefix(PREFIX) else {
                        continue;
                    };
                    let label = label.trim_start_matches('_');
                    let stem = label.split(|c: char| !c.is_ascii_alphabetic()).next();
                    let kind = Kind::ALL.iter().find(|(_, known)| Some(*known) == stem);
                    let kind = kind.map_or(Kind::Other, |(kind, _)| *kind);
                    self.add(&ident, &ident, Origin::Synthetic(kind));
                }
                _ => {}
            }
        }
    }

    /// Whether a variable has another name than in the source.
    pub fn has_renamed(&self) -> bool {
        !self.renamed.is_empty()
    }

    /// Tokens with the names of the source, also in literals.
    pub fn restore(&self, tokens: TokenStream) -> TokenStream {
        if self.renamed.is_empty() {
            return tokens;
        }
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut restored = TokenStream::new();
        let mut at = 0;
        while at < tokens.len() {
            at += 2 * usize::from(self.was_short(&tokens[at..]));
            restored.extend([match &tokens[at] {
                TokenTree::Group(group) => {
                    let mut inner = Group::new(group.delimiter(), self.restore(group.stream()));
                    inner.set_span(group.span());
                    TokenTree::Group(inner)
                }
                TokenTree::Ident(name) => TokenTree::Ident(self.written(name)),
                TokenTree::Literal(literal) => TokenTree::Literal(self.restored_literal(literal.clone())),
                punct => punct.clone(),
            }]);
            at += 1;
        }
        restored
    }

    /// `x: x_2`, `x: ref mut x_2`, written out where the source has `S { x }`: both names stand at its place.
    fn was_short(&self, tokens: &[TokenTree]) -> bool {
        let [TokenTree::Ident(field), TokenTree::Punct(colon), rest @ ..] = tokens else {
            return false;
        };
        let is_word =
            |token: &&TokenTree| matches!(token, TokenTree::Ident(word) if word == "ref" || word == "mut");
        let Some(TokenTree::Ident(name)) = rest.iter().find(|token| !is_word(token)) else {
            return false;
        };
        let is_field = colon.as_char() == ':' && colon.spacing() == Spacing::Alone;
        let is_at_its_place = field.span().start() == name.span().start();
        is_field && is_at_its_place && field != name && self.written(name) == *field
    }

    fn restored_literal(&self, literal: Literal) -> Literal {
        let text = literal.to_string();
        // A format string has `{type}` for `r#type`.
        let restored = replaced(&text, words(&text), |word| self.renamed.get(word).map(plain_text));
        match restored {
            Cow::Owned(restored) => with_text(&literal, &restored).unwrap_or(literal),
            Cow::Borrowed(_) => literal,
        }
    }

    /// A text with the names of the source.
    pub fn restore_text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.renamed.is_empty() {
            return Cow::Borrowed(text);
        }
        replaced(text, words(text), |word| {
            self.renamed.get(word).map(ToString::to_string)
        })
    }
}

/// Where the words of a text stand: runs of letters, digits and underlines.
pub(crate) fn words(text: &str) -> impl Iterator<Item = Range<usize>> {
    let is_in_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text[at..].find(is_in_word)?;
        let length = text[start..].find(|c: char| !is_in_word(c));
        at = length.map_or(text.len(), |length| start + length);
        Some(start..at)
    })
}

/// A text with something else in the place of some of its parts, which come in their order.
pub(crate) fn replaced(
    text: &str,
    parts: impl IntoIterator<Item = Range<usize>>,
    other: impl Fn(&str) -> Option<String>,
) -> Cow<'_, str> {
    let mut out = String::new();
    let mut copied = 0;
    for part in parts {
        if let Some(other) = other(&text[part.clone()]) {
            out += &text[copied..part.start];
            out += &other;
            copied = part.end;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out += &text[copied..];
    Cow::Owned(out)
}

/// A literal of this text, at the place of another.
pub(crate) fn with_text(literal: &Literal, text: &str) -> Option<Literal> {
    let mut new = text.parse::<Literal>().ok()?;
    new.set_span(literal.span());
    Some(new)
}
