//! What kernels do with their arguments, as their source in OpenCL C says: texts of the program, and files that it includes.

use super::wgsl::Shaders;
use crate::source::Program;
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::BTreeMap;

/// What a kernel does with an array that it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// Its argument is `__constant`, or points to what is `const`.
    Reads,
    /// It may write there.
    Writes,
    /// The source of the kernel is no text of the program, or which of its arguments the array is was not found.
    NotKnown,
}

impl Access {
    /// The word for it, as in `--format json`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::Writes => "writes",
            Self::NotKnown => "not known",
        }
    }
}

/// The kernels of a program.
#[derive(Debug, Default)]
pub(super) struct Kernels {
    /// What each does with its arguments; nothing for one that is no array.
    arguments: BTreeMap<String, Vec<Option<Access>>>,
    /// Those in WGSL.
    pub shaders: Shaders,
}

impl Kernels {
    pub fn of(program: &Program) -> Self {
        let mut kernels = Self::default();
        for file in &program.files {
            kernels.look_into(file.ast.to_token_stream());
        }
        program.texts.iter().for_each(|text| kernels.read(text));
        kernels
    }

    /// Whether there is one of this name.
    pub fn has(&self, name: &str) -> bool {
        self.arguments.contains_key(name)
    }

    /// What the kernel of this name does with its argument of this number.
    pub fn access(&self, name: &str, argument: Option<usize>) -> Access {
        let known = self.arguments.get(name).zip(argument);
        let argument = known.and_then(|(arguments, number)| arguments.get(number).copied().flatten());
        argument.unwrap_or(Access::NotKnown)
    }

    fn look_into(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.look_into(group.stream()),
                TokenTree::Literal(literal) => {
                    if let syn::Lit::Str(text) = syn::Lit::new(literal) {
                        self.read(&text.value());
                    }
                }
                TokenTree::Ident(_) | TokenTree::Punct(_) => {}
            }
        }
    }

    /// Takes what is declared in a text: `__kernel void name(..)`.
    fn read(&mut self, text: &str) {
        self.shaders.read(text);
        let text = without_comments(text);
        let mut rest = text.as_str();
        while let Some(at) = rest.find("kernel") {
            let is_word = !rest[..at]
                .trim_end_matches("__")
                .ends_with(|one: char| one.is_alphanumeric() || one == '_');
            rest = &rest[at + "kernel".len()..];
            if let Some((name, arguments)) = declared(rest).filter(|_| is_word) {
                let arguments = split(arguments).into_iter().map(access).collect();
                self.arguments.insert(name.to_owned(), arguments);
            }
        }
    }
}

/// The name behind `void`, and what stands in the parentheses behind that.
fn declared(text: &str) -> Option<(&str, &str)> {
    let (before, behind) = text.split_once("void")?;
    // Attributes may stand there.
    let is_there = before.starts_with(char::is_whitespace) && !before.contains([';', '{', '}']);
    let (name, behind) = behind.split_once('(').filter(|_| is_there)?;
    let name = name.trim();
    let is_name = !name.is_empty() && name.chars().all(|one| one.is_alphanumeric() || one == '_');
    let mut depth = 1;
    let end = behind.find(|one: char| {
        depth += i32::from(one == '(') - i32::from(one == ')');
        depth == 0
    })?;
    is_name.then_some((name, &behind[..end]))
}

/// Between the commas that stand in no parentheses.
fn split(arguments: &str) -> Vec<&str> {
    let mut depth = 0;
    let at_commas = |one: char| {
        depth += i32::from(one == '(') - i32::from(one == ')');
        depth == 0 && one == ','
    };
    arguments.split(at_commas).collect()
}

/// What is done with an argument that is declared so, if it is an array or an image.
fn access(argument: &str) -> Option<Access> {
    let is = |word: &str, name: &str| word.trim_start_matches("__") == name;
    let Some((points_to, _)) = argument.rsplit_once('*') else {
        let mut words = words(argument);
        words.clone().find(|word| is_image(word))?;
        let is_written = words.any(|word| is(word, "write_only") || is(word, "read_write"));
        return Some(if is_written { Access::Writes } else { Access::Reads });
    };
    let mut words = words(points_to);
    if words.clone().any(|word| is(word, "local")) {
        return None;
    }
    let is_read = words.any(|word| is(word, "const") || is(word, "constant"));
    Some(if is_read { Access::Reads } else { Access::Writes })
}

fn words(text: &str) -> impl Iterator<Item = &str> + Clone {
    text.split(|one: char| !one.is_alphanumeric() && one != '_')
}

/// Whether this is the type of an image: `image2d_t`, `image1d_array_t`.
fn is_image(word: &str) -> bool {
    let of = word
        .strip_prefix("image")
        .and_then(|rest| rest.strip_suffix("_t"));
    of.is_some_and(|of| of.starts_with(['1', '2', '3']))
}

pub(in crate::decisions) fn without_comments(text: &str) -> String {
    let mut left = String::new();
    let mut rest = text;
    loop {
        let (at, end) = match (rest.find("/*"), rest.find("//")) {
            (Some(long), line) if line.is_none_or(|line| long < line) => (long, "*/"),
            (_, Some(line)) => (line, "\n"),
            _ => return left + rest,
        };
        left += &rest[..at];
        left.push(' ');
        rest = rest[at + 2..].split_once(end).map_or("", |(_, behind)| behind);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_kernel_does_with_its_arguments_stands_in_its_source() {
        let mut kernels = Kernels::default();
        kernels.read(
            "// a kernel void no(int *x)\n float half_of(float x) { return x / 2; }
             __kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
             add(__global const uint *state, __global double *sum, __constant int * few, __local int *own, /* a, b */ uint more) { }
             kernel void twice(global float4 *x) {}
             kernel void blur(image2d_t from, __write_only image2d_array_t to, read_write image3d_t kept, sampler_t how) {} my_kernel void other(int *x) {} subkernel void another(int *x) {}",
        );
        let known: Vec<_> = kernels.arguments.iter().collect();
        let (reads, writes) = (Some(Access::Reads), Some(Access::Writes));
        assert_eq!(
            known,
            [
                (&"add".to_owned(), &vec![reads, writes, reads, None, None]),
                (&"blur".to_owned(), &vec![reads, writes, writes, None]),
                (&"twice".to_owned(), &vec![writes]),
            ]
        );
        assert_eq!(kernels.access("add", Some(1)), Access::Writes);
        for (name, number) in [("add", None), ("add", Some(9)), ("none", Some(0))] {
            assert_eq!(kernels.access(name, number), Access::NotKnown);
        }
    }
}
