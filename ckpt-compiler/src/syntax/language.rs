//! Names of the language itself, which no library's table has.

/// Whether a type of this name is a number, `bool` or `char`.
pub fn is_number_type(name: &str) -> bool {
    const TYPES: [&str; 16] = [
        "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize", "f32", "f64",
        "bool", "char",
    ];
    TYPES.contains(&name)
}

/// Whether a type of this name is built into the language.
pub fn is_primitive_type(name: &str) -> bool {
    is_number_type(name) || name == "str"
}

/// Whether a trait of this name is that of functions.
pub fn is_function_trait(name: &syn::Ident) -> bool {
    ["Fn", "FnMut", "FnOnce"].iter().any(|one| name == one)
}

/// Whether a trait of this name is that of what a `for` goes over.
pub fn is_iterator_trait(name: &syn::Ident) -> bool {
    name == "Iterator"
}
