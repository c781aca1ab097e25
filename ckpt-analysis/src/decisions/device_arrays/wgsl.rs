//! What the entry points of shaders do with the arrays that are bound for them, and what the elements of these are, as the
//! source in WGSL says.

use super::kernels::Access;
use ckpt_compiler::library::words_of_text;
use std::collections::{BTreeMap, BTreeSet};

/// The variables of shaders that arrays are bound to.
#[derive(Debug, Default)]
pub(super) struct Shaders(Vec<Bound>);

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bound {
    pub group: Option<usize>,
    pub binding: Option<usize>,
    pub access: Access,
    /// The number that all of its elements are made of, where that is one.
    pub elements: Option<String>,
    /// The entry points that lead to where it is named.
    pub entries: BTreeSet<String>,
}

impl Shaders {
    /// What an array may be that is bound there; nothing is known of a number that is no literal.
    pub fn bound(&self, group: Option<usize>, binding: Option<usize>) -> impl Iterator<Item = &Bound> {
        let may_be =
            |one: Option<usize>, other: Option<usize>| one.is_none() || other.is_none() || one == other;
        let all = self.0.iter();
        all.filter(move |one| may_be(one.group, group) && may_be(one.binding, binding))
    }

    /// Takes what is declared in a text.
    pub fn read(&mut self, text: &str) {
        // Other texts have no such words.
        if !text.contains("@binding") {
            return;
        }
        let text = without_comments(text);
        let words = words_of_text(&text);
        let mut module = Module::default();
        module.read(&words);
        self.0.extend(module.variables.iter().map(|variable| Bound {
            group: variable.group,
            binding: variable.binding,
            access: variable.access,
            elements: module.number_of(variable.ty, 0),
            entries: module.entries_to(variable.name),
        }));
    }
}

struct Variable<'t> {
    name: &'t str,
    group: Option<usize>,
    binding: Option<usize>,
    access: Access,
    ty: &'t [&'t str],
}

#[derive(Default)]
struct Module<'t> {
    variables: Vec<Variable<'t>>,
    /// What a type of this name consists of.
    types: BTreeMap<&'t str, Vec<&'t [&'t str]>>,
    /// The names in the body of a function.
    functions: BTreeMap<&'t str, BTreeSet<&'t str>>,
    entries: Vec<&'t str>,
}

