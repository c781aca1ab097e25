//! Whether a checkpoint can be restored, beside that its file is whole: what the program's files were is in the journal of
//! its run, and that has to be there.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use super::Store;
use crate::base::documents::Documents;
use crate::base::run_id::RunId;
use crate::base::sorted::SortedMap;
use crate::format::Meta;
use crate::handles::Outside;
use crate::state::journal::{self, Checked, OutOfReach, Told};

/// Why the program's files cannot be brought back to what they were at a checkpoint, which is not restored then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoWayBack {
    why: String,
    is_given_up: bool,
}

/// The reason alone: who cannot do what is said by whoever asked.
impl fmt::Display for NoWayBack {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        text.write_str(&self.why)
    }
}

impl Error for NoWayBack {}

impl NoWayBack {
    fn new(why: String) -> NoWayBack {
        NoWayBack {
            why,
            is_given_up: false,
        }
    }

    /// Whether that is as a restart has brought the files back to an older checkpoint since: nothing is lost or damaged, and
    /// the run has gone on from there.
    pub fn is_given_up(&self) -> bool {
        self.is_given_up
    }
}

impl From<OutOfReach> for NoWayBack {
    fn from(OutOfReach { why, is_given_up }: OutOfReach) -> NoWayBack {
        NoWayBack { why, is_given_up }
    }
}

/// The journals of the files of a store's runs, as they were when they were first asked: each is read once.
///
/// ```
/// use ckpt::store::{Journals, Meta, Mode, Store};
///
/// let folder = tempfile::tempdir()?;
/// let mut store = Store::open(folder.path(), Mode::ReadWrite)?;
/// let nothing = store.snapshot().finish()?;
/// store.commit(&nothing, &Meta::default())?;
/// let mut journals = Journals::default();
/// for entry in store.list()? {
///     journals.can_return(&store, &entry.meta?)?; // nobody has watched any files here
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Journals {
    runs: Option<Result<Vec<RunId>, String>>,
    told: SortedMap<RunId, Result<Told, String>>,
    checked: Checked,
}

impl Journals {
    /// Whether the program's files can be brought back to what they were at a checkpoint of this store, by what its header says.
    ///
    /// # Errors
    /// Why they cannot.
    pub fn can_return(&mut self, store: &Store, to: &Meta) -> Result<(), NoWayBack> {
        let Some(files) = journal::files_in(&to.notes) else {
            return Ok(());
        };
        let look = || store.runs().map_err(|error| error.to_string());
        let runs = self.runs.get_or_insert_with(look).as_ref();
        let runs = runs.map_err(|why| NoWayBack::new(why.clone()))?;
        match to.run {
            Some(run) if runs.contains(&run) => match self.told(store, run) {
                Ok(told) => Ok(told.can_return(files.epoch)?),
                Err(why) => Err(NoWayBack::new(why.clone())),
            },
            // Nothing had been changed before it was taken, and what was changed since was elsewhere.
            _ if !files.had_changed => Ok(()),
            Some(run) => Err(NoWayBack::new(format!(
                "the program had changed files, and what they were is not in this store, but in `runs/{run}` of the one where the checkpoint was written"
            ))),
            None => Err(NoWayBack::new(
                "the program had changed files, and what they were is not known of a checkpoint that is of no run"
                    .to_owned(),
            )),
        }
    }

    /// The same, and whether all that is kept of the files for that has its checksum.
    ///
    /// # Errors
    /// Why they cannot be brought back.
    pub fn verify(&mut self, store: &Store, to: &Meta) -> Result<(), NoWayBack> {
        self.can_return(store, to)?;
        let files = journal::files_in(&to.notes).zip(to.run);
        let Some((files, Some(Ok(told)))) = files.map(|(files, run)| (files, self.told.get(&run))) else {
            return Ok(());
        };
        Ok(told.verify(files.epoch, &mut self.checked)?)
    }

    fn told(&mut self, store: &Store, run: RunId) -> &Result<Told, String> {
        self.told.entry(run).or_insert_with(|| {
            let outside = Outside::of(store.folder(), store.rank());
            let documents: Arc<dyn Documents> = store.documents_of(run);
            let epochs = store.epochs_of(run).map_err(|error| error.to_string())?;
            Told::read(documents, run, store.rank(), &epochs, &outside)
        })
    }

    /// What was read of a run's journal.
    pub(crate) fn into_told(mut self, run: RunId) -> Option<Told> {
        self.told.remove(&run)?.ok()
    }
}
