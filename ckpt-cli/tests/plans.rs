//! Plans of small packages that have never heard of ckpt: measured ones and what follows from them, checked ones, and
//! plans that leave something outside.

mod noted;
mod schema;
mod width;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

struct Package {
    folder: tempfile::TempDir,
    target: PathBuf,
}

impl Package {
    /// The name is no other test's: cargo takes packages of one name for one, and the target folder is shared.
    fn new(name: &str, main: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let manifest =
            format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n");
        fs::create_dir(folder.path().join("src")).unwrap();
        fs::write(folder.path().join("Cargo.toml"), manifest).unwrap();
        fs::write(folder.path().join("src/main.rs"), main).unwrap();
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs");
        Self { folder, target }
    }

    fn tool(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-ckpt"));
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("CKPT_")) {
            command.env_remove(name);
        }
        let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ckpt-runtime");
        command
            .current_dir(self.folder.path())
            .env("CARGO_TARGET_DIR", &self.target)
            .envs(noted::PROFILE)
            .env("CKPT_RUNTIME_PATH", runtime)
            .arg("ckpt")
            .args(arguments);
        let output = command.output().unwrap();
        noted::compare(&output.stderr);
        output
    }

    /// What it prints on standard output and on standard error.
    fn succeeds(&self, arguments: &[&str]) -> (String, String) {
        let output = self.tool(arguments);
        let [out, err] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        assert!(output.status.success(), "{arguments:?}: {out}{err}");
        (out, err)
    }

    fn plan(&self, arguments: &[&str]) -> Value {
        let mut words = vec!["plan", "--offline", "--format", "json"];
        words.extend(arguments);
        let plan = serde_json::from_str(&self.succeeds(&words).0).unwrap();
        schema::check("plan", &plan);
        plan
    }

    fn replace(&self, old: &str, new: &str) {
        let path = self.folder.path().join("src/main.rs");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(path, text.replace(old, new)).unwrap();
    }
}

/// The loop with this first line.
fn one_loop<'p>(plan: &'p Value, header: &str) -> &'p Value {
    let all = plan["loops"].as_array().unwrap();
    all.iter().find(|one| one["header"] == header).unwrap()
}

/// The lines of the chosen sites.
fn sites(plan: &Value) -> Vec<&str> {
    let functions = plan["functions"].as_array().unwrap();
    functions
        .iter()
        .flat_map(|function| function["sites"].as_array().unwrap())
        .map(|site| site["header"].as_str().unwrap())
        .collect()
}

/// Two phases that look alike; the arguments say that the second one carries the run. It ends by `exit`.
const PHASES: &str = r#"
#![forbid(unsafe_code)]
#![deny(warnings)]
fn main() {
    let lengths: Vec<u64> = std::env::args().skip(1).map(|text| text.parse().unwrap()).collect();
    let mut sum = 0_u64;
    for first in 0..lengths[0] {
        sum = mixed(sum, first);
    }
    'second: for second in 0..lengths[1] {
        sum = mixed(sum, second);
        if second == u64::MAX {
            break 'second;
        }
    }
    if lengths.len() > 2 {
        for third in 0..lengths[2] {
            sum = mixed(sum, third);
        }
    }
    println!("{sum}");
    std::process::exit(0);
}

fn mixed(mut sum: u64, number: u64) -> u64 {
    for k in 0..number % 7 + 2000 {
        sum = sum.rotate_left(5) ^ k.wrapping_mul(number);
    }
    sum
}
"#;

