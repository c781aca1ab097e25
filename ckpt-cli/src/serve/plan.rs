//! The plan over the source of a program: of the one that a job was started from on this machine, else of the package here.

use std::path::Path;

use ckpt::store::RunId;

use crate::cargo::CargoOptions;
use crate::failure::Outcome;
use crate::launch::record::Record;
use crate::package::build::driver::{known_of_builds, main_of};
use crate::package::show::page;
use crate::package::show::plan::Plan;
use crate::package::{profile, read};

/// The page of the plan. Nothing is built, and no request leaves the machine.
///
/// # Errors
/// There is no package, or it cannot be read.
pub fn page(job: Option<(&Path, RunId)>) -> Outcome<String> {
    let options = CargoOptions {
        offline: true,
        ..job.and_then(said_here).unwrap_or_default()
    };
    let mut package = read::read(&options)?;
    let analysis = profile::analyse(&mut package);
    let main = main_of(&package, &analysis)?;
    let (wishes, _) = known_of_builds(&package, &analysis, main, None);
    let placement = analysis.place(main, &wishes);
    Ok(page::page(&Plan::of(&package, &analysis, &placement), &package))
}

/// A store says of itself what it likes, and cargo runs what a package asks for: what counts is what this machine has noted.
fn said_here((store, run): (&Path, RunId)) -> Option<CargoOptions> {
    let record = Record::read(store, run)?;
    record.was_said_here(store).then_some(record.cargo)
}
