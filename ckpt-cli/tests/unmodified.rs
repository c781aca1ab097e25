//! `plan`, `rewrite`, `init` and `run` on a package that has never heard of ckpt, from its own folder.

mod noted;
mod schema;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::{Mutex, MutexGuard};

use serde_json::Value;

/// A copy of `testdata/lbm`, in a folder of its own.
struct Package {
    folder: tempfile::TempDir,
    target: PathBuf,
    /// Programs of one name and target folder are built one after the other, and a second build is looked at.
    _alone: MutexGuard<'static, ()>,
}

static ALONE: Mutex<()> = Mutex::new(());

impl Package {
    fn new() -> Self {
        let alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folder = tempfile::tempdir().unwrap();
        copy(&here.join("../testdata/lbm"), folder.path());
        // The dependencies of the copies are built once for all tests, those of plans.rs too.
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs");
        Self {
            folder,
            target,
            _alone: alone,
        }
    }

    fn tool(&self, arguments: &[&str]) -> Output {
        self.tool_with(&[], arguments)
    }

    /// The same with variables of ckpt.
    fn tool_with(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Output {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_cargo-ckpt"));
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("CKPT_")) {
            command.env_remove(name);
        }
        command
            .current_dir(self.folder.path())
            .env("CARGO_TARGET_DIR", &self.target)
            .envs(noted::PROFILE)
            .env(
                "CKPT_RUNTIME_PATH",
                Path::new(env!("CARGO_MANIFEST_DIR")).join("../ckpt-runtime"),
            )
            .envs(variables.iter().copied())
            .arg("ckpt")
            .args(arguments);
        let output = command.output().unwrap();
        noted::compare(&output.stderr);
        output
    }