#[test]
fn a_measured_run_decides_until_the_sources_change() {
    let package = Package::new("measured", PHASES);
    let estimated = package.plan(&[]);
    assert!(estimated.get("measured").is_none());
    assert_eq!(sites(&estimated).len(), 3);
    let run = [
        "run",
        "--offline",
        "--release",
        "--every",
        "20",
        "--dir",
        "before",
        "--",
        "3",
        "50",
    ];
    let (before, _) = package.succeeds(&run);

    let (text, err) = package.succeeds(&["plan", "--offline", "--profile", "--", "3", "60000"]);
    assert!(err.contains("of 4 loops were reached"), "{err}");
    assert!(
        text.contains("not reached") && text.contains("Measured: a run of"),
        "{text}"
    );

    let plan = package.plan(&[]);
    assert_eq!(plan["measured"]["arguments"][1], "60000");
    assert_eq!(plan["measured"]["ended"], "ended with exit code 0");
    let (first, second) = (
        one_loop(&plan, "for first in 0..lengths[0]"),
        one_loop(&plan, "for second in 0..lengths[1]"),
    );
    assert_eq!(first["measured"]["iterations"], 3.0);
    assert_eq!(second["measured"]["iterations"], 60000.0);
    assert!(second["share"].as_f64().unwrap() > 0.7, "{second}");
    assert!(second["estimated_share"].as_f64().unwrap() < 0.5, "{second}");
    assert!(
        one_loop(&plan, "for third in 0..lengths[2]")
            .get("measured")
            .is_none()
    );
    assert!(sites(&plan).contains(&"for second in 0..lengths[1]"));
    assert!(!sites(&plan).contains(&"for first in 0..lengths[0]"));
    assert!(plan["coverage"].as_f64().unwrap() > 0.7);

    let run = ["run", "--offline", "--release", "--dir", "store", "--", "3", "50"];
    let (out, err) = package.succeeds(&run);
    assert!(err.contains("costs are those of a run of"), "{err}");
    assert!(
        err.contains("checkpoints in `for second") && !err.contains("`for first"),
        "{err}"
    );
    let plain = [
        "run",
        "--offline",
        "--release",
        "--no-profile",
        "--dir",
        "other",
        "--",
        "3",
        "50",
    ];
    let (same, err) = package.succeeds(&plain);
    assert!(
        err.contains("`for first") && !err.contains("costs are those"),
        "{err}"
    );
    assert_eq!(out, same);

    // A run from before goes on with the sites that it had.
    let (go_on, err) = package.succeeds(&["restart", "2", "--offline", "--release", "--dir", "before"]);
    assert!(
        err.contains("`for first") && !err.contains("costs are those"),
        "{err}"
    );
    assert_eq!(go_on, before);

    package.replace("+ 2000", "+ 2001");
    let (_, err) = package.succeeds(&["plan", "--offline"]);
    assert!(
        err.contains("`src/main.rs` has changed since the program was measured"),
        "{err}"
    );
    assert!(package.plan(&[]).get("measured").is_none());
}

/// Threads, a recursion, a panic that is caught, a method of a generic type, and no end.
const ENDLESS: &str = r#"
struct Tree<T> { value: T, below: Vec<Tree<T>> }
impl<T: Copy + Into<u64>> Tree<T> {
    fn sum(&self) -> u64 {
        let mut sum = self.value.into();
        for tree in &self.below {
            sum += tree.sum();
        }
        sum
    }
}
fn tree(depth: u32) -> Tree<u32> {
    let count = if depth == 0 { 0 } else { 3 };
    Tree { value: depth, below: (0..count).map(|_| tree(depth - 1)).collect() }
}
fn main() {
    let tree = tree(6);
    let mut step = 0_u64;
    loop {
        let parts: Vec<u64> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..2).map(|_| scope.spawn(|| {
                let mut sum = 0;
                for _ in 0..std::env::args().count() { sum += tree.sum(); }
                sum
            })).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let caught = std::panic::catch_unwind(|| { for k in 0..parts.len() as u64 + 1 { assert!(k < step, "late"); } });
        step += parts.iter().sum::<u64>() + u64::from(caught.is_err());
        if step == 7 { return; }
    }
}
"#;

#[test]
fn a_run_without_an_end_is_stopped_and_counts() {
    let package = Package::new("endless", ENDLESS);
    let (_, err) = package.succeeds(&["plan", "--offline", "--profile", "--profile-for", "1500ms"]);
    assert!(err.contains("which was stopped then"), "{err}");
    let plan = package.plan(&[]);
    let outer = &one_loop(&plan, "loop")["measured"];
    assert!(outer["iterations"].as_f64().unwrap() > 10.0, "{outer}");
    assert!(
        (1.0..2.5).contains(&outer["seconds"].as_f64().unwrap()),
        "{outer}"
    );
    let recursion = &one_loop(&plan, "for tree in &self.below")["measured"];
    assert!(recursion["entries"].as_f64().unwrap() > 1000.0, "{recursion}");
    assert_eq!(sites(&plan), ["loop"]);
}

#[test]
fn what_cannot_be_measured_says_so() {
    let package = Package::new("aborts", "fn main() { std::process::abort() }");
    let answer = package.tool(&["plan", "--offline", "--profile"]);
    let text = String::from_utf8_lossy(&answer.stderr).into_owned();
    assert!(
        !answer.status.success() && text.contains("nothing was measured"),
        "{text}"
    );
    for (arguments, part) in [
        (
            &["plan", "--offline", "--", "3"][..],
            "with `--profile` in front of `--`",
        ),
        (&["run", "--offline", "--profile"], "cargo ckpt plan --profile"),
    ] {
        let answer = package.tool(arguments);
        let text = String::from_utf8_lossy(&answer.stderr).into_owned();
        assert!(!answer.status.success() && text.contains(part), "{text}");
    }
}

/// Most of the work is in a closure, which no site can be in.
const CLOSURE: &str = r#"
use std::sync::atomic::{AtomicU64, Ordering};
fn main() {
    let mut sum = 0_u64;
    for k in 0..3000 {
        sum = mixed(sum, k);
    }
    let all = AtomicU64::new(sum);
    let most = (0..40000_u64).map(|k| all.fetch_add(mixed(k, k), Ordering::Relaxed)).scan((), |_, x| Some(x)).max();
    assert!(most.is_some());
    println!("{}", all.into_inner());
}
fn mixed(mut sum: u64, number: u64) -> u64 {
    for k in 0..2000 {
        sum = sum.rotate_left(5) ^ k * number;
    }
    sum
}
"#;

