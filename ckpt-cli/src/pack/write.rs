//! Making a pack.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{Seek, Write};
use std::path::{Component, Path, PathBuf};

use ckpt::session::job::Job;
use ckpt::store::{
    CheckpointId, Meta, Mode, RunId, StoreError, file_name, folder_of_run, open_plain, settle,
};

use super::{Entry, FILES, FORMAT, MANIFEST, Manifest, RUNS, STORE, VERSION, belongs_to_a_run, copy, names};
use crate::failure::{AboutFile, Failure, Outcome, says};
use crate::output::{self, Bar};
use crate::stores::lines::{Lines, rank_list};
use crate::stores::{self, checkpoint};

/// What has been packed.
#[derive(Debug)]
pub struct Packed {
    /// The file.
    pub file: PathBuf,
    /// Its length.
    pub bytes: u64,
    /// What is in it.
    pub manifest: Manifest,
}

/// A file on its way into a pack. It is open, so that it stays what it is though a job that runs removes it.
struct Piece {
    from: PathBuf,
    path: String,
    file: File,
}

/// Packs files of checkpoints, by rank and number, what the store knows about a run, with `others` also about the others, and files of
/// the program.
pub fn pack(
    lines: &Lines,
    store: &Path,
    (run, others): (Option<RunId>, &[RunId]),
    chosen: &[(u32, CheckpointId)],
    files: &[PathBuf],
    to: &Path,
) -> Outcome<Packed> {
    let mut pieces = checkpoints(lines, chosen)?;
    let all: BTreeSet<RunId> = run.iter().chain(others).copied().collect();
    for run in all {
        pieces.extend(notes(lines, run)?);
    }
    for file in files {
        pieces.push(own_file(file)?);
    }
    let mut entries = Vec::new();
    let lengths = pieces.iter().filter_map(|piece| piece.file.metadata().ok());
    // Everything is read twice: for its checksum, and into the pack.
    let bar = output::bytes_bar("packing", 2 * lengths.map(|file| file.len()).sum::<u64>());
    for piece in &mut pieces {
        entries.push(piece.entry(&bar)?);
    }
    let manifest = Manifest {
        format: FORMAT.into(),
        version: VERSION,
        store: name_of(store),
        run,
        program: run
            .and_then(|run| Job::read(&stores::home(store), run).ok().flatten())
            .map_or_else(String::new, |job| job.program),
        host: nix::sys::utsname::uname().map_or_else(
            |_| String::new(),
            |name| name.nodename().to_string_lossy().into_owned(),
        ),
        files: entries,
    };
    write(to, &manifest, &mut pieces, &bar)?;
    drop(bar);
    let bytes = fs::metadata(to).about("cannot read", to)?.len();
    Ok(Packed {
        file: to.to_owned(),
        bytes,
        manifest,
    })
}

/// The run that these checkpoints are of, by what they say; none if none of them is of one.
pub fn run_of(lines: &Lines, chosen: &[(u32, CheckpointId)]) -> Outcome<Option<RunId>> {
    for part in &lines.parts {
        let store = part.open(Mode::ReadOnly)?;
        let entries = store.list().map_err(checkpoint::store_failure)?.into_iter();
        for entry in entries.filter(|entry| chosen.contains(&(part.rank, entry.id))) {
            match entry.meta {
                Ok(Meta { run: Some(run), .. }) => return Ok(Some(run)),
                Err(error @ StoreError::Io { .. }) => return Err(checkpoint::store_failure(error)),
                // What is damaged is not packed.
                Ok(_) | Err(_) => {}
            }
        }
    }
    Ok(None)
}

/// All runs of which the store keeps anything.
///
/// # Errors
/// It cannot be looked at.
pub fn all_runs(lines: &Lines) -> Outcome<Vec<RunId>> {
    let mut all = BTreeSet::new();
    for part in &lines.parts {
        let folder = part.folder.join(RUNS);
        if !folder.try_exists().about("cannot look for", &folder)? {
            continue;
        }
        for entry in fs::read_dir(&folder).about("cannot read", &folder)? {
            let name = entry.about("cannot read", &folder)?.file_name();
            all.extend(name.to_str().and_then(|name| name.parse::<RunId>().ok()));
        }
    }
    Ok(all.into_iter().collect())
}

/// The name that the store has without its path.
fn name_of(store: &Path) -> String {
    let absolute = fs::canonicalize(stores::home(store)).unwrap_or_else(|_| store.to_owned());
    let name = absolute.file_name().unwrap_or_default().to_string_lossy();
    match name.ends_with(".ckpt.d") {
        true => name.into_owned(),
        false => format!("{name}.ckpt.d"),
    }
}

fn checkpoints(lines: &Lines, chosen: &[(u32, CheckpointId)]) -> Outcome<Vec<Piece>> {
    if let Some(ranks) = rank_list(&lines.elsewhere) {
        return Err(
            Failure::no_checkpoint(says!("E3056: the files of {ranks} are not on this machine"))
                .help("a pack has those of all ranks: bring them into one folder first, their names differ"),
        );
    }
    let mut pieces = Vec::new();
    for part in &lines.parts {
        let store = part.open(Mode::ReadOnly)?;
        for &(_, id) in chosen.iter().filter(|(rank, _)| *rank == part.rank) {
            store.verify(id).map_err(|damage| {
                let what = damage
                    .iter()
                    .map(ToString::to_string)
                    .collect::<Vec<_>>()
                    .join("\n");
                Failure::store(says!("E3057: checkpoint {id} is damaged, it is not packed"))
                    .because(what)
                    .help("`cargo ckpt verify` says which are whole")
            })?;
            let from = store.path(id);
            let path = format!("{STORE}/{}", file_name(id, part.rank));
            pieces.push(Piece::open(from, path)?);
        }
    }
    Ok(pieces)
}