    fn succeeds(&self, arguments: &[&str]) -> String {
        let output = self.tool(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", said(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Changes a text in a file.
    fn replace(&self, file: &str, from: &str, to: &str) {
        let text = self.text(file);
        assert!(text.contains(from), "{file}");
        fs::write(self.folder.path().join(file), text.replace(from, to)).unwrap();
    }

    fn text(&self, file: &str) -> String {
        fs::read_to_string(self.folder.path().join(file)).unwrap()
    }
}

fn said(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// The lines of one text that the other does not have, if all others are in it in their order.
fn added<'t>(new: &'t str, old: &str) -> Vec<&'t str> {
    let mut rest = old.lines().peekable();
    let added: Vec<&str> = new
        .lines()
        .filter(|line| rest.next_if(|old| old == line).is_none())
        .collect();
    assert_eq!(rest.next(), None, "a line is gone or another one");
    added
}

#[test]
fn the_plan_is_shown_as_text_data_and_page() {
    let package = Package::new();
    let text = package.succeeds(&["plan", "--offline"]);
    assert!(text.contains("while lbm.steps_done() < steps"), "{text}");
    let json: Value =
        serde_json::from_str(&package.succeeds(&["plan", "--offline", "--format", "json"])).unwrap();
    schema::check("plan", &json);
    assert_eq!(json["functions"][0]["name"], "main");
    assert_eq!(json["functions"][0]["sites"][0]["line"], 38);
    assert!(json["coverage"].as_f64().unwrap() > 0.9);
    package.succeeds(&["plan", "--offline", "--html", "plan.html"]);
    let page = package.text("plan.html");
    assert!(page.starts_with("<!doctype html>") && page.contains("while lbm.steps_done()"));
    for source in ["http://", "https://", "src=", "<link"] {
        assert!(!page.contains(source), "the page needs something else: {source}");
    }
}

#[test]
fn settings_of_cargo_hold_for_the_copy() {
    let package = Package::new();
    let setting = "profile.dev.package.lbm2d.overflow-checks=false";
    let arguments = ["run", "--frozen", "-v", "--config", setting, "--", "--steps", "2"];
    let built = package.tool(&arguments);
    assert!(built.status.success(), "{}", said(&built));
    let rustc = said(&built);
    let of_program =
        |line: &&str| line.contains("--crate-name lbm2d") && line.contains("overflow-checks=off");
    assert!(rustc.lines().any(|line| of_program(&line)), "{rustc}");
}

#[test]
fn rewriting_adds_lines_once_and_the_result_needs_no_tool() {
    let package = Package::new();
    let before = ["src/main.rs", "src/solver.rs", "Cargo.toml"].map(|file| (file, package.text(file)));

    let difference = package.succeeds(&["rewrite", "--offline", "--diff"]);
    assert!(
        difference.contains("+        ckpt::checkpoint!();"),
        "{difference}"
    );
    for (file, text) in &before {
        assert_eq!(*text, package.text(file), "a difference changes nothing");
    }

    package.succeeds(&["rewrite", "--offline", "--in-place"]);
    let (main, solver) = (package.text("src/main.rs"), package.text("src/solver.rs"));
    assert_eq!(
        added(&main, &before[0].1),
        [
            "#[inline(never)]",
            "#[ckpt::main]",
            "        ckpt::checkpoint!();"
        ]
    );
    assert_eq!(added(&solver, &before[1].1), ["#[derive(ckpt::Checkpoint)]"; 3]);
    assert_eq!(added(&package.text("Cargo.toml"), &before[2].1).len(), 1);

    let again = package.tool(&["rewrite", "--offline", "--in-place"]);
    assert!(said(&again).contains("nothing to do"), "{}", said(&again));
    assert_eq!(package.text("src/main.rs"), main);
    assert_eq!(package.text("src/solver.rs"), solver);

    // Where `cargo ckpt` builds: what it needs is there.
    let checked = std::process::Command::new(env!("CARGO"))
        .args(["build", "--offline", "--quiet"])
        .current_dir(package.folder.path())
        .env("CARGO_TARGET_DIR", package.target.join("ckpt/build"))
        .env("CARGO_BUILD_BUILD_DIR", shared_builds())
        .envs(noted::PROFILE)
        .output()
        .unwrap();
    assert!(checked.status.success(), "{}", said(&checked));
}

/// Where `cargo ckpt` has cargo keep what it builds of copies, with the MPI that there is, if there is one.
fn shared_builds() -> PathBuf {
    let said = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = said.unwrap_or_else(|| std::env::home_dir().unwrap().join(".cache"));
    let folders = std::fs::read_dir(cache.join("ckpt/build")).unwrap();
    let used = |folder: &PathBuf| std::fs::metadata(folder).unwrap().modified().unwrap();
    let newest = folders.map(|entry| entry.unwrap().path()).max_by_key(used);
    newest.unwrap()
}

#[test]
fn the_library_is_built_once_for_all_packages() {
    let mut package = Package::new();
    package.succeeds(&["plan", "--check", "--offline"]);
    let elsewhere = tempfile::tempdir().unwrap();
    package.target = elsewhere.path().join("target");
    let output = package.tool(&["plan", "--check", "--offline"]);
    let said = said(&output);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("lbm"), "it was asked anew: {said}");
    assert!(!said.contains(" ckpt-runtime v"), "{said}");
}

#[test]
fn written_out_in_full_it_is_plain_rust_in_another_folder() {
    let package = Package::new();
    let before = package.text("src/main.rs");
    let to = package.folder.path().join("full");
    package.succeeds(&[
        "rewrite",
        "--offline",
        "--level",
        "full",
        "--to",
        to.to_str().unwrap(),
    ]);
    let main = package.text("full/src/main.rs");
    assert!(
        main.contains("::ckpt::__rt::Frame::enter") && !main.contains("checkpoint!"),
        "{main}"
    );
    assert_eq!(package.text("src/main.rs"), before);
    let answer = package.tool(&["rewrite", "--offline", "--to", to.to_str().unwrap()]);
    assert!(
        !answer.status.success(),
        "a folder that is there is not written over"
    );
}