#[test]
fn what_remains_outside_is_named_and_the_rest_gets_its_sites() {
    let package = Package::new("outside", CLOSURE);
    let (diff, err) = package.succeeds(&["rewrite", "--offline"]);
    assert!(diff.contains("+        ckpt::checkpoint!();"), "{diff}");
    assert!(
        err.contains("warning[W3004]: the sites reach 7 % of the run"),
        "{err}"
    );
    assert!(err.contains("calls of the closure of `.map(..)`"), "{err}");
    let (_, err) = package.succeeds(&["run", "--offline", "--release", "--dir", "store"]);
    assert!(err.contains("checkpoints in `for k in 0..3000`"), "{err}");
    assert!(
        err.contains("warning[W3004]: the sites reach 7 % of the run"),
        "{err}"
    );
}

/// A product of matrices in a loop that a site would compile in only without the exclusive borrow, and set-up that takes
/// about as long by its source.
const PRODUCT: &str = r#"
fn main() {
    let n: usize = std::env::args().nth(1).map_or(40, |a| a.parse().unwrap());
    let mut a = vec![vec![0.0_f64; n]; n];
    for turn in 0..n {
        for (i, row) in a.iter_mut().enumerate() {
            for (j, x) in row.iter_mut().enumerate() {
                *x += ((i * 31 + j * 17 + turn) as f64 * 0.5).sin();
            }
        }
    }
    let c = product(&a, n);
    println!("{:.6}", (0..n).map(|i| c[i][i]).sum::<f64>());
}
fn product(a: &[Vec<f64>], n: usize) -> Vec<Vec<f64>> {
    let mut c = vec![vec![0.0; n]; n];
    for (ai, ci) in a.iter().zip(&mut c) {
        for (x, bk) in ai.iter().zip(a) {
            for (y, z) in ci.iter_mut().zip(bk) {
                *y += x * z.sin();
            }
        }
    }
    c
}
"#;

#[test]
fn a_site_that_rustc_will_not_have_is_named_with_its_share() {
    let package = Package::new("product", PRODUCT);
    let before = package.plan(&[]);
    assert_eq!(sites(&before).len(), 2, "{:?}", sites(&before));
    let (_, err) = package.succeeds(&["run", "--offline", "--dir", "store"]);
    let lost = "warning[W3007]: no checkpoints in `for (ai, ci) in a.iter().zip(&mut c)`, src/main.rs:17:5, ";
    assert!(
        err.contains(lost) && err.contains(" % of the run, after all"),
        "{err}"
    );
    assert!(err.contains("E0502"), "the reason: {err}");
    assert!(err.contains("instead: "), "the way out: {err}");
    assert!(!err.contains("W3004"), "it is not most of the run: {err}");
    // From then on the plan is of what is built.
    let after = package.plan(&[]);
    assert_eq!(sites(&after), ["for turn in 0..n"]);
    let share = |plan: &Value| plan["coverage"].as_f64().unwrap();
    assert!(share(&after) < 0.8 && share(&before) > 0.9);
    let refused = after["refused"].as_array().unwrap();
    assert!(refused.iter().any(|one| one["line"] == 17), "{refused:?}");
}

/// A type that no checkpoint holds, and vectors whose lengths are known.
const TYPES: &str = r#"
const N: usize = 50;
fn main() {
    let layout = wanted(7);
    let mut field = vec![vec![0.0_f32; N]; 2 * N];
    for step in 0..100000 {
        for k in 0..N {
            field[step % N][k] += 1.0;
        }
    }
    println!("{layout:?} {}", field[3][4]);
}
fn wanted(n: usize) -> std::alloc::Layout {
    std::alloc::Layout::array::<u64>(n).unwrap()
}
"#;

#[test]
fn a_checked_plan_counts_what_rustc_has_decided() {
    let package = Package::new("types", TYPES);
    let variable = |plan: &Value, name: &str| {
        let all = plan["functions"][0]["variables"].as_array().unwrap();
        all.iter().find(|one| one["name"] == name).unwrap().clone()
    };
    let plan = package.plan(&[]);
    assert_eq!(variable(&plan, "field")["bytes"], 50 * 100 * 4);
    assert_eq!(variable(&plan, "layout")["saved"], true);
    let checked = package.plan(&["--check"]);
    let layout = variable(&checked, "layout");
    assert_eq!(layout["saved"], false, "{layout}");
    assert!(layout["why"].as_str().unwrap().contains("rustc"), "{layout}");
    assert_eq!(variable(&checked, "field")["saved"], true);
    let saved = |plan: &Value| plan["totals"]["variables_saved"].as_u64().unwrap();
    assert_eq!(saved(&checked) + 1, saved(&plan));
}

