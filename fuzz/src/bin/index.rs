//! The index of a checkpoint file.

#![no_main]

libfuzzer_sys::fuzz_target!(
    init: fuzz::begin_with(fuzz::index_in(&fuzz::Folder::new().1)),
    |bytes: &[u8]| ckpt::fuzzing::index(bytes)
);
