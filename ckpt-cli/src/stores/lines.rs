//! Stores of programs of several processes: every rank has its own file of each checkpoint, in one folder or in folders of
//! their own. The files of all ranks with one number are a line.
//!
//! A sequential program is one of one rank. What is on other nodes cannot be looked at from here, and is named.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use ckpt::store::{
    CheckpointId, Entry, Journals, Meta, Mode, NoWayBack, Restored, RunId, Store, StoreError, copies,
    file_name, files_in, folder_of_rank, has_been_here, has_place_for_rank, path_of, printable_lines,
    ranks_here, unseen_fallback,
};

use ckpt::session::job::RANKS_NOTE;
use serde_json::json;

use crate::failure::{AboutFile, Failure, Outcome, says};
use crate::output::told;
use crate::stores::{Which, checkpoint, runs};

/// The part of a store that one rank writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Whose it is.
    pub rank: u32,
    /// The folder with its files, perhaps with those of others.
    pub folder: PathBuf,
}

impl Part {
    /// Opens it.
    pub fn open(&self, mode: Mode) -> Outcome<Store> {
        Store::open_as(&self.folder, mode, self.rank).map_err(checkpoint::store_failure)
    }

    /// What the heads of these checkpoints say.
    fn entries(&self, ids: &[u64]) -> Outcome<Vec<Entry>> {
        let mut entries = match ids.is_empty() {
            true => Vec::new(),
            false => self
                .open(Mode::ReadOnly)?
                .list()
                .map_err(checkpoint::store_failure)?,
        };
        entries.retain(|entry| ids.contains(&entry.id.0));
        Ok(entries)
    }
}

/// The checkpoints that each rank has, oldest first, by the names of the files.
fn files_of(store: &Path, ranks: &[u32]) -> Outcome<BTreeMap<u32, Vec<u64>>> {
    let mut files: BTreeMap<u32, Vec<u64>> = ranks.iter().map(|rank| (*rank, Vec::new())).collect();
    // A folder that is that of all is read once, however many there may be.
    let folders: BTreeSet<PathBuf> = match has_place_for_rank(store) {
        true => ranks.iter().map(|rank| folder_of_rank(store, *rank)).collect(),
        false => [store.to_owned()].into(),
    };
    for folder in folders {
        for (id, rank) in files_in(&folder).about("cannot look into", &folder)? {
            if let Some(ids) = files.get_mut(&rank)
                && folder_of_rank(store, rank) == folder
            {
                ids.push(id.0);
            }
        }
    }
    files.values_mut().for_each(|ids| ids.sort_unstable());
    Ok(files)
}

/// How many ranks a program had when this was taken.
fn ranks_of(meta: &Meta) -> u32 {
    let note = meta.notes.iter().find(|(name, _)| name == RANKS_NOTE);
    note.and_then(|(_, number)| number.parse().ok()).unwrap_or(1)
}

/// Why it is not known which run a checkpoint is of.
#[derive(Debug, Clone)]
struct Unknown {
    why: String,
    /// Whether it is not what was written; it could not be looked at otherwise.
    is_damaged: bool,
}

/// A store by its ranks.
#[derive(Debug)]
pub struct Lines {
    /// As it was named, perhaps with a place for the number of the rank.
    store: PathBuf,
    /// The run that is looked at; all of the store otherwise.
    run: Option<RunId>,
    /// The run of each number, as far as its files can be read.
    owners: BTreeMap<u64, RunId>,
    /// The numbers whose files are copies of others, and of which.
    pub copies: BTreeMap<CheckpointId, CheckpointId>,
    /// The numbers of which no file here says the run.
    unknown: BTreeMap<u64, Unknown>,
    /// The numbers that each rank has.
    files: BTreeMap<u32, Vec<u64>>,
    /// How many ranks the runs have, as far as they say so.
    sizes: BTreeMap<RunId, u32>,
    /// The ranks whose files are here, in order.
    pub parts: Vec<Part>,
    /// The ranks whose files are not.
    pub elsewhere: Vec<u32>,
    /// Whether there are several: then each is named.
    pub several: bool,
}

