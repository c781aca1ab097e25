//! A few quick packages, whenever the tests run: each is killed or goes back in its process; with `SWEEPS=all`, both. `cargo run -p reach -- --check` tries all of them.

#[path = "../../harness/src/sweep.rs"]
mod sweep;

use std::path::Path;
use std::time::Duration;

use reach::programs::Package;
use reach::table::Table;
use reach::tool::{Tool, root};
use reach::trial::{self, Effort};

/// One translated from Fortran, one that writes files as it goes, one behind `Box<dyn Solver>`; none needs other crates.
const SHARE: [&str; 3] = ["nas-is", "game-of-life", "solver-dyn"];

/// What stands twice in a release only: functions with sites, the kernels that they call, and loops of quick iterations.
const AS_FOR_A_RELEASE: [&str; 2] = ["fixed-lengths", "short-loops"];

#[test]
fn the_page_tells_the_truth_about_a_small_share() {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let offline = std::env::var_os("CARGO_NET_OFFLINE").is_some();
    let tool = Tool::build(target, Duration::from_secs(600), offline).unwrap();
    let table = Table::read(&root().join("docs/src/reach.json")).unwrap();
    let debug = SHARE.iter().map(|name| (*name, false));
    let release = AS_FOR_A_RELEASE.iter().map(|name| (*name, true));
    let ways = debug
        .chain(release)
        .enumerate()
        .flat_map(|(at, (name, release))| {
            let in_processes = [false, true].into_iter();
            let some =
                in_processes.filter(move |in_process| sweep::is_all_swept() || *in_process == (at % 2 == 1));
            some.map(move |in_process| (name, in_process, release))
        });
    for (name, in_process, release) in ways {
        let package = Package::read(&root().join("testdata").join(name)).unwrap();
        let effort = Effort {
            sites: 2,
            in_process,
            release,
        };
        let rows = trial::package(&package, &tool, effort).unwrap();
        let differences = table.differences(&rows);
        assert!(differences.is_empty(), "{}", differences.join("\n"));
    }
}
