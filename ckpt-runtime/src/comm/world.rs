//! The processes of the program during a session: whether they can be reached, and which of them this is.
//!
//! A run that starts at the beginning leaves it to the program to bring MPI up, with the level of threading that it asks
//! for. A restart needs MPI before the first statement of `main`, to agree on a line: then ckpt brings it up, with the
//! level that the run had when it was checkpointed, and [`super::interposition`] lets the program believe that it does so
//! itself.
//!
//! A session has its [`World`]. Functions of MPI that the program calls have no word of a session: they find the world of
//! the one that is open as [`current`]. It stays there after the session as long as MPI is up, which may outlive it: the
//! next session of the process takes it over.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::agree::Pending;
use super::check::Check;
use super::transport::{Phase, Transport};
use super::wish::Wish;
use super::{Member, transport_of_program};
use crate::base::children;
use crate::base::current;
pub(super) use crate::base::lock::locked;
use crate::base::own_threads;
use crate::base::report::{Fatal, exit_code, headline, say};
use crate::base::run_id::RunId;

/// The note in every checkpoint of an MPI program with the level of threading that MPI was brought up with.
pub(crate) const THREADS_NOTE: &str = "mpi_threads";

const DOWN: u8 = 0;
const UP: u8 = 1;
const OVER: u8 = 2;

/// A leaf lock.
static CURRENT: Mutex<Option<Arc<World>>> = Mutex::new(None);

/// Called before MPI comes up; what it returns is done once it is up.
pub(crate) type Watch = fn() -> Box<dyn FnOnce()>;

/// The processes of the program, and this one's place among them.
#[derive(Debug)]
pub(crate) struct World {
    /// Sees what MPI makes of the process.
    watch: Watch,
    transport: Box<dyn Transport>,
    state: AtomicU8,
    /// Whether the session is open.
    session: AtomicBool,
    /// Whether ckpt brought MPI up.
    ours: AtomicBool,
    /// Whether the program has brought MPI up, as far as it knows.
    theirs: AtomicBool,
    /// Whether this process has joined the others, and not left them.
    joined: AtomicBool,
    threads: AtomicI32,
    member: Mutex<Option<Member>>,
    /// The newest checkpoint of this process when its session began, and the run that it knew of.
    own: Mutex<Begun>,
    /// The newest of any rank then: the lines of this run are numbered from there on. The run is that of the first rank.
    agreed: Mutex<Begun>,
    /// What the ranks are about to tell each other.
    pub(super) pending: Mutex<Pending>,
    /// What rank 0 has heard of the sites that are checked.
    pub(super) check: Mutex<Check>,
    /// What this rank wants to go back to a checkpoint for. A leaf lock.
    pub(super) wish: Mutex<Option<Wish>>,
    /// How often the ranks have told each other something that belongs to no visit.
    pub(super) meetings: AtomicUsize,
}

/// What the ranks agree on when a session has begun.
#[derive(Debug, Clone, Copy, Default)]
struct Begun {
    newest: u64,
    run: Option<RunId>,
}

/// The world of the session that is open, or of one that was while MPI came up.
pub(crate) fn current() -> Option<Arc<World>> {
    locked(&CURRENT).clone()
}

/// The place of this process; none without a session.
pub(crate) fn member() -> Option<Member> {
    current().and_then(|world| world.member())
}

/// Its place among those with whom it goes back to a checkpoint: see [`World::goes_back_with`].
pub(crate) fn goes_back_with() -> Option<Member> {
    current().and_then(|world| world.goes_back_with())
}

/// Another program takes the place of this process, which nobody goes back with.
pub(crate) fn is_replaced() {
    if let Some(world) = current()
        && world.state.swap(OVER, Ordering::SeqCst) == UP
    {
        world.leave();
        world.transport.take_down();
    }
}

/// This rank ends with an error: so must all others.
pub(crate) fn abort(code: i32) {
    if let Some(world) = current() {
        world.abort(code);
    }
}

impl World {
    /// A session begins. The place of this process is what the
    /// launcher says, else what MPI says, which is brought up for that.
    pub(crate) fn begin(watch: Watch) -> Arc<World> {
        let earlier = current().filter(|world| world.state.load(Ordering::SeqCst) != DOWN);
        if let Some(world) = earlier {
            world.session.store(true, Ordering::SeqCst);
            return world;
        }
        let world = Arc::new(World::new(transport_of_program(), watch));
        *locked(&CURRENT) = Some(Arc::clone(&world));
        if world.transport.has_others() {
            world.meet();
        }
        world
    }

