//! Whether MPI is up, and which rank this is.
//!
//! A run that starts at the beginning leaves it to the program to bring MPI up, with the level of threading that it asks
//! for. A restart needs MPI before the first statement of `main`, to agree on a line: then ckpt brings it up, with the
//! level that the run had when it was checkpointed, and [`super::interposition`] lets the program believe that it does so itself.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::transport::{self, Communicator, Phase};
use super::{Member, launcher};
use crate::base::current;
use crate::base::report::{Fatal, exit_code};

/// The note in every checkpoint of an MPI program with the level of threading that MPI was brought up with.
pub(crate) const THREADS_NOTE: &str = "mpi_threads";

const DOWN: u8 = 0;
const UP: u8 = 1;
const OVER: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(DOWN);
/// Whether there is a session that wants to know.
static SESSION: AtomicBool = AtomicBool::new(false);
/// Whether ckpt brought MPI up.
static OURS: AtomicBool = AtomicBool::new(false);
/// Whether the program has brought MPI up, as far as it knows.
static THEIRS: AtomicBool = AtomicBool::new(false);
static THREADS: AtomicI32 = AtomicI32::new(0);
/// The newest checkpoint of this process when its session began.
static NEWEST: Mutex<u64> = Mutex::new(0);
/// The newest of any rank then: the lines of this run are numbered from there on.
static BASE: Mutex<u64> = Mutex::new(0);

#[derive(Debug, Clone, Copy)]
struct World {
    member: Member,
    /// None until MPI is up.
    communicator: Option<Communicator>,
}

/// A leaf lock.
static WORLD: Mutex<Option<World>> = Mutex::new(None);

fn world() -> Option<World> {
    *WORLD.lock().unwrap_or_else(PoisonError::into_inner)
}

fn set_world(world: Option<World>) {
    *WORLD.lock().unwrap_or_else(PoisonError::into_inner) = world;
}

/// The place of this process; none without a session.
pub(crate) fn member() -> Option<Member> {
    world().map(|world| world.member)
}

pub(super) fn communicator() -> Option<Communicator> {
    world().and_then(|world| world.communicator)
}

/// Whether the ranks can be reached, and checkpoints be taken.
pub(crate) fn is_up() -> bool {
    STATE.load(Ordering::SeqCst) == UP
}

/// The level of threading that MPI came up with.
pub(crate) fn threads() -> i32 {
    THREADS.load(Ordering::SeqCst)
}

/// A session begins. Gives the place of this process: what the launcher says, else what MPI says, which is brought up for
/// that.
pub(crate) fn begin() -> Option<Member> {
    if STATE.load(Ordering::SeqCst) != DOWN {
        // A session by hand in a program that has brought MPI up already.
        SESSION.store(true, Ordering::SeqCst);
        return member();
    }
    super::interposition::is_used().then(|| {
        SESSION.store(true, Ordering::SeqCst);
        match launcher::member() {
            Some(member) => set_world(Some(World {
                member,
                communicator: None,
            })),
            None => bring_up(None),
        }
    })?;
    member()
}

/// Brings MPI up now, with this level of threading.
pub(crate) fn bring_up(threads: Option<i32>) {
    if STATE.load(Ordering::SeqCst) == DOWN {
        let threads = transport::initialise(threads.unwrap_or_else(transport::most_threads));
        OURS.store(true, Ordering::SeqCst);
        came_up(threads);
    }
}

/// MPI is up, whoever brought it.
fn came_up(threads: i32) {
    THREADS.store(threads, Ordering::SeqCst);
    let told = world().map(|world| world.member);
    let member = transport::place();
    let communicator = transport::duplicate_world();
    set_world(Some(World { member, communicator }));
    STATE.store(UP, Ordering::SeqCst);
    if let Some(told) = told
        && told.rank != member.rank
    {
        other_rank(told, member).exit();
    }
}

fn other_rank(told: Member, member: Member) -> Fatal {
    Fatal::new(
        exit_code::STORE,
        format!(
            "E2020: the launcher calls this process rank {}, MPI calls it rank {}",
            told.rank, member.rank
        ),
    )
    .why("its checkpoints would be written under another rank's name")
    .help("start the program with the launcher of the MPI that it is linked to: `cargo ckpt doctor` says which that is")
}

/// The store is open; `newest` is the newest checkpoint that this process has there. The ranks agree on the number that
/// their next line has once MPI is up.
pub(crate) fn has_newest(newest: u64) {
    *locked(&NEWEST) = newest;
    if is_up() {
        agree_on_base();
    }
}

