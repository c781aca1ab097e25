//! A few quick packages, whenever the tests run. `cargo run -p reach -- --check` tries all of them.

use std::path::Path;
use std::time::Duration;

use reach::programs::Package;
use reach::table::Table;
use reach::tool::{Tool, root};
use reach::trial::{self, Effort};

/// One translated from Fortran, one that writes files as it goes, one behind `Box<dyn Solver>`; none needs other crates.
const SHARE: [&str; 3] = ["nas-is", "game-of-life", "solver-dyn"];

#[test]
fn the_page_tells_the_truth_about_a_small_share() {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let offline = std::env::var_os("CARGO_NET_OFFLINE").is_some();
    let tool = Tool::build(target, Duration::from_secs(600), offline).unwrap();
    let table = Table::read(&root().join("docs/src/reach.json")).unwrap();
    for (name, in_process) in SHARE.iter().flat_map(|name| [(name, false), (name, true)]) {
        let package = Package::read(&root().join("testdata").join(name)).unwrap();
        let rows = trial::package(&package, &tool, Effort { sites: 2, in_process }).unwrap();
        let differences = table.differences(&rows);
        assert!(differences.is_empty(), "{}", differences.join("\n"));
    }
}
