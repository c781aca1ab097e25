//! What `job.json` says.

#![no_main]

use ckpt::session::job::Job;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(job) = serde_json::from_slice::<Job>(bytes) else {
        return;
    };
    let again = serde_json::to_vec(&job).expect("it can be written");
    let again: Job = serde_json::from_slice(&again).expect("what is written can be read");
    assert_eq!(again, job);
});
