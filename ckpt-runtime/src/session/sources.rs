//! The sources of the program, as those of one build are told from those of another. The fingerprints of its functions say
//! whether a restart can walk through them; these say whether anything else has changed that the run computes with.

use std::collections::{BTreeMap, BTreeSet};

use twox_hash::XxHash3_128;

use super::SessionError;
use super::job::SOURCES_NOTE;
use super::runs::RunRecord;
use crate::base::report::say;
use crate::format::Restored;

/// The files that the program is made of, as `#[ckpt::main]` has found them.
#[derive(Debug)]
pub struct Sources {
    /// One hash for all of them.
    pub hash: u128,
    /// The name of each, and its hash.
    pub files: &'static [(&'static str, u128)],
    /// The environment variables that it reads by name.
    pub variables: &'static [&'static str],
}

/// What tells two values apart that an environment variable had when the program was compiled; 0 where it had none.
pub const fn of_build_variable(name: &str, value: Option<&str>) -> u128 {
    let Some(value) = value else { return 0 };
    // FNV-1a of 128 bits, of the name, a byte that is in no text, and the value: constants can be made of it.
    let mut hash = hashed(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, name.as_bytes());
    hash = hashed(hash, &[0xff]);
    hashed(hash, value.as_bytes())
}

const fn hashed(mut hash: u128, bytes: &[u8]) -> u128 {
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u128).wrapping_mul(0x0100_0000_0000_0000_0000_013b);
        at += 1;
    }
    hash
}

/// What a run's record has of the builds that were processes of it: for the hash of all files, that of each by its name.
pub type Builds = BTreeMap<String, BTreeMap<String, String>>;

/// How many files are named; more are counted.
const NAMED: usize = 12;

fn digits(hash: u128) -> String {
    format!("{hash:032x}")
}

impl Sources {
    /// What a checkpoint has of them.
    pub(super) fn note(&self) -> (String, String) {
        (SOURCES_NOTE.to_owned(), digits(self.hash))
    }

    /// Puts them into a run's record.
    pub(super) fn enter(&self, builds: &mut Builds) {
        builds.entry(digits(self.hash)).or_insert_with(|| self.by_name());
    }

    fn by_name(&self) -> BTreeMap<String, String> {
        let line = |(name, hash): &(&str, u128)| ((*name).to_owned(), digits(*hash));
        self.files.iter().map(line).collect()
    }
}

/// A checkpoint of one build that another is about to continue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Changed {
    theirs: Option<String>,
    ours: Option<String>,
}

/// Whether the checkpoint was taken by a build of other sources, or of one whose sources are not known.
pub(super) fn changed(restored: &Restored, ours: Option<&Sources>) -> Option<Changed> {
    let notes = restored.meta().notes.iter();
    let theirs = notes
        .map(|(name, text)| (name, text))
        .find(|(name, _)| *name == SOURCES_NOTE);
    let changed = Changed {
        theirs: theirs.map(|(_, text)| text.clone()),
        ours: ours.map(|ours| digits(ours.hash)),
    };
    (changed.theirs != changed.ours).then_some(changed)
}

impl Changed {
    /// A number that is another for other sources, on either side.
    pub(super) fn number(this: Option<&Changed>) -> u128 {
        let Some(Changed { theirs, ours }) = this else {
            return 0;
        };
        XxHash3_128::oneshot(format!("{theirs:?} {ours:?}").as_bytes())
    }

    /// Which files have changed, as far as the record of the run has those of the checkpoint.
    pub(super) fn files(&self, restored: &Restored, ours: Option<&Sources>, records: &[RunRecord]) -> String {
        let (Some(theirs), Some(ours)) = (&self.theirs, ours) else {
            return match self.theirs {
                None => "the checkpoint does not say what its program was made of".into(),
                Some(_) => "this program does not know what it was made of".into(),
            };
        };
        let record = records
            .iter()
            .find(|record| Some(record.run) == restored.meta().run);
        let job = record.and_then(|record| record.job.as_ref().ok());
        match job.and_then(|job| job.sources.get(theirs)) {
            Some(theirs) => listed(theirs, &ours.by_name()),
            None => "which files differ is not recorded in the store".into(),
        }
    }
}

