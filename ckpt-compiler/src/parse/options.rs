//! The arguments of `#[ckpt::main(..)]` and `#[ckpt::instrument(..)]`, and `#[ckpt(..)]` on statements.

use crate::diagnostics::{Refusal, Unread};
use crate::library::{CallTable, Library, in_parentheses};
use crate::sources::Sources;
use proc_macro2::TokenStream;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{Attribute, Ident, LitStr, Path, Token};

/// Who chooses the sites when the function marks none itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SiteChoice {
    /// The compiler takes the costliest loop.
    Costliest,
    /// Only what the user has written.
    Manual,
}

/// What the attribute of an instrumented function says.
#[derive(Debug, Clone)]
pub struct Options {
    /// The calls that lead to a site, by name or path.
    pub calls: Vec<Path>,
    /// Names of calls that functions with other names stand behind, `use solver::advance as run;`, each with that of the function;
    /// of a variable with those of all functions that it may hold.
    pub named: Vec<(Ident, Ident)>,
    /// Who chooses sites.
    pub sites: SiteChoice,
    /// Whether the function opens the session: `#[ckpt::main]`.
    pub opens_session: bool,
    /// Whether the program asks how many pointers to one value there are, while the function or what it calls runs.
    pub counts_owners: bool,
    /// Whether the program asks where in memory something is.
    pub asks_where: bool,
    /// Whether nothing that the program saves hangs on the number of devices.
    pub any_devices: bool,
    /// Whether a call of the function's own name is one of this very function, and may be made without sites deep down.
    pub is_recursive: bool,
    /// Calls of functions that know the type of every parameter: they need no help from their callers to save what they are
    /// lent.
    pub typed: Vec<Path>,
    /// Functions that have a spare copy, for calls of which the optimiser is not to learn.
    pub spares: Vec<HasSpare>,
    /// Whether the function itself gets one.
    pub has_spare: bool,
    /// What calls mean.
    pub library: Library,
    /// The files that the program is made of, where they are known and the function opens the session.
    pub sources: Option<Sources>,
}

impl Options {
    /// Reads the arguments of the attribute.
    ///
    /// # Errors
    /// Where they are not of the documented form.
    pub fn parse(arguments: TokenStream, opens_session: bool) -> Result<Self, Unread> {
        let mut options = Self {
            calls: Vec::new(),
            named: Vec::new(),
            sites: SiteChoice::Costliest,
            opens_session,
            counts_owners: false,
            asks_where: false,
            any_devices: false,
            is_recursive: false,
            typed: Vec::new(),
            spares: Vec::new(),
            has_spare: false,
            library: Library::default(),
            sources: None,
        };
        let read = |input: ParseStream<'_>| Unread::drain(input, Argument::all(input));
        for argument in syn::parse::Parser::parse2(read, arguments)?? {
            match argument {
                Argument::Calls(paths) => options.calls.extend(paths),
                Argument::Named(names) => options.named.extend(names),
                Argument::Sites(choice) => options.sites = choice,
                Argument::Owners => options.counts_owners = true,
                Argument::Addresses => options.asks_where = true,
                Argument::AnyDevices => options.any_devices = true,
                Argument::Recursive => options.is_recursive = true,
                Argument::Typed(paths) => options.typed.extend(paths),
                Argument::Spares(paths) => options.spares.extend(paths),
                Argument::Spare => options.has_spare = true,
                Argument::Means(table) => options.library.add(&table),
            }
        }
        Ok(options)
    }

    /// The names of the functions that a call of this name leads to, where these have other names.
    pub fn functions_called(&self, name: &str) -> Vec<String> {
        let named = self.named.iter().filter(|(other, _)| other == name);
        named.map(|(_, function)| function.to_string()).collect()
    }

    /// The attribute's name, for messages that say what to write.
    pub fn attribute(&self) -> &'static str {
        if self.opens_session {
            "ckpt::main"
        } else {
            "ckpt::instrument"
        }
    }
}

enum Argument {
    Calls(Vec<Path>),
    Named(Vec<(Ident, Ident)>),
    Sites(SiteChoice),
    Owners,
    Addresses,
    AnyDevices,
    Recursive,
    Typed(Vec<Path>),
    Spares(Vec<HasSpare>),
    Spare,
    Means(Box<CallTable>),
}

