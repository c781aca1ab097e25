//! Arrays that nothing on a device writes to: one of them is in a checkpoint as it was in the one before. And those that may have
//! another content than they were made with, though no variable has them any more.
//!
//! What an array was asked for says whether commands or the program may write to it: the library refuses others. Kernels may
//! where the array is for them to store in, at a number at which some shader may write. All of a program's shaders and
//! bindings come through here where the compiler has found that it sees all of them ([`unseen`] where that was wrong).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard};

use ::wgpu::{
    BindGroupEntry, BindingResource, Buffer, BufferUsages, ShaderSource, TextureUsages, TextureView,
};

use super::{Identity, texels};
use crate::base::lock::locked;

static SEEN: Mutex<Seen> = Mutex::new(Seen {
    arrays: BTreeMap::new(),
    given: BTreeMap::new(),
    bindings: Bindings::None,
    made: 0,
    calls: 0,
    written: BTreeSet::new(),
    all_written: false,
});

struct Seen {
    arrays: BTreeMap<Identity, Array>,
    /// Arrays and textures that shaders were given, and that are such that shaders can store in them.
    given: BTreeMap<Identity, Given>,
    bindings: Bindings,
    made: u64,
    /// Calls that make something whose arguments are looked at.
    calls: u64,
    /// The numbers at which shaders may write.
    written: BTreeSet<u32>,
    /// Whether that is not known.
    all_written: bool,
}

struct Array {
    number: u64,
    /// It was made with its content.
    is_filled: bool,
    /// Kernels may store there.
    is_stored_in: bool,
}

struct Given {
    what: Stored,
    /// The numbers under which shaders have it.
    bindings: BTreeSet<u32>,
}

/// What may have another content than it was made with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Changed {
    pub what: Stored,
    pub by: Writers,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Writers {
    Shaders,
    /// Copies, or the program through the queue.
    Commands,
}

/// What shaders can store in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stored {
    /// An array of so many bytes.
    Array(u64),
    /// The same of a texture.
    Texture(u64),
}

/// Which of the program's bindings come through here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bindings {
    /// None has so far: there are none, or nobody looks.
    None,
    All,
    /// Some are made elsewhere.
    Some,
}

/// What may have another content than it was made with and is not saved, as far as bindings say.
#[derive(Debug)]
pub(super) enum Unsaved {
    /// These, if they are still there.
    These(Vec<Changed>),
    /// Nobody knows what they were given.
    Unknown,
}

/// No array of another library has such a number.
const OF_CONSTANTS: u64 = 3 << 62;

/// What nobody but kernels writes to.
const NEVER_WRITTEN: BufferUsages = BufferUsages::STORAGE
    .union(BufferUsages::UNIFORM)
    .union(BufferUsages::COPY_SRC)
    .union(BufferUsages::MAP_READ)
    .union(BufferUsages::INDEX)
    .union(BufferUsages::VERTEX)
    .union(BufferUsages::INDIRECT);

fn seen() -> MutexGuard<'static, Seen> {
    locked(&SEEN)
}

/// Something may write to arrays that is not looked at.
pub(crate) fn unseen() {
    let mut seen = seen();
    seen.all_written = true;
    seen.bindings = Bindings::Some;
}

/// A call that makes something is about to get its arguments: its number in the process.
pub(crate) fn begin() -> u64 {
    let mut seen = seen();
    seen.calls += 1;
    seen.calls
}

/// An array was made, with these usages and what a checkpoint needs; `is_filled` where it was made with its content.
pub(crate) fn made(array: Buffer, wanted: Option<BufferUsages>, is_filled: bool) -> Buffer {
    if let Some(wanted) = wanted.filter(|wanted| NEVER_WRITTEN.contains(*wanted)) {
        let mut seen = seen();
        let one = Array {
            number: OF_CONSTANTS | seen.made,
            is_filled,
            is_stored_in: wanted.contains(BufferUsages::STORAGE),
        };
        seen.made += 1;
        seen.arrays.insert(Identity::of(&array), one);
    }
    array
}

