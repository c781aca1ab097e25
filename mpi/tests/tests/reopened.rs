//! Sessions of an MPI program that follow each other in its processes: MPI is up once, sessions are opened and closed.

use std::fs;

use mpi_tests::{build, make_package, sorted, target, two_ranks};

/// Each session is a round of messages in a ring, begun anew, restarted from its second line, and done without ckpt.
/// `MPI_BEFORE=1` brings MPI up before the first session, which does so itself otherwise.
const PROGRAM: &str = r#"
use std::sync::atomic::{AtomicU64, Ordering};

use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

const TURNS: u64 = 9;

static ROUND: AtomicU64 = AtomicU64::new(0);
static VISITS: AtomicU64 = AtomicU64::new(0);

fn world() -> SimpleCommunicator {
    if !mpi::is_initialized() {
        std::mem::forget(mpi::initialize().expect("MPI comes up"));
    }
    SimpleCommunicator::world()
}

#[ckpt::main]
fn session() -> (u64, u64) {
    #[ckpt(reexecute)]
    let world = world();
    let (rank, size) = (world.rank(), world.size());
    let (right, left) = ((rank + 1) % size, (rank + size - 1) % size);
    let round = ROUND.load(Ordering::Relaxed);
    let (mut own, mut all) = (rank as u64 + 1, 0_u64);
    for turn in 0..TURNS {
        ckpt::checkpoint!();
        VISITS.fetch_add(1, Ordering::Relaxed);
        let (sent, to, from) = (own * 3 + turn * round, world.process_at_rank(right), world.process_at_rank(left));
        (own, _) = mpi::point_to_point::send_receive(&sent, &to, &from);
        world.all_reduce_into(&own, &mut all, mpi::collective::SystemOperation::sum());
    }
    (own, all)
}

fn ask(settings: &[(&str, &str)]) {
    for name in ["CKPT_DIR", "CKPT_EVERY", "CKPT_RESTART", "CKPT_KEEP"] {
        match settings.iter().find(|(asked, _)| *asked == name) {
            // SAFETY: no session is open, and the program has no other thread that reads variables.
            Some((_, value)) => unsafe { std::env::set_var(name, value) },
            // SAFETY: as above.
            None => unsafe { std::env::remove_var(name) },
        }
    }
}

fn counted() -> ((u64, u64), u64) {
    VISITS.store(0, Ordering::Relaxed);
    let found = session();
    (found, VISITS.load(Ordering::Relaxed))
}

fn by_hand(restart: &str) -> u64 {
    ask(&[("CKPT_DIR", "hand"), ("CKPT_EVERY", "3"), ("CKPT_KEEP", "all"), ("CKPT_RESTART", restart)]);
    let mut session = ckpt::Session::open("hand").unwrap();
    let mut step = session.restore::<u64>("step").unwrap().unwrap_or(0);
    let first = step;
    while step < 8 {
        step += 1;
        let mut all = 0_u64;
        world().all_reduce_into(&step, &mut all, mpi::collective::SystemOperation::sum());
        session.save_if_due(|state| state.save("step", &step)).unwrap();
    }
    first
}

fn main() {
    if std::env::var("MPI_BEFORE").unwrap() == "1" {
        world();
    }
    for round in 1..=3_u64 {
        ROUND.store(round, Ordering::Relaxed);
        let (dir, every) = (format!("store{round}"), (round + 1).to_string());
        let settings = [("CKPT_DIR", &*dir), ("CKPT_EVERY", &*every), ("CKPT_KEEP", "all")];
        ask(&settings);
        let whole = counted();
        assert_eq!(whole.1, TURNS);
        let restart = [&settings[..], &[("CKPT_RESTART", "2")]].concat();
        for _ in 0..2 {
            ask(&restart);
            let (found, visits) = counted();
            assert_eq!(found, whole.0);
            assert_eq!(visits, TURNS + 1 - 2 * (round + 1));
        }
        ask(&[]);
        assert_eq!(counted(), whole);
        println!("{round} {} {:?}", world().rank(), whole.0);
    }
    assert_eq!([by_hand(""), by_hand("1"), by_hand("2"), by_hand("1")], [0, 3, 6, 3]);
    // SAFETY: nothing of the program is under way.
    unsafe { mpi::ffi::MPI_Finalize() };
}
"#;

#[test]
fn sessions_follow_each_other_in_the_processes_of_an_mpi_program() {
    let package = tempfile::tempdir().expect("a folder");
    fs::create_dir(package.path().join("src")).expect("a folder for the program");
    fs::write(package.path().join("src/main.rs"), PROGRAM).expect("it is written");
    make_package(package.path(), "reopened");
    let program = build(package.path(), "reopened", &target().join("ckpt/build"), &[]);
    for before in ["0", "1"] {
        for checks in ["0", "1"] {
            let job = tempfile::tempdir().expect("a folder for the job");
            let variables = [("CKPT_CHECK_SAFE_POINTS", checks), ("MPI_BEFORE", before)];
            let ended = two_ranks("mpirun", &program, job.path(), &variables);
            assert_eq!(ended.code, Some(0), "{variables:?}: {}", ended.stderr);
            let lines = sorted(&ended.stdout);
            assert_eq!(lines.len(), 6, "{lines:?}");
            for round in 1..=3 {
                let store = fs::read_dir(job.path().join(format!("store{round}"))).expect("a store");
                let names = store
                    .flatten()
                    .filter_map(|entry| entry.file_name().into_string().ok());
                let checkpoints = names.filter(|name| name.ends_with(".h5")).count();
                assert!(checkpoints >= 2 * 2, "{checkpoints} of round {round}");
            }
        }
    }
}
