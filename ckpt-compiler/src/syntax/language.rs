//! Names of the language itself, which no library's table has.

/// Bytes of a number, `bool` or `char`, by the name of its type.
pub fn bytes_of_number(name: &str) -> Option<u64> {
    Some(match name {
        "u8" | "i8" | "bool" => 1,
        "u16" | "i16" => 2,
        "u32" | "i32" | "f32" | "char" => 4,
        "u64" | "i64" | "f64" | "usize" | "isize" => 8,
        "u128" | "i128" => 16,
        _ => return None,
    })
}

/// Whether a type of this name is a number, `bool` or `char`.
pub fn is_number_type(name: &str) -> bool {
    bytes_of_number(name).is_some()
}

/// Whether a type of this name is a number without a sign.
pub fn is_unsigned_type(name: &str) -> bool {
    name.starts_with('u') && is_number_type(name)
}

/// Whether a type of this name is an integer.
pub fn is_integer_type(name: &str) -> bool {
    name.starts_with(['u', 'i']) && is_number_type(name)
}

/// Whether a type of this name is built into the language.
pub fn is_primitive_type(name: &str) -> bool {
    is_number_type(name) || name == "str"
}

/// Whether the type is that of bytes without a size of their own, `[u8]`.
pub fn is_bytes_type(ty: &syn::Type) -> bool {
    matches!(ty, syn::Type::Slice(slice)
        if matches!(&*slice.elem, syn::Type::Path(path) if path.path.is_ident("u8")))
}

/// Whether the type is text, `str`, or the bytes of one.
pub fn is_text_or_bytes_type(ty: &syn::Type) -> bool {
    is_bytes_type(ty) || matches!(ty, syn::Type::Path(path) if path.path.is_ident("str"))
}

/// Whether a variant of this name is known everywhere.
pub fn is_prelude_variant(name: &str) -> bool {
    matches!(name, "Some" | "None" | "Ok" | "Err")
}

/// The name of the trait that a bound asks for; none where it is a lifetime.
pub fn bound_trait(bound: &syn::TypeParamBound) -> Option<&syn::Ident> {
    match bound {
        syn::TypeParamBound::Trait(one) => one.path.segments.last().map(|last| &last.ident),
        _ => None,
    }
}

/// Whether a trait of this name is that of functions.
pub fn is_function_trait(name: &syn::Ident) -> bool {
    ["Fn", "FnMut", "FnOnce"].iter().any(|one| name == one)
}

/// Whether a trait of this name is that of what bytes are read from or written to, in order.
pub fn is_stream_trait(name: &syn::Ident) -> bool {
    ["Read", "BufRead", "Write"].iter().any(|one| name == one)
}

/// Whether a trait of this name is that of what a `for` goes over.
pub fn is_iterator_trait(name: &syn::Ident) -> bool {
    name == "Iterator"
}
