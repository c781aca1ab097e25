//! Whether kernels keep to what their source promises of an argument: C lets a pointer to constants become one to variables, by a
//! cast or without a word.

/// Whether nothing in this source of OpenCL C can make a pointer to variables of one to constants: but for the parameters of kernels,
/// it declares none, and names no type of one. Where that is hard to see, it may.
pub(super) fn is_kept(source: &str) -> bool {
    let source = without_comments(source);
    let words = words(&source);
    !words.is_empty() && outside_of_kernels(&words).is_some_and(|words| !makes_pointers(&words))
}

/// What stands for a pointer or could: types are made by other means, or are written where this does not look.
const HIDES: [&str; 6] = ["typedef", "include", "const_cast", "asm", "__asm__", "auto"];

const QUALIFIERS: [&str; 11] = [
    "__global",
    "global",
    "__local",
    "local",
    "__private",
    "private",
    "__generic",
    "generic",
    "volatile",
    "restrict",
    "__restrict",
];

const NUMBERS: [&str; 18] = [
    "char",
    "uchar",
    "short",
    "ushort",
    "int",
    "uint",
    "long",
    "ulong",
    "float",
    "double",
    "half",
    "bool",
    "void",
    "size_t",
    "ptrdiff_t",
    "intptr_t",
    "uintptr_t",
    "unsigned",
];

/// Whether a `*` declares a pointer to variables.
fn makes_pointers(words: &[&str]) -> bool {
    if words.iter().any(|word| HIDES.contains(word)) {
        return true;
    }
    let mut is_macro = false;
    words.iter().enumerate().any(|(at, word)| {
        match *word {
            "#" => is_macro = words.get(at + 1) == Some(&"define"),
            "\n" => is_macro = false,
            "*" => {
                let before = &words[..at];
                let last = before.last().copied().unwrap_or_default();
                let is_of_struct = before.len() > 1 && matches!(before[at - 2], "struct" | "union" | "enum");
                let declares = is_type(last) || is_of_struct || is_macro && is_name(last);
                let from = before
                    .iter()
                    .rposition(|word| matches!(*word, ";" | "{" | "}" | "(" | "," | ")" | "\n"));
                let declared = &before[from.map_or(0, |at| at + 1)..];
                let is_to_constants =
                    { declared.iter() }.any(|word| matches!(*word, "const" | "__constant" | "constant"));
                return declares && !is_to_constants;
            }
            _ => {}
        }
        false
    })
}

/// `float`, `int4`, `signed`, and what may stand between a type and its `*`.
fn is_type(word: &str) -> bool {
    let number = word.trim_end_matches(|one: char| one.is_ascii_digit());
    NUMBERS.contains(&number)
        || word == "signed"
        || QUALIFIERS.contains(&word)
        || word == "const"
        || word == "*"
}

fn is_name(word: &str) -> bool {
    word.starts_with(|one: char| one.is_alphabetic() || one == '_')
}

/// The words but for the parameters of kernels; nothing where it is not seen where these end.
fn outside_of_kernels<'t>(words: &[&'t str]) -> Option<Vec<&'t str>> {
    let mut outside = Vec::new();
    let mut rest = words;
    while let [word, behind @ ..] = rest {
        rest = behind;
        outside.push(*word);
        if !matches!(*word, "__kernel" | "kernel") {
            continue;
        }
        // `__attribute__((reqd_work_group_size(8, 1, 1)))` may stand before the name.
        let mut open = 0;
        loop {
            open += rest[open..].iter().position(|word| *word == "(")?;
            let of = open.checked_sub(1).map(|at| rest[at]);
            let end = end_of_group(&rest[open..])?;
            open += end;
            if of != Some("__attribute__") {
                break;
            }
        }
        rest = &rest[open..];
    }
    Some(outside)
}

/// How many words a group in parentheses has, with them.
fn end_of_group(words: &[&str]) -> Option<usize> {
    let mut depth = 0;
    words.iter().enumerate().find_map(|(at, word)| {
        match *word {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        (depth == 0).then_some(at + 1)
    })
}

/// Names and numbers, ends of lines, and each other letter.
fn words(text: &str) -> Vec<&str> {
    let is_of_name = |one: char| one.is_alphanumeric() || one == '_';
    let space = |one: char| one.is_whitespace() && one != '\n';
    let mut list = Vec::new();
    let mut rest = text.trim_start_matches(space);
    while let Some(first) = rest.chars().next() {
        let end = match is_of_name(first) {
            true => rest.find(|one| !is_of_name(one)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        list.push(&rest[..end]);
        rest = rest[end..].trim_start_matches(space);
    }
    list
}

/// A line that goes on is one.
fn without_comments(source: &str) -> String {
    let source = source.replace("\\\n", " ").replace("\\\r\n", " ");
    let mut text = String::with_capacity(source.len());
    let mut rest = source.as_str();
    while let Some(at) = rest.find("//").into_iter().chain(rest.find("/*")).min() {
        text.push_str(&rest[..at]);
        text.push(' ');
        let (end, behind) = match rest[at..].starts_with("//") {
            true => ("\n", 0),
            false => ("*/", 2),
        };
        let comment = &rest[at + 2..];
        rest = comment.find(end).map_or("", |at| &comment[at + behind..]);
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_that_keep_to_it() {
        for source in [
            "__kernel void add(__global const float *a, __global float *b) { int i = get_global_id(0); b[i] = a[i] * 2.0f + i*3; }",
            "#define N 32\n#define AT(i, j) ((i) * N + (j))\nkernel void f(global const float4 *a, global float4 * restrict b) { b[0] = a[AT(1, 2)]; }",
            "float sum(__global const float *a, const int n) { float s = 0; for (int i = 0; i < n; i++) s += a[i] * a[i]; return s; }
             __kernel __attribute__((reqd_work_group_size(8, 1, 1))) void f(__global const float *a, __global float *b) { b[0] = sum(a, 3); }",
            "struct Cell { float at; int kind; }; // float *w\n /* typedef */ __kernel void f(__global const struct Cell *a, __global float *b) { b[0] = a[1].at; }",
        ] {
            assert!(is_kept(source), "{source}");
        }
    }

    #[test]
    fn kernels_that_may_not() {
        for inside in [
            "__global float *w = (__global float *)a; w[i] = 1.0f;",
            "((__global float*)a)[i] = 1.0f;",
            "__global float *w = a; w[i] = 1.0f;",
            "float __global * const w = a; w[i] = 1.0f;",
            "set(a, i);",
            "struct View view; view.at = a; *view.at = 1.0f;",
            "P w = (P)a; *w = 1.0f;",
            "__global void *w = a;",
        ] {
            let source = format!(
                "struct View {{ __global float *at; }};\ntypedef __global float *P;
                 void set(__global float *to, int i) {{ to[i] = 1.0f; }}
                 __kernel void f(__global const float *a) {{ int i = get_global_id(0); {inside} }}"
            );
            assert!(!is_kept(&source), "{inside}");
            let alone =
                format!("__kernel void f(__global const float *a) {{ int i = get_global_id(0); {inside} }}");
            let is_named = ["set", "view", "P w"].iter().any(|name| inside.contains(name));
            assert!(is_named || !is_kept(&alone), "{inside}");
        }
        assert!(
            !is_kept("") && !is_kept("#include \"kernels.h\"\n__kernel void f(__global const float *a) {}")
        );
        assert!(!is_kept(
            "#define TO(T) T *\n__kernel void f(__global const float *a) { TO(__global float) w = a; }"
        ));
        assert!(!is_kept("__kernel void f(__global const float *a"));
    }
}
