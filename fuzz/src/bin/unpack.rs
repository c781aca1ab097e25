//! A pack, whoever has made it: nothing is written outside of the folder that is unpacked in.

#![no_main]

use fuzz::packs::{Ground, written};

thread_local! {
    static GROUND: Ground = {
        let ground = Ground::new();
        assert!(ground.unpack(&written()), "what is written can be unpacked");
        ground
    };
}

libfuzzer_sys::fuzz_target!(
    init: fuzz::begin_with(&written()),
    |bytes: &[u8]| GROUND.with(|ground| ground.any(bytes))
);
