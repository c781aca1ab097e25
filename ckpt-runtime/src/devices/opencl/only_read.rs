//! Whether kernels only read what a parameter of theirs points to, as their source says it. `const` alone does not: C lets a program
//! make another pointer of one to constants. So every mention of the parameter has to take an element; the compiler of OpenCL C sees
//! to it that a constant element is not written to.

use crate::base::checksum::xxh3;

/// A parameter, and the program around it.
pub(super) struct Parameter<'a> {
    pub kernel: &'a str,
    pub index: usize,
    /// Of the whole program.
    pub source: &'a str,
    /// That it was built with.
    pub options: &'a str,
}

/// Scalars, of which there are vectors.
const NUMBERS: [&str; 11] = [
    "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float", "double", "half",
];

const OF_COMPILER: [&str; 3] = ["asm", "__asm", "__asm__"];

const GLOBAL: [&str; 2] = ["__global", "global"];

impl Parameter<'_> {
    /// The same for all that are alike.
    pub fn sum(&self) -> u128 {
        let index = self.index.to_string();
        xxh3(
            [self.kernel, &index, self.options, self.source]
                .join("\0")
                .as_bytes(),
        )
    }

    /// Whether nothing writes there. Where that is hard to see, something may.
    pub fn is_only_read(&self) -> bool {
        let source = without_comments(self.source);
        // Words and letters are made of others.
        if ["##", "%:", "??"].iter().any(|sign| source.contains(sign)) {
            return false;
        }
        let words = words(&source);
        // The compiler's own words take addresses without a sign of it.
        let is_of_compiler = |word: &&str| {
            let word = word.strip_prefix(['D']).unwrap_or(word);
            word.starts_with("__builtin") || OF_COMPILER.contains(&word)
        };
        if { words.iter() }
            .chain(&self::words(self.options))
            .any(is_of_compiler)
        {
            return false;
        }
        let Some(declared) = declared(&words, self.kernel, self.index) else {
            return false;
        };
        let is_plain = !is_in_options(&[declared, &[self.kernel]].concat(), self.options)
            && !source.lines().any(|line| is_in_directive(declared, line));
        is_plain && says_so(declared, &words)
    }
}

/// By its memory, by what kind of image it is, or by its type and all mentions of it.
fn says_so(declared: &[&str], words: &[&str]) -> bool {
    let has = |one: [&str; 2]| declared.iter().any(|word| one.contains(word));
    if has(["__read_only", "read_only"]) {
        return true;
    }
    if has(["__constant", "constant"]) {
        return declared
            .last()
            .is_some_and(|name| takes_elements_only(name, words));
    }
    let is_number = |word: &&str| NUMBERS.contains(&word.trim_end_matches(|one: char| one.is_ascii_digit()));
    let has_one_number = |of: &[&str]| of.iter().filter(|word| is_number(word)).count() == 1;
    let Some((name, of_type)) = declared.split_last() else {
        return false;
    };
    let Some(star) = of_type.iter().position(|word| *word == "*") else {
        // A number, that points to nothing.
        return has_one_number(of_type) && of_type.iter().all(|word| is_number(word) || *word == "const");
    };
    let (element, behind) = of_type.split_at(star);
    // An element is no array, which would become a pointer.
    element.contains(&"const")
        && has_one_number(element)
        && element
            .iter()
            .all(|word| is_number(word) || *word == "const" || GLOBAL.contains(word))
        && !behind[1..].contains(&"*")
        && takes_elements_only(name, words)
}

/// The words of a parameter of the only function of this name, its own name the last; nothing where this is hard to see. Nothing else has
/// the name: a macro could give it to another function, and this one be left out by `#if`.
fn declared<'w, 's>(words: &'w [&'s str], function: &str, index: usize) -> Option<&'w [&'s str]> {
    let mut mentions = { words.iter().enumerate() }.filter(|(_, word)| **word == function);
    let (at, _) = mentions.next()?;
    let is_declared = at > 0 && words[at - 1] == "void" && words.get(at + 1) == Some(&"(");
    if mentions.next().is_some() || !is_declared {
        return None;
    }
    let all = &words[at + 2..];
    let (mut depth, mut number, mut from) = (0, 0, 0);
    for (at, word) in all.iter().enumerate() {
        match *word {
            "#" => return None,
            "," | ")" if depth == 0 => {
                if number == index {
                    let found = &all[from..at];
                    return found.last()?.starts_with(is_of_name).then_some(found);
                }
                if *word == ")" {
                    return None;
                }
                (number, from) = (number + 1, at + 1);
            }
            other => depth += i32::from(other == "(") - i32::from(other == ")"),
        }
    }
    None
}

