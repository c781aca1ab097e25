//! Whose files are taken for what they say: the user's own, and those of users that he names. A store that somebody else
//! has made, or whose files somebody else can change at any moment, is his to begin with.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::OnceLock;

/// Numbers of users, separated by commas.
pub(crate) const VARIABLE: &str = "CKPT_TRUST";

/// Those that the command line names.
static NAMED: OnceLock<Vec<u32>> = OnceLock::new();

/// From now on files of these users are taken, as the user's own are; said once in a process. Without it CKPT_TRUST says
/// whose.
pub fn trust(users: Vec<u32>) {
    let _ = NAMED.set(users);
}

/// What the variable says; `None` where it makes no sense.
pub(crate) fn read(text: &str) -> Option<Vec<u32>> {
    let users = text.split(',').map(str::trim).filter(|user| !user.is_empty());
    users.map(|user| user.parse().ok()).collect()
}

fn is_trusted(user: u32) -> bool {
    let named = |users: &[u32]| users.contains(&user);
    user == rustix::process::geteuid().as_raw()
        || match NAMED.get() {
            Some(users) => named(users),
            None => std::env::var(VARIABLE)
                .ok()
                .and_then(|text| read(&text))
                .is_some_and(|users| named(&users)),
        }
}

/// An error where what was found belongs to somebody whom nobody has named.
///
/// # Errors
/// [`io::ErrorKind::PermissionDenied`].
pub(crate) fn belongs_to_the_user(found: &Metadata) -> io::Result<()> {
    let owner = found.uid();
    match is_trusted(owner) {
        true => Ok(()),
        false => Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!(
                "it belongs to user {owner}, and not to you (user {}); `--trust {owner}` (CKPT_TRUST={owner}) takes what that user has written",
                rustix::process::geteuid().as_raw()
            ),
        )),
    }
}

/// Who owns a folder, if that is nobody whose stores are taken.
pub(crate) fn stranger(folder: &Path) -> Option<u32> {
    let found = std::fs::metadata(folder).ok()?;
    (!is_trusted(found.uid())).then(|| found.uid())
}
