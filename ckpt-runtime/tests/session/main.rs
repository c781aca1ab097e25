//! Sessions of real processes: programs with hand-written instrumentation, as the macros emit it, that are killed,
//! stopped and restarted. The test executable is each of these programs when `TEST_PROGRAM` names one.

mod fallback;
mod files;
mod forks;
mod functions;
mod globals;
mod handlers;
mod kills;
#[path = "../../../tests/harness/src/messages.rs"]
mod messages;
mod outside;
mod process;
mod programs;
mod refusals;
mod reopened;
mod runs;
mod seen;
#[path = "../../../tests/harness/src/small_disk.rs"]
mod small_disk;
mod stops;
mod surroundings;
mod trees;

/// The tests of a module, by the names of their functions.
#[macro_export]
macro_rules! tests {
    ($($test:ident,)*) => {
        pub const TESTS: &[(&str, fn())] = &[$((stringify!($test), $test)),*];
    };
}

use libtest_mimic::{Arguments, Trial};

fn main() -> Result<(), String> {
    if let Ok(program) = std::env::var("TEST_PROGRAM") {
        return programs::run(&program);
    }
    let mut trials = Vec::new();
    for (name, test) in [
        fallback::TESTS,
        files::TESTS,
        forks::TESTS,
        functions::TESTS,
        globals::TESTS,
        handlers::TESTS,
        kills::TESTS,
        outside::TESTS,
        stops::TESTS,
        refusals::TESTS,
        reopened::TESTS,
        runs::TESTS,
        seen::TESTS,
        surroundings::TESTS,
        trees::TESTS,
    ]
    .concat()
    {
        trials.push(Trial::test(name, move || {
            test();
            Ok(())
        }));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
