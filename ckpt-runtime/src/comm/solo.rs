//! A program without MPI: there is no communicator, so nothing that needs one can be called.

use super::Member;

#[derive(Debug, Clone, Copy)]
pub(super) enum Communicator {}

#[derive(Debug, Clone, Copy)]
pub(super) enum Phase {
    Checkpoint,
    Agree,
    End,
}

pub(super) fn enter(_: Phase) -> u8 {
    0
}

pub(super) fn back(_: u8) {}

pub(super) fn counts() -> [u64; 4] {
    [0; 4]
}

pub(super) fn initialise(_: i32) -> i32 {
    0
}

pub(super) fn most_threads() -> i32 {
    0
}

pub(super) fn place() -> Member {
    Member { rank: 0, size: 1 }
}

pub(super) fn duplicate_world() -> Option<Communicator> {
    None
}

pub(super) fn free(communicator: Communicator) {
    match communicator {}
}

pub(super) fn finalise() {}

pub(super) fn abort(_: i32) {}

pub(super) fn largest(communicator: Communicator, _: &mut [i64]) {
    match communicator {}
}

#[derive(Debug)]
pub(super) struct Reduction(Communicator);

impl Reduction {
    pub fn begin(communicator: Communicator, _: &[i64]) -> Self {
        Reduction(communicator)
    }

    pub fn result(&mut self) -> Option<&[i64]> {
        match self.0 {}
    }
}

#[derive(Debug)]
pub(super) struct Letter(Communicator);

impl Letter {
    pub fn send(communicator: Communicator, _: Vec<u8>) -> Self {
        Letter(communicator)
    }

    pub fn has_arrived(&mut self) -> bool {
        match self.0 {}
    }
}

pub(super) fn next_letter(communicator: Communicator) -> Option<(u32, Vec<u8>)> {
    match communicator {}
}
