//! A session at work: the store, the policy, and what became of the checkpoints so far.

use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::at_exit::{Beginning, Ending};
use super::auto::History;
use super::config::{Config, ConfigError};
use super::events::{Parts, What};
use super::job::{self, COMMAND_NOTE, Job, RANKS_NOTE, RECORDS, Rollbacks, Rule, State};
use super::line::Wanted;
use super::notices::{copy_on_write, mention_unfinished_runs, mention_unknown_variables, watch_pages};
use super::policy::{Policy, Reason};
use super::runs::{self, RunRecord};
use super::sources::Sources;
use super::stop::Stops;
use super::writer::{NotWritten, Taken, Writer, Written};
use super::{SessionError, arguments, at_exit, line, machine_check, place, signals, variables};
use crate::base::current::{self, Owner, Registration};
use crate::base::documents::{Documents, Durability};
use crate::base::events;
use crate::base::host::host_name;
use crate::base::noted::Noted;
use crate::base::printable::count;
use crate::base::processes;
use crate::base::report::{Fatal, exit_code, headline, say};
use crate::base::rollback::NotRolledBack;
use crate::base::room::{NO_MEMORY, Reserve};
use crate::base::run_id::RunId;
use crate::base::typed::restart_command;
use crate::comm::{self, World};
use crate::context::frames::Frames;
use crate::context::resume::Resume;
use crate::context::rollback::{Asked, GoesOn, Leaves, Tries};
use crate::context::{Driver, Gather};
use crate::devices;
use crate::format::{self, CheckpointId, ELSEWHERE_NOTE, Meta, Restored};
use crate::frame::{self, DeepCalls};
use crate::handles::{self, Outside};
use crate::state::descriptors::Descriptors;
use crate::state::journal::{self, Journal, OtherRun, Place};
use crate::state::process::{self, Process};
use crate::state::snapshot::SnapshotBuilder;
use crate::state::source::{Recorded, StateSource};
use crate::state::standard_streams::{self, StandardStreams};
use crate::state::statics::Statics;
use crate::storage::{Commit, Fallback, Journals, RunDocuments, Store};
use crate::thread;
use crate::value::{DEVICES, LoadError, Ready, buffer_for, give_back, release_unused};

mod alone;
mod back;
mod detect;
mod due;
mod half_way;
mod phase;
mod ranks;
mod snapshots;

pub(super) use back::{decide, points_of};
pub(crate) use detect::Detectors;

use snapshots::Snapshots;

/// Who drives a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Instrumented functions, to which a restart walks.
    Instrumented,
    /// The same below a `main` that can run again in its process.
    RunsAgain,
    /// The program, which restores its state itself.
    ByHand,
}

/// The program that a session is of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Named<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its version, if it has one.
    pub version: &'a str,
    /// What it is made of, where that is known.
    pub sources: Option<&'static Sources>,
}

/// A session of this process, whoever drives it: instrumented functions or the program itself.
#[derive(Debug)]
pub(crate) struct Run {
    program: String,
    version: String,
    /// What the program is made of.
    sources: Option<&'static Sources>,
    host: String,
    quiet: bool,
    /// The processes of the program.
    world: Arc<World>,
    /// The newest line that this process has written, or began from.
    line: u64,
    /// Whether the numbers of lines are agreed on, and the run.
    has_lines: bool,
    /// The run that this process is of; of its own until all ranks have agreed on one.
    id: RunId,
    documents: Arc<dyn RunDocuments>,
    store: Store,
    pub(crate) policy: Policy,
    /// The oldest checkpoint that is kept, as far as the journal of files knows.
    oldest: Option<CheckpointId>,
    /// The runs that had not completed when this one began.
    unfinished: Vec<RunId>,
    /// In a loop without messages.
    phase: phase::InPhase,
    /// Who drives it.
    kind: Kind,
    /// What the program is leaving its functions for.
    goes_back_to: Option<back::Point>,
    /// Whether it goes back in its process, where it can.
    in_process: bool,
    /// That is the newest checkpoint, or what is newer still.
    takes_newest: bool,
    /// A test is to be shown where.
    is_shown: bool,
    /// All ranks go back at this visit.
    all_go_back: bool,
    /// How often they have without coming further.
    tries: Tries,
    /// Variables in which a NaN or an infinity comes again each time: their functions and names. Nobody is told of them again.
    own_infinities: Vec<(String, String)>,
    /// Whether this rank can go back without them.
    alone: alone::GoesAlone,
    /// The state is to be kept in memory at this visit.
    keeps_state: bool,
    /// The state is to be looked at before the next checkpoint, and memory for it made ready.
    looks_half_way: bool,
    ready: Ready,
    /// States that are in memory only.
    snapshots: Snapshots,
    /// What is looked for in them.
    detectors: Detectors,
    /// A test turns bits, or has.
    tests_flips: bool,
    /// A test has one rank go back, or has had it.
    tests_one_rank: bool,
    /// Where standard input was when the process began, if it is a file.
    input: Option<u64>,
    /// When the time limit of the process is over, if it has one.
    ends: Option<Instant>,
    /// What was found to be due at a visit that a team is about to make.
    decided: Option<(u64, Option<Reason>)>,
    pub(crate) resume: Option<Resume>,
    /// What the process is made of beside its frames.
    statics: Statics,
    pub(crate) journal: Journal,
    streams: StandardStreams,
    /// A program that restores its state by hand makes its process what it was by itself.
    process: Option<Process>,
    descriptors: Option<Descriptors>,
    /// Checkpoints that could not be taken, and why the last of them could not.
    failures: u64,
    failure: String,
    /// That a stop waits for its checkpoint has been said.
    stop_waits: bool,
    /// How often in a row the folder could not be written to that checkpoints go to.
    unwritten: u32,
    /// Whether the program has detectors of its own, once a state was taken.
    has_detectors: Option<bool>,
    /// Whether the program goes on while a checkpoint is being written.
    background: bool,
    /// What is due by visits is left out while the disk is behind.
    skip_when_busy: bool,
    /// When deep calls go without sites; where the process goes on from a checkpoint, once it has taken one.
    deep_calls: DeepCalls,
    /// How much memory copies may take, and how large the last state was.
    memory: Option<u64>,
    bytes: Option<u64>,
    writer: Writer,
    /// A checkpoint by the clock was due while the one before it was being written.
    late: bool,
    /// The user has been warned that the disk is slower than what is asked of it.
    told_of_slow_disk: bool,
    /// How long members of a team that stand at a site wait for the others.
    team_wait: Duration,
    /// How long the first of them has stood at the site of the next checkpoint.
    members_stood: Duration,
    /// When it began to open, and when it was open.
    opened: [Instant; 2],
    ending: Arc<Ending>,
    /// Where it is noted that a request to stop has arrived.
    stops: Stops,
    /// For what is small of a checkpoint.
    reserve: Reserve,
    /// The last to be dropped: what the others do until then is still this session's.
    _registration: Registration,
}

