//! A rank that goes back to its snapshot without the others, which know nothing of it: the same answer. Where they would notice, all go
//! back together.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use mpi_tests::{Ended, built_of, ranks_by};
use tempfile::TempDir;

/// Steps without a message, with a site each, between two exchanges. `STRIKES=RANK:TURN:STEPS` has that rank go wrong once, so many steps behind
/// a site at which its state was kept in memory, of the first turn from that one on in which no message lies between. When states are kept depends on
/// how busy the machine is.
const PROGRAM: &str = r#"
use std::env;
use std::fs::OpenOptions;
use std::io::Write;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use mpi::collective::SystemOperation;
use mpi::topology::{Color, SimpleCommunicator};
use mpi::traits::*;

const TURNS: u64 = 16;
const STEPS: u64 = 12;
/// So many visits there are between lines.
const EVERY: u64 = 7;

/// Not named to ckpt: they stay as they are where the process stays.
static STRUCK: AtomicU32 = AtomicU32::new(0);
static BEGUN: AtomicU32 = AtomicU32::new(0);
/// How often the state was looked at, and how often it was before the last site.
static LOOKS: AtomicU64 = AtomicU64::new(0);
static BEFORE: AtomicU64 = AtomicU64::new(0);
/// The step and the turn in which it was looked at last.
static LOOKED: AtomicU64 = AtomicU64::new(0);

/// Behind a site.
fn comes_by(turn: u64, step: u64) {
    let looks = LOOKS.load(Ordering::Relaxed);
    if BEFORE.swap(looks, Ordering::Relaxed) != looks {
        LOOKED.store(turn * STEPS + step, Ordering::Relaxed);
    }
}

fn strikes(rank: i32, turn: u64, step: u64) -> bool {
    let Ok(text) = env::var("STRIKES") else { return false };
    let mut words = text.split(':');
    let mut number = || words.next().unwrap().parse::<u64>().unwrap();
    let (of, from, behind) = (number(), number(), number());
    let times = words.next().map_or(1, |times| times.parse().unwrap());
    let looked = LOOKED.load(Ordering::Relaxed);
    let is_in_turn = step > behind && looked + behind == turn * STEPS + step;
    // With one there is a line as well at a visit of this number.
    let is_of_line = |visit: u64| visit % EVERY == 0;
    let visit = (turn - 1) * STEPS + step;
    let has_line = (visit - behind.min(visit)..=visit).any(is_of_line);
    // The next line finds what a detector is to find, in the same turn.
    let is_found = !(is("nan") || is("pair")) || (visit / EVERY + 1) * EVERY <= turn * STEPS;
    of == rank as u64
        && turn >= from
        && is_in_turn
        && !has_line
        && is_found
        && STRUCK.fetch_add(1, Ordering::Relaxed) < times
}

fn is(what: &str) -> bool {
    env::var("WHAT").is_ok_and(|text| text.split(' ').any(|word| word == what))
}

/// Where functions are left for a checkpoint, it waits for the others.
struct Waits<'a>(&'a SimpleCommunicator);

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        if is("waits") && thread::panicking() {
            self.0.barrier();
        }
    }
}

/// Two numbers with a sum that stays.
#[derive(ckpt::Checkpoint)]
#[ckpt(detector = "Pair::keeps_its_sum")]
struct Pair {
    left: u64,
    right: u64,
}

impl Pair {
    fn keeps_its_sum(&self) -> bool {
        LOOKS.fetch_add(1, Ordering::Relaxed);
        self.left + self.right == 1000
    }
}

/// Makes a communicator by way of another, which is given back.
fn by_way(world: &SimpleCommunicator) -> SimpleCommunicator {
    world.duplicate();
    world.duplicate()
}

fn parts(world: &SimpleCommunicator) -> Option<SimpleCommunicator> {
    is("own").then(|| world.split_by_color_with_key(Color::with_value(world.rank() % 2), 1)).flatten()
}

fn all(world: &SimpleCommunicator) -> SimpleCommunicator {
    match is("by-way") {
        true => by_way(world),
        false if is("own") => world.duplicate(),
        false => SimpleCommunicator::world(),
    }
}

