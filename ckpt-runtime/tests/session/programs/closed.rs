//! A loop that opens, changes and closes files in every step.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};

use ckpt::__rt::{Frame, FunctionPlan, MainSession, open};

use super::{MAIN, PROGRAM, STEPS, checkpoint_at, plan, variable};

static PLAN: FunctionPlan = plan("main", 1, MAIN, &[checkpoint_at(10, &[variable("step", 5)])]);

fn append(path: &str, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    writeln!(file, "{text}")
}

/// One step of what the program does.
fn advance(step: u64) -> io::Result<()> {
    append("frames.txt", &format!("step {step}"))?;
    append("old.log", &format!("step {step}"))?;
    if step == 4 {
        // Looks twice, and starts a new one: a log that is rotated.
        append("frames.txt", "half")?;
        append("rotated.txt", "of no use")?;
    }
    if step == 6 {
        File::create("rotated.txt")?;
        append("late.txt", "from step 6")?;
    }
    append("rotated.txt", "line")?;

    // A counter in a file: read, and written anew.
    let count: u64 = fs::read_to_string("counter.txt")?.trim().parse().unwrap_or(0);
    fs::write("counter.txt", (count + 1).to_string())?;

    // The same through a file of another name.
    let state = fs::read_to_string("state.txt").unwrap_or_default();
    fs::write("state.tmp", format!("{state}{step} "))?;
    fs::rename("state.tmp", "state.txt")?;

    // Written at the end without `append`, and in place.
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open("tail.txt")?;
    file.seek(SeekFrom::End(0))?;
    write!(file, "{step},")?;

    // One for each step, which must not be there; two of them stay.
    write!(File::create_new(format!("step-{step}.txt"))?, "{step}")?;
    if step > 2 {
        fs::remove_file(format!("step-{}.txt", step - 2))?;
    }
    Ok(())
}

pub fn main() -> io::Result<()> {
    let session: MainSession = open(PROGRAM);
    let mut frame = Frame::enter(&PLAN);
    let mut step: u64 = if frame.runs() { 0 } else { frame.restore("step") };
    while frame.enters(1, 1) || step < STEPS {
        if frame.runs() {
            step += 1;
            advance(step)?;
        }
        if frame.due(1) {
            frame.checkpoint(1, &|r| r.save("step", &step));
        }
    }
    drop(frame);
    drop(session);
    append("frames.txt", "the end")
}
