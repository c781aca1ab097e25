//! A part of the journal of files that was damaged: no record is taken for another, and none is passed over in silence.

#![no_main]

libfuzzer_sys::fuzz_target!(|how: &[u8]| {
    fuzz::PART.with(|part| part.damaged(how).expect("the file can be used"))
});
