//! What a restart continues: one run, and which of its checkpoints. The program decides the same when it starts; here it is
//! said before a build.

use std::path::Path;

use ckpt::session::job::{COMMAND_NOTE, Job, RANKS_NOTE, State};
use ckpt::session::runs::{RunRecord, has_record, of_no_run};
use ckpt::store::{CheckpointId, Meta, RunId, copies, unseen_fallback};

use crate::failure::{Failure, Outcome, says};
use crate::output::told;
use crate::stores::runs::{self, described, metas, of_run, records_told, to_continue};
use crate::stores::{self, Which, checkpoint};

/// The run that a restart continues.
#[derive(Debug)]
pub struct Continued {
    /// It; none of a checkpoint that has none, or cannot be read.
    pub run: Option<RunId>,
    /// What its checkpoint says: the newest that can be read, or the one that was named.
    pub meta: Option<Meta>,
    /// What the store says of the run.
    pub job: Option<Job>,
    /// The newest, where the program would take a copy of another one for it.
    pub instead_of_copies: Option<CheckpointId>,
}

impl Continued {
    /// Finds it.
    ///
    /// # Errors
    /// There is nothing to continue, or it is not known what.
    pub fn find(store: &Path, which: Which, named: Option<RunId>) -> Outcome<Continued> {
        let ids = stores::ids(store)?;
        let none = || checkpoint::none(store, &ids, which);
        match which {
            _ if ids.is_empty() => Err(match unseen_fallback(&stores::home(store), 0) {
                None => none().help("start the program with `cargo ckpt run`"),
                Some((folder, why)) => none()
                    .because(format!(
                        "the fallback of the store, `{}`, is not looked at: {why}",
                        folder.display()
                    ))
                    .help("put that folder back, or mount its disk"),
            }),
            Which::Id(id) if !ids.contains(&id) => Err(none()),
            Which::Id(id) => Continued::by_number(store, CheckpointId(id), named),
            Which::Latest => Continued::newest(store, named),
        }
    }

    fn by_number(store: &Path, id: CheckpointId, named: Option<RunId>) -> Outcome<Continued> {
        let meta = metas(store)?.remove(&id);
        if meta.is_none() {
            whole(store, id)?;
        }
        let run = meta.as_ref().and_then(|meta| meta.run);
        if let (Some(named), Some(meta)) = (named, &meta)
            && meta.run != Some(named)
        {
            let whose = meta
                .run
                .map_or_else(|| "no run".to_owned(), |run| format!("run {}", run.short()));
            return Err(Failure::refused(says!(
                "E3152: checkpoint {id} is of {whose}, not of run {}",
                named.short()
            ))
            .help(format!(
                "{} shows which is of which",
                stores::command_about(store, "list", &[])
            )));
        }
        let record = match run {
            Some(run) => runs::of(store, Some(run))?,
            None => None,
        };
        let job = record.and_then(|record| record.job.ok());
        Ok(Continued {
            run,
            meta,
            job,
            instead_of_copies: None,
        })
    }

    fn newest(store: &Path, named: Option<RunId>) -> Outcome<Continued> {
        let records = records_told(store)?;
        let record = match named {
            Some(run) => records.iter().find(|record| record.run == run),
            None => unfinished(&records, store)?,
        };
        let Some(record) = record else {
            let last = records.iter().rev().find_map(|record| record.job.as_ref().ok());
            return Err(match last.filter(|_| named.is_none()) {
                Some(job) if job.state == State::Left => left(job, store),
                Some(job) => completed(job, store),
                None => Failure::no_checkpoint(says!(
                    "E3153: `{}` has no record of the run that its checkpoints are of",
                    store.display()
                ))
                .because("they were copied there, or written before runs had an identity")
                .help(format!(
                    "name one by its number if it is the right one: {}",
                    stores::command_about(store, "restart", &["ID"])
                )),
            });
        };
        if let Ok(job) = &record.job
            && job.state == State::Completed
        {
            return Err(completed(job, store));
        }
        let mut metas = metas(store)?;
        let all: Vec<CheckpointId> = of_run(&metas, record.run).collect();
        let copies = copies(metas.iter().map(|(id, meta)| (*id, meta)));
        metas.retain(|id, _| !copies.contains_key(id));
        let newest = of_run(&metas, record.run).next_back();
        for (copy, of) in copies.iter().filter(|(copy, _)| all.contains(copy)) {
            told!(
                "warning[W3053]: checkpoint {copy} in `{}` is a copy of {of}, and is passed over\n  \
                 the file has another number than the one that it was written under; remove it",
                store.display()
            );
        }
        let others = to_continue(&records, &metas);
        let others = others.iter().filter(|(other, _)| other.run != record.run);
        let others: Vec<String> = others
            .map(|(other, newest)| {
                let named = ["--run".to_owned(), other.run.short()];
                let command = stores::restart_command(store, &named);
                format!("{}: {command}", described(other, *newest))
            })
            .collect();
        let Some(newest) = newest else {
            return Err(without_checkpoint(record, store, &others)?);
        };
        for other in others {
            crate::output::note(&format!("not continued: {other}"));
        }
        let strange = metas.iter().filter(|(_, meta)| !has_record(&records, meta.run));
        let strange: Vec<CheckpointId> = strange.map(|(id, _)| *id).collect();
        if let Some(told) = of_no_run(&strange, store) {
            told!("{told}");
        }
        Ok(Continued {
            run: Some(record.run),
            meta: metas.get(&newest).cloned(),
            job: record.job.clone().ok(),
            instead_of_copies: (all.last() != Some(&newest)).then_some(newest),
        })
    }