    /// The processes are reached at once, or this one goes by what the launcher says until MPI is up.
    fn meet(&self) {
        match self.transport.foretold() {
            // A session by hand in a program that has brought MPI up already.
            foretold if self.transport.is_up() => {
                *locked(&self.member) = foretold;
                self.came_up(self.transport.threads());
            }
            Some(member) => *locked(&self.member) = Some(member),
            None => self.bring_up(None),
        }
    }

    fn new(transport: Box<dyn Transport>, watch: Watch) -> World {
        World {
            state: AtomicU8::new(DOWN),
            session: AtomicBool::new(true),
            ours: AtomicBool::new(false),
            theirs: AtomicBool::new(transport.is_up()),
            joined: AtomicBool::new(false),
            threads: AtomicI32::new(0),
            member: Mutex::new(None),
            own: Mutex::default(),
            agreed: Mutex::default(),
            pending: Mutex::default(),
            check: Mutex::default(),
            wish: Mutex::default(),
            meetings: AtomicUsize::new(0),
            watch,
            transport,
        }
    }

    /// The place of this process; none in a program of one process.
    pub(crate) fn member(&self) -> Option<Member> {
        *locked(&self.member)
    }

    /// Its place among those with whom it goes back to a checkpoint, which can be itself; none where the program has not brought MPI
    /// up and is no part of a larger one: it has told nobody anything.
    pub(crate) fn goes_back_with(&self) -> Option<Member> {
        let theirs = self.theirs.load(Ordering::SeqCst);
        self.member().filter(|member| member.size > 1 || theirs)
    }

    /// How the others are reached, if they can be.
    pub(super) fn transport(&self) -> Option<&dyn Transport> {
        self.joined.load(Ordering::SeqCst).then_some(&*self.transport)
    }

    /// Whether the ranks can be reached, and checkpoints be taken.
    pub(crate) fn is_up(&self) -> bool {
        self.state.load(Ordering::SeqCst) == UP
    }

    /// The level of threading that MPI came up with.
    pub(crate) fn threads(&self) -> i32 {
        self.threads.load(Ordering::SeqCst)
    }

    /// MPI comes up: the processes that it starts, and what it makes of this one, are not the program's.
    fn apart<R>(&self, bring_up: impl FnOnce() -> R) -> R {
        let done = (self.watch)();
        let result = children::apart(|| own_threads::of_a_library(bring_up));
        done();
        result
    }

    /// Brings MPI up now, with this level of threading.
    pub(crate) fn bring_up(&self, threads: Option<i32>) {
        if self.state.load(Ordering::SeqCst) == DOWN {
            let threads = self.apart(|| self.transport.bring_up(threads));
            self.ours.store(true, Ordering::SeqCst);
            self.came_up(threads);
        }
    }

    /// MPI is up, whoever brought it.
    fn came_up(&self, threads: i32) {
        self.threads.store(threads, Ordering::SeqCst);
        let foretold = self.member();
        let member = self.transport.join();
        *locked(&self.member) = Some(member);
        self.joined.store(true, Ordering::SeqCst);
        self.state.store(UP, Ordering::SeqCst);
        if let Some(foretold) = foretold
            && foretold.rank != member.rank
        {
            other_rank(foretold, member).exit();
        }
    }

    /// The store is open; `newest` is the newest checkpoint that this process has there, `run` the run that it would be of
    /// alone. The ranks agree on the number that their next line has, and on the run, once MPI is up.
    pub(crate) fn begins(&self, newest: u64, run: RunId) {
        let run = Some(run);
        *locked(&self.own) = Begun { newest, run };
        *locked(&self.agreed) = Begun::default();
        if self.is_up() {
            self.agree();
        }
    }

    fn agree(&self) {
        let Begun { newest, run } = *locked(&self.own);
        if self.transport().is_some() {
            let [a, b, c, d] = self.own_parts(run);
            let [newest, run @ ..] = self.largest([newest as i64, a, b, c, d]);
            *locked(&self.agreed) = Begun {
                newest: newest as u64,
                run: RunId::of_parts(run),
            };
        }
        self.transport.calls().enter(Phase::Agree);
    }

