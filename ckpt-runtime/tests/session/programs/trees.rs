//! A loop that looks at its files and folders, and goes on by what it finds.

pub mod calls;
mod held;
pub mod histories;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};

use ckpt::__rt::{Frame, FunctionPlan, MainSession, open};

use super::{MAIN, PROGRAM, STEPS, checkpoint_at, plan, variable};

static PLAN: FunctionPlan = plan("main", 1, MAIN, &[checkpoint_at(10, &[variable("state", 5)])]);

/// The step, and files that are held across the site.
type State = (u64, Vec<File>);

/// Where a file in memory is, for the folder that the program runs in: a number, which is no part of what messages say.
pub fn in_memory(folder: &Path) -> PathBuf {
    let name = folder.file_name().unwrap().to_string_lossy();
    let number = name.bytes().fold(14_695_981_039_346_656_037_u64, |number, byte| {
        (number ^ u64::from(byte)).wrapping_mul(1_099_511_628_211)
    });
    Path::new("/dev/shm").join(format!("ckpt-{number}"))
}

fn both() -> OpenOptions {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    options
}

fn start(kind: &str) -> io::Result<State> {
    let held = match kind {
        "shortened" | "middle" => vec![both().open("held.txt")?],
        "rotated" => vec![File::options().append(true).create(true).open("log")?],
        kind if kind.starts_with("held-") => held::start(&kind[5..])?,
        _ => Vec::new(),
    };
    Ok((0, held))
}

/// Writes down what the program has seen.
fn saw(what: &dyn std::fmt::Display) -> io::Result<()> {
    let mut file = File::options().append(true).create(true).open("seen.txt")?;
    writeln!(file, "{what}")
}

/// How many files and folders there are, but for the store.
fn count() -> io::Result<usize> {
    let mut names = fs::read_dir(".")?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    Ok(names.by_ref().filter(|name| !name.ends_with(".ckpt.d")).count())
}

