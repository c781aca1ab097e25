//! A loop that writes to files in the folder that TEST_OUTSIDE names: one that it holds open, one that it closes again.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;

use ckpt::__rt::{Frame, FunctionPlan, MainSession, open};

use super::{MAIN, PROGRAM, STEPS, checkpoint_at, plan, variable};

static PLAN: FunctionPlan = plan("main", 1, MAIN, &[checkpoint_at(10, &[variable("state", 5)])]);

fn folder() -> PathBuf {
    std::env::var_os("TEST_OUTSIDE").unwrap_or_default().into()
}

pub fn main() -> io::Result<()> {
    let holds = std::env::var_os("TEST_HOLDS").is_some();
    let session: MainSession = open(PROGRAM);
    let mut frame = Frame::enter(&PLAN);
    let mut state: (u64, Option<File>) = match frame.runs() {
        true if holds => (0, Some(File::create(folder().join("held.txt"))?)),
        true => (0, None),
        false => frame.restore("state"),
    };
    while frame.enters(1, 1) || state.0 < STEPS {
        if frame.runs() {
            state.0 += 1;
            match &mut state.1 {
                Some(held) => writeln!(held, "step {}", state.0)?,
                None => {
                    let closed = folder().join("closed.txt");
                    let mut closed = OpenOptions::new().append(true).create(true).open(closed)?;
                    writeln!(closed, "step {}", state.0)?;
                }
            }
        }
        if frame.due(1) {
            frame.checkpoint(1, &|r| r.save("state", &state));
        }
    }
    drop(frame);
    drop(session);
    Ok(())
}