impl Run {
    /// Opens the store, and the checkpoint to restart from if that is asked for.
    pub(super) fn open(config: &Config, program: Named<'_>, kind: Kind) -> Result<Run, SessionError> {
        Run::open_from(config, program, kind, None)
    }

    /// The same, to go on so in a process that goes back.
    pub(super) fn open_from(
        config: &Config,
        program: Named<'_>,
        kind: Kind,
        how: Option<&GoesOn>,
    ) -> Result<Run, SessionError> {
        let begins = Instant::now();
        let kept = how.map(|how| how.kept.clone());
        let alone = how.and_then(|how| how.alone.clone());
        let snapshot = how.and_then(|how| Some((how.id, how.snapshot.clone()?)));
        let ending = Arc::<Ending>::default();
        let owner: Arc<dyn Owner> = ending.clone();
        let registration = current::register(owner).ok_or(SessionError::AlreadyOpen)?;
        handles::note_start_folder();
        let world = World::begin(process::before_others);
        let member = world.member();
        let rank = member.map_or(0, |member| member.rank);
        // What all ranks would say alike is said by the first.
        let quiet = config.quiet || rank > 0;
        if rank == 0 {
            mention_unknown_variables(true);
        }
        let opened = line::open_store(config, rank, member.is_none());
        let journals = RefCell::new(Journals::default());
        let has_its_files = |store: &Store, restored: &Restored| {
            let returns = journals.borrow_mut().can_return(store, restored.meta());
            returns.map_err(|error| error.to_string())
        };
        let (mut store, restored) = match config.restart {
            Some(which) => {
                let wanted = Wanted {
                    which,
                    program: program.name,
                    sources: program.sources,
                    config,
                    up_to: how.filter(|how| how.is_newest).map_or(u64::MAX, |how| how.id.0),
                    check: &has_its_files,
                    is_rollback: how.is_some(),
                };
                let (store, restored) = match member {
                    Some(_) if alone.is_none() => line::find_together(&world, opened, wanted, how),
                    _ => {
                        let store = opened?;
                        let restored = match snapshot {
                            Some((before, snapshot)) => {
                                let restored = Restored::in_memory(before, snapshot);
                                // What the checkpoint needs beside it.
                                has_its_files(&store, &restored)
                                    .map_err(|why| SessionError::Lacks { id: before, why })?;
                                restored
                            }
                            None => line::find(&store, wanted)?,
                        };
                        (store, restored)
                    }
                };
                (store, Some(restored))
            }
            None => (opened?, None),
        };
        if how.is_none() {
            let from = restored.as_ref();
            let from = from.map(|restored| (restored.id(), restored.note(devices::shown::DEVICES_NOTE)));
            devices::shown::begin(from, quiet).map_err(|id| SessionError::DevicesAsked { id })?;
        }
        let records = runs::records_in(&store)?;
        let own = match &restored {
            Some(restored) => restored.meta().run,
            None => new_run(config, &records, &store, rank)?,
        };
        let id = match own {
            Some(run) => run,
            None => RunId::new().map_err(|error| SessionError::System {
                what: "get random numbers for the identity of the run",
                error,
            })?,
        };
        if !quiet && restored.is_none() {
            mention_unfinished_runs(&records, &store);
        }
        if member.is_some() && alone.is_none() {
            world.begins(store.ids()?.last().map_or(0, |newest| newest.0), id);
        }
        let agreed = match member {
            Some(member) if member.size > 1 => world.run(),
            _ => Some(id),
        };
        // Which run it is is for the first rank to say; one that was told from outside needs not wait.
        let known = agreed.or(own).or((rank == 0).then_some(id));
        let id = known.unwrap_or(id);
        let documents = match known {
            Some(known) => store.documents_of(known),
            None => store.begun(id),
        };
        let unfinished = records.iter().filter(|record| record.is_unfinished());
        let unfinished: Vec<RunId> = unfinished.map(|record| record.run).collect();
        let others_wait = unfinished.iter().any(|run| *run != id);
        // To continue an unfinished run is to undo what others have done to the files since.
        let keeps = match others_wait {
            true => |_: &str| true,
            false => |name: &str| RECORDS.contains(&name),
        };
        store.past(runs::completed(&records, id), keeps);
        let left = store.left()?;
        // Of some the record was removed. The stores of ranks but the first have none of any run.
        let given_up = match records.is_empty() {
            true => Vec::new(),
            false => store.runs()?,
        };
        let is_known = |run: &RunId| *run == id || runs::has_record(&records, Some(*run));
        let given_up: Vec<RunId> = given_up.into_iter().filter(|run| !is_known(run)).collect();
        let stops = Stops::begin(&*store.documents(), rank);
        current::speak_of_interrupts(!quiet);
        let handlers_are_ours = process::before_others();
        let listens = signals::listen();
        handlers_are_ours();
        listens.map_err(|error| SessionError::System {
            what: "listen for signals",
            error,
        })?;
        format::is_at_hand().map_err(|why| SessionError::System {
            what: "load the HDF5 library",
            error: std::io::Error::other(why),
        })?;
        if config.detectors.machine_check {
            machine_check::listen().map_err(|error| SessionError::System {
                what: "listen for machine checks",
                error,
            })?;
        }
        let history = runs::history(&records);
        store.set_storing(config.storing);
        store.set_direct(config.direct);
        let has_ranks = member.is_some_and(|member| member.size > 1);
        if config.watch_pages {
            watch_pages(&mut store, has_ranks);
        }
        if config.copy_on_write {
            copy_on_write(&mut store, has_ranks, config.watch_pages);
        }
        let mut process = (kind != Kind::ByHand).then(|| Process::begin(store.folder()));
        let policy = Policy::start(config, &history, member).map_err(|error| SessionError::System {
            what: "start the timer of the checkpoint policy",
            error,
        })?;
        let recorded = restored.as_ref().map(|restored| -> &dyn Recorded { restored });
        let comes_with_others = restored.as_ref().filter(|_| alone.is_none());
        if comes_with_others.is_some() && member.is_some() {
            world.walks_with_others();
        }
        // What they have changed since is theirs where they do not go back.
        let others = comes_with_others
            .map(|restored| line::journals_of_others(config, &world, &store, &*documents, restored));
        let outside = Arc::new(Outside::of(store.folder(), rank));
        let place = Place {
            store: store.folder(),
            documents: documents.clone(),
            run: id,
            rank,
            ranks: member.map_or(1, |member| member.size),
            told: journals.into_inner().into_told(id),
            epochs: match restored {
                Some(_) => store.epochs_of(id)?,
                None => Vec::new(),
            },
            outside: Arc::clone(&outside),
            other_runs: records
                .iter()
                .filter(|record| record.run != id)
                .map(|record| OtherRun {
                    run: record.run,
                    documents: store.documents_of(record.run),
                    has_completed: !record.is_unfinished(),
                    has_record: true,
                    is_given_up: false,
                    is_of_this_command: record
                        .job
                        .as_ref()
                        .is_ok_and(|job| arguments::are_ours(&job.command)),
                })
                .chain(left.into_iter().map(|own| OtherRun {
                    run: own,
                    documents: store.begun(own),
                    has_completed: false,
                    has_record: false,
                    is_given_up: false,
                    is_of_this_command: true,
                }))
                .chain(given_up.into_iter().map(|run| OtherRun {
                    run,
                    documents: store.documents_of(run),
                    has_completed: false,
                    has_record: false,
                    is_given_up: true,
                    is_of_this_command: false,
                }))
                .collect(),
            what_of_others: config.other_runs,
        };
        let journal = Journal::begin(place, recorded, &others.unwrap_or_default());
        let journal = journal.map_err(|error| SessionError::System {
            what: "begin the journal of the program's files in the store",
            error,
        })?;
        let fallback = match &config.fallback {
            Fallback::At(folder) => Some(folder.as_path()),
            Fallback::AsBefore | Fallback::Off => None,
        };
        let own = std::iter::once(store.folder()).chain(fallback);
        let descriptors = process
            .as_ref()
            .map(|_| Descriptors::begin(member.is_some(), own));
        store.retain_by(journal.reach());
        if let (Some(process), Some(restored)) = (&mut process, &restored) {
            process.begin_walk(restored, &|folder| journal.make_folder(folder))?;
        }
        let run = Run {
            program: program.name.into(),
            version: program.version.into(),
            sources: program.sources,
            host: host_name(),
            quiet,
            world,
            line: restored.as_ref().map_or(0, |restored| restored.id().0),
            has_lines: false,
            id,
            documents,
            store,
            policy,
            oldest: None,
            unfinished,
            decided: None,
            phase: phase::InPhase::default(),
            kind,
            goes_back_to: None,
            in_process: config.rollback_in_process,
            takes_newest: false,
            is_shown: false,
            all_go_back: false,
            tries: how.map(|how| how.tries).unwrap_or_default(),
            own_infinities: how.map(|how| how.own_infinities.clone()).unwrap_or_default(),
            alone: alone::GoesAlone::begins(alone, config.quiet),
            keeps_state: false,
            looks_half_way: false,
            ready: Ready::default(),
            snapshots: Snapshots::new(config, kept, has_ranks),
            detectors: config.detectors,
            tests_flips: config.tests_flips,
            tests_one_rank: config.tests_one_rank,
            input: standard_streams::place_of_input(),
            ends: config
                .time_limit
                .and_then(|limit| Instant::now().checked_add(limit)),
            resume: restored.map(|restored| Resume::new(restored, config.force_layout)),
            failures: 0,
            failure: String::new(),
            stop_waits: false,
            unwritten: 0,
            has_detectors: None,
            background: config.background,
            skip_when_busy: config.skip_when_busy,
            deep_calls: config.deep_calls,
            memory: config.memory,
            bytes: None,
            statics: Statics::default(),
            journal,
            streams: StandardStreams::default(),
            descriptors,
            process,
            writer: Writer::new(Arc::clone(&ending), outside),
            late: false,
            told_of_slow_disk: false,
            team_wait: config.team_wait,
            members_stood: Duration::ZERO,
            opened: [begins, Instant::now()],
            ending,
            stops,
            reserve: Reserve::default(),
            _registration: registration,
        };
        if run.resume.is_some() {
            // Each has read what the others are about to write.
            run.wait_for_ranks();
        }
        if rank == 0 {
            // A process that goes back has told of itself before.
            let durability = how.map_or(Durability::Synced, |_| Durability::Whole);
            run.begin_job(&records, history, Rule::of(config), durability)?;
        }
        if let Some(unwatched) = unwatched(run.journal.sees_files()).filter(|_| rank == 0) {
            say(unwatched);
        }
        at_exit::watch();
        run.ending.begins(Beginning {
            run: run.id,
            input: run.input,
            ends: run.ends,
            quiet,
            folder: run.store.folder().to_owned(),
        });
        let mut run = run;
        run.store.reserves();
        run.reserve.fill();
        run.opened[1] = Instant::now();
        Ok(run)
    }

