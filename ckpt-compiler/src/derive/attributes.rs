//! What of an item is saved, under which names. All errors of the derive are found here.

use crate::diagnostics::Refusal;
use std::collections::HashSet;

use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Error, Fields, LitStr, Member, Path, Result, Type, Variant};

/// An item to derive for.
pub(super) struct Item {
    /// Path of the `ckpt` crate.
    pub ckpt: Path,
    /// The function that says whether a value is plausible.
    pub detector: Option<Path>,
    pub shape: Shape,
}

pub(super) enum Shape {
    Struct(Vec<Field>),
    Enum(Vec<EnumVariant>),
}

pub(super) struct EnumVariant {
    pub ident: syn::Ident,
    /// Its name in the file, then the other names under which it is found.
    pub names: Vec<String>,
    pub fields: Vec<Field>,
}

pub(super) struct Field {
    pub member: Member,
    pub ty: Type,
    /// Its name in the file, then the other names under which it is found.
    pub names: Vec<String>,
    pub saved: Saved,
    /// Where the value comes from when it is not in the file.
    pub default: Option<DefaultValue>,
    /// What of the value other fields have.
    pub places: Option<Places>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Saved {
    Columns,
    /// As columns, in a struct that a restart makes again and fills.
    Refilled,
    /// The same, of what is made of such values.
    Parts,
    Serde,
    Skipped,
    /// An exclusive reference: what it stands for is saved and filled.
    Through,
    /// What the initialiser makes of it is kept.
    Kept,
}

impl Field {
    /// Whether the field is in the file.
    pub fn is_saved(&self) -> bool {
        !matches!(self.saved, Saved::Skipped | Saved::Kept)
    }

    /// Whether a restart rebuilds it, and so the struct that it is in.
    pub fn is_rebuilt(&self) -> bool {
        matches!(
            self.saved,
            Saved::Kept | Saved::Through | Saved::Refilled | Saved::Parts
        )
    }