    /// The command line of the process that wrote the checkpoint, as far as it says; else that of the run's last process.
    pub fn command(&self) -> Option<Vec<String>> {
        let noted = self
            .note(COMMAND_NOTE)
            .and_then(|text| serde_json::from_str(text).ok());
        noted.or_else(|| self.job.as_ref().map(|job| job.command.clone()))
    }

    /// How many ranks wrote the line that the checkpoint is of.
    pub fn ranks(&self) -> Option<u32> {
        self.note(RANKS_NOTE)?.parse().ok()
    }

    /// Whether one process wrote the checkpoint, with no others beside it.
    pub fn is_of_one_process(&self) -> bool {
        self.meta.is_some() && self.ranks().unwrap_or(1) == 1
    }

    fn note(&self, name: &str) -> Option<&str> {
        let notes = self.meta.iter().flat_map(|meta| &meta.notes);
        notes
            .map(|(known, text)| (known, text.as_str()))
            .find_map(|(known, text)| (known == name).then_some(text))
    }
}

/// The newest run that has not completed, as far as is known: what a restart without a name continues.
///
/// # Errors
/// Which is the newest is not known.
pub fn unfinished<'r>(records: &'r [RunRecord], store: &Path) -> Outcome<Option<&'r RunRecord>> {
    if records.len() > 1
        && let Some(damaged) = records.iter().find(|record| record.job.is_err())
    {
        return Err(Failure::no_checkpoint(says!(
            "E3154: which run of `{}` is the newest is not known",
            store.display()
        ))
        .because(format!("the record of run {} cannot be read", damaged.run))
        .help(format!(
            "name the run that is to be continued: {}",
            stores::command_about(store, "restart", &["--run", "RUN"])
        )));
    }
    Ok(records.iter().rev().find(|record| record.is_to_continue()))
}

/// Names the damage of a checkpoint of which not even the head can be read.
fn whole(store: &Path, id: CheckpointId) -> Outcome<()> {
    let entries = checkpoint::open(store)?
        .list()
        .map_err(checkpoint::store_failure)?;
    let entry = entries.into_iter().find(|entry| entry.id == id);
    match entry.map(|entry| entry.meta) {
        Some(Err(error)) => Err(Failure::no_checkpoint(&error).help(format!(
            "{} takes the newest that is whole, {} checks all of them; or put the file back from a copy",
            stores::command_about(store, "restart", &[]),
            stores::command_about(store, "verify", &[])
        ))),
        _ => Ok(()),
    }
}

fn completed(job: &Job, store: &Path) -> Failure {
    let what = says!(
        "E3013: run {} in `{}` completed at {}: nothing is left to do",
        job.run.short(),
        store.display(),
        job.updated
    );
    let metas = match metas(store) {
        Ok(metas) => metas,
        Err(failure) => return failure,
    };
    let ids: Vec<u64> = of_run(&metas, job.run).map(|id| id.0).collect();
    Failure::no_checkpoint(what).help(match ids.is_empty() {
        true => "`cargo ckpt run` starts anew".into(),
        false => format!(
            "`cargo ckpt run` starts anew; {} repeats the part after a checkpoint ({})",
            stores::command_about(store, "restart", &["ID"]),
            stores::id_list(&ids)
        ),
    })
}

fn left(job: &Job, store: &Path) -> Failure {
    Failure::no_checkpoint(says!(
        "E3160: run {} in `{}` ended with exit code 0 at {}, without closing its session: whether anything is left to do is not known",
        job.run.short(),
        store.display(),
        job.updated
    ))
    .because("it ended by `_exit`, or as another program (`exec`)")
    .help(format!(
        "{} continues it from its newest checkpoint, and does again what it did after that; `cargo ckpt run` starts anew",
        stores::command_about(store, "restart", &["--run", &job.run.short()])
    ))
}

fn without_checkpoint(record: &RunRecord, store: &Path, others: &[String]) -> Outcome<Failure> {
    let begin = "`cargo ckpt run --fresh` starts the program anew; `cargo ckpt run --resume` continues a run where there is one, and starts one otherwise";
    let help = match others.is_empty() {
        true => begin.to_owned(),
        false => format!(
            "{begin};\nanother run of this store can be continued: {}",
            others.join(", ")
        ),
    };
    let failure = Failure::no_checkpoint(says!(
        "E3155: run {} in `{}` has no checkpoint to continue from",
        record.run.short(),
        store.display()
    ));
    let damaged = runs::damaged(store, record)?;
    Ok(match damaged.is_empty() {
        true => failure
            .because("it ended before it wrote its first one; checkpoints of other runs are not its own")
            .help(help),
        false => {
            let because = |failure: Failure, what| failure.because(what);
            damaged
                .into_iter()
                .fold(failure, because)
                .help(format!("{};\n{help}", runs::PUT_BACK))
        }
    })
}