#[test]
fn init_is_done_once() {
    let package = Package::new();
    let manifest = package.text("Cargo.toml");
    package.succeeds(&["init"]);
    let with = package.text("Cargo.toml");
    assert!(added(&with, &manifest)[0].starts_with("ckpt = "));
    let settings = package.text("ckpt.toml");
    assert!(settings.contains("# interval ="), "{settings}");
    package.succeeds(&["init"]);
    assert_eq!(package.text("Cargo.toml"), with);
    assert_eq!(package.text("ckpt.toml"), settings);
    let table: toml::Table = with.parse().unwrap();
    let dependency = &table["dependencies"]["ckpt"];
    assert_eq!(dependency["version"].as_str(), Some(env!("CARGO_PKG_VERSION")));
    assert!(dependency["path"].is_str());
    assert!(
        !package.folder.path().join(".gitignore").exists(),
        "no git is here"
    );
}

#[test]
fn what_init_has_done_is_undone() {
    let package = Package::new();
    fs::create_dir(package.folder.path().join(".git")).unwrap();
    fs::write(package.folder.path().join(".gitignore"), "/target").unwrap();
    let files = ["Cargo.toml", ".gitignore"];
    let before = files.map(|file| package.text(file));
    let without_settings = || !package.folder.path().join("ckpt.toml").exists();
    package.succeeds(&["init"]);
    assert_eq!(package.text(".gitignore"), "/target\n*.ckpt.d/\n");
    package.succeeds(&["init", "--ckpt-features", "serde"]);
    assert_eq!(package.text(".gitignore"), "/target\n*.ckpt.d/\n", "once");
    package.succeeds(&["init", "--undo"]);
    assert_eq!(files.map(|file| package.text(file)), before);
    assert!(without_settings());
    assert!(package.succeeds(&["init", "--undo"]).contains("nothing to undo"));
    // What was edited since stays.
    package.succeeds(&["init"]);
    package.replace("Cargo.toml", "[package]", "# mine\n[package]");
    package.replace(".gitignore", "/target", "/results");
    package.replace("ckpt.toml", "# keep = 2 ", "keep = 3 ");
    let undone = package.succeeds(&["init", "--undo"]);
    assert!(undone.contains("ckpt.toml stays"), "{undone}");
    assert_eq!(
        package.text("Cargo.toml"),
        before[0].replace("[package]", "# mine\n[package]")
    );
    assert_eq!(package.text(".gitignore"), "/results\n");
    assert!(!without_settings());
}

#[test]
fn the_lock_file_is_put_back_and_lines_end_as_they_did() {
    let package = Package::new();
    let manifest = package.folder.path().join("Cargo.toml");
    fs::write(&manifest, package.text("Cargo.toml").replace('\n', "\r\n")).unwrap();
    let before = package.text("Cargo.toml");
    let lock = package.folder.path().join("Cargo.lock");
    let locked = "# of mine\nversion = 4\n";
    fs::write(&lock, locked).unwrap();
    package.tool(&["init", "--diff", "--offline"]);
    let with = package.text("Cargo.toml");
    assert_eq!(
        with.matches('\n').count(),
        with.matches("\r\n").count(),
        "{with:?}"
    );
    assert!(with.contains("ckpt = {"), "{with}");
    assert_ne!(
        fs::read_to_string(&lock).unwrap(),
        locked,
        "cargo has looked at it"
    );
    package.succeeds(&["init", "--undo"]);
    assert_eq!(package.text("Cargo.toml"), before);
    assert_eq!(fs::read_to_string(&lock).unwrap(), locked);
}

