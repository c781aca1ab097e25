//! The files and folders that the program changes, held open or not: an undo journal, as databases have one.
//!
//! Before something changes for the first time since a checkpoint, what it was goes into the journal, in the folder of the
//! run, and to the disk. A restart from the checkpoint undoes what the journal says from there on, when its walk has
//! arrived: the tree is then what it was, whatever has happened in between.
//!
//! [`interposition`] sees what is about to change, [`watch`] keeps it, [`log`] has it on the disk, [`undo`] brings it back.

mod descriptors;
mod folders;
mod followed;
#[cfg(fuzzing)]
pub mod fuzzing;
mod holes;
#[cfg(any(test, fuzzing))]
mod in_folder;
mod interposition;
mod left;
mod log;
mod names;
mod paths;
mod ranges;
mod reach;
mod record;
mod segment;
mod starts_over;
mod undo;
mod unseen;
mod watch;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

pub(crate) use left::note_left;
pub(crate) use starts_over::undo_start;

use super::snapshot::SnapshotBuilder;
use super::source::{Recorded, StateSource};
use crate::base::changes::{Change, Coming, FileObserver, NotComing};
use crate::base::current;
use crate::base::documents::Documents;
use crate::base::lock::locked;
use crate::base::own::{self, unobserved};
use crate::base::report::{Fatal, headline, say};
use crate::base::run_id::RunId;
use crate::base::signals::undisturbed;
use crate::base::sorted::SortedSet;
use crate::handles::{Allowed, Links, Outside, moved, start_folder, without_links};
use crate::value::LoadError;
use folders::Folders;
use followed::Followed;
use log::{History, Log};
pub(crate) use reach::Reach;
use record::{Record, Was};
use undo::{Plan, Records};
use watch::Watch;

/// The note in which a checkpoint says the epoch that it began: for ckpt alone.
pub const EPOCH_NOTE: &str = "files_epoch";
/// The note in which a checkpoint says by which links the program got to files outside of its folder, and where they led, as JSON.
pub const LINKS_NOTE: &str = "links";
/// The note in which a checkpoint says which paths are names of one file, as far as the program has made them so, as JSON.
pub const NAMES_NOTE: &str = "names";
/// What stands behind the epoch where no file had been changed.
const UNCHANGED: &str = "unchanged";

/// The files that the program changes, from the beginning of a session to its end.
#[derive(Debug)]
pub(crate) struct Journal {
    /// `None` in the making.
    watch: Option<Arc<Shared>>,
    /// Whether changes of files can be seen at all. Where they cannot, what was seen of them elsewhere is undone all the same.
    sees_files: bool,
    /// What a checkpoint that is being written needs on the disk.
    in_flight: BTreeSet<PathBuf>,
    /// What the checkpoint in the making says, if it has begun an epoch.
    began: Option<FilesOf>,
    /// Which checkpoints the files can be brought back to.
    reach: Arc<Reach>,
}

/// Where a journal is kept, and whose it is.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    /// The folder of the session.
    pub store: &'a Path,
    /// What the run keeps there.
    pub documents: Arc<dyn Documents>,
    pub run: RunId,
    pub rank: u32,
    /// How many ranks there are.
    pub ranks: u32,
    /// What the journal says, where somebody has read it already.
    pub told: Option<Told>,
    /// The epochs that checkpoints of the run have begun.
    pub epochs: Vec<u64>,
    /// What this machine notes of files elsewhere.
    pub outside: Arc<Outside>,
    /// The other runs of the store.
    pub other_runs: Vec<OtherRun>,
    /// What becomes of the files of those that share none with this run, as far as that was said.
    pub what_of_others: Option<OtherRuns>,
}

/// What becomes of the files that runs that have not completed have changed since in the folder of this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OtherRuns {
    /// They stay.
    Keep,
    /// They become what they were, and those runs are given up from there on.
    Undo,
}

/// Another run of the store.
#[derive(Debug, Clone)]
pub(crate) struct OtherRun {
    pub run: RunId,
    pub documents: Arc<dyn Documents>,
    /// What it has made is somebody's result.
    pub has_completed: bool,
    /// It has a record, and may be continued.
    pub has_record: bool,
    /// Its record was removed.
    pub is_given_up: bool,
    /// It was started with the same arguments, so that it does what this one does.
    pub is_of_this_command: bool,
}

/// What a rank of another run has changed since. Of one that has not completed it is undone as well, and that run given up from there
/// on; what one that has completed has made stays.
#[derive(Debug)]
struct Later {
    of: OtherRun,
    rank: u32,
    history: History,
    from: u64,
    log: Option<Log>,
    /// What it has changed in the folder of this run, or of what this run has changed too: which, where it is known.
    concerns: Option<Concerns>,
}

