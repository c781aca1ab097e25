//! Ranks that go back to a line together, in their processes and with MPI up: the same answer, and what cannot be is said by name.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use mpi_tests::{Ended, Job, built_of, two_ranks};

/// Messages in a ring and a sum in each turn; communicators and a datatype are made again. `STRIKES=RANK:TURN` has that rank go wrong
/// there, once in its process, `STRIKES=RANK:TURN:always` each time; what goes wrong then is a check, or for a detector to find. Buffered
/// messages have a buffer from the start on, or from a turn on; what else changes the library of a rank for good is done in one turn.
const PROGRAM: &str = r#"
use std::env;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use mpi::collective::SystemOperation;
use mpi::traits::*;

const TURNS: u64 = 40;

/// Not named to ckpt: it stays as it is where the process stays.
static STRUCK: AtomicBool = AtomicBool::new(false);

fn strikes(rank: i32, turn: u64) -> bool {
    let Ok(text) = env::var("STRIKES") else { return false };
    let mut words = text.split(':');
    let mut number = || words.next().unwrap().parse::<u64>().unwrap();
    let wanted = (number(), number());
    let always = words.next() == Some("always");
    wanted == (rank as u64, turn) && (always || !STRUCK.swap(true, Ordering::Relaxed))
}

fn is(what: &str) -> bool {
    env::var("WHAT").is_ok_and(|text| text.split(' ').any(|word| word == what))
}

/// Ends the process where functions are left for a checkpoint.
struct Ends;

impl Drop for Ends {
    fn drop(&mut self) {
        if thread::panicking() {
            process::exit(0);
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
        self.left + self.right == 1000
    }
}

/// A thread that no checkpoint knows of.
fn beside() {
    thread::spawn(|| thread::sleep(Duration::from_secs(600)));
}

/// Gives the library memory for messages.
fn lends() -> i32 {
    let memory = Box::leak(vec![0_u8; 1 << 16].into_boxed_slice());
    unsafe { mpi::ffi::MPI_Buffer_attach(memory.as_mut_ptr().cast(), memory.len() as i32) }
}

fn initialises() -> mpi::environment::Universe {
    let mut universe = mpi::initialize().expect("MPI comes up");
    if is("buffer-of-old") {
        universe.set_buffer_size(1 << 16);
    }
    universe
}

/// What no function takes back, or none that is called.
fn changes_for_good() {
    let mut text = [0_u8; 4096];
    let (first, mut number) = (text.as_mut_ptr().cast(), 0);
    unsafe {
        if is("adds-error") {
            mpi::ffi::MPI_Add_error_class(&mut number);
        }
        if is("opens-port") {
            mpi::ffi::MPI_Open_port(mpi::ffi::RSMPI_INFO_NULL, first);
        }
    }
}

#[ckpt::main]
fn main() {
    if is("early") {
        let Err(why) = ckpt::rollback("before MPI is up");
        println!("{why}");
    }
    #[ckpt(reexecute)]
    let universe = initialises();
    #[ckpt(reexecute)]
    let world = universe.world();
    #[ckpt(reexecute)]
    let own = world.duplicate();
    #[ckpt(reexecute)]
    let _ends = is("ends").then_some(Ends);
    let (rank, size) = (world.rank(), world.size());
    let (right, left) = ((rank + 1) % size, (rank + size - 1) % size);
    let (mut value, mut all) = (rank as u64 + 1, 0_u64);
    let weights: Vec<u64> = (0..256).map(|at| at * at % 83).collect();
    let mut cells = vec![1.0_f64; 8];
    let mut pair = Pair { left: 400, right: 600 };
    for turn in 1..=TURNS {
        ckpt::checkpoint!(safe);
        if is("slow") {
            thread::sleep(Duration::from_millis(3));
        }
        let sent = value.wrapping_mul(31).wrapping_add(turn).wrapping_add(weights[turn as usize % 256]);
        cells[turn as usize % 8] += 0.5;
        pair.left -= 1;
        pair.right += 1;
        if turn == 12 {
            if is("buffer") && lends() != 0 {
                println!("{rank}: there is a buffer already");
            }
            changes_for_good();
        }
        if is("buffer-of-old") || is("buffer") && turn >= 12 {
            own.process_at_rank(right).buffered_send(&sent);
            (value, _) = own.process_at_rank(left).receive();
        } else {
            (value, _) = mpi::point_to_point::send_receive(&sent, &own.process_at_rank(right), &own.process_at_rank(left));
        }
        let is_struck = strikes(rank, turn);
        if is_struck && is("nan") {
            cells[0] = f64::NAN;
        } else if is_struck && is("pair") {
            pair.right += 1;
        } else if is_struck {
            value ^= 4;
            if is("beside") {
                beside();
            }
            if is("asks") {
                let Err(why) = ckpt::rollback("it asks");
                println!("{why}");
            } else if is("returns") {
                let _ = ckpt::rollback("it returns");
                return;
            } else {
                ckpt::check!(false, "the value of turn {turn} is wrong");
            }
        }
        if is("beside-0") && rank == 0 && turn == 13 {
            beside();
        }
        own.all_reduce_into(&value, &mut all, SystemOperation::sum());
        let mut log = OpenOptions::new().create(true).append(true).open(format!("log-{rank}.txt")).unwrap();
        writeln!(log, "{turn} {value} {all}").unwrap();
        fs::write(format!("last-{rank}.txt"), format!("{turn}\n")).unwrap();
    }
    let sum: f64 = cells.iter().sum();
    println!("{rank}: {value} {all} {sum} {} {}", pair.right, weights.iter().sum::<u64>());
}
"#;

/// The program, built once for all tests.
fn program() -> &'static PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| built_of(PROGRAM, "goes-back"))
}