    fn begin_job(
        &self,
        records: &[RunRecord],
        history: History,
        rule: Rule,
        durability: Durability,
    ) -> Result<(), SessionError> {
        let restored = self.resume.as_ref().map(|resume| &resume.restored);
        let now = job::now();
        let own = records.iter().find(|record| record.run == self.id);
        let own = own.and_then(|record| record.job.as_ref().ok());
        let mut sources = own.map(|own| own.sources.clone()).unwrap_or_default();
        if let Some(ours) = self.sources {
            ours.enter(&mut sources);
        }
        let job = Job {
            run: self.id,
            order: own.map_or_else(|| runs::next_order(records), |own| own.order),
            begun: own.map_or_else(|| now.clone(), |own| own.begun.clone()),
            program: self.program.clone(),
            version: self.version.clone(),
            pid: std::process::id(),
            process: processes::identity(std::process::id()),
            namespace: processes::namespace(),
            host: self.host.clone(),
            started: now.clone(),
            updated: now,
            state: State::Running,
            visits: restored.map_or(0, |restored| restored.meta().visit),
            restarted_from: restored.map(|restored| restored.id().0),
            last_checkpoint: None,
            reach: None,
            failed_checkpoints: 0,
            command: arguments::command(),
            place: Some(handles::Place::of_this_process(self.store.folder())),
            reason: None,
            ranks: self.world.member().map(|member| member.size),
            history,
            interval: None,
            rule: Some(rule),
            rollbacks: own.and_then(rollbacks_of),
            sources,
        };
        Noted::of(self.store.folder()).write_executable();
        let documents: Arc<dyn Documents> = self.documents.clone();
        let store = self.store.documents();
        let begun = self.ending.record.begin(documents, store, job, durability);
        begun.map_err(|error| SessionError::System {
            what: "write the state of the job (job.json) into the store",
            error,
        })
    }