/// Whether what it was built with may have a mention, or an address. In C++ an element becomes a reference without a sign of it.
fn is_in_options(declared: &[&str], options: &str) -> bool {
    let lower = options.to_lowercase();
    // `-Dconst=` and `-D const=` define the same.
    let is_named = |word: &&str| {
        let defined = word.strip_prefix(['D', 'U']).unwrap_or(word);
        word.starts_with(is_of_name) && (declared.contains(word) || declared.contains(&defined))
    };
    ["&", "c++", "-include"].iter().any(|sign| lower.contains(sign)) || words(options).iter().any(is_named)
}

/// Whether a line for the preprocessor may have a mention, or an address.
fn is_in_directive(declared: &[&str], line: &str) -> bool {
    let Some(directive) = line.trim_start().strip_prefix('#') else {
        return false;
    };
    let words = words(directive);
    let is_defined = words.first() == Some(&"define") && { words.iter().skip(1) }
        .any(|word| *word == "&" || word.starts_with(is_of_name) && declared.contains(word));
    is_defined || matches!(words.first(), Some(&("include" | "import")))
}

/// `a[i]` and `*a` are elements as long as nobody takes their address; `float *a` declares a parameter, maybe of another function.
fn takes_elements_only(name: &str, words: &[&str]) -> bool {
    let mentions = words.iter().enumerate().filter(|(_, word)| **word == name);
    mentions.map(|(at, _)| at).all(|at| {
        let (before, behind) = (&words[..at], &words[at + 1..]);
        let of = before.iter().rposition(|word| !matches!(*word, "(" | "*"));
        // Two of them are an `and`: there is no address of an address.
        let is_address = of.is_some_and(|of| before[of] == "&" && (of == 0 || before[of - 1] != "&"));
        let declares = matches!(before.last(), Some(&("restrict" | "__restrict" | "const")))
            && matches!(behind.first(), Some(&("," | ")")));
        let is_element = before.last() == Some(&"*") || behind.first() == Some(&"[");
        !is_address && (declares || is_element)
    })
}

fn is_of_name(one: char) -> bool {
    one.is_alphanumeric() || one == '_'
}

/// Names and numbers, and each other letter.
fn words(text: &str) -> Vec<&str> {
    let mut list = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let end = match is_of_name(first) {
            true => rest.find(|one| !is_of_name(one)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        list.push(&rest[..end]);
        rest = rest[end..].trim_start();
    }
    list
}

/// A line that goes on is one. What looks like a comment in a text is none.
fn without_comments(source: &str) -> String {
    let source = source.replace("\\\r\n", "").replace("\\\n", "");
    let mut text = String::with_capacity(source.len());
    let mut rest = source.as_str();
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest[2..].find("*/").map_or(rest.len(), |end| end + 4),
            quote @ ('"' | '\'') => {
                let end = end_of_text(rest, quote);
                text.push_str(&rest[..end]);
                rest = &rest[end..];
                continue;
            }
            other => {
                text.push(other);
                rest = &rest[other.len_utf8()..];
                continue;
            }
        };
        text.push(' ');
        rest = &rest[end..];
    }
    text
}

