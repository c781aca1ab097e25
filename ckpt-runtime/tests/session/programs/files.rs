//! A loop that holds files open in every way.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, LineWriter, Lines, Read, Seek, SeekFrom, Write};

use ckpt::__rt::{Frame, FunctionPlan, MainSession, open};
use ckpt::Checkpoint;

use super::{MAIN, PROGRAM, checkpoint_at, plan, variable};

static PLAN: FunctionPlan = plan("main", 1, MAIN, &[checkpoint_at(10, &[variable("state", 5)])]);

type Files = (
    u64,
    File,
    File,
    BufWriter<File>,
    LineWriter<File>,
    BufReader<File>,
    Lines<BufReader<File>>,
    File,
    (BufWriter<File>, File),
);

pub const STEPS: u64 = 9;

fn start() -> io::Result<Files> {
    let twin = File::create("twin.txt")?;
    Ok((
        0,
        File::create("plain.txt")?,
        File::options().append(true).create(true).open("append.txt")?,
        BufWriter::with_capacity(20, File::create_new("buffered.txt")?),
        LineWriter::new(File::create("lines.txt")?),
        BufReader::new(File::open("input.txt")?),
        BufReader::with_capacity(7, File::open("input.txt")?).lines(),
        File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open("counter.txt")?,
        (BufWriter::new(twin.try_clone()?), twin),
    ))
}

/// One step of what the program does; what it read goes into what it writes.
fn advance(files: &mut Files) -> io::Result<()> {
    let (step, plain, append, buffered, lines, reader, rows, counter, (twin, other)) = files;
    *step += 1;
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let row = rows.next().transpose()?.unwrap_or_default();
    writeln!(plain, "{step} {} {row}", line.trim())?;
    writeln!(append, "step {step}")?;
    write!(buffered, "{row}{}", "x".repeat(*step as usize))?;
    write!(lines, "{step} and{}", if *step % 2 == 0 { "\n" } else { " " })?;
    let mut count = String::new();
    counter.rewind()?;
    counter.read_to_string(&mut count)?;
    let count: u64 = count.parse().unwrap_or(1);
    counter.seek(SeekFrom::Start(0))?;
    write!(counter, "{}", count * 7 % 1000)?;
    write!(twin, "twin {step} ")?;
    twin.flush()?;
    other.write_all(b"other\n")
}

pub fn main() -> io::Result<()> {
    let session: MainSession = open(PROGRAM);
    let mut frame = Frame::enter(&PLAN);
    let mut files: Files = if frame.runs() {
        start()?
    } else {
        frame.restore("state")
    };
    while frame.enters(1, 1) || files.0 < STEPS {
        if frame.runs() {
            advance(&mut files)?;
        }
        if frame.due(1) {
            frame.checkpoint(1, &|r| r.save("state", &files));
        }
    }
    drop(frame);
    drop(session);
    Ok(())
}

/// A file that no restart could open again.
pub fn held(what: &str) -> io::Result<()> {
    match what {
        "pipe" => hold(&File::from(std::os::fd::OwnedFd::from(io::pipe()?.0))),
        "deleted" => {
            let file = File::create("gone.txt")?;
            std::fs::remove_file("gone.txt")?;
            hold(&file)
        }
        "moved" => {
            let file = File::create("old.txt")?;
            std::fs::rename("old.txt", "new.txt")?;
            hold(&file)
        }
        "stdin" => hold(&io::stdin()),
        "null" => hold(&(File::create("/dev/null")?, File::open("/dev/urandom")?)),
        _ => hold(&()),
    }
}

/// Holds it across a site.
fn hold<T: Checkpoint>(value: &T) -> io::Result<()> {
    let _session = open(PROGRAM);
    let mut frame = Frame::enter(&PLAN);
    if frame.due(1) {
        frame.checkpoint(1, &|r| r.save("state", value));
    }
    Ok(())
}

/// What `cargo ckpt` does before it starts a program once more from its beginning.
pub fn undo_start() -> Result<(), String> {
    let store = std::env::var("CKPT_DIR").map_err(|error| error.to_string())?;
    let run = std::env::var("TEST_RUN").map_err(|error| error.to_string())?;
    let run = run
        .parse()
        .map_err(|_| format!("`{run}` is the identity of no run"))?;
    let undone = ckpt::session::undo_start(std::path::Path::new(&store), run, 1, false, None);
    match undone.map_err(|error| error.to_string())? {
        true => Ok(()),
        false => Err("there was nothing to undo".into()),
    }
}
