//! Which files a restart may write to because a checkpoint or journal says so. A store may come from anybody and name any
//! path.
//!
//! Allowed is what lies below the folder that the program was started in, or below one that the user has named with `--map`; and
//! what this machine itself has noted, outside of the store, when a run with this store wrote there ([`Outside`]). Files that
//! tools read as programs or settings are allowed only if they were noted, or named one by one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{moved, start_folder};
use crate::base::lock::locked;
use crate::base::noted::{EPOCH_NOTES, Noted};
use crate::base::own::unobserved;
use crate::base::report::say;
use crate::base::run_id::RunId;

/// Under this name stand the paths of rank 0, with the number of the rank behind it those of others; with a zero byte
/// after each. One that ends with a slash is a folder in which files were written.
const NOTE: &str = "files.r";
/// A path leads over no more links.
const MOST_LINKS: u32 = 40;
/// What cargo writes into the folder of its results.
const CACHE: &str = "CACHEDIR.TAG";

/// Names that cargo, compilers, shells and editors look for, and do what stands in the file; in small letters.
const SETTINGS: [&str; 20] = [
    "build.rs",
    "cargo.lock",
    "cargo.toml",
    "ckpt.toml",
    "clippy.toml",
    "cmakelists.txt",
    "configure",
    "dockerfile",
    "gnumakefile",
    "justfile",
    "makefile",
    "meson.build",
    "package.json",
    "pyproject.toml",
    "requirements.txt",
    "rust-toolchain",
    "rust-toolchain.toml",
    "rustfmt.toml",
    "setup.cfg",
    "vagrantfile",
];

/// How the names of files end that are programs, or parts of such; in small letters.
const PROGRAMS: [&str; 27] = [
    "a", "bash", "bat", "cmake", "csh", "desktop", "dylib", "exe", "fish", "js", "ksh", "lua", "mk", "o",
    "pl", "py", "rb", "rlib", "rs", "service", "sh", "so", "class", "dll", "jar", "pth", "pyc",
];

/// What a path means that ends at a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinkAtEnd<'a> {
    /// What the link leads to.
    Followed,
    /// The link, once those are there that are to be made.
    Itself {
        /// These.
        coming: &'a Links,
    },
    /// What the link leads to, once those are there that are to be made.
    Leads {
        /// These.
        coming: &'a Links,
    },
}

/// A restart may not write there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Forbidden {
    path: PathBuf,
    /// Where that really is.
    real: PathBuf,
    /// It may be read as a program or its settings.
    is_settings: bool,
}

impl std::fmt::Display for Forbidden {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.told(f, ["the checkpoint", "a checkpoint"], "restart with")
    }
}

impl Forbidden {
    /// Why a start from the beginning does not write there.
    pub fn at_the_start(&self) -> String {
        struct AtTheStart<'a>(&'a Forbidden);
        impl std::fmt::Display for AtTheStart<'_> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0
                    .told(f, ["the journal of files", "a store"], "say `--resume` with")
            }
        }
        AtTheStart(self).to_string()
    }

    fn told(&self, f: &mut std::fmt::Formatter<'_>, [who, any]: [&str; 2], how: &str) -> std::fmt::Result {
        let Forbidden {
            path,
            real,
            is_settings,
        } = self;
        write!(f, "{who} says that `{}` is to be brought back", path.display())?;
        if path != real {
            write!(f, ", which is `{}`", real.display())?;
        }
        let named = match is_settings {
            true => {
                write!(
                    f,
                    ": it may be a program or its settings, and {any} may come from anybody"
                )?;
                real.as_path()
            }
            false => {
                write!(
                    f,
                    ": that is outside of the folder that the program was started in (`{}`), and {any} may come from anybody",
                    start_folder().display()
                )?;
                real.parent().unwrap_or(real)
            }
        };
        write!(
            f,
            "; this machine has not noted that a run with this store wrote there. If the file is to be overwritten, {how} `--map {0}={0}`",
            named.display()
        )
    }
}