impl Argument {
    fn all(input: ParseStream<'_>) -> Result<Vec<Self>, Unread> {
        let mut all = Vec::new();
        while !input.is_empty() {
            all.push(Self::one(input)?);
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(all)
    }

    fn one(input: ParseStream<'_>) -> Result<Self, Unread> {
        let name: Ident = input.parse()?;
        if name == "calls" {
            return Ok(Self::Calls(paths(input)?));
        }
        if name == "named" {
            return Ok(Self::Named(other_names(&in_parentheses(input)?)?));
        }
        if name == "typed" {
            return Ok(Self::Typed(paths(input)?));
        }
        if name == "spares" {
            return Ok(Self::Spares(HasSpare::list(&in_parentheses(input)?)?));
        }
        if name == "spare" {
            return Ok(Self::Spare);
        }
        if name == "owners" {
            return Ok(Self::Owners);
        }
        if name == "addresses" {
            return Ok(Self::Addresses);
        }
        if name == "any_devices" {
            return Ok(Self::AnyDevices);
        }
        if name == "recursive" {
            return Ok(Self::Recursive);
        }
        if name == "means" {
            let content = in_parentheses(input)?;
            let table = Unread::drain(&content, CallTable::of_argument(&content))??;
            return Ok(Self::Means(Box::new(table)));
        }
        if name == "sites" {
            input.parse::<Token![=]>()?;
            let value: LitStr = input.parse()?;
            return match value.value().as_str() {
                "manual" => Ok(Self::Sites(SiteChoice::Manual)),
                "auto" => Ok(Self::Sites(SiteChoice::Costliest)),
                _ => Err(Unread::Refused(value.span(), Refusal::UnknownSites)),
            };
        }
        Err(Unread::Refused(name.span(), Refusal::UnknownArgument))
    }
}

/// A function that has a spare.
#[derive(Debug, Clone)]
pub enum HasSpare {
    /// One that is called by a path.
    Function {
        /// The path by which it is called.
        written: Path,
        /// The path that leads to it, and with another name at its end to the spare.
        path: Path,
    },
    /// One that is called as a method of this name.
    Method(Ident),
}

impl HasSpare {
    /// Reads `name, module::name = crate::module::name, .method`.
    ///
    /// # Errors
    /// Where the list is not of this form.
    pub fn list(input: ParseStream<'_>) -> syn::Result<Vec<Self>> {
        let one = |input: ParseStream<'_>| {
            if input.parse::<Option<Token![.]>>()?.is_some() {
                return Ok(Self::Method(input.parse()?));
            }
            let written: Path = input.parse()?;
            let path = match input.parse::<Option<Token![=]>>()? {
                Some(_) => input.parse()?,
                None => written.clone(),
            };
            Ok(Self::Function { written, path })
        };
        let all = input.parse_terminated(one, Token![,])?;
        Ok(all.into_iter().collect())
    }
}

/// `run = advance, ..`
fn other_names(input: ParseStream<'_>) -> syn::Result<Vec<(Ident, Ident)>> {
    let one = |input: ParseStream<'_>| {
        let name = input.parse()?;
        input.parse::<Token![=]>()?;
        Ok((name, input.parse()?))
    };
    let all = input.parse_terminated(one, Token![,])?;
    Ok(all.into_iter().collect())
}

fn paths(input: ParseStream<'_>) -> Result<Vec<Path>, Unread> {
    let content = in_parentheses(input)?;
    let paths = Punctuated::<syn::ExprPath, Token![,]>::parse_terminated(&content)?;
    Ok(paths.into_iter().map(called).collect())
}

/// The path by which a call is known: of `<T as Trait>::method` the part behind the type.
fn called(path: syn::ExprPath) -> Path {
    match path.qself {
        None => path.path,
        Some(of) => Path {
            leading_colon: None,
            segments: path.path.segments.into_iter().skip(of.position).collect(),
        },
    }
}

