//! Single failures, each with what it must not lead to.

#[path = "../../harness/src/skipped.rs"]
mod skipped;

use std::fs;
use std::path::Path;

use faults::inject::{Injector, Unharmed};
use faults::program::{PROGRAMS, Place, Program};
use faults::tracer::{Action, Call, Ended, Kind, Run, Tracee, Watcher};
use faults::verdict::Outcome;
use harness::messages;

/// What ckpt says.
const NOTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/messages.txt");

/// The program without files of its own.
fn small() -> Program {
    PROGRAMS[0]
}

fn named(name: &str) -> Program {
    *PROGRAMS
        .iter()
        .find(|program| program.name == name)
        .expect("there is one of this name")
}

/// The first number of those that ckpt keeps open: they are counted from there.
const KEPT_OPEN: u64 = 200;

/// Fails the calls that are chosen, and notes the largest descriptor.
struct Chosen<F> {
    fails: F,
    largest: u64,
}

impl<F: FnMut(&Call) -> Option<i32>> Watcher for Chosen<F> {
    fn call(&mut self, call: &Call, _: &Tracee) -> Action {
        if call.kind == Kind::Write {
            self.largest = self.largest.max(call.arguments[0] % KEPT_OPEN);
        }
        match (self.fails)(call) {
            Some(errno) => Action::Fail(errno),
            None if call.kind == Kind::Sync => Action::Fail(0),
            None => Action::Go,
        }
    }
}

fn name(call: &Call) -> String {
    let path = call.path.as_deref().and_then(|path| path.file_name());
    path.unwrap_or_default().to_string_lossy().into_owned()
}

/// Whether a restart in this place gives the right answer from a visit on, or why not.
fn restarts_from(place: &Place, program: &Program, visit: u64) -> Outcome {
    let restart = place.restart_unharmed(program).unwrap();
    let reference = program.reference().unwrap();
    faults::verdict::of_restart(place, &reference, &restart, visit).unwrap()
}

/// Runs a program that is killed at its visit 7.
fn killed(place: &Place, program: &Program, fails: impl FnMut(&Call) -> Option<i32>) -> Run {
    let mut watcher = Chosen { fails, largest: 0 };
    let run = place.begin(program, Some(7), &mut watcher).unwrap();
    assert_eq!(run.ended, Ended::Signal(libc::SIGKILL), "{}", run.stderr);
    run
}

#[test]
fn a_checkpoint_that_cannot_be_looked_at_is_not_written_over() {
    let program = named("incremental");
    let place = Place::new().unwrap();
    let mut seen = 0;
    killed(&place, &program, |call| {
        let is_it = call.kind == Kind::Look && name(call).starts_with("000002.r0.h5");
        seen += u32::from(is_it);
        (is_it && seen == 1).then_some(libc::EACCES)
    });
    assert!(seen > 0);
    assert_eq!(restarts_from(&place, &program, 6), Outcome::Right);
}

#[test]
fn what_an_unreadable_checkpoint_builds_on_is_not_removed() {
    let program = named("incremental");
    let place = Place::new().unwrap();
    let mut at_all = false;
    let run = killed(&place, &program, |call| {
        // Retention asks what each needs.
        let is_it = call.kind == Kind::Read && name(call).ends_with(".r0.h5");
        at_all |= is_it;
        is_it.then_some(libc::EIO)
    });
    assert!(at_all);
    assert!(run.stderr.contains("warning[W2070]: E2209"), "{}", run.stderr);
    assert_eq!(restarts_from(&place, &program, 6), Outcome::Right);
}

#[test]
fn a_checkpoint_beside_one_that_cannot_be_removed_is_one() {
    let place = Place::new().unwrap();
    let run = killed(&place, &small(), |call| {
        let is_it = call.kind == Kind::Unlink && name(call).starts_with("00000");
        is_it.then_some(libc::EACCES)
    });
    messages::compare(Path::new(NOTED), &run.stderr);
    assert!(run.stderr.contains("warning[W2070]"), "{}", run.stderr);
    assert!(!run.stderr.contains("W2005"), "{}", run.stderr);
    assert_eq!(restarts_from(&place, &small(), 6), Outcome::Right);
}

