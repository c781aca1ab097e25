//! Machines of other architectures on this one: how a program is built for them and started on them, and what the tests
//! of travelling programs have in common.
//!
//! `CARGO_CKPT` names the built `cargo-ckpt`; without it, the one in cargo's target folder is taken. `MACHINES`
//! names the machines, `all` for all; unless given, those that continuous integration tries.

mod build;
mod journey;
mod matrix;

pub use build::{Version, another_rustc, program};
pub use journey::{Ended, Journey, TURNS, cargo_ckpt, uninterrupted};
pub use matrix::{PAGE, matrix, table};

/// A kind of machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Machine {
    /// What it is called in the book.
    pub name: &'static str,
    /// Its name for rustc.
    pub target: &'static str,
    /// Its name in the commands of the C compiler, and of the folder with its C library.
    gnu: &'static str,
    /// The command that starts its programs here, an emulator or the loader of its C library; none where the system does.
    starter: Option<&'static str>,
    /// Width of its words.
    pub bits: u32,
    /// Which byte of a number comes first.
    pub order: &'static str,
}

/// The machine that this runs on comes first.
pub const MACHINES: [Machine; 5] = [
    Machine {
        name: "x86-64",
        target: "x86_64-unknown-linux-gnu",
        gnu: "x86_64-linux-gnu",
        starter: None,
        bits: 64,
        order: "little",
    },
    Machine {
        name: "s390x",
        target: "s390x-unknown-linux-gnu",
        gnu: "s390x-linux-gnu",
        starter: Some("qemu-s390x-static -L /usr/s390x-linux-gnu"),
        bits: 64,
        order: "big",
    },
    Machine {
        name: "powerpc",
        target: "powerpc-unknown-linux-gnu",
        gnu: "powerpc-linux-gnu",
        starter: Some("qemu-ppc-static -L /usr/powerpc-linux-gnu"),
        bits: 32,
        order: "big",
    },
    Machine {
        name: "i686",
        target: "i686-unknown-linux-gnu",
        gnu: "i686-linux-gnu",
        // By this processor: the emulator of the same family hangs in programs with several threads.
        starter: Some("/usr/i686-linux-gnu/lib/ld-linux.so.2 --library-path /usr/i686-linux-gnu/lib"),
        bits: 32,
        order: "little",
    },
    Machine {
        name: "aarch64",
        target: "aarch64-unknown-linux-gnu",
        gnu: "aarch64-linux-gnu",
        starter: Some("qemu-aarch64-static -L /usr/aarch64-linux-gnu"),
        bits: 64,
        order: "little",
    },
];

/// The machines that are to be tried.
pub fn machines() -> Vec<Machine> {
    let wanted = std::env::var("MACHINES").unwrap_or_else(|_| "x86-64 s390x powerpc".into());
    if wanted == "all" {
        return MACHINES.to_vec();
    }
    let named = |name: &str| {
        let found = MACHINES.iter().find(|machine| machine.name == name);
        *found.unwrap_or_else(|| {
            panic!("MACHINES names `{name}`; there are: x86-64 s390x powerpc i686 aarch64")
        })
    };
    wanted.split_whitespace().map(named).collect()
}

/// The machine of this name.
pub fn machine(name: &str) -> Machine {
    *MACHINES
        .iter()
        .find(|machine| machine.name == name)
        .expect("it is one of those")
}
