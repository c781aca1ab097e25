//! The program that is measured: heat in a rod, updated in place. At one step it finds its state wrong, once, and says when;
//! behind the checkpoint that it comes back to it says when it is there.

use std::env;
use std::ffi::CString;

const STEPS: u64 = 8;
/// The step that goes wrong the first time.
const STRIKES: u64 = 7;

/// Of the machine: the same for the processes that follow each other.
fn now() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call writes to `time` only.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Whether nobody has asked before. The mark is made past the C library: a rollback would take it back otherwise.
fn is_first() -> bool {
    let mark = env::var("BENCH_MARK")
        .ok()
        .and_then(|mark| CString::new(mark).ok());
    let Some(mark) = mark else { return false };
    let flags = libc::O_CREAT | libc::O_EXCL | libc::O_WRONLY;
    // SAFETY: plain system calls with a path that lives until they return.
    unsafe {
        let made = libc::syscall(libc::SYS_openat, libc::AT_FDCWD, mark.as_ptr(), flags, 0o600);
        made >= 0 && libc::syscall(libc::SYS_close, made) == 0
    }
}

fn step(cells: &mut [f64]) {
    for at in 1..cells.len() - 1 {
        cells[at] += 0.25 * (cells[at - 1] - 2.0 * cells[at] + cells[at + 1]);
    }
}

#[ckpt::instrument]
fn relax(cells: &mut Vec<f64>) {
    for turn in 1..=STEPS {
        eprintln!("bench: before {turn} {}", now());
        ckpt::checkpoint!();
        eprintln!("bench: at {turn} {}", now());
        step(cells);
        if turn == STRIKES && is_first() {
            eprintln!("bench: struck {}", now());
            if env::var_os("BENCH_DIES").is_some() {
                // SAFETY: ends this process.
                unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
            }
            let Err(why) = ckpt::rollback("a benchmark wants it");
            eprintln!("bench: {why}");
        }
    }
}

fn started(count: usize) -> Vec<f64> {
    (0..count).map(|at| (at % 1000) as f64).collect()
}

#[ckpt::main(calls(relax))]
fn main() {
    let count: usize = env::var("BENCH_CELLS").map_or(1 << 17, |text| text.parse().unwrap_or(1 << 17));
    let mut cells = started(count);
    // What the end is compared with: nobody looks at it until then.
    let start = match env::var_os("BENCH_KEEPS_START") {
        Some(_) => started(count),
        None => Vec::new(),
    };
    relax(&mut cells);
    let change = start.get(count / 2).map(|start| cells[count / 2] - start);
    println!("{:e} {change:?}", cells[count / 2]);
}