impl Lines {
    /// Of an existing store.
    ///
    /// # Errors
    /// It cannot be looked at: there may be more in it than can be seen.
    pub fn of(store: &Path) -> Outcome<Self> {
        Lines::of_run(store, None)
    }

    /// Of one run of an existing store, if one is named.
    ///
    /// # Errors
    /// As [`Lines::of`].
    pub fn of_run(store: &Path, run: Option<RunId>) -> Outcome<Self> {
        let jobs = runs::records(store)?
            .into_iter()
            .filter_map(|record| record.job.ok());
        let jobs = jobs.filter(|job| run.is_none_or(|run| job.run == run));
        let mut sizes: BTreeMap<RunId, u32> = jobs.filter_map(|job| Some((job.run, job.ranks?))).collect();
        let noted = sizes.values().copied().max().unwrap_or(0);
        let mut ranks: Vec<u32> = (0..noted).collect();
        ranks.extend(ranks_here(store).about("cannot look into", store)?);
        ranks.sort_unstable();
        ranks.dedup();
        if ranks.is_empty() {
            ranks.push(0);
        }
        let part = |&rank: &u32| Part {
            rank,
            folder: folder_of_rank(store, rank),
        };
        // Where each has a folder of its own and that of one was named, the others have nothing in it.
        let files = files_of(store, &ranks)?;
        let is_shared = !has_place_for_rank(store) && files.values().any(|ids| !ids.is_empty());
        let has_none = |part: &Part| files[&part.rank].is_empty() && !has_been_here(&part.folder, part.rank);
        let is_here = |part: &Part| part.folder.is_dir() && !(is_shared && has_none(part));
        let (mut parts, elsewhere): (Vec<_>, Vec<_>) = ranks.iter().map(part).partition(is_here);
        let (mut owners, mut unknown) = (BTreeMap::new(), BTreeMap::new());
        let mut metas = Vec::new();
        for part in &parts {
            let ids = files[&part.rank].iter().copied();
            let ids: Vec<u64> = ids.filter(|id| !owners.contains_key(id)).collect();
            for entry in part.entries(&ids)? {
                match entry.meta {
                    Ok(meta) => {
                        owners.extend(meta.run.map(|run| (entry.id.0, run)));
                        metas.push((entry.id, meta));
                    }
                    Err(error) => {
                        let is_damaged = !matches!(error, StoreError::Io { .. });
                        let why = error.to_string();
                        unknown.insert(entry.id.0, Unknown { why, is_damaged });
                    }
                }
            }
        }
        unknown.retain(|id, _| !owners.contains_key(id));
        // What a run has not noted, its checkpoints say.
        for (_, meta) in &metas {
            if let Some(run) = meta.run {
                sizes.entry(run).or_insert_with(|| ranks_of(meta));
            }
        }
        // A file under the number of a rank that its run has not is no part of it.
        let is_stray = |rank: u32| {
            let size_of = |id: &u64| owners.get(id).and_then(|run| sizes.get(run));
            let mut ids = files[&rank].iter();
            !files[&rank].is_empty() && ids.all(|id| size_of(id).is_some_and(|size| *size <= rank))
        };
        let strays: Vec<u32> = ranks.iter().copied().filter(|rank| is_stray(*rank)).collect();
        let is_kept = |rank: &u32| !strays.contains(rank) || *rank < noted;
        ranks.retain(is_kept);
        parts.retain(|part| is_kept(&part.rank));
        // Of runs of other numbers of ranks that have no checkpoint here nothing is missing.
        let size_of = |id: &u64| owners.get(id).and_then(|run| sizes.get(run));
        let of_all = files.values().flatten().map(size_of).collect::<Option<Vec<_>>>();
        let most = of_all.and_then(|sizes| sizes.into_iter().copied().max());
        let mut elsewhere: Vec<u32> = elsewhere.into_iter().map(|part| part.rank).collect();
        elsewhere.retain(|rank| most.is_none_or(|most| *rank < most));
        Ok(Lines {
            run,
            owners,
            copies: copies(metas.iter().map(|(id, meta)| (*id, meta))),
            unknown,
            files,
            sizes,
            store: store.to_owned(),
            several: ranks != [0],
            parts,
            elsewhere,
        })
    }