fn advance(kind: &str, (step, held): &mut State) -> io::Result<()> {
    *step += 1;
    let step = *step;
    match kind {
        "names" => {
            let name = |k: u64| format!("part-{k}.txt");
            let free = (0..).find(|k| !Path::new(&name(*k)).exists());
            fs::write(name(free.unwrap_or(0)), format!("step {step}"))?;
            saw(&free.unwrap_or(0))
        }
        "count" => {
            fs::create_dir_all("parts")?;
            let count = fs::read_dir("parts")?.count();
            fs::write(format!("parts/{count}"), format!("{step}"))?;
            if step.is_multiple_of(3) {
                fs::create_dir(format!("parts/folder-{count}"))?;
            }
            saw(&count)
        }
        "memory" => {
            let path = in_memory(&std::env::current_dir()?);
            let text = fs::read_to_string(&path).unwrap_or_default();
            fs::write(&path, format!("{text}{step} "))?;
            saw(&text)
        }
        "shortened" => {
            let file = &mut held[0];
            let mut text = String::new();
            file.rewind()?;
            file.read_to_string(&mut text)?;
            saw(&text)?;
            if step.is_multiple_of(2) {
                file.set_len(0)?;
            }
            file.rewind()?;
            write!(file, "{}", "x".repeat((20 - 2 * step) as usize))
        }
        "middle" => {
            let file = &mut held[0];
            if step == 1 {
                file.write_all(&vec![b'.'; 3_000_000])?;
            }
            file.seek(SeekFrom::Start(step * 300_000))?;
            write!(file, "<{step}>")?;
            file.write_all_at(format!("[{step}]").as_bytes(), step * 7)?;
            let mut start = [0; 80];
            file.read_exact_at(&mut start, 0)?;
            saw(&String::from_utf8_lossy(&start))
        }
        "rotated" => {
            writeln!(held[0], "line of step {step}")?;
            if step.is_multiple_of(3) {
                let _ = fs::rename("log.1", "log.2");
                fs::rename("log", "log.1")?;
                writeln!(held[0], "after its name")?;
                held[0] = File::options().append(true).create(true).open("log")?;
            }
            saw(&count()?)
        }
        "folders" => {
            let name = format!("run-{}", step / 3);
            if step.is_multiple_of(3) {
                fs::create_dir(&name)?;
                fs::create_dir_all(format!("{name}/deep/deeper"))?;
                symlink("deep/deeper", format!("{name}/link"))?;
            }
            if let Ok(true) = fs::exists(&name) {
                fs::write(format!("{name}/link/{step}"), "deep")?;
                fs::hard_link(format!("{name}/deep/deeper/{step}"), format!("{name}/{step}"))?;
                fs::set_permissions(format!("{name}/{step}"), fs::Permissions::from_mode(0o600))?;
            }
            if step % 3 == 1 && step > 3 {
                fs::rename(&name, "last")?;
                fs::rename("last", &name)?;
                fs::remove_dir_all(format!("run-{}", step / 3 - 1)).or_else(|error| match error.kind() {
                    io::ErrorKind::NotFound => Ok(()),
                    _ => Err(error),
                })?;
            }
            saw(&count()?)
        }
        // A fork of the process writes a file of its own, and a folder takes another name as soon as there is a file in it.
        "forks" => {
            fs::create_dir("next")?;
            fs::write("next/part", format!("{step}"))?;
            fs::rename("next", format!("part-{step}"))?;
            let mut child = std::process::Command::new("true");
            // SAFETY: what the fork does needs no lock of another thread but those of the allocator, which knows of forks.
            unsafe { child.pre_exec(|| fs::write("of-a-fork", "its own")) };
            child.status()?;
            saw(&count()?)
        }
        // A large file takes the place of another.
        "large" => {
            fs::write(format!("large-{step}"), format!("{step}").repeat(1_100_000))?;
            if step > 1 {
                fs::remove_file(format!("large-{}", step - 1))?;
            }
            saw(&count()?)
        }
        // A file has two names, and is written by one.
        "twice" => {
            if step == 1 {
                fs::write("one", "one\n")?;
                fs::hard_link("one", "two")?;
            }
            let mut two = File::options().append(true).open("two")?;
            writeln!(two, "{step}")?;
            saw(&fs::read_to_string("one")?.len())
        }
        // The file that is standard input is written as well.
        "input" | "input-replaced" => {
            let text = fs::read_to_string("input.txt")?;
            saw(&text.len())?;
            match kind {
                "input" => write!(File::options().append(true).open("input.txt")?, "{step}")?,
                _ => {
                    fs::write("next", format!("{text}{step}"))?;
                    fs::rename("next", "input.txt")?;
                }
            }
            let mut byte = [0];
            let read = io::stdin().lock().read(&mut byte)?;
            saw(&format_args!("{:?}", &byte[..read]))
        }
        // A folder takes another name, or is removed.
        "moves" | "moves-back" | "removes" => {
            let folder = |name: &str| PathBuf::from(std::env::var_os(name).unwrap_or_default());
            let (from, to) = (folder("TEST_FROM"), folder("TEST_TO"));
            if step == 1 {
                fs::write(from.join("data.txt"), "data")?;
            }
            if step == 5 {
                match kind {
                    "removes" => fs::remove_dir_all(&from)?,
                    _ => fs::rename(&from, &to)?,
                }
                if kind == "moves-back" {
                    fs::rename(&to, &from)?;
                }
            }
            saw(&to.exists())
        }
        // Results that are complete are closed to all who would change them.
        "closed" => {
            let modes = |folder: u32, deep: u32| {
                fs::set_permissions("results", fs::Permissions::from_mode(folder))?;
                fs::set_permissions("results/deep", fs::Permissions::from_mode(deep))
            };
            if step == 1 {
                fs::create_dir_all("results/deep")?;
                fs::write("results/deep/old", "old")?;
            } else {
                fs::set_permissions("results", fs::Permissions::from_mode(0o755))?;
                modes(0o755, 0o755)?;
                fs::set_permissions("results/deep/newest", fs::Permissions::from_mode(0o644))?;
            }
            fs::write(format!("results/{step}"), "a result")?;
            fs::write("results/deep/newest", format!("{step}"))?;
            if step == 5 {
                fs::remove_file("results/deep/old")?;
            }
            fs::set_permissions("results/deep/newest", fs::Permissions::from_mode(0o444))?;
            let seen = fs::read_dir("results")?.count() + fs::read_dir("results/deep")?.count();
            fs::set_permissions("results/deep", fs::Permissions::from_mode(0o500))?;
            fs::set_permissions(
                "results",
                fs::Permissions::from_mode([0o555, 0][step as usize % 2]),
            )?;
            saw(&seen)
        }
        // The program gets to its files from the folder that it is in, and not by the whole path.
        "unreachable" | "too-long" => {
            let home = std::env::current_dir()?;
            if kind == "unreachable" {
                if step > 1 {
                    fs::set_permissions("closed", fs::Permissions::from_mode(0o755))?;
                }
                fs::create_dir_all("closed/work")?;
                std::env::set_current_dir("closed/work")?;
                fs::set_permissions(
                    "..",
                    fs::Permissions::from_mode(if step < 5 { 0o755 } else { 0o600 }),
                )?;
            } else {
                for _ in 0..if step < 5 { 1 } else { 30 } {
                    let name = "long".repeat(50);
                    fs::create_dir_all(&name)?;
                    std::env::set_current_dir(&name)?;
                }
            }
            if step == 5 {
                fs::write("data.txt", format!("{step}"))?;
            }
            std::env::set_current_dir(home)?;
            saw(&step)
        }
        // Nearly all of the file is one hole.
        "sparse" => {
            const LENGTH: u64 = 1 << 36;
            if step == 1 {
                let file = both().open("sparse")?;
                file.set_len(LENGTH)?;
                file.write_all_at(b"in the middle", LENGTH / 2)?;
            }
            let mut file = both().open("sparse")?;
            let mut text = [0; 20];
            let read = file.read_at(&mut text, LENGTH / 2 - 4)?;
            let found = file.metadata()?;
            let is_small = std::os::unix::fs::MetadataExt::blocks(&found) * 512 < 1 << 25;
            saw(&format_args!("{} {is_small} {:?}", found.len(), &text[..read]))?;
            match step {
                4 => file.write_all_at(&[b'x'; 3000], LENGTH / 2 - 2000)?,
                5 => file.set_len(0)?,
                6 => file.write_all(&vec![b'y'; 3_000_000])?,
                7 => fs::remove_file("sparse")?,
                8 => fs::write("sparse", "short")?,
                // Nobody reads it as a whole.
                STEPS => fs::remove_file("sparse")?,
                _ => {}
            }
            Ok(())
        }
        "linked" => {
            if step == 5 {
                fs::remove_file(in_memory(&std::env::current_dir()?))?;
            }
            saw(&fs::read_dir(".")?.count())
        }
        kind if kind.starts_with("held-") => held::advance(&kind[5..], step, held),
        _ => Err(io::Error::other("no such program")),
    }
}

pub fn main(kind: &str) -> io::Result<()> {
    let session: MainSession = open(PROGRAM);
    let mut frame = Frame::enter(&PLAN);
    let mut state: State = if frame.runs() {
        start(kind)?
    } else {
        frame.restore("state")
    };
    while frame.enters(1, 1) || state.0 < STEPS {
        if frame.runs() {
            advance(kind, &mut state)?;
        }
        if frame.due(1) {
            frame.checkpoint(1, &|r| r.save("state", &state));
        }
    }
    drop(frame);
    drop(session);
    Ok(())
}