#[test]
fn the_library_tells_why_a_file_could_not_be_made() {
    let place = Place::new().unwrap();
    let run = killed(&place, &small(), |call| {
        let is_it = matches!(call.kind, Kind::Open { creates: true, .. }) && name(call).ends_with(".h5.tmp");
        is_it.then_some(libc::EROFS)
    });
    assert!(
        run.stderr.contains("warning[W2005]") && run.stderr.contains("errno = 30"),
        "{}",
        run.stderr
    );
    assert!(!run.stderr.contains("HDF5-DIAG"), "{}", run.stderr);
}

#[test]
fn a_disk_that_stays_full_costs_no_descriptors() {
    let program = Program {
        steps: 60,
        every: 1,
        ..small()
    };
    let place = Place::new().unwrap();
    let mut writes = 0;
    let fails = |call: &Call| {
        let is_it = call.kind == Kind::Write && name(call).ends_with(".h5.tmp");
        writes += u32::from(is_it);
        // Some come through, and others of the same file do not.
        (is_it && writes > 100 && writes % 7 > 2).then_some(libc::ENOSPC)
    };
    let mut watcher = Chosen { fails, largest: 0 };
    let run = place.begin(&program, None, &mut watcher).unwrap();
    assert_eq!(run.ended, Ended::Code(0), "{}", run.stderr);
    assert!(
        run.stderr.matches("warning[W2005]").count() > 20,
        "{}",
        run.stderr
    );
    assert!(watcher.largest < 20, "descriptor {}", watcher.largest);
}

#[test]
fn names_of_files_that_could_not_be_synced_are_with_the_next_checkpoint() {
    let program = named("files");
    let place = Place::new().unwrap();
    let work = place.folder();
    let mut synced = Vec::new();
    killed(&place, &program, |call| {
        let is_it = call.kind == Kind::Sync && call.path.as_ref() == Some(&work);
        if is_it {
            synced.push(());
        }
        (is_it && synced.len() == 2).then_some(libc::EIO)
    });
    // The first is that of the store's own name.
    assert!(synced.len() >= 3, "{}", synced.len());
    assert_eq!(restarts_from(&place, &program, 6), Outcome::Right);
}

#[test]
fn a_file_that_may_not_be_looked_at_once_comes_back_all_the_same() {
    let program = named("files");
    for nth in (0..).step_by(6) {
        let place = Place::new().unwrap();
        let mut seen = 0;
        let run = killed(&place, &program, |call| {
            let is_it = call.kind == Kind::Look && name(call) == "counter.txt";
            seen += usize::from(is_it);
            (is_it && seen == nth + 1).then_some(libc::EACCES)
        });
        if seen <= nth {
            assert!(nth > 10, "{nth}");
            break;
        }
        let outcome = restarts_from(&place, &program, 0);
        assert!(!outcome.is_broken(), "{nth}: {outcome:?}\n{}", run.stderr);
    }
}

/// A killed run in which looking at a file of this name fails, once or from then on, after the last checkpoint: right or
/// refused, and which.
fn not_looked_at(program: &Program, meant: &str, errno: i32, lasts: bool) -> (Outcome, String) {
    let place = Place::new().unwrap();
    let (mut last_is_there, mut seen) = (false, 0);
    let run = killed(&place, program, |call| {
        last_is_there |= name(call).starts_with("000003");
        let is_it = last_is_there && call.kind == Kind::Look && name(call) == meant;
        seen += u32::from(is_it);
        (is_it && (lasts || seen == 1)).then_some(errno)
    });
    assert!(seen > 0, "{meant}: {}", run.stderr);
    (restarts_from(&place, program, 0), run.stderr)
}

#[test]
fn what_may_never_be_looked_at_and_is_changed_is_not_brought_back_and_said() {
    let (outcome, said) = not_looked_at(&named("files"), "grows.txt", libc::EACCES, true);
    assert_eq!(outcome, Outcome::Refused, "{said}");
    messages::compare(Path::new(NOTED), &said);
}

