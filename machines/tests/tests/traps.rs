//! What is known to differ between machines, each by its name. A run goes over all machines, killed on each; what it has
//! of every trap at its end is what an uninterrupted run has, and what is in the files says why.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use machines_tests::{Journey, Version, cargo_ckpt, machine, machines, uninterrupted};

/// A run that has been on every machine.
struct Carried {
    /// What it printed at its end, and what an uninterrupted run prints.
    printed: String,
    expected: String,
    journey: Journey,
}

/// Made once.
fn carried() -> &'static Carried {
    static CARRIED: OnceLock<Carried> = OnceLock::new();
    CARRIED.get_or_init(|| {
        let machines = machines();
        let mut journey = Journey::default();
        journey.storing.push(("CKPT_KEEP", "all"));
        journey.goes_round(&machines);
        let ended = journey.arrive(machines[0], Version::This);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let [expected, ..] = uninterrupted(machines[0], &[]);
        Carried {
            printed: ended.stdout,
            expected,
            journey,
        }
    })
}

/// The lines that begin with this word are those of an uninterrupted run, and these parts are in them.
fn is_carried(word: &str, parts: &[&str]) {
    let of = |text: &str| -> String {
        let lines = text
            .lines()
            .filter(|line| line.split_whitespace().next() == Some(word));
        lines.map(|line| format!("{line}\n")).collect()
    };
    let (found, expected) = (of(&carried().printed), of(&carried().expected));
    assert_eq!(found, expected);
    for part in parts {
        assert!(found.contains(part), "{part}: {found}");
    }
}

/// The file of a checkpoint that this machine has written on the way.
fn written_on(name: &str) -> PathBuf {
    let journey = Journey::default();
    journey.begin(machine(name), 6);
    // The journey's folder goes with the journey.
    let kept = tempfile::tempdir().expect("a folder").keep().join("000001.r0.h5");
    std::fs::copy(journey.store().join("000001.r0.h5"), &kept).expect("it has one");
    kept
}

