use std::collections::BTreeSet;
use std::process::Command;

use super::{CLASSES, NAMES, NAMES_IF_THERE, operations};

/// The rows of functions that every library has.
fn rows() -> Vec<&'static str> {
    [NAMES, operations::NAMES].concat()
}

/// Those of the others, each with the name of the library's own.
fn rows_if_there() -> Vec<[&'static str; 2]> {
    [NAMES_IF_THERE, operations::NAMES_IF_THERE].concat()
}

/// A function that a header has if it has such a row at all; none of what has come and gone by itself.
fn marker(row: &str) -> Option<&'static str> {
    let alone = ["MPI_Errhandler_get", "MPI_Errhandler_set", "MPI_Session_set_info"];
    // Of MPI 4.1, which no header may have yet.
    let is_new = row.contains("tach_buffer");
    (!alone.contains(&row) && !is_new).then_some(match row {
        _ if row.ends_with("_c") => "MPI_Send_c",
        _ if row.starts_with("MPI_File_") || row.starts_with("MPI_Register_") => "MPI_File_open",
        _ => "MPI_Psend_init",
    })
}

/// How the names of functions begin that change the library for good, whatever they take.
const LASTING: [&str; 9] = [
    "MPI_Buffer_attach",
    "MPI_Buffer_detach",
    "MPI_Publish_name",
    "MPI_Unpublish_name",
    "MPI_Lookup_name",
    "MPI_Open_port",
    "MPI_Close_port",
    "MPI_Add_error_",
    "MPI_Register_datarep",
];

/// The functions of a preprocessed header that take something of which a row tells, or change the library for good.
fn declared(header: &str) -> BTreeSet<&str> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let handles = ["Comm", "Request", "Message", "Win", "File", "Session"];
    let is_handle = |word: &str| {
        word.strip_prefix("MPI_")
            .is_some_and(|word| handles.contains(&word))
    };
    let mut names = BTreeSet::new();
    for declaration in header.split(';').filter(|text| !text.contains("typedef")) {
        for (start, _) in declaration.match_indices("MPI_") {
            let (before, rest) = declaration.split_at(start);
            let length = rest.bytes().take_while(|byte| is_word(*byte)).count();
            let (name, rest) = rest.split_at(length);
            let arguments = rest
                .trim_start()
                .strip_prefix('(')
                .and_then(|rest| rest.split_once(')'));
            let Some((arguments, _)) = arguments.filter(|_| !before.ends_with(|last| is_word(last as u8)))
            else {
                continue;
            };
            let is_lasting = LASTING.iter().any(|beginning| name.starts_with(beginning));
            if is_lasting || arguments.split(|letter| !is_word(letter as u8)).any(is_handle) {
                names.insert(name);
            }
        }
    }
    names
}

#[test]
fn declarations_are_found_in_a_header() {
    let header = "typedef int (MPI_Copy)(MPI_Comm, int);\nextern __attribute__((visibility(\"default\"))) int \
        MPI_Send(const void *buf, MPI_Comm comm);int PMPI_Recv(MPI_Comm comm); int MPI_Get_count(MPI_Status *);\n\
        int MPI_Cancel (MPI_Request *request) __attribute__((x));";
    assert_eq!(declared(header), BTreeSet::from(["MPI_Cancel", "MPI_Send"]));
}

#[test]
fn every_function_has_one_row() {
    let all = rows()
        .into_iter()
        .chain(rows_if_there().into_iter().map(|[row, _]| row));
    let all: Vec<&str> = all.collect();
    let names: BTreeSet<&str> = all.iter().copied().collect();
    assert_eq!(names.len(), all.len());
}

/// An operation that returns before it is over is under way until its request is complete.
#[test]
fn every_function_with_a_request_begins_prepares_or_ends_an_operation() {
    let rows: Vec<_> = CLASSES.iter().chain(operations::CLASSES).collect();
    let with_a_request = rows.iter().filter(|[arguments, _]| {
        let letters: String = arguments.split_whitespace().collect();
        letters.contains("*mutMPI_Request")
    });
    let mut seen = 0;
    for [arguments, class] in with_a_request {
        let class = class.split_whitespace().next().unwrap();
        let class = class.split('(').next().unwrap();
        let is_known = class.starts_with("Begins")
            || class.starts_with("Prepares")
            || ["Completes", "Starts", "FreesRequest", "Cancels"].contains(&class);
        // A generalised request is over when the program says so.
        let is_aside = class == "Aside" && arguments.contains("MPI_Grequest");
        assert!(is_known || is_aside, "{class}: {arguments}");
        seen += 1;
    }
    assert!(seen > 40, "{seen}");
}

/// `HEADERS_OF` names the compilers of other MPIs; `MPICC` would have everything built for another one.
#[test]
fn the_table_has_the_functions_of_the_headers_that_are_there() {
    let others = std::env::var("HEADERS_OF").unwrap_or_default();
    let own = std::env::var("MPICC").unwrap_or_else(|_| "mpicc".into());
    for compiler in others.split_whitespace().chain([own.as_str()]) {
        the_table_has_the_functions_of_the_header_of(compiler);
    }
}

fn the_table_has_the_functions_of_the_header_of(compiler: &str) {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("header.c");
    std::fs::write(&source, "#include <mpi.h>\n").unwrap();
    let output = Command::new(compiler)
        .arg("-E")
        .arg("-P")
        .arg(&source)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{compiler}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let header = String::from_utf8_lossy(&output.stdout);
    let declared = declared(&header);
    assert!(declared.contains("MPI_Comm_rank"), "{compiler} knows no mpi.h");

    let (rows, rows_if_there) = (rows(), rows_if_there());
    let has_row = |name: &str| rows.contains(&name) || rows_if_there.iter().any(|[row, _]| *row == name);
    // Handles as Fortran has them are macros in some headers.
    let missing = declared
        .iter()
        .filter(|name| !has_row(name) && !name.ends_with("_c2f"));
    let missing: Vec<&&str> = missing.collect();
    assert!(
        missing.is_empty(),
        "{compiler}: functions of the header without a row: {missing:?}"
    );
    let is_due = |row: &str| marker(row).is_some_and(|marker| declared.contains(marker));
    let due = rows_if_there
        .iter()
        .filter(|[row, _]| is_due(row))
        .map(|[row, _]| row);
    let strange: Vec<&&str> = rows
        .iter()
        .chain(due)
        .filter(|row| !declared.contains(*row))
        .collect();
    assert!(
        strange.is_empty(),
        "{compiler}: rows that the header does not have: {strange:?}"
    );
    let words: BTreeSet<&str> = header
        .split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
        .collect();
    for [row, librarys] in rows_if_there {
        assert_eq!(librarys, format!("P{row}"));
        assert_eq!(words.contains(librarys), declared.contains(row), "{row}");
    }
}