/// What a restart from one store may write to.
#[derive(Debug, Default)]
pub(crate) struct Allowed {
    start: PathBuf,
    /// Folders and files that the user has named.
    named: Vec<PathBuf>,
    /// What runs with this store have written to on this machine: files, and folders with a slash at their end.
    noted: BTreeSet<Vec<u8>>,
}

impl Allowed {
    /// Everything below a folder that holds data by its name.
    #[cfg(any(test, fuzzing))]
    pub fn below(start: &Path) -> Allowed {
        Allowed {
            start: real(start),
            ..Allowed::default()
        }
    }

    /// Of a store, from the folder that the program was started in.
    pub fn of(store: &Path) -> Allowed {
        Allowed::with(store, &moved::moves())
    }

    /// The same, where what has moved is said otherwise than by the variable.
    pub fn with(store: &Path, moves: &[(PathBuf, PathBuf)]) -> Allowed {
        Allowed {
            start: real(start_folder()),
            named: moves.iter().map(|(_, new)| real(new)).collect(),
            noted: Noted::of(&start_folder().join(store))
                .read_all(NOTE)
                .iter()
                .flat_map(|text| paths(text))
                .collect(),
        }
    }

    /// Where that really is which a checkpoint or journal calls `path` (from the folder that the program was started
    /// in, after `--map`), if it may be written to, made or removed: a path without links and without `..`.
    ///
    /// # Errors
    /// It may not: says which, why, and how to allow it.
    pub fn may_restore(&self, path: &Path, end: LinkAtEnd<'_>) -> Result<PathBuf, Forbidden> {
        self.may_be_made(path, end, false)
    }

    /// The same of what can be executed when it is there again.
    ///
    /// # Errors
    /// It may not.
    pub fn may_restore_program(&self, path: &Path, end: LinkAtEnd<'_>) -> Result<PathBuf, Forbidden> {
        self.may_be_made(path, end, true)
    }

    fn may_be_made(&self, path: &Path, end: LinkAtEnd<'_>, is_program: bool) -> Result<PathBuf, Forbidden> {
        let full = start_folder().join(path);
        let real = match end {
            LinkAtEnd::Followed => real(&full),
            LinkAtEnd::Itself { coming } => place_among(&full, coming),
            LinkAtEnd::Leads { coming } => real_among(&full, coming),
        };
        let is_noted = |path: &Path| self.noted.contains(path.as_os_str().as_bytes());
        if is_noted(&real) || self.named.contains(&real) {
            return Ok(real);
        }
        let mut around = self.named.iter().chain([&self.start]);
        let around = around.find(|folder| real.starts_with(folder));
        // Elsewhere it is in which folder it lies that was noted.
        let folder = real.parent().unwrap_or(&real);
        let is_settings = is_program || is_settings(&real, around.map_or(folder, PathBuf::as_path));
        let is_in_noted = || self.noted.contains(&as_folder(folder));
        match (around.is_some() || is_in_noted()) && !is_settings {
            true => Ok(real),
            false => Err(Forbidden {
                path: path.to_owned(),
                real,
                is_settings,
            }),
        }
    }
}

/// What the program of this process writes to beyond its own folder: noted on this machine, so that a restart here may
/// bring it back.
#[derive(Debug)]
pub(crate) struct Outside {
    noted: Noted,
    name: String,
    start: PathBuf,
    /// A leaf lock.
    known: Mutex<BTreeSet<Vec<u8>>>,
    /// The user has been told that it cannot be noted.
    has_told: AtomicBool,
}

impl Outside {
    /// Of a run with this store.
    pub fn of(store: &Path, rank: u32) -> Outside {
        let name = format!("{NOTE}{rank}");
        let noted = Noted::of(&start_folder().join(store));
        let known = noted
            .read(&name)
            .map(|text| paths(&text).collect())
            .unwrap_or_default();
        Outside {
            noted,
            name,
            start: real(start_folder()),
            known: Mutex::new(known),
            has_told: AtomicBool::new(false),
        }
    }

    /// Notes that something of an epoch of a run's journal could not be kept, where the journal cannot be written to.
    pub fn note_lost(&self, run: RunId, epoch: u64) {
        // Where that cannot be noted either there is no disk left to write to: what is changed now is not written.
        self.note_number("lost.", run, epoch);
    }