/// It ends with its line at the latest.
fn end_of_text(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    let end = text.char_indices().skip(1).find(|(_, one)| {
        let ends = *one == '\n' || *one == quote && !is_escaped;
        is_escaped = *one == '\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |(at, one)| at + one.len_utf8())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_only_read(source: &str) -> bool {
        with(source, "-DN=32 -cl-fast-relaxed-math")
    }

    fn with(source: &str, options: &str) -> bool {
        let (kernel, index) = ("f", 0);
        Parameter {
            kernel,
            index,
            source,
            options,
        }
        .is_only_read()
    }

    #[test]
    fn elements_that_are_taken() {
        for source in [
            "__kernel void f(__global const float *a, __global float *b) { int i = get_global_id(0); b[i] = a[i] * 2.0f + i*3; }",
            "#define N 32\n#define AT(i, j) ((i) * N + (j))\nkernel void f(global const float * restrict a, global float * restrict b) { b[0] = a[AT(1, 2)]; }",
            "__kernel __attribute__((reqd_work_group_size(8, 1, 1))) void f(const __global float* a, __global float *b) {
                 for (int i = 0; i < 8 && a[i] > 0; i++) b[i] += *a; }",
            "// set(a);\n /* &a[1] */ __kernel void f(__global const float *a, __global float *b) { b[0] = fmax(a[1], a[2]); }
             __kernel void other(__global float *a, const int n) { a[n] = 1.0f; }",
        ] {
            assert!(is_only_read(source), "{source}");
        }
    }

    #[test]
    fn types_that_say_so() {
        let takes = |parameter: &str| {
            is_only_read(&format!(
                "typedef struct {{ float x[3]; }} Cell; kernel void f({parameter}, global float *b) {{ b[0] = a[1].x; }}"
            ))
        };
        for parameter in [
            "global const float4 *a",
            "float4 const __global * const restrict a",
            "__constant struct Cell *a",
            "constant Cell *a",
            "__read_only image2d_t a",
            "const double a",
            "ulong a",
        ] {
            assert!(takes(parameter), "{parameter}");
        }
        for parameter in [
            "global float4 *a",
            "global const Cell *a",
            "global const struct Cell *a",
            "global const float * const * a",
            "global float * const a",
            "__write_only image2d_t a",
            "image2d_t a",
            "Cell a",
            "ALL",
            "POINTER(a)",
        ] {
            assert!(!takes(parameter), "{parameter}");
        }
    }

    #[test]
    fn other_pointers_to_them() {
        for inside in [
            "__global float *w = (__global float *)a; w[i] = 1.0f;",
            "((__global float*)a)[i] = 1.0f;",
            "__global float *w = a; w[i] = 1.0f;",
            "*(__global float *)&a[i] = 1.0f;",
            "*(__global float *)&(a[i]) = 1.0f;",
            "*(__global float *)&*a = 1.0f;",
            "*(__global float *)(a + i) = 1.0f;",
            "*(__global float *)&i[a] = 1.0f;",
            "((__typeof__(b))a)[i] = 1.0f;",
            "sincos(1.0f, a + i);",
            "vstore4((float4)(1.0f), 0, a);",
            "set(a, i);",
            "other(b, a);",
            "struct View view; view.at = a; *view.at = 1.0f;",
            "unsigned long at = (unsigned long)a; *(__global float *)at = 1.0f;",
            "TO(a) = 1.0f;",
            "__auto_type p = (__global float *)__builtin_addressof(a[i]); *p = 1.0f;",
            "float x = a[i]; asm(\"\" : : \"r\"(a[i]));",
            "printf(\"//\"); *(__global float *)&a[i] = 1.0f;",
            "printf(\"\\\"//\"); *(__global float *)&a[i] = 1.0f;",
            "char c = '\"'; *(__global float *)&a[i] = 1.0f; // \"",
        ] {
            let source = format!(
                "__kernel void f(__global const float *a, __global float *b) {{ int i = get_global_id(0); {inside} }}"
            );
            assert!(!is_only_read(&source), "{inside}");
        }
        let takes = |before: &str| {
            format!(
                "{before}\n__kernel void f(__global const float *a, __global float *b) {{ b[0] = SET(a[1]); }}"
            )
        };
        assert!(is_only_read(&takes("#define SET(x) (x) + 1")));
        for before in [
            "#define SET(x) (*(__global float *)&x = 1.0f)",
            "#define SET(x) (*(__global float *) \\\n & x = 1.0f)",
            "#define SET(x) SET_##x",
            "#define SET(x) (((__global float *)a)[1] = 1.0f)",
            " # include \"set.h\"",
            "#define const",
            "#define float struct Cell",
        ] {
            assert!(!is_only_read(&takes(before)), "{before}");
        }
        for options in [
            "-DSET(x)=*&x",
            "-Dconst=",
            "-Uconst -Dconst=",
            "-D SET(x)=((b)a)",
            "-cl-std=CLC++2021",
            "-include set.h",
            "-Dg=f",
            "-Dat=__builtin_addressof",
        ] {
            assert!(!with(&takes(""), options), "{options}");
        }
        for source in [
            "",
            "__kernel void f(__constant float *a) { *(__global float *)(ulong)&a[1] = 1.0f; }",
            "#define POINTER(name) __global const float *name\n__kernel void f(POINTER(a), __global float *b) { b[0] = a[1]; }",
            "#define ALL __global const float *a\n__kernel void f(ALL) { *(__global float *)&a[1] = 1.0f; }",
            "#define g f\n__kernel void g(__global float *a) { a[0] = 1.0f; }\n#if 0\n__kernel void f(__global const float *a) { a[0]; }\n#endif",
            "#define K(name) __kernel void name(__global float *a)\nK(f) { a[0] = 1.0f; }\n#if 0\n__kernel void f(__global const float *a) { a[0]; }\n#endif",
            "#ifdef A\n__kernel void f(__global const float *b) {}\n#else\n__kernel void f(__global const float *a) {}\n#endif",
            "__kernel void f(__global const float *a) { *(__global float *)(a) = 1.0f; }",
        ] {
            assert!(!is_only_read(source), "{source}");
        }
    }
}