    /// Says where a restart begins.
    pub(super) fn mention_restart(&self) {
        if let (Some(resume), false) = (&self.resume, self.quiet) {
            let (id, visit) = (resume.restored.id(), resume.restored.meta().visit);
            let fallback = self.store.fallback_of(id);
            let place = fallback.as_deref().unwrap_or(self.store.folder());
            say(&format!(
                "restarts from checkpoint {id} (site visit {visit}) of run {} in {}",
                self.id.short(),
                place.display()
            ));
        }
    }

    /// The parts of the process that are saved and brought back beside its frames, in that order.
    fn sources(&mut self) -> impl Iterator<Item = &mut dyn StateSource> {
        let always: [&mut dyn StateSource; 3] = [&mut self.statics, &mut self.journal, &mut self.streams];
        let process = self
            .process
            .as_mut()
            .map(|process| process as &mut dyn StateSource);
        let descriptors = self.descriptors.as_mut();
        let descriptors = descriptors.map(|descriptors| descriptors as &mut dyn StateSource);
        always.into_iter().chain(process).chain(descriptors)
    }

    /// The walk is over: the file is closed, the policy goes on from the checkpoint's visit.
    fn has_arrived(&mut self) -> Result<u64, Fatal> {
        let Some(resume) = self.resume.take() else {
            return Ok(0);
        };
        Frames::Walked(&resume).restore(&resume.restored)?;
        for source in self.sources() {
            source.restore(&resume.restored)?;
        }
        self.files_are_back().map_err(|error| {
            let error = error.as_reason();
            Fatal::refused(headline!("E2029: {error}")).help(JOURNAL_NEEDED)
        })?;
        let visits = resume.restored.meta().visit;
        comm::set_site_history(line::note(resume.restored.meta(), comm::HISTORY_NOTE).unwrap_or(0));
        let (id, spent) = (resume.restored.id(), resume.restored.spent());
        drop(resume);
        if self.world.member().is_some() {
            self.world.has_walked()?;
        }
        let [begins, opened] = self.opened;
        self.ending.record.happened(What::Resume {
            id: id.0,
            visits,
            opened: (opened - begins).as_secs_f64(),
            read: spent.reading.as_secs_f64(),
            checked: spent.checking.as_secs_f64(),
            walked: opened.elapsed().as_secs_f64(),
        });
        self.ending.has_arrived();
        devices::shown::mention_another_kind();
        if !self.has_come_alone(visits) {
            self.join_others(visits);
        }
        self.policy.arm(visits);
        Ok(visits)
    }

    /// The files are what they were. What several ranks have changed is brought back by one of them, and nobody looks at it
    /// before.
    ///
    /// # Errors
    /// The journal of the files cannot be written.
    pub(super) fn files_are_back(&self) -> Result<(), LoadError> {
        self.wait_for_ranks();
        self.journal.go_on()
    }

    /// Where a restart needs all ranks to have come so far.
    fn wait_for_ranks(&self) {
        let comes_alone = self.alone.comes();
        if !comes_alone && self.world.is_up() && self.world.member().is_some_and(|member| member.size > 1) {
            self.world.all_succeeded(true);
        }
    }

    /// Whether a checkpoint could be taken now; the ranks of an MPI program take theirs while MPI is up.
    fn join_others(&mut self, visits: u64) -> bool {
        let Some(member) = self.world.member() else {
            return true;
        };
        if !self.world.is_up() {
            return false;
        }
        if !self.has_lines && member.size > 1 {
            self.has_lines = true;
            self.know_the_run();
            let complete = CheckpointId(self.line);
            self.store.continue_lines(complete, self.world.line_base() + 1);
            self.policy.agree_with_others(&self.world, visits);
        }
        true
    }

    /// Whether another run of the store can be continued. A rank that did not know its run when it looked may have seen that one.
    fn others_wait(&self) -> bool {
        self.unfinished.iter().any(|run| *run != self.id)
    }

    /// The ranks have agreed on the run that they are of: what this one has kept so far is that run's.
    fn know_the_run(&mut self) {
        self.id = self.world.run().unwrap_or(self.id);
        // A run that waits to be continued needs what this one has changed before.
        let others_wait = self.others_wait();
        let stays = |name: &str| others_wait && journal::is_of_files(name);
        let known = self.documents.become_of(self.id, &stays);
        if let Err(error) = known.and_then(|()| self.journal.become_of(self.id, others_wait)) {
            not_kept(self.id, &self.documents.path_of(""), &error).exit();
        }
        if !others_wait {
            // What cannot be removed is in nobody's way.
            for own in self.store.left().unwrap_or_default() {
                let _ = self.store.begun(own).keep_only(&|_| false);
            }
        }
    }