/// Why what another run has changed since is of matter to this one.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Concerns {
    /// This run has changed it since as well.
    Shared(PathBuf),
    /// It is in the folder that this run was started in.
    InFolder(PathBuf),
}

impl Later {
    /// What was changed after a time, of those runs that have changed anything. What is noted in their journals now is newer
    /// than `newest`. Of files that stay it is enough to know what their journals still say. The journals of a run of more
    /// ranks are shared out among those that there are.
    fn since(
        time: u64,
        runs: Vec<OtherRun>,
        (own_rank, ranks): (u32, u32),
        newest: u64,
        what_of_others: Option<OtherRuns>,
    ) -> Result<Vec<Later>, String> {
        let mut later = Vec::new();
        let journals = runs.into_iter().flat_map(|of| {
            let theirs = unobserved(|| log::ranks_in(&*of.documents)).into_iter();
            let ours = theirs.filter(move |rank| rank % ranks.max(1) == own_rank);
            ours.map(move |rank| (of.clone(), rank))
        });
        for (of, rank) in journals {
            let mut history = read(Arc::clone(&of.documents), of.run, rank)?;
            history.comes_after(newest);
            let stays = what_of_others == Some(OtherRuns::Keep);
            // What was undone since, so that it cannot be undone once more, is not known either.
            let from = history.first_since(time).and_then(|from| match from {
                Some(epoch) => history.to_undo(epoch).map(|_| from),
                None => Ok(None),
            });
            let from = match from {
                Err(_) if stays => history.oldest(),
                from => from.map_err(|why| is_not_known(of.run, of.has_completed, &why))?,
            };
            later.extend(from.map(|from| Later {
                of,
                rank,
                history,
                from,
                log: None,
                concerns: None,
            }));
        }
        Ok(later)
    }

    /// The paths that it has changed.
    fn paths(&self, folders: &Folders) -> Result<impl Iterator<Item = PathBuf>, String> {
        let parts = self.history.to_undo(self.from)?;
        let records = parts
            .into_iter()
            .flat_map(|part| part.records.iter().map(|(_, record)| (record, part.started_in())));
        Ok(records.filter_map(|(record, started_in)| {
            let own = folders.own(record, started_in);
            own.path().map(paths::absolute)
        }))
    }

    /// Files that were there when this run took its checkpoint, as far as its journal says, and that it has changed since: they stay.
    fn replaced(&self, folders: &Folders) -> Result<BTreeSet<PathBuf>, String> {
        let mut first = BTreeMap::new();
        for part in self.history.to_undo(self.from)? {
            for (_, record) in &part.records {
                let own = folders.own(record, part.started_in());
                if let Record::Was { path, was } = &*own {
                    let was_there = matches!(was, Was::File { .. } | Was::Link { .. });
                    first.entry(paths::absolute(path)).or_insert(was_there);
                }
            }
        }
        let here = first
            .into_iter()
            .filter(|(path, was_there)| *was_there && path.starts_with(start_folder()));
        Ok(here.map(|(path, _)| path).collect())
    }

    /// Says what this run will find that is not what it was.
    fn mention_replaced(&self, folders: &Folders) -> Result<(), String> {
        let replaced = self.replaced(folders)?;
        let Some(first) = replaced.first() else {
            return Ok(());
        };
        let more = match replaced.len() - 1 {
            0 => String::new(),
            more => format!(" and {more} more of its files"),
        };
        let how = match self.of.has_completed {
            true => "which has completed",
            false => "whose files are to be kept",
        };
        say(&format!(
            "warning[W2085]: run {}, {how}, has changed `{}`{more} since the checkpoint: this run goes on with what is there now\n  \
             why:   what another run has made is not undone, and whether this one reads it is not known\n  \
             help:  where this run reads it, put it back as it was before the restart; give runs that use files of the same names folders of their own",
            self.of.run.short(),
            paths::relative(first).display(),
        ));
        Ok(())
    }

    /// Its checkpoints since then are given up before anything changes.
    fn begins(&mut self) -> io::Result<()> {
        let documents = Arc::clone(&self.of.documents);
        let mut log = Log::begin(documents, self.of.run, self.rank, &self.history, 0)?;
        log.add(&[Record::Returning { to: self.from }])?;
        self.log = Some(log);
        Ok(())
    }

    /// It is of another command line and has changed other files than this run: which of them.
    fn beside(&self) -> Option<(&OtherRun, &Path)> {
        match &self.concerns {
            Some(Concerns::InFolder(path)) if !self.of.is_of_this_command => Some((&self.of, path)),
            _ => None,
        }
    }