#[test]
fn a_folder_that_cannot_be_looked_at_once_hides_no_change_in_it() {
    for errno in [libc::EACCES, libc::ENOMEM] {
        let (outcome, said) = not_looked_at(&named("folders"), "work", errno, false);
        assert!(!outcome.is_broken(), "{outcome:?}\n{said}");
    }
}

/// A run that died before its first checkpoint, beside files that were there before, as `cargo ckpt` has noted it.
struct Died {
    place: Place,
    run: String,
    before: faults::program::Tree,
}

impl Died {
    fn of(program: &Program) -> Died {
        let place = Place::new().unwrap();
        let folder = place.folder();
        for (name, text) in [
            ("counter.txt", "7\n"),
            ("grows.txt", "0 before\n"),
            ("state.txt", "old\n"),
        ] {
            fs::write(folder.join(name), text).unwrap();
        }
        fs::create_dir_all(folder.join("out/1")).unwrap();
        fs::write(folder.join("out/1/1.txt"), "from before\n").unwrap();
        // Names of one file.
        fs::hard_link(folder.join("grows.txt"), folder.join("grows.too")).unwrap();
        let before = place.own_files().unwrap();
        let program = Program {
            every: 100,
            ..*program
        };
        let ended = place.begin(&program, Some(6), &mut Unharmed).unwrap().ended;
        assert_eq!(ended, Ended::Signal(libc::SIGKILL));
        assert_ne!(place.own_files().unwrap(), before);
        let runs = fs::read_dir(place.store().join("runs")).unwrap();
        let [folder] = &runs.map(Result::unwrap).collect::<Vec<_>>()[..] else {
            panic!("there is one run");
        };
        let run = folder.file_name().into_string().unwrap();
        let job = fs::read_to_string(folder.path().join("job.json")).unwrap();
        let pid = job.split("\"pid\": ").nth(1).unwrap();
        let pid: String = pid.chars().take_while(char::is_ascii_digit).collect();
        let died = Died { place, run, before };
        died.about("note", &[&pid], &mut Unharmed, Ended::Code(0));
        assert!(folder.path().join("left.log").exists());
        died
    }

    fn about(&self, what: &str, more: &[&str], watcher: &mut dyn Watcher, expected: Ended) {
        let store = self.place.store().display().to_string();
        let arguments = [&[what, &store, &self.run], more].concat();
        let run = self.place.about_the_dead(&arguments).watched(watcher).unwrap();
        assert_eq!(run.ended, expected, "{what}: {}", run.stderr);
    }

    fn undo(&self) {
        self.about("undo", &[], &mut Unharmed, Ended::Code(0));
    }

    /// Killed at a call; gives whether there is such a call.
    fn undo_killed(&self, nth: usize) -> bool {
        let plan = faults::inject::Plan {
            scope: faults::inject::Scope::Both,
            nth,
            failure: faults::inject::Failure::Kill,
            lasts: faults::inject::Lasts::Once,
        };
        let mut injector = Injector::new(&self.place.folder(), &self.place.store(), Some(plan));
        let store = self.place.store().display().to_string();
        let launch = self.place.about_the_dead(&["undo", &store, &self.run]);
        let ended = launch.watched(&mut injector).unwrap().ended;
        match injector.hit {
            Some(_) => assert_eq!(ended, Ended::Signal(libc::SIGKILL)),
            None => assert_eq!(ended, Ended::Code(0)),
        }
        injector.hit.is_some()
    }

    fn is_undone(&self) {
        assert_eq!(self.place.own_files().unwrap(), self.before);
        let id = |name: &str| {
            use std::os::unix::fs::MetadataExt;
            fs::metadata(self.place.folder().join(name)).unwrap().ino()
        };
        assert_eq!(id("grows.txt"), id("grows.too"));
    }
}

#[test]
fn an_undo_from_the_start_that_is_killed_at_any_call_is_made_again() {
    for nth in 0.. {
        let died = Died::of(&named("folders"));
        let is_there = died.undo_killed(nth);
        if is_there && nth % 4 == 0 {
            died.undo_killed(nth / 2);
        }
        died.undo();
        died.is_undone();
        if !is_there {
            assert!(nth > 60, "{nth} calls");
            break;
        }
    }
}

