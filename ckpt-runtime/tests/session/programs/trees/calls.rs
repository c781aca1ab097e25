//! Every function that changes files or folders, alone between a checkpoint and the restart from it: those of the standard
//! library, and what libraries in C call.

#[path = "calls/histories.rs"]
mod histories;
#[path = "calls/past.rs"]
mod past;

use std::ffi::CString;
use std::fs::{self, File, Permissions};
use std::io::{self, IoSlice, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::Path;

use ckpt::Session;

use super::histories::{Tree, differences, tree};

/// The tree that each of them finds.
pub fn plant(root: &Path) -> io::Result<()> {
    fs::create_dir_all(root.join("folder/deep"))?;
    fs::create_dir(root.join("empty"))?;
    fs::write(root.join("file"), "0123456789")?;
    fs::write(root.join("other"), "abcdefghij")?;
    fs::write(root.join("large"), vec![7; 3_000_000])?;
    fs::write(root.join("folder/inside"), "inside")?;
    fs::write(root.join("folder/deep/inside"), "deep inside")?;
    symlink("file", root.join("link"))?;
    symlink("folder", root.join("link-to-folder"))
}

pub fn writing(path: &Path) -> io::Result<File> {
    File::options().write(true).open(path)
}

pub fn text(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).unwrap_or_default()
}