    /// Takes a checkpoint if one is due at this visit; ends the run if that was asked for.
    /// Gives whether one was written.
    ///
    /// # Errors
    /// `gather`'s.
    pub(crate) fn take_due(&mut self, visits: u64, gather: Gather<'_>) -> Result<bool, Fatal> {
        if !self.join_others(visits.saturating_sub(1)) {
            self.policy.arm(visits);
            return Ok(false);
        }
        self.tell_of_machine_checks(visits);
        // What is small has this memory from here on.
        self.reserve.release();
        current::take(current::WRITTEN);
        if let Some(written) = self.writer.result() {
            self.settle(written);
        }
        let mut taken = false;
        let due = self.due(visits);
        let keeps = std::mem::take(&mut self.keeps_state);
        if std::mem::take(&mut self.all_go_back) {
            self.goes_back_together(visits, false, due);
            return Ok(false);
        }
        let due = self.unless_it_wants_back(due);
        // What is wrong may be in all that is taken before the program has come further than to where it was found: that would
        // take the place of what is older, and right.
        let is_due = due.is_some();
        let mut due = match due {
            Some(reason) if !reason.stops() && self.comes_back_to(visits) => {
                self.policy.failed(reason);
                None
            }
            due => due,
        };
        let looks = is_due && self.detectors.are_any();
        if looks {
            // What is wrong comes into no checkpoint.
            self.keep_in_memory(visits, &mut *gather)?;
            due = self.unless_it_wants_back(due);
        } else if is_due && due.is_none() {
            self.has_detectors_look(visits, &mut *gather)?;
        }
        if let Some(reason) = due
            && !current::rolls_back()
            && !self.puts_off(reason)
            && !self.waits_for_memory(visits, reason, self.store.next_line())
            && !self.waits_for_threads(visits, reason)
            && !self.waits_for_process(visits, reason)
        {
            taken = self.checkpoint(visits, reason, &mut *gather)?;
        }
        self.dies_if_asked(visits);
        if keeps && !taken && !looks && !current::rolls_back() {
            self.keep_in_memory(visits, &mut *gather)?;
        }
        if !current::rolls_back() {
            self.looks_half_way(taken || looks || keeps, &mut *gather)?;
            self.flips_if_asked(visits, gather)?;
            self.may_come_back_alone(visits);
        }
        self.policy.arm(visits);
        self.fill_reserve();
        self.rolls_back_if_asked(visits);
        Ok(taken)
    }

    /// Says what was put back since that was asked last.
    fn tell_of_machine_checks(&self, visits: u64) {
        if let Some(repair) = machine_check::tell(visits) {
            self.ending.record.happened(repair);
        }
    }

    /// Whether there is no memory for what is small: no checkpoint is taken then. Otherwise that is free from here on.
    fn waits_for_memory(&mut self, visits: u64, reason: Reason, line: Option<u64>) -> bool {
        // What is being written has it, and is waited for before this is asked again.
        if self.writer.is_busy() {
            return false;
        }
        if self.reserve.fill() {
            self.reserve.release();
            return false;
        }
        self.reserve.release_all();
        self.store.has_passed(line);
        if reason.stops() {
            self.world.all_succeeded(false);
        }
        self.failed(NO_MEMORY.to_owned(), visits, reason);
        true
    }

    /// Whether threads run that a checkpoint would not hold: none is taken then.
    fn waits_for_threads(&mut self, visits: u64, reason: Reason) -> bool {
        let others = thread::others();
        if others.is_empty() {
            return false;
        }
        if self.failures == 0 {
            say(&format!(
                "warning[W2004]: no checkpoint was taken at site visit {visits}: a thread of the program is running beside it, started at {} (said once)\n  \
                 why:   what it has computed would be lost, and a restart would not start it again\n  \
                 help:  join threads before the next site is reached, or start them in `std::thread::scope`; where a restart may start them again as they were, as those of a pool, say so: see the book's page on threads",
                others.join(", ")
            ));
        }
        self.not_taken(
            "a thread was running beside the program".to_owned(),
            visits,
            reason,
        );
        self.others_take_theirs(reason);
        true
    }

    /// Whether the process is in a state that a restart could not bring back: no checkpoint is taken then.
    fn waits_for_process(&mut self, visits: u64, reason: Reason) -> bool {
        let obstacle = |run: &Run| run.process.as_ref().and_then(Process::obstacle);
        if obstacle(self).is_none() {
            return false;
        }
        // It may be the process that copies the last state.
        self.wait_for_writer();
        let Some(obstacle) = obstacle(self) else {
            return false;
        };
        let (what, why, help) = (obstacle.what(), obstacle.why(), obstacle.help());
        if self.failures == 0 {
            say(&format!(
                "warning[W2050]: no checkpoint was taken at site visit {visits}: {what} (said once)\n  \
                 why:   {why}\n  help:  {help}"
            ));
        }
        self.not_taken(what, visits, reason);
        self.others_take_theirs(reason);
        true
    }

    /// Takes a checkpoint. Gives whether that could be done; if the program waits for it, whether it is on the disk.
    ///
    /// # Errors
    /// `gather`'s.
    fn checkpoint(&mut self, visits: u64, reason: Reason, gather: Gather<'_>) -> Result<bool, Fatal> {
        let line = self.store.next_line();
        let due = Instant::now();
        self.wait_for_writer();
        if due.elapsed() > LONG_WAIT {
            self.mention_slow_disk("the program waits for it");
        }
        let taken = match self.waits_for_memory(visits, reason, line) {
            false => self.take(visits, reason, gather, (line, due)),
            true => Ok(false),
        };
        if !self.fill_reserve() {
            // Memory that the next snapshot would use again is worth less.
            release_unused();
            self.fill_reserve();
        }
        taken
    }

    /// Takes the reserve of memory again, unless a checkpoint is being written: that has it until then. Gives whether it has
    /// what it should have.
    fn fill_reserve(&mut self) -> bool {
        self.writer.is_busy() || self.reserve.fill()
    }