#[test]
fn a_checked_plan_begins_with_what_the_build_for_a_run_has_led_to() {
    let package = Package::new("types-of-a-run", TYPES);
    package.succeeds(&["run", "--offline"]);
    let (plan, _) = package.succeeds(&["plan", "--offline", "--check"]);
    assert!(plan.contains("after 1 build of cargo"), "{plan}");
}

/// A static that no build can do with.
const MUTABLE: &str = r#"
static mut DEPTH: u64 = 0;
fn deeper(by: u64) {
    let place = &raw mut DEPTH;
    unsafe { *place += by }
}
fn main() {
    let mut sum = 0.0_f64;
    for step in 0..100000_u64 {
        for k in 0..50 {
            sum += (step as f64 + k as f64).sqrt();
        }
        deeper(step);
    }
    println!("{sum} {}", unsafe { DEPTH });
}
"#;

#[test]
fn the_summary_of_a_plan_is_of_what_a_build_has() {
    let package = Package::new("mutable", MUTABLE);
    let output = package.tool(&["plan", "--offline"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("no checkpoints: src/main.rs:2"), "{text}");
    assert!(!text.contains("Sites reach"), "{text}");
    assert!(text.contains("\nThe program has no checkpoints until "), "{text}");
    let json = package.tool(&["plan", "--offline", "--format", "json"]);
    let plan: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(plan["coverage"].as_f64(), Some(0.0));

    let package = Package::new("asking", TYPES);
    let unasked = "\nrustc was not asked ";
    let (text, _) = package.succeeds(&["plan", "--offline"]);
    assert!(
        text.contains("Sites reach at most 100.0 % of the run") && text.contains(unasked),
        "{text}"
    );
    let (text, _) = package.succeeds(&["plan", "--offline", "--check"]);
    assert!(!text.contains(unasked), "{text}");
    let (text, _) = package.succeeds(&["plan", "--offline"]);
    assert!(
        !text.contains(unasked) && text.contains("Sites reach 100.0 % of the run"),
        "what the check has found counts: {text}"
    );
}

/// A phase between regions, then one inside of a region.
const THREADS: &str = r#"
use std::sync::Barrier;
fn main() {
    let steps: usize = std::env::args().count() * 1000;
    let mut grid = vec![1.0_f64; 4000];
    for _ in 0..steps {
        std::thread::scope(|s| {
            for part in grid.chunks_mut(1000) {
                s.spawn(move || part.iter_mut().for_each(|x| *x = x.sqrt() + 0.1));
            }
        });
    }
    let barrier = Barrier::new(4);
    std::thread::scope(|s| {
        for part in grid.chunks_mut(1000) {
            let barrier = &barrier;
            s.spawn(move || {
                for turn in 0..steps {
                    part.iter_mut().for_each(|x| *x = x.sqrt() + turn as f64);
                    barrier.wait();
                }
            });
        }
    });
    println!("{}", grid[0]);
}
"#;

#[test]
fn the_plan_says_with_how_many_threads_a_restart_may_come_to_a_site() {
    let package = Package::new("team-sizes", THREADS);
    let plan = package.plan(&[]);
    let sites = plan["functions"][0]["sites"].as_array().unwrap();
    let kinds: Vec<_> = sites.iter().map(|site| &site["threads"]["kind"]).collect();
    assert_eq!(kinds, ["free", "fixed"]);
    let (text, _) = package.succeeds(&["plan", "--offline", "--html", "plan.html"]);
    let page = fs::read_to_string(package.folder.path().join("plan.html")).unwrap();
    let why = "the threads that line 17 in `main` starts go on with what is their own";
    for (text, label) in [
        (text, "threads at a restart: "),
        (page, "Threads at a restart:</span> "),
    ] {
        for words in ["free: no thread of a region", &format!("fixed: {why}")] {
            assert!(text.contains(&format!("{label}{words}")), "{text}");
        }
    }
    let serial = Package::new("serial-sizes", PHASES).plan(&[]);
    assert!(serial["functions"][0]["sites"][0].get("threads").is_none());
}

/// The function is called twice: only the call that a site is behind is written out.
#[test]
fn a_call_that_only_calls_a_closure_is_written_out_where_a_site_is_behind_it() {
    let package = Package::new(
        "plans-timed",
        r#"
fn timed<R>(label: &str, work: impl FnOnce() -> R) -> R {
    let start = std::time::Instant::now();
    let result = work();
    eprintln!("{label}: {:?}", start.elapsed());
    result
}
fn main() {
    let mut cells = timed("setup", || vec![0.5f64; 1000]);
    timed("run", || {
        for _step in 0..300 {
            for cell in &mut cells { *cell = (*cell * 1.5).sin() + 0.25; }
        }
    });
    println!("{}", cells.iter().sum::<f64>());
}
"#,
    );
    let plan = package.plan(&[]);
    let written = serde_json::json!([{ "name": "timed", "file": "src/main.rs", "line": 10 }]);
    assert_eq!(
        (&plan["written_out"], sites(&plan)),
        (&written, vec!["for _step in 0..300"])
    );
    let (text, _) = package.succeeds(&["plan", "--offline"]);
    assert!(text.contains("\nWritten out where they are called, so that a restart can enter their closures:\n  `timed`, src/main.rs:10\n"), "{text}");
    let (diff, _) = package.succeeds(&["rewrite", "--offline"]);
    assert!(
        diff.contains("\n-    timed(\"run\", || {\n+    { let label: &str = \"run\"; "),
        "{diff}"
    );
    assert!(!diff.contains("-    let mut cells"), "{diff}");
    package.succeeds(&["run", "--offline"]);
}

/// What strangers' programs are told fits a terminal as well, names and types of any length in it.
#[test]
fn plans_fit_a_terminal() {
    let here = tempfile::tempdir().unwrap();
    let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata");
    let mut found = Vec::new();
    for name in [
        "barnes-hut",
        "deck-clap-serde",
        "event-queue",
        "solver-dyn",
        "threads-pool",
    ] {
        let manifest = testdata.join(name).join("Cargo.toml");
        let manifest = manifest.canonicalize().unwrap();
        for options in ["", "--all", "--protection"] {
            let line = format!("plan {options} --manifest-path {}", manifest.display());
            let lines = width::in_a_terminal(here.path(), &line);
            assert!(lines.len() > 5, "{line}: {lines:?}");
            found.extend(width::too_long(&line, &lines));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// What is written out does not compile there, as the trait of `write_all` is not known: the program stays as it is.
#[test]
fn a_call_that_cannot_stand_where_it_is_written_out_is_left() {
    let package = Package::new(
        "plans-not-written-out",
        r#"
mod log {
    use std::io::Write;
    pub fn logged(out: &mut std::io::Stderr, f: impl FnOnce()) {
        f();
        out.write_all(b"done\n").unwrap();
    }
}
fn main() {
    let mut cells = vec![0.5f64; 1000];
    let mut err = std::io::stderr();
    log::logged(&mut err, || {
        for _step in 0..300 {
            for cell in &mut cells { *cell = (*cell * 1.5).sin() + 0.25; }
        }
    });
    println!("{}", cells.iter().sum::<f64>());
}
"#,
    );
    let refused = package.tool(&["run", "--offline"]);
    let told = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(79), "{told}");
    assert!(
        told.contains("E3080") && told.contains("it is inside a closure"),
        "{told}"
    );
}

/// What rustc has against each loop of a program, as fields; people are told the same, with the source under it.
fn causes_of_refusal(name: &str, main: &str) -> (Vec<Value>, String) {
    let package = Package::new(name, main);
    let refused = package.tool(&["plan", "--check", "--offline", "--format", "json"]);
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    let fields: Value = serde_json::from_slice(&refused.stdout).unwrap();
    schema::check("plan", &fields);
    assert_eq!(fields["code"], "E3080");
    let loops = fields["refused"].as_array().unwrap().iter();
    let causes = loops.flat_map(|one| one["causes"].as_array().unwrap().clone());
    (causes.collect(), String::from_utf8(refused.stderr).unwrap())
}

/// The method of a trait promises no bound, so its parameter cannot get one.
#[test]
fn a_function_that_does_not_compile_with_a_site_is_refused_with_its_place_and_a_way_out() {
    let (causes, told) = causes_of_refusal(
        "plans-stricter-than-trait",
        r#"trait Run {
    fn run<T: Into<f64> + Copy>(&self, one: T) -> f64;
}
struct Wave;
impl Run for Wave {
    fn run<T: Into<f64> + Copy>(&self, one: T) -> f64 {
        let mut sum = one.into();
        for _step in 0..300 {
            for _k in 0..1000 {
                sum = (sum * 1.5 + one.into()).sin() + 0.25;
            }
        }
        sum
    }
}
fn main() {
    println!("{}", Wave.run(0.5f32));
}
"#,
    );
    let first = &causes[0];
    assert_eq!(
        (&first["code"], &first["rustc_code"]),
        (&"E1312".into(), &"E0276".into())
    );
    assert_eq!(
        (&first["file"], &first["line"]),
        (&"src/main.rs".into(), &6.into())
    );
    assert!(first["instead"].as_str().unwrap().contains("ckpt::Checkpoint"));
    assert!(
        told.contains("\n        6 |     fn run<T: Into<f64> + Copy>(&self, one: T) -> f64 {\n"),
        "{told}"
    );
    assert_eq!(
        told.matches("instead: ").count(),
        1,
        "one cause is explained once: {told}"
    );
}

#[test]
fn a_value_that_cannot_be_saved_is_refused_with_its_variable_and_the_field_in_the_way() {
    let (causes, told) = causes_of_refusal(
        "plans-rule-and-best",
        r#"struct Bag<'a, F: Fn(f64) -> f64 + ?Sized> {
    rule: &'a F,
    best: Option<&'a mut f64>,
}
fn sweep<'a, F: Fn(f64) -> f64 + ?Sized>(bag: &mut Bag<'a, F>, cells: &mut [f64]) {
    for _step in 0..300 {
        for c in cells.iter_mut() {
            *c = (bag.rule)(*c);
        }
        if let Some(best) = bag.best.as_mut() {
            **best += cells[0];
        }
    }
}
fn main() {
    let mut best = 0.0;
    let mut cells = vec![0.5; 1000];
    let k = std::env::args().count() as f64;
    let rule = move |x: f64| (x * 1.5).sin() + k * 0.25;
    let mut bag = Bag { rule: &rule, best: Some(&mut best) };
    sweep(&mut bag, &mut cells);
    println!("{best} {}", cells.iter().sum::<f64>());
}
"#,
    );
    let first = &causes[0];
    assert_eq!(first["code"], "E1310");
    assert_eq!(first["variables"], serde_json::json!(["bag"]));
    assert_eq!((&first["line"], &first["column"]), (&20.into(), &13.into()));
    assert_eq!(first["why"], "its field `Bag.rule` is of the type `&'a F`");
    assert!(told.contains("\n        20 |     let mut bag = Bag {"), "{told}");
}

