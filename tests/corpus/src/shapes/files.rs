//! Files and standard streams that a function holds across its sites.

use std::fs::{File, OpenOptions, read_to_string, remove_file, write};
use std::io::{BufRead, BufReader, BufWriter, LineWriter, Read, Seek, SeekFrom, Write};
use std::time::{Duration, Instant};

/// Prints what is in a file at the end, and removes it.
fn show(path: &str) {
    println!("{path}: {:?}", read_to_string(path).unwrap());
    remove_file(path).unwrap();
}

fn make_input() {
    let lines: String = (0..6).map(|k| format!("{k} {}\n", k * k * 7 % 5)).collect();
    write("input.txt", lines).unwrap();
}

#[ckpt::instrument]
pub fn written_file() {
    let mut table = File::create("table.txt").unwrap();
    let mut sum = 0.0;
    for k in 1..5 {
        writeln!(table, "before {k} {sum}").unwrap();
        ckpt::checkpoint!();
        sum += 1.0 / f64::from(k);
        writeln!(table, "after {k} {sum}").unwrap();
        println!("{k}");
    }
    drop(table);
    show("table.txt");
}

#[ckpt::instrument]
pub fn file_that_is_not_mutable() {
    let table = File::create("table.txt").unwrap();
    for k in 1..4 {
        ckpt::checkpoint!();
        writeln!(&table, "{k}").unwrap();
        println!("{k}");
    }
    show("table.txt");
}

#[ckpt::instrument]
pub fn appended_file() {
    write("log.txt", "old\n").unwrap();
    let mut log = OpenOptions::new().append(true).open("log.txt").unwrap();
    for k in 1..4 {
        writeln!(log, "{k}").unwrap();
        ckpt::checkpoint!();
        println!("{k}");
    }
    writeln!(log, "end").unwrap();
    show("log.txt");
}

#[ckpt::instrument]
pub fn buffered_file() {
    let mut table = BufWriter::with_capacity(16, File::create("table.txt").unwrap());
    for k in 1..5 {
        ckpt::checkpoint!();
        write!(table, "{}", "x".repeat(k * 3)).unwrap();
        println!("{k}");
    }
    table.flush().unwrap();
    show("table.txt");
}

/// A file that is opened again, and a text of which a copy is kept, both taken by one call.
#[ckpt::instrument(calls(rows_of))]
pub fn files_given_away() {
    make_input();
    let input = File::open("input.txt").ok();
    let title = String::from("rows");
    let mut table = File::create("table.txt").ok();
    rows_of(input, title, &mut table);
    drop(table);
    show("table.txt");
    show("input.txt");
}

#[ckpt::instrument]
fn rows_of(input: Option<File>, title: String, table: &mut Option<File>) {
    let mut text = String::new();
    if let Some(mut input) = input {
        input.read_to_string(&mut text).unwrap();
    }
    for line in text.lines() {
        ckpt::checkpoint!();
        println!("{title} {line}");
        if let Some(table) = table.as_mut() {
            writeln!(table, "{title} {line}").unwrap();
        }
    }
}

#[ckpt::instrument]
pub fn half_a_line() {
    let mut table = LineWriter::new(File::create("table.txt").unwrap());
    for k in 1..5 {
        write!(table, "{k}, ").unwrap();
        ckpt::checkpoint!();
        if k % 2 == 0 {
            writeln!(table).unwrap();
        }
        println!("{k}");
    }
    drop(table);
    show("table.txt");
}

#[derive(ckpt::Checkpoint)]
struct Simulation {
    output: Option<Output<File>>,
    state: u64,
}

#[derive(ckpt::Checkpoint)]
struct Output<W: Write> {
    table: BufWriter<W>,
    rows: u32,
}

#[ckpt::instrument(calls(advance))]
pub fn file_in_a_struct() {
    let table = BufWriter::new(File::create("table.txt").unwrap());
    let mut simulation = Simulation {
        output: Some(Output { table, rows: 0 }),
        state: 1,
    };
    for step in 0..3 {
        advance(&mut simulation, step);
    }
    let rows = simulation.output.take().map(|output| output.rows);
    println!("{rows:?}");
    show("table.txt");
}

