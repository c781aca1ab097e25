//! Files whose text is in a program that computes on devices: kernels may be there.

use super::Program;
use ckpt_compiler::library::{Library, Types};
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use std::path::{Path, PathBuf};

/// The files that macros name there, by a path that is written out.
pub fn device_texts(library: &Library, program: &Program) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for file in &program.files {
        let folder = file.path.parent().unwrap_or(Path::new(""));
        look(library, file.ast.to_token_stream(), folder, &mut files);
    }
    files.sort();
    files.dedup();
    files
}

fn look(library: &Library, tokens: TokenStream, folder: &Path, files: &mut Vec<PathBuf>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (index, token) in tokens.iter().enumerate() {
        let TokenTree::Group(group) = token else {
            continue;
        };
        look(library, group.stream(), folder, files);
        let before = index.checked_sub(2).map(|from| &tokens[from..index]);
        if let Some([TokenTree::Ident(name), TokenTree::Punct(bang)]) = before
            && bang.as_char() == '!'
            && library.says(&name.to_string(), Types::DeviceTexts)
            && let Ok(path) = syn::parse2::<syn::LitStr>(group.stream())
        {
            files.push(folder.join(path.value()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn included_files_are_beside_the_file_that_names_them() {
        let text = r#"const ONE: &str = include_str!("one.cl"); fn f() { g(wgpu::include_wgsl!("k/two.wgsl"), include!("three.rs"), ONE != ("four")); }"#;
        let program = Program::of_text(text);
        let found = device_texts(&Library::default(), &program);
        assert_eq!(found, ["k/two.wgsl", "one.cl"].map(PathBuf::from));
    }
}