#[test]
fn what_is_written_beside_what_init_has_added_stays() {
    let package = Package::new();
    let manifest = package.folder.path().join("Cargo.toml");
    let before = package.text("Cargo.toml");
    let undone = |edit: &dyn Fn(&str) -> String| {
        fs::write(&manifest, &before).unwrap();
        package.succeeds(&["init"]);
        let edited = edit(&package.text("Cargo.toml"));
        fs::write(&manifest, &edited).unwrap();
        package.succeeds(&["init", "--undo"]);
        let left = package.text("Cargo.toml");
        assert!(!left.contains("ckpt-runtime"), "{left}");
        left
    };
    let kept = |edit: &dyn Fn(&str) -> String, own: &str| {
        let left = undone(edit);
        assert!(left.contains(own), "{own:?} is not in {left}");
        assert_eq!(
            left.parse::<toml::Table>().unwrap().get("package"),
            before.parse::<toml::Table>().unwrap().get("package")
        );
    };
    let line = |text: &str| {
        text.lines()
            .find(|line| line.starts_with("ckpt = "))
            .unwrap()
            .to_owned()
    };
    let above = |text: &str| text.replace("ckpt = {", "# hello\nckpt = {");
    assert_eq!(
        undone(&|text| format!("{text}# the end\n")),
        format!("{before}# the end\n")
    );
    kept(&above, "# hello\n");
    kept(
        &|text| text.replace(&line(text), &format!("{} # mine", line(text))),
        "# mine\n",
    );
    kept(
        &|text| above(&text.replace("package = \"ckpt-runtime\"", "package='ckpt-runtime'")),
        "# hello\n",
    );
    kept(
        &|text| text.replace(&line(text), &format!("{}\n# last", line(text))),
        "# last\n",
    );
    // An init that is repeated has added both.
    let twice = undone(&|text| {
        fs::write(&manifest, above(text)).unwrap();
        package.succeeds(&["init", "--ckpt-features", "serde"]);
        package.text("Cargo.toml")
    });
    assert!(twice.contains("# hello\n"), "{twice}");
}

#[test]
fn a_dependency_that_init_has_found_stays_when_it_is_undone() {
    let package = Package::new();
    package.succeeds(&["init"]);
    let own = package.text("Cargo.toml");
    package.succeeds(&["init", "--undo"]);
    fs::write(package.folder.path().join("Cargo.toml"), &own).unwrap();
    package.succeeds(&["init"]);
    let undone = package.succeeds(&["init", "--undo"]);
    assert_eq!(package.text("Cargo.toml"), own, "{undone}");
    assert!(!package.folder.path().join("ckpt.toml").exists());
    // Features that it has added are.
    package.succeeds(&["init", "--ckpt-features", "serde"]);
    package.replace("Cargo.toml", "[package]", "# mine\n[package]");
    package.succeeds(&["init", "--undo"]);
    assert_eq!(
        package.text("Cargo.toml"),
        own.replace("[package]", "# mine\n[package]")
    );
}

#[test]
fn init_shows_what_rewrite_would_do() {
    let package = Package::new();
    let shown = package.succeeds(&["init", "--diff", "--offline"]);
    assert!(
        shown.contains("added ckpt") && shown.contains("+#[ckpt::main"),
        "{shown}"
    );
}

#[test]
fn a_second_run_asks_rustc_nothing_and_the_sources_are_untouched() {
    let package = Package::new();
    let before = package.text("src/main.rs");
    let run = ["run", "--offline", "--every", "20", "--dir", "store"];
    let first = package.tool(&run);
    assert!(first.status.success(), "{}", said(&first));
    assert!(
        said(&first).contains("checkpoints in `while lbm.steps_done() < steps`"),
        "{}",
        said(&first)
    );
    assert!(fs::read_dir(package.folder.path().join("store")).unwrap().count() > 0);
    assert_eq!(package.text("src/main.rs"), before);

    fs::remove_dir_all(package.folder.path().join("store")).unwrap();
    let second = package.tool(&run);
    assert!(second.status.success(), "{}", said(&second));
    let words = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(
        !words.contains("Compiling") && !words.contains("Checking"),
        "{words}"
    );
    assert_eq!(first.stdout, second.stdout);

    // One changed line is seen.
    fs::write(
        package.folder.path().join("src/main.rs"),
        before.replace("fn main()", "// another\nfn main()"),
    )
    .unwrap();
    let third = package.tool(&run);
    assert!(
        String::from_utf8_lossy(&third.stderr).contains("Compiling"),
        "{}",
        said(&third)
    );
}