/// A macro that hides a variable may not be taken for one that declares nothing: what follows would read the old one.
#[test]
fn a_macro_that_declares_beside_a_call_with_a_site_is_named_with_its_place() {
    let program = |then: &str| {
        let text = r#"macro_rules! shadow {
    ($n:ident) => {
        let $n = $n + 100;
    };
}
fn work(x: u64) -> u64 {
    let mut s = x;
    for i in 0..200_000_000u64 {
        s = s.wrapping_mul(6364136223846793005).wrapping_add(i ^ x);
    }
    s
}
fn main() {
    let x = std::env::args().count() as u64;
    let s = work(x);
    THEN
    println!("{x} {s}");
}
"#;
        text.replace("THEN", then)
    };
    let (causes, told) = causes_of_refusal("plans-declaring-macro", &program("shadow!(x);"));
    assert_eq!(
        (&causes[0]["code"], &causes[0]["file"], &causes[0]["line"]),
        (&"E1052".into(), &"src/main.rs".into(), &16.into())
    );
    assert!(told.contains("the macro `shadow!`"), "{told}");
    let blocks = Package::new(
        "plans-macro-in-a-block",
        &program("{ shadow!(x); println!(\"{x}\"); }"),
    );
    assert_eq!(sites(&blocks.plan(&[])).len(), 1);
}