    /// How many ranks there are, here and elsewhere.
    pub fn ranks(&self) -> usize {
        self.parts.len() + self.elsewhere.len()
    }

    /// The numbers that any rank here has, in order.
    pub fn ids(&self) -> Vec<u64> {
        let of_part = |part: &Part| self.files.get(&part.rank).cloned().unwrap_or_default();
        let mut ids: Vec<u64> = self.parts.iter().flat_map(of_part).collect();
        ids.sort_unstable();
        ids.dedup();
        ids.retain(|id| self.run.is_none_or(|run| self.run_of(*id) == Some(run)));
        ids
    }

    /// The run that a number is of.
    pub fn run_of(&self, id: u64) -> Option<RunId> {
        self.owners.get(&id).copied()
    }

    /// Whether checkpoints of several runs, or of none, are looked at.
    pub fn has_several_runs(&self) -> bool {
        let mut runs: Vec<Option<RunId>> = self.ids().into_iter().map(|id| self.run_of(id)).collect();
        runs.sort_unstable();
        runs.dedup();
        runs.len() > 1
    }

    /// Size of the files of these lines that are here.
    pub fn bytes(&self, ids: &[CheckpointId]) -> u64 {
        let sizes = self.parts.iter().flat_map(|part| {
            let file = |id: &CheckpointId| path_of(&part.folder, *id, part.rank);
            ids.iter().filter_map(move |id| std::fs::metadata(file(id)).ok())
        });
        sizes.map(|file| file.len()).sum()
    }

    /// Whether the run that a line is of has this rank, as far as it says how many it has: another run of the store may have
    /// more.
    pub fn is_of(&self, rank: u32, id: u64) -> bool {
        let size = self.run_of(id).and_then(|run| self.sizes.get(&run));
        size.is_none_or(|size| rank < *size)
    }

