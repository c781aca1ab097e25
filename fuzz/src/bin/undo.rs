//! What a journal of files says of paths, whoever has written it: nothing is changed outside of the run's folder.

#![no_main]

use ckpt::fuzzing::Ground;

thread_local! {
    static GROUND: (tempfile::TempDir, Ground) = {
        let folder = fuzz::scratch();
        let ground = Ground::new(folder.path()).expect("it is an empty folder");
        (folder, ground)
    };
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    GROUND.with(|(_, ground)| ground.undo(bytes).expect("the folders can be used"))
});
