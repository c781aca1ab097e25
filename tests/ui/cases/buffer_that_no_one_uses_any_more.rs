use std::fs::File;
use std::io::{BufWriter, LineWriter, Write};

fn open() -> File {
    File::create("table.txt").unwrap()
}

fn buffered() -> BufWriter<File> {
    BufWriter::new(open())
}

#[ckpt::instrument]
pub fn by_a_function() {
    let mut table = buffered();
    table.write_all(b"header").unwrap();
    for _ in 0..3 {
        ckpt::checkpoint!();
    }
}

#[ckpt::instrument]
pub fn of_lines() {
    let mut table = Some(LineWriter::new(open()));
    table.iter_mut().for_each(|one| one.write_all(b"header").unwrap());
    for _ in 0..3 {
        ckpt::checkpoint!();
    }
}

#[ckpt::instrument]
pub fn object() {
    let mut table: Box<dyn Write> = Box::new(buffered());
    table.write_all(b"header").unwrap();
    for _ in 0..3 {
        ckpt::checkpoint!();
    }
}

#[ckpt::instrument]
pub fn given_away_at_times(early: bool) {
    let mut table = BufWriter::new(open());
    table.write_all(b"header").unwrap();
    if early {
        drop(table);
    }
    for _ in 0..3 {
        ckpt::checkpoint!();
    }
}

fn main() {}