    /// The parts here that have a file of this line, or should have.
    pub fn parts_of(&self, id: CheckpointId) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(move |part| self.is_of(part.rank, id.0))
    }

    /// The ranks here that have no file of this line.
    pub fn lacking(&self, id: u64) -> Vec<u32> {
        let has = |part: &&Part| self.files.get(&part.rank).is_some_and(|ids| ids.contains(&id));
        let lacking = self.parts_of(CheckpointId(id)).filter(|part| !has(part));
        lacking.map(|part| part.rank).collect()
    }

    /// The fallbacks that checkpoints lie in, each with their numbers.
    pub fn in_fallbacks(&self, list: &[Line]) -> BTreeMap<PathBuf, Vec<u64>> {
        let mut found: BTreeMap<PathBuf, Vec<u64>> = BTreeMap::new();
        for (rank, entry) in list.iter().flat_map(|line| &line.entries) {
            let part = self.parts.iter().find(|part| part.rank == *rank);
            let name = file_name(entry.id, *rank);
            if part.is_some_and(|part| part.folder.join(&name) != entry.path)
                && let Some(folder) = entry.path.parent()
            {
                found.entry(folder.to_owned()).or_default().push(entry.id.0);
            }
        }
        found.values_mut().for_each(|ids| ids.dedup());
        found
    }

    /// Whether a file that was there when the store was looked at is not any more: a job removes old checkpoints.
    pub fn has_gone(&self, rank: u32, id: CheckpointId) -> bool {
        let was_there = self.files.get(&rank).is_some_and(|ids| ids.contains(&id.0));
        let file = path_of(&folder_of_rank(&self.store, rank), id, rank);
        let found = std::fs::symlink_metadata(file);
        was_there && found.is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
    }

    /// The line that is meant; `latest` is the newest that all ranks here have, whole or not, and where there is none, the
    /// newest that any has. What is newer and of nobody knows which run is named.
    ///
    /// # Errors
    /// There is none; one that is newer than the latest cannot be looked at, and may be the one that is meant.
    pub fn resolve(&self, which: Which) -> Outcome<CheckpointId> {
        let ids = self.ids();
        let is_copy = |id: u64| self.copies.contains_key(&CheckpointId(id));
        let own = || ids.iter().rev().filter(|id| !is_copy(**id));
        let complete = || own().find(|id| self.lacking(**id).is_empty());
        let id = match which {
            Which::Latest => complete().or(own().next()).copied(),
            Which::Id(id) => ids.contains(&id).then_some(id),
        };
        if which == Which::Latest {
            self.nothing_is_newer(id)?;
        }
        id.map(CheckpointId)
            .ok_or_else(|| checkpoint::none(&self.store, &ids, which))
    }

    /// Of the checkpoints of which it is not known whose they are, those that are newer than this one are named.
    fn nothing_is_newer(&self, latest: Option<u64>) -> Outcome<()> {
        for (id, Unknown { why, is_damaged }) in self.unknown.range(latest.map_or(0, |id| id + 1)..) {
            let id = CheckpointId(*id);
            if !is_damaged {
                return Err(Failure::store(says!(
                    "E3200: checkpoint {id} in `{}` cannot be looked at, and may be the latest",
                    self.store.display()
                ))
                .because(why)
                .help("see to the disk and the rights of the file; or name the checkpoint that is meant by its number"));
            }
            if self.run.is_some() {
                let why = printable_lines(why);
                told!(
                    "warning[W3050]: checkpoint {id} is damaged, so that it is not known which run it is of, and is passed over: {why}"
                );
            }
        }
        Ok(())
    }

    /// Those that are damaged so that no file here says which run they are of.
    pub fn of_unknown_run(&self) -> Vec<CheckpointId> {
        let damaged = self.unknown.iter().filter(|(_, unknown)| unknown.is_damaged);
        damaged.map(|(id, _)| CheckpointId(*id)).collect()
    }

    /// There is a checkpoint.
    ///
    /// # Errors
    /// There is none.
    pub fn is_not_empty(&self) -> Outcome<()> {
        let ids = self.ids();
        match ids.is_empty() {
            true => Err(checkpoint::none(&self.store, &ids, Which::Latest)),
            false => Ok(()),
        }
    }

    /// The parts of the chosen ranks of a line.
    pub fn chosen(&self, ranks: Ranks, id: CheckpointId) -> Outcome<Vec<&Part>> {
        match ranks {
            Ranks::All => Ok(self.parts_of(id).collect()),
            Ranks::One(rank) => Ok(vec![self.part(rank)?]),
        }
    }

    /// The part of a rank.
    ///
    /// # Errors
    /// It is not here, or there is no such rank.
    pub fn part(&self, rank: u32) -> Outcome<&Part> {
        if let Some(part) = self.parts.iter().find(|part| part.rank == rank) {
            return Ok(part);
        }
        Err(match self.elsewhere.contains(&rank) {
            true => Failure::no_checkpoint(says!("E3051: the checkpoints of rank {rank} are not here"))
                .because(format!(
                    "there are none in `{}` on this machine",
                    folder_of_rank(&self.store, rank).display()
                ))
                .help("look at them on the node that the rank ran on"),
            false => {
                Failure::usage(says!("E3052: `{}` has no rank {rank}", self.store.display())).help(match self
                    .ranks()
                {
                    1 => "it has rank 0 only".to_owned(),
                    ranks => format!("it has the ranks 0 to {}", ranks - 1),
                })
            }
        })
    }

    /// Opens the file of a rank; all of it is checked first.
    pub fn load(&self, part: &Part, id: CheckpointId) -> Outcome<Restored> {
        part.open(Mode::ReadOnly)?.load(id).map_err(|error| {
            let failure = checkpoint::store_failure(error);
            match self.several {
                true => failure.because(format!("it is the part of rank {}", part.rank)),
                false => failure,
            }
        })
    }

    /// What the first rank here has of the newest line, if it is whole.
    pub fn newest(&self) -> Option<Restored> {
        let id = self.resolve(Which::Latest).ok()?;
        self.load(self.parts.first()?, id).ok()
    }

    /// All lines, oldest first.
    pub fn list(&self) -> Outcome<Vec<Line>> {
        let mut lines: Vec<Line> = self.ids().into_iter().map(Line::new).collect();
        for part in &self.parts {
            let entries = part.open(Mode::ReadOnly)?.list();
            for entry in entries.map_err(checkpoint::store_failure)? {
                if let Some(line) = lines.iter_mut().find(|line| line.id == entry.id) {
                    line.entries.push((part.rank, entry));
                }
            }
        }
        for line in &mut lines {
            line.lacking = self.lacking(line.id.0);
        }
        Ok(lines)
    }

    /// Why lines cannot be restored though their files may be whole: by the journals of the program's files, which are read.
    ///
    /// # Errors
    /// A part of the store cannot be opened.
    pub fn out_of_reach(&self, lines: &[Line]) -> Outcome<OutOfReach> {
        let mut found = OutOfReach::new();
        for part in &self.parts {
            let store = part.open(Mode::ReadOnly)?;
            let mut journals = Journals::default();
            for line in lines {
                let own = line.entries.iter().find(|(rank, _)| *rank == part.rank);
                let meta = own.and_then(|(_, entry)| entry.meta.as_ref().ok());
                if let Some(Err(why)) = meta.map(|meta| journals.can_return(&store, meta)) {
                    found.entry(line.id).or_default().push((part.rank, why));
                }
            }
        }
        Ok(found)
    }

    /// The newest line that can be restored, as far as can be seen without reading values.
    ///
    /// # Errors
    /// The store cannot be looked at.
    pub fn newest_restorable(&self) -> Outcome<Option<CheckpointId>> {
        let lines = self.list()?;
        let out_of_reach = self.out_of_reach(&lines)?;
        let restorable = lines.iter().filter(|line| line.is_restorable(&out_of_reach));
        Ok(restorable.map(|line| line.id).max())
    }

    /// The fallbacks of its parts that are not looked at, each with why.
    pub fn unseen_fallbacks(&self) -> Vec<(PathBuf, String)> {
        let parts = self.parts.iter();
        let mut unseen: Vec<_> = parts
            .filter_map(|part| unseen_fallback(&part.folder, part.rank))
            .collect();
        unseen.dedup();
        unseen
    }

    /// What cannot be looked at, in words.
    pub fn not_here(&self) -> Option<String> {
        let ranks = rank_list(&self.elsewhere)?;
        Some(format!(
            "not looked at: {ranks}, of which nothing is here (`{}`)",
            self.store.display()
        ))
    }
}