/// What two ranks of it have left: what they printed last, and their files.
type Left = (Vec<String>, BTreeMap<String, String>);

fn run(variables: &[(&str, &str)]) -> (Ended, Left) {
    let job = tempfile::tempdir().expect("a folder for the job");
    let ended = two_ranks("mpirun", program(), job.path(), variables);
    let left = left(&ended, job.path());
    (ended, left)
}

fn left(ended: &Ended, folder: &Path) -> Left {
    // Ranks print when they like, and tests have a mark printed in front.
    let is_last = |line: &&str| line.starts_with("0: ") || line.starts_with("1: ");
    let mut printed: Vec<String> = ended
        .stdout
        .split(['\n', '\u{1e}'])
        .filter(is_last)
        .map(str::to_owned)
        .collect();
    printed.sort();
    let files = fs::read_dir(folder).expect("the folder is there").flatten();
    let files = files.map(|entry| entry.path()).filter(|path| path.is_file());
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    let files = files.map(|path| (name(&path), fs::read_to_string(&path).unwrap()));
    (printed, files.collect())
}

fn plain() -> &'static Left {
    static PLAIN: OnceLock<Left> = OnceLock::new();
    PLAIN.get_or_init(|| {
        let (ended, left) = run(&[]);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert_eq!((left.0.len(), left.1.len()), (2, 4), "{left:?}");
        left
    })
}

/// It ends well, with the answer of a run that never went back, in the processes that were started.
#[track_caller]
fn same(variables: &[(&str, &str)], times: usize) -> Ended {
    let (ended, left) = run(variables);
    assert_eq!(ended.code, Some(0), "{variables:?}: {}", ended.stderr);
    assert_eq!(left, *plain(), "{variables:?}: {}", ended.stderr);
    let back = ended.stderr.matches("goes back to").count();
    assert_eq!(back, times, "{variables:?}: {}", ended.stderr);
    assert!(!ended.stderr.contains("restarts from"), "{}", ended.stderr);
    ended
}

