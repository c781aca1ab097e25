//! Every file is a program: read, placed and rewritten without a panic, and nothing of it is touched but by insertions.
//!
//! `ROBUSTNESS_FILES` and `ROBUSTNESS_SEED` as in the robustness test of single functions.

use super::sources::chosen_files;
use crate::decisions::Decisions;
use crate::decisions::closure_callers::calls_to_write_out;
use crate::edits::{FunctionMark, SiteMark, edits};
use crate::items::FnId;
use crate::placement::expressible::arguments;
use crate::source::edits::{Edited, by_file};
use crate::{Analysis, ChooseOptions, FileId, Placement, Program, analyse, place};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Nested expressions are walked recursively, by `syn` too.
const STACK: usize = 256 << 20;
/// Functions of a file that are taken for its `main`.
const MOST_MAINS: usize = 3;

#[test]
fn every_file_is_rewritten_by_insertions_alone() {
    let worker = std::thread::Builder::new().stack_size(STACK).spawn(rewrite_all);
    let swept = worker.expect("a thread starts").join().expect("no panic");
    println!(
        "{} files, {} programs, {} with sites, {} sites, {} calls that can be written out",
        swept.files, swept.programs, swept.with_sites, swept.sites, swept.written_out
    );
    assert!(swept.with_sites > 5, "hardly any program got a site");
    assert!(swept.failures.is_empty(), "{}", swept.failures.join("\n"));
}

#[derive(Default)]
struct Swept {
    files: usize,
    programs: usize,
    with_sites: usize,
    sites: usize,
    written_out: usize,
    failures: Vec<String>,
}

fn rewrite_all() -> Swept {
    let mut swept = Swept::default();
    for path in chosen_files() {
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        if text.starts_with('\u{feff}') || syn::parse_file(&text).is_err() {
            continue;
        }
        swept.files += 1;
        let program = super::program(&[("main.rs", &text)]);
        if let Err(why) = guarded(|| sweep(&program, &mut swept)) {
            swept.failures.push(format!("{}: {why}", path.display()));
        }
    }
    swept
}

fn guarded(work: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Err(format!("panic: {}", text.unwrap_or_default()))
    })
}

fn sweep(program: &Program, swept: &mut Swept) -> Result<(), String> {
    let analysis = analyse(program);
    swept.written_out += written_out(program, &analysis)?;
    for main in mains(&analysis) {
        let placement = place(&analysis, main, &ChooseOptions::default());
        swept.programs += 1;
        swept.with_sites += usize::from(!placement.sites.is_empty());
        swept.sites += placement.sites.len();
        rewritten_by_insertions(program, &analysis, &placement)?;
    }
    rewritten_by_insertions(program, &analysis, &Placement::default())
}

/// How many calls can be written out; what comes of each is Rust, and no line moves.
fn written_out(program: &Program, analysis: &Analysis) -> Result<usize, String> {
    let calls = calls_to_write_out(program, analysis);
    let text = &program.files[0].text;
    for call in &calls {
        let written = Edited::new(text, &call.edits).text;
        if written.matches('\n').count() != text.matches('\n').count() {
            return Err(format!("line {}: lines move", call.line));
        }
        if let Err(error) = syn::parse_file(&written) {
            let line = written.lines().nth(call.line - 1).unwrap_or_default();
            return Err(format!("line {}: {error}: {line}", call.line));
        }
    }
    Ok(calls.len())
}

/// `main`, or else the functions with the most in them.
fn mains(analysis: &Analysis) -> Vec<FnId> {
    if let Some(main) = analysis.items.main_of(0) {
        return vec![main];
    }
    let mut all: Vec<_> = analysis.items.functions.iter().collect();
    all.sort_by_key(|function| std::cmp::Reverse(function.place.bytes.len()));
    all.iter().take(MOST_MAINS).map(|function| function.id).collect()
}

fn rewritten_by_insertions(
    program: &Program,
    analysis: &Analysis,
    placement: &Placement,
) -> Result<(), String> {
    let functions: Vec<FunctionMark> = placement
        .functions
        .iter()
        .map(|one| {
            let function = analysis.items.function(one.function);
            let calls: Vec<String> = one.calls.iter().map(|name| name.name.clone()).collect();
            FunctionMark {
                file: function.place.file,
                at: function.insert_at,
                end: function.place.bytes.end,
                opens_session: one.opens_session,
                arguments: arguments(analysis, one.function, &calls),
            }
        })
        .collect();
    let sites: Vec<SiteMark> = placement
        .sites
        .iter()
        .map(|one| SiteMark {
            file: one.place.file,
            at: one.site.at,
            before_statement: one.site.holder.before_statement(),
            sort: one.site.holder.sort(),
            wraps: one.site.wraps,
        })
        .collect();
    let list = edits(program, &functions, &sites, &Decisions::default());
    if sites.is_empty() && functions.is_empty() && !list.is_empty() {
        return Err("a program without a site is edited".into());
    }
    let original = &program.file(FileId(0)).text;
    for (_, edits) in by_file(list) {
        if let Some(replaced) = edits.iter().find(|edit| edit.start != edit.end) {
            return Err(format!(
                "`{}` is replaced",
                &original[replaced.start..replaced.end]
            ));
        }
        let edited = Edited::new(original, &edits);
        syn::parse_file(&edited.text).map_err(|error| format!("not Rust any more: {error}"))?;
        let inserted: usize = edits.iter().map(|edit| edit.text.len()).sum();
        if edited.text.len() != original.len() + inserted {
            return Err("more has changed than the insertions".into());
        }
    }
    Ok(())
}