/// The names of the files that differ.
fn listed(theirs: &BTreeMap<String, String>, ours: &BTreeMap<String, String>) -> String {
    let names: BTreeSet<&String> = theirs.keys().chain(ours.keys()).collect();
    let differing = names
        .into_iter()
        .filter_map(|name| match (theirs.get(name), ours.get(name)) {
            (Some(before), Some(now)) => (before != now).then(|| format!("`{name}` has changed")),
            (None, _) => Some(format!("`{name}` is new")),
            (_, None) => Some(format!("`{name}` is gone")),
        });
    let mut listed: Vec<String> = differing.collect();
    let more = listed.len().saturating_sub(NAMED);
    listed.truncate(NAMED);
    if more > 0 {
        listed.push(format!("and {more} more"));
    }
    listed.join(", ")
}

/// The refusal of a restart that is to have the sources of its checkpoint.
pub(super) fn refused(
    changed: &Changed,
    restored: &Restored,
    ours: Option<&Sources>,
    records: &[RunRecord],
) -> SessionError {
    SessionError::OtherSources {
        id: restored.id(),
        files: changed.files(restored, ours, records),
    }
}

/// Says that the restart goes on with other sources.
pub(super) fn mention(changed: &Changed, restored: &Restored, ours: Option<&Sources>, records: &[RunRecord]) {
    let (id, files) = (restored.id(), changed.files(restored, ours, records));
    say(&format!(
        "warning[W2071]: checkpoint {id} was taken by a build of other sources: {files}\n  \
         why:   what the run has computed so far is from that build, and what it computes from here on is from this one\n  \
         help:  nothing has to be done where the change was meant; build the sources of the checkpoint again where it was not;\n         \
         `strict = true` in ckpt.toml (CKPT_STRICT=1) refuses such a restart"
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(list: &[(&str, &str)]) -> BTreeMap<String, String> {
        let file = |(name, hash): &(&str, &str)| ((*name).to_owned(), (*hash).to_owned());
        list.iter().map(file).collect()
    }

    #[test]
    fn what_differs_is_named() {
        let before = files(&[("a", "1"), ("b", "1"), ("c", "1")]);
        let now = files(&[("a", "1"), ("b", "2"), ("d", "1")]);
        assert_eq!(listed(&before, &now), "`b` has changed, `c` is gone, `d` is new");
        let names: Vec<String> = (0..NAMED + 3).map(|k| format!("f{k:02}")).collect();
        let many = names.iter().map(|name| (name.clone(), String::new())).collect();
        let listed = listed(&BTreeMap::new(), &many);
        assert!(listed.ends_with("`f11` is new, and 3 more"), "{listed}");
    }

    #[test]
    fn values_that_variables_had_in_the_build_are_told_apart() {
        let all: BTreeSet<u128> = [
            ("A", None),
            ("A", Some("")),
            ("A", Some("1")),
            ("B", Some("1")),
            ("A1", Some("")),
        ]
        .map(|(name, value)| of_build_variable(name, value))
        .into();
        assert_eq!(all.len(), 5);
    }

    #[test]
    fn both_sides_count() {
        let of = |theirs: &str, ours: Option<&str>| Changed {
            theirs: Some(theirs.into()),
            ours: ours.map(str::to_owned),
        };
        let numbers: BTreeSet<u128> = [of("1", None), of("1", Some("2")), of("3", Some("2"))]
            .iter()
            .map(|changed| Changed::number(Some(changed)))
            .chain([Changed::number(None)])
            .collect();
        assert_eq!(numbers.len(), 4);
    }
}