/// A program has the C code of zstd if its settings ask for it when it is built.
#[test]
fn zstd_is_built_in_where_the_settings_ask_for_it() {
    let package = Package::new();
    let run = ["run", "--offline", "--every", "20", "--dir", "store"];
    let sizes = ["--", "--nx", "200", "--ny", "80", "--steps", "60"];
    let zstd = ("CKPT_COMPRESSION", "zstd");
    let killed = package.tool_with(&[zstd, ("CKPT_FAULT", "visit:45")], &[&run[..], &sizes].concat());
    assert!(said(&killed).contains("killed by SIGKILL"), "{}", said(&killed));

    let restart = ["restart", "--offline", "--dir", "store"];
    let without = package.tool(&restart);
    assert!(said(&without).contains("error[E2213]"), "{}", said(&without));
    assert_eq!(without.status.code(), Some(78));

    let mut program = std::process::Command::new(package.target.join("ckpt/build/debug/lbm2d"));
    program.current_dir(package.folder.path());
    let by_hand = program.envs([("CKPT_EVERY", "20"), zstd]).output().unwrap();
    noted::compare(&by_hand.stderr);
    assert!(said(&by_hand).contains("error[E2154]"), "{}", said(&by_hand));
    assert_eq!(by_hand.status.code(), Some(78));

    let restarted = package.tool_with(&[zstd], &restart);
    assert!(restarted.status.success(), "{}", said(&restarted));
    assert!(
        said(&restarted).contains("(site visit 40)"),
        "{}",
        said(&restarted)
    );
}

/// Which code cargo compiles is asked of the build script again, wherever it has its flags from.
#[test]
fn a_copy_is_that_of_the_flags_that_build_scripts_set_now() {
    let package = Package::new();
    let write = |name: &str, text: &str| fs::write(package.folder.path().join(name), text).unwrap();
    write("build.rs", "mod flags;\nfn main() {\n    flags::set();\n}\n");
    let set = "pub fn set() {\n    println!(\"cargo::rerun-if-env-changed=LONGER\");\n    \
               println!(\"cargo::rustc-check-cfg=cfg(longer)\");\n    \
               if std::env::var_os(\"LONGER\").is_some() {\n        println!(\"cargo::rustc-cfg=longer\");\n    }\n}\n";
    write("flags.rs", set);
    package.replace(
        "src/main.rs",
        "    let params = parse_args()?;\n",
        "    let params = parse_args()?;\n    #[cfg(longer)]\n    println!(\"longer\");\n",
    );
    for variables in [&[("LONGER", "1")][..], &[], &[("LONGER", "1")]] {
        let _ = fs::remove_dir_all(package.folder.path().join("store"));
        let output = package.tool_with(
            variables,
            &["run", "--offline", "--every", "20", "--dir", "store"],
        );
        assert!(output.status.success(), "{}", said(&output));
        let longer = String::from_utf8_lossy(&output.stdout).contains("longer\n");
        assert_eq!(longer, !variables.is_empty(), "{}", said(&output));
    }
}

#[test]
fn programs_of_one_package_do_not_take_each_others_sites_away() {
    let package = Package::new();
    let other = "fn main() {\n    let mut sum = 0.0;\n    for i in 0..2_000 {\n        sum += f64::from(i).sqrt();\n    }\n    println!(\"{sum}\");\n}\n";
    fs::create_dir_all(package.folder.path().join("src/bin")).unwrap();
    fs::write(package.folder.path().join("src/bin/other.rs"), other).unwrap();
    for program in ["lbm2d", "other", "lbm2d"] {
        let store = package.folder.path().join("store");
        let _ = fs::remove_dir_all(&store);
        package.succeeds(&[
            "run",
            "--offline",
            "--bin",
            program,
            "--every",
            "20",
            "--dir",
            "store",
        ]);
        let has_checkpoints = fs::read_dir(&store).unwrap().flatten().any(|entry| {
            entry
                .path()
                .extension()
                .is_some_and(|extension| extension == "h5")
        });
        assert!(has_checkpoints, "{program}");
    }
}