/// Shaders get arrays and textures under these numbers.
pub(crate) fn bound(entries: &[BindGroupEntry<'_>]) {
    let mut seen = seen();
    if seen.bindings == Bindings::None {
        seen.bindings = Bindings::All;
    }
    for entry in entries {
        let (arrays, views) = match &entry.resource {
            BindingResource::Buffer(one) => (std::slice::from_ref(one), &[][..]),
            BindingResource::BufferArray(several) => (*several, &[][..]),
            BindingResource::TextureView(view) => (&[][..], std::slice::from_ref(view)),
            BindingResource::TextureViewArray(several) => (&[][..], *several),
            _ => continue,
        };
        for array in arrays {
            if array.buffer.usage().contains(BufferUsages::STORAGE) {
                let what = Stored::Array(array.buffer.size());
                seen.gives(Identity::of(array.buffer), what, entry.binding);
            }
        }
        for texture in views.iter().copied().map(TextureView::texture) {
            if texture.usage().contains(TextureUsages::STORAGE_BINDING) {
                seen.gives(
                    Identity::of(texture),
                    Stored::Texture(texels::bytes(texture)),
                    entry.binding,
                );
            }
        }
    }
}

impl Seen {
    fn gives(&mut self, one: Identity, what: Stored, binding: u32) {
        let bindings = BTreeSet::new();
        let given = self.given.entry(one).or_insert(Given { what, bindings });
        given.bindings.insert(binding);
    }

    /// Whether some shader may write to it, at a number under which it was bound.
    fn is_written(&self, given: &Given) -> bool {
        self.all_written || !self.written.is_disjoint(&given.bindings)
    }

    /// What may have written to it. Of textures that are not stored in nobody asks it.
    fn writers(&self, one: &Identity, given: &Given) -> Option<Writers> {
        let is_as_made = || self.arrays.get(one).is_some_and(|array| array.is_filled);
        let by_commands = || matches!(given.what, Stored::Array(_)) && !is_as_made();
        match self.is_written(given) {
            true => Some(Writers::Shaders),
            false => by_commands().then_some(Writers::Commands),
        }
    }
}

/// What may have another content than it was made with beside what is saved.
pub(super) fn changed_beside(saved: &BTreeSet<Identity>) -> Unsaved {
    let seen = seen();
    if seen.bindings != Bindings::All {
        return Unsaved::Unknown;
    }
    let unsaved = seen.given.iter().filter(|(one, _)| !saved.contains(one));
    let changed = unsaved.filter_map(|(one, given)| {
        let by = seen.writers(one, given)?;
        Some(Changed { what: given.what, by })
    });
    Unsaved::These(changed.collect())
}

/// Nothing is there any more but what is saved.
pub(super) fn are_all(saved: &BTreeSet<Identity>) {
    let mut seen = seen();
    seen.arrays.retain(|one, _| saved.contains(one));
    seen.given.retain(|one, _| saved.contains(one));
}

/// There is a shader of this source.
pub(crate) fn compiled(source: &ShaderSource<'_>) {
    let written = match source {
        ShaderSource::Wgsl(text) => written_in(text),
        #[allow(
            unreachable_patterns,
            reason = "what there is beside it the program's features say"
        )]
        _ => None,
    };
    let mut seen = seen();
    match written {
        Some(written) => seen.written.extend(written),
        None => seen.all_written = true,
    }
}

/// What stands for the content of an array that nothing writes to.
pub(crate) fn content_of(array: &Buffer) -> Option<u64> {
    let seen = seen();
    let identity = Identity::of(array);
    let array = seen.arrays.get(&identity)?;
    let given = seen.given.get(&identity);
    let is_written = seen.all_written || given.is_some_and(|given| seen.is_written(given));
    (!(array.is_stored_in && is_written)).then_some(array.number)
}

/// The numbers at which a shader in WGSL may write; nothing where that cannot be told.
fn written_in(text: &str) -> Option<BTreeSet<u32>> {
    /// Access to an array, and the textures that are stored in, whatever the access.
    const MAY_WRITE: [&str; 2] = ["read_write", "texture_storage_"];
    const NUMBER: &str = "@binding(";
    let text = without_comments(text);
    // One variable stands before each of these.
    let parts = text.split(';').filter_map(|part| {
        let places = MAY_WRITE.iter().filter_map(|words| part.find(words));
        Some(&part[..places.min()?])
    });
    let number = |before: &str| {
        let before: String = before.split_whitespace().collect();
        let (_, behind) = before.rsplit_once(NUMBER)?;
        let (number, _) = behind.split_once(')')?;
        number.trim_end_matches(['u', 'i', ',']).parse().ok()
    };
    parts.map(number).collect()
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

    #[test]
    fn where_a_shader_may_write_stands_in_its_source() {
        let written = |text: &str| written_in(text).map(Vec::from_iter);
        let text = "struct A { b: u32 }
            @group(0) @binding(0) var<uniform> a: A; // @binding(7) var<storage, read_write>
            @binding ( 1u ) @group(0) var<storage,read> b: array<u32>;
            /* ; */ @group(1) @binding(3) var<storage, read_write> c: array<u32>;
            fn f(x: ptr<function, u32>) { } @group(2) @binding(2 u) var < storage , read_write > d: u32;";
        assert_eq!(written(text), Some(vec![2, 3]));
        assert_eq!(
            written("@group(0) @binding(N) var<storage, read_write> c: u32;"),
            None
        );
        assert_eq!(written("fn f(x: ptr<storage, u32, read_write>) {}"), None);
        let texture = "@group(0) @binding(5) var cells: texture_storage_2d<r32uint, read_write>; @binding(6) var a: texture_2d<f32>;";
        assert_eq!(written(texture), Some(vec![5]));
        assert_eq!(written("fn f() { let x = 1; }"), Some(vec![]));
        let variable = "@group(0) @binding(4) var<storage, read_write> e: u32;";
        for before in [
            "/* old: /* not used */ // */ ",
            "/*/* a */*/",
            "/**/ /***/ /* // */",
            "// a kernel /*\n",
            "// \r",
            "// \u{b}",
            "/// \u{c}",
            "//\u{85}",
            "//\u{2028}",
            "// x / y \u{2029}",
            "const half = 1 / 2; ",
        ] {
            assert_eq!(
                written(&format!("{before}{variable}")),
                Some(vec![4]),
                "{before:?}"
            );
        }
        for before in ["/*/", "/* /* */", "// */", "/* //\n"] {
            assert_eq!(
                written(&format!("{before}{variable}")),
                Some(vec![]),
                "{before:?}"
            );
        }
    }
}