/// The library has a buffer for messages meanwhile.
fn lends_for_a_moment() {
    let mut memory = vec![0_u8; 1 << 16];
    let (mut address, mut size) = (std::ptr::null_mut::<u8>(), 0);
    unsafe {
        mpi::ffi::MPI_Buffer_attach(memory.as_mut_ptr().cast(), memory.len() as i32);
        mpi::ffi::MPI_Buffer_detach((&raw mut address).cast(), &mut size);
    }
}

#[ckpt::main]
fn main() {
    let universe = mpi::initialize().expect("MPI comes up");
    #[ckpt(reexecute)]
    let world = universe.world();
    #[ckpt(reexecute)]
    let own = all(&world);
    #[ckpt(reexecute)]
    let half = parts(&world);
    #[ckpt(reexecute)]
    let _waits = Waits(&world);
    // A restart runs this again.
    #[ckpt(reexecute)]
    let _sum = if is("talks") && BEGUN.fetch_add(1, Ordering::Relaxed) > 0 { world.barrier() };
    let (rank, size) = (world.rank(), world.size());
    let (right, left) = ((rank + 1) % size, (rank + size - 1) % size);
    let (mut value, mut sum) = (rank as u64 + 1, 0_u64);
    let weights: Vec<u64> = (0..256).map(|at| at * at % 83).collect();
    let mut cells = vec![1.0_f64; 64];
    let mut pair = Pair { left: 400, right: 600 };
    let mut log = Vec::new();
    let mut open = is("holds").then(|| {
        OpenOptions::new().create(true).append(true).open("all.txt").unwrap()
    });
    for turn in 1..=TURNS {
        for step in 1..=STEPS {
            ckpt::checkpoint!(safe);
            comes_by(turn, step);
            thread::sleep(Duration::from_millis(2));
            value = value.wrapping_mul(31).wrapping_add(turn).wrapping_add(weights[(turn + step) as usize % 256]);
            cells[(turn * step) as usize % 64] += 0.5;
            pair.left -= 1;
            pair.right += 1;
            if is("writes") {
                let name = format!("own-{rank}.txt");
                writeln!(OpenOptions::new().create(true).append(true).open(name).unwrap(), "{turn}").unwrap();
            }
            if is("sends") {
                (value, _) = mpi::point_to_point::send_receive(&value, &world.process_at_rank(right), &world.process_at_rank(left));
            }
            if is("lends") {
                lends_for_a_moment();
            }
            let is_struck = strikes(rank, turn, step);
            if is_struck && is("nan") {
                cells[0] = f64::NAN;
            } else if is_struck && is("pair") {
                pair.right += 1;
            } else if is_struck {
                value ^= 4;
                eprintln!("rank {rank} is struck");
                ckpt::check!(false, "the value of turn {turn} is wrong");
            }
        }
        (value, _) = mpi::point_to_point::send_receive(&value, &own.process_at_rank(right), &own.process_at_rank(left));
        own.all_reduce_into(&value, &mut sum, SystemOperation::sum());
        if let Some(half) = &half {
            let mut of_half = 0_u64;
            half.all_reduce_into(&value, &mut of_half, SystemOperation::max());
            sum = sum.wrapping_add(of_half);
        }
        log.push(sum);
        if let Some(open) = &mut open {
            writeln!(open, "{rank} {turn}").unwrap();
            // Both find it equally long at every visit.
            own.barrier();
        }
    }
    let cells: f64 = cells.iter().sum();
    println!("{rank}: {value} {sum} {cells} {} {} {log:?}", pair.right, weights.iter().sum::<u64>());
}
"#;

/// The program, built once for all tests.
fn program() -> &'static PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| built_of(PROGRAM, "goes-alone"))
}