    /// Says that it is given up.
    fn mention(&self) {
        let is_told = self.of.has_record || self.of.is_given_up;
        let (true, Some(concerns)) = (is_told, &self.concerns) else {
            return;
        };
        let why = match concerns {
            Concerns::Shared(path) => format!("both have changed `{}`", paths::relative(path).display()),
            Concerns::InFolder(path) => format!(
                "it has changed `{}` in this folder",
                paths::relative(path).display()
            ),
        };
        say(&format!(
            "warning[W2081]: what run {} has changed since is undone, and that run given up from there on\n  \
             why:   {why}; its checkpoints since then cannot be restored any more\n  \
             help:  give runs that are to go on beside each other folders of their own",
            self.of.run.short()
        ));
    }

    /// What it had changed is undone.
    fn ends(&mut self) -> io::Result<()> {
        match &mut self.log {
            Some(log) => {
                log.next(log.epoch() + 1, self.from)?;
                log.bring_to_disk(&[])
            }
            None => Ok(()),
        }
    }
}

/// What functions of the C library reach as well. A leaf lock: nothing of the program is called while it is held.
#[derive(Debug)]
struct Shared {
    watch: Mutex<Watch>,
    /// What a restart has to bring back, until it has; or why it cannot.
    coming: Mutex<Option<Result<Return, LoadError>>>,
}

/// The way back to a checkpoint.
#[derive(Debug)]
struct Return {
    to: u64,
    plan: Plan,
    /// The links that there will be.
    links: Arc<Links>,
    /// Other runs that have changed files since, and have not completed.
    later: Vec<Later>,
    /// What others have changed since that stays, whether they have completed or not.
    theirs: BTreeMap<PathBuf, (RunId, bool)>,
    /// It is written down that it has begun.
    has_begun: bool,
    /// Folders have been made before it had.
    has_made_folders: bool,
}

/// Who is to hear of what the program does to its files now.
fn observer() -> Option<Arc<dyn FileObserver>> {
    match own::is_the_programs() {
        true => current::observer(),
        false => None,
    }
}

/// What a checkpoint says of the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FilesOf {
    /// The epoch that it began.
    pub epoch: u64,
    /// Whether the run had changed any by then.
    pub had_changed: bool,
}

impl FilesOf {
    fn read(note: &str) -> Option<FilesOf> {
        let (epoch, unchanged) = note.split_once(' ').unwrap_or((note, ""));
        Some(FilesOf {
            epoch: epoch.parse().ok()?,
            had_changed: unchanged != UNCHANGED,
        })
    }

    fn note(self) -> String {
        match self.had_changed {
            true => self.epoch.to_string(),
            false => format!("{} {UNCHANGED}", self.epoch),
        }
    }
}

/// What a checkpoint says of the files; nothing if they were not watched.
pub(crate) fn files_of(restored: &dyn Recorded) -> Option<FilesOf> {
    FilesOf::read(restored.note(EPOCH_NOTE)?)
}

/// The same by what is noted with it.
pub(crate) fn files_in(notes: &[(String, String)]) -> Option<FilesOf> {
    let note = notes.iter().find(|(name, _)| name == EPOCH_NOTE)?;
    FilesOf::read(&note.1)
}

/// The epoch that a checkpoint began, by what is noted with it.
pub(crate) fn epoch_in(notes: &[(String, String)]) -> Option<u64> {
    Some(files_in(notes)?.epoch)
}

/// What the journal of a rank of a run says.
#[derive(Debug)]
pub(crate) struct Told(History);

/// Why a rank's files cannot be brought back to what they were.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OutOfReach {
    pub why: String,
    /// As they were brought back to an older checkpoint since: nothing is damaged.
    pub is_given_up: bool,
}

impl Told {
    /// Reads it. Checkpoints of the run are known to have begun these epochs.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read(
        documents: Arc<dyn Documents>,
        run: RunId,
        rank: u32,
        epochs: &[u64],
        outside: &Outside,
    ) -> Result<Told, String> {
        unobserved(|| {
            let mut history = read(documents, run, rank)?;
            epochs.iter().for_each(|epoch| history.has_begun(*epoch));
            history.has_lost(outside.lost(run));
            Ok(Told(history))
        })
    }

    /// Whether all that is kept of the rank's files from the begin of an epoch on has its checksum. What is in `checked` is not
    /// read again.
    ///
    /// # Errors
    /// What does not, or why the files cannot be brought back.
    pub fn verify(&self, epoch: u64, checked: &mut Checked) -> Result<(), OutOfReach> {
        self.can_return(epoch)?;
        let damaged = |why| OutOfReach {
            why,
            is_given_up: false,
        };
        let sums = self.0.sums(epoch).map_err(damaged)?;
        for (file, (length, sum)) in sums {
            let found = checked
                .entry(file)
                .or_insert_with_key(|file| undo::damage(file, length, sum));
            if let Some(why) = found {
                return Err(damaged(why.clone()));
            }
        }
        Ok(())
    }

    /// Whether the rank's files can be brought back to what they were at the begin of an epoch.
    ///
    /// # Errors
    /// Why they cannot.
    pub fn can_return(&self, epoch: u64) -> Result<(), OutOfReach> {
        let undone = unobserved(|| self.0.to_undo(epoch).map(drop));
        undone.map_err(|why| OutOfReach {
            why,
            is_given_up: self.0.given_up_for(epoch).is_some(),
        })
    }
}