    /// The newest epoch of a run's journal of which that is noted.
    pub fn lost(&self, run: RunId) -> Option<u64> {
        self.number("lost.", run)
    }

    /// Notes which epoch of a run's journal has begun: a store that does not have it is an older copy. It informs only.
    pub fn note_epoch(&self, run: RunId, epoch: u64) {
        self.note_number(EPOCH_NOTES, run, epoch);
    }

    /// The newest epoch of a run's journal that is noted.
    pub fn epoch(&self, run: RunId) -> Option<u64> {
        self.number(EPOCH_NOTES, run)
    }

    /// Notes a number about a run, if that is possible.
    fn note_number(&self, what: &str, run: RunId, number: u64) {
        let name = format!("{what}{run}.{}", self.name);
        let _ = self.noted.write(&name, number.to_string().as_bytes());
    }

    fn number(&self, what: &str, run: RunId) -> Option<u64> {
        let text = self.noted.read(&format!("{what}{run}.{}", self.name))?;
        std::str::from_utf8(&text).ok()?.parse().ok()
    }

    /// Where it is noted: no file of the program's.
    pub fn folder(&self) -> Option<PathBuf> {
        self.noted.folder().map(Path::to_owned)
    }

    /// Notes that the program writes to these files, where that has to be known. On the way to a checkpoint, and before the
    /// first change of a file that a journal is to bring back.
    /// Where it cannot be noted, a restart will ask, and that is said once.
    pub fn note<'p>(&self, files: impl Iterator<Item = &'p Path>) {
        self.note_by(|known| {
            for file in files {
                let file = start_folder().join(file);
                // A link itself, and what it leads to.
                self.add(known, &place(&file));
                self.add(known, &real(&file));
            }
        });
    }

    /// The same of a file that the program makes, and that can be executed from then on.
    pub fn note_program(&self, file: &Path) {
        self.note_by(|known| {
            let file = start_folder().join(file);
            for path in [place(&file), real(&file)] {
                known.insert(path.into_os_string().into_encoded_bytes());
            }
        });
    }

    fn note_by(&self, add: impl FnOnce(&mut BTreeSet<Vec<u8>>)) {
        unobserved(|| {
            let mut known = locked(&self.known);
            let before = known.len();
            add(&mut known);
            if known.len() == before {
                return;
            }
            let text: Vec<u8> = known.iter().flat_map(|path| [path, &[0][..]].concat()).collect();
            // Not tried again until there is something new.
            if let Err(error) = self.noted.write(&self.name, &text)
                && !self.has_told.swap(true, Ordering::Relaxed)
            {
                say(&format!(
                    "warning[W2060]: the program writes to files outside of the folder that it was started in, and that cannot be noted on this machine: {error}\n  a restart will not write to them unless `--map OLD=NEW` (CKPT_MAP) names their folder; set XDG_STATE_HOME to a folder of your own"
                ));
            }
        })
    }

    fn add(&self, known: &mut BTreeSet<Vec<u8>>, file: &Path) {
        let is_below = file.starts_with(&self.start);
        let around = if is_below {
            self.start.as_path()
        } else {
            Path::new("/")
        };
        if is_settings(file, around) {
            known.insert(file.as_os_str().as_bytes().to_vec());
        } else if !is_below && let Some(folder) = file.parent() {
            known.insert(as_folder(folder));
        }
    }
}

fn paths(text: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let paths: Vec<Vec<u8>> = text.split(|&byte| byte == 0).map(<[u8]>::to_vec).collect();
    paths.into_iter().filter(|path| !path.is_empty())
}

fn as_folder(folder: &Path) -> Vec<u8> {
    [folder.as_os_str().as_bytes(), b"/"].concat()
}

