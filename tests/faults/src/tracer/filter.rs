//! The filter that stops a program at the calls that are watched, and at no others.

use std::io;

use super::Kind;
use super::call::{WATCHED, can_be};

/// The program of the filter, made before the fork: nothing is allocated between that and the start of the program.
pub(super) fn filter(hears: impl Fn(Kind) -> bool) -> Vec<libc::sock_filter> {
    let heard = |number: &&i64| can_be(**number).is_none_or(|kinds| kinds.into_iter().any(&hears));
    let watched: Vec<i64> = WATCHED.iter().filter(heard).copied().collect();
    let statement = |code: u32, k: u32| libc::sock_filter {
        code: code as u16,
        jt: 0,
        jf: 0,
        k,
    };
    let mut program = vec![
        // The number of the call is the first field of `seccomp_data`.
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0),
    ];
    let count = watched.len();
    for (at, number) in watched.iter().enumerate() {
        let mut jump = statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, *number as u32);
        // To the last statement, which stops.
        jump.jt = (count - at) as u8;
        program.push(jump);
    }
    program.push(statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW));
    program.push(statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_TRACE));
    program
}

/// Puts the filter on this process, which is about to become the program.
pub(super) fn put_on(filter: &[libc::sock_filter]) -> io::Result<()> {
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_ptr().cast_mut(),
    };
    // SAFETY: `program` and what it points to outlive the calls; the kernel copies and checks it.
    let done = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &program) == 0
    };
    match done {
        true => Ok(()),
        false => Err(io::Error::last_os_error()),
    }
}
