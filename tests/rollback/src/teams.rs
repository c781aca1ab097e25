//! Teams: threads whose members go back together.

use std::fs::{self, File};
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::Duration;

use crate::{STEPS, strikes};

/// What is left by a member must not be looked at by its team any more: it counts those that are there.
struct Counted<'a>(&'a AtomicU64);

impl<'a> Counted<'a> {
    fn new(there: &'a AtomicU64) -> Counted<'a> {
        there.fetch_add(1, Ordering::SeqCst);
        Counted(there)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        // The others are on their way as well.
        thread::sleep(Duration::from_millis(2));
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

fn work(part: &mut u64, step: u64, there: &AtomicU64) {
    let _counted = Counted::new(there);
    *part = part.wrapping_mul(31).wrapping_add(step);
    ckpt::check!(!strikes(step), "a part has gone wrong in step {step}");
}

/// Parts that have nothing to do with each other.
#[ckpt::instrument]
pub fn threads() {
    let mut parts = vec![1_u64, 2, 3];
    let there = AtomicU64::new(0);
    thread::scope(|scope| {
        for part in &mut parts {
            let there = &there;
            scope.spawn(move || {
                for step in 1..=STEPS {
                    ckpt::checkpoint!();
                    work(part, step, there);
                }
            });
        }
    });
    println!("{parts:?} {}", there.load(Ordering::SeqCst));
}

/// Members that wait for each other in each step, where nobody but they knows.
#[ckpt::instrument]
pub fn barriers() {
    let mut parts = vec![1_u64, 2, 3];
    let sums = Mutex::new(vec![0; 3]);
    let barrier = Barrier::new(3);
    thread::scope(|scope| {
        for (k, part) in parts.iter_mut().enumerate() {
            let (sums, barrier) = (&sums, &barrier);
            scope.spawn(move || {
                for step in 1..=STEPS {
                    ckpt::checkpoint!();
                    *part = part.wrapping_mul(31).wrapping_add(step);
                    sums.lock().unwrap()[k] += *part % 10;
                    ckpt::check!(!strikes(step), "a part has gone wrong in step {step}");
                    barrier.wait();
                }
            });
        }
    });
    println!("{parts:?} {:?}", sums.into_inner().unwrap());
}

/// Threads that nothing but their handles holds.
#[ckpt::instrument]
pub fn detached() {
    let sums = Arc::new(Mutex::new(vec![0_u64; 3]));
    let mut handles = Vec::new();
    for k in 0..3 {
        let sums = Arc::clone(&sums);
        handles.push(thread::spawn(move || {
            for step in 1..=STEPS {
                ckpt::checkpoint!();
                let mut sums = sums.lock().unwrap();
                sums[k] = sums[k].wrapping_mul(31).wrapping_add(step + k as u64);
                drop(sums);
                ckpt::check!(!strikes(step), "a part has gone wrong in step {step}");
            }
        }));
    }
    for handle in handles {
        handle.join().unwrap();
    }
    println!("{:?}", sums.lock().unwrap());
}

/// Members that wait for each other at barriers of ckpt.
#[ckpt::instrument]
pub fn loops() {
    let mut grid = vec![1_u64; 60];
    let sums = ckpt::team(3).run_on(&mut grid, |member, part| {
        let mut own = 0_u64;
        for step in 1..=STEPS {
            ckpt::checkpoint!();
            for cell in &mut *part {
                *cell = cell.wrapping_mul(31).wrapping_add(step);
            }
            own = own.wrapping_add(part[0] % 100);
            ckpt::check!(!strikes(step), "a part has gone wrong in step {step}");
            let total = member.reduce(own, u64::wrapping_add);
            member.single(|| println!("step {step}: {total}"));
        }
        own
    });
    println!("{} {sums:?}", grid[7]);
}

/// Members that keep open what no checkpoint can hold, as it has been deleted.
#[ckpt::instrument]
pub fn deleted() {
    let mut parts = vec![1_u64, 2, 3];
    thread::scope(|scope| {
        for (k, part) in parts.iter_mut().enumerate() {
            scope.spawn(move || {
                let name = format!("gone-{k}");
                let mut file = File::create(&name).expect("it can be made");
                fs::remove_file(&name).expect("it is there");
                for step in 1..=STEPS {
                    ckpt::checkpoint!();
                    *part = part.wrapping_mul(31).wrapping_add(step);
                    writeln!(file, "{part}").expect("it can be written to");
                }
            });
        }
    });
    println!("{parts:?}");
}

/// One member computes until another one has come further, which does not come any more.
#[ckpt::instrument]
pub fn stays() {
    let steps = AtomicU64::new(0);
    thread::scope(|scope| {
        for k in 0..2_u64 {
            let steps = &steps;
            scope.spawn(move || {
                for step in 1..=STEPS {
                    ckpt::checkpoint!();
                    if k == 0 {
                        ckpt::check!(!strikes(step), "a part has gone wrong in step {step}");
                        steps.store(step, Ordering::SeqCst);
                    }
                    while k == 1 && steps.load(Ordering::SeqCst) < step {
                        std::hint::spin_loop();
                    }
                }
            });
        }
    });
    println!("{}", steps.load(Ordering::SeqCst));
}