    /// What this rank says of a run, where all ranks take the first one's word.
    fn own_parts(&self, run: Option<RunId>) -> [i64; 4] {
        let is_first = self.member().is_none_or(|member| member.rank == 0);
        run.filter(|_| is_first).map_or([-1; 4], RunId::parts)
    }

    /// The run that the first rank names, which all are to go on with; none if it has none to name.
    pub(crate) fn run_of_first(&self, run: Option<RunId>) -> Option<RunId> {
        RunId::of_parts(self.largest(self.own_parts(run)))
    }

    /// The number that the first rank has, whatever the others have.
    pub(crate) fn number_of_first(&self, number: u128) -> u128 {
        let number = RunId::of_number(number);
        self.run_of_first(Some(number)).unwrap_or(number).number()
    }

    /// The numbers of all ranks, in their order; waits for them.
    pub(crate) fn numbers_of_all(&self, own: u64) -> Vec<u64> {
        let Some((transport, member)) = self.transport().zip(self.member()) else {
            return vec![own];
        };
        let mut numbers = vec![0; member.size as usize];
        if let Some(number) = numbers.get_mut(member.rank as usize) {
            *number = own as i64;
        }
        self.meets();
        transport.largest(&mut numbers);
        numbers.into_iter().map(i64::unsigned_abs).collect()
    }

    /// The number of the newest checkpoint that any rank had when the run began.
    pub(crate) fn line_base(&self) -> u64 {
        locked(&self.agreed).newest
    }

    /// The run, once the ranks have agreed on it.
    pub(crate) fn run(&self) -> Option<RunId> {
        locked(&self.agreed).run
    }

    /// The program brings MPI up: `initialise` does it, and returns the level of threading if it has been asked for. Returns what
    /// the program gets to see.
    pub(super) fn program_initialises(
        &self,
        initialise: impl FnOnce() -> (i32, Option<i32>),
    ) -> (i32, Option<i32>) {
        self.theirs.store(true, Ordering::SeqCst);
        if self.ours.load(Ordering::SeqCst) {
            return (0, Some(self.threads()));
        }
        let (code, threads) = self.apart(initialise);
        if self.session.load(Ordering::SeqCst) && self.state.load(Ordering::SeqCst) == DOWN {
            self.came_up(threads.unwrap_or_else(|| self.transport.threads()));
            self.agree();
            current::look_now();
        }
        (code, threads)
    }

    /// What the program gets when it asks whether MPI is initialised: not before it has brought it up itself.
    pub(super) fn program_believes_it_is_up(&self, is_up: bool) -> bool {
        is_up && (self.theirs.load(Ordering::SeqCst) || !self.ours.load(Ordering::SeqCst))
    }

    /// The program brings MPI down: what ckpt has under way comes to its end before. No rank ends its session as completed
    /// while another one has not come so far, and may still die: what the library does then differs.
    pub(super) fn program_finalises(&self) {
        let is_in_session = self.session.load(Ordering::SeqCst) && self.state.load(Ordering::SeqCst) == UP;
        if is_in_session && !std::thread::panicking() {
            if let Err(unheard) = self.wants_nothing() {
                unheard.exit();
            }
            self.settle();
            self.all_succeeded(true);
        }
        if self.state.swap(OVER, Ordering::SeqCst) == UP {
            self.leave();
        }
    }