pub fn done(result: i64) -> io::Result<()> {
    match result {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

pub type Call = (&'static str, fn(&Path) -> io::Result<()>);

const CALLS: &[Call] = &[
    ("create", |root| File::create(root.join("file")).map(drop)),
    ("create, new", |root| File::create(root.join("new")).map(drop)),
    ("create_new", |root| {
        File::create_new(root.join("new"))?.write_all(b"new")
    }),
    ("mkstemp, which chooses the name", |root| {
        let name = text(&root.join("new-XXXXXX")).into_raw();
        // SAFETY: the text has a zero at its end, and belongs to nobody else.
        let file = unsafe { libc::mkstemp(name) };
        done(file.into())?;
        // SAFETY: the number is that of a file that has just been opened; the text is the one from above.
        unsafe { libc::close(file) };
        drop(unsafe { CString::from_raw(name) });
        Ok(())
    }),
    ("mkostemps, with an end", |root| {
        let name = text(&root.join("new-XXXXXX.txt")).into_raw();
        // SAFETY: as above.
        let file = unsafe { libc::mkostemps(name, 4, libc::O_CLOEXEC) };
        done(file.into())?;
        // SAFETY: as above.
        unsafe { libc::close(file) };
        drop(unsafe { CString::from_raw(name) });
        Ok(())
    }),
    ("mkdtemp", |root| {
        let name = text(&root.join("new-XXXXXX")).into_raw();
        // SAFETY: as above.
        let made = unsafe { libc::mkdtemp(name) };
        let is_made = !made.is_null();
        // SAFETY: as above.
        drop(unsafe { CString::from_raw(name) });
        done(i64::from(is_made) - 1)
    }),
    ("aio_write", |root| {
        let file = writing(&root.join("file"))?;
        let bytes = *b"written later";
        // SAFETY: a block of zeros is one that asks for nothing.
        let mut block: libc::aiocb = unsafe { std::mem::zeroed() };
        block.aio_fildes = file.as_raw_fd();
        block.aio_buf = bytes.as_ptr().cast_mut().cast();
        block.aio_nbytes = bytes.len();
        block.aio_offset = 3;
        // SAFETY: the file, the bytes and the block outlive the write, whose end is waited for.
        unsafe {
            done(libc::aio_write(&mut block).into())?;
            done(libc::aio_suspend(&(&raw const block), 1, std::ptr::null()).into())?;
            done(libc::aio_return(&mut block) as i64)
        }
    }),
    ("lio_listio", |root| {
        let file = writing(&root.join("other"))?;
        let bytes = *b"of a list";
        // SAFETY: as above.
        let mut block: libc::aiocb = unsafe { std::mem::zeroed() };
        block.aio_fildes = file.as_raw_fd();
        block.aio_lio_opcode = libc::LIO_WRITE;
        block.aio_buf = bytes.as_ptr().cast_mut().cast();
        block.aio_nbytes = bytes.len();
        let blocks = [&raw mut block];
        // SAFETY: as above: this waits for all of them.
        unsafe { done(libc::lio_listio(libc::LIO_WAIT, blocks.as_ptr(), 1, std::ptr::null_mut()).into()) }
    }),
    ("create through a link", |root| {
        File::create(root.join("link")).map(drop)
    }),
    ("create in a folder that is a link", |root| {
        File::create(root.join("link-to-folder/new")).map(drop)
    }),
    ("create with a mode", |root| {
        let mut options = File::options();
        options
            .write(true)
            .create(true)
            .mode(0o400)
            .open(root.join("new"))
            .map(drop)
    }),
    ("write", |root| fs::write(root.join("file"), "short")),
    ("write a large one", |root| fs::write(root.join("large"), "short")),
    ("append", |root| {
        File::options()
            .append(true)
            .open(root.join("file"))?
            .write_all(b"more")
    }),
    ("write in the middle", |root| {
        writing(&root.join("file"))?.write_all(b"xyz")
    }),
    ("write_at", |root| {
        writing(&root.join("large"))?.write_all_at(b"xyz", 1_500_000)
    }),
    ("write_vectored", |root| {
        let parts = [IoSlice::new(b"xy"), IoSlice::new(b"z")];
        writing(&root.join("file"))?.write_vectored(&parts).map(drop)
    }),
    ("set_len", |root| writing(&root.join("large"))?.set_len(10)),
    ("set_len, longer", |root| {
        writing(&root.join("file"))?.set_len(100)
    }),
    ("truncated", |root| {
        let mut options = File::options();
        options
            .write(true)
            .truncate(true)
            .open(root.join("file"))
            .map(drop)
    }),
    ("copy", |root| {
        fs::copy(root.join("large"), root.join("file")).map(drop)
    }),
    ("copy, new", |root| {
        fs::copy(root.join("large"), root.join("new")).map(drop)
    }),
    ("io::copy", |root| {
        io::copy(
            &mut File::open(root.join("other"))?,
            &mut writing(&root.join("file"))?,
        )
        .map(drop)
    }),
    ("io::copy to append", |root| {
        let mut to = File::options().append(true).open(root.join("file"))?;
        io::copy(&mut File::open(root.join("other"))?, &mut to).map(drop)
    }),
    ("io::copy from a pipe", |root| {
        let (reader, mut writer) = io::pipe()?;
        writer.write_all(b"piped")?;
        drop(writer);
        let mut reader = File::from(std::os::fd::OwnedFd::from(reader));
        io::copy(&mut reader, &mut writing(&root.join("file"))?).map(drop)
    }),
    ("through a clone", |root| {
        let file = writing(&root.join("file"))?;
        file.try_clone()?.write_all(b"xyz")
    }),
    ("rename", |root| fs::rename(root.join("file"), root.join("new"))),
    ("rename over another", |root| {
        fs::rename(root.join("file"), root.join("large"))
    }),
    ("rename a large one and write it", |root| {
        fs::rename(root.join("large"), root.join("new"))?;
        writing(&root.join("new"))?.write_all(b"xyz")
    }),
    ("rename a folder", |root| {
        fs::rename(root.join("folder"), root.join("new"))
    }),
    ("rename a folder over another", |root| {
        fs::rename(root.join("folder"), root.join("empty"))
    }),
    ("rename a folder and write in it", |root| {
        fs::rename(root.join("folder"), root.join("new"))?;
        fs::write(root.join("new/deep/inside"), "other")?;
        fs::create_dir(root.join("folder"))?;
        fs::write(root.join("folder/inside"), "again")
    }),
    ("hard_link", |root| {
        fs::hard_link(root.join("file"), root.join("new"))
    }),
    ("hard_link and write", |root| {
        fs::hard_link(root.join("file"), root.join("new"))?;
        writing(&root.join("new"))?.write_all(b"xyz")
    }),
    ("symlink", |root| symlink("anywhere", root.join("new"))),
    ("remove_file", |root| fs::remove_file(root.join("file"))),
    ("remove_file, large", |root| fs::remove_file(root.join("large"))),
    ("remove_file and write through a handle", |root| {
        let mut file = writing(&root.join("large"))?;
        fs::remove_file(root.join("large"))?;
        file.write_all(b"gone")
    }),
    ("remove_file, a link", |root| fs::remove_file(root.join("link"))),
    ("remove_dir", |root| fs::remove_dir(root.join("empty"))),
    ("remove_dir_all", |root| fs::remove_dir_all(root.join("folder"))),
    ("remove_dir_all and a file in its place", |root| {
        fs::remove_dir_all(root.join("folder"))?;
        fs::write(root.join("folder"), "a file")
    }),
    ("a folder in the place of a file", |root| {
        fs::remove_file(root.join("file"))?;
        fs::create_dir(root.join("file"))?;
        fs::write(root.join("file/inside"), "inside")
    }),
    ("create_dir", |root| fs::create_dir(root.join("new"))),
    ("create_dir_all", |root| {
        fs::create_dir_all(root.join("new/deep/deeper"))
    }),
    ("DirBuilder", |root| {
        fs::DirBuilder::new().mode(0o700).create(root.join("new"))
    }),
    ("set_permissions", |root| {
        fs::set_permissions(root.join("file"), Permissions::from_mode(0o400))
    }),
    ("set_permissions of a folder", |root| {
        fs::set_permissions(root.join("folder"), Permissions::from_mode(0o700))
    }),
    ("File::set_permissions", |root| {
        File::open(root.join("file"))?.set_permissions(Permissions::from_mode(0o600))
    }),
    ("truncate(2)", |root| {
        let path = text(&root.join("file"));
        // SAFETY: the path is a text with a zero at its end.
        done(unsafe { libc::truncate(path.as_ptr(), 3) }.into())
    }),
    ("fallocate(2), a hole", |root| {
        let file = writing(&root.join("large"))?;
        let hole = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        // SAFETY: it takes numbers.
        done(unsafe { libc::fallocate(file.as_raw_fd(), hole, 4096, 1 << 20) }.into())
    }),
    ("posix_fallocate(3)", |root| {
        let file = writing(&root.join("file"))?;
        // SAFETY: it takes numbers.
        done(unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, 5000) }.into())
    }),
    ("renameat2(2), exchanged", |root| {
        let (a, b) = (text(&root.join("file")), text(&root.join("folder")));
        // SAFETY: the paths are texts with a zero at their end.
        done(i64::from(unsafe {
            libc::renameat2(
                libc::AT_FDCWD,
                a.as_ptr(),
                libc::AT_FDCWD,
                b.as_ptr(),
                libc::RENAME_EXCHANGE,
            )
        }))
    }),
    ("fopen(3)", |root| {
        let path = text(&root.join("file"));
        // SAFETY: texts with zeros at their ends; the stream is open when it is written and closed.
        unsafe {
            let stream = libc::fopen(path.as_ptr(), c"r+".as_ptr());
            if stream.is_null() {
                return Err(io::Error::last_os_error());
            }
            libc::fputs(c"from C".as_ptr(), stream);
            done(libc::fclose(stream).into())
        }
    }),
    ("mmap(2)", |root| {
        let file = File::options().read(true).write(true).open(root.join("file"))?;
        // SAFETY: the mapping is as long as the file, and written to while it is there.
        unsafe {
            let rights = libc::PROT_READ | libc::PROT_WRITE;
            let at = libc::mmap(
                std::ptr::null_mut(),
                10,
                rights,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            );
            if at == libc::MAP_FAILED {
                return Err(io::Error::last_os_error());
            }
            at.cast::<[u8; 3]>().write(*b"map");
            done(libc::munmap(at, 10).into())
        }
    }),
];

pub fn main() -> Result<(), String> {
    let all = CALLS.iter().chain(past::CALLS);
    let mut wrong = 0;
    let mut look = |came_back: Result<(), String>| {
        if let Err(what) = came_back {
            // At once: the next one may end the process.
            eprintln!("{what}");
            wrong += 1;
        }
    };
    for (name, history) in histories::ALL {
        look(comes_back(name, &mut { *history }));
    }
    for (name, call) in all.clone() {
        look(comes_back(name, &mut |root, checkpoint| {
            checkpoint()?;
            call(root)
        }));
    }
    println!("{} calls", all.count());
    match wrong {
        0 => Ok(()),
        _ => Err(format!("{wrong} did not come back")),
    }
}

/// Names of files in memory that a call makes begin so, behind what the C library puts before them.
pub fn in_memory(name: &str) -> String {
    format!("ckpt-calls-{}-{name}", std::process::id())
}

/// Everything below a folder, and what has been made in memory.
fn everything(root: &Path) -> Tree {
    let mut all = tree(root);
    for entry in fs::read_dir("/dev/shm").unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap_or_default();
        if name.trim_start_matches("sem.").starts_with(&in_memory("")) {
            let bytes = fs::read(entry.path()).unwrap();
            all.insert(entry.path(), (0, "file in memory".to_owned(), bytes));
        }
    }
    all
}