    /// The same, with the reserve of memory let go. It was due at `began`: the wait for the one before belongs to what it costs.
    fn take(
        &mut self,
        visits: u64,
        reason: Reason,
        gather: Gather<'_>,
        (line, began): (Option<u64>, Instant),
    ) -> Result<bool, Fatal> {
        events::begun(visits, reason);
        // Where the program waits for the disk, its memory is written as it is.
        let waits = reason.stops() || !self.background || self.lacks_memory();
        let world = Arc::clone(&self.world);
        let agreed = std::mem::take(&mut self.members_stood) + world.take_waited();
        let begins = Instant::now();
        let taken = world.at_checkpoint(|| {
            let mut commit = if waits { self.store.begin().ok() } else { None };
            let mut builder = match &mut commit {
                Some(commit) => current::not_the_programs(|| commit.snapshot()),
                None => self.store.snapshot(),
            };
            self.save(gather, &mut builder)?;
            if builder.implausible().is_some() {
                return Ok(Err(builder));
            }
            self.has_detectors = Some(builder.has_detectors());
            Ok(Ok(self.taken(builder, visits, reason, began, commit)))
        })?;
        let parts = Parts {
            agreed: agreed.as_secs_f64(),
            copied: begins.elapsed().as_secs_f64(),
            ..Parts::default()
        };
        let taken = match taken {
            Ok(taken) => taken,
            Err(builder) => {
                // It comes into no checkpoint.
                if reason.stops() {
                    self.world.all_succeeded(false);
                }
                self.is_left_as_implausible(&builder, visits);
                // A rank that goes back from here alone comes to this line again.
                if !current::rolls_back() {
                    self.store.has_passed(line);
                }
                return Ok(false);
            }
        };
        self.store.has_passed(line);
        match taken {
            Ok(mut taken) if !waits => {
                let time = began.elapsed();
                (taken.waited, taken.parts) = (Some(time), parts);
                events::copied(visits, reason, time, self.bytes);
                self.waited(time);
                self.writer.begin(taken);
                Ok(true)
            }
            Ok(mut taken) => {
                taken.parts = parts;
                self.writer.begin(taken);
                let written = self.writer.wait();
                self.waited(began.elapsed());
                Ok(written.is_some_and(|written| self.settle(written)))
            }
            Err(error) => {
                if reason.stops() {
                    self.world.all_succeeded(false);
                }
                self.not_written(error, visits, reason);
                Ok(false)
            }
        }
    }

    /// Saves all that the process is made of.
    ///
    /// # Errors
    /// `gather`'s, and those of what it is made of.
    fn save(&mut self, gather: Gather<'_>, to: &mut SnapshotBuilder) -> Result<(), Fatal> {
        self.ready.end();
        // What commands on devices write into memory is there before the first variable is saved.
        match devices::finish() {
            Ok(()) => devices::begin_to_read(&mut buffer_for),
            Err(why) => to.fails(DEVICES, &why),
        }
        let saved = self.save_sources(gather, to);
        devices::end_reading().into_iter().for_each(give_back);
        saved?;
        // What reads an array has arrays of its own meanwhile, which the library counts as the program's.
        to.wait_for_lists();
        // A program that restores its state itself knows what it has on devices.
        if let Some(why) = devices::unsaved().filter(|_| self.process.is_some()) {
            to.fails(DEVICES, &why);
        }
        Ok(())
    }

    fn save_sources(&mut self, gather: Gather<'_>, to: &mut SnapshotBuilder) -> Result<(), Fatal> {
        Frames::AtSite(gather).save(to)?;
        for source in self.sources() {
            source.save(to)?;
        }
        Ok(())
    }

    /// Whether a copy of the state may not be made; nobody knows how large the first one is.
    fn lacks_memory(&self) -> bool {
        self.memory
            .is_some_and(|memory| self.bytes.is_none_or(|bytes| bytes > memory))
    }

    /// The program stood still so long for a checkpoint.
    fn waited(&mut self, time: Duration) {
        if let Some(estimate) = self.policy.taken(time) {
            self.ending.record.update(|job| job.interval = Some(estimate));
        }
    }

    /// Whether a checkpoint that is due is not taken now, as the one before it is still being written: one by the clock is
    /// taken after that, one by visits is left out if the user wants it so. What other ranks take now is taken.
    fn puts_off(&mut self, reason: Reason) -> bool {
        let rule = match reason {
            Reason::Interval => "the next is taken when that is done",
            Reason::Every(_) if self.skip_when_busy => "it is left out",
            _ => return false,
        };
        let alone = self.world.member().is_none_or(|member| member.size == 1);
        if !alone || !self.writer.is_busy() {
            return false;
        }
        self.mention_slow_disk(rule);
        self.late = reason == Reason::Interval;
        true
    }

    fn mention_slow_disk(&mut self, rule: &str) {
        if !self.quiet && !self.told_of_slow_disk {
            say(&format!(
                "a checkpoint is due before the one before it has been written; {rule} (said once)"
            ));
        }
        self.told_of_slow_disk = true;
    }

    /// The processes of the program.
    pub(super) fn world(&self) -> &World {
        &self.world
    }

    /// Waits until the disk has the last checkpoint.
    pub(crate) fn wait_for_writer(&mut self) {
        if let Some(written) = self.writer.wait() {
            self.settle(written);
        }
    }

    /// Takes note of what came of a checkpoint; ends the run if that was asked for. Gives whether it is on the disk.
    fn settle(&mut self, written: Written) -> bool {
        let Written {
            visits,
            reason,
            took,
            outcome,
            remains,
        } = written;
        if let Some(error) = remains {
            say(&format!(
                "warning[W2070]: {error}\n  the program goes on, and tries to remove it again with the next checkpoint"
            ));
        }
        if std::mem::take(&mut self.late) {
            self.policy.interval_is_over();
        }
        let outcome = match outcome {
            Ok(id) if reason.stops() => self.on_all_ranks(id).map_err(NotWritten::anywhere),
            Err(error) if reason.stops() => {
                self.world.all_succeeded(false);
                Err(error)
            }
            other => other,
        };
        match outcome {
            Ok(id) => {
                self.line = id.0;
                self.unwritten = 0;
                self.policy.committed(took);
                self.journal.committed();
                self.forget_files();
                frame::set_deep_calls(self.deep_calls.at_first(false, self.policy.counts_visits()));
                if reason.stops() {
                    self.stop(id, visits, reason);
                }
                true
            }
            Err(error) => {
                self.not_written(error, visits, reason);
                false
            }
        }
    }

    /// A checkpoint could not be written. Where that is so time and again, the next one goes to another folder, if there is one.
    fn not_written(&mut self, error: NotWritten, visits: u64, reason: Reason) {
        let NotWritten { why, is_of_store } = error;
        self.failed(why, visits, reason);
        self.unwritten += u32::from(is_of_store);
        if self.unwritten < TRIES {
            return;
        }
        self.unwritten = 0;
        let Some(folder) = self.store.turns() else { return };
        say(&format!(
            "warning[W2097]: writing a checkpoint has failed {TRIES} times in a row; from now on checkpoints go to `{}`\n  \
             help:  a restart finds them there by itself; it needs the store {} as well, and that can be written to: make room there",
            folder.display(),
            self.store.folder().display()
        ));
        // A stop is tried again soon anyway.
        if !reason.stops() {
            self.policy.interval_is_over();
        }
    }

