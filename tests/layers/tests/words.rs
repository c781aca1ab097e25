//! What a library brings along stands in tables: no source asks for one of its names.

use layers::words::{names_in_tables, words};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The crates whose sources have no name that stands in a table. Of the command, that which reads and rewrites programs: the
/// rest of it speaks of files, values and ranks to people, in words that libraries have as well.
const CRATES: [(&str, &str); 5] = [
    ("ckpt-compiler", ""),
    ("ckpt-analysis", ""),
    ("ckpt-safepoints", ""),
    ("ckpt-macros", ""),
    ("ckpt-cli", "ckpt-cli/src/package"),
];

/// The crates with tables.
const WITH_TABLES: [&str; 3] = ["ckpt-compiler", "ckpt-analysis", "ckpt-safepoints"];

/// Where a word is another thing than the name of a library: keys of tables and their files, the names of the language (types,
/// operators, what a `for`, `{}` and the end of a scope call), keys of attributes, names of lints, ckpt's own macro, the stages of
/// a function, what ckpt calls a variable or a file that it makes, keys of manifests and conditions of `cfg`, commands of cargo, the crate that a
/// model or a feature of ckpt is for.
const OTHERS: [(&str, &[&str]); 66] = [
    (
        "ckpt-analysis/src/decisions/spares.rs",
        &["cfg", "expect", "warn"],
    ),
    // A command of cargo, and a folder and a script that it has.
    ("ckpt-cli/src/package/", &["build"]),
    ("ckpt-compiler/src/sources/packages.rs", &["build"]),
    // Derives of the language.
    ("ckpt-analysis/src/decisions/changed_fields.rs", &["Clone"]),
    ("ckpt-analysis/src/decisions/globals/mod.rs", &["cfg"]),
    ("ckpt-compiler/src/emit/spares.rs", &["cfg"]),
    ("ckpt-analysis/src/calls/apply.rs", &["Option", "Result"]),
    ("ckpt-analysis/src/calls/exprs.rs", &["bool"]),
    ("ckpt-analysis/src/calls/macros.rs", &["checkpoint"]),
    (
        "ckpt-analysis/src/calls/places.rs",
        &[
            "add",
            "add_assign",
            "bool",
            "char",
            "eq",
            "f64",
            "partial_cmp",
            "sub",
            "sub_assign",
        ],
    ),
    (
        "ckpt-analysis/src/calls/std_calls.rs",
        &["Option", "Result", "first", "slice", "sum"],
    ),
    ("ckpt-analysis/src/calls/trips.rs", &["next"]),
    ("ckpt-analysis/src/decisions/destructors.rs", &["Drop"]),
    ("ckpt-analysis/src/decisions/detectors.rs", &["bool"]),
    // Words of OpenCL C, and the language WGSL.
    (
        "ckpt-analysis/src/decisions/device_arrays/kernels.rs",
        &["kernel"],
    ),
    ("ckpt-analysis/src/decisions/device_arrays/wgsl.rs", &[]),
    ("ckpt-analysis/src/decisions/learn/mod.rs", &["save"]),
    ("ckpt-analysis/src/decisions/recall/mod.rs", &["save"]),
    ("ckpt-analysis/src/decisions/reexecution/callees.rs", &["usize"]),
    ("ckpt-analysis/src/decisions/refill/kinds.rs", &["Fn"]),
    ("ckpt-analysis/src/decisions/refill/through.rs", &["Drop"]),
    ("ckpt-analysis/src/items/collect.rs", &["include"]),
    ("ckpt-analysis/src/items/hints.rs", &["Iterator", "Vec"]),
    ("ckpt-analysis/src/items/mod.rs", &["Drop"]),
    ("ckpt-analysis/src/skeleton/expr.rs", &["f32", "f64"]),
    ("ckpt-analysis/src/skeleton/macros.rs", &["fmt"]),
    ("ckpt-analysis/src/skeleton/mod.rs", &["f32"]),
    ("ckpt-analysis/src/skeleton/patterns.rs", &["f32", "f64"]),
    ("ckpt-compiler/src/library/", &[]),
    ("ckpt-compiler/src/syntax/language.rs", &[]),
    ("ckpt-compiler/src/cfg/spine.rs", &["cfg"]),
    (
        "ckpt-compiler/src/derive/attributes.rs",
        &["default", "rename", "skip"],
    ),
    (
        "ckpt-compiler/src/desugar/attributes.rs",
        &["cfg", "expect", "warn"],
    ),
    (
        "ckpt-compiler/src/desugar/parallel_blocks/mod.rs",
        &["checkpoint"],
    ),
    ("ckpt-compiler/src/emit/site.rs", &["copy"]),
    ("ckpt-compiler/src/emit/variables.rs", &["expect", "warn"]),
    ("ckpt-compiler/src/names/mod.rs", &["choice", "count", "size"]),
    ("ckpt-compiler/src/parse/options.rs", &["save", "skip"]),
    ("ckpt-compiler/src/passes/mod.rs", &["cfg", "parse"]),
    (
        "ckpt-compiler/src/sources/modules.rs",
        &[
            "concat",
            "env",
            "include",
            "include_bytes",
            "include_str",
            "include_wgsl",
            "path",
        ],
    ),
    (
        "ckpt-compiler/src/sources/packages.rs",
        &["exclude", "name", "path", "test"],
    ),
    (
        "ckpt-compiler/src/sources/surroundings.rs",
        &[
            "all",
            "any",
            "cfg",
            "env",
            "option_env",
            "panic",
            "test",
            "windows",
        ],
    ),
    (
        "ckpt-compiler/src/sources/variables.rs",
        &["env", "var", "var_os"],
    ),
    ("ckpt-compiler/src/syntax/marks.rs", &["checkpoint"]),
    ("ckpt-compiler/src/validate.rs", &["checkpoint"]),
    ("ckpt-safepoints/src/explorer/mod.rs", &["drop"]),
    ("ckpt-safepoints/src/machine/control.rs", &["next"]),
    ("ckpt-safepoints/src/models/mod.rs", &["mpi"]),
    // How serde spells variants.
    ("ckpt-safepoints/src/skeleton/call.rs", &["lowercase"]),
    (
        "ckpt-safepoints/src/models/rsmpi.rs",
        &["Color", "Universe", "i32", "mpi"],
    ),
    ("ckpt-safepoints/src/skeleton/regions.rs", &["next"]),
    (
        "ckpt-safepoints/src/values/numbers.rs",
        &[
            "f32", "i16", "i32", "i64", "i8", "isize", "u16", "u32", "u64", "u8", "usize",
        ],
    ),
    (
        "ckpt-cli/src/package/build/oracle/brief.rs",
        &["alloc", "core", "std"],
    ),
    ("ckpt-cli/src/package/build/oracle/mod.rs", &["E0382", "E0478"]),
    (
        "ckpt-cli/src/package/copy/features.rs",
        &[
            "csv",
            "cudarc",
            "fastrand",
            "mpi",
            "ocl",
            "opencl3",
            "serialize",
            "smallvec",
            "values",
            "wgpu",
        ],
    ),
    ("ckpt-cli/src/package/copy/home.rs", &["lock", "probe"]),
    ("ckpt-cli/src/package/copy/lints.rs", &["warn"]),
    ("ckpt-cli/src/package/copy/mod.rs", &["update"]),
    (
        "ckpt-cli/src/package/copy/manifest.rs",
        &["exclude", "path", "replace", "warn"],
    ),
    ("ckpt-cli/src/package/copy/tree.rs", &["new"]),
    (
        "ckpt-cli/src/package/read/cfg.rs",
        &["all", "any", "cfg", "panic", "test"],
    ),
    ("ckpt-cli/src/package/build/driver.rs", &["check"]),
    ("ckpt-cli/src/package/read/mod.rs", &["cfg", "check", "include"]),
    (
        "ckpt-cli/src/package/read/modules.rs",
        &["cfg", "concat", "core", "env", "include", "path", "std"],
    ),
    ("ckpt-cli/src/package/read/settings.rs", &["panic", "test"]),
    ("ckpt-cli/src/package/read/strip.rs", &["cfg"]),
];

