//! Which features of ckpt a program needs for the values of the crates that it depends on.

use std::collections::BTreeMap;

use super::read::ReadPackage;

/// The features of ckpt that the copy of a package needs, under the name of its first package: cargo builds the library
/// once for all of them.
pub fn of_package(package: &ReadPackage) -> BTreeMap<String, Vec<String>> {
    let packages = &package.workspace.packages;
    let dependencies: Vec<(String, String)> = packages
        .iter()
        .flat_map(|package| &package.dependencies)
        .map(|dependency| (dependency.name.clone(), dependency.version.to_string()))
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
    ("fastrand", "2", "fastrand"),
    ("indexmap", "2", "indexmap"),
    ("mpi", "0.8", "mpi"),
    ("nalgebra", "0.32", "nalgebra-0.32"),
    ("nalgebra", "0.33", "nalgebra-0.33"),
    ("nalgebra", "0.34", "nalgebra-0.34"),
    ("nalgebra", "0.35", "nalgebra"),
    ("ndarray", "0.15", "ndarray-0.15"),
    ("ndarray", "0.16", "ndarray-0.16"),
    ("ndarray", "0.17", "ndarray"),
    ("num-complex", "0.4", "num-complex"),
    ("num", "0.4", "num-complex"),
    ("oorandom", "11", "oorandom"),
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
];

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
        assert!(features(&[("rand", "0.7.3"), ("ndarray", "0.1"), ("indexmap", "1.9.3")]).is_empty());
    }

    #[test]
    fn the_runtime_has_them_all() {
        let manifest = include_str!("../../../ckpt-runtime/Cargo.toml");
        let manifest: toml::Table = manifest.parse().unwrap();
        let has: BTreeSet<&str> = manifest["features"]
            .as_table()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        let named: BTreeSet<&str> = KNOWN
            .iter()
            .map(|(_, _, feature)| *feature)
            .chain(["values", "static-hdf5"])
            .collect();
        assert_eq!(named, has, "the table and the features of ckpt-runtime");
    }
}