    /// Why the library, which stays up, stands in the way of a program that goes back to a checkpoint.
    pub(crate) fn stands_in_the_way(&self) -> Option<&'static str> {
        self.is_up().then(|| self.transport.stands_in_the_way())?
    }

    /// The program is about to leave its functions for a checkpoint, with all others: no message is under way.
    pub(crate) fn is_about_to_go_back(&self) {
        if self.is_up() {
            self.transport.is_about_to_go_back();
        }
    }

    /// The program goes back to a checkpoint, and MPI stays up: what the program brings up again is there already.
    pub(crate) fn goes_back(&self) {
        if self.is_up() {
            self.settle();
            self.transport.goes_back();
            self.stays_up();
            self.transport.calls().enter(Phase::Begin);
        }
    }

    /// What the program has brought up it is to bring up again, as it knows.
    pub(super) fn stays_up(&self) {
        self.ours.store(true, Ordering::SeqCst);
        self.theirs.store(false, Ordering::SeqCst);
    }

    /// The ranks tell each other something that belongs to no visit.
    pub(super) fn meets(&self) {
        self.meetings.fetch_add(1, Ordering::Relaxed);
    }

    /// What ckpt has under way comes to its end: nothing of it is there for the next session.
    fn settle(&self) {
        self.transport.calls().enter(Phase::End);
        super::check::finish(self);
        super::agree::settle(self);
    }

    fn leave(&self) {
        self.settle();
        self.transport.leave();
        self.joined.store(false, Ordering::SeqCst);
        self.report_calls();
    }

    /// The session is over. MPI goes down with it if the program knows nothing of it.
    pub(crate) fn end(&self) {
        self.session.store(false, Ordering::SeqCst);
        if self.is_up() && !std::thread::panicking() {
            if self.ours.load(Ordering::SeqCst) && !self.theirs.load(Ordering::SeqCst) {
                self.state.store(OVER, Ordering::SeqCst);
                self.leave();
                self.transport.take_down();
            } else {
                self.settle();
            }
        }
        if self.state.load(Ordering::SeqCst) == DOWN {
            *locked(&CURRENT) = None;
        }
    }

    /// All ranks end, each with this code: every one of them calls this.
    pub(crate) fn leave_together(&self, code: i32) -> ! {
        use std::io::Write;
        let _ = std::io::stdout().flush();
        if self.state.swap(OVER, Ordering::SeqCst) == UP {
            self.leave();
            self.transport.take_down();
        }
        std::process::exit(code)
    }

    /// This rank ends with an error: so must all others.
    pub(crate) fn abort(&self, code: i32) {
        if self.is_up() && self.member().is_some_and(|member| member.size > 1) {
            self.transport.abort(code);
        }
    }

    /// The largest that any rank has of each number.
    pub(super) fn largest<const N: usize>(&self, mut numbers: [i64; N]) -> [i64; N] {
        if let Some(transport) = self.transport() {
            self.meets();
            transport.largest(&mut numbers);
        }
        numbers
    }

    /// The largest of the exit codes of all ranks.
    pub(crate) fn largest_code(&self, code: i32) -> i32 {
        let [code] = self.largest([i64::from(code)]);
        code as i32
    }

    /// Whether what every rank did has succeeded on all of them; waits for the others.
    pub(crate) fn all_succeeded(&self, succeeded: bool) -> bool {
        self.largest([i64::from(!succeeded)]) == [0]
    }

    /// What ckpt does meanwhile belongs to a checkpoint: it calls no function of MPI.
    pub(crate) fn at_checkpoint<R>(&self, take: impl FnOnce() -> R) -> R {
        let before = self.transport.calls().enter(Phase::Checkpoint);
        let result = take();
        self.transport.calls().enter(before);
        result
    }

    /// How long this rank has waited for what all ranks know together, since this was asked before.
    pub(crate) fn take_waited(&self) -> Duration {
        std::mem::take(&mut locked(&self.pending).waited)
    }

    /// For tests and the curious: `CKPT_COUNT_MPI_CALLS=1`.
    fn report_calls(&self) {
        if std::env::var_os("CKPT_COUNT_MPI_CALLS").is_some_and(|value| value == "1") {
            let [begin, checkpoint, agree, end] = self.transport.calls().counts();
            let pending = locked(&self.pending);
            let (begun, furthest) = (pending.begun, pending.furthest);
            say(&format!(
                "calls of MPI made by ckpt: {begin} to begin, {checkpoint} at checkpoints, {agree} to agree, {end} to end; \
                 {begun} reductions to agree, at most {furthest} visits from one to its use"
            ));
        }
    }
}

fn other_rank(foretold: Member, member: Member) -> Fatal {
    Fatal::new(
        exit_code::STORE,
        headline!(
            "E2020: the launcher calls this process rank {}, MPI calls it rank {}",
            foretold.rank, member.rank
        ),
    )
    .why("its checkpoints would be written under another rank's name")
    .help("start the program with the launcher of the MPI that it is linked to: `cargo ckpt doctor` says which that is")
}

#[cfg(test)]
mod tests {
    use super::super::counters::ChannelCounters;
    use super::super::solo::Solo;
    use super::super::transport::{Calls, Delivery, Reduction};
    use super::*;