/// What has been found of files beside parts of journals, by their paths: what is wrong with each, if anything is.
pub(crate) type Checked = BTreeMap<PathBuf, Option<String>>;

/// Whether a document of a run is one of the journal's.
pub(crate) fn is_of_files(name: &str) -> bool {
    log::is_of_journal(name)
}

/// Whether journals in a folder say more than that the run has begun.
pub(crate) fn may_have_changed(documents: &dyn Documents) -> bool {
    unobserved(|| log::may_have_changed(documents))
}

/// Ranks whose journals in a folder say more than that they have begun.
pub(crate) fn ranks_with_changes(documents: &dyn Documents) -> SortedSet<u32> {
    unobserved(|| log::ranks_with_records(documents))
}

fn read(documents: Arc<dyn Documents>, run: RunId, rank: u32) -> Result<History, String> {
    History::read(documents, run, rank)
        .map_err(|error| format!("the journal of files cannot be read: {error}"))
}

impl Journal {
    /// A session begins: of a rank of a run, which may go on from a checkpoint. `others` are ranks that keep their journals
    /// in the same folder, each with the epoch that its part of the checkpoint began.
    ///
    /// # Errors
    /// The journal cannot be begun.
    pub fn begin(
        place: Place<'_>,
        restored: Option<&dyn Recorded>,
        others: &[(u32, u64)],
    ) -> io::Result<Journal> {
        let Place {
            store,
            documents,
            run,
            rank,
            ranks,
            told,
            epochs,
            outside,
            other_runs,
            what_of_others,
        } = place;
        let mut journal = Journal {
            watch: None,
            sees_files: interposition::is_used(),
            in_flight: BTreeSet::new(),
            began: None,
            reach: Arc::default(),
        };
        let named = start_folder().join(store);
        let store = [without_links(&named), named];
        let told = match told {
            Some(told) => Ok(told),
            None => Told::read(Arc::clone(&documents), run, rank, &epochs, &outside),
        };
        let Told(mut history) = told.map_err(io::Error::other)?;
        let journals = other_runs.iter().map(|other| &other.documents);
        let journals = journals.chain([&documents]);
        let newest = unobserved(|| journals.map(|all| log::newest_time(&**all)).max());
        let newest = newest.unwrap_or(0);
        history.comes_after(newest);
        let out_of_reach = { epochs }
            .into_iter()
            .filter(|epoch| history.to_undo(*epoch).is_err());
        journal.reach = Arc::new(Reach::without(out_of_reach.collect()));
        let files = restored.and_then(files_of);
        // One that was copied here without its journal had changed nothing.
        let comes_back = files.filter(|files| files.had_changed || history.newest() > 0);
        let allowed = Allowed::of(&store[0]);
        let links = restored.and_then(|restored| restored.note(LINKS_NOTE));
        let followed = links.map(Followed::noted).unwrap_or_default();
        let coming = comes_back.map(|files| {
            let own = Records {
                rank,
                history: &history,
                to: files.epoch,
            };
            let later = match history.time_of(files.epoch) {
                Some(time) => Later::since(time, other_runs, (rank, ranks), newest, what_of_others),
                None => Ok(Vec::new()),
            };
            let later = later.map_err(LoadError::invalid)?;
            Return::prepare(
                Arc::clone(&documents),
                run,
                own,
                others,
                (later, what_of_others),
                &allowed,
                (&store[0], &followed),
            )
        });
        if restored.is_some() {
            mention_older_copy(run, outside.epoch(run), history.newest());
        }
        let at_least = files.map_or(0, |files| files.epoch);
        let mut log = Log::begin(documents, run, rank, &history, at_least)?;
        if files.is_some_and(|files| files.had_changed) {
            log.had_records();
        }
        descriptors::next_epoch();
        let mut watch = Watch::new(store, outside, log, Arc::clone(&journal.reach));
        watch.followed = followed;
        if let Some(names) = restored.and_then(|restored| restored.note(NAMES_NOTE)) {
            watch.linked_as.noted(names);
        }
        let watch = Arc::new(Shared {
            watch: Mutex::new(watch),
            coming: Mutex::new(coming),
        });
        let observer: Arc<dyn FileObserver> = watch.clone();
        current::observe_with(Some(observer));
        interposition::only_this_process();
        current::observe(true);
        journal.watch = Some(watch);
        Ok(journal)
    }

