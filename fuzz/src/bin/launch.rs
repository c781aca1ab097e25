//! What `launch.json` says of how a run was started.

#![no_main]

use fuzz::records::Records;

thread_local! {
    static RECORDS: Records = Records::new();
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| RECORDS.with(|records| records.launch(bytes)));