    /// The first of two processes; the other has nothing to say. The library may be up.
    #[derive(Debug)]
    struct First(Solo, bool);

    impl Transport for First {
        fn has_others(&self) -> bool {
            true
        }

        fn is_up(&self) -> bool {
            self.1
        }

        fn foretold(&self) -> Option<Member> {
            Some(Member { rank: 0, size: 2 })
        }

        fn bring_up(&self, threads: Option<i32>) -> i32 {
            threads.unwrap_or(3)
        }

        fn threads(&self) -> i32 {
            1
        }

        fn join(&self) -> Member {
            Member { rank: 0, size: 2 }
        }

        fn leave(&self) {}

        fn take_down(&self) {}

        fn abort(&self, _: i32) {}

        fn largest(&self, values: &mut [i64]) {
            self.calls().count();
            values.iter_mut().for_each(|value| *value = (*value).max(7));
        }

        fn begin_largest(&self, values: &[i64]) -> Box<dyn Reduction> {
            self.0.begin_largest(values)
        }

        fn send(&self, text: Vec<u8>) -> Box<dyn Delivery> {
            self.0.send(text)
        }

        fn receive(&self) -> Option<(u32, Vec<u8>)> {
            None
        }

        fn counters(&self) -> ChannelCounters {
            self.0.counters()
        }

        fn calls(&self) -> &Calls {
            self.0.calls()
        }
    }

    /// One whose numbers are larger than those of the other.
    fn run() -> RunId {
        RunId::of_parts([8, 9, 10, 11]).unwrap()
    }

    fn first() -> World {
        World::new(Box::new(First(Solo::new(), false)), || Box::new(|| ()))
    }

    #[test]
    fn alone_everything_is_agreed_on_at_once() {
        let world = World::new(Box::new(Solo::new()), || Box::new(|| ()));
        assert!(world.member().is_none() && !world.is_up());
        assert!(world.all_succeeded(true) && !world.all_succeeded(false));
        assert_eq!(world.largest_code(77), 77);
        let mut reduction = world.transport.begin_largest(&[3, -4]);
        assert_eq!(reduction.result(), Some(&[3, -4][..]));
    }

    #[test]
    fn the_program_brings_mpi_up_and_the_ranks_agree_on_their_run_and_the_number_of_its_next_line() {
        let world = first();
        world.begins(4, run());
        assert!(
            !world.is_up() && world.all_succeeded(true),
            "nobody is reached yet"
        );
        assert_eq!(world.program_initialises(|| (0, None)), (0, None));
        assert!(world.is_up() && world.program_believes_it_is_up(true));
        assert_eq!((world.threads(), world.line_base()), (1, 7));
        assert_eq!(world.run(), Some(run()));
        assert_eq!(world.member(), Some(Member { rank: 0, size: 2 }));
        assert!(!world.all_succeeded(true), "the other has failed");
        let at_end = || world.transport.calls().counts()[3];
        assert_eq!(at_end(), 0);
        world.program_finalises();
        assert_eq!(at_end(), 1, "all have come so far");
        assert!(!world.is_up() && world.all_succeeded(true));
    }

    #[test]
    fn a_session_that_is_opened_when_mpi_is_up_reaches_the_others_at_once() {
        let world = World::new(Box::new(First(Solo::new(), true)), || Box::new(|| ()));
        world.meet();
        assert!(world.is_up() && world.program_believes_it_is_up(true));
        world.begins(4, run());
        assert_eq!((world.threads(), world.line_base()), (1, 7));
        world.end();
        assert!(world.is_up(), "the program brings it down");
    }

    #[test]
    fn the_program_believes_that_it_brings_mpi_up_itself() {
        let world = first();
        world.bring_up(Some(2));
        assert!(world.is_up() && !world.program_believes_it_is_up(true));
        let told = world.program_initialises(|| unreachable!("it is up"));
        assert_eq!(told, (0, Some(2)));
        assert!(world.program_believes_it_is_up(true));
        world.end();
        assert!(world.is_up(), "the program brings it down");
    }

    #[test]
    fn what_a_program_does_not_know_of_goes_down_with_the_session() {
        let world = first();
        world.bring_up(None);
        world.end();
        assert!(!world.is_up());
        world.program_finalises();
    }
}
