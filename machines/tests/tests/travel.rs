//! The traveller from machine to machine.

use machines_tests::{
    Journey, MACHINES, PAGE, Version, another_rustc, machine, machines, matrix, table, uninterrupted,
};

#[test]
fn every_machine_continues_what_every_other_has_written() {
    let found = matrix(&machines());
    let table = table(&found);
    assert!(
        found.iter().all(|(_, readers)| readers.iter().all(|&same| same)),
        "{table}"
    );
    // The book has the whole table, in which every machine continues what these have written.
    let page = std::fs::read_to_string(PAGE).expect("the page of the book");
    for (machine, _) in found {
        let row = format!(
            "| {} | {} bits | {}-endian |{}",
            machine.name,
            machine.bits,
            machine.order,
            " same output |".repeat(MACHINES.len())
        );
        assert!(page.lines().any(|line| line == row), "{PAGE} lacks: {row}");
    }
}

/// Killed on each, the last machine hands over to the first.
fn round_trip(storing: &[(&'static str, &'static str)]) {
    let machines = machines();
    let mut journey = Journey::default();
    journey.storing.extend(storing);
    journey.goes_round(&machines);
    let ended = journey.arrive(machines[0], Version::This);
    assert_eq!(journey.outcome(&ended), uninterrupted(machines[0], &[]));
}

#[test]
fn a_run_goes_round_all_machines() {
    round_trip(&[]);
}

fn incremental_goes_round(compression: &'static str) {
    round_trip(&[("CKPT_FULL_EVERY", "4"), ("CKPT_COMPRESSION", compression)]);
}

/// Blocks that an earlier checkpoint has are found by their hashes, which are those of the bytes in the file.
#[test]
fn incremental_and_compressed_checkpoints_go_round() {
    incremental_goes_round("zstd");
}

#[test]
#[ignore = "with SWEEPS=all"]
fn with_other_compressions_they_go_round_as_well() {
    for compression in ["deflate", "lz4"] {
        incremental_goes_round(compression);
    }
}

/// Fields and variants have moved, come, gone and changed their names; it is compiled with optimisations and other features.
#[test]
fn the_next_version_of_the_program_goes_on() {
    let journey = Journey::default();
    journey.begin(machine("s390x"), 17);
    let ended = journey.arrive(machine("x86-64"), Version::Next);
    assert_eq!(journey.outcome(&ended), uninterrupted(machine("x86-64"), &[]));
}

/// There and back: what one compiler's program has written, the other's continues.
#[test]
fn another_version_of_the_compiler_goes_on() {
    let (_, version) = another_rustc();
    let machine = machine("x86-64");
    let journey = Journey::default();
    journey.begin(machine, 10);
    journey.go_on_with(machine, Version::OtherCompiler, 17);
    journey.go_on(machine, 24);
    let ended = journey.arrive(machine, Version::OtherCompiler);
    assert_eq!(journey.outcome(&ended), uninterrupted(machine, &[]), "{version}");
}

#[test]
fn a_field_that_no_file_has_is_refused_by_name() {
    let journey = Journey::default();
    journey.begin(machine("x86-64"), 17);
    let ended = journey.arrive(machine("x86-64"), Version::Demanding);
    assert_eq!(ended.code, Some(77), "{ended:?}");
    for part in ["`luggage`", "bodies", "no field `colour`", "#[ckpt(default)]"] {
        assert!(ended.stderr.contains(part), "{part}: {}", ended.stderr);
    }
}
