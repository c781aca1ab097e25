//! A loop in the function that the session ends with, and a list there that nothing writes to any more. With `TEST_LOST`, the machine
//! loses a page of a list while the variables of the function are dropped.

use std::hint::black_box;

/// What is dropped last, and then changes its list.
#[derive(ckpt::Checkpoint)]
struct Account(Vec<u64>);

impl Drop for Account {
    fn drop(&mut self) {
        self.0.fill(123_456);
        if std::env::var_os("TEST_LOST").is_some() {
            lose(&self.0);
        }
        println!("{}", black_box(&self.0).iter().sum::<u64>());
    }
}

/// Has the machine lose a page in the middle of a list.
fn lose(list: &[u64]) {
    const PAGE: usize = 1 << 12;
    /// What the system fills in for memory that is lost and that the program has asked for.
    #[repr(C)]
    struct Told {
        codes: [libc::c_int; 4],
        address: usize,
        size: i16,
        rest: [u8; 102],
    }
    let told = Told {
        codes: [libc::SIGBUS, 0, 4, 0],
        address: (list.as_ptr().addr() + list.len() * 4) & !(PAGE - 1),
        size: 12,
        rest: [0; 102],
    };
    // SAFETY: the process sends itself a signal, and the system reads as many bytes as that has.
    unsafe {
        let (process, thread) = (libc::getpid(), libc::gettid());
        libc::syscall(
            libc::SYS_rt_tgsigqueueinfo,
            process,
            thread,
            libc::SIGBUS,
            &raw const told,
        );
    }
}

#[ckpt::main]
fn main() {
    let account = Account((0..1 << 18).map(|at| at % 7).collect());
    let mut matrix: Vec<u64> = vec![0; 1 << 18];
    for (at, cell) in (0..).zip(&mut matrix) {
        *cell = at * at % 83;
    }
    let mut sum = 0_u64;
    for step in 1..=20_u64 {
        ckpt::checkpoint!();
        sum = black_box(&matrix)
            .iter()
            .fold(sum, |sum, one| sum.wrapping_mul(31).wrapping_add(*one));
        println!("{step} {sum}");
    }
    println!("{} {}", matrix.iter().sum::<u64>(), account.0.len());
}