#[test]
fn all_ranks_go_back_at_a_site() {
    for (every, visits) in [
        ("1", "1"),
        ("1", "7"),
        ("5", "12"),
        ("4", "9,9,9,23"),
        ("3", "23,23"),
    ] {
        let fault = format!("rollback:{visits}");
        for checks in ["0", "1"] {
            let variables = [
                ("CKPT_EVERY", every),
                ("CKPT_FAULT", &fault),
                ("CKPT_CHECK_SAFE_POINTS", checks),
            ];
            same(&variables, visits.split(',').count());
        }
    }
    let (ended, _) = run(&[("CKPT_EVERY", "5"), ("CKPT_FAULT", "rollback:2")]);
    assert!(ended.stderr.contains("W2093"), "{}", ended.stderr);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
}

#[test]
fn a_rank_that_asks_has_all_go_back_at_a_later_site() {
    for strikes in ["0:7", "1:7", "1:13", "0:20"] {
        for every in ["1", "2", "5"] {
            let variables = [("CKPT_EVERY", every), ("STRIKES", strikes), ("WHAT", "slow")];
            let ended = same(&variables, 1);
            let rank = strikes.split(':').next().unwrap();
            let told = format!("rank {rank}: the value of turn ");
            assert!(ended.stderr.contains(&told), "{}", ended.stderr);
        }
    }
    // Where visits are short, the ranks tell each other less often; by the clock nothing is taken meanwhile.
    let ended = same(&[("CKPT_EVERY", "2"), ("STRIKES", "1:3"), ("WHAT", "asks")], 1);
    assert!(ended.stdout.contains("E2393"), "{}", ended.stdout);
}

/// What is lent behind the checkpoint is lent again, and what is lent before it is so on the way.
#[test]
fn a_buffer_for_messages_is_there_once() {
    for (what, visits) in [
        ("buffer", "14"),
        ("buffer", "13,14,15,30"),
        ("buffer-of-old", "14"),
    ] {
        let fault = format!("rollback:{visits}");
        let variables = [("CKPT_EVERY", "5"), ("CKPT_FAULT", &fault), ("WHAT", what)];
        same(&variables, visits.split(',').count());
    }
    let what = [("CKPT_EVERY", "5"), ("STRIKES", "1:13"), ("WHAT", "buffer slow")];
    same(&what, 1);
}

#[test]
fn what_stays_in_the_library_has_the_job_start_again() {
    for (what, told) in [
        ("adds-error", "it has told MPI of errors of its own"),
        ("opens-port", "it has a port of MPI open, or has published a name"),
    ] {
        let variables = [
            ("CKPT_EVERY", "5"),
            ("STRIKES", "1:13"),
            ("WHAT", &format!("{what} slow")),
        ];
        let (ended, _) = run(&variables);
        assert_eq!(ended.code, Some(101), "{what}: {}", ended.stderr);
        let told = format!("E2386: a program of 2 ranks cannot go back in the job: {told}");
        assert!(ended.stderr.contains(&told), "{what}: {}", ended.stderr);
        // Before that they do.
        same(
            &[("CKPT_EVERY", "5"), ("CKPT_FAULT", "rollback:8"), ("WHAT", what)],
            1,
        );
    }
}

/// All that ckpt can look for.
const DETECTS: (&str, &str) = ("CKPT_DETECT", "nan,unchanged");

#[test]
fn what_a_rank_finds_before_a_line_has_all_go_back() {
    for (what, told) in [
        (
            "nan",
            "there is a NaN or an infinity in `cells` of `main`, and was none",
        ),
        ("pair", "is not plausible, says `Pair::keeps_its_sum`"),
    ] {
        for every in ["2", "5"] {
            let variables = [
                ("CKPT_EVERY", every),
                ("STRIKES", "1:9"),
                ("WHAT", &format!("{what} slow")),
                DETECTS,
            ];
            let ended = same(&variables, 1);
            let told = [": rank 1: ", told].map(|words| ended.stderr.contains(words));
            assert_eq!(told, [true, true], "{}", ended.stderr);
        }
    }
}