/// What the ranks have printed last.
fn printed(ended: &Ended) -> Vec<String> {
    let lines = ended.stdout.split(['\n', '\u{1e}']);
    let is_last = |line: &&str| {
        line.split_once(": ")
            .is_some_and(|(rank, _)| rank.parse::<u32>().is_ok())
    };
    let mut printed: Vec<String> = lines.filter(is_last).map(str::to_owned).collect();
    printed.sort();
    printed
}

fn run_in(folder: &Path, ranks: u32, variables: &[(&str, &str)]) -> Ended {
    ranks_by("mpirun", ranks, program(), folder, variables)
}

/// What a run without ckpt prints, of so many ranks that do this.
fn plain(ranks: u32, what: &str) -> Vec<String> {
    static PLAIN: Mutex<BTreeMap<(u32, String), Vec<String>>> = Mutex::new(BTreeMap::new());
    let mut plain = PLAIN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let all = plain.entry((ranks, what.to_owned())).or_insert_with(|| {
        let job = tempfile::tempdir().expect("a folder for the job");
        let ended = run_in(job.path(), ranks, &[("WHAT", what)]);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        printed(&ended)
    });
    assert_eq!(all.len(), ranks as usize, "{all:?}");
    all.clone()
}

const ALONE: &str = ", without the other ranks, from site visit ";

/// How often a rank has gone back alone, and all have.
fn rollbacks(ended: &Ended) -> [usize; 2] {
    let alone = ended.stderr.matches(ALONE).count();
    [alone, ended.stderr.matches("goes back to").count() - alone]
}

/// What all have in common: many snapshots, so that the ranks have one of the same visit however far apart they are.
const SNAPSHOTS: [(&str, &str); 2] = [("CKPT_EVERY", "7"), ("CKPT_SNAPSHOTS", "30")];

/// Runs in which a state is kept where the rank can be struck; on a busy machine it may not be.
const TRIES: usize = 6;

/// The first run of which this is so, and its folder.
#[track_caller]
fn met(ranks: u32, variables: &[(&str, &str)], is_met: impl Fn(&Ended) -> bool) -> (TempDir, Ended) {
    let all = [&SNAPSHOTS, variables].concat();
    let mut runs = (0..TRIES).map(|_| {
        let job = tempfile::tempdir().expect("a folder for the job");
        let ended = run_in(job.path(), ranks, &all);
        (job, ended)
    });
    runs.find(|(_, ended)| is_met(ended))
        .unwrap_or_else(|| panic!("no run with {all:?} is as it is to be"))
}

/// A rank is struck so often.
fn struck(times: usize) -> impl Fn(&Ended) -> bool {
    move |ended| ended.stderr.matches("is struck").count() == times
}

/// It ends well, with the answer of a run that never went back, and so many rollbacks of one rank and of all.
#[track_caller]
fn same(ranks: u32, what: &str, variables: &[(&str, &str)], times: [usize; 2]) -> Ended {
    let all = [variables, &[("WHAT", what)]].concat();
    let (_, ended) = met(ranks, &all, |ended| {
        assert_eq!(ended.code, Some(0), "{all:?}: {}", ended.stderr);
        assert_eq!(printed(ended), plain(ranks, what), "{all:?}: {}", ended.stderr);
        struck(times.iter().sum())(ended)
    });
    assert_eq!(rollbacks(&ended), times, "{all:?}: {}", ended.stderr);
    assert!(!ended.stderr.contains("restarts from"), "{}", ended.stderr);
    ended
}

/// A state is kept as often as the ranks know of the last that all have it.
const EACH_VISIT: (&str, &str) = ("CKPT_SNAPSHOT_EVERY", "1");

#[test]
fn a_rank_that_has_exchanged_nothing_goes_back_alone() {
    for (ranks, strikes, what) in [
        (2, "1:3:0", ""),
        (2, "0:4:0", ""),
        (2, "1:4:2", ""),
        (3, "1:6:1", ""),
        (3, "2:4:0", "own"),
        (2, "0:4:1", "own"),
    ] {
        for checks in ["0", "1"] {
            let variables = [
                ("STRIKES", strikes),
                EACH_VISIT,
                ("CKPT_CHECK_SAFE_POINTS", checks),
            ];
            let ended = same(ranks, what, &variables, [1, 0]);
            let rank = strikes.split(':').next().unwrap();
            let told = format!("rank {rank}: goes back to its state in memory of site visit ");
            assert!(ended.stderr.contains(&told), "{}", ended.stderr);
            assert_eq!(ended.stderr.matches("is struck").count(), 1, "{}", ended.stderr);
        }
    }
}