impl<'t> Module<'t> {
    /// Notes a variable that an array is bound to; whether it is one, with its type.
    fn note(
        &mut self,
        declared: &'t [&'t str],
        bound_to: (Option<Option<usize>>, Option<Option<usize>>),
        writes: bool,
    ) -> bool {
        let ([name, ":", ty @ ..], (Some(group), Some(binding))) = (declared, bound_to) else {
            return false;
        };
        self.variables.push(Variable {
            name,
            group,
            binding,
            access: if writes { Access::Writes } else { Access::Reads },
            ty,
        });
        true
    }

    fn read(&mut self, words: &'t [&'t str]) {
        let (mut group, mut binding, mut is_entry) = (None, None, false);
        let mut rest = words;
        while let [word, behind @ ..] = rest {
            rest = match (*word, behind) {
                ("@", ["group", "(", number, ")", ..]) => {
                    group = Some(number.trim_end_matches('u').parse().ok());
                    &behind[4..]
                }
                ("@", ["binding", "(", number, ")", ..]) => {
                    binding = Some(number.trim_end_matches('u').parse().ok());
                    &behind[4..]
                }
                ("@", ["compute" | "vertex" | "fragment", behind @ ..]) => {
                    is_entry = true;
                    behind
                }
                ("var", ["<", behind @ ..]) => {
                    let (kind, behind) = until(behind, ">");
                    let (declared, behind) = until(behind, ";");
                    let writes = kind.iter().any(|word| matches!(*word, "read_write" | "write"));
                    self.note(declared, (group.take(), binding.take()), writes);
                    behind
                }
                ("var", behind) => {
                    let (declared, after) = until(behind, ";");
                    let writes =
                        { declared.iter() }.any(|word| matches!(*word, "read_write" | "write" | "atomic"));
                    match self.note(declared, (group.take(), binding.take()), writes) {
                        true => after,
                        false => behind,
                    }
                }
                ("alias", [name, "=", behind @ ..]) => {
                    let (ty, behind) = until(behind, ";");
                    self.types.insert(name, vec![ty]);
                    behind
                }
                ("struct", [name, "{", behind @ ..]) => {
                    let (fields, behind) = inside(behind, "{", "}");
                    self.types.insert(name, types_of_fields(fields));
                    behind
                }
                ("fn", [name, behind @ ..]) => {
                    let (_, behind) = until(behind, "{");
                    let (body, behind) = inside(behind, "{", "}");
                    self.functions.insert(name, body.iter().copied().collect());
                    if std::mem::take(&mut is_entry) {
                        self.entries.push(name);
                    }
                    behind
                }
                (_, behind) => behind,
            };
        }
    }

    /// The number that a type is made of: `f32` of `array<vec4<f32>>`.
    fn number_of(&self, ty: &[&str], depth: usize) -> Option<String> {
        let [word, rest @ ..] = ty else {
            return None;
        };
        if depth > 20 {
            return None;
        }
        if let Some(parts) = self.types.get(word) {
            let mut numbers = parts.iter().map(|part| self.number_of(part, depth + 1));
            let first = numbers.next()??;
            return numbers.all(|one| one.as_ref() == Some(&first)).then_some(first);
        }
        let of_letter = || {
            let is_short = word.starts_with("vec") || word.starts_with("mat");
            Some(match word.chars().last().filter(|_| is_short)? {
                'f' => "f32",
                'i' => "i32",
                'u' => "u32",
                _ => return None,
            })
        };
        match (*word, rest) {
            ("f32" | "i32" | "u32", _) => Some((*word).to_owned()),
            (_, ["<", inner @ ..]) => self.number_of(inner, depth + 1),
            _ => of_letter().map(str::to_owned),
        }
    }

    /// The entry points that name it, or call what does.
    fn entries_to(&self, variable: &str) -> BTreeSet<String> {
        let leads = |entry: &&&'t str| {
            let mut seen = BTreeSet::new();
            let mut open = vec![**entry];
            while let Some(function) = open.pop() {
                let Some(names) = self.functions.get(function).filter(|_| seen.insert(function)) else {
                    continue;
                };
                if names.contains(variable) {
                    return true;
                }
                open.extend(names);
            }
            false
        };
        let entries = self.entries.iter().filter(leads);
        entries.map(|entry| (*entry).to_owned()).collect()
    }
}

/// What stands before a word, and what behind it.
fn until<'w, 't>(words: &'w [&'t str], end: &str) -> (&'w [&'t str], &'w [&'t str]) {
    let at = words.iter().position(|word| *word == end).unwrap_or(words.len());
    (&words[..at], words.get(at + 1..).unwrap_or_default())
}

/// What stands before the bracket that closes one which is open, and what behind it.
fn inside<'w, 't>(words: &'w [&'t str], open: &str, close: &str) -> (&'w [&'t str], &'w [&'t str]) {
    let mut depth = 1;
    let at = words.iter().position(|word| {
        depth += i32::from(*word == open) - i32::from(*word == close);
        depth == 0
    });
    let at = at.unwrap_or(words.len());
    (&words[..at], words.get(at + 1..).unwrap_or_default())
}

/// `@align(16) name: type, ..`
fn types_of_fields<'w, 't>(fields: &'w [&'t str]) -> Vec<&'w [&'t str]> {
    let mut depth = 0;
    let fields = fields.split(|word| {
        depth += i32::from(matches!(*word, "<" | "(")) - i32::from(matches!(*word, ">" | ")"));
        depth == 0 && matches!(*word, "," | ";")
    });
    let types = fields.filter_map(|field| {
        let at = field.iter().position(|word| *word == ":")?;
        field.get(at + 1..)
    });
    types.collect()
}

