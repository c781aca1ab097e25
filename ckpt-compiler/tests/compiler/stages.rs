//! What every stage makes of two small functions, as text; and that the table of the stages in `lib.rs`, the list of the
//! passes and the folders tell the same.
//!
//! `UPDATE_SNAPSHOTS=1` writes down what comes out now.

use ckpt_compiler::passes::{PASSES, dump};
use proc_macro2::TokenStream;
use quote::ToTokens;
use std::collections::BTreeSet;
use std::path::Path;
use syn::{ItemFn, Meta};

#[test]
fn every_stage_makes_what_it_made() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stages");
    for name in ["loop_with_a_call", "reborrow_and_option_slot"] {
        let source = std::fs::read_to_string(folder.join(name).with_extension("rs")).expect("a function");
        let made = of_all_stages(&source);
        let path = folder.join(name).with_extension("stages");
        if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
            std::fs::write(&path, &made).expect("a snapshot can be written");
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        let differs = kept.lines().zip(made.lines()).find(|(kept, made)| kept != made);
        assert!(
            kept == made,
            "{name}: {differs:?}\n\nUPDATE_SNAPSHOTS=1 accepts what comes out now"
        );
    }
}

fn of_all_stages(source: &str) -> String {
    let mut item: ItemFn = syn::parse_str(source).expect("the source is a function");
    let attribute = item.attrs.pop().map(|attribute| attribute.meta);
    let arguments = match attribute {
        Some(Meta::List(list)) => list.tokens,
        _ => TokenStream::new(),
    };
    let item = item.to_token_stream();
    let format = |tokens| prettyplease::unparse(&syn::parse2(tokens).expect("what a stage makes is Rust"));
    let texts = PASSES.iter().map(|pass| {
        let text = dump(pass, arguments.clone(), &item, false, &format);
        format!("--- {}: {}\n{text}", pass.name, pass.about)
    });
    texts.collect()
}

#[test]
fn the_table_of_the_stages_is_complete() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let lib = std::fs::read_to_string(src.join("lib.rs")).expect("lib.rs");
    let rows: Vec<&str> = lib
        .lines()
        .filter(|line| line.starts_with("//! | "))
        .skip(2)
        .collect();
    let named: BTreeSet<String> = rows.iter().flat_map(|row| linked(row)).collect();
    let entries = std::fs::read_dir(&src).expect("src").flatten();
    let modules = entries.filter_map(|entry| {
        let name = entry.file_name().to_string_lossy().replace(".rs", "");
        (name != "lib").then_some(name)
    });
    assert_eq!(
        named,
        modules.collect(),
        "the rows of the table and the modules of the crate"
    );
    let mut order = rows.iter().flat_map(|row| linked(row));
    for pass in PASSES {
        let (module, path) = (
            pass.module.split('/').next().unwrap_or_default(),
            src.join(pass.module),
        );
        assert!(
            path.is_dir() || path.with_extension("rs").is_file(),
            "{} is nowhere",
            pass.module
        );
        let rest: Vec<String> = order.clone().collect();
        if rest.iter().any(|row| row == module) {
            order.by_ref().find(|row| row == module);
        } else {
            assert!(named.contains(module), "{module} has no row");
        }
    }
}

/// The modules that a row of the table names: [`spine`], [`mod@plan`].
fn linked(row: &str) -> Vec<String> {
    let links = row.split("[`").skip(1).filter_map(|rest| rest.split_once('`'));
    let names = links.map(|(name, _)| name.trim_start_matches("mod@").to_owned());
    names.collect()
}