    /// Which checkpoints of the run the files can be brought back to.
    pub fn reach(&self) -> Arc<Reach> {
        Arc::clone(&self.reach)
    }

    /// Whether files can be watched at all.
    pub fn sees_files(&self) -> bool {
        self.sees_files
    }

    /// The epoch that is under way, where nothing has changed in it that was seen; nothing where that is not known.
    pub fn unchanged_epoch(&self) -> Option<u64> {
        let shared = self.watch.as_ref().filter(|_| self.sees_files)?;
        shared.with_watch(|watch| watch.is_as_it_began().then(|| watch.log.epoch()))
    }

    /// A folder that the program was working in is to be entered before the restart has arrived. Where it is not there, or a link
    /// is in its place, and comes back then, it is made now, empty: as if the program had made it, so that a restart from any checkpoint finds what it
    /// needs, whatever becomes of this one.
    ///
    /// # Errors
    /// Why it cannot be made.
    pub fn make_folder(&self, folder: &Path) -> Result<(), String> {
        let mut result = Ok(());
        let made = self.with_return(|coming, watch| {
            if let Ok(coming) = coming {
                result = coming.make_folder(folder, watch);
            }
            Ok(())
        });
        made.map_err(|why| why.to_string()).and(result)
    }

    /// The restart has arrived: the files become what they were at its checkpoint. What was undone is kept until
    /// [`Journal::go_on`]: other ranks may need it.
    ///
    /// # Errors
    /// Which file cannot be brought back, and why.
    pub fn arrive(&self) -> Result<(), LoadError> {
        self.with_return(|coming, watch| {
            let coming = coming.as_mut().map_err(|why| why.clone())?;
            // Where nothing has changed, later checkpoints found the same files and stay of use.
            if coming.plan.changes || coming.has_begun || coming.has_made_folders {
                let applied = coming.begins(watch).and_then(|()| coming.plan.apply(None));
                applied.map_err(LoadError::invalid)?;
            }
            Ok(())
        })
    }

    /// All ranks have arrived: the program goes on from here.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub fn go_on(&self) -> Result<(), LoadError> {
        self.with_return(|coming, watch| match coming {
            Ok(coming) if coming.has_begun => coming.ends(watch).map_err(LoadError::invalid),
            Ok(coming) => coming.note_moves(watch).map_err(LoadError::invalid),
            Err(why) => Err(why.clone()),
        })?;
        if let Some(shared) = &self.watch {
            let coming = locked(&shared.coming).take();
            let has_changed = |path: &Path| match &coming {
                Some(Ok(coming)) => coming.plan.has(path),
                _ => false,
            };
            shared.with_watch(|watch| watch.linked_as.arrive(&has_changed));
        }
        Ok(())
    }

    fn with_return(
        &self,
        act: impl FnOnce(&mut Result<Return, LoadError>, &mut Watch) -> Result<(), LoadError>,
    ) -> Result<(), LoadError> {
        let Some(shared) = &self.watch else {
            return Ok(());
        };
        unobserved(|| match &mut *locked(&shared.coming) {
            Some(coming) => act(coming, &mut locked(&shared.watch)),
            None => Ok(()),
        })
    }

    /// The run is known now, and there is no checkpoint of it yet. What was noted before stays where it is, for other runs, or
    /// is of no use.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub fn become_of(&mut self, run: RunId, stays: bool) -> io::Result<()> {
        match &self.watch {
            Some(shared) => shared.with_watch(|watch| watch.become_of(run, stays)),
            None => Ok(()),
        }
    }

    /// Whether the checkpoint that was being taken could not begin its epoch, as the journal cannot be written.
    pub fn could_not_begin(&self) -> bool {
        self.watch.is_some() && self.began.is_none()
    }

    /// The last checkpoint counts.
    pub fn committed(&mut self) {
        let synced = std::mem::take(&mut self.in_flight);
        if let Some(shared) = &self.watch {
            shared.with_watch(|watch| synced.iter().for_each(|path| watch.log.is_on_disk_now(path)));
        }
    }

    /// No checkpoint of the run is older than the one that began this epoch.
    pub fn forget_before(&mut self, epoch: u64) {
        if let Some(shared) = &self.watch {
            shared.with_watch(|watch| watch.forget(|other| other < epoch));
        }
    }
}

