//! A program of several processes with attributes of its own, built as it stands: sites that somebody has put are looked
//! at, and a loop that an attribute has chosen is refused, also where the program was built without `cargo ckpt`.

use std::fs;
use std::path::PathBuf;

use mpi_tests::{Job, build, make_package, target};

/// A ring whose messages are received one turn later, so that its body begins while they are on their way.
const CARRIED: &str = r#"
use mpi::traits::*;

#[ckpt::main]
fn main() {
    let universe = mpi::initialize().expect("MPI comes up");
    #[ckpt(reexecute)]
    let world = universe.world();
    let (rank, size) = (world.rank(), world.size());
    let (right, left) = ((rank + 1) % size, (rank + size - 1) % size);
    let mut token = rank;
    world.process_at_rank(right).send(&token);
    for turn in 0..20 {
        // FIRST
        let (next, _) = world.process_at_rank(left).receive::<i32>();
        token = next + turn;
        // SECOND
        world.process_at_rank(right).send(&token);
    }
    let (last, _) = world.process_at_rank(left).receive::<i32>();
    println!("{rank}: {last}");
}
"#;

/// The program with these in the places of its marks, as the programs of one package.
fn package(programs: &[(&str, &str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("src/bin");
    fs::create_dir_all(&source).expect("a folder for the programs");
    for (name, first, second) in programs {
        let text = CARRIED.replace("// FIRST", first).replace("// SECOND", second);
        fs::write(source.join(format!("{name}.rs")), text).expect("it is written");
    }
    make_package(folder.path(), "marked");
    folder
}

/// What these programs need has been built there for the copies of others.
fn built() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(target, PathBuf::from);
    target.join("ckpt/build")
}

#[test]
fn a_loop_that_an_attribute_chooses_is_refused() {
    let package = package(&[("chosen", "", "")]);
    let job = Job::of(package.path());
    let told = format!("--bin chosen --target-dir {} -n 2 --every 5", built().display());
    let ended = job.ckpt("run", &told).noted();
    assert_eq!(ended.code, Some(79), "{}", ended.stderr);
    for told in [
        "its attribute would choose a loop of `main`",
        "src/bin/chosen.rs:5",
    ] {
        assert!(ended.stderr.contains(told), "{told}: {}", ended.stderr);
    }

    let program = build(package.path(), "chosen", &built(), &[]);
    for ranks in [1, 2] {
        let ended = job.run_built(&program, &format!("-n {ranks} --every 5")).noted();
        assert_eq!(ended.code, Some(79), "{}", ended.stderr);
        for told in [
            "nobody has looked whether messages cross the site that `#[ckpt::main]` has chosen in `main`",
            "src/bin/chosen.rs:13",
        ] {
            assert!(ended.stderr.contains(told), "{told}: {}", ended.stderr);
        }
    }
}

#[test]
fn sites_that_somebody_has_put_are_looked_at() {
    let site = "ckpt::checkpoint!();";
    let later = "drop(async { ckpt::checkpoint!(); });";
    let package = package(&[("crossed", site, ""), ("safe", "", site), ("later", later, "")]);
    let job = Job::of(package.path());
    let run = |bin: &str| {
        let target = built();
        job.ckpt(
            "run",
            &format!("--bin {bin} --target-dir {} -n 2 --every 5", target.display()),
        )
    };
    let crossed = run("crossed").noted();
    assert_eq!(crossed.code, Some(79), "{}", crossed.stderr);
    assert!(crossed.stderr.contains("still on its way"), "{}", crossed.stderr);
    let later = run("later").noted();
    assert_eq!(later.code, Some(79), "{}", later.stderr);
    assert!(later.stderr.contains("E1305"), "{}", later.stderr);
    let safe = run("safe");
    assert_eq!(safe.code, Some(0), "{}", safe.stderr);
    assert_eq!(safe.stdout.lines().count(), 2, "{}", safe.stdout);
}
