//! The page on batch systems says which events a subscriber of `tracing` is told of: here is one.

use std::io::Write;
use std::process::Command;
use std::sync::{Arc, Mutex};

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[ckpt::main]
fn work(steps: u64) -> u64 {
    let mut sum = 0;
    for step in 0..steps {
        ckpt::checkpoint!();
        sum += step;
    }
    sum
}

/// The test starts itself: a session goes by the variables that its process began with.
#[test]
fn a_subscriber_is_told_of_checkpoints() {
    let Some(store) = std::env::var_os("CKPT_DIR") else {
        let store = tempfile::tempdir().unwrap();
        let status = Command::new(std::env::current_exe().unwrap())
            .env("CKPT_DIR", store.path())
            .env("CKPT_EVERY", "3")
            .env("CKPT_KEEP", "2")
            .status()
            .unwrap();
        assert!(status.success());
        return;
    };
    let lines = Lines::default();
    let writer = lines.clone();
    tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::DEBUG)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .init();
    assert_eq!(work(10), 45);
    let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    let said = |what: &str| text.lines().filter(|line| line.contains(what)).count();
    assert!(text.lines().all(|line| line.contains(" ckpt: ")), "{text}");
    assert_eq!(said("ckpt: start"), 1, "{text}");
    let stages = ["begun", "copied", "written", "removed"].map(|stage| said(&format!("checkpoint {stage}")));
    assert_eq!(stages, [3, 3, 3, 1], "{text}");
    assert_eq!(said("visits=6"), 3, "{text}");
    assert_eq!(said("end state=Returned"), 1, "{text}");
    // The thread that writes has noted all of them before the end, which is noted when the process ends.
    let events = ckpt::session::events::read(
        store.as_ref(),
        ckpt::session::runs::records(store.as_ref()).unwrap()[0].run,
    );
    assert_eq!(events.len(), 1 + 3, "{events:?}");
}