impl Return {
    fn prepare(
        documents: Arc<dyn Documents>,
        run: RunId,
        own: Records<'_>,
        others: &[(u32, u64)],
        (later, what_of_others): (Vec<Later>, Option<OtherRuns>),
        allowed: &Allowed,
        (store, followed): (&Path, &Followed),
    ) -> Result<Return, LoadError> {
        let (rank, to) = (own.rank, own.to);
        let histories = others.iter().map(|(other, epoch)| {
            let history = read(Arc::clone(&documents), run, *other)?;
            Ok((*other, *epoch, history))
        });
        let histories = histories.collect::<Result<Vec<(u32, u64, History)>, String>>();
        let histories = histories.map_err(LoadError::invalid)?;
        let folders = Folders::of(own.history);
        let own_paths = own.paths().map_err(LoadError::invalid)?;
        let started_in = own.history.folders().last().map(Path::to_owned);
        // What a run in another folder has changed there is its own business.
        let mut concern = Vec::new();
        for mut run in later {
            let paths = run.paths(&folders).map_err(LoadError::invalid)?;
            run.concerns = concerns(paths, &own_paths);
            if run.concerns.is_some() {
                concern.push(run);
            }
        }
        let (stays, later): (Vec<Later>, Vec<Later>) = concern
            .into_iter()
            .partition(|later| later.of.has_completed || what_of_others == Some(OtherRuns::Keep));
        let mut beside = later.iter().filter_map(Later::beside);
        if let (None, Some((run, path))) = (what_of_others, beside.next()) {
            return Err(LoadError::invalid(has_run_beside(path, run)));
        }
        let mut theirs = BTreeMap::new();
        for later in &stays {
            let paths = later.paths(&folders).map_err(LoadError::invalid)?;
            theirs.extend(paths.map(|path| (path, (later.of.run, later.of.has_completed))));
        }
        let mut all = vec![own];
        all.extend(histories.iter().map(|(rank, to, history)| Records {
            rank: *rank,
            history,
            to: *to,
        }));
        all.extend(later.iter().map(|later| Records {
            rank,
            history: &later.history,
            to: later.from,
        }));
        let plan = Plan::new(&all, rank, &moved::moves()).map_err(LoadError::invalid)?;
        let here = without_links(start_folder());
        plan.spares(store, &here, started_in.as_deref())
            .map_err(LoadError::invalid)?;
        if let Some(coming) = plan.links() {
            followed
                .lead_where_they_did(&coming)
                .map_err(LoadError::invalid)?;
        }
        let links = Arc::new(plan.is_allowed(allowed)?);
        let mut taken = theirs.iter().filter(|(path, _)| plan.has(path));
        if let Some((path, (run, has_completed))) = taken.next() {
            return Err(LoadError::invalid(is_anothers(path, *run, *has_completed)));
        }
        for later in &stays {
            later.mention_replaced(&folders).map_err(LoadError::invalid)?;
        }
        Ok(Return {
            to,
            plan,
            links,
            later,
            theirs,
            has_begun: false,
            has_made_folders: false,
        })
    }

