//! The picture in ARCHITECTURE.md is that of the code, and an import that it does not allow is found.

use layers::check::differences;
use std::fs;
use std::path::Path;

#[test]
fn imports_are_what_the_picture_shows() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let wrong = differences(&root).unwrap();
    assert!(
        wrong.is_empty(),
        "{} differences:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

const PAGE: &str = "\
# A house

```layers
crates
upper
lower
```

```layers
upper
roof
walls doors
floor
```

```layers
lower
ground
```

```only
hammer::strike: upper/src/floor
static: lower
static: upper/src/floor
```

```roots
upper: lower
```
";

/// What is wrong with a house in which some files are other ones.
fn house(files: &[(&str, &str)]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let usual = [
        ("ARCHITECTURE.md", PAGE),
        (
            "upper/Cargo.toml",
            "[package]\nname = \"upper\"\n[dependencies]\nlower = \"1\"\n",
        ),
        ("lower/Cargo.toml", "[package]\nname = \"lower\"\n"),
        (
            "lower/src/lib.rs",
            "pub mod ground;\npub use ground::{Stone, ground};\n",
        ),
        ("lower/src/ground.rs", "pub struct Stone;\npub fn ground() {}\n"),
        (
            "upper/src/lib.rs",
            "mod roof;\nmod walls;\nmod doors;\nmod floor;\npub use floor::Plank;\n",
        ),
        (
            "upper/src/roof.rs",
            "use crate::walls::Wall;\nuse crate::{doors, floor};\n",
        ),
        (
            "upper/src/walls/mod.rs",
            "mod inner;\npub struct Wall(crate::Plank);\n",
        ),
        (
            "upper/src/walls/inner.rs",
            "use super::Wall;\nuse super::super::floor;\n",
        ),
        (
            "upper/src/doors.rs",
            "#[cfg(test)]\nmod tests { use crate::roof; }\n",
        ),
        (
            "upper/src/floor.rs",
            "pub struct Plank;\nstatic NAILS: &'static [u8] = &[7];\nfn nail() { hammer::strike(); }\n",
        ),
    ];
    for (name, text) in usual.iter().chain(files) {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    differences(folder.path()).unwrap()
}

#[test]
fn a_house_in_order_is_left_alone() {
    assert_eq!(house(&[]), [""; 0]);
}

#[test]
fn an_arrow_up_is_named_with_its_line() {
    let wrong = house(&[("upper/src/floor.rs", "\nuse crate::roof::Tile;\n")]);
    assert_eq!(
        wrong,
        ["upper/src/floor.rs:2: `floor` knows `roof`, which is above it"]
    );
}

#[test]
fn so_is_one_in_a_macro_in_a_group_and_by_super() {
    let wrong = house(&[
        (
            "upper/src/floor.rs",
            "fn f() {\n    println!(\"{}\", crate::walls::N);\n}\n",
        ),
        (
            "upper/src/walls/inner.rs",
            "use crate::{\n    floor::Plank,\n    roof,\n};\nuse super::super::roof::Tile;\n",
        ),
    ]);
    assert_eq!(
        wrong,
        [
            "upper/src/floor.rs:2: `floor` knows `walls`, which is above it",
            "upper/src/walls/inner.rs:3: `walls` knows `roof`, which is above it",
            "upper/src/walls/inner.rs:5: `walls` knows `roof`, which is above it",
        ]
    );
}

#[test]
fn names_that_the_root_passes_on_are_those_of_their_module() {
    let wrong = house(&[
        (
            "upper/src/lib.rs",
            "mod roof;\nmod walls;\nmod doors;\nmod floor;\npub use crate::roof::{Plank, Tile as Shingle};\n",
        ),
        ("upper/src/floor.rs", "use crate::Shingle;\n"),
    ]);
    assert_eq!(
        wrong,
        [
            "upper/src/floor.rs:1: `floor` knows `roof`, which is above it",
            "upper/src/walls/mod.rs:2: `walls` knows `roof`, which is above it",
        ]
    );
}

#[test]
fn neighbours_on_one_line_do_not_know_each_other() {
    let wrong = house(&[("upper/src/doors.rs", "use crate::walls::Wall;\n")]);
    assert_eq!(
        wrong,
        ["upper/src/doors.rs:1: `doors` knows `walls`, which is beside it"]
    );
}

#[test]
fn what_is_not_drawn_or_not_there_is_named() {
    let wrong = house(&[(
        "ARCHITECTURE.md",
        "```layers\ncrates\nupper\nlower\n```\n```layers\nupper\nroof\nwalls\ndoors\ncellar\n```\n```layers\nlower\nground\n```\n",
    )]);
    assert_eq!(
        wrong,
        [
            "upper/src: `floor` is in no layer of ARCHITECTURE.md",
            "ARCHITECTURE.md: there is no `cellar` in upper/src",
        ]
    );
}

#[test]
fn crates_depend_downwards_only() {
    let wrong = house(&[(
        "lower/Cargo.toml",
        "[package]\nname = \"lower\"\n[dependencies]\nupper = \"1\"\n",
    )]);
    assert_eq!(
        wrong,
        ["lower/Cargo.toml: lower depends on upper, which is not below it"]
    );
}

#[test]
fn a_word_outside_of_its_folder_is_named() {
    let wrong = house(&[("upper/src/doors.rs", "fn f() {\n    ::hammer::strike();\n}\n")]);
    assert_eq!(
        wrong,
        ["upper/src/doors.rs:2: `hammer::strike` stands outside of upper/src/floor"]
    );
    let wrong = house(&[(
        "upper/src/doors.rs",
        "const BELL: &'static str = \"\";\nstatic OPEN: bool = true;\n",
    )]);
    assert_eq!(
        wrong,
        ["upper/src/doors.rs:2: `static` stands outside of lower, upper/src/floor"]
    );
}

#[test]
fn another_crate_is_known_by_its_root() {
    let wrong = house(&[(
        "upper/src/floor.rs",
        "pub struct Plank;\nuse lower::{Stone, ground::Stone as Same};\nfn f() { lower::ground(); lower::ground::ground(); }\n",
    )]);
    let said = "`lower::ground` is a module, and only the root of the crate may be named here";
    assert_eq!(
        wrong,
        [2, 3].map(|line| format!("upper/src/floor.rs:{line}: {said}"))
    );
}