/// A message, a file that they might use as well, one that is open, a
/// communicator that could not be made again without them, a buffer that is given back once all messages in it have been received.
#[test]
fn where_the_others_would_notice_all_go_back() {
    for what in ["sends", "writes", "by-way", "holds", "lends"] {
        let ended = same(2, what, &[("STRIKES", "1:4:0"), EACH_VISIT], [0, 1]);
        assert!(
            ended.stderr.contains("rank 1: the value of turn"),
            "{}",
            ended.stderr
        );
    }
}

#[test]
fn where_it_has_not_helped_all_go_back() {
    same(2, "own", &[("STRIKES", "1:4:0:2"), EACH_VISIT], [1, 1]);
}

#[test]
fn what_a_detector_finds_has_a_rank_go_back_alone() {
    for (what, told) in [
        (
            "nan",
            "there is a NaN or an infinity in `cells` of `main`, and was none",
        ),
        ("pair", "is not plausible, says `Pair::keeps_its_sum`"),
    ] {
        let detects = ("CKPT_DETECT", "nan,unchanged");
        let variables = [EACH_VISIT, detects, ("STRIKES", "1:4:1"), ("WHAT", what)];
        // It is found before the next message.
        let (_, ended) = met(2, &variables, |ended| {
            assert_eq!(ended.code, Some(0), "{what}: {}", ended.stderr);
            assert_eq!(printed(ended), plain(2, what), "{what}: {}", ended.stderr);
            rollbacks(ended) == [1, 0]
        });
        assert!(ended.stderr.contains(told), "{}", ended.stderr);
    }
}

/// The events of the run that say that it goes back.
fn events(folder: &Path) -> Vec<String> {
    let log = mpi_tests::kept_in(&folder.join("goes-alone.ckpt.d"), "events.log").expect("the run has one");
    let text = fs::read_to_string(log).expect("it can be read");
    let lines = text.lines().filter(|line| line.contains("\"rollback\""));
    lines.map(str::to_owned).collect()
}

#[test]
fn it_is_told_of_with_the_rank() {
    for (strikes, rank) in [("1:4:0", "\"rank\":1"), ("0:4:0", "\"rank\":0")] {
        let (job, ended) = met(2, &[EACH_VISIT, ("STRIKES", strikes)], struck(1));
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let told = events(job.path());
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(
            told[0].contains("\"alone\":true") && told[0].contains(rank),
            "{told:?}"
        );
    }
}

#[test]
fn a_damaged_snapshot_has_all_go_back() {
    // Of whichever visit it is.
    let flips: Vec<String> = (36..192)
        .map(|visit| format!("{visit}:{visit}:snapshot@1"))
        .collect();
    let fault = format!("flip:{}", flips.join(","));
    let variables = [EACH_VISIT, ("STRIKES", "1:4:0"), ("CKPT_FAULT", &fault)];
    let ended = same(2, "", &variables, [0, 1]);
    assert!(
        ended.stderr.contains("rank 1: the value of turn"),
        "{}",
        ended.stderr
    );
}

/// What destructors and statements that run again ask of others ends the job, which names it.
#[test]
fn what_needs_the_others_on_the_way_ends_the_job() {
    for what in ["waits", "talks"] {
        let (_, ended) = met(2, &[EACH_VISIT, ("STRIKES", "1:4:0"), ("WHAT", what)], struck(1));
        assert_eq!(ended.code, Some(101), "{what}: {}", ended.stderr);
        let told = "E2415: this rank was going back to its snapshot without the others, and cannot: it has called `MPI_Barrier` on its way";
        assert!(ended.stderr.contains(told), "{what}: {}", ended.stderr);
    }
}
