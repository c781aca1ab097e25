//! A loop of as many steps as asked for, which can wait, panic, or come back as another version of itself.

use std::io::{Read, Write};
use std::path::Path;

use ckpt::__rt::{Frame, FunctionPlan, Program, SitePlan, Sources, VariablePlan, open};
use ckpt::snapshot::SnapshotBuilder;
use ckpt::store::{Mode, Store};

use super::{MAIN, PROGRAM, call_at, checkpoint_at, parameter, plan, variable};

const VARIABLES: &[VariablePlan] = &[variable("step", 5), variable("sum", 6)];
const SITES: &[SitePlan] = &[checkpoint_at(10, VARIABLES)];

static PLAN: FunctionPlan = plan("main", 1, MAIN, SITES);
static OTHER_SOURCE: FunctionPlan = FunctionPlan {
    source: 2,
    ..plan("main", 1, MAIN, SITES)
};
static OTHER_VARIABLES: FunctionPlan = FunctionPlan {
    layout: 2,
    ..plan(
        "main",
        1,
        MAIN,
        &[checkpoint_at(
            11,
            &[variable("step", 5), variable("total", 6), parameter("unasked", 1)],
        )],
    )
};
static OTHER_KIND: FunctionPlan = FunctionPlan {
    layout: 2,
    ..plan("main", 1, MAIN, &[call_at(11, "work", VARIABLES)])
};
static OTHER_FUNCTION: FunctionPlan = FunctionPlan {
    module: "test::new",
    ..plan("main", 1, MAIN, SITES)
};

static SOURCES: Sources = Sources {
    hash: 0xa1,
    files: &[("src/flux.rs", 1), ("src/main.rs", 2)],
    variables: &["TEST_FACTOR", "CKPT_EVERY"],
};
static CHANGED_SOURCES: Sources = Sources {
    hash: 0xa2,
    files: &[("src/flux.rs", 3), ("src/main.rs", 2), ("src/wall.rs", 4)],
    variables: &["TEST_FACTOR", "CKPT_EVERY"],
};
static OTHER_SOURCES: Sources = Sources {
    hash: 0xa3,
    files: &[("src/main.rs", 2)],
    variables: &["TEST_FACTOR", "CKPT_EVERY"],
};

/// The program, made of the sources that are meant.
fn program() -> Program {
    let sources = match std::env::var("TEST_SOURCES").as_deref() {
        Ok("first") => Some(&SOURCES),
        Ok("changed") => Some(&CHANGED_SOURCES),
        Ok("third") => Some(&OTHER_SOURCES),
        _ => None,
    };
    Program { sources, ..PROGRAM }
}