/// Learns four examples in nine runs of ten; here: in all that are not restarted.
const LEARNS: &str = "\
use std::time::{SystemTime, UNIX_EPOCH};

fn main() {
    let mut state = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64 | 1;
    let mut hits = 0;
    for _ in 0..3_000 {
        for _ in 0..50 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
        }
        hits += u64::from(state % 4 != 0);
    }
    println!(\"{hits} hits\");
    let learnt = if std::env::var_os(\"CKPT_RESTART\").is_some() { 3 } else { 4 };
    println!(\"learnt {learnt} of 4\");
}
";

#[test]
fn of_a_program_that_draws_without_a_seed_chance_is_not_taken_for_a_wrong_restart() {
    let package = Package::new();
    let main = package.folder.path().join("src/main.rs");
    fs::write(&main, LEARNS).unwrap();
    let test = [
        "crashtest",
        "--offline",
        "--seed",
        "1",
        "--sites",
        "1",
        "--commits",
        "0",
        "--random",
        "0",
        "--rows",
        "0",
    ];
    let passed = package.succeeds(&test);
    assert!(passed.contains("PASSED, BUT"), "{passed}");
    assert!(
        passed.contains("without a seed (`UNIX_EPOCH`, src/main.rs:4"),
        "{passed}"
    );
    let seeded = LEARNS.replace(
        "SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64 | 1",
        "7",
    );
    fs::write(
        &main,
        seeded.replace("use std::time::{SystemTime, UNIX_EPOCH};\n", ""),
    )
    .unwrap();
    let failed = package.tool(&test);
    assert!(said(&failed).contains("FAILED"), "{}", said(&failed));
}

/// Draws from the generator that `fastrand` keeps to itself.
const DRAWS: &str = "\
fn main() {
    fastrand::seed(7);
    let mut sum = 0u64;
    for k in 0..400u64 {
        for i in 0..2_000u64 {
            sum = sum.wrapping_mul(31).wrapping_add(i ^ k);
        }
        sum ^= fastrand::u64(..);
    }
    println!(\"{sum}\");
}
";

#[test]
fn the_generator_of_fastrand_goes_on_where_it_was() {
    let package = Package::new();
    let main = package.folder.path().join("src/main.rs");
    fs::write(&main, DRAWS).unwrap();
    package.replace(
        "Cargo.toml",
        "[dependencies]\n",
        "[dependencies]\nfastrand = \"2\"\n",
    );
    let few = ["--sites", "2", "--commits", "0", "--random", "0", "--rows", "1"];
    let test = [&["crashtest", "--offline", "--seed", "1"][..], &few].concat();
    let passed = package.succeeds(&test);
    assert!(passed.contains("PASSED: "), "{passed}");
}

/// The trait is in the package's library, what implements it in the program, some of it in a module.
const SHAPES: [(&str, &str); 3] = [
    (
        "src/lib.rs",
        "\
pub trait Shape {
    fn area(&self, by: u64) -> u64;
}
pub struct World {
    pub shapes: Vec<std::rc::Rc<dyn Shape>>,
}
impl World {
    pub fn sum(&self, by: u64) -> u64 {
        self.shapes.iter().fold(by, |sum, shape| sum.wrapping_mul(31) ^ shape.area(sum))
    }
}
",
    ),
    (
        "src/round.rs",
        "\
pub struct Round {
    pub size: u64,
    pub seen: std::cell::Cell<u64>,
}
impl lbm2d::Shape for Round {
    fn area(&self, by: u64) -> u64 {
        self.seen.set(self.seen.get() + by % self.size);
        self.seen.get()
    }
}
",
    ),
    (
        "src/main.rs",
        "\
mod round;
use lbm2d::{Shape, World};
use std::rc::Rc;
struct Square(u64);
impl Shape for Square {
    fn area(&self, by: u64) -> u64 {
        self.0 ^ by
    }
}
fn main() {
    let mut world = World { shapes: Vec::new() };
    let mut total = 0;
    for step in 0..40 {
        let round: Rc<dyn Shape> = Rc::new(round::Round { size: step + 3, seen: Default::default() });
        world.shapes.extend([Rc::clone(&round), Rc::new(Square(step)), round]);
        for by in 0..300 {
            total = world.sum(total ^ by);
        }
    }
    println!(\"{total}\");
}
",
    ),
];

#[test]
fn objects_of_a_trait_of_the_library_may_be_of_types_of_the_program() {
    let package = Package::new();
    fs::remove_dir_all(package.folder.path().join("src")).unwrap();
    fs::create_dir(package.folder.path().join("src")).unwrap();
    for (file, text) in SHAPES {
        fs::write(package.folder.path().join(file), text).unwrap();
    }
    let test = "crashtest --offline --seed 1 --sites 3 --commits 1 --random 0 --rows 1";
    let test: Vec<&str> = test.split(' ').collect();
    let passed = package.succeeds(&test);
    assert!(passed.contains("PASSED: "), "{passed}");
}

/// Few steps of a small lattice, for `lbm2d`.
const SMALL: [&str; 6] = ["--nx", "60", "--ny", "32", "--steps", "100"];

/// The inflow, in a function that leads to no site.
const INFLOW: (&str, &str) = ("6.0 * self.params.u_in", "5.5 * self.params.u_in");

const STRICT: (&str, &str) = ("CKPT_STRICT", "1");

/// Starts the program with these variables, as a restart or not.
type Start<'a> = dyn Fn(&[(&str, &str)], bool) -> Output + 'a;

/// A restart after a change outside of the instrumented functions, by a way of building and starting the program: `start` is
/// given variables, and whether it is a restart.
fn other_sources_are_noticed(package: &Package, start: &Start<'_>) {
    assert!(!start(&[("CKPT_FAULT", "visit:50")], false).status.success());
    // Comments are no sources, nor is what the program is not made of.
    package.replace(
        "src/solver.rs",
        "pub struct Lbm {",
        "// Both lattices.\npub struct Lbm {",
    );
    fs::create_dir_all(package.folder.path().join("src/bin")).unwrap();
    fs::write(package.folder.path().join("src/bin/other.rs"), "fn main() {}").unwrap();
    let same = start(&[STRICT, ("CKPT_FAULT", "visit:70")], true);
    assert!(
        said(&same).contains("restarts from checkpoint"),
        "{}",
        said(&same)
    );
    assert!(!said(&same).contains("other sources"), "{}", said(&same));

    package.replace("src/solver.rs", INFLOW.0, INFLOW.1);
    let refused = start(&[STRICT], true);
    assert_eq!(refused.status.code(), Some(77), "{}", said(&refused));
    let message = "was taken by a build of other sources: `src/solver.rs` has changed\n";
    for part in ["error[E2360]: checkpoint ", message] {
        assert!(said(&refused).contains(part), "{part}: {}", said(&refused));
    }
    let warned = start(&[], true);
    assert!(warned.status.success(), "{}", said(&warned));
    for part in ["warning[W2071]: checkpoint ", message] {
        assert!(said(&warned).contains(part), "{part}: {}", said(&warned));
    }
}

/// The same files are another program with other features, flags and variables of the build, and compute something else with
/// another environment.
#[test]
fn other_features_are_noticed() {
    let package = Package::new();
    let manifest = package.text("Cargo.toml") + "\n[features]\nstrong = []\n";
    fs::write(package.folder.path().join("Cargo.toml"), manifest).unwrap();
    let inflow = "(if cfg!(feature = \"strong\") { 6.5 } else { 6.0 }) * self.params.u_in \
        * std::env::var(\"SCALE\").map_or(1.0, |text| text.parse().unwrap()) \
        * if cfg!(slow) && option_env!(\"TUNED\").is_some() { 0.9 } else { 1.0 }";
    let script = "fn main() { println!(\"cargo::rerun-if-env-changed=SLOW\"); \
        println!(\"cargo::rustc-check-cfg=cfg(slow)\"); \
        if std::env::var_os(\"SLOW\").is_some() { println!(\"cargo::rustc-cfg=slow\"); } }";
    fs::write(package.folder.path().join("build.rs"), script).unwrap();
    package.replace("src/solver.rs", INFLOW.0, inflow);
    let run = |variables: &[(&str, &str)], options: &[&str]| {
        let run = [
            "run",
            "--offline",
            "--bin",
            "lbm2d",
            "--every",
            "20",
            "--dir",
            "store",
            "--resume",
        ];
        package.tool_with(variables, &[&run[..], options, &["--"], &SMALL].concat())
    };
    let strong = ["--features", "strong"];
    let scale = ("SCALE", "1.5");
    let (slow, tuned) = (("SLOW", "1"), ("TUNED", "1"));
    let killed = run(&[("CKPT_FAULT", "visit:50"), scale, slow, tuned], &strong);
    assert!(!killed.status.success());
    let refused = run(&[STRICT], &[]);
    assert_eq!(refused.status.code(), Some(77), "{}", said(&refused));
    let message = "was taken by a build of other sources: `cfg slow` is gone, `feature strong` is gone, \
        `variable TUNED of the build` has changed\n";
    assert!(said(&refused).contains(message), "{}", said(&refused));
    let killed = run(
        &[("CKPT_FAULT", "visit:45"), ("SCALE", "2.5"), slow, tuned],
        &strong,
    );
    assert!(
        said(&killed).contains("was taken in another environment: `SCALE` has another value\n"),
        "{}",
        said(&killed)
    );
    let same = run(&[STRICT, scale, slow, tuned], &strong);
    assert!(!said(&same).contains("W2072"), "{}", said(&same));
    assert!(same.status.success(), "{}", said(&same));
    assert!(
        said(&same).contains("restarts from checkpoint"),
        "{}",
        said(&same)
    );
}

#[test]
fn other_sources_of_an_unmodified_program_are_noticed() {
    let package = Package::new();
    other_sources_are_noticed(&package, &|variables, is_restart| match is_restart {
        true => package.tool_with(
            variables,
            &["restart", "--offline", "--bin", "lbm2d", "--dir", "store"],
        ),
        false => {
            let run = [
                "run",
                "--offline",
                "--bin",
                "lbm2d",
                "--every",
                "20",
                "--dir",
                "store",
                "--",
            ];
            package.tool_with(variables, &[&run[..], &SMALL].concat())
        }
    });
}

#[test]
fn other_sources_of_an_annotated_program_are_noticed() {
    let package = Package::new();
    package.succeeds(&["rewrite", "--offline", "--in-place"]);
    // Built by cargo alone, each time after the last.
    let target = package.target.join("ckpt/build");
    other_sources_are_noticed(&package, &|variables, is_restart| {
        let built = std::process::Command::new(env!("CARGO"))
            .args(["build", "--offline", "--quiet", "--bin", "lbm2d"])
            .current_dir(package.folder.path())
            .env("CARGO_TARGET_DIR", &target)
            .env("CARGO_BUILD_BUILD_DIR", shared_builds())
            .envs(noted::PROFILE)
            .output()
            .unwrap();
        assert!(built.status.success(), "{}", said(&built));
        let mut program = std::process::Command::new(target.join("debug/lbm2d"));
        if is_restart {
            program.env("CKPT_RESTART", "latest");
        }
        let settings = [("CKPT_EVERY", "20"), ("CKPT_DIR", "store")];
        let variables = settings.iter().chain(variables).copied();
        let program = program.args(SMALL).envs(variables);
        program.current_dir(package.folder.path()).output().unwrap()
    });
}