#[test]
fn a_bit_that_is_turned_in_a_rank_is_found() {
    let mut found = 0;
    for seed in 0..4 {
        let fault = format!("flip:11:{seed}");
        let job = tempfile::tempdir().expect("a folder for the job");
        let variables = [
            ("CKPT_EVERY", "2"),
            ("CKPT_FAULT", fault.as_str()),
            ("WHAT", "slow"),
            DETECTS,
        ];
        let ended = two_ranks("mpirun", program(), job.path(), &variables);
        assert_eq!(ended.code, Some(0), "{fault}: {}", ended.stderr);
        if ended
            .stderr
            .contains("`weights` of `main` has changed, and no statement has written to it")
        {
            found += 1;
            assert_eq!(left(&ended, job.path()), *plain(), "{fault}: {}", ended.stderr);
        }
    }
    assert!(found > 1, "{found}");
}

const IN_MEMORY: &str = "goes back to its state in memory of site visit ";

/// Some that all ranks are known to have, however far apart they are on a busy machine.
const MANY_SNAPSHOTS: (&str, &str) = ("CKPT_SNAPSHOTS", "30");

/// Runs in which ranks have a chance to be close together.
const TRIES: usize = 8;

/// Where ranks are far apart on a busy machine, no snapshot is known to be with all yet, and a checkpoint is taken: tried again.
fn from_memory(variables: &[(&str, &str)], times: usize) {
    let met = (0..TRIES).any(|_| same(variables, times).stderr.contains(IN_MEMORY));
    assert!(met, "{variables:?}: a run in which a snapshot is taken");
}

#[test]
fn all_ranks_go_back_to_snapshots_of_one_visit() {
    for (snapshots, visits) in [("2", "12"), ("2", "13"), ("2", "19,20"), ("1", "18,19,20")] {
        let fault = format!("rollback:{visits}");
        let variables = [
            ("CKPT_EVERY", "7"),
            ("CKPT_SNAPSHOT_EVERY", snapshots),
            MANY_SNAPSHOTS,
            ("CKPT_FAULT", &fault),
            ("CKPT_CHECK_SAFE_POINTS", "1"),
            ("WHAT", "slow"),
        ];
        from_memory(&variables, visits.split(',').count());
    }
}

#[test]
fn a_rank_that_asks_has_all_go_back_to_snapshots() {
    let by_count = ("CKPT_SNAPSHOT_EVERY", "1");
    for by in [by_count, ("CKPT_SNAPSHOT_INTERVAL", "1ms")] {
        for (strikes, what) in [("0:14", "slow"), ("1:17", "slow"), ("1:14", "nan slow")] {
            let variables = [
                ("CKPT_EVERY", "9"),
                by,
                MANY_SNAPSHOTS,
                ("STRIKES", strikes),
                ("WHAT", what),
                DETECTS,
            ];
            from_memory(&variables, 1);
        }
    }
}

#[test]
fn a_snapshot_that_is_damaged_on_one_rank_is_passed_over_by_all() {
    for rank in ["0", "1"] {
        let fault = format!("flip:13:5:snapshot@{rank}");
        let variables = [
            ("CKPT_EVERY", "9"),
            ("CKPT_SNAPSHOT_EVERY", "1"),
            ("CKPT_SNAPSHOTS", "3"),
            ("CKPT_FAULT", &fault),
            ("STRIKES", "1:13"),
            ("WHAT", "slow"),
        ];
        let damaged = format!("rank {rank}: warning[W2095]");
        // Which snapshots are known to be with all depends on how far apart the ranks are: on a busy machine an older one
        // is taken from the start, or the checkpoint.
        let met = (0..TRIES)
            .map(|_| same(&variables, 1))
            .find(|ended| ended.stderr.contains(&damaged))
            .expect("a run in which the damaged snapshot is asked for");
        // An older one is taken by all, or the checkpoint, if no older one is known to be with all yet.
        let in_its_place = ["warning[W2411]", "is taken in its place"];
        assert!(
            in_its_place.iter().any(|told| met.stderr.contains(told)),
            "{}",
            met.stderr
        );
    }
}