/// What the user decides about one variable: `#[ckpt(reexecute)]`, `#[ckpt(refill)]`, `#[ckpt(parts)]`, `#[ckpt(save)]`, `#[ckpt(serde)]`,
/// `#[ckpt(skip)]`, `#[ckpt(elsewhere)]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Treatment {
    /// Run the statement again at restart.
    Reexecute,
    /// The same, and fill the value from the checkpoint: what cannot be saved of it is what the statement makes.
    Refill,
    /// The same, of what is made of such values: a list, a tuple.
    Parts,
    /// Put the value into the checkpoint.
    Save,
    /// The same, through serde.
    Serde,
    /// Neither: after a restart the variable holds its type's default.
    Skip,
    /// Neither, and it has no value after a restart: it is used in other branches than those with the sites.
    Elsewhere,
}

impl Treatment {
    /// Whether the value is made again, and filled.
    pub fn fills(self) -> bool {
        matches!(self, Self::Refill | Self::Parts)
    }
}

/// Takes `#[ckpt(..)]` off a statement.
///
/// # Errors
/// Where the attribute says anything but one of these words.
pub fn take_treatment(attributes: &mut Vec<Attribute>) -> Result<Option<Treatment>, Unread> {
    let Some(index) = attributes
        .iter()
        .position(|attribute| attribute.path().is_ident("ckpt"))
    else {
        return Ok(None);
    };
    let attribute = attributes.remove(index);
    let word = attribute.parse_args_with(|input: syn::parse::ParseStream<'_>| {
        let word: Ident = input.parse()?;
        if word == "refill" && input.peek(syn::token::Paren) {
            names(input)?;
        }
        Ok(word)
    })?;
    match word.to_string().as_str() {
        "reexecute" => Ok(Some(Treatment::Reexecute)),
        "refill" => Ok(Some(Treatment::Refill)),
        "parts" => Ok(Some(Treatment::Parts)),
        "save" => Ok(Some(Treatment::Save)),
        "serde" => Ok(Some(Treatment::Serde)),
        "skip" => Ok(Some(Treatment::Skip)),
        "elsewhere" => Ok(Some(Treatment::Elsewhere)),
        _ => Err(Unread::Refused(word.span(), Refusal::UnknownTreatment)),
    }
}

/// A variable that `#[ckpt(refill(cells, &mut grid, &start))]` names.
#[derive(Debug, Clone)]
pub struct FilledPart {
    /// Its name.
    pub name: Ident,
    /// What the initialiser does with it.
    pub given: Given,
}

/// How an initialiser has a variable that is a part of its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Given {
    /// It is moved into what is filled.
    Moved,
    /// The value that is filled borrows it exclusively, in a field with `#[ckpt(through)]`.
    Lent,
    /// What is in it is copied to what is filled. It may have changed at a restart, but for its length.
    Copied,
}

/// The variables that the attribute names.
pub fn filled_parts(attributes: &[Attribute]) -> Vec<FilledPart> {
    let attribute = attributes
        .iter()
        .find(|attribute| attribute.path().is_ident("ckpt"));
    let parts = attribute.map(|attribute| {
        attribute.parse_args_with(|input: syn::parse::ParseStream<'_>| {
            let word: Ident = input.parse()?;
            let has_parts = word == "refill" && input.peek(syn::token::Paren);
            if has_parts { names(input) } else { Ok(Vec::new()) }
        })
    });
    parts.and_then(Result::ok).unwrap_or_default()
}

fn names(input: syn::parse::ParseStream<'_>) -> syn::Result<Vec<FilledPart>> {
    let list;
    syn::parenthesized!(list in input);
    let part = |list: syn::parse::ParseStream<'_>| {
        let is_reference = list.parse::<Option<syn::Token![&]>>()?.is_some();
        let is_exclusive = is_reference && list.parse::<Option<syn::Token![mut]>>()?.is_some();
        let given = match (is_reference, is_exclusive) {
            (false, _) => Given::Moved,
            (true, true) => Given::Lent,
            (true, false) => Given::Copied,
        };
        let name = list.parse()?;
        Ok(FilledPart { name, given })
    };
    let parts = list.parse_terminated(part, syn::Token![,])?;
    Ok(parts.into_iter().collect())
}
