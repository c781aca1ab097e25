//! Which features of ckpt a program needs for the values of the crates that it depends on.

use std::collections::BTreeMap;
use std::env;

use crate::package::read::ReadPackage;
use crate::stores::session_setting;

/// What the manifests of a program need so that its values can be saved.
#[derive(Debug, Clone, Default)]
pub struct Needs {
    /// The features of ckpt, by the package that depends on it.
    pub of_ckpt: BTreeMap<String, Vec<String>>,
    /// Features of other crates by which their types implement serde, by the package that depends on them.
    pub serde: BTreeMap<String, Vec<WithSerde>>,
}

/// A crate whose types go through serde, if a feature of it is on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithSerde {
    /// The name of its package.
    pub name: String,
    /// The version that cargo has chosen.
    pub version: String,
    /// The feature.
    pub feature: String,
}

/// What the features are called that implement serde. Where there is another, `serde` may be the bare dependency.
const SERDE: &[&str] = &[
    "serde1",
    "serde-1",
    "serde_1",
    "serde-serialize",
    "serialize",
    "serde",
];

/// The crates that the program's own packages depend on, whose types could go through serde, and do not now.
pub fn without_serde(package: &ReadPackage) -> BTreeMap<String, Vec<WithSerde>> {
    let workspace = &package.workspace;
    let offered = |id: &cargo_metadata::PackageId| {
        let found = &workspace.metadata[id];
        let feature = SERDE.iter().find(|name| found.features.contains_key(**name))?;
        let nodes = &workspace.metadata.resolve.as_ref()?.nodes;
        let is_on = nodes
            .iter()
            .any(|node| node.id == *id && node.features.iter().any(|on| on.as_str() == *feature));
        let is_of_registry = found
            .source
            .as_ref()
            .is_some_and(|source| source.repr.starts_with("registry+"));
        let (name, version) = (found.name.to_string(), found.version.to_string());
        let is_known = !features_for(&[(name.clone(), version.clone())]).is_empty();
        (is_of_registry && !is_on && !is_known).then(|| WithSerde {
            name,
            version,
            feature: (*feature).to_owned(),
        })
    };
    let each = workspace.packages.iter().map(|package| {
        let found = package.dependencies.iter().filter_map(|one| offered(&one.id));
        (package.name.clone(), found.collect::<Vec<_>>())
    });
    each.filter(|(_, found)| !found.is_empty()).collect()
}

/// What a package needs; with `serde`, types of other crates go through it where they can.
pub fn needs_of(package: &ReadPackage, serde: bool) -> Needs {
    let mut needs = Needs {
        of_ckpt: of_package(package),
        serde: if serde {
            without_serde(package)
        } else {
            BTreeMap::new()
        },
    };
    if let Some(first) = package.workspace.packages.first() {
        for feature in serde.then_some("serde").into_iter().chain(of_settings()) {
            let own = needs.of_ckpt.entry(first.name.clone()).or_default();
            if !own.iter().any(|known| known == feature) {
                own.push(feature.into());
            }
        }
    }
    needs
}

/// The features of ckpt that the settings ask for with which the program will run: how checkpoints are compressed.
pub fn of_settings() -> Option<&'static str> {
    let said = env::var("CKPT_COMPRESSION").ok().filter(|said| !said.is_empty());
    // A file that is not valid is the program's to refuse.
    let in_file = || session_setting("compression").ok().flatten();
    let said = said.or_else(in_file)?;
    (said.trim() == ZSTD).then_some(ZSTD)
}

/// A way to compress, and the feature that builds it.
const ZSTD: &str = "zstd";

/// The features of ckpt that the copy of a package needs, under the name of its first package: cargo builds the library
/// once for all of them.
fn of_package(package: &ReadPackage) -> BTreeMap<String, Vec<String>> {
    let packages = &package.workspace.packages;
    // A crate that is not the user's may be the only one that speaks of MPI.
    let of_others = package.workspace.communicating().into_iter();
    let of_others = of_others.map(|(_, library)| (library.name.to_string(), library.version.to_string()));
    let dependencies: Vec<(String, String)> = packages
        .iter()
        .flat_map(|package| &package.dependencies)
        .map(|dependency| (dependency.name.clone(), dependency.version.to_string()))
        .chain(of_others)
        .collect();
    let features = features_for(&dependencies);
    let first = packages.first().filter(|_| !features.is_empty());
    first
        .map(|package| (package.name.clone(), features))
        .into_iter()
        .collect()
}