/// What the store knows of the run.
fn notes(lines: &Lines, run: RunId) -> Outcome<Vec<Piece>> {
    let mut folders: Vec<PathBuf> = lines
        .parts
        .iter()
        .map(|part| folder_of_run(&part.folder, run))
        .collect();
    folders.dedup();
    let mut there = Vec::new();
    for folder in folders {
        if folder.try_exists().about("cannot look for", &folder)? {
            there.push(folder);
        }
    }
    let mut pieces: Vec<Piece> = Vec::new();
    for folder in &there {
        let mut names = Vec::new();
        for entry in fs::read_dir(folder).about("cannot read", folder)? {
            names.extend(entry.about("cannot read", folder)?.file_name().into_string());
        }
        names.sort();
        for name in names.iter().filter(|name| belongs_to_a_run(name)) {
            let path = format!("{STORE}/{RUNS}/{run}/{name}");
            let from = folder.join(name);
            let is_plain = fs::symlink_metadata(&from)
                .about("cannot look at", &from)?
                .is_file();
            if is_plain && !pieces.iter().any(|piece| piece.path == path) {
                pieces.push(Piece::open(from, path)?);
            }
        }
    }
    Ok(pieces)
}

/// A file of the program, which goes by its path from here.
fn own_file(file: &Path) -> Outcome<Piece> {
    let plain = file.components().filter(|part| *part != Component::CurDir);
    let path: PathBuf = plain.collect();
    let is_below = path.components().all(|part| matches!(part, Component::Normal(_)));
    let Some(text) = path.to_str().filter(|_| is_below) else {
        return Err(Failure::usage(says!("E3058: `{}` is not below this folder", file.display())).help(
            "`--with` takes files that are: they are unpacked at the same paths. Carry others apart, and tell `restart` with `--map OLD=NEW`",
        ));
    };
    if !names::is_plain_path(&path) {
        return Err(Failure::usage(says!(
            "E3185: `{}` has a name that `unpack` does not take",
            file.display()
        ))
        .because("it begins with a dot or a dash, or has a character in it that is none to be read")
        .help("give the file another name for the way"));
    }
    let metadata = fs::metadata(&path).about("cannot open", file)?;
    match metadata.is_file() {
        true => {
            let opened = File::open(&path).about("cannot open", file)?;
            Ok(Piece {
                path: format!("{FILES}/{text}"),
                from: path,
                file: opened,
            })
        }
        false => Err(Failure::usage(says!("E3059: `{}` is not a file", file.display()))
            .help("name the files in it one by one")),
    }
}

impl Piece {
    fn open(from: PathBuf, path: String) -> Outcome<Piece> {
        let file = open_plain(&from).about("cannot open", &from)?;
        Ok(Piece { from, path, file })
    }

    fn entry(&mut self, bar: &Bar) -> Outcome<Entry> {
        let (bytes, xxh3_128) =
            copy(&mut self.file, &mut std::io::sink(), bar).about("cannot read", &self.from)?;
        self.file.rewind().about("cannot read", &self.from)?;
        Ok(Entry {
            path: self.path.clone(),
            bytes,
            xxh3_128,
        })
    }
}

/// Writes the pack under another name, and renames it when it is on the disk.
fn write(to: &Path, manifest: &Manifest, pieces: &mut [Piece], bar: &Bar) -> Outcome<()> {
    let folder = to
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let unfinished = tempfile::Builder::new()
        .prefix(".pack-")
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644))
        .tempfile_in(folder)
        .about("cannot write in", folder)?;
    let mut archive = tar::Builder::new(std::io::BufWriter::new(unfinished));
    let text = serde_json::to_string_pretty(manifest).unwrap_or_default() + "\n";
    add(&mut archive, MANIFEST, text.len() as u64, text.as_bytes()).about("cannot write", to)?;
    for (piece, entry) in pieces.iter_mut().zip(&manifest.files) {
        add(&mut archive, &piece.path, entry.bytes, &mut piece.file).about("cannot write", to)?;
        bar.advance(entry.bytes);
    }
    let finished = archive
        .into_inner()
        .and_then(|file| file.into_inner().map_err(std::io::Error::from));
    let mut finished = finished.about("cannot write", to)?;
    finished.flush().about("cannot write", to)?;
    finished.as_file().sync_all().about("cannot write", to)?;
    finished
        .persist_noclobber(to)
        .map_err(|error| error.error)
        .about("cannot write", to)?;
    settle(folder).about("cannot write", to)
}

fn add(
    archive: &mut tar::Builder<impl Write>,
    path: &str,
    bytes: u64,
    from: impl std::io::Read,
) -> std::io::Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_size(bytes);
    header.set_mode(0o644);
    // No more than was measured, though a file of the program has grown meanwhile.
    archive.append_data(&mut header, path, from.take(bytes))
}
