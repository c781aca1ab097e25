//! A loop that writes to files in the folder that TEST_OUTSIDE names: one that it holds open, one that it closes again; with
//! TEST_PROGRAMS also such as can be executed, made in every way.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use ckpt::__rt::{Frame, FunctionPlan, MainSession, open};

use super::{MAIN, PROGRAM, STEPS, checkpoint_at, plan, variable};

static PLAN: FunctionPlan = plan("main", 1, MAIN, &[checkpoint_at(10, &[variable("state", 5)])]);

fn folder() -> PathBuf {
    std::env::var_os("TEST_OUTSIDE").unwrap_or_default().into()
}

/// Makes each of these in a folder of the step.
fn make_programs(folder: &Path, step: u64) -> io::Result<()> {
    let executable = || Permissions::from_mode(0o755);
    let folder = folder.join(format!("step{step}"));
    fs::create_dir(&folder)?;
    let new = |name: &str| folder.join(name);
    fs::write(new("changed"), format!("{step}"))?;
    fs::set_permissions(new("changed"), executable())?;
    let mut opened = OpenOptions::new();
    opened.write(true).create(true).truncate(true).mode(0o755);
    write!(opened.open(new("opened"))?, "{step}")?;
    let held = File::create(new("held"))?;
    held.set_permissions(executable())?;
    fs::copy(new("changed"), new("copied"))?;
    fs::rename(new("held"), new("renamed"))?;
    fs::hard_link(new("opened"), new("linked"))?;
    fs::create_dir(new("making"))?;
    fs::copy(new("opened"), new("making/inside"))?;
    fs::rename(new("making"), new("there"))
}

pub fn main() -> io::Result<()> {
    let holds = std::env::var_os("TEST_HOLDS").is_some();
    if let Some(limit) = std::env::var("TEST_FILE_LIMIT")
        .ok()
        .and_then(|text| text.parse().ok())
    {
        let limit = rustix::process::Rlimit {
            current: Some(limit),
            maximum: None,
        };
        rustix::process::setrlimit(rustix::process::Resource::Fsize, limit)?;
    }
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
            if state.0 == 2 && std::env::var_os("TEST_LARGE").is_some() {
                fs::write(folder().join("large"), [0; 5000])?;
            }
            if std::env::var_os("TEST_PROGRAMS").is_some() {
                make_programs(&folder(), state.0)?;
            }
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
