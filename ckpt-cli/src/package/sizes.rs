//! How large variables are: from the types that are written, or from the newest checkpoint of the program.

use std::collections::HashMap;

use ckpt::store::VariableContent;
use syn::Type;

use super::read::ReadPackage;
use crate::stores::{self, Which};
use crate::values::checkpoint;

/// Bytes of the variables in a checkpoint, by function and name.
#[derive(Debug, Default)]
pub struct Sizes {
    found: HashMap<(String, String), u64>,
}

impl Sizes {
    /// Those of the newest checkpoint in the store that a run in this folder would use; none where there is none.
    pub fn of_last_checkpoint(package: &ReadPackage) -> Self {
        let name = &package.workspace.choice.package;
        let mut sizes = Self::default();
        let store = stores::for_program(None, name)
            .ok()
            .filter(|folder| folder.is_dir());
        let loaded = store.and_then(|folder| checkpoint::load(&folder, Which::Latest).ok());
        for frame in loaded.iter().flat_map(|checkpoint| checkpoint.frames()) {
            for variable in &frame.variables {
                if !matches!(variable.content, VariableContent::Link { .. }) {
                    let key = (frame.function.clone(), variable.key.clone());
                    sizes.found.insert(key, variable.bytes);
                }
            }
        }
        sizes
    }

    /// Of a variable of a function, whose name here has its modules in front.
    pub fn of(&self, function: &str, variable: &str) -> Option<u64> {
        self.found
            .iter()
            .find(|((of, name), _)| {
                name == variable && (function == of || function.ends_with(&format!("::{of}")))
            })
            .map(|(_, bytes)| *bytes)
    }
}

/// Bytes of a value of a type that its text tells: numbers, and arrays and tuples of them.
pub fn of_type(text: &str) -> Option<u64> {
    fn bytes(ty: &Type) -> Option<u64> {
        match ty {
            Type::Path(path) => match path.path.get_ident()?.to_string().as_str() {
                "u8" | "i8" | "bool" => Some(1),
                "u16" | "i16" => Some(2),
                "u32" | "i32" | "f32" | "char" => Some(4),
                "u64" | "i64" | "f64" | "usize" | "isize" => Some(8),
                "u128" | "i128" => Some(16),
                _ => None,
            },
            Type::Array(array) => match &array.len {
                syn::Expr::Lit(syn::ExprLit {
                    lit: syn::Lit::Int(length),
                    ..
                }) => bytes(&array.elem)?.checked_mul(length.base10_parse().ok()?),
                _ => None,
            },
            Type::Tuple(tuple) => tuple.elems.iter().map(bytes).sum(),
            Type::Paren(one) => bytes(&one.elem),
            _ => None,
        }
    }
    bytes(&syn::parse_str(text).ok()?)
}

#[cfg(test)]
mod tests {
    use super::of_type;

    #[test]
    fn numbers_and_what_is_made_of_them_have_a_size() {
        let sizes = [
            ("f64", Some(8)),
            ("[[f32; 10]; 3]", Some(120)),
            ("(u8, [i64; 2])", Some(17)),
            ("Vec<f64>", None),
            ("[f64; N]", None),
        ];
        for (text, bytes) in sizes {
            assert_eq!(of_type(text), bytes, "{text}");
        }
    }
}