#[ckpt::instrument]
fn advance(simulation: &mut Simulation, step: u64) {
    for k in 0..2 {
        ckpt::checkpoint!();
        simulation.state = simulation.state * 31 % 1009 + step + k;
        println!("{}", simulation.state);
        if let Some(output) = &mut simulation.output {
            output.rows += 1;
            writeln!(output.table, "{} {}", output.rows, simulation.state).unwrap();
        }
    }
}

#[ckpt::instrument]
pub fn lines_of_a_file() {
    make_input();
    let file = File::open("input.txt").unwrap();
    let reader = BufReader::new(file);
    let mut sum = 0;
    for line in reader.lines() {
        let line = line.unwrap();
        ckpt::checkpoint!();
        sum = sum * 3
            + line
                .split(' ')
                .map(|word| word.parse::<u64>().unwrap())
                .sum::<u64>();
        println!("{line} {sum}");
    }
    println!("= {sum}");
}

#[ckpt::instrument]
pub fn lines_of_a_file_opened_in_place() {
    make_input();
    let reader = BufReader::new(File::open("input.txt").unwrap());
    for line in reader.lines() {
        let line = line.unwrap();
        ckpt::checkpoint!();
        println!("{line}");
    }
}

#[ckpt::instrument]
pub fn numbered_lines_after_a_header() {
    make_input();
    let file = File::open("input.txt").unwrap();
    let mut reader = BufReader::new(file);
    let mut header = String::new();
    reader.read_line(&mut header).unwrap();
    for (number, line) in reader.lines().skip(1).enumerate() {
        ckpt::checkpoint!();
        println!("{header} {number} {}", line.unwrap());
    }
}

#[ckpt::instrument]
pub fn lines_taken_one_by_one() {
    make_input();
    let mut lines = BufReader::with_capacity(5, File::open("input.txt").unwrap()).lines();
    let mut sum = 0;
    loop {
        match lines.next() {
            Some(line) => sum += line.unwrap().len(),
            None => break,
        }
        ckpt::checkpoint!();
        println!("{sum}");
    }
}

#[ckpt::instrument]
pub fn reader_that_is_lent() {
    make_input();
    let mut reader = BufReader::new(File::open("input.txt").unwrap());
    let mut line = String::new();
    loop {
        line.clear();
        let count = reader.read_line(&mut line).unwrap();
        ckpt::checkpoint!();
        if count == 0 {
            break;
        }
        println!("{line:?}");
    }
}

#[ckpt::instrument]
pub fn lines_of_a_file_through_closures() {
    make_input();
    let reader = BufReader::new(File::open("input.txt").unwrap());
    let mut sum = 0;
    for (number, line) in reader
        .lines()
        .skip(1)
        .map_while(Result::ok)
        .filter(|line| !line.is_empty())
        .enumerate()
    {
        ckpt::checkpoint!();
        sum = sum * 3 + line.len() + number;
        println!("{number} {line} {sum}");
    }
    let mut sum = 0;
    for line in BufReader::new(File::open("input.txt").unwrap())
        .lines()
        .flatten()
        .take(4)
    {
        ckpt::checkpoint!();
        sum += line.len();
        println!("{line} {sum}");
    }
}

#[ckpt::instrument(calls(some_lines))]
pub fn lines_of_readers_that_are_lent() {
    make_input();
    let mut reader = BufReader::new(File::open("input.txt").unwrap());
    let first = some_lines(&mut reader, 2);
    let second = some_lines(&mut reader, 9);
    let mut rest = String::new();
    reader.read_to_string(&mut rest).unwrap();
    println!("{first} {second} {rest:?}");
    let mut text = std::io::Cursor::new("7\nx\n8 9\n".to_string());
    println!("{}", some_lines(&mut text, 5));
}

#[ckpt::instrument]
fn some_lines<R: BufRead + ckpt::Checkpoint>(input: &mut R, most: usize) -> usize {
    let mut sum = 0;
    for (number, line) in input
        .lines()
        .map(|line| line.unwrap())
        .enumerate()
        .skip(1)
        .take(most)
    {
        ckpt::checkpoint!();
        sum += number + line.len();
        if line.is_empty() {
            continue;
        }
        println!("{number} {line} {sum}");
    }
    sum
}

#[derive(ckpt::Checkpoint)]
struct Source {
    input: BufReader<File>,
    read: u64,
}