/// Whether what lies there may be read as a program or its settings, going by the part of its path below `around`.
fn is_settings(real: &Path, around: &Path) -> bool {
    let below = real.strip_prefix(around).unwrap_or(real);
    let is_hidden = |part: Component<'_>| part.as_os_str().as_bytes().starts_with(b".");
    let small = |text: Option<&std::ffi::OsStr>| Some(text?.to_str()?.to_lowercase());
    let name = small(real.file_name()).is_some_and(|name| SETTINGS.contains(&name.as_str()));
    // The version of a library stands behind its kind: `libm.so.6`.
    let mut ends = small(real.file_name()).unwrap_or_default();
    while let Some((before, number)) = ends.rsplit_once('.')
        && number.bytes().all(|byte| byte.is_ascii_digit())
    {
        ends = before.to_owned();
    }
    let end = ends
        .rsplit_once('.')
        .is_some_and(|(_, end)| PROGRAMS.contains(&end));
    let is_executable = || {
        let found = fs::symlink_metadata(real);
        let may_be = found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0);
        // What is behind a link that is to be none is elsewhere.
        may_be && place(real) == real
    };
    let folders = real.ancestors().skip(1).take_while(|folder| *folder != around);
    let is_cached = || folders.into_iter().any(|folder| folder.join(CACHE).exists());
    below.components().any(is_hidden) || name || end || is_executable() || is_cached()
}

/// Links that are to be made, by their real places, and places where no link is to be.
pub(crate) type Links = BTreeMap<PathBuf, Option<PathBuf>>;

/// Where what stands at a path is: a link at its end is not followed.
fn place(path: &Path) -> PathBuf {
    place_among(path, &Links::new())
}

/// The same among links that are to be made.
pub(crate) fn place_among(path: &Path, coming: &Links) -> PathBuf {
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => real_among(folder, coming).join(name),
        _ => real_among(path, coming),
    }
}

/// The path without links and without `..`, whether or not what it leads to is there.
pub(super) fn real(path: &Path) -> PathBuf {
    real_among(path, &Links::new())
}

/// Whether a path, wherever links on it lead, is a folder or lies below it. Neither needs to be there.
///
/// # Examples
///
/// ```
/// use ckpt::store::lies_within;
///
/// let folder = tempfile::tempdir()?;
/// std::os::unix::fs::symlink(folder.path(), folder.path().join("link"))?;
/// assert!(lies_within(&folder.path().join("a"), &folder.path().join("link/b/..")));
/// assert!(!lies_within(folder.path(), &folder.path().join("link/a")));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn lies_within(path: &Path, folder: &Path) -> bool {
    let real = |path: &Path| self::real(&std::path::absolute(path).unwrap_or_else(|_| path.to_owned()));
    real(path).starts_with(real(folder))
}

/// The first of the folders that a run's files are in, the one that the program was started in and those that the user has
/// named with `--map`, that lies within a store: nothing there could be told from what is ckpt's own.
pub(crate) fn run_folder_within(store: &Path) -> Option<PathBuf> {
    let store = start_folder().join(store);
    let own = [start_folder().to_owned()].into_iter().chain(moved::targets());
    { own }.find(|folder| lies_within(folder, &store))
}

/// The path without links and without `..`, among links that are to be made.
pub(crate) fn real_among(path: &Path, coming: &Links) -> PathBuf {
    let target = |place: &Path| match coming.get(place) {
        Some(coming) => coming.clone(),
        None => fs::read_link(place).ok(),
    };
    let mut ahead: Vec<PathBuf> = parts(path);
    let mut real = PathBuf::from("/");
    let mut links = 0;
    while let Some(part) = ahead.pop() {
        match part.components().next() {
            Some(Component::RootDir) => real = PathBuf::from("/"),
            Some(Component::ParentDir) => drop(real.pop()),
            Some(Component::Normal(name)) => {
                let next = real.join(name);
                match target(&next) {
                    Some(target) if links < MOST_LINKS => {
                        links += 1;
                        ahead.extend(parts(&target));
                    }
                    // What leads round in a circle is refused by the system when it is opened.
                    _ => real = next,
                }
            }
            _ => {}
        }
    }
    real
}