/// Of each line that cannot be restored the ranks whose files cannot be brought back, and why.
pub type OutOfReach = BTreeMap<CheckpointId, Vec<(u32, NoWayBack)>>;

/// The files of all ranks with one number.
#[derive(Debug)]
pub struct Line {
    /// The number.
    pub id: CheckpointId,
    /// What each rank has.
    pub entries: Vec<(u32, Entry)>,
    /// The ranks here that have nothing.
    pub lacking: Vec<u32>,
}

impl Line {
    /// Whether all ranks here have their part, it can be read, and what it needs is there; values are not read.
    pub fn is_restorable(&self, out_of_reach: &OutOfReach) -> bool {
        let is_there = |(_, entry): &(u32, Entry)| entry.meta.is_ok() && entry.lacks.is_empty();
        self.lacking.is_empty() && self.entries.iter().all(is_there) && !out_of_reach.contains_key(&self.id)
    }

    /// As data. Of several ranks: what the first says of the line, and the file of each.
    pub fn as_json(&self, several: bool, out_of_reach: &OutOfReach) -> serde_json::Value {
        let line = self;
        let readable = line.entries.iter().find(|(_, entry)| entry.meta.is_ok());
        let mut value = match readable.or(line.entries.first()) {
            Some((_, entry)) => entry_as_json(entry),
            None => json!({ "id": line.id.0 }),
        };
        value["restorable"] = json!(line.is_restorable(out_of_reach));
        let ranks = out_of_reach.get(&line.id).into_iter().flatten();
        let why: Vec<_> = ranks
            .map(|(rank, why)| json!({ "rank": rank, "why": why.to_string(), "given_up": why.is_given_up() }))
            .collect();
        value["out_of_reach"] = json!(why);
        if several {
            let file = |(rank, entry): &(u32, Entry)| {
                let error = entry.meta.as_ref().err().map(ToString::to_string);
                json!({ "rank": rank, "path": entry.path, "bytes": entry.bytes, "error": error })
            };
            value["bytes"] = json!(line.bytes());
            value["ranks"] = line.entries.iter().map(file).collect();
            value["lacking"] = json!(line.lacking);
        }
        value
    }