fn h5dump(words: &[&str], file: &Path) -> String {
    let output = Command::new("h5dump").args(words).arg(file).output();
    let output = output.expect("h5dump is installed");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The type that HDF5 tools see, of a part of the luggage that a machine with words of 32 bits and the other byte order
/// has written.
fn type_in_the_file(part: &str) -> String {
    static FILE: OnceLock<PathBuf> = OnceLock::new();
    let file = FILE.get_or_init(|| written_on("powerpc"));
    let path = format!("/frames/1/luggage/{part}");
    let text = h5dump(&["-H", "-d", &path], file);
    let (_, kind) = text.split_once("DATATYPE").expect("it has a type");
    let (kind, _) = kind.split_once("DATASPACE").expect("it has a shape");
    kind.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn usize_and_isize_are_64_bits_in_the_file() {
    assert_eq!(type_in_the_file("size"), "H5T_STD_U64LE");
    assert_eq!(type_in_the_file("sizes"), "H5T_STD_U64LE");
    assert_eq!(type_in_the_file("signed"), "H5T_STD_I64LE");
    is_carried("sizes", &["4294967295", "-2147483648", "2147483647"]);
}

/// HDF5 would return the largest number that there is room for, and call that a success.
#[test]
fn a_usize_too_large_for_the_reader_names_the_variable() {
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

/// HDF5 reads numbers of the other byte order only with a conversion, which `no_convert` forbids: here none is stored in
/// the order of the machine, and ckpt reads without the library.
#[test]
fn no_convert_matters_to_nobody_as_all_machines_write_little_endian() {
    for machine in machines() {
        let text = h5dump(&["-H"], &written_on(machine.name));
        let orders = |order: &str| {
            let is_order =
                |word: &&str| word.starts_with("H5T_") && word.trim_end_matches(';').ends_with(order);
            text.split_whitespace().filter(is_order).count()
        };
        assert!(orders("LE") > 50, "{}", machine.name);
        assert_eq!(orders("BE"), 0, "{}", machine.name);
    }
}

/// On i686 an `f64` in a struct is aligned to 4 bytes, elsewhere to 8 (`MACHINES=all`); a field is a column of its own.
#[test]
fn f64_alignment_in_structs_does_not_matter() {
    is_carried("body", &["[", "-7"]);
    assert_eq!(type_in_the_file("bodies/mass"), "H5T_IEEE_F64LE");
}

#[test]
fn u128_and_i128_are_carried() {
    is_carried("wide", &[&i128::MIN.to_string(), &i128::MAX.to_string()]);
    let kind = type_in_the_file("wides");
    assert!(
        kind.contains("H5T_STD_U64LE \"low\"; H5T_STD_I64LE \"high\";"),
        "{kind}"
    );
}

#[test]
fn chars_are_carried() {
    is_carried("letters", &["'\\u{10ffff}'", "'漢'", "'\\0'"]);
    assert_eq!(type_in_the_file("letters"), "H5T_STD_U32LE");
}

#[test]
fn nan_payloads_negative_zero_and_subnormals_keep_every_bit() {
    let doubles = [
        "7ff80000deadbeef",
        "fff8000000000001",
        "7ff0000000000001",
        "8000000000000000",
        "0000000000000001",
        "800fffffffffffff",
    ];
    is_carried("doubles", &doubles);
    let singles = [
        "7fc0beef", "ffc00001", "7f800001", "80000000", "00000001", "807fffff",
    ];
    is_carried("singles", &singles);
}

/// The places of the variants are the program's own business, as is the width of the number that stands for them.
#[test]
fn enums_without_repr_are_stored_by_the_names_of_their_variants() {
    let kind = type_in_the_file("seasons/variant");
    for name in ["Spring", "Summer", "Autumn"] {
        assert!(kind.contains(&format!("\"{name}\"")), "{kind}");
    }
    is_carried("seasons", &["Summer { days: 200 }", "Autumn('é', -300)"]);
}

/// Every process has another seed, and the maps of two of them go over their entries in different orders.
#[test]
fn hash_maps_with_another_seed_are_carried() {
    is_carried("tables", &["\"n39\": "]);
    let text = |name| h5dump(&["-d", "/frames/1/luggage/ages/keys/text"], &written_on(name));
    let without_the_name = |text: String| text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(without_the_name(text("s390x")), without_the_name(text("x86-64")));
}

#[test]
fn strings_and_paths_that_are_not_utf8_keep_their_bytes() {
    // `\xfe\xff.dat`, `na\xffme`, `caf\xe9`.
    is_carried("texts", &["254, 255, 46", "caf\\xe9"]);
    is_carried("tables", &["[110, 97, 255, 109, 101]"]);
}

/// Computed over the bytes in memory, they would be wrong wherever those are in another order.
#[test]
fn checksums_are_of_the_bytes_in_the_file() {
    let verified = cargo_ckpt(carried().journey.folder(), ["verify"], &[]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
    let sums = |name| {
        let text = h5dump(&["-A", "-d", "/frames/1/luggage/halves"], &written_on(name));
        let sum = text
            .lines()
            .find(|line| line.contains("xxh3-128"))
            .map(str::to_owned);
        sum.expect("a checksum")
    };
    assert_eq!(sums("powerpc"), sums("x86-64"));
}

#[test]
fn what_goes_through_serde_is_portable_text() {
    is_carried("ticket", &["1.1754944e-38", "-9223372036854775808", "'ö'"]);
    assert!(type_in_the_file("ticket").contains("CSET H5T_CSET_UTF8"));
}

#[test]
fn random_generators_go_on_with_the_next_number() {
    is_carried("drawn", &["("]);
}

#[test]
fn durations_and_times_are_carried() {
    is_carried("times", &["5000000000.000000109s"]);
}

/// The blocks that a checkpoint has from earlier ones are named by hashes of the bytes in the file: found right on any
/// machine, and the same on all.
#[test]
fn block_hashes_of_incremental_checkpoints_hold_across_byte_orders() {
    let mut sums = Vec::new();
    for writer in machines() {
        let mut journey = Journey::default();
        journey
            .storing
            .extend([("CKPT_FULL_EVERY", "4"), ("CKPT_KEEP", "all")]);
        journey.begin(writer, 17);
        let verified = cargo_ckpt(journey.folder(), ["verify"], &[]);
        assert_eq!(verified.code, Some(0), "{}: {verified:?}", writer.name);
        let last = journey.store().join("000004.r0.h5");
        let text = h5dump(&["-A", "-d", "/frames/1/luggage/atlas"], &last);
        let parts: Vec<String> = text
            .lines()
            .filter(|line| line.contains("xxh3-128") || line.contains("SOURCE"))
            .map(str::to_owned)
            .collect();
        assert!(parts.iter().any(|part| part.contains("xxh3-128/")), "{parts:?}");
        sums.push(parts);
        let reader = if writer.name == "s390x" { "x86-64" } else { "s390x" };
        let ended = journey.arrive(machine(reader), Version::This);
        assert_eq!(journey.outcome(&ended), uninterrupted(machine("x86-64"), &[]));
    }
    assert!(sums.windows(2).all(|two| two[0] == two[1]), "{sums:?}");
}