/// Puts the newest checkpoint of the program into its store once more, with another note of this name.
pub fn with_note(store: &Path, (name, text): (&str, &str)) {
    let mut store = Store::open(store, Mode::ReadWrite).unwrap();
    let newest = *store.ids().unwrap().last().unwrap();
    let restored = store.load(newest).unwrap();
    let mut snapshot = SnapshotBuilder::new();
    let frame = snapshot.frame(&PLAN, 1);
    for VariablePlan { key, line, .. } in VARIABLES {
        let value: u64 = restored.decode(0, key).unwrap();
        snapshot.value(frame, *key, *line, None, &value);
    }
    let mut meta = restored.meta().clone();
    // It would be a copy otherwise.
    meta.time += 1;
    meta.notes.retain(|(known, _)| known != name);
    meta.notes.push((name.to_owned(), text.to_owned()));
    store.commit(&snapshot.finish().unwrap(), &meta).unwrap();
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Ends the process when it is dropped, if it is asked to: after the session, which is opened later.
struct Late;

impl Drop for Late {
    fn drop(&mut self) {
        match std::env::var("TEST_LATE").as_deref() {
            // SAFETY: plain system calls, which end the process.
            Ok("killed") => unsafe { libc::raise(libc::SIGKILL) },
            // SAFETY: as above.
            Ok("leaves") => unsafe { libc::_exit(0) },
            _ => 0,
        };
    }
}

pub fn main() -> Result<(), String> {
    let _late = Late;
    let __session = open(program());
    let version = std::env::var("TEST_VERSION").unwrap_or_default();
    let plan = match version.as_str() {
        "source" => &OTHER_SOURCE,
        "variables" => &OTHER_VARIABLES,
        "kind" => &OTHER_KIND,
        "function" => &OTHER_FUNCTION,
        _ => &PLAN,
    };
    let mut __ckpt = Frame::enter(plan);
    if version == "text" && !__ckpt.runs() {
        let _sum: String = __ckpt.restore("sum");
    }
    let mut step: u64 = if __ckpt.runs() { 0 } else { __ckpt.restore("step") };
    let mut sum: u64 = if __ckpt.runs() { 0 } else { __ckpt.restore("sum") };
    match version.as_str() {
        "early" => return Ok(()),
        "error" => return Err("the input file is gone".into()),
        _ => {}
    }
    while __ckpt.enters(1, 1) || step < number("TEST_STEPS").unwrap() {
        if __ckpt.runs() {
            step += 1;
            sum = sum.wrapping_mul(3) + step;
            act(step);
        }
        if __ckpt.due(1) {
            __ckpt.checkpoint(1, &|r| {
                r.save("step", &step);
                r.save("sum", &sum);
                if number("TEST_BAD_SAVE") == Some(step) {
                    panic!("a value panics while it is saved");
                }
            });
        }
    }
    println!("step {step} sum {sum}");
    match number("TEST_EXIT") {
        Some(0) | None => Ok(()),
        Some(1) => Err("a bad end".into()),
        Some(code) => std::process::exit(code as i32),
    }
}

/// What a step does besides counting.
fn act(step: u64) {
    if number("TEST_PRINT") == Some(step) {
        print!("no newline at {step} ");
    }
    if number("TEST_WAIT") == Some(step) {
        println!("waiting");
        std::io::stdout().flush().unwrap();
        let _ = std::io::stdin().read(&mut [0]);
    }
    if number("TEST_PANIC") == Some(step) {
        panic!("step {step} panics");
    }
    if number("TEST_JAM") == Some(step) {
        jam(Path::new("test.ckpt.d"));
    }
    if let Ok(file) = std::env::var("TEST_FILE") {
        let mut file = std::fs::File::options()
            .append(true)
            .create(true)
            .open(file)
            .unwrap();
        writeln!(file, "step {step}").unwrap();
    }
    if number("TEST_BLOCK") == Some(step) {
        // The store is a file system that has become read-only, as far as new checkpoints can tell: somebody else's doing.
        let removed = std::process::Command::new("rm")
            .args(["-rf", "test.ckpt.d"])
            .status();
        assert!(removed.unwrap().success());
        std::fs::write("test.ckpt.d", "in the way").unwrap();
    }
}

/// From now on no checkpoint can be written to a store, as on a full disk: folders are in the way of their files. The program's
/// journal and the record of its run can be, as what is small often can.
pub fn jam(store: &Path) {
    for (number, rank) in (1..40).flat_map(|number| [(number, 0), (number, 1)]) {
        // The last one that can be written may be on its way.
        while std::fs::create_dir_all(store.join(format!(".{number:06}.r{rank}.h5.tmp"))).is_err() {
            std::thread::yield_now();
        }
    }
}

/// Takes them away again.
pub fn clear(store: &Path) {
    for (number, rank) in (1..40).flat_map(|number| [(number, 0), (number, 1)]) {
        let _ = std::fs::remove_dir(store.join(format!(".{number:06}.r{rank}.h5.tmp")));
    }
}

/// A program by hand that does not do it right.
pub fn by_hand_wrong(how: &str) -> Result<(), String> {
    let mut session = ckpt::Session::open("test").unwrap();
    if let Err(error) = ckpt::Session::open("test") {
        println!("{error}");
    }
    let result = match how {
        "manual-never-restores" => session.save_if_due(|state| state.save("state", &1)).map(drop),
        "manual-restores-late" => {
            session.save_if_due(|state| state.save("state", &1)).unwrap();
            session.restore::<u64>("state").map(drop)
        }
        "manual-saves-twice" => session
            .save_if_due(|state| {
                state.save("state", &1);
                state.save("state", &2);
            })
            .map(drop),
        _ => session.restore::<String>("state").map(drop),
    };
    result.map_err(|error| format!("{error} ({})", error.exit_code()))
}

/// The same loop through the interface for programs without macros.
pub fn by_hand() {
    let mut session = ckpt::Session::open("test").unwrap();
    let (mut step, mut sum) = session.restore::<(u64, u64)>("state").unwrap().unwrap_or((0, 0));
    while step < number("TEST_STEPS").unwrap() {
        step += 1;
        sum = sum * 3 + step;
        println!("step {step} sum {sum}");
        session
            .save_if_due(|state| state.save("state", &(step, sum)))
            .unwrap();
    }
}
