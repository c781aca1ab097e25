//! Content on devices that no variable of the program holds, with libraries of which nobody counts what is there: variables of
//! the kernels outside of their functions, and memory that the program knows by its address. A restart makes what leads there
//! again, without that content, and the addresses are others.

use crate::source::Program;
use ckpt_compiler::library::{DeviceHidden, Library};
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;

/// By which the declaration of a variable of kernels begins, in CUDA's C++ and in its assembler.
const VARIABLES: [&str; 5] = ["__device__", "__constant__", "__managed__", ".global", ".const"];

/// What stands in parentheses behind these is no argument of a function.
const ALIGNMENTS: [&str; 3] = ["__align__", "alignas", "__attribute__"];

/// What leads to such content, in the words of a sentence: nothing if there is none.
pub(super) fn hidden(library: &Library, program: &Program) -> Option<String> {
    let in_files = program.files.iter().find_map(|file| {
        let mut look = Look {
            library,
            file: file
                .path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
        };
        look.at(file.ast.to_token_stream())
    });
    in_files.or_else(|| program.texts.iter().find_map(|text| in_text(text)))
}

struct Look<'l> {
    library: &'l Library,
    file: String,
}

impl Look<'_> {
    fn at(&mut self, tokens: TokenStream) -> Option<String> {
        // What stands before a token, as far as it is a path.
        let mut path = String::new();
        tokens.into_iter().find_map(|token| match token {
            TokenTree::Group(group) => {
                path.clear();
                self.at(group.stream())
            }
            TokenTree::Ident(name) => {
                let is_in_path = path.ends_with("::");
                path = if is_in_path {
                    format!("{path}{name}")
                } else {
                    name.to_string()
                };
                let is_address = self.library.says(&name.to_string(), DeviceHidden::Addresses)
                    && !self.library.says(&path, DeviceHidden::AddressesInMemory);
                path = name.to_string();
                is_address.then(|| format!("`{name}` in line {} of {}", name.span().start().line, self.file))
            }
            TokenTree::Literal(literal) => match syn::Lit::new(literal) {
                syn::Lit::Str(text) => in_text(&text.value()),
                _ => None,
            },
            TokenTree::Punct(one) => {
                path.push(one.as_char());
                None
            }
        })
    }
}

/// A variable that stands outside of all functions in the text of kernels, in CUDA's C++ or as its assembler has it.
fn in_text(text: &str) -> Option<String> {
    let text = super::device_arrays::without_comments(text);
    let mut depth = 0_usize;
    let mut outside = String::new();
    for one in text.chars() {
        match one {
            '{' => {
                depth += 1;
                // The end of a declaration, whatever stands in the braces.
                outside.extend((depth == 1).then_some("{"));
            }
            '}' => depth = depth.saturating_sub(1),
            _ if depth == 0 => outside.push(one),
            _ => {}
        }
    }
    outside.split_inclusive([';', '{']).find_map(|declared| {
        let words = words_of(declared).filter(|_| declared.ends_with([';', '{']))?;
        let name = words.last()?;
        (words.iter().any(|word| VARIABLES.contains(word)) && !VARIABLES.contains(name))
            .then(|| format!("`{name}`, a variable of the kernels outside of their functions"))
    })
}

/// The words that a declaration begins with, the last of them its name; nothing for one of a function.
fn words_of(declared: &str) -> Option<Vec<&str>> {
    let is_in_word = |one: char| one.is_alphanumeric() || matches!(one, '_' | '.' | '$');
    let mut words = Vec::new();
    let mut rest = declared.trim_start();
    loop {
        let end = rest.find(|one| !is_in_word(one)).unwrap_or(rest.len());
        if end > 0 {
            words.push(&rest[..end]);
        }
        let behind = rest[end..].trim_start();
        rest = match behind.chars().next() {
            Some('(') => {
                words.pop().filter(|word| ALIGNMENTS.contains(word))?;
                behind.split_once(')')?.1.trim_start()
            }
            Some('*' | '&' | '<' | '>' | ',' | ':' | '"') => &behind[1..],
            Some(one) if is_in_word(one) => behind,
            _ => return Some(words),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<String> {
        hidden(Library::builtin(), &Program::of_main(text))
    }

    #[test]
    fn variables_of_kernels_outside_of_functions_are_found() {
        for (variable, name) in [
            ("__device__ unsigned int draws;", "draws"),
            ("__constant__ float coefficients[4];", "coefficients"),
            ("__device__ __align__(8) double sums[2] = { 0.0, 1.0 };", "sums"),
            ("extern \"C\" { } static __device__ int *list = 0;", "list"),
            (".visible .global .align 4 .u32 draws;", "draws"),
            (".const .align 8 .b8 table[16];", "table"),
        ] {
            let text = format!("extern \"C\" __global__ void step(float *x) {{ x[0] = 1; }} {variable}");
            let file = format!("const KERNELS: &str = {text:?}; fn main() {{}}");
            let said = found(&file).unwrap_or_else(|| panic!("{variable}"));
            assert!(said.starts_with(&format!("`{name}`, a variable")), "{said}");
        }
    }

    #[test]
    fn functions_and_their_own_variables_are_none() {
        for text in [
            "__device__ float twice(float x) { return 2 * x; } __global__ void step(float *x) { __shared__ float own[32]; }",
            "__device__ __forceinline__ int f(int a) { return a; } // __device__ int g;",
            "extern __shared__ float all[];",
            ".visible .entry step(.param .u64 step_param_0) { .reg .u64 %rd<3>; ld.global.f32 %f1, [%rd1]; }",
            "the __device__ is busy",
            "",
        ] {
            let file = format!("const KERNELS: &str = {text:?}; fn main() {{}}");
            assert_eq!(found(&file), None, "{text}");
        }
    }

    #[test]
    fn addresses_of_memory_on_a_device_are_named_with_their_place() {
        let said = found("fn main() {\n    let a = malloc_sync(8);\n}").expect("there is one");
        assert_eq!(said, "`malloc_sync` in line 2 of a.rs");
        for leaks in [
            "stream.alloc_zeros::<f32>(8)?.leak()",
            "CudaSlice::leak(array)",
            "arrays.map(CudaSlice::leak)",
        ] {
            let said = found(&format!("fn main() {{ let a = {leaks}; }}"));
            assert_eq!(said.as_deref(), Some("`leak` in line 1 of a.rs"), "{leaks}");
        }
        for own in [
            "Box::leak(Box::new(8))",
            "let text: &str = String::leak(made());",
            "std::vec::Vec::leak(list)",
        ] {
            assert_eq!(found(&format!("fn main() {{ {own}; }}")), None, "{own}");
        }
    }
}
