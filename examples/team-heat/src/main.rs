//! Heat in a plate with a hot edge, explicit in time, in the parallel loops of a team of threads.

use ckpt::Schedule;
use std::env;
use std::sync::RwLock;

/// The plate: `side` by `side` temperatures, of which every member changes its own rows.
#[derive(ckpt::Checkpoint)]
struct Plate {
    side: usize,
    rows: Vec<RwLock<Vec<f64>>>,
}

impl Plate {
    fn new(side: usize) -> Self {
        let hot = RwLock::new(vec![100.0; side]);
        let cold = (1..side).map(|_| RwLock::new(vec![0.0; side]));
        Plate {
            side,
            rows: std::iter::once(hot).chain(cold).collect(),
        }
    }

    fn row(&self, y: usize) -> Vec<f64> {
        self.rows[y].read().unwrap().clone()
    }
}

/// A row one time step later, and the largest change in it.
fn step(above: &[f64], row: &[f64], below: &[f64]) -> (Vec<f64>, f64) {
    let mut next = row.to_vec();
    let mut change: f64 = 0.0;
    for x in 1..row.len() - 1 {
        next[x] = row[x] + 0.2 * (above[x] + below[x] + row[x - 1] + row[x + 1] - 4.0 * row[x]);
        change = change.max((next[x] - row[x]).abs());
    }
    (next, change)
}

#[ckpt::main]
fn main() {
    let numbers: Vec<usize> = env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let [threads, side, steps] = numbers[..] else {
        eprintln!("usage: team-heat THREADS SIDE STEPS");
        std::process::exit(2);
    };
    let now = Plate::new(side);
    let next = Plate::new(side);
    ckpt::team(threads).run(|member| {
        let mut largest = 0.0;
        for turn in 0..steps {
            ckpt::checkpoint!();
            let (from, to) = if turn % 2 == 0 {
                (&now, &next)
            } else {
                (&next, &now)
            };
            let mut change: f64 = 0.0;
            member.for_each(1..side - 1, Schedule::Guided(2), |y| {
                let (row, own) = step(&from.row(y - 1), &from.row(y), &from.row(y + 1));
                change = change.max(own);
                *to.rows[y].write().unwrap() = row;
            });
            largest = member.reduce(change, f64::max);
            if turn % 100 == 0 {
                member.master(|| println!("step {turn}: change {largest:.9}"));
            }
            if largest < 1e-6 {
                break;
            }
        }
        member.master(|| println!("last change {largest:.9}"));
    });
    let middle = now.row(now.side / 2);
    let heat: f64 = (0..now.side).flat_map(|y| now.row(y)).sum();
    println!("heat {heat:.9}, in the middle {:.9}", middle[now.side / 2]);
}
