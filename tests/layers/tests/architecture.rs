//! The picture in ARCHITECTURE.md is that of the code, and an import that it does not allow is found.

use layers::check::House;
use std::fs;
use std::path::Path;

#[test]
fn imports_are_what_the_picture_shows() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let house = House::read(&root).unwrap();
    let wrong = house.differences();
    assert!(
        wrong.is_empty(),
        "{} differences:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(house.lists_statics());
    assert_eq!(house.unused(), [""; 0]);
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
    built(files).differences()
}

fn built(files: &[(&str, &str)]) -> House {
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
    House::read(folder.path()).unwrap()
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

/// One line of the floor, or a few, and what is wrong with it.
fn floor(lines: &str) -> Vec<String> {
    house(&[("upper/src/floor.rs", &format!("{lines}\npub struct Plank;\n"))])
}

#[test]
fn the_root_has_one_name() {
    let said = "upper/src/floor.rs:1: another name for the root: write `crate`";
    for form in [
        "use crate as top; use top::roof::Tile;",
        "use super as top;",
        "use {super as top};",
        "use crate::{self as top};",
        "use super::{self as top};",
        "mod inner { use super::super as top; }",
        "shingle! { use crate as top; }",
    ] {
        assert_eq!(floor(form), [said], "{form}");
    }
    // The number of a variant is none.
    assert_eq!(
        floor("impl Size { fn number(self) -> u8 { self as u8 } }"),
        [""; 0]
    );
}

#[test]
fn extern_crate_gives_no_names() {
    let said = "`extern crate`: name the crate itself";
    let line = format!("upper/src/floor.rs:1: {said}");
    assert_eq!(floor("extern crate self as me;"), [&*line]);
    assert_eq!(floor("fn f() { extern crate hammer as tool; }"), [&*line]);
    let root =
        "mod roof;\nmod walls;\nmod doors;\nmod floor;\npub use floor::Plank;\nextern crate saw as tool;\n";
    assert_eq!(
        house(&[("upper/src/lib.rs", root)]),
        [format!("upper/src/lib.rs:6: {said}")]
    );
}

#[test]
fn the_roots_other_name_is_followed_as_crate_is() {
    let root =
        "extern crate self as upper;\nmod roof;\nmod walls;\nmod doors;\nmod floor;\npub use floor::Plank;\n";
    for form in ["use upper::roof::Tile;", "fn f() { ::upper::roof::tile(); }"] {
        let wrong = house(&[
            ("upper/src/lib.rs", root),
            ("upper/src/floor.rs", &format!("{form}\npub struct Plank;\n")),
        ]);
        assert_eq!(
            wrong,
            ["upper/src/floor.rs:1: `floor` knows `roof`, which is above it"],
            "{form}"
        );
    }
}

#[test]
fn all_names_of_a_root_are_too_many() {
    let said = "upper/src/floor.rs:1: all names of the root, `*`: write down which";
    for form in [
        "use super::*;",
        "use crate::*;",
        "use crate::{*};",
        "mod inner { use super::super::*; }",
        "mod inner { use super::{super::*}; }",
    ] {
        assert_eq!(floor(form), [said], "{form}");
    }
    // Of a parent in the same stage they are none of another one that this does not know itself.
    let inner = ("upper/src/walls/inner.rs", "use super::*;\n");
    assert_eq!(house(&[inner]), [""; 0]);
    let parent = ("upper/src/walls/mod.rs", "mod inner;\nuse crate::roof::Tile;\n");
    assert_eq!(
        house(&[inner, parent]),
        ["upper/src/walls/mod.rs:2: `walls` knows `roof`, which is above it"]
    );
}

#[test]
fn an_arrow_up_is_found_in_every_form_of_a_path() {
    let said = "upper/src/floor.rs:1: `floor` knows `roof`, which is above it";
    for form in [
        "use super::roof;",
        "use super::roof as r;",
        "use {super::roof::Tile};",
        "use crate::{floor::Nail, roof as r};",
        "use crate::{{roof::Tile}};",
        "use crate::{self, floor, roof};",
        "use self::super::roof::Tile;",
        "use super::{self, roof::Tile};",
        "mod inner { use super::super::roof; }",
        "mod inner { use super::{super::roof}; }",
        "use crate::r#roof::Tile;",
        "pub(in crate::roof) struct Tile;",
        "fn f() { let t = crate::roof::TILE; }",
        "fn f() -> crate::roof::Tile { todo!() }",
        "shingle!(a, [b, { super::roof::tile() }]);",
        "macro_rules! shingle { () => { $crate::roof::tile() }; }",
        "macro_rules! shingle { () => { mod $name { use super::super::roof; } }; }",
    ] {
        assert_eq!(floor(form), [said], "{form}");
    }
    for form in [
        "pub(in crate::floor) struct Nail;",
        "mod inner { pub(in super::super) struct Nail; }",
        "use lower::{Stone, ground as earth};",
        "use self::inner::Nail;",
        "use crate::Plank as Board;",
    ] {
        assert_eq!(floor(form), [""; 0], "{form}");
    }
}

#[test]
fn a_macro_writes_its_modules_out() {
    assert_eq!(
        floor("macro_rules! shingle { ($m:ident) => { $crate::$m::tile() }; }"),
        ["upper/src/floor.rs:1: a path of which a macro fills in the module: write it out"]
    );
    assert_eq!(
        floor("#[macro_use]\nmod inner {}"),
        ["upper/src/floor.rs:1: `macro_use`: a macro is named by its path"]
    );
    let root = "macro_rules! shingle { () => { crate::roof::tile() }; }\nmod roof;\nmod walls;\nmod doors;\nmod floor;\npub use floor::Plank;\n";
    assert_eq!(
        house(&[("upper/src/lib.rs", root)]),
        [
            "upper/src/lib.rs:1: a macro of the root that its modules know without a path: define it in a module"
        ]
    );
}

#[test]
fn macros_of_a_module_are_of_it_wherever_they_are_named() {
    let roof = "#[macro_export]\nmacro_rules! shingle { () => {}; }\n";
    let wrong = house(&[
        ("upper/src/roof.rs", roof),
        (
            "upper/src/floor.rs",
            "pub struct Plank;\nfn f() { crate::shingle!(); }\n",
        ),
    ]);
    assert_eq!(
        wrong,
        ["upper/src/floor.rs:2: `floor` knows `roof`, which is above it"]
    );
}

#[test]
fn a_module_is_not_carried_down_by_the_root() {
    let root = |more: &str| {
        format!("mod roof;\nmod walls;\nmod doors;\nmod floor;\npub use floor::Plank;\n{more}\n")
    };
    let of = |more: &str, form: &str| {
        house(&[
            ("upper/src/lib.rs", &root(more)),
            ("upper/src/floor.rs", &format!("{form}\npub struct Plank;\n")),
        ])
    };
    let arrow = "upper/src/floor.rs:1: `floor` knows `roof`, which is above it";
    let own = |name: &str| {
        format!("upper/src/floor.rs:1: `crate::{name}` is of no module, but of the root, which is above all")
    };
    assert_eq!(of("pub use roof as attic;", "use crate::attic::Tile;"), [arrow]);
    assert_eq!(
        of("#[doc(hidden)]\npub use crate::roof::{Tile};", "use crate::Tile;"),
        [arrow]
    );
    assert_eq!(
        of(
            "#[doc(hidden)]\npub mod hidden { pub use crate::roof::Tile; }",
            "use crate::hidden::Tile;"
        ),
        [own("hidden")]
    );
    assert_eq!(of("pub use roof::*;", "use crate::Tile;"), [own("Tile")]);
    assert_eq!(
        of("pub fn build() { roof::tile() }", "fn f() { crate::build() }"),
        [own("build")]
    );
    // A type and a function of one name: both are taken.
    assert_eq!(
        of(
            "pub use lower::Stone as Both;\npub use roof::Both;",
            "use crate::Both;"
        ),
        [arrow]
    );
    assert_eq!(of("pub use roof::doors;", "use crate::floor::{self};"), [""; 0]);
    assert_eq!(
        house(&[
            ("upper/src/lib.rs", &root("pub use roof::floor;")),
            ("upper/src/doors.rs", "use crate::floor;\n"),
        ]),
        [
            "upper/src/doors.rs:1: `doors` knows `roof`, which is above it",
            "upper/src/walls/inner.rs:2: `walls` knows `roof`, which is above it",
        ]
    );
}

#[test]
fn a_file_is_read_where_it_is_put() {
    let arrow = "upper/src/floor/nail.rs:1: `floor` knows `roof`, which is above it";
    let nail = ("upper/src/floor/nail.rs", "use super::super::roof;\n");
    let floor = |line: &'static str| ("upper/src/floor.rs", line);
    assert_eq!(
        house(&[
            nail,
            floor("pub struct Plank;\n#[path = \"floor/nail.rs\"]\nmod other;\n")
        ]),
        [arrow]
    );
    // Included, it is the floor itself.
    let above = ("upper/src/floor/nail.rs", "use super::roof;\n");
    assert_eq!(
        house(&[above, floor("pub struct Plank;\ninclude!(\"floor/nail.rs\");\n")]),
        [arrow]
    );
    let another = "upper/src/floor.rs:3: `other` is a file of another stage: `use` what it has";
    assert_eq!(
        house(&[floor("pub struct Plank;\n#[path = \"roof.rs\"]\nmod other;\n")]),
        [another]
    );
    assert_eq!(
        house(&[floor(
            "pub struct Plank;\n#[path = \"../../elsewhere.rs\"]\nmod other;\n"
        )]),
        [another]
    );
    assert_eq!(
        house(&[floor(
            "pub struct Plank;\n#[cfg_attr(unix, path = \"floor/nail.rs\")]\nmod other;\n"
        )]),
        ["upper/src/floor.rs:3: a `#[path]` that does not always hold: write it plainly"]
    );
    let included = "upper/src/floor.rs:2: `include!` of what is no file of the same stage: make it a module";
    for form in [
        "\"roof.rs\"",
        "\"../roof.rs\"",
        "concat!(\"floor\", \"/nail.rs\")",
    ] {
        assert_eq!(
            house(&[(
                "upper/src/floor.rs",
                &format!("pub struct Plank;\ninclude!({form});\n")
            )]),
            [included]
        );
    }
    let root =
        "#[path = \"roof.rs\"]\nmod attic;\nmod walls;\nmod doors;\nmod floor;\npub use floor::Plank;\n";
    assert_eq!(
        house(&[
            ("upper/src/lib.rs", root),
            floor("use crate::attic::Tile;\npub struct Plank;\n")
        ]),
        ["upper/src/floor.rs:1: `floor` knows `roof`, which is above it"]
    );
}

#[test]
fn only_what_is_for_tests_is_left_out() {
    let arrow = "`floor` knows `roof`, which is above it";
    let tests = "use crate::roof;\n";
    let files = [
        ("upper/src/floor/tests.rs", tests),
        ("upper/src/floor/tests/deep.rs", tests),
    ];
    let with = |line: &'static str| house(&[files[0], files[1], ("upper/src/floor.rs", line)]);
    assert_eq!(with("pub struct Plank;\n#[cfg(test)]\nmod tests;\n"), [""; 0]);
    assert_eq!(
        with("pub struct Plank;\n#[cfg(all(unix, test))]\nmod tests;\n"),
        [""; 0]
    );
    let both = [
        format!("upper/src/floor/tests/deep.rs:1: {arrow}"),
        format!("upper/src/floor/tests.rs:1: {arrow}"),
    ];
    assert_eq!(
        with("pub struct Plank;\n#[cfg(any(unix, test))]\nmod tests;\n"),
        both
    );
    // A folder of this name is nothing more than that.
    assert_eq!(
        with("pub struct Plank;\nmod tests;\n"),
        [
            format!("upper/src/floor/tests/deep.rs:1: {arrow}"),
            format!("upper/src/floor/tests.rs:1: {arrow}"),
        ]
    );
    // What follows the tests is read.
    assert_eq!(
        with("pub struct Plank;\n#[cfg(test)]\nmod tests;\nuse crate::roof;\n"),
        [format!("upper/src/floor.rs:4: {arrow}")]
    );
    assert_eq!(
        with("pub struct Plank;\n#[cfg(test)]\nmod tests;\n#[cfg(not(test))]\nuse crate::roof;\n"),
        [format!("upper/src/floor.rs:5: {arrow}")]
    );
}

#[test]
fn dependencies_are_found_under_every_name() {
    for line in [
        "[dependencies.above]\npackage = \"upper\"\n",
        "[target.'cfg(unix)'.dependencies]\nupper = \"1\"\n",
        "[build-dependencies]\nupper = \"1\"\n",
    ] {
        let manifest = format!("[package]\nname = \"lower\"\n{line}");
        assert_eq!(
            house(&[("lower/Cargo.toml", &manifest)]),
            ["lower/Cargo.toml: lower depends on upper, which is not below it"]
        );
    }
    let of_tests = "[package]\nname = \"lower\"\n[dev-dependencies]\nupper = \"1\"\n";
    assert_eq!(house(&[("lower/Cargo.toml", of_tests)]), [""; 0]);
}

#[test]
fn a_word_is_not_taken_out_of_its_folder() {
    let outside = "`hammer::strike` stands outside of upper/src/floor";
    for form in [
        "use hammer::{strike as hit};",
        "use hammer as tool;",
        "use hammer::*;",
        "fn f() { ::hammer::strike(); }",
    ] {
        assert_eq!(
            house(&[("upper/src/doors.rs", &format!("{form}\n"))]),
            [format!("upper/src/doors.rs:1: {outside}")],
            "{form}"
        );
    }
    assert_eq!(house(&[("upper/src/doors.rs", "use hammer::rest;\n")]), [""; 0]);
    for form in [
        "pub use hammer as tool;",
        "pub(crate) use hammer::{strike};",
        "m! { pub(super) use ::hammer::*; }",
    ] {
        assert_eq!(
            floor(form),
            ["upper/src/floor.rs:1: a `pub use` of what may stand in some folders only"],
            "{form}"
        );
    }
    assert_eq!(floor("use hammer as tool;"), [""; 0]);
}

#[test]
fn foreign_functions_stand_where_they_are_drawn() {
    let page = PAGE.replace("static: lower\n", "extern: upper/src/doors\nstatic: lower\n");
    for form in [
        "unsafe extern \"C\" { fn abort(); }",
        "extern \"C\" fn handler() {}",
        "fn f() { shingle! { extern { fn abort(); } } }",
    ] {
        let floor = format!("{form}\npub struct Plank;\n");
        assert_eq!(
            house(&[("ARCHITECTURE.md", &page), ("upper/src/floor.rs", &floor)]),
            ["upper/src/floor.rs:1: `extern` stands outside of upper/src/doors"],
            "{form}"
        );
    }
}

#[test]
fn another_crate_has_one_name_and_is_not_taken_as_a_whole() {
    let renamed = "upper/src/floor.rs:1: another name for `lower`: write it as it is";
    for (form, said) in [
        ("use lower as earth;", renamed),
        ("use lower::{self as earth};", renamed),
        ("extern crate lower as earth;", renamed),
        (
            "use lower::*;",
            "upper/src/floor.rs:1: all names of `lower`, `*`: write down which",
        ),
        (
            "macro_rules! m { ($a:ident) => { lower::$a() }; }",
            "upper/src/floor.rs:1: a path in `lower` that a macro fills in: write it out",
        ),
        (
            "use lower::{Stone, {ground::Stone as Same}};",
            "upper/src/floor.rs:1: `lower::ground` is a module, and only the root of the crate may be named here",
        ),
    ] {
        assert!(
            floor(form).contains(&said.to_owned()),
            "{form}: {:?}",
            floor(form)
        );
    }
    let lower = "pub mod ground;\n#[doc(hidden)]\npub mod hidden { pub use crate::ground; }\n";
    assert_eq!(
        house(&[
            ("lower/src/lib.rs", lower),
            (
                "upper/src/floor.rs",
                "pub struct Plank;\nuse lower::hidden::ground;\n"
            ),
        ]),
        [
            "upper/src/floor.rs:2: `lower::hidden` is a module, and only the root of the crate may be named here"
        ]
    );
}

#[test]
fn statics_are_listed_with_what_they_are() {
    let page = format!("{PAGE}```statics\nupper/src/floor: nails, a few\nupper/src/doors: bells\n```\n");
    let walls = "static A: u8 = 1;\nfn f<'a>(_: &'static u8) { thread_local! { static B: u8 = 2; } }\nfn g() { syn::Token![static]; }\n";
    let page = page.replace("static: lower\nstatic: upper/src/floor\n", "");
    let built = built(&[("ARCHITECTURE.md", &page), ("upper/src/walls/inner.rs", walls)]);
    assert!(built.lists_statics());
    assert_eq!(
        built.differences(),
        [1, 2].map(|line| {
            format!("upper/src/walls/inner.rs:{line}: a static that is not in the list of ARCHITECTURE.md")
        })
    );
    assert_eq!(
        built.unused(),
        ["ARCHITECTURE.md: there is no `static` in upper/src/doors"]
    );
}

#[test]
fn a_new_static_in_a_listed_file_is_found() {
    let page = PAGE.replace("static: lower\nstatic: upper/src/floor\n", "");
    let page = format!("{page}```statics\nupper/src/floor 2: nails, a few\n```\n");
    let with = |floor: &str| {
        let floor = format!("pub struct Plank;\n{floor}\n");
        house(&[("ARCHITECTURE.md", &page), ("upper/src/floor.rs", &floor)])
    };
    let two = "static A: u8 = 1;\nmacro_rules! nail { () => { static B: u8 = 2; } }";
    assert_eq!(with(two), [""; 0]);
    assert_eq!(
        with(&format!("{two}\nfn f() {{ static C: u8 = 3; }}")),
        ["upper/src/floor.rs:4: static number 3 of upper/src/floor, for which ARCHITECTURE.md lists 2"]
    );
    assert_eq!(
        with("static A: u8 = 1;"),
        ["ARCHITECTURE.md: upper/src/floor has 1 statics, not the 2 of the list"]
    );
}

#[test]
fn what_does_input_and_output_stands_where_it_is_drawn() {
    let page = PAGE.replace(
        "static: lower\n",
        "std::fs std::env: upper/src/doors\nprintln!: upper/src/doors\nstatic: lower\n",
    );
    let with = |floor: &str| {
        let floor = format!("pub struct Plank;\n{floor}\n");
        house(&[("ARCHITECTURE.md", &page), ("upper/src/floor.rs", &floor)])
    };
    for (form, word) in [
        ("fn f() { std::fs::read(\"a\"); }", "std::fs"),
        ("fn f() { ::std::fs::read(\"a\"); }", "std::fs"),
        ("use std::{collections::BTreeMap, fs};", "std::fs"),
        ("use std::env::var;", "std::env"),
        ("fn f() { println!(\"a\"); }", "println!"),
        ("fn f() { std::println!(\"a\"); }", "println!"),
        ("macro_rules! m { () => { println!(\"a\") } }", "println!"),
    ] {
        assert_eq!(
            with(form),
            [format!(
                "upper/src/floor.rs:2: `{word}` stands outside of upper/src/doors"
            )],
            "{form}"
        );
    }
    for form in ["use std as s;", "use std::*;"] {
        assert_eq!(with(form).len(), 2, "{form}");
    }
    for form in [
        "pub use std::collections::BTreeMap;",
        "fn println() {}",
        "#[cfg(test)] mod tests { use std::fs; }",
    ] {
        assert_eq!(with(form), [""; 0], "{form}");
    }
}

#[test]
fn a_path_that_goes_on_with_what_a_macro_is_given_is_refused() {
    for form in ["crate $($path)*", "$crate $($path)*", "crate $path"] {
        let text = format!("macro_rules! m {{ ($($path:tt)*) => {{ {form} }}; }}");
        assert_eq!(
            floor(&text),
            ["upper/src/floor.rs:1: a path of which a macro fills in the module: write it out"],
            "{form}"
        );
    }
}