    fn new(id: u64) -> Self {
        Line {
            id: CheckpointId(id),
            entries: Vec::new(),
            lacking: Vec::new(),
        }
    }

    /// Size of all its files.
    pub fn bytes(&self) -> u64 {
        self.entries.iter().map(|(_, entry)| entry.bytes).sum()
    }
}

/// Empty for one that can be restored by itself.
fn blocks_for_as_json(entry: &Entry) -> Vec<u64> {
    match entry.holds_blocks_only() {
        true => entry.needed_by.iter().map(|id| id.0).collect(),
        false => Vec::new(),
    }
}

fn entry_as_json(entry: &Entry) -> serde_json::Value {
    match &entry.meta {
        Ok(meta) => json!({
            "id": entry.id.0,
            "path": entry.path,
            "bytes": entry.bytes,
            "needs": entry.needs.iter().map(|id| id.0).collect::<Vec<_>>(),
            "blocks_for": blocks_for_as_json(entry),
            "time": meta.time_text(),
            "visit": meta.visit,
            "reason": meta.reason,
            "program": meta.program,
            "version": meta.version,
            "host": meta.host,
            "run": meta.run,
        }),
        Err(error) => json!({
            "id": entry.id.0,
            "path": entry.path,
            "bytes": entry.bytes,
            "error": error.to_string(),
        }),
    }
}

/// `rank 3`, `ranks 1, 2 and 3`; none if there is none.
pub fn rank_list(ranks: &[u32]) -> Option<String> {
    let (last, before) = ranks.split_last()?;
    let words: Vec<String> = before.iter().map(u32::to_string).collect();
    Some(match words.is_empty() {
        true => format!("rank {last}"),
        false => format!("ranks {} and {last}", words.join(", ")),
    })
}

/// Whose files are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ranks {
    /// Those of all.
    All,
    /// Those of one.
    One(u32),
}

impl FromStr for Ranks {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "all" => Ok(Ranks::All),
            _ => text
                .parse()
                .map(Ranks::One)
                .map_err(|_| "a rank's number, or `all`".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn ranks_are_found_by_their_files_and_by_their_folders() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let touch = |name: &str| {
            fs::create_dir_all(path(name).parent().unwrap()).unwrap();
            fs::write(path(name), "").unwrap();
        };
        touch("one.ckpt.d/000001.r0.h5");
        let one = Lines::of(&path("one.ckpt.d")).unwrap();
        assert!(!one.several && one.ids() == [1]);
        for name in ["000001.r0", "000001.r1", "000001.r2", "000002.r0", "000002.r2"] {
            touch(&format!("shared.ckpt.d/{name}.h5"));
        }
        let shared = Lines::of(&path("shared.ckpt.d")).unwrap();
        assert_eq!((shared.ranks(), shared.lacking(2)), (3, vec![1]));
        assert_eq!(shared.resolve(Which::Latest).unwrap().0, 1, "all have it");
        assert_eq!(shared.resolve(Which::Id(2)).unwrap().0, 2);
        assert!(shared.chosen(Ranks::One(3), CheckpointId(2)).is_err());
        for rank in [1, 12] {
            touch(&format!("node-{rank}/x.ckpt.d/000007.r{rank}.h5"));
        }
        let own = Lines::of(&path("node-12/x.ckpt.d")).unwrap();
        assert!(own.several && own.lacking(7).is_empty() && own.parts.len() == 1);
        let apart = Lines::of(&path("node-{rank}/x.ckpt.d")).unwrap();
        let found: Vec<u32> = apart.parts.iter().map(|part| part.rank).collect();
        assert_eq!(found, [1, 12]);
        assert!(apart.several && apart.lacking(7).is_empty());
    }

    #[test]
    fn ranks_are_named_in_words() {
        assert_eq!(rank_list(&[]), None);
        assert_eq!(rank_list(&[3]).as_deref(), Some("rank 3"));
        assert_eq!(rank_list(&[1, 2, 5]).as_deref(), Some("ranks 1, 2 and 5"));
        assert_eq!("all".parse(), Ok(Ranks::All));
        assert_eq!("2".parse(), Ok(Ranks::One(2)));
        assert!("x".parse::<Ranks>().is_err());
    }
}