    /// What the files were before the oldest checkpoint of the run that is kept is of no use, once all ranks have that one: until
    /// then the run may have to be started anew, from before its beginning.
    fn forget_files(&mut self) {
        if self.others_wait() {
            return;
        }
        let Ok(ids) = self.store.ids() else { return };
        if self.oldest.is_some_and(|oldest| ids.contains(&oldest)) {
            return;
        }
        let metas = ids
            .into_iter()
            .filter_map(|id| Some((id, self.store.meta(id).ok()?)));
        let oldest = { metas }.find(|(_, meta)| meta.run == Some(self.id));
        if let Some((oldest, meta)) = oldest.filter(|(oldest, _)| self.store.is_complete(*oldest)) {
            self.oldest = Some(oldest);
            if let Some(epoch) = journal::epoch_in(&meta.notes) {
                self.journal.forget_before(epoch);
            }
        }
    }

    /// The last checkpoint before all ranks stop is of use only if every one has written it.
    fn on_all_ranks(&self, id: CheckpointId) -> Result<CheckpointId, String> {
        match self.world.all_succeeded(true) {
            true => Ok(id),
            false => Err("another rank could not write its part".into()),
        }
    }

    /// What is to be written. What the program printed so far leaves its buffer first: a restart from this checkpoint does
    /// not print it again.
    fn taken(
        &mut self,
        builder: SnapshotBuilder,
        visits: u64,
        reason: Reason,
        began: Instant,
        commit: Option<Commit>,
    ) -> Result<Taken, NotWritten> {
        let snapshot = builder.finish().map_err(|error| NotWritten {
            why: error.to_string(),
            is_of_store: self.journal.could_not_begin(),
        })?;
        self.bytes = Some(snapshot.bytes());
        release_unused();
        let mut meta = self.meta(visits, reason.to_string());
        meta.notes.extend(snapshot.shared_statics_note());
        if snapshot.has_elsewhere {
            meta.notes.push((ELSEWHERE_NOTE.to_owned(), "devices".to_owned()));
        }
        let commit = match commit {
            Some(commit) => commit,
            None => self.store.begin()?,
        };
        Ok(Taken {
            snapshot,
            meta,
            commit,
            visits,
            reason,
            began,
            parts: Parts::default(),
            waited: None,
        })
    }

    /// What a checkpoint that is taken now says of itself.
    fn meta(&mut self, visits: u64, reason: String) -> Meta {
        let notes = self.notes();
        Meta {
            program: self.program.clone(),
            version: self.version.clone(),
            visit: visits,
            time: SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |since| since.as_nanos() as i64),
            reason,
            host: self.host.clone(),
            run: Some(self.id),
            notes,
        }
    }

    fn notes(&mut self) -> Vec<(String, String)> {
        let mut notes = vec![(COMMAND_NOTE.to_owned(), arguments::command_note())];
        notes.extend(self.sources.map(Sources::note));
        notes.extend(variables::note(self.sources));
        notes.extend(place::note(self.store.folder()));
        notes.extend(devices::shown::note());
        for source in self.sources() {
            let says = source.notes().into_iter();
            notes.extend(says.map(|(name, says)| (name.to_owned(), says)));
        }
        if let Some(member) = self.world.member() {
            notes.push((RANKS_NOTE.to_owned(), member.size.to_string()));
            notes.push((comm::HISTORY_NOTE.to_owned(), comm::site_history().to_string()));
            notes.push((comm::THREADS_NOTE.to_owned(), self.world.threads().to_string()));
        }
        notes
    }

    /// A checkpoint that could not be taken is no reason to lose the computation: the program goes on.
    fn failed(&mut self, why: String, visits: u64, reason: Reason) {
        // What follows from it is said once.
        let then = match (reason.stops(), self.failures, self.stop_waits) {
            (true, _, false) if self.store.has_fallback() => WAITS.to_owned(),
            (true, _, false) => format!("{WAITS}{NO_FALLBACK}"),
            (false, 0, _) => "\n  the program goes on and tries again when the next one is due".to_owned(),
            _ => String::new(),
        };
        self.stop_waits |= reason.stops();
        say(&format!(
            "warning[W2005]: no checkpoint was taken at site visit {visits}: {why}{then}"
        ));
        self.not_taken(why, visits, reason);
    }

    fn not_taken(&mut self, why: String, visits: u64, reason: Reason) {
        self.failures += 1;
        self.ending.record.happened(What::Failed {
            visits,
            why: why.clone(),
        });
        self.failure = why;
        let failures = self.failures;
        self.ending.record.update(|job| job.failed_checkpoints = failures);
        self.policy.failed(reason);
    }

    /// This run, if a restart that names none would continue another one.
    fn named(&self) -> Option<RunId> {
        let records = runs::records_in(&self.store).unwrap_or_default();
        let newest = records.iter().rev().find(|record| record.is_to_continue());
        (newest.map(|record| record.run) != Some(self.id)).then_some(self.id)
    }

    fn stop(&self, id: CheckpointId, visits: u64, reason: Reason) -> ! {
        self.mention_failures();
        if !self.quiet {
            let place = self.store.fallback_of(id);
            let place = place.map_or_else(String::new, |folder| format!(" to `{}`", folder.display()));
            say(&format!(
                "{reason}: checkpoint {id} is written{place} (site visit {visits}), the run stops; {} continues it",
                restart_command(self.named())
            ));
        }
        self.ending.record.ended(State::Stopped, &reason.to_string());
        self.stops.forget();
        self.world.leave_together(reason.exit_code())
    }

    fn mention_failures(&self) {
        if self.failures > 0 {
            say(&format!(
                "warning[W2006]: {} of this run could not be taken; the last because: {}",
                count(self.failures, "checkpoint"),
                self.failure
            ));
        }
    }
}

impl Driver for Run {
    fn resume(&mut self) -> Option<&mut Resume> {
        self.resume.as_mut()
    }

    fn walks(&self) -> bool {
        self.resume.is_some()
    }

    fn arrived(&mut self) -> Result<u64, Fatal> {
        self.has_arrived()
    }

    fn visit(&mut self, visits: u64, gather: Gather<'_>) -> Result<(), Fatal> {
        self.take_due(visits, gather).map(drop)
    }