/// What is done between checkpoints: the last of them is gone back to.
type History<'a> = &'a mut dyn FnMut(&Path, Checkpoint<'_>) -> io::Result<()>;
pub type Checkpoint<'a> = &'a mut dyn FnMut() -> io::Result<()>;

/// Whether everything is what it was at the last checkpoint of a history after a restart from there.
fn comes_back(name: &str, history: History<'_>) -> Result<(), String> {
    let text = |error: &dyn std::fmt::Display| format!("{name}: {error}");
    // SAFETY: nothing else runs in this process that reads the environment.
    let set = |name: &str, value: &str| unsafe { std::env::set_var(name, value) };
    set("CKPT_EVERY", "1");
    set("CKPT_QUIET", "1");
    set("CKPT_BACKGROUND", "0");
    let top = tempfile::tempdir_in("/dev/shm").map_err(|error| text(&error))?;
    let root = top.path().join("root");
    set("CKPT_DIR", &top.path().join("store").to_string_lossy());
    // SAFETY: as above.
    unsafe { std::env::remove_var("CKPT_RESTART") };
    plant(&root).map_err(|error| text(&error))?;
    let mut session = Session::open("calls").map_err(|error| text(&error))?;
    let (mut before, mut taken) = (Tree::new(), 0);
    let mut checkpoint = || {
        let saved = session.save_if_due(|to| to.save("nothing", &0));
        saved.map_err(io::Error::other)?;
        before = everything(&root);
        taken += 1;
        Ok(())
    };
    history(&root, &mut checkpoint).map_err(|error| text(&error))?;
    let changed = everything(&root);
    if changed == before && !name.contains("hole") {
        return Err(format!("{name} changes nothing"));
    }
    drop(session);
    set("CKPT_RESTART", &taken.to_string());
    let mut session = Session::open("calls").map_err(|error| text(&error))?;
    session.restore::<i32>("nothing").map_err(|error| text(&error))?;
    drop(session);
    let now = everything(&root);
    for path in now
        .keys()
        .chain(changed.keys())
        .filter(|path| !path.starts_with(&root))
    {
        let _ = fs::remove_file(path);
    }
    match now == before {
        true => Ok(()),
        false => Err(format!("{name}: {}", differences(&now, &before).join("; "))),
    }
}