#[test]
fn what_comes_again_each_time_ends_the_job() {
    let variables = [
        ("CKPT_EVERY", "2"),
        ("CKPT_KEEP", "all"),
        ("STRIKES", "1:9:always"),
        ("WHAT", "slow"),
    ];
    let (ended, _) = run(&variables);
    assert_eq!(ended.code, Some(101), "{}", ended.stderr);
    assert_eq!(
        ended.stderr.matches("goes back to").count(),
        3,
        "{}",
        ended.stderr
    );
    assert!(ended.stderr.contains("E2388"), "{}", ended.stderr);
    // What was wrong came into no line: each time from an older one.
    for id in ["000004", "000003", "000002"] {
        let told = format!("goes back to checkpoint {id}");
        assert!(ended.stderr.contains(&told), "{id}: {}", ended.stderr);
    }
}

#[test]
fn behind_the_last_site_the_job_ends() {
    let (ended, _) = run(&[("CKPT_EVERY", "5"), ("STRIKES", "1:40"), ("WHAT", "slow")]);
    assert_eq!(ended.code, Some(101), "{}", ended.stderr);
    let told = "E2394]: this rank was to go back to a checkpoint, and came to no site any more: the value of turn 40 is wrong";
    assert!(ended.stderr.contains(told), "{}", ended.stderr);
    // The others still wait for its messages.
    let (ended, _) = run(&[("CKPT_EVERY", "5"), ("STRIKES", "1:13"), ("WHAT", "returns")]);
    assert_eq!(ended.code, Some(101), "{}", ended.stderr);
    assert!(ended.stderr.contains("E2394"), "{}", ended.stderr);
}

#[test]
fn where_one_cannot_go_back_all_end() {
    for (what, told) in [
        (
            "beside-0",
            "rank 0: error[E2395]: a rank was to go back to a checkpoint, and this one cannot: E2386",
        ),
        (
            "ends",
            "error[E2389]: the process could not begin anew: it is one of several ranks",
        ),
    ] {
        let (ended, _) = run(&[("CKPT_EVERY", "2"), ("STRIKES", "1:13"), ("WHAT", what)]);
        assert_eq!(ended.code, Some(101), "{what}: {}", ended.stderr);
        assert!(ended.stderr.contains(told), "{what}: {}", ended.stderr);
    }
}

#[test]
fn ranks_that_cannot_go_back_say_so() {
    // Known where it is asked for.
    let (ended, _) = run(&[("CKPT_EVERY", "2"), ("STRIKES", "1:13"), ("WHAT", "beside")]);
    assert_eq!(ended.code, Some(101), "{}", ended.stderr);
    assert!(
        ended
            .stderr
            .contains("error[E2396]: the value of turn 13 is wrong"),
        "{}",
        ended.stderr
    );
    let told = "E2386: a program of 2 ranks cannot go back in the job: threads run that are in no team";
    assert!(ended.stderr.contains(told), "{}", ended.stderr);
    // Before MPI is up there is nobody to ask.
    let (ended, _) = run(&[("CKPT_EVERY", "2"), ("WHAT", "early")]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        ended.stdout.contains("E2386") && ended.stdout.contains("MPI is not up"),
        "{}",
        ended.stdout
    );
}

/// It is linked with MPI, as it may be used in other runs, and does not start it. What goes wrong does so in the first process.
const BY_ITSELF: &str = r#"
use std::env;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use mpi as _;

static STRUCK: AtomicBool = AtomicBool::new(false);

