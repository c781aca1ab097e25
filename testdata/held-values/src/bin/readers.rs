//! A table that is read from whatever is given, and a log that is written to whatever is wanted.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Cursor, Read, Write};

fn input(name: Option<&str>) -> io::Result<Box<dyn BufRead>> {
    Ok(match name {
        Some("-") => Box::new(BufReader::new(io::stdin())),
        Some(name) => Box::new(BufReader::new(File::open(name)?)),
        None => Box::new(Cursor::new("1 2\n3 4\n5 6\n".repeat(100))),
    })
}

fn open(name: &str) -> io::Result<BufReader<File>> {
    Ok(BufReader::new(File::open(name)?))
}

fn worth(line: &str) -> f64 {
    let numbers = line.split_whitespace().map(|word| word.parse::<f64>().expect("a number"));
    (0..100).fold(numbers.sum(), |x: f64, k| x + (x + f64::from(k)).sin())
}

fn total(reader: BufReader<File>) -> io::Result<f64> {
    let mut total = 0.0;
    for line in reader.lines() {
        total += worth(&line?);
    }
    Ok(total)
}

struct Bytes {
    from: Box<dyn Read>,
    hash: u64,
}

impl Bytes {
    fn take_some(&mut self) -> io::Result<usize> {
        let mut buffer = [0; 50];
        let count = self.from.read(&mut buffer)?;
        for byte in &buffer[..count] {
            self.hash = self.hash.wrapping_mul(31).wrapping_add(u64::from(*byte));
        }
        Ok(count)
    }
}

fn main() -> io::Result<()> {
    let mut table = BufWriter::new(File::create("table.txt")?);
    for k in 0..1000 {
        writeln!(table, "{k} {}", k * 7 % 13)?;
    }
    table.into_inner()?;
    let mut log: Box<dyn Write> = Box::new(BufWriter::new(File::create("log.txt")?));

    let mut from = input(Some("table.txt"))?;
    let (mut line, mut sum) = (String::new(), 0.0);
    while from.read_line(&mut line)? > 0 {
        sum += worth(&line);
        line.clear();
    }
    writeln!(log, "{sum:.9}")?;
    for line in input(None)?.lines() {
        sum += worth(&line?);
    }
    writeln!(log, "{sum:.9}")?;
    for line in open("table.txt")?.lines() {
        sum -= worth(&line?) / 2.0;
    }
    println!("{sum:.9} {:.9}", total(open("table.txt")?)?);
    let mut bytes = Bytes { from: Box::new(File::open("table.txt")?), hash: 7 };
    while bytes.take_some()? > 0 {}
    println!("{}", bytes.hash);
    log.flush()
}
