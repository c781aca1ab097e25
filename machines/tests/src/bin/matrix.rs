//! `MACHINES=all cargo run -p machines-tests --bin matrix`: tries all pairs of machines and writes the table of the book.

use std::fs;
use std::process::ExitCode;

use machines_tests::{PAGE, machines, matrix, table};

const BEGIN: &str = "<!-- table: MACHINES=all cargo run -p machines-tests --bin matrix -->\n";
const END: &str = "<!-- end of the table -->";

fn main() -> ExitCode {
    let text = table(&matrix(&machines()));
    print!("{text}");
    let page = fs::read_to_string(PAGE).expect("the page of the book");
    let (before, rest) = page
        .split_once(BEGIN)
        .expect("the page says where the table begins");
    let (_, after) = rest.split_once(END).expect("the page says where the table ends");
    fs::write(PAGE, format!("{before}{BEGIN}{text}{END}{after}")).expect("the page can be written");
    match text.contains("another") {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    }
}
