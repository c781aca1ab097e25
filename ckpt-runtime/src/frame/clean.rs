//! `CKPT_CHECK_UNWRITTEN=1`: what the compiler says not to change between two visits of a site is compared with what it was.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::OnceLock;

use super::thread::FunctionSite;
use super::visit::position;
use crate::base::report::{Fatal, headline};
use crate::value::{Column, Encoder, Owner};

/// Whether it is to be done.
pub(super) fn is_checked() -> bool {
    // A switch for tests, the same for all sessions of the process.
    static CHECKS: OnceLock<bool> = OnceLock::new();
    *CHECKS.get_or_init(|| std::env::var_os("CKPT_CHECK_UNWRITTEN").is_some_and(|value| value == "1"))
}

thread_local! {
    /// What this thread has saved of them last.
    static LAST: RefCell<HashMap<Owner, Column>> = RefCell::default();
}

/// Forgets what was: for a session that begins.
pub(super) fn forget() {
    LAST.with_borrow_mut(HashMap::clear);
}

/// Whether a value is what it was when it was saved at this place before.
pub(super) fn is_as_last(owner: Owner, save: &dyn Fn(&mut Encoder<'_>)) -> bool {
    let now = Column::of(save);
    LAST.with_borrow_mut(|last| *last.entry(owner).or_insert_with(|| now.clone()) == now)
}

pub(super) fn was_written(place: FunctionSite, key: &str) -> Fatal {
    Fatal::refused(headline!(
        "E2031: `{key}` of `{}` has changed, and was not to: this is a bug in ckpt",
        place.0.function
    ))
    .at(position(place))
    .why("ckpt has seen no write to it between two visits of this site; please report it")
    .help("`full-every = 1` does without what ckpt knows of writes")
}
