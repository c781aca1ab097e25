//! What a store says of a run, whoever has written it, as the command reads it.

use std::fs;
use std::path::PathBuf;

use ckpt::session::job::{JOB_FILE, Job, LAUNCH_FILE};
use ckpt::store::RunId;

use crate::launch::Record;
use crate::stores::lines::Lines;
use crate::stores::{self, runs};

/// The run that it has.
pub const RUN: &str = "0123456789abcdef0123456789abcdef";

/// A store in memory with a checkpoint and the record of a run.
pub struct Records {
    folder: crate::Folder,
    run: RunId,
}

impl Records {
    /// With nothing in it yet.
    pub fn new() -> Records {
        let (folder, _) = crate::Folder::new();
        let run: RunId = RUN.parse().expect("it is one");
        let records = Records { folder, run };
        fs::create_dir_all(records.of_run("")).expect("there is room");
        records
    }

    fn store(&self) -> PathBuf {
        self.folder.path().parent().expect("it is in one").to_owned()
    }

    fn of_run(&self, name: &str) -> PathBuf {
        self.store().join("runs").join(RUN).join(name)
    }

    /// `job.json`: read or refused, and what is said of the run can be shown.
    ///
    /// # Panics
    /// It is read, and not the same when it is written and read again.
    pub fn job(&self, bytes: &[u8]) {
        fs::write(self.of_run(JOB_FILE), bytes).expect("there is room");
        let store = self.store();
        let records = runs::records(&store).expect("it can be looked into");
        let metas = runs::metas(&store).expect("it can be read");
        for record in &records {
            let _ = runs::standing(record, "next");
            let _ = runs::described(record, crate::ID);
            if let Ok(job) = &record.job {
                let again = serde_json::to_vec(job).expect("it can be written");
                let again: Job = serde_json::from_slice(&again).expect("what is written can be read");
                assert_eq!(again, *job);
            }
        }
        let _ = runs::to_continue(&records, &metas);
        let _ = stores::is_locked(&store);
        let _ = stores::newest_id(&store);
        let _ = runs::newest_of(&store, self.run);
        let lines = Lines::of_run(&store, None).expect("it can be looked into");
        lines.list().expect("it can be listed");
    }

    /// `launch.json`: read or refused, and never taken for something that was said on this machine.
    ///
    /// # Panics
    /// It is, or it is not the same when it is written and read again.
    pub fn launch(&self, bytes: &[u8]) {
        fs::write(self.of_run(LAUNCH_FILE), bytes).expect("there is room");
        let store = self.store();
        let Some(record) = Record::read(&store, self.run) else {
            return;
        };
        assert!(record.run == self.run && !record.was_said_here(&store));
        let _ = (record.cargo.words(), record.ranks.words(), record.session.words());
        let _ = record.session.environment(&store);
        let _ = record.cargo.clone().on_this_machine();
        let again = serde_json::to_vec(&record).expect("it can be written");
        let again: Record = serde_json::from_slice(&again).expect("what is written can be read");
        assert_eq!(again, record);
    }
}

impl Default for Records {
    fn default() -> Self {
        Records::new()
    }
}
