//! The packages of `testdata/mpi`: a site at the line `// SITE` of each is a safe point, or is refused with the call that is
//! in the way.

use super::analysed;
use crate::{ChooseOptions, Placement, place};
use std::path::{Path, PathBuf};

struct Pattern {
    name: String,
    text: String,
    expected: toml::Table,
}

fn patterns() -> Vec<Pattern> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/mpi");
    let mut folders: Vec<PathBuf> = std::fs::read_dir(root)
        .expect("testdata/mpi")
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    let read = |folder: &PathBuf| Pattern {
        name: folder.file_name().expect("a name").to_string_lossy().into_owned(),
        text: std::fs::read_to_string(folder.join("src/main.rs")).expect("a program"),
        expected: std::fs::read_to_string(folder.join("pattern.toml"))
            .expect("pattern.toml")
            .parse()
            .expect("TOML"),
    };
    folders.iter().map(read).collect()
}

impl Pattern {
    fn is_safe(&self) -> bool {
        self.expected["safe"].as_bool().expect("a truth value")
    }

    fn with(&self, site: &str) -> Placement {
        self.changed(&[], site)
    }

    fn changed(&self, changes: &[(&str, &str)], site: &str) -> Placement {
        let changed = changes.iter().fold(self.text.clone(), |text, (old, new)| {
            assert!(text.contains(old), "{}: {old}", self.name);
            text.replacen(old, new, 1)
        });
        let text = changed.replace("// SITE", site);
        let analysis = analysed(&[("main.rs", &text)]);
        let main = analysis.items.main_of(0).expect("a main");
        place(&analysis, main, &ChooseOptions::default())
    }
}

#[test]
fn half_of_ten_patterns_are_safe() {
    let all = patterns();
    let safe = all.iter().filter(|one| one.is_safe()).count();
    assert!(
        all.len() >= 10 && safe >= 5 && all.len() - safe >= 5,
        "{safe} of {}",
        all.len()
    );
}

#[test]
fn a_site_of_the_user_is_told_safe_or_refused() {
    for pattern in patterns() {
        let placement = pattern.with("ckpt::checkpoint!();");
        if pattern.is_safe() {
            let told: Vec<_> = placement.rejected.iter().flat_map(|one| &one.reasons).collect();
            assert_eq!(placement.sites.len(), 1, "{}: {told:?}", pattern.name);
            let safe = placement.sites[0].safe.as_deref().unwrap_or_default();
            assert!(
                safe.starts_with("no message crosses it"),
                "{}: {safe}",
                pattern.name
            );
        } else {
            assert!(
                placement.sites.is_empty(),
                "{}: {:?}",
                pattern.name,
                placement.sites
            );
            let what = &placement.rejected[0].reasons[0].cause.words().what.to_string();
            let word = |key: &str| pattern.expected[key].as_str().expect("a text");
            assert!(
                what.contains(word("call")) && what.contains(word("why")),
                "{}: {what}",
                pattern.name
            );
        }
    }
}

#[test]
fn what_is_said_to_do_about_it_helps() {
    for pattern in patterns().iter().filter(|one| !one.is_safe()) {
        let refused = pattern.with("ckpt::checkpoint!();");
        let instead = refused.rejected[0].reasons[0].cause.words().instead.to_string();
        let way = pattern.expected["way"].as_str().expect("a text");
        assert!(instead.contains(way), "{}: {instead}", pattern.name);
        let changes = pattern.expected["mended"].as_array().expect("a list");
        let changes: Vec<(&str, &str)> = changes
            .iter()
            .map(|pair| {
                (
                    pair[0].as_str().expect("a text"),
                    pair[1].as_str().expect("a text"),
                )
            })
            .collect();
        let mended = pattern.changed(&changes, "ckpt::checkpoint!();");
        let told: Vec<_> = mended.rejected.iter().flat_map(|one| &one.reasons).collect();
        assert!(
            !mended.sites.is_empty() && told.is_empty(),
            "{}: {told:?}",
            pattern.name
        );
    }
}

/// But not where another sort of site is for the loop: the ranks would not come to it equally often.
#[test]
fn the_user_may_vouch() {
    for pattern in patterns().iter().filter(|one| !one.is_safe()) {
        let placement = pattern.with("ckpt::checkpoint!(safe);");
        if pattern.name == "uneven" {
            let told = placement.rejected[0].reasons[0].cause.words().instead.to_string();
            assert!(
                placement.sites.is_empty() && told.contains("`ckpt::checkpoint!(phase);`"),
                "{told}"
            );
            continue;
        }
        assert_eq!(placement.sites.len(), 1, "{}", pattern.name);
    }
}

#[test]
fn what_is_chosen_is_a_safe_point() {
    for pattern in patterns() {
        let analysis = analysed(&[("main.rs", &pattern.text)]);
        let main = analysis.items.main_of(0).expect("a main");
        let placement = place(&analysis, main, &ChooseOptions::default());
        if pattern.is_safe() {
            assert!(!placement.sites.is_empty(), "{}: {placement}", pattern.name);
        }
        let points = analysis.safe_points(main, None).expect("it uses MPI");
        let sites: Vec<_> = placement
            .sites
            .iter()
            .map(|one| (one.function.0, one.site.at))
            .collect();
        assert!(
            sites.is_empty() || points.check(&sites).is_ok(),
            "{}: {placement}",
            pattern.name
        );
    }
}
