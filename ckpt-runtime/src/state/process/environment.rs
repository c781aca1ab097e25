//! The environment variables: what the program has set, changed and removed since it was started.
//!
//! Variables of ckpt, and those that a launcher sets for each process, are not the program's: a restart has its own.

use std::ffi::{OsStr, OsString};

use super::text::Text;
use crate::base::sorted::{SortedMap, SortedSet};

/// Beginnings of the names that are ckpt's, or that launchers and the libraries for MPI and process management give to
/// each process that they start.
const NOT_THE_PROGRAMS: &[&str] = &[
    "CKPT_",
    "OMPI_",
    "OPAL_",
    "ORTE_",
    "PRTE_",
    "PMIX_",
    "PMI_",
    "HYDRA_",
    "HYDI_",
    "MPIR_",
    "MPICH_",
    "MV2_",
    "I_MPI_",
    "PALS_",
    "ALPS_",
    "FLUX_",
    "JSM_",
    "SLURM_",
    "SLURMD_",
    "SLURMSTEPD_",
    "PBS_",
    "LSB_",
    "LSF_",
];

/// All variables that may be the program's.
pub(super) type Variables = SortedMap<OsString, OsString>;

/// What has become of some of them: a value, or none any more.
pub(super) type Changed = Vec<(Text, Option<Text>)>;

pub(super) fn now() -> Variables {
    std::env::vars_os()
        .filter(|(name, _)| is_the_programs(name))
        .collect()
}

pub(super) fn is_the_programs(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    !NOT_THE_PROGRAMS
        .iter()
        .any(|start| name.starts_with(start.as_bytes()))
}

/// The variables that are not what they were at the start, and those that have been changed before, as they are now.
pub(super) fn changed(start: &Variables, now: &Variables, before: &Changed) -> Changed {
    let before = before.iter().map(|(name, _)| OsString::from(name));
    let names = start.keys().chain(now.keys()).cloned();
    let changed: SortedSet<OsString> = names
        .filter(|name| start.get(name) != now.get(name))
        .chain(before)
        .collect();
    let value = |name: &OsString| now.get(name).map(|value| Text::from(&**value));
    changed
        .iter()
        .map(|name| (Text::from(&**name), value(name)))
        .collect()
}

/// The variables become what they were.
pub(super) fn restore(changed: &Changed) {
    for (name, value) in changed {
        let name = OsString::from(name);
        let value = value.as_ref().map(OsString::from);
        // What is not a name can stand in a damaged note only, and no variable is called so.
        let is_name = !name.is_empty()
            && !name
                .as_encoded_bytes()
                .iter()
                .any(|byte| [b'=', 0].contains(byte));
        if std::env::var_os(&name) == value || !is_name || !is_the_programs(&name) {
            continue;
        }
        // SAFETY: nobody reads the environment past the standard library, which locks it, meanwhile: a session opens at the
        // very beginning of `main`, before the program has started a thread, and those of ckpt read no variable. Where it opens
        // again after a rollback, the threads of the program have ended.
        unsafe {
            match value {
                Some(value) => std::env::set_var(name, value),
                None => std::env::remove_var(name),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(list: &[(&str, &str)]) -> Variables {
        list.iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect()
    }

    #[test]
    fn what_is_set_changed_and_removed_is_told_apart() {
        let start = variables(&[("A", "1"), ("B", "2"), ("C", "3")]);
        let now = variables(&[("A", "1"), ("B", "4"), ("D", "5")]);
        let plain = |text: &str| Text::Plain(text.into());
        let all = changed(&start, &now, &Vec::new());
        let expected = vec![
            (plain("B"), Some(plain("4"))),
            (plain("C"), None),
            (plain("D"), Some(plain("5"))),
        ];
        assert_eq!(all, expected);
        // Another process starts with `D` as the first one had made it: it is still one that the program has set.
        let start = variables(&[("A", "1"), ("B", "2"), ("D", "5")]);
        assert_eq!(changed(&start, &now, &all), expected);
    }

    #[test]
    fn variables_of_launchers_are_not_the_programs() {
        for name in [
            "CKPT_DIR",
            "OMPI_COMM_WORLD_RANK",
            "PMIX_RANK",
            "SLURM_PROCID",
            "PMI_SIZE",
        ] {
            assert!(!is_the_programs(name.as_ref()), "{name}");
        }
        for name in ["OMP_NUM_THREADS", "PATH", "MY_CKPT_DIR"] {
            assert!(is_the_programs(name.as_ref()), "{name}");
        }
    }
}
