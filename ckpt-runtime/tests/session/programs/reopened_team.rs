//! Several sessions in one process, one after the other, whose threads checkpoint as a team.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::reopened::ask;

const TURNS: u64 = 9;
const MEMBERS: usize = 3;

/// How often any member has come by its site.
static VISITS: AtomicU64 = AtomicU64::new(0);

/// The grid, what each member has summed up, and what they share.
type Found = (Vec<u64>, Vec<u64>, Vec<u64>);

#[ckpt::main]
fn session() -> Found {
    let mut grid = vec![1_u64; 12];
    let edges = Mutex::new(vec![0_u64; MEMBERS]);
    let sums = ckpt::team(MEMBERS).run_on(&mut grid, |member, part| {
        let mut own = member.number() as u64;
        for turn in 0..TURNS {
            ckpt::checkpoint!();
            VISITS.fetch_add(1, Ordering::Relaxed);
            part.iter_mut().for_each(|x| *x = *x * 7 + turn + own);
            member.for_each(0..9, ckpt::Schedule::Dynamic(2), |i| {
                edges.lock().unwrap()[i % MEMBERS] += i as u64;
            });
            own += member.reduce(part[0], |a, b| a ^ b);
        }
        own
    });
    let edges = edges.into_inner().unwrap();
    (grid, sums, edges)
}

fn counted() -> (Found, u64) {
    VISITS.store(0, Ordering::Relaxed);
    let found = session();
    (found, VISITS.load(Ordering::Relaxed))
}

pub fn main() {
    let all = MEMBERS as u64 * TURNS;
    ask(&[]);
    let alone = counted();
    assert_eq!(alone.1, all);
    for round in 1..=3_u64 {
        let (dir, every) = (format!("store{round}"), (round + 1).to_string());
        let settings = [("CKPT_DIR", &*dir), ("CKPT_EVERY", &*every), ("CKPT_KEEP", "all")];
        ask(&settings);
        assert_eq!(counted(), alone);
        let restart = [&settings[..], &[("CKPT_RESTART", "2")]].concat();
        for _ in 0..2 {
            ask(&restart);
            let (found, visits) = counted();
            assert_eq!(found, alone.0);
            // The turn of the checkpoint's site is the first that is made again.
            assert_eq!(visits, MEMBERS as u64 * (TURNS + 1 - 2 * (round + 1)));
        }
        ask(&[]);
        assert_eq!(counted(), alone);
        println!("{round} {:?}", alone.0);
    }
}