    fn make_folder(&mut self, folder: &Path, watch: &mut Watch) -> Result<(), String> {
        for (folder, mode) in self.plan.folders_to_come(folder) {
            watch.before_making(folder)?;
            self.has_made_folders = true;
            if folder.is_symlink() {
                fs::remove_file(folder).map_err(|error| error.to_string())?;
            }
            let made = fs::create_dir(folder);
            // Another rank may have made it.
            match made {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error.to_string()),
                _ => {}
            }
            let mode = fs::Permissions::from_mode(mode | 0o700);
            fs::set_permissions(folder, mode).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// From here on files change: later checkpoints are given up before that.
    fn begins(&mut self, watch: &mut Watch) -> Result<(), String> {
        if self.has_begun {
            return Ok(());
        }
        self.plan.check()?;
        if let Some(named) = self.plan.lone() {
            say(&format!(
                "warning[W2082]: of a file of several names (hard links) only that of the journal is left, `{}`\n  \
                 why:   nothing is wrong where the program has taken the others away; where this folder is a copy that was made without its links, they are files of their own now, which do not have what is written by another name, nor become what they were\n  \
                 help:  copy the folder of a run so that links stay (`cp -a`, `rsync -aH`), and restart there",
                named.display()
            ));
        }
        let mut records = vec![Record::Returning { to: self.to }];
        records.extend(self.moves());
        watch
            .log
            .add(&records)
            .map_err(|error| cannot_write(watch, &error))?;
        let mut told = Vec::new();
        for later in &mut self.later {
            later.begins().map_err(|error| cannot_write(watch, &error))?;
            if !told.contains(&later.of.run) {
                told.push(later.of.run);
                later.mention();
            }
        }
        self.has_begun = true;
        Ok(())
    }

    /// The files are what they were: what was undone is of no use any more.
    fn ends(&mut self, watch: &mut Watch) -> Result<(), String> {
        let undone = self.to..=watch.log.epoch();
        let ended = watch.next_epoch(self.to).and_then(|()| {
            let moves: Vec<Record> = self.moves().into_iter().collect();
            watch.log.bring_to_disk(&moves)
        });
        ended.map_err(|error| cannot_write(watch, &error))?;
        watch.has_returned(self.to);
        for later in &mut self.later {
            later.ends().map_err(|error| cannot_write(watch, &error))?;
        }
        watch.forget(|epoch| undone.contains(&epoch));
        Ok(())
    }

    /// What is elsewhere now is written down, where nothing else is.
    fn note_moves(&self, watch: &mut Watch) -> Result<(), String> {
        let moves: Vec<Record> = self.moves().into_iter().collect();
        let noted = match moves.is_empty() {
            true => Ok(()),
            false => watch.log.add(&moves),
        };
        noted.map_err(|error| cannot_write(watch, &error))
    }

    /// What the journal names is elsewhere now.
    fn moves(&self) -> Option<Record> {
        let mut moves = self.plan.moves.clone();
        moves.extend(moved::moves());
        (!moves.is_empty()).then_some(Record::Moved { moves })
    }
}

fn is_anothers(path: &Path, run: RunId, has_completed: bool) -> String {
    let whose = match has_completed {
        true => "which has completed",
        false => "whose files are to be kept",
    };
    format!(
        "`{}` was changed since by run {}, {whose}, and this run goes on writing it; move what that run has made to another folder, and put the file back as this one had it, or start anew",
        paths::relative(path).display(),
        run.short()
    )
}

/// What another run has changed since cannot be undone any more.
fn is_not_known(run: RunId, has_completed: bool, why: &str) -> String {
    let run = run.short();
    let finish = match has_completed {
        true => String::new(),
        false => {
            format!("finish that run first, if it has a checkpoint (`cargo ckpt restart --run {run}`), or, ")
        }
    };
    format!(
        "run {run} has changed files since, and what they were is not known: {why}; {finish}where this run reads none of its files, leave them as they are: `--other-runs keep` (CKPT_OTHER_RUNS=keep)"
    )
}

/// Another run that has not completed, and that this restart would give up though it has changed no file of this one.
fn has_run_beside(path: &Path, other: &OtherRun) -> String {
    let run = other.run.short();
    let (who, finish) = match other.is_given_up {
        true => ("of which the record was removed".to_owned(), String::new()),
        false => (
            "which was started with other arguments and has not completed".to_owned(),
            format!("Finish it first (`cargo ckpt restart --run {run}`), if it has a checkpoint, or say"),
        ),
    };
    let say = match finish.is_empty() {
        true => "Say",
        false => &finish,
    };
    format!(
        "run {run}, {who}, has changed `{}` in this folder since, and no file that this run has changed after its checkpoint; to bring the folder back to what it was undoes what that run has done. \
         {say} what is to become of its files: `--other-runs keep` (CKPT_OTHER_RUNS=keep) leaves them, which is right where this run reads none of them, `--other-runs undo` undoes its changes",
        paths::relative(path).display(),
    )
}

/// Whether a path that another run has changed is one of this run: one that it has changed as well, before one in its folder.
fn concerns(paths: impl Iterator<Item = PathBuf>, own: &BTreeSet<PathBuf>) -> Option<Concerns> {
    let mut in_folder = None;
    for path in paths {
        if own.contains(&path) {
            return Some(Concerns::Shared(path));
        }
        if in_folder.is_none() && path.starts_with(start_folder()) {
            in_folder = Some(Concerns::InFolder(path));
        }
    }
    in_folder
}

/// The run has gone on, on this machine, after what the store has of it.
fn mention_older_copy(run: RunId, noted: Option<u64>, newest: u64) {
    if let Some(noted) = noted.filter(|noted| *noted > newest) {
        say(&format!(
            "warning[W2083]: run {} has gone on, on this machine, after all that the store has of it: its journal of files has reached epoch {noted}, that of the store {newest}\n  \
             why:   the store is an older copy of itself; what the program has done to its files since that copy was made is not in it, and is not undone\n  \
             help:  nothing where the files were put back together with the store; otherwise put them back as they were then, or start anew",
            run.short()
        ));
    }
}

fn cannot_write(watch: &Watch, error: &io::Error) -> String {
    let path = watch.log.path();
    format!(
        "the journal of files cannot be written to `{}`: {error}",
        path.display()
    )
}

impl StateSource for Journal {
    fn save(&mut self, to: &mut SnapshotBuilder) -> Result<(), Fatal> {
        self.began = None;
        let Some(shared) = &self.watch else {
            return Ok(());
        };
        shared.with_watch(|watch| {
            // Older checkpoints need it as well.
            self.in_flight.extend(watch.log.not_on_disk());
            if let Err(error) = watch.checkpoint() {
                to.fail(cannot_write(watch, &error));
                return;
            }
            self.in_flight.extend(watch.log.not_on_disk());
            self.began = Some(FilesOf {
                epoch: watch.log.epoch(),
                had_changed: watch.log.has_records(),
            });
            self.in_flight.append(&mut watch.unsynced);
            for path in &self.in_flight {
                to.needs_on_disk(path);
            }
        });
        Ok(())
    }

