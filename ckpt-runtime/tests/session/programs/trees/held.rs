//! Files that are held open while their names, folders and permissions change.

use std::ffi::CString;
use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use super::saw;

fn append(path: impl AsRef<Path>) -> io::Result<File> {
    File::options().append(true).create(true).open(path)
}

pub fn start(kind: &str) -> io::Result<Vec<File>> {
    let first = match kind {
        "turned" | "current" | "dangling" => {
            fs::create_dir("d")?;
            append("d/log")?
        }
        "inside" => {
            fs::create_dir("d")?;
            std::env::set_current_dir("d")?;
            append("log")?
        }
        "failed" => return Ok(Vec::new()),
        "archived" => {
            let log = append("log")?;
            fs::create_dir("archive")?;
            fs::hard_link("log", "archive/log-0")?;
            log
        }
        "becomes" => append("d")?,
        _ => append("log")?,
    };
    match kind {
        // Handles of their own, and one that stands elsewhere.
        "turned" | "becomes" => Ok(vec![first, append("other")?, reads(kind)?]),
        _ => Ok(vec![first]),
    }
}

/// The same file as the first, held once more.
fn reads(kind: &str) -> io::Result<File> {
    match kind {
        "turned" => File::options().write(true).open("d/log"),
        _ => File::open("d"),
    }
}

/// Sees how long a file is, where there is one.
fn length(path: &str) -> i64 {
    fs::metadata(path).map_or(-1, |found| if found.is_file() { found.len() as i64 } else { -2 })
}

fn mode(path: &str, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, Permissions::from_mode(mode))
}