/// What has attributes already stays as it is: what stands in the way there is said.
#[test]
fn a_call_that_is_not_marked_is_told() {
    let heavy = "let mut x = 0.0; for i in 0..1000000u64 { x += (i as f64).sqrt(); } println!(\"{x}\");";
    let main = format!(
        "fn advance() {{ {heavy} }} fn warm_up() {{ {heavy} }}
         #[ckpt::main(calls(warm_up))] fn main() {{ warm_up(); advance(); }}"
    );
    let package = Package::new("not-marked", &main);
    let (told, _) = package.succeeds(&["plan", "--offline"]);
    assert!(
        told.contains("E1302: `main` is annotated and does not mark `advance`"),
        "{told}"
    );
}

/// A mesh that is made and read, a field that each step writes, a buffer that each step fills, and a matrix that is passed on.
const CLASSES: &str = r#"
const CELLS: usize = 1000;
fn main() {
    let steps: usize = std::env::args().count() * 40;
    let mesh = vec![0.5_f64; 3 * CELLS];
    let mut field = vec![1.0_f64; CELLS];
    let mut flux = [0.0_f64; CELLS];
    for step in 0..steps {
        flux = [0.0_f64; CELLS];
        for k in 0..CELLS {
            flux[k] = field[k] * mesh[3 * k];
        }
        relax(&mut field, &flux, step);
    }
    println!("{:e}", field.iter().sum::<f64>());
}

fn relax(field: &mut [f64], flux: &[f64], step: usize) {
    for (cell, flux) in field.iter_mut().zip(flux) {
        *cell = cell.sqrt() + flux * (step % 3) as f64;
    }
}
"#;