    fn notes(&mut self) -> Vec<(&'static str, String)> {
        let epoch = self.began.map(|files| (EPOCH_NOTE, files.note()));
        let shared = self.watch.as_ref();
        let links = shared.and_then(|shared| shared.with_watch(|watch| watch.followed.note()));
        let links = links.map(|links| (LINKS_NOTE, links));
        let names = shared.and_then(|shared| shared.with_watch(|watch| watch.linked_as.note()));
        let names = names.map(|names| (NAMES_NOTE, names));
        epoch.into_iter().chain(links).chain(names).collect()
    }

    /// Those that are closed become what they were, then those that are open.
    fn restore(&mut self, from: &dyn Recorded) -> Result<(), Fatal> {
        let settled = self.arrive().and_then(|()| from.settle_files());
        settled.map_err(|error| {
            let error = error.as_reason();
            Fatal::refused(headline!("E2029: {error}")).help(FILES_NEEDED)
        })
    }
}

pub(crate) const FILES_NEEDED: &str =
    "the program goes on writing where it was: it needs its output files, and the right to change them";

impl Shared {
    /// With what is kept of files. No handler of a signal comes by meanwhile: what it changed would not be heard of.
    fn with_watch<R>(&self, act: impl FnOnce(&mut Watch) -> R) -> R {
        undisturbed(|| unobserved(|| act(&mut locked(&self.watch))))
    }
}

impl FileObserver for Shared {
    fn before(&self, change: Change<'_>) {
        unobserved(|| locked(&self.watch).before(change));
    }

    fn name_of(&self, id: (u64, u64), once: &Path) -> Option<PathBuf> {
        unobserved(|| locked(&self.watch).name_of(id, once))
    }

    fn links_to_come(&self) -> Arc<Links> {
        match &*locked(&self.coming) {
            Some(Ok(coming)) => Arc::clone(&coming.links),
            _ => Arc::default(),
        }
    }

    fn before_reopening(&self, path: &Path) -> Result<Coming, NotComing> {
        unobserved(|| {
            let mut coming = locked(&self.coming);
            let coming = match &mut *coming {
                None => return Ok(Coming::AsItIs),
                Some(Err(why)) => return Err(NotComing::All(why.as_reason())),
                Some(Ok(coming)) => coming,
            };
            if let Some((run, has_completed)) = coming.theirs.get(path) {
                return Err(is_anothers(path, *run, *has_completed).into());
            }
            if !coming.plan.has(path) && !coming.plan.leads_to(path) {
                return Err(undo::not_there(path).into());
            }
            let Some(length) = coming.plan.length(path) else {
                return Ok(Coming::AsItIs);
            };
            if coming.plan.check_one(path)? {
                coming.begins(&mut locked(&self.watch))?;
                coming.plan.bring_back_one(path)?;
            }
            Ok(Coming::Length(length))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::in_folder::Folder;
    use super::record::Was;
    use super::*;

    #[test]
    fn journals_of_a_run_of_more_ranks_are_shared_out_among_those_that_there_are() {
        let run = RunId::numbered(7);
        let folder = Folder::new();
        for rank in 0..5 {
            let history = read(folder.clone(), run, rank).unwrap();
            let mut log = Log::begin(folder.clone(), run, rank, &history, 0).unwrap();
            let path = format!("by{rank}").into();
            log.add(&[Record::Was {
                path,
                was: Was::Absent,
            }])
            .unwrap();
        }
        let of = OtherRun {
            run,
            documents: folder,
            has_completed: false,
            has_record: true,
            is_given_up: false,
            is_of_this_command: false,
        };
        let read_by = |rank, ranks| -> Vec<u32> {
            let later = Later::since(0, vec![of.clone()], (rank, ranks), 0, None).unwrap();
            later.iter().map(|later| later.rank).collect()
        };
        assert_eq!(read_by(0, 1), [0, 1, 2, 3, 4]);
        assert_eq!(read_by(0, 2), [0, 2, 4]);
        assert_eq!(read_by(1, 2), [1, 3]);
        assert_eq!(read_by(6, 8), Vec::<u32>::new());
    }
}