#[ckpt::main]
fn main() {
    let mut sum = 0_u64;
    for turn in 1..=20_u64 {
        ckpt::checkpoint!();
        sum = sum.wrapping_mul(31).wrapping_add(turn);
        let is_new = env::var_os("CKPT_RESTART").is_none();
        if turn == 13 && is_new && !STRUCK.swap(true, Ordering::Relaxed) {
            if env::var_os("BESIDE").is_some() {
                thread::spawn(|| thread::sleep(Duration::from_secs(600)));
            }
            let Err(why) = ckpt::rollback("turn 13 is wrong");
            println!("{why}");
        }
    }
    println!("{sum}");
}
"#;

#[test]
fn a_process_that_never_starts_mpi_goes_back_by_itself() {
    let program = built_of(BY_ITSELF, "by-itself");
    let sum = (1..=20_u64).fold(0_u64, |sum, turn| sum.wrapping_mul(31).wrapping_add(turn));
    for (beside, anew) in [(None, false), (Some(("BESIDE", "1")), true)] {
        let folder = tempfile::tempdir().expect("a folder");
        let variables = [("CKPT_EVERY", "4")].into_iter().chain(beside);
        let output = Command::new(&program)
            .current_dir(folder.path())
            .env_remove("CKPT_BLESS")
            .env("HWLOC_COMPONENTS", "-opencl")
            .envs(variables)
            .output()
            .expect("it is there");
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{told}");
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            format!("{sum}\n"),
            "{told}"
        );
        assert!(
            told.contains("goes back to checkpoint 000003 from site visit 13: turn 13 is wrong"),
            "{told}"
        );
        assert_eq!(told.contains("restarts from"), anew, "{told}");
    }
}

/// Programs that have never heard of ckpt, rolled back at sites, behind them and several times in a row.
fn crashtest(package: &str, ranks: u32, arguments: &str) {
    let job = Job::new(package);
    let words = format!(
        "-n {ranks} --in-process --sites 3 --random 2 --rows 1 --seed {ranks} --verbose --- {arguments}"
    );
    let ended = job.ckpt("crashtest", &words);
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    assert!(ended.stdout.contains("PASSED"), "{}", ended.stdout);
    assert!(job.ranks().is_empty(), "nothing is left behind");
}

#[test]
fn a_ring_goes_back() {
    crashtest("programs/ring", 3, "40");
}

/// Communicators, a datatype and a request are made again.
#[test]
#[ignore = "with SWEEPS=all"]
fn groups_go_back() {
    crashtest("programs/groups", 5, "40");
}

#[test]
#[ignore = "with SWEEPS=all"]
fn heat_goes_back() {
    crashtest("examples/heat-mpi", 3, "60 40 100");
}

#[test]
#[ignore = "with SWEEPS=all"]
fn himeno_goes_back() {
    crashtest("examples/himeno", 4, "18,18,34 60 2 2 1");
}

/// Which worker answers first differs each time.
#[test]
#[ignore = "with SWEEPS=all"]
fn photons_go_back() {
    crashtest("examples/montecarlo-mpi", 3, "30 10 100");
}

#[test]
#[ignore = "with SWEEPS=all"]
fn sorting_goes_back() {
    crashtest("examples/sort-mpi", 2, "2000 30");
}

#[test]
fn a_wavefront_goes_back() {
    crashtest("examples/sweep", 4, "30 60 40");
}

/// Messages are as long as there are atoms.
#[test]
#[ignore = "with SWEEPS=all"]
fn atoms_go_back() {
    crashtest("examples/comd-like", 2, "8 4 4 30");
}

#[test]
#[ignore = "with SWEEPS=all"]
fn gradients_go_back() {
    let matrix = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/cg-mpi/matrix.mtx");
    crashtest("examples/cg-mpi", 2, &format!("{matrix} 40"));
}

/// Sites in the threads of the ranks.
#[test]
#[ignore = "with SWEEPS=all"]
fn teams_of_ranks_go_back() {
    crashtest("examples/sphot-mpi", 2, "3 12 100");
    crashtest("examples/snap-like", 2, "2 20 16 12 2");
}