#[test]
fn a_plan_tells_what_the_memory_of_each_variable_needs() {
    let package = Package::new("classes", CLASSES);
    let plan = package.plan(&[]);
    assert!(plan.get("protection").is_none());
    let plan = package.plan(&["--protection"]);
    let variables = plan["protection"]["sites"][0]["variables"].as_array().unwrap();
    let class = |name: &str| {
        let one = variables.iter().find(|one| one["name"] == name).expect(name);
        (one["class"].as_str().unwrap(), one["bytes"].as_u64())
    };
    assert_eq!(class("mesh"), ("clean", Some(24000)));
    assert_eq!(class("field"), ("must be saved", Some(8000)));
    assert_eq!(class("flux"), ("dead", Some(8000)));
    let totals = plan["protection"]["classes"].as_array().unwrap();
    let share = |class: &str| {
        let one = totals.iter().find(|one| one["class"] == class).unwrap();
        one["share"].as_f64().unwrap()
    };
    assert!((share("clean") - 0.6).abs() < 1e-3, "{totals:?}");
    assert!((share("dead") - 0.2).abs() < 1e-3, "{totals:?}");
    let sum: f64 = totals.iter().map(|one| one["share"].as_f64().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-9, "{sum}");

    let (text, _) = package.succeeds(&["plan", "--offline", "--protection"]);
    assert!(text.contains("main at the site, src/main.rs:"), "{text}");
    assert!(text.contains("Shares are of the sizes that are known."), "{text}");
    let both = package.tool(&["plan", "--offline", "--protection", "--stage", "clean"]);
    assert_eq!(both.status.code(), Some(2));
}

/// The sizes are known while it runs only.
const ASKED_SIZES: &str = r#"
static CALLS: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
fn main() {
    let cells: usize = std::env::args().count() * 500;
    let mesh: Vec<f64> = (0..cells).map(|k| k as f64).collect();
    let mut field = vec![1.0_f64; cells];
    for step in 0..40 {
        relax(&mut field, &mesh, step);
    }
    println!("{:e} {:?}", field.iter().sum::<f64>(), CALLS);
}

fn relax(field: &mut Vec<f64>, mesh: &[f64], step: usize) {
    CALLS.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    for turn in 0..40 {
        for (cell, mesh) in field.iter_mut().zip(mesh) {
            *cell = (*cell + mesh * (step * turn) as f64).sqrt();
        }
    }
}
"#;

#[test]
fn a_checkpoint_tells_the_sizes_that_the_source_does_not() {
    let package = Package::new("asked-sizes", ASKED_SIZES);
    let total = |plan: &Value, class: &str, field: &str| {
        let totals = plan["protection"]["classes"].as_array().unwrap();
        let one = totals.iter().find(|one| one["class"] == class).unwrap();
        one[field].as_u64().unwrap()
    };
    let before = package.plan(&["--protection"]);
    assert_eq!(total(&before, "clean", "bytes"), 0);
    assert!(total(&before, "must be saved", "of_unknown_size") > 0);
    package.succeeds(&["run", "--offline", "--release", "--every", "7"]);
    let after = package.plan(&["--protection"]);
    assert_eq!(total(&after, "clean", "bytes"), 4000);
    // The field counts once, where it is and not where it is lent to; the static counts.
    let saved = total(&after, "must be saved", "bytes");
    assert!((4000..4100).contains(&saved), "{after:#}");
}

/// A gas whose atoms are counted, a mesh that nobody saves, and functions that are none of what `detects` takes.
const COUNTED: &str = r#"
mod laws {
    pub(super) fn is_counted(gas: &super::Gas) -> bool {
        gas.cells.iter().sum::<u64>() == gas.atoms
    }
    #[allow(dead_code)]
    fn is_hidden(gas: &super::Gas) -> bool {
        gas.atoms > 0
    }
}

pub struct Gas {
    cells: Vec<u64>,
    atoms: u64,
}

#[allow(dead_code)]
impl Gas {
    fn has_atoms(&self) -> bool {
        self.atoms > 0
    }
    fn is_of(&self, atoms: u64) -> bool {
        self.atoms == atoms
    }
}

#[allow(dead_code)]
struct Mesh {
    edges: Vec<f64>,
}

#[allow(dead_code)]
impl Mesh {
    fn has_atoms(&self) -> bool {
        !self.edges.is_empty()
    }
}

#[allow(dead_code)]
fn is_sorted(edges: &[f64]) -> bool {
    edges.windows(2).all(|two| two[0] <= two[1])
}

fn main() {
    let mut gas = Gas { cells: (0..400).collect(), atoms: 400 * 399 / 2 };
    for step in 0..2000 {
        gas.cells.rotate_left(step % 7);
        let moved = gas.cells[step % 400] / 2;
        gas.cells[step % 400] -= moved;
        gas.cells[(step + 1) % 400] += moved;
    }
    println!("{} {}", gas.cells[0], laws::is_counted(&gas));
}
"#;

