//! A part of the journal of files, of any bytes: read or refused, and what is read stands for what was there.

#![no_main]

libfuzzer_sys::fuzz_target!(
    init: fuzz::begin_with(&ckpt::fuzzing::written()),
    |bytes: &[u8]| fuzz::PART.with(|part| part.any(bytes).expect("the file can be used"))
);