/// What the runtime knows: a crate, the beginning of its version, the feature of ckpt. `ckpt-runtime/Cargo.toml` has the
/// other half.
const KNOWN: &[(&str, &str, &str)] = &[
    ("arrayvec", "0.7", "arrayvec"),
    ("csv", "1", "csv"),
    ("cudarc", "0.19", "cudarc"),
    ("fastrand", "2", "fastrand"),
    ("hashbrown", "0.14", "hashbrown-0.14"),
    ("hashbrown", "0.15", "hashbrown-0.15"),
    ("hashbrown", "0.16", "hashbrown"),
    ("image", "0.24", "image-0.24"),
    ("image", "0.25", "image"),
    ("indexmap", "2", "indexmap"),
    ("mpi", "0.7", "mpi"),
    ("mpi", "0.8", "mpi"),
    ("mpi-sys", "0.2", "mpi"),
    ("nalgebra", "0.32", "nalgebra-0.32"),
    ("nalgebra", "0.33", "nalgebra-0.33"),
    ("nalgebra", "0.34", "nalgebra-0.34"),
    ("nalgebra", "0.35", "nalgebra"),
    ("ndarray", "0.15", "ndarray-0.15"),
    ("ndarray", "0.16", "ndarray-0.16"),
    ("ndarray", "0.17", "ndarray"),
    ("num-complex", "0.2", "num-complex-0.2"),
    ("num", "0.2", "num-complex-0.2"),
    ("num-complex", "0.3", "num-complex-0.3"),
    ("num", "0.3", "num-complex-0.3"),
    ("num-complex", "0.4", "num-complex"),
    ("num", "0.4", "num-complex"),
    ("ocl", "0.19", "ocl"),
    ("oorandom", "11", "oorandom"),
    ("opencl3", "0.12", "opencl3"),
    ("rand", "0.8", "rand-0.8"),
    ("rand", "0.9", "rand"),
    ("rand", "0.10", "rand-0.10"),
    ("rand_chacha", "0.3", "rand_chacha-0.3"),
    ("rand_chacha", "0.9", "rand_chacha"),
    ("rand_chacha", "0.10", "rand_chacha-0.10"),
    ("rand_pcg", "0.3", "rand_pcg-0.3"),
    ("rand_pcg", "0.9", "rand_pcg"),
    ("rand_pcg", "0.10", "rand_pcg-0.10"),
    ("rand_xoshiro", "0.6", "rand_xoshiro-0.6"),
    ("rand_xoshiro", "0.7", "rand_xoshiro"),
    ("rand_xoshiro", "0.8", "rand_xoshiro-0.8"),
    ("serde", "1", "serde"),
    ("smallvec", "1", "smallvec"),
    ("wgpu", "30", "wgpu"),
];

/// Whether ckpt has a feature for the values of a crate.
pub fn is_known(name: &str) -> bool {
    KNOWN.iter().any(|(known, _, _)| known.replace('-', "_") == name)
}

/// Features that no dependency calls for.
const BY_CHOICE: [&str; 5] = ["values", "static-hdf5", "tracing", "opencl", ZSTD];

/// All features of ckpt, in the order of the alphabet.
pub fn known_features() -> Vec<&'static str> {
    let mut all: Vec<&str> = KNOWN
        .iter()
        .map(|(_, _, feature)| *feature)
        .chain(BY_CHOICE)
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The features of ckpt for these dependencies, each a crate's name and its version (`0.8.5`) or what a manifest asks for
/// (`^0.8`), in the order of the alphabet. A version that ckpt does not know has none.
pub fn features_for(dependencies: &[(String, String)]) -> Vec<String> {
    let wanted = |(name, version, _): &&(&str, &str, &str)| {
        dependencies
            .iter()
            .any(|(crate_name, found)| crate_name == name && is_of(found, version))
    };
    let mut features: Vec<String> = KNOWN
        .iter()
        .filter(wanted)
        .map(|(_, _, feature)| (*feature).to_owned())
        .collect();
    features.sort_unstable();
    features.dedup();
    features
}

/// Whether a version or requirement is of the series `series`, number by number: `0.10.3` is not of `0.1`.
fn is_of(version: &str, series: &str) -> bool {
    let version = version.trim_start_matches(|sign: char| !sign.is_ascii_digit());
    let mut numbers = version.split(['.', ',', ' ', '-', '+']);
    series.split('.').all(|number| numbers.next() == Some(number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn features(dependencies: &[(&str, &str)]) -> Vec<String> {
        let owned: Vec<(String, String)> = dependencies
            .iter()
            .map(|(name, version)| ((*name).to_owned(), (*version).to_owned()))
            .collect();
        features_for(&owned)
    }

    #[test]
    fn every_version_has_its_feature() {
        assert_eq!(
            features(&[("rand", "0.8.5"), ("ndarray", "0.17.2"), ("clap", "4.5.1")]),
            ["ndarray", "rand-0.8"]
        );
        assert_eq!(features(&[("rand", "0.10.3")]), ["rand-0.10"]);
        assert_eq!(
            features(&[("rand", "^0.9"), ("smallvec", "1"), ("nalgebra", "=0.33.2")]),
            ["nalgebra-0.33", "rand", "smallvec"]
        );
        assert_eq!(
            features(&[("num", "0.4.3"), ("num-complex", "0.4.6")]),
            ["num-complex"]
        );
        assert_eq!(
            features(&[("num", "0.2.1"), ("hashbrown", "^0.14.3")]),
            ["hashbrown-0.14", "num-complex-0.2"]
        );
        assert!(features(&[("rand", "0.7.3"), ("ndarray", "0.1"), ("indexmap", "1.9.3")]).is_empty());
    }

    #[test]
    fn the_runtime_has_them_all() {
        let manifest = include_str!("../../../../ckpt-runtime/Cargo.toml");
        let manifest: toml::Table = manifest.parse().unwrap();
        let has: BTreeSet<&str> = manifest["features"]
            .as_table()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        let named: BTreeSet<&str> = known_features().into_iter().collect();
        assert_eq!(named, has, "the table and the features of ckpt-runtime");
    }
}