impl Source {
    #[ckpt::instrument]
    fn add(&mut self) -> u64 {
        let mut sum = 0;
        'all: for byte in self
            .input
            .by_ref()
            .bytes()
            .filter_map(Result::ok)
            .take_while(|byte| *byte != b'\n')
        {
            ckpt::checkpoint!();
            sum = sum * 7 % 1009 + u64::from(byte);
            println!("{sum}");
            if sum == 1 {
                break 'all;
            }
        }
        self.read += 1;
        sum
    }
}

#[ckpt::instrument(calls(Source::add))]
pub fn bytes_of_a_reader_in_a_struct() {
    make_input();
    let mut source = Source {
        input: BufReader::with_capacity(4, File::open("input.txt").unwrap()),
        read: 0,
    };
    for _ in 0..2 {
        println!("{} {}", source.add(), source.read);
    }
}

#[ckpt::instrument]
pub fn reader_by_blocks() {
    make_input();
    let mut file = File::open("input.txt").unwrap();
    let mut block = [0; 7];
    let mut all = Vec::new();
    loop {
        let count = file.read(&mut block).unwrap();
        ckpt::checkpoint!();
        if count == 0 {
            break;
        }
        all.extend_from_slice(&block[..count]);
        println!("{count} {}", all.len());
    }
    println!("{}", String::from_utf8(all).unwrap());
}

#[ckpt::instrument]
pub fn file_that_is_read_and_changed() {
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open("counter.txt")
        .unwrap();
    for _ in 0..4 {
        ckpt::checkpoint!();
        let mut text = String::new();
        file.seek(SeekFrom::Start(0)).unwrap();
        file.read_to_string(&mut text).unwrap();
        let count: u64 = text.trim().parse().unwrap_or(1);
        file.seek(SeekFrom::Start(0)).unwrap();
        write!(file, "{}", count * 13).unwrap();
        println!("{count}");
    }
    show("counter.txt");
}

#[ckpt::instrument]
pub fn locked_standard_output() {
    let stdout = std::io::stdout();
    let mut out = stdout.lock();
    for k in 0..4 {
        ckpt::checkpoint!();
        writeln!(out, "{k}").unwrap();
    }
}

#[ckpt::instrument]
pub fn buffered_standard_output() {
    let stdout = std::io::stdout();
    let mut out = BufWriter::new(stdout.lock());
    for k in 0..4 {
        ckpt::checkpoint!();
        writeln!(out, "{k}").unwrap();
    }
    out.flush().unwrap();
}

#[ckpt::instrument]
pub fn stopwatch() {
    let started = Instant::now() - Duration::from_secs(1000);
    for k in 0..3 {
        ckpt::checkpoint!();
        println!("{k} {}", started.elapsed() >= Duration::from_secs(1000));
    }
}

/// The lock hides the stream that it locks.
#[ckpt::instrument]
pub fn lock_under_the_name_of_its_stream() {
    use std::io::Write;
    let out = std::io::stdout();
    let mut out = out.lock();
    for i in 0..4u64 {
        ckpt::checkpoint!();
        writeln!(out, "line {i}").expect("it is written");
    }
    out.flush().expect("it is written");
}

#[ckpt::instrument(calls(after_the_header))]
pub fn buffer_that_no_one_uses_any_more() {
    after_the_header();
    show("table.txt");
    show("log.txt");
    show("boxed.txt");
}

#[ckpt::instrument]
fn after_the_header() {
    let mut table = BufWriter::new(File::create("table.txt").unwrap());
    write!(table, "a table").unwrap();
    let mut log = LineWriter::new(File::create("log.txt").unwrap());
    write!(log, "a line\nand a part").unwrap();
    #[ckpt(save)]
    let mut outputs = vec![Output {
        table: BufWriter::new(File::create("boxed.txt").unwrap()),
        rows: 0,
    }];
    write!(outputs[0].table, "rows").unwrap();
    for k in 0..3 {
        ckpt::checkpoint!();
        println!("{k}");
    }
}

#[ckpt::instrument]
#[allow(unused_variables)]
pub fn file_that_no_one_reads_and_that_hides_a_number() {
    make_input();
    let mut a = 1;
    {
        a += 1;
        ckpt::checkpoint!();
        println!("{a}");
    }
    let a = File::open("input.txt").ok().map(BufReader::new);
    ckpt::checkpoint!();
    println!("hidden");
    for turn in 0..2 {
        ckpt::checkpoint!();
        println!("{turn}");
    }
    show("input.txt");
}