#[test]
fn an_undo_from_the_start_that_is_refused_has_changed_nothing() {
    type Harm = (&'static str, fn(&Path));
    let harms: [Harm; 3] = [
        ("`out/0/mine.txt` in it", |folder| {
            fs::write(folder.join("out/0/mine.txt"), "somebody's own\n").unwrap();
        }),
        ("`state.txt/mine.txt` in it", |folder| {
            fs::remove_file(folder.join("state.txt")).unwrap();
            fs::create_dir(folder.join("state.txt")).unwrap();
            fs::write(folder.join("state.txt/mine.txt"), "somebody's own\n").unwrap();
        }),
        // It sorts behind the others.
        ("`state.txt` was written at", |folder| {
            fs::write(
                folder.join("state.txt"),
                "somebody's own, and longer than it was\n",
            )
            .unwrap();
        }),
    ];
    for (told, harm) in harms {
        let died = Died::of(&named("folders"));
        harm(&died.place.folder());
        let before = died.place.own_files().unwrap();
        let store = died.place.store().display().to_string();
        let undo = died.place.about_the_dead(&["undo", &store, &died.run]);
        let run = undo.watched(&mut Unharmed).unwrap();
        assert_eq!(run.ended, Ended::Code(77), "{}", run.stderr);
        assert!(run.stderr.contains(told), "{told}: {}", run.stderr);
        assert!(died.place.own_files().unwrap() == before, "{told}");
    }
}

/// What ckpt has written is known, and what somebody else has is told from it.
#[test]
fn what_somebody_writes_between_two_attempts_is_found() {
    let mut found = 0;
    for nth in (0..).step_by(7) {
        let died = Died::of(&named("folders"));
        if !died.undo_killed(nth) {
            break;
        }
        let path = died.place.folder().join("counter.txt");
        fs::write(&path, "somebody's own\n").unwrap();
        let store = died.place.store().display().to_string();
        let again = died.place.about_the_dead(&["undo", &store, &died.run]);
        let run = again.watched(&mut Unharmed).unwrap();
        match run.ended {
            Ended::Code(77) => {
                assert!(run.stderr.contains("`counter.txt` "), "{}", run.stderr);
                assert_eq!(fs::read_to_string(&path).unwrap(), "somebody's own\n");
                found += 1;
            }
            // It was being written when the undo was killed, or all was done.
            ended => assert_eq!(ended, Ended::Code(0), "{}", run.stderr),
        }
    }
    assert!(found > 8, "{found}");
}

#[test]
fn nothing_happens_without_a_plan() {
    let place = Place::new().unwrap();
    let mut injector = Injector::new(&place.folder(), &place.store(), None);
    let run = place.begin(&small(), None, &mut injector).unwrap();
    assert_eq!(run.ended, Ended::Code(0));
    assert!(injector.hit.is_none(), "{:?}", injector.hit);
    assert!(injector.calls.len() > 200, "{}", injector.calls.len());
    let again = Place::new()
        .unwrap()
        .begin(&small(), None, &mut Unharmed)
        .unwrap();
    assert_eq!(run.stdout, again.stdout);
    assert_eq!(run.stdout, small().reference().unwrap().stdout);
}

/// What a pack lacks is found where it is unpacked, which may be too late.
#[test]
fn what_cannot_be_read_for_a_moment_is_not_left_out_of_a_pack() {
    use faults::commands::{Command, executable, trials};
    use faults::inject::{Errno, Failure, Lasts};
    if executable().is_none() {
        skipped::skipped(
            "what cannot be read while it is packed",
            "`cargo-ckpt` is not built",
        );
        return;
    }
    let program = named("incremental");
    let all = trials(&program, Command::Pack).unwrap();
    let is_meant =
        |plan: &faults::inject::Plan| plan.failure == Failure::Error(Errno::EIO) && plan.lasts == Lasts::Once;
    let mut made = 0;
    for trial in all.iter().filter(|trial| is_meant(&trial.plan)) {
        let Some(outcome) = trial.make().unwrap() else {
            continue;
        };
        made += 1;
        assert!(
            matches!(outcome, Outcome::Right | Outcome::Refused),
            "{outcome:?}"
        );
    }
    assert!(made > 20, "{made} calls have failed");
}