    fn visit_in_phase(&mut self, visits: u64, gather: Gather<'_>) -> Result<(), Fatal> {
        self.take_due_in_phase(visits, gather)
    }

    fn end_phase(&mut self, visits: u64, gather: Gather<'_>) -> Result<u64, Fatal> {
        self.waits_behind_phase(visits, gather)
    }

    fn agrees_from(&mut self, visits: u64) -> bool {
        self.begins_to_agree(visits)
    }

    fn decide(&mut self, visits: u64) -> bool {
        self.decides(visits)
    }

    fn put_off(&mut self, visits: u64) {
        self.leave_out(visits);
    }

    fn members_stood(&mut self, time: Duration) {
        self.members_stood = time;
    }

    fn go_on(&mut self, visits: u64) {
        self.policy.arm(visits);
    }

    fn between_checkpoints(&self) -> Option<Duration> {
        self.policy.interval()
    }

    fn patience(&self) -> Duration {
        self.team_wait
    }

    fn statics(&mut self) -> &mut Statics {
        &mut self.statics
    }

    fn roll_back(&mut self, asked: Asked<'_>) -> Result<Leaves, NotRolledBack> {
        self.goes_back(asked)
    }

    fn begin_anew(&mut self) {
        self.begins_anew();
    }

    fn has_left(&mut self) -> Option<GoesOn> {
        self.leaves_session()
    }

    fn close(&mut self, visits: u64, panicked: bool) {
        self.tell_of_machine_checks(visits);
        machine_check::forget();
        self.wait_for_writer();
        self.ready.end();
        release_unused();
        devices::forget();
        current::observe_with(None);
        self.mention_failures();
        current::listen(false);
        if let Err(unheard) = self.world.wants_nothing()
            && !panicked
        {
            unheard.exit();
        }
        if panicked {
            self.ending.record.update(|job| job.visits = visits);
            self.ending.record.ended(State::Failed, "the program panicked");
        } else if self.resume.is_some() {
            current::strand();
        } else {
            let reach = self.policy.reach();
            self.ending.record.returned(visits, reach, at_exit::HEARS_STATUS);
        }
        self.world.end();
    }

    fn strand(&mut self, fatal: &Fatal) {
        self.ending.begins_anew_instead(fatal.headline());
        say(&format!(
            "{fatal}\n  note:  what follows is what the program itself says"
        ));
        self.ending.record.ended(State::Refused, fatal.headline());
        current::strand();
    }
}

/// So often in a row a folder is tried before another one is.
const TRIES: u32 = 3;

/// What follows where the checkpoint was to be the last.
const WAITS: &str = "\n  the stop waits for its checkpoint, which is tried again every two seconds";
/// What can be done where it has one folder only.
const NO_FALLBACK: &str = ": make room for it;\n  a start with `--fallback FOLDER` (CKPT_FALLBACK) names another place for such a case";

/// A wait for the disk that is reported to the user.
const LONG_WAIT: Duration = Duration::from_secs(1);

const JOURNAL_NEEDED: &str = "the journal of the program's files is in the store: make room there";

/// What is said where the functions of C's library that open files are not ckpt's.
fn unwatched(sees_files: bool) -> Option<&'static str> {
    let unwatched = "warning[W2007]: files that the program closes before a site are not watched: the C library of this program \
         is linked statically or unknown\n  help: keep a file that grows open across the site, or use a target with glibc";
    (!sees_files).then_some(unwatched)
}

fn apart(visits: u64) -> Fatal {
    Fatal::site(headline!("E2026: the ranks have not visited the same sites equally often"))
        .at(format!("found at site visit {visits}"))
        .why("checkpoints at the same count make a line only if the count means the same on all ranks;\na loop with a site in it has gone round more often on one rank than on another")
        .help("CKPT_CHECK_SAFE_POINTS=1 names the site where they part; put sites only into loops that go round equally often on all ranks")
}

impl Run {
    /// Ends the process at the visit at which a test wants that, with what is being written on the disk.
    fn dies_if_asked(&mut self, visits: u64) {
        if self.policy.faults_at(visits) {
            self.wait_for_writer();
            kill_self();
        }
    }
}

/// How often the run has gone back before this process or this session of it. What is behind another process is no reason to
/// give up in this one.
fn rollbacks_of(own: &Job) -> Option<Rollbacks> {
    let is_of_this_process =
        own.pid == std::process::id() && own.process == processes::identity(std::process::id());
    let before = own.rollbacks?;
    Some(match is_of_this_process {
        true => before,
        false => before.in_another_process(),
    })
}

/// Kills this process as `kill -9` would: for tests.
fn kill_self() {
    let _ = signal_hook::low_level::raise(signal_hook::consts::SIGKILL);
}

/// The identity that a start is told to have.
fn new_run(
    config: &Config,
    records: &[RunRecord],
    store: &Store,
    rank: u32,
) -> Result<Option<RunId>, SessionError> {
    let Some(prefix) = &config.run else {
        return Ok(None);
    };
    let run = prefix.whole().ok_or_else(|| ConfigError::Value {
        setting: "CKPT_RUN".to_owned(),
        value: prefix.to_string(),
        expected: "all 32 digits of the identity of a new run, where no restart is asked for",
    })?;
    // The first rank may have made its record before another one looks.
    if rank == 0 && records.iter().any(|record| record.run == run) {
        return Err(SessionError::RunExists {
            run,
            folder: store.folder().to_owned(),
        });
    }
    Ok(Some(run))
}

fn not_kept(run: RunId, folder: &Path, error: &std::io::Error) -> Fatal {
    Fatal::new(
        exit_code::STORE,
        headline!(
            "E2186: what this rank keeps beside its checkpoints cannot be put where run {run} has it: {error}"
        ),
    )
    .at(format!("`{}`", folder.display()))
    .why("a restart would not find what the files of the program were")
    .help("let every rank write in the whole of the store; nothing was deleted")
}

#[cfg(test)]
mod tests {
    use super::unwatched;

    #[test]
    fn a_program_with_another_c_library_is_told_what_is_not_watched() {
        assert_eq!(unwatched(true), None);
        let told = "warning[W2007]: files that the program closes before a site are not watched: the C library of this \
                    program is linked statically or unknown\n  help: keep a file that grows open across the site, or use a \
                    target with glibc";
        assert_eq!(unwatched(false), Some(told));
    }
}