#[test]
fn a_name_that_is_no_detector_is_refused() {
    let package = Package::new("no-detectors", COUNTED);
    let fails = |name: &str, arguments: &[&str]| {
        let text = format!("[calls]\ndetects = [{name}]\n");
        fs::write(package.folder.path().join("ckpt.toml"), text).unwrap();
        let output = package.tool(arguments);
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    for (name, why) in [
        ("\"is_missing\"", "no function of the package is called so"),
        (
            "\"has_atoms\"",
            "`Gas::has_atoms` and `Mesh::has_atoms` are called so",
        ),
        ("\"is_of\"", "it is no `fn(&T) -> bool` (src/main.rs:"),
        (
            "\"is_sorted\"",
            "it takes no struct or enum of the package without parameters",
        ),
        ("\"is_hidden\"", "it cannot be named where its type is declared"),
        (
            "\"is_counted\", \"Gas::has_atoms\"",
            "`is_counted` looks at `Gas` already",
        ),
    ] {
        let told = fails(name, &["plan", "--offline"]);
        assert!(
            told.starts_with("error[E3118]: `") && told.contains(why),
            "{told}"
        );
    }
    let told = fails("\"Mesh::has_atoms\"", &["plan", "--offline", "--check"]);
    let wanted = "error[E3119]: `Mesh::has_atoms` of `detects` in ckpt.toml has nothing to look at: no checkpoint holds a `Mesh`";
    assert!(told.contains(wanted), "{told}");
}

#[test]
fn a_program_that_has_never_heard_of_ckpt_has_a_detector() {
    let package = Package::new("detects", COUNTED);
    let text = "[calls]\ndetects = [\"is_counted\"]\n";
    fs::write(package.folder.path().join("ckpt.toml"), text).unwrap();
    let (diff, _) = package.succeeds(&["rewrite", "--offline", "--diff"]);
    let line = "+#[derive(ckpt::Checkpoint)] #[ckpt(detector = \"crate::laws::is_counted\")]";
    assert!(diff.contains(line), "{diff}");
    let (text, _) = package.succeeds(&["crashtest", "--offline", "--bit-flips", "12", "--format", "json"]);
    let told: Value = serde_json::from_str(&text).unwrap();
    let trials = told["trials"].as_array().unwrap();
    let fates: Vec<&str> = trials
        .iter()
        .filter_map(|trial| trial["bits"]["fate"].as_str())
        .collect();
    let count = |fate: &str| fates.iter().filter(|one| **one == fate).count();
    assert!(count("repaired") > 4, "{fates:?}");
    assert_eq!(count("not-repaired"), 0, "{fates:?}");
}

/// A program with arrays on devices, of which a plan needs no library: rustc is not asked.
const DEVICES: &str = r#"use ocl::{Buffer, Kernel, ProQue, Queue};

const SOURCE: &str = "__kernel void stir(__global const uint *seed, __global uint *state) {}";

fn on_device(queue: &Queue, numbers: &[u32]) -> ocl::Result<Buffer<u32>> {
    Buffer::builder().queue(queue.clone()).len(numbers.len()).copy_host_slice(numbers).build()
}

fn main() -> ocl::Result<()> {
    let device = ProQue::builder().src(SOURCE).dims(1000).build()?;
    let seed_of_the_numbers = on_device(device.queue(), &[1; 1000])?;
    let state_of_all_cells: Buffer<u32> = device.create_buffer()?;
    let mut sum = 0_u64;
    for step in 0..1000_u64 {
        let stir = device.kernel_builder("stir").arg(&seed_of_the_numbers).arg(&state_of_all_cells).build()?;
        unsafe { stir.enq()? };
        sum += step;
    }
    let mut found = vec![0; 1000];
    state_of_all_cells.read(&mut found).enq()?;
    seed_of_the_numbers.read(&mut found).enq()?;
    println!("{sum} {}", found[7]);
    Ok(())
}
"#;

#[test]
fn arrays_on_devices_are_shown_one_by_one_with_what_writes_to_them() {
    let package = Package::new("on-devices", DEVICES);
    let plan = package.plan(&[]);
    let site = &plan["devices"][0];
    assert_eq!((&site["function"], &site["line"]), (&"main".into(), &14.into()));
    let arrays = site["arrays"].as_array().unwrap();
    let kernel = |access: &str| serde_json::json!([{ "name": "stir", "access": access }]);
    let [seed, state] = &arrays[..] else {
        panic!("{site:#}")
    };
    assert_eq!(
        (&seed["name"], &seed["kernels"]),
        (&"seed_of_the_numbers".into(), &kernel("reads"))
    );
    assert_eq!(
        (&state["name"], &state["kernels"]),
        (&"state_of_all_cells".into(), &kernel("writes"))
    );
    for array in arrays {
        assert_eq!(
            (&array["saved"], &array["followed"]),
            (&true.into(), &true.into())
        );
        assert_eq!(array["commands"], serde_json::json!([]));
    }
    let (text, _) = package.succeeds(&["plan", "--offline"]);
    assert!(
        text.contains("arrays on devices at the site, src/main.rs:14\n")
            && text.contains("nothing writes to it: `full-every` may leave it out"),
        "{text}"
    );
    let page = package.folder.path().join("plan.html");
    package.succeeds(&["plan", "--offline", "--html", page.to_str().unwrap()]);
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("Arrays on devices"), "{page}");
}