pub fn advance(kind: &str, step: u64, held: &mut Vec<File>) -> io::Result<()> {
    for file in held.iter_mut() {
        // One of them may be for reading.
        let _ = writeln!(file, "line of step {step}");
    }
    match kind {
        // The folder takes another name, and a link its place.
        "turned" => {
            match step {
                3 | 7 => {
                    fs::rename("d", "d2")?;
                    symlink("d2", "d")?;
                }
                5 => {
                    fs::remove_file("d")?;
                    fs::rename("d2", "d")?;
                }
                _ => {}
            }
            fs::write(format!("d/part-{step}"), "a part")?;
            writeln!(held[0], "once more")?;
            saw(&length("d/log"))
        }
        // Another folder's file is behind the link that takes its place.
        "current" => {
            match step {
                3 => {
                    fs::rename("d", "run-1")?;
                    fs::create_dir("run-2")?;
                    fs::write("run-2/log", "of the second run\n".repeat(20))?;
                    symlink("run-2", "d")?;
                }
                6 => {
                    fs::create_dir("run-3")?;
                    held[0] = append("run-3/log")?;
                    symlink("run-3", "next")?;
                    fs::rename("next", "d")?;
                }
                _ => {}
            }
            writeln!(held[0], "once more")?;
            saw(&length("d/log"))
        }
        // The working folder is that folder.
        "inside" => {
            match step {
                3 | 7 => {
                    fs::rename("../d", "../d2")?;
                    symlink("d2", "../d")?;
                }
                5 => {
                    fs::remove_file("../d")?;
                    fs::rename("../d2", "../d")?;
                }
                _ => {}
            }
            fs::write("newest", format!("{step}"))?;
            let here = std::env::current_dir()?;
            let mut seen = append("../seen.txt")?;
            writeln!(seen, "{} {}", here.file_name().unwrap().display(), length("log"))
        }
        // What is asked for cannot be done, and leaves everything as it is.
        "failed" => {
            match step {
                1 => {
                    fs::create_dir("d")?;
                    fs::write("d/x", "x")?;
                    fs::write("f", "a file")?;
                }
                3 | 6 => {
                    symlink("d", "e")?;
                    assert!(fs::rename("d", "e").is_err());
                    assert!(fs::rename("d", "f").is_err());
                    assert!(fs::rename("d", "d/deep").is_err());
                    assert!(fs::rename("f", "d").is_err());
                    assert!(fs::create_dir("e").is_err() && symlink("d", "e").is_err());
                    assert!(fs::remove_dir("e").is_err() && fs::remove_dir("d").is_err());
                    assert!(fs::hard_link("f", "e").is_err() && fs::hard_link("d", "g").is_err());
                }
                4 => exchange("d", "e")?,
                5 => {
                    exchange("d", "e")?;
                    fs::remove_file("e")?;
                }
                _ => {}
            }
            saw(&format_args!("{} {}", length("e/x"), length("d/x")))
        }
        // A file of two names is written anew, shorter, and loses one of them.
        "names" => {
            match step {
                2 | 6 => fs::hard_link("log", "log.bak")?,
                4 | 8 => {
                    held[0].set_len(0)?;
                    writeln!(held[0], "short")?;
                    fs::remove_file("log.bak")?;
                }
                _ => {}
            }
            saw(&length("log"))
        }
        // What was a file is a folder.
        "becomes" => {
            match step {
                4 | 9 => {
                    held.truncate(2);
                    fs::remove_file("d")?;
                    fs::create_dir("d")?;
                    held[0] = append("d/part-0")?;
                    fs::create_dir("d/deep")?;
                    symlink("deep", "d/link")?;
                    fs::write("d/link/part-1", "deep")?;
                }
                7 => {
                    fs::remove_dir_all("d")?;
                    held[0] = append("d")?;
                }
                _ => {}
            }
            saw(&length("d"))
        }
        // A link that leads nowhere, or where the run has no business, is in the place of the folder.
        "dangling" => {
            let nowhere = |to: &str| {
                fs::remove_dir_all("d")?;
                symlink(to, "d")
            };
            match step {
                4 => {
                    held[0] = append("other")?;
                    nowhere("nowhere")?;
                }
                6 => {
                    fs::remove_file("d")?;
                    fs::create_dir("d")?;
                    held[0] = append("d/log")?;
                }
                8 => {
                    held[0] = append("other")?;
                    nowhere("/proc/nowhere/else")?;
                }
                _ => {}
            }
            saw(&length("d/log"))
        }
        // Its permissions are no longer those with which it was opened.
        "closed" => {
            match step {
                3 => {
                    held.clear();
                    mode("log", 0o444)?;
                }
                5 => {
                    mode("log", 0o600)?;
                    held.push(append("log")?);
                    mode("log", 0o400)?;
                }
                7 => {
                    held[0] = append("next")?;
                    mode("next", 0)?;
                }
                8 => {
                    writeln!(held[0], "more")?;
                    held[0].set_len(5)?;
                    fs::write("other", "of its own")?;
                    mode("other", 0o200)?;
                }
                9 => {
                    fs::rename("next", "last")?;
                    mode("last", 0o400)?;
                    fs::rename("other", "another")?;
                    fs::remove_file("another")?;
                }
                _ => {}
            }
            saw(&length("log"))
        }
        // It gets another name, and loses the first one.
        "linked" => {
            match step {
                3 => {
                    fs::create_dir("results")?;
                    fs::hard_link("log", "results/final")?;
                    fs::remove_file("log")?;
                }
                5 => {
                    fs::hard_link("results/final", "results/last")?;
                    fs::remove_file("results/final")?;
                    fs::rename("results", "done")?;
                }
                7 => held.push(unnamed("done/made")?),
                _ => {}
            }
            for file in held.iter_mut() {
                writeln!(file, "once more")?;
            }
            saw(&fs::exists("done/last")?)
        }
        // Its other name is one from the beginning.
        "archived" => {
            if step == 6 {
                fs::remove_file("log")?;
            }
            saw(&length("archive/log-0"))
        }
        _ => Err(io::Error::other("no such program")),
    }
}

/// A file that is made without a name, and gets its first one.
fn unnamed(name: &str) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = File::options();
    options.read(true).write(true).custom_flags(libc::O_TMPFILE);
    let mut file = options.open(".")?;
    writeln!(file, "without a name")?;
    let open = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    let name = CString::new(name)?;
    let how = libc::AT_SYMLINK_FOLLOW;
    // SAFETY: both are texts with a zero at their end.
    match unsafe { libc::linkat(libc::AT_FDCWD, open.as_ptr(), libc::AT_FDCWD, name.as_ptr(), how) } {
        0 => Ok(file),
        _ => Err(io::Error::last_os_error()),
    }
}

/// What has one name gets the other.
pub fn exchange(one: impl AsRef<Path>, other: impl AsRef<Path>) -> io::Result<()> {
    let [one, other] =
        [one.as_ref(), other.as_ref()].map(|path| CString::new(path.as_os_str().as_bytes()).unwrap());
    let (here, how) = (libc::AT_FDCWD, libc::RENAME_EXCHANGE);
    // SAFETY: both are texts with a zero at their end.
    match unsafe { libc::renameat2(here, one.as_ptr(), here, other.as_ptr(), how) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
