//! Every machine writes, every machine reads.

use std::fmt::Write as _;

use super::{Journey, Machine, Version, uninterrupted};

/// The page of the book with the table.
pub const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/machines.md");

/// For every machine in turn: the machines that continued its checkpoint to the output of an uninterrupted run.
pub fn matrix(machines: &[Machine]) -> Vec<(Machine, Vec<bool>)> {
    let expected = uninterrupted(machines[0], &[]);
    let row = |&writer: &Machine| {
        let begun = Journey::default();
        begun.begin(writer, 17);
        let reads = |&reader: &Machine| {
            let journey = begun.copy();
            let ended = journey.arrive(reader, Version::This);
            let same = ended.code == Some(0) && journey.outcome(&ended) == expected;
            if !same {
                eprintln!("from {} to {}: {ended:?}", writer.name, reader.name);
            }
            same
        };
        (writer, machines.iter().map(reads).collect())
    };
    machines.iter().map(row).collect()
}

/// The matrix as a table of the book.
pub fn table(matrix: &[(Machine, Vec<bool>)]) -> String {
    let mut text = String::from("| written on | words | byte order |");
    for (machine, _) in matrix {
        let _ = write!(text, " on {} |", machine.name);
    }
    text.push_str("\n| --- | --- | --- |");
    text.push_str(&" --- |".repeat(matrix.len()));
    text.push('\n');
    for (writer, readers) in matrix {
        let _ = write!(
            text,
            "| {} | {} bits | {}-endian |",
            writer.name, writer.bits, writer.order
        );
        for &same in readers {
            text.push_str(if same {
                " same output |"
            } else {
                " **another output** |"
            });
        }
        text.push('\n');
    }
    text
}