    /// The type that is saved: what an exclusive reference stands for.
    pub fn saved_type(&self) -> &Type {
        match (&self.ty, self.saved) {
            (Type::Reference(one), Saved::Through) => &one.elem,
            (ty, _) => ty,
        }
    }
}

/// The fields that change places among each other, of which a field says which has what.
pub(super) struct Places {
    pub fields: Vec<Member>,
    /// Whether there is no content in what they have.
    pub are_handles: bool,
}

pub(super) enum DefaultValue {
    Trait,
    Call(Path),
}

/// The attributes of one field, variant or item as written.
#[derive(Default)]
struct Written {
    skip: Option<proc_macro2::Span>,
    keep: Option<proc_macro2::Span>,
    through: Option<proc_macro2::Span>,
    refill: Option<proc_macro2::Span>,
    parts: Option<proc_macro2::Span>,
    places: Option<Places>,
    serde: Option<proc_macro2::Span>,
    default: Option<DefaultValue>,
    rename: Option<LitStr>,
    aliases: Vec<LitStr>,
    ckpt: Option<Path>,
    detector: Option<Path>,
}

pub(super) fn read(input: &DeriveInput) -> Result<Item> {
    let mut errors = Errors::default();
    let written = errors.take(Written::parse(&input.attrs, "an item", &["crate", "detector"]));
    let shape = match &input.data {
        Data::Struct(data) => Shape::Struct(refilled(fields(&data.fields, &mut errors))),
        Data::Enum(data) => {
            let variants: Vec<EnumVariant> = data
                .variants
                .iter()
                .map(|variant| enum_variant(variant, &mut errors))
                .collect();
            distinct(
                variants
                    .iter()
                    .map(|variant| (&variant.names, variant.ident.span())),
                "variants",
                &mut errors,
            );
            Shape::Enum(variants)
        }
        Data::Union(data) => {
            errors.push(Error::new(data.union_token.span, Refusal::Union));
            Shape::Struct(Vec::new())
        }
    };
    errors.finish()?;
    let ckpt = written.ckpt.unwrap_or_else(|| syn::parse_quote!(::ckpt));
    Ok(Item {
        ckpt,
        detector: written.detector,
        shape,
    })
}

/// The fields of a struct that is filled, if it has one that is kept.
fn refilled(mut fields: Vec<Field>) -> Vec<Field> {
    if fields.iter().any(Field::is_rebuilt) {
        let saved = fields.iter_mut().filter(|field| field.saved == Saved::Columns);
        saved.for_each(|field| field.saved = Saved::Refilled);
    }
    fields
}

fn enum_variant(variant: &Variant, errors: &mut Errors) -> EnumVariant {
    let written = errors.take(Written::parse(&variant.attrs, "a variant", &["rename", "alias"]));
    let parts = fields(&variant.fields, errors);
    for kept in parts.iter().filter(|field| field.is_rebuilt()) {
        errors.push(Error::new(kept.ty.span(), Refusal::KeptInEnum));
    }
    EnumVariant {
        ident: variant.ident.clone(),
        names: written.names(syn::ext::IdentExt::unraw(&variant.ident).to_string()),
        fields: parts,
    }
}

fn fields(fields: &Fields, errors: &mut Errors) -> Vec<Field> {
    let fields: Vec<Field> = fields
        .members()
        .zip(fields)
        .map(|(member, field)| {
            let known = [
                "skip",
                "keep",
                "through",
                "refill",
                "parts",
                "places",
                "handle_places",
                "serde",
                "default",
                "rename",
                "alias",
            ];
            let written = errors.take(Written::parse(&field.attrs, "a field", &known));
            let own_name = match &member {
                Member::Named(ident) => syn::ext::IdentExt::unraw(ident).to_string(),
                Member::Unnamed(index) => index.index.to_string(),
            };
            let saved = match (written.skip, written.serde) {
                _ if written.keep.or(written.through).is_some() => {
                    let others = [written.skip, written.serde, written.keep.and(written.through)];
                    let is_reference = matches!(&field.ty, Type::Reference(one) if one.mutability.is_some());
                    let alone = others.iter().all(Option::is_none)
                        && written.default.is_none()
                        && (is_reference || written.through.is_none());
                    let word = if written.keep.is_some() { "keep" } else { "through" };
                    if let (Some(keep), false) = (written.keep.or(written.through), alone) {
                        errors.push(Error::new(keep, Refusal::KeptAndMore { word }));
                    }
                    match written.keep {
                        None if is_reference => Saved::Through,
                        _ => Saved::Kept,
                    }
                }
                (others, serde) if written.refill.or(written.parts).is_some() => {
                    let both = written.refill.and(written.parts);
                    let word = if written.refill.is_some() {
                        "refill"
                    } else {
                        "parts"
                    };
                    if let (Some(refill), Some(_)) =
                        (written.refill.or(written.parts), others.or(serde).or(both))
                    {
                        errors.push(Error::new(refill, Refusal::KeptAndMore { word }));
                    }
                    match written.refill {
                        Some(_) => Saved::Refilled,
                        None => Saved::Parts,
                    }
                }
                (Some(_), Some(serde)) => {
                    errors.push(Error::new(serde, Refusal::SkippedThroughSerde));
                    Saved::Skipped
                }
                (Some(_), None) => Saved::Skipped,
                (None, Some(_)) => Saved::Serde,
                (None, None) => Saved::Columns,
            };
            if let (Saved::Skipped | Saved::Kept, Some(name)) =
                (saved, written.rename.as_ref().or(written.aliases.first()))
            {
                errors.push(Error::new(name.span(), Refusal::SkippedWithName));
            }
            let names = written.names(own_name);
            let default = written
                .default
                .or((saved == Saved::Skipped).then_some(DefaultValue::Trait));
            Field {
                member,
                ty: field.ty.clone(),
                names,
                saved,
                default,
                places: written.places,
            }
        })
        .collect();
    let saved = fields.iter().filter(|field| field.is_saved());
    distinct(
        saved.map(|field| (&field.names, field.member.span())),
        "fields",
        errors,
    );
    fields
}

fn distinct<'a>(
    names: impl Iterator<Item = (&'a Vec<String>, proc_macro2::Span)>,
    what: &'static str,
    errors: &mut Errors,
) {
    let mut seen = HashSet::new();
    for (names, span) in names {
        for name in names {
            if !seen.insert(name.clone()) {
                errors.push(Error::new(
                    span,
                    Refusal::SameName {
                        what,
                        name: name.clone(),
                    },
                ));
            }
        }
    }
}

impl Written {
    fn parse(attributes: &[Attribute], place: &'static str, known: &[&str]) -> Result<Written> {
        let mut written = Written::default();
        for attribute in attributes
            .iter()
            .filter(|attribute| attribute.path().is_ident("ckpt"))
        {
            attribute.parse_nested_meta(|meta| {
                let name = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
                if !known.contains(&name.as_str()) {
                    let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
                    return Err(meta.error(Refusal::UnknownWord {
                        place,
                        known: known.join(", "),
                    }));
                }
                let span = meta.path.span();
                let twice = || Error::new(span, Refusal::GivenTwice { name: name.clone() });
                match name.as_str() {
                    "skip" => written.skip.replace(span).map_or(Ok(()), |_| Err(twice())),
                    "through" => written.through.replace(span).map_or(Ok(()), |_| Err(twice())),
                    "refill" => written.refill.replace(span).map_or(Ok(()), |_| Err(twice())),
                    "parts" => written.parts.replace(span).map_or(Ok(()), |_| Err(twice())),
                    "places" | "handle_places" => {
                        let list;
                        syn::parenthesized!(list in meta.input);
                        let places = Places {
                            fields: list
                                .parse_terminated(<Member as syn::parse::Parse>::parse, syn::Token![,])?
                                .into_iter()
                                .collect(),
                            are_handles: name == "handle_places",
                        };
                        written.places.replace(places).map_or(Ok(()), |_| Err(twice()))
                    }
                    "keep" => written.keep.replace(span).map_or(Ok(()), |_| Err(twice())),
                    "serde" => written.serde.replace(span).map_or(Ok(()), |_| Err(twice())),
                    "rename" => written
                        .rename
                        .replace(meta.value()?.parse()?)
                        .map_or(Ok(()), |_| Err(twice())),
                    "alias" => {
                        written.aliases.push(meta.value()?.parse()?);
                        Ok(())
                    }
                    "detector" => {
                        let path: LitStr = meta.value()?.parse()?;
                        let path = path.parse::<Path>()?;
                        written.detector.replace(path).map_or(Ok(()), |_| Err(twice()))
                    }
                    "crate" => {
                        let path: LitStr = meta.value()?.parse()?;
                        written
                            .ckpt
                            .replace(path.parse_with(Path::parse_mod_style)?)
                            .map_or(Ok(()), |_| Err(twice()))
                    }
                    _ => {
                        let default = if meta.input.peek(syn::Token![=]) {
                            DefaultValue::Call(meta.value()?.parse::<LitStr>()?.parse()?)
                        } else {
                            DefaultValue::Trait
                        };
                        written.default.replace(default).map_or(Ok(()), |_| Err(twice()))
                    }
                }
            })?;
        }
        Ok(written)
    }

    fn names(&self, own: String) -> Vec<String> {
        let first = self.rename.as_ref().map_or(own, LitStr::value);
        std::iter::once(first)
            .chain(self.aliases.iter().map(LitStr::value))
            .collect()
    }
}

/// Errors, collected so that all are shown at once.
#[derive(Default)]
struct Errors(Option<Error>);

impl Errors {
    fn push(&mut self, error: Error) {
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            None => self.0 = Some(error),
        }
    }

    fn take<T: Default>(&mut self, result: Result<T>) -> T {
        result.unwrap_or_else(|error| {
            self.push(error);
            T::default()
        })
    }

    fn finish(self) -> Result<()> {
        self.0.map_or(Ok(()), Err)
    }
}