/// The text with a space for each comment, as naga finds them: those of several lines have others in them.
fn without_comments(text: &str) -> String {
    const LINE_ENDS: [char; 7] = ['\n', '\u{b}', '\u{c}', '\r', '\u{85}', '\u{2028}', '\u{2029}'];
    let mut left = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('/') {
        left += before;
        let behind_comment = match behind.chars().next() {
            Some('/') => Some(behind.find(LINE_ENDS).map_or("", |end| &behind[end..])),
            Some('*') => Some(behind_comment(&behind[1..])),
            _ => None,
        };
        left.push(if behind_comment.is_some() { ' ' } else { '/' });
        rest = behind_comment.unwrap_or(behind);
    }
    left + rest
}

/// What is behind the end of a comment whose beginning stands before the text.
fn behind_comment(text: &str) -> &str {
    let (mut depth, mut last) = (1, None);
    for (at, one) in text.char_indices() {
        last = match (last, one) {
            (Some('*'), '/') => {
                depth -= 1;
                if depth == 0 {
                    return &text[at + 1..];
                }
                None
            }
            (Some('/'), '*') => {
                depth += 1;
                None
            }
            _ => Some(one),
        };
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
        struct Size { width: u32, @align(8) height: u32, }
        struct Body { place: vec4<f32>, speed: vec3f }
        struct Mixed { count: u32, sum: f32 };
        alias Bodies = array<Body>;
        @group(0) @binding(0) var<uniform> size: Size; // @binding(9) var<storage, read_write> none: u32;
        @group(0) @binding(1) var<storage, read> now: array<atomic<i32>, 9>;
        @binding(2) @group(0) var<storage, read_write> next: Bodies;
        @group(1) @binding(2u) var<storage> mixed: array<Mixed>;
        @group(2) @binding(0) var sampled: texture_2d<f32>;
        @group(2) @binding(1) var stored: texture_storage_2d<rgba8unorm, write>;
        @group(1) @binding(LAST) var<storage, read_write> last: array<u32>;
        var<private> own: u32;
        fn of(x: u32) -> u32 { if (x > 1) { return now[x] + size.width; } return 0; }
        @compute @workgroup_size(8, 8) fn step(@builtin(global_invocation_id) id: vec3<u32>) { next[id.x] = of(id.y); }
        @compute @workgroup_size(1) fn idle() { let a = mixed[0].count; }
        @compute @workgroup_size(1) fn drawn() { var all = 0u; textureStore(stored, vec2(0), textureLoad(sampled, vec2(0), 0)); }";

    #[test]
    fn what_entry_points_do_with_what_is_bound_stands_in_their_source() {
        let mut shaders = Shaders::default();
        shaders.read(TEXT);
        shaders.read("const SIZE: u32 = 1;");
        let said = |one: &Bound| {
            let entries: Vec<&str> = one.entries.iter().map(String::as_str).collect();
            let elements = one.elements.as_deref().unwrap_or("bytes");
            format!(
                "{:?} {} {elements} {}",
                one.binding,
                one.access.word(),
                entries.join(" ")
            )
        };
        let of = |group, binding| shaders.bound(group, binding).map(said).collect::<Vec<_>>();
        assert_eq!(
            of(Some(0), None),
            [
                "Some(0) reads u32 step",
                "Some(1) reads i32 step",
                "Some(2) writes f32 step"
            ]
        );
        let last = "None writes u32 ";
        assert_eq!(of(Some(1), Some(2)), ["Some(2) reads bytes idle", last]);
        assert_eq!(
            of(None, Some(2)),
            ["Some(2) writes f32 step", "Some(2) reads bytes idle", last]
        );
        assert_eq!(of(Some(0), Some(7)), [""; 0]);
        let mut hidden = Shaders::default();
        hidden.read("/* old: /* no */ // */ @group(0) @binding(0) var<storage, read_write> a: array<u32>; // b\r@group(0) @binding(1) var<uniform> c: f32;");
        let found: Vec<String> = hidden.bound(Some(0), None).map(said).collect();
        assert_eq!(found, ["Some(0) writes u32 ", "Some(1) reads f32 "]);
        // What textures are made of their formats say.
        assert_eq!(
            of(Some(2), None),
            ["Some(0) reads f32 drawn", "Some(1) writes bytes drawn"]
        );
    }
}