/// The parts of a path, the first one last.
fn parts(path: &Path) -> Vec<PathBuf> {
    let mut parts: Vec<PathBuf> = path.components().map(|part| part.as_os_str().into()).collect();
    parts.reverse();
    parts
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_path_leads_where_it_really_leads() {
        let folder = tempfile::tempdir().unwrap();
        let here = real(folder.path());
        symlink(here.join("a"), here.join("link")).unwrap();
        symlink("none/x", here.join("dangling")).unwrap();
        symlink("circle", here.join("circle")).unwrap();
        fs::create_dir(here.join("a")).unwrap();
        for (path, leads) in [
            ("link/b", "a/b"),
            ("link/../c", "c"),
            ("dangling", "none/x"),
            ("none/../../y", "../y"),
            ("./a/./b", "a/b"),
        ] {
            assert_eq!(real(&here.join(path)), real(&here.join(leads)), "{path}");
        }
        assert_eq!(real(&here.join("circle")), here.join("circle"));
        assert_eq!(real(Path::new("/../../etc")), Path::new("/etc"));
    }

    #[test]
    fn what_lies_below_the_runs_folder_is_restored_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path().join("run");
        fs::create_dir(&here).unwrap();
        symlink(folder.path(), here.join("out")).unwrap();
        let path = |name: &str| here.join(name);
        let allowed = Allowed::below(&here);
        for good in ["energy.csv", "a/b/POSCAR", "a/../state.json"] {
            assert!(
                allowed.may_restore(&path(good), LinkAtEnd::Followed).is_ok(),
                "{good}"
            );
        }
        for bad in [
            "../x.csv",
            "out/x.csv",
            "/root/.ssh/authorized_keys",
            "/proc/self/mem",
            ".cargo/config.toml",
            "sub/.git/hooks/post-checkout",
            "Cargo.toml",
            "src/main.rs",
            "run.sh",
        ] {
            assert!(
                allowed.may_restore(&path(bad), LinkAtEnd::Followed).is_err(),
                "{bad}"
            );
        }
        // What is executed, and what cargo takes for its own.
        fs::write(path("heat"), "").unwrap();
        assert!(allowed.may_restore(&path("heat"), LinkAtEnd::Followed).is_ok());
        fs::set_permissions(path("heat"), fs::Permissions::from_mode(0o755)).unwrap();
        assert!(allowed.may_restore(&path("heat"), LinkAtEnd::Followed).is_err());
        fs::create_dir_all(path("target/debug")).unwrap();
        fs::write(path("target/CACHEDIR.TAG"), "").unwrap();
        assert!(
            allowed
                .may_restore(&path("target/debug/x.dat"), LinkAtEnd::Followed)
                .is_err()
        );
    }

    #[test]
    fn what_the_user_names_or_this_machine_has_noted_is_restored() {
        let folder = tempfile::tempdir().unwrap();
        let (here, scratch) = (folder.path().join("run"), folder.path().join("scratch"));
        let mut allowed = Allowed::below(&here);
        assert!(
            allowed
                .may_restore(&scratch.join("x.csv"), LinkAtEnd::Followed)
                .is_err()
        );
        allowed.named = vec![real(&scratch)];
        assert!(
            allowed
                .may_restore(&scratch.join("deep/x.csv"), LinkAtEnd::Followed)
                .is_ok()
        );
        assert!(
            allowed
                .may_restore(&scratch.join(".bashrc"), LinkAtEnd::Followed)
                .is_err()
        );
        allowed.named = vec![real(&scratch.join(".bashrc"))];
        assert!(
            allowed
                .may_restore(&scratch.join(".bashrc"), LinkAtEnd::Followed)
                .is_ok()
        );
        allowed.named.clear();
        allowed.noted = [
            as_folder(&real(&scratch)),
            real(&here.join("run.sh")).into_os_string().into_encoded_bytes(),
        ]
        .into();
        assert!(
            allowed
                .may_restore(&scratch.join("y.csv"), LinkAtEnd::Followed)
                .is_ok()
        );
        assert!(
            allowed
                .may_restore(&scratch.join("deep/y.csv"), LinkAtEnd::Followed)
                .is_err()
        );
        assert!(
            allowed
                .may_restore(&scratch.join(".bashrc"), LinkAtEnd::Followed)
                .is_err()
        );
        assert!(
            allowed
                .may_restore(&here.join("run.sh"), LinkAtEnd::Followed)
                .is_ok()
        );
    }
}
