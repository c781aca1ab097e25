//! The packages of `testdata/mpi` whose site is no safe point: none of the commands takes it, and where somebody vouches for it
//! wrongly, the check at run time catches it.

use std::fs;
use std::path::{Path, PathBuf};

use mpi_tests::{Ended, Job};

/// Its patterns as programs of one package, so that what they need is built once.
struct Patterns {
    folder: tempfile::TempDir,
}

impl Patterns {
    /// With this in the place of `// SITE`.
    fn with(site: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let programs = folder.path().join("src/bin");
        fs::create_dir_all(&programs).expect("a folder for the programs");
        for name in unsafe_patterns() {
            let text = fs::read_to_string(testdata().join(&name).join("src/main.rs")).expect("a program");
            assert!(text.contains("// SITE"), "{name}");
            fs::write(programs.join(format!("{name}.rs")), text.replace("// SITE", site))
                .expect("it is written");
        }
        let manifest = "[package]\nname = \"patterns\"\nversion = \"1.0.0\"\nedition = \"2021\"\n\n[dependencies]\nmpi = \"0.8\"\n\n\
                        [profile.dev]\nopt-level = 1\n[profile.dev.package.\"*\"]\nopt-level = 0\n\n[workspace]\n";
        fs::write(folder.path().join("Cargo.toml"), manifest).expect("it is written");
        fs::copy(here().join("../Cargo.lock"), folder.path().join("Cargo.lock"))
            .expect("the versions that all use");
        Patterns { folder }
    }

    fn run(&self, name: &str, options: &str) -> Ended {
        let mut job = Job::of(self.folder.path());
        job.set("CKPT_CHECK_SAFE_POINTS", "1");
        let target =
            std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| here().join("../target"), PathBuf::from);
        job.ckpt(
            "run",
            &format!("--bin {name} --target-dir {} {options}", target.display()),
        )
    }
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn testdata() -> PathBuf {
    here().join("../../testdata/mpi")
}

fn unsafe_patterns() -> Vec<String> {
    let folders = fs::read_dir(testdata()).expect("testdata/mpi").flatten();
    let mut names: Vec<String> = folders
        .filter(|folder| {
            let told = fs::read_to_string(folder.path().join("pattern.toml"));
            told.is_ok_and(|told| told.contains("safe = false"))
        })
        .map(|folder| folder.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert!(names.len() >= 5, "{names:?}");
    names
}

#[test]
fn a_site_that_is_no_safe_point_is_not_run() {
    let patterns = Patterns::with("ckpt::checkpoint!();");
    for name in unsafe_patterns() {
        let ended = patterns.run(&name, "-n 3 --every 1000");
        assert_eq!(ended.code, Some(79), "{name}: {}", ended.stderr);
        assert!(
            ended.stderr.contains("it is not a safe point"),
            "{name}: {}",
            ended.stderr
        );
    }
}

#[test]
fn a_wrong_promise_is_caught_when_the_program_runs() {
    let patterns = Patterns::with("ckpt::checkpoint!(safe);");
    // A request that is open fits into no checkpoint: that one does not come to run.
    let open = patterns.run("early-receive", "-n 3 --every 1000");
    assert_eq!(open.code, Some(101), "{}", open.stderr);
    assert!(
        open.stderr
            .contains("`coming` is of a type that no checkpoint holds"),
        "{}",
        open.stderr
    );
    for name in unsafe_patterns()
        .into_iter()
        .filter(|name| !matches!(name.as_str(), "early-receive" | "uneven"))
    {
        let ended = patterns.run(&name, "-n 3 --every 1000");
        assert_eq!(ended.code, Some(79), "{name}: {}", ended.stderr);
        let told = match name.as_str() {
            "carried-halo" => ["with tag 0 to rank 2", "rank 1 has sent"],
            "pending-duplicate" => ["rank 0 has `MPI_Comm_idup` under way", "rank 1 has"],
            _ => continue,
        };
        let place = format!("src/bin/{name}.rs:");
        for told in told.into_iter().chain(["a message crosses a site", &place]) {
            assert!(ended.stderr.contains(told), "{name}: {told}: {}", ended.stderr);
        }
    }
}

/// A loop that the ranks go round unequally often has another sort of site, and nobody finds out only when the program runs.
#[test]
fn where_turns_are_unequal_it_is_said_what_to_write_and_that_works() {
    let vouched = Patterns::with("ckpt::checkpoint!(safe);").run("uneven", "-n 3 --every 1000");
    assert_eq!(vouched.code, Some(79), "{}", vouched.stderr);
    for told in ["`ckpt::checkpoint!(phase);`", "`ckpt::checkpoint!(phase_end);`"] {
        assert!(vouched.stderr.contains(told), "{told}: {}", vouched.stderr);
    }
    let patterns = Patterns::with("ckpt::checkpoint!(phase);");
    let program = patterns.folder.path().join("src/bin/uneven.rs");
    let text = fs::read_to_string(&program).expect("a program");
    let behind = "        let mine = value;";
    assert!(text.contains(behind));
    let text = text.replace(
        behind,
        &format!("        ckpt::checkpoint!(phase_end);\n{behind}"),
    );
    fs::write(&program, text).expect("it is written");
    let ended = patterns.run("uneven", "-n 3 --every 3");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(ended.stdout.lines().count(), 3, "{}", ended.stdout);
}
