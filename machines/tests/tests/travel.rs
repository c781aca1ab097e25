//! The traveller from machine to machine.

use machines_tests::{Journey, PAGE, Version, machine, machines, matrix, table, uninterrupted};

#[test]
fn every_machine_continues_what_every_other_has_written() {
    let found = matrix(&machines());
    let table = table(&found);
    assert!(
        found.iter().all(|(_, readers)| readers.iter().all(|&same| same)),
        "{table}"
    );
    // The book has the whole table; what was tried here is what it says.
    let page = std::fs::read_to_string(PAGE).expect("the page of the book");
    for (machine, _) in found {
        let row = format!(
            "| {} | {} bits | {}-endian |",
            machine.name, machine.bits, machine.order
        );
        let row = page.lines().find(|line| line.starts_with(&row));
        assert!(row.is_none_or(|row| !row.contains("another")), "{}", machine.name);
    }
}

/// Killed on each, the last machine hands over to the first.
fn round_trip(storing: &[(&'static str, &'static str)]) {
    let machines = machines();
    let mut journey = Journey::default();
    journey.storing.extend(storing);
    journey.begin(machines[0], 10);
    let hops = (1..).zip(machines.iter().skip(1));
    for (hop, &machine) in hops {
        journey.go_on(machine, 10 + 9 * hop.min(2));
    }
    let ended = journey.arrive(machines[0], Version::This);
    assert_eq!(journey.outcome(&ended), uninterrupted(machines[0], &[]));
}

#[test]
fn a_run_goes_round_all_machines() {
    round_trip(&[]);
}

/// Blocks that an earlier checkpoint has are found by their hashes, which are those of the bytes in the file.
#[test]
fn incremental_and_compressed_checkpoints_go_round() {
    for compression in ["deflate", "lz4", "zstd"] {
        round_trip(&[("CKPT_FULL_EVERY", "4"), ("CKPT_COMPRESSION", compression)]);
    }
}

#[test]
fn a_number_too_wide_for_the_reader_is_refused_by_name() {
    let mut journey = Journey::default();
    journey.more.push("too-wide");
    journey.begin(machine("x86-64"), 17);
    let back = journey.copy();
    let ended = journey.arrive(machine("powerpc"), Version::This);
    assert_eq!(ended.code, Some(77), "{ended:?}");
    assert!(
        ended.stderr.contains("`size`") && ended.stderr.contains("1099511627776"),
        "{}",
        ended.stderr
    );
    // Machines with words as wide take it.
    let ended = back.arrive(machine("s390x"), Version::This);
    assert_eq!(
        back.outcome(&ended),
        uninterrupted(machine("x86-64"), &["too-wide"])
    );
}

/// Fields and variants have moved, come, gone and changed their names; it is compiled with optimisations and other features.
#[test]
fn the_next_version_of_the_program_goes_on() {
    let journey = Journey::default();
    journey.begin(machine("s390x"), 17);
    let ended = journey.arrive(machine("x86-64"), Version::Next);
    assert_eq!(journey.outcome(&ended), uninterrupted(machine("x86-64"), &[]));
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
