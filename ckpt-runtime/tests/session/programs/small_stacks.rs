//! A program whose threads have small stacks and change files.

use std::fs;

use ckpt::__rt::{Frame, FunctionPlan, open};

use super::{MAIN, PROGRAM, STEPS, checkpoint_at, plan, variable};

static PLAN: FunctionPlan = plan("main", 1, MAIN, &[checkpoint_at(10, &[variable("step", 5)])]);

/// The smallest stack that a thread may have, in bytes.
const STACK: usize = 16 << 10;

/// Changes files, with little stack of its own.
fn work() {
    let how = libc::O_WRONLY | libc::O_CREAT | libc::O_APPEND;
    // SAFETY: plain calls of the C library; the texts end with a zero.
    unsafe {
        let file = libc::open(c"out.txt".as_ptr(), how, 0o644);
        libc::write(file, c"line\n".as_ptr().cast(), 5);
        libc::pwrite(file, c"first".as_ptr().cast(), 5, 0);
        libc::close(file);
        libc::mkdir(c"folder".as_ptr(), 0o755);
        let file = libc::open(c"folder/in.txt".as_ptr(), how, 0o644);
        libc::write(file, c"line\n".as_ptr().cast(), 5);
        libc::close(file);
        libc::rename(c"folder".as_ptr(), c"other".as_ptr());
        libc::chmod(c"other/in.txt".as_ptr(), 0o600);
        libc::truncate(c"other/in.txt".as_ptr(), 2);
        libc::unlink(c"other/in.txt".as_ptr());
        libc::rmdir(c"other".as_ptr());
    }
}

pub fn main() {
    let __session = open(PROGRAM);
    let mut __ckpt = Frame::enter(&PLAN);
    let mut step: u64 = if __ckpt.runs() { 0 } else { __ckpt.restore("step") };
    while __ckpt.enters(1, 1) || step < STEPS {
        if __ckpt.runs() {
            step += 1;
            let thread = std::thread::Builder::new().stack_size(STACK);
            thread.spawn(work).unwrap().join().unwrap();
        }
        if __ckpt.due(1) {
            __ckpt.checkpoint(1, &|r| r.save("step", &step));
        }
    }
    println!("{}", fs::read_to_string("out.txt").unwrap().len());
}