#[test]
fn names_of_libraries_stand_in_tables_alone() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let names = names_in_tables(&crates, &WITH_TABLES).unwrap();
    let mut wrong = Vec::new();
    let mut met = BTreeSet::new();
    for word in CRATES.iter().flat_map(|(krate, folder)| {
        let words = words(&crates, krate, &names).unwrap();
        words
            .into_iter()
            .filter(move |word| word.file.starts_with(folder))
    }) {
        let file = word.file.to_string_lossy().into_owned();
        let other = OTHERS.iter().find(|(start, words)| {
            file.starts_with(start) && (words.is_empty() || words.contains(&&*word.name))
        });
        match other {
            Some((start, [])) => drop(met.insert((*start, String::new()))),
            Some((start, _)) => drop(met.insert((*start, word.name))),
            None => wrong.push(word.to_string()),
        }
    }
    assert!(
        wrong.is_empty(),
        "{} names of libraries in the sources; ask `Library` for what is meant:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    for (start, words) in OTHERS {
        let has = |word: &str| met.contains(&(start, word.to_owned()));
        assert!(
            if words.is_empty() {
                has("")
            } else {
                words.iter().all(|word| has(word))
            },
            "{start} has no {words:?} any more"
        );
    }
}

#[test]
fn a_name_of_a_library_is_found_where_it_stands() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write(
        "house/tables/std.toml",
        "common = [\"len/0\"]\n[iterators]\nlends = [\"*_mut\"]\nfresh = [\"Vec::new\", \"drain\"]\n\
         [cost]\nsqrt = 10\n[calls.send]\nsend_all = { data = 0 }\n\
         [[methods]]\nadaptors = [\"data\"]\n",
    );
    write(
        "house/src/lib.rs",
        "/// drain\nfn asks(name: &str) -> bool {\n    name == \"drain\" || matches!(name, \"Vec\" | \"x\")\n        || name.ends_with(\"_mut\")\n        || name == \"len\" || name == \"sqrt\"\n        || name == \"send_all\" && kind != \"data\" && kind != \"cost\"\n}\n\
         #[cfg(test)]\nmod tests {\n    const NAME: &str = \"drain\";\n}\n",
    );
    let names = names_in_tables(folder.path(), &["house"]).unwrap();
    let found = words(folder.path(), "house", &names).unwrap();
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "house/src/lib.rs:3: \"Vec\" stands in a table",
            "house/src/lib.rs:3: \"drain\" stands in a table",
            "house/src/lib.rs:4: \"_mut\" stands in a table",
            "house/src/lib.rs:5: \"len\" stands in a table",
            "house/src/lib.rs:5: \"sqrt\" stands in a table",
            "house/src/lib.rs:6: \"send_all\" stands in a table",
        ]
    );
    for form in [
        "name == b\"drain\"",
        "name == stringify!(drain)",
        "name == concat!(\"dr\", \"ain\")",
        "name == quote!(drain).to_string()",
        "LIST.split('/').any(|one| one == \"drain/sqrt\")",
        "LIST.split(',') == \"sqrt, drain\"",
        "LIST.split('|') == \"drain|sqrt\"",
    ] {
        write("house/src/lib.rs", &format!("fn asks() -> bool {{ {form} }}\n"));
        let found = words(folder.path(), "house", &names).unwrap();
        assert!(found.iter().any(|one| one.name == "drain"), "{form}");
    }
    for form in [
        "quote!(drain)",
        "name == \"src/drain\"",
        "name == \"drain the bath\"",
    ] {
        write("house/src/lib.rs", &format!("fn asks() -> bool {{ {form} }}\n"));
        assert!(
            words(folder.path(), "house", &names).unwrap().is_empty(),
            "{form}"
        );
    }
}
