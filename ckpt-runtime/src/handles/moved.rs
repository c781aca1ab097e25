//! Paths that are elsewhere now: what was below one folder when a checkpoint was taken is below another at the restart.
//! `CKPT_MAP` says so, a line `OLD=NEW` for each, both absolute and without `..`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::{PoisonError, RwLock};

use super::allowed::real;
use super::{Place, start_folder};

/// The variable.
pub(crate) const VARIABLE: &str = "CKPT_MAP";

/// Old and new paths.
pub(crate) type Moves = Vec<(PathBuf, PathBuf)>;

/// Where a path of a checkpoint is now.
pub(crate) fn now(path: PathBuf) -> PathBuf {
    moved(path, &moves())
}

/// The folder that a run was started in which is continued elsewhere, where nobody has said what has become of it.
static LEFT: RwLock<Option<Place>> = RwLock::new(None);

/// A run that was started there is continued in another folder.
pub(crate) fn leave(place: Place) {
    *LEFT.write().unwrap_or_else(PoisonError::into_inner) = Some(place);
}

/// Whether a path, as it is now, is in the folder that was left, by whatever name, and not in that of this process.
pub(crate) fn is_left_behind(path: &Path) -> bool {
    let left = LEFT.read().unwrap_or_else(PoisonError::into_inner);
    let Some(left) = &*left else { return false };
    let now = real(&start_folder().join(path));
    if now.starts_with(real(start_folder())) {
        return false;
    }
    let was_in = |folder: &Path| {
        let then = folder.join(path);
        then.starts_with(folder) && path.is_absolute() || real(&then).starts_with(real(folder))
    };
    was_in(&left.folder) || left.named.as_deref().is_some_and(was_in)
}

/// What has moved, as the variable says.
pub(crate) fn moves() -> Moves {
    // A session has refused what cannot be read.
    let moves = std::env::var_os(VARIABLE).and_then(|text| read(&text));
    moves.unwrap_or_default()
}

/// Where paths are said to be now.
pub(super) fn targets() -> Vec<PathBuf> {
    moves().into_iter().map(|(_, new)| new).collect()
}

/// What the variable says; `None` where it makes no sense.
pub(crate) fn read(text: &OsStr) -> Option<Moves> {
    let lines = text.as_bytes().split(|&byte| byte == b'\n');
    let path = |bytes: &[u8]| {
        let path = PathBuf::from(OsStr::from_bytes(bytes));
        let is_plain = path.is_absolute() && path.components().all(|part| part != Component::ParentDir);
        // Journals have no other way to write it.
        is_plain.then(|| path.components().collect())
    };
    let line = |line: &[u8]| {
        let at = line.iter().position(|&byte| byte == b'=')?;
        Some((path(&line[..at])?, path(&line[at + 1..])?))
    };
    lines.filter(|text| !text.is_empty()).map(line).collect()
}

/// By the longest of the old paths that it is below.
pub(crate) fn moved(path: PathBuf, moves: &[(PathBuf, PathBuf)]) -> PathBuf {
    // Given once more, a move does not move what it has moved already.
    let applies = |(old, new): &&(PathBuf, PathBuf)| {
        path.starts_with(old) && !(new.starts_with(old) && path.starts_with(new))
    };
    let longest = moves
        .iter()
        .filter(applies)
        .max_by_key(|(old, _)| old.as_os_str().len());
    match longest.and_then(|(old, new)| Some((new, path.strip_prefix(old).ok()?))) {
        Some((new, rest)) if rest == Path::new("") => new.clone(),
        Some((new, rest)) => new.join(rest),
        None => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_below_one_folder_is_below_another() {
        let moves = read("/home/a=/work\n/home/a/data=/data\n/scratch=/scratch/old\n".as_ref()).unwrap();
        for (old, new) in [
            ("/home/a/out.txt", "/work/out.txt"),
            ("/home/a/data/out.txt", "/data/out.txt"),
            ("/home/a", "/work"),
            ("/home/ab", "/home/ab"),
            ("home/a", "home/a"),
            ("/scratch/x", "/scratch/old/x"),
            ("/scratch/old/x", "/scratch/old/x"),
        ] {
            assert_eq!(moved(old.into(), &moves), Path::new(new));
        }
        let not_text = OsStr::from_bytes(b"/home/a/\xff");
        assert_eq!(
            moved(not_text.into(), &moves).as_os_str().as_bytes(),
            b"/work/\xff"
        );
    }

    #[test]
    fn what_is_in_the_folder_that_was_left_is_known() {
        leave(Place {
            folder: "/nobody/was/here".into(),
            store: "/nobody/was/here/x.ckpt.d".into(),
            named: Some("/by/a/link".into()),
        });
        for (path, is_left) in [
            ("/by/a/link/out.txt", true),
            ("../here/out.txt", true),
            ("../../was/here", true),
            ("../there/out.txt", false),
            ("sub/../out.txt", false),
            ("/nobody/was/here/out.txt", true),
            ("/nobody/was/here", true),
            ("/nobody/was/hereabouts", false),
            ("out.txt", false),
        ] {
            assert_eq!(is_left_behind(Path::new(path)), is_left, "{path}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for text in [
            "/a",
            "a=/b",
            "/a=b",
            "/a=",
            "=/b",
            "/a=/b\nx",
            "/a=/b/../c",
            "/a/..=/b",
        ] {
            assert_eq!(read(text.as_ref()), None, "{text}");
        }
        assert_eq!(read("/a=/b=c".as_ref()), Some(vec![("/a".into(), "/b=c".into())]));
        let (old, new) = &read("/a/=/b/./c//".as_ref()).unwrap()[0];
        assert_eq!(
            (old.as_os_str(), new.as_os_str()),
            ("/a".as_ref(), "/b/c".as_ref())
        );
    }
}