fn agree_on_base() {
    if let Some(communicator) = communicator() {
        let mut newest = [*locked(&NEWEST) as i64];
        transport::largest(communicator, &mut newest);
        *locked(&BASE) = newest[0] as u64;
    }
    transport::enter(Phase::Agree);
}

fn locked(number: &Mutex<u64>) -> MutexGuard<'_, u64> {
    number.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The number of the newest checkpoint that any rank had when the run began.
pub(crate) fn line_base() -> u64 {
    *locked(&BASE)
}

/// The program brings MPI up: `initialise` does it, with the level of threading that it leaves there. Gives what the
/// program is told.
pub(super) fn program_initialises(initialise: impl FnOnce() -> (i32, i32)) -> (i32, i32) {
    THEIRS.store(true, Ordering::SeqCst);
    if OURS.load(Ordering::SeqCst) {
        return (0, threads());
    }
    let (code, threads) = initialise();
    if SESSION.load(Ordering::SeqCst) && STATE.load(Ordering::SeqCst) == DOWN {
        came_up(threads);
        agree_on_base();
        current::look_now();
    }
    (code, threads)
}

/// What the program is told when it asks whether MPI is up: not before it has brought it up itself.
pub(super) fn program_believes_it_is_up(is_up: bool) -> bool {
    is_up && (THEIRS.load(Ordering::SeqCst) || !OURS.load(Ordering::SeqCst))
}

/// The program brings MPI down: what ckpt has under way comes to its end before.
pub(super) fn program_finalises() {
    if STATE.swap(OVER, Ordering::SeqCst) == UP {
        leave_world();
    }
}

fn leave_world() {
    transport::enter(Phase::End);
    super::check::finish();
    super::agree::settle();
    if let Some(communicator) = communicator() {
        transport::free(communicator);
    }
    report_counts();
    if let Some(world) = world() {
        set_world(Some(World {
            communicator: None,
            ..world
        }));
    }
}

/// The session is over. MPI goes down with it if the program knows nothing of it.
pub(crate) fn end() {
    SESSION.store(false, Ordering::SeqCst);
    if OURS.load(Ordering::SeqCst)
        && !THEIRS.load(Ordering::SeqCst)
        && !std::thread::panicking()
        && STATE.swap(OVER, Ordering::SeqCst) == UP
    {
        leave_world();
        transport::finalise();
    }
}

/// All ranks end, each with this code: every one of them calls this.
pub(crate) fn leave_together(code: i32) -> ! {
    use std::io::Write;
    let _ = std::io::stdout().flush();
    if STATE.swap(OVER, Ordering::SeqCst) == UP {
        leave_world();
        transport::finalise();
    }
    std::process::exit(code)
}

/// This rank ends with an error: so must all others.
pub(crate) fn abort(code: i32) {
    if is_up() && member().is_some_and(|member| member.size > 1) {
        transport::abort(code);
    }
}

/// The largest of the exit codes of all ranks.
pub(crate) fn largest_code(code: i32) -> i32 {
    let mut codes = [i64::from(code)];
    if let Some(communicator) = communicator() {
        transport::largest(communicator, &mut codes);
    }
    codes[0] as i32
}

/// Whether what every rank did has succeeded on all of them; waits for the others.
pub(crate) fn all_succeeded(succeeded: bool) -> bool {
    let Some(communicator) = communicator() else {
        return succeeded;
    };
    let mut failed = [i64::from(!succeeded)];
    transport::largest(communicator, &mut failed);
    failed[0] == 0
}

/// What ckpt does meanwhile belongs to a checkpoint: it calls no function of MPI.
pub(crate) fn at_checkpoint<R>(take: impl FnOnce() -> R) -> R {
    let before = transport::enter(Phase::Checkpoint);
    let result = take();
    transport::back(before);
    result
}

/// For tests and the curious: `CKPT_COUNT_MPI_CALLS=1`.
fn report_counts() {
    if std::env::var_os("CKPT_COUNT_MPI_CALLS").is_some_and(|value| value == "1") {
        let [begin, checkpoint, agree, end] = transport::counts();
        let furthest = super::agree::furthest();
        crate::base::report::say(&format!(
            "calls of MPI made by ckpt: {begin} to begin, {checkpoint} at checkpoints, {agree} to agree, {end} to end; \
             at most {furthest} visits from a reduction to its use"
        ));
    }
}
