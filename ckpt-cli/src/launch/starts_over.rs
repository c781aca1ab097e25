//! A program that is started again from its beginning, because it died and has no checkpoint to go on from: it is to find the
//! files of the first start.

use std::path::Path;

use ckpt::session::{NotUndone, undo_start};
use ckpt::store::RunId;

use crate::failure::{Failure, Outcome, says};
use crate::launch::mapping::Mapping;
use crate::output;
use crate::stores::lines::Lines;
use crate::stores::{checkpoint, runs};

/// Undoes what a run has changed of the program's files. With `keeps` what other unfinished runs have changed since stays; `map` says
/// what is elsewhere now.
///
/// # Errors
/// A process of the run is still at work, or what the files were is not known any more.
pub fn undo(store: &Path, run: RunId, ranks: Option<u32>, keeps: bool, map: &[Mapping]) -> Outcome<()> {
    let record = runs::of(store, Some(run))?;
    let damaged = match &record {
        Some(record) => runs::damaged(store, record)?,
        None => Vec::new(),
    };
    for what in &damaged {
        output::note(&format!("run {} is not resumed: {what}", run.short()));
    }
    if let Some((folder, why)) = Lines::of(store)?.unseen_fallbacks().into_iter().next() {
        return Err(Failure::no_checkpoint(says!(
            "E3203: whether run {} has a checkpoint is not known: `{}`, the fallback of the store, is not looked at",
            run.short(),
            folder.display()
        ))
        .because(why)
        .help("put that folder back, or mount its disk; where nothing lay there, or that is lost, start with `cargo ckpt run --fresh`"));
    }
    let map = Mapping::variable(map).map(|(_, text)| text);
    match undo_start(store, run, ranks.unwrap_or(1), keeps, map.as_deref()) {
        Ok(false) => {}
        Ok(true) => output::note(&format!(
            "what run {} had changed of the program's files before it died is undone: it has no checkpoint to go on from",
            run.short()
        )),
        Err(NotUndone::Store(error)) => return Err(checkpoint::store_failure(error)),
        Err(why) => {
            let failure = Failure::refused(says!(
                "E3201: what run {} had changed of the program's files before it died cannot be undone",
                run.short()
            ));
            let put_back = match damaged.is_empty() {
                true => String::new(),
                false => format!("{}; or, as ", runs::PUT_BACK),
            };
            let because = |failure: Failure, what| failure.because(what);
            return Err(damaged
                .into_iter()
                .fold(failure, because)
                .because(why)
                .help(format!("{put_back}a start from the beginning would find what that run has left: put the files in order, and start with `cargo ckpt run --fresh`")));
        }
    }
    Ok(())
}
