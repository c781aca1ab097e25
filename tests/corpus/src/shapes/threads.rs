//! Parallel regions with sites in their threads.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::thread;

use super::{digest, draw};
use ckpt::sync::Barrier;

#[ckpt::instrument]
pub fn parts_of_a_list() {
    let members = 3;
    let mut grid: Vec<u64> = (0..20).collect();
    let sums = Mutex::new(vec![0u64; members]);
    let barrier = Barrier::new(members);
    let length = grid.len().div_ceil(members);
    thread::scope(|s| {
        for (k, chunk) in grid.chunks_mut(length).enumerate() {
            let (sums, barrier) = (&sums, &barrier);
            s.spawn(move || {
                let mut local = k as u64;
                for step in 0..3 {
                    ckpt::checkpoint!();
                    for value in chunk.iter_mut() {
                        *value = value.wrapping_mul(31).wrapping_add(step + local);
                    }
                    local += chunk[0] % 7;
                    sums.lock().unwrap()[k] += local;
                    barrier.wait();
                    let total: u64 = sums.lock().unwrap().iter().sum();
                    chunk[0] ^= total;
                    barrier.wait();
                }
            });
        }
    });
    println!("{} {:?}", digest(&grid), sums.into_inner().unwrap());
}

#[derive(Default, ckpt::Checkpoint)]
struct Tally {
    hits: u64,
    seen: Vec<u64>,
}

#[ckpt::instrument]
fn worker(id: usize, field: &mut [u64], tally: &mut Tally, hits: &AtomicU64, shared: &RwLock<Vec<u64>>) {
    let mut seed = 17 + id as u64;
    for step in 0..2 {
        ckpt::checkpoint!();
        for value in field.iter_mut() {
            *value += draw(&mut seed) % 100;
        }
        tally.hits += field[0] % 3;
        tally.seen.push(field[0]);
        hits.fetch_add(tally.hits, Ordering::Relaxed);
        shared.write().unwrap()[id] += step + seed % 5;
    }
}

#[ckpt::instrument(calls(worker))]
fn phase(grid: &mut [u64], tallies: &mut [Tally], shared: &RwLock<Vec<u64>>) -> u64 {
    let hits = AtomicU64::new(0);
    let length = grid.len().div_ceil(tallies.len());
    thread::scope(|s| {
        for (id, (field, tally)) in grid.chunks_mut(length).zip(tallies.iter_mut()).enumerate() {
            let hits = &hits;
            s.spawn(move || worker(id, field, tally, hits, shared));
        }
    });
    hits.into_inner()
}

#[ckpt::instrument(calls(phase))]
pub fn a_function_as_body_in_a_callee() {
    let mut grid = vec![1u64; 9];
    let mut tallies = vec![Tally::default(), Tally::default()];
    let shared = RwLock::new(vec![0; 2]);
    let mut hits = 0;
    for _ in 0..2 {
        hits += phase(&mut grid, &mut tallies, &shared);
    }
    let seen: Vec<_> = tallies
        .iter()
        .map(|tally| (tally.hits, digest(&tally.seen)))
        .collect();
    println!(
        "{} {hits} {seen:?} {:?}",
        digest(&grid),
        shared.into_inner().unwrap()
    );
}

#[ckpt::instrument]
pub fn one_by_one_with_results() {
    let barrier = Barrier::new(2);
    let total = Mutex::new(0u64);
    let (mut left, mut right) = (vec![3u64; 4], vec![5u64; 3]);
    let (a, b) = thread::scope(|s| {
        let first = s.spawn(|| {
            let mut own = 1u64;
            for i in 0..3 {
                ckpt::checkpoint!();
                for value in left.iter_mut() {
                    *value += own + i;
                }
                own *= 3;
                *total.lock().unwrap() += own;
                barrier.wait();
                barrier.wait();
            }
            own
        });
        let second = s.spawn(|| {
            let mut count = 0u64;
            for _ in 0..3 {
                ckpt::checkpoint!();
                count += right[0];
                barrier.wait();
                right[0] += *total.lock().unwrap();
                barrier.wait();
            }
            count
        });
        (first.join().unwrap(), second.join().unwrap())
    });
    println!("{a} {b} {} {} {total:?}", digest(&left), digest(&right));
}

#[derive(ckpt::Checkpoint)]
struct Island {
    hares: RwLock<Vec<u64>>,
    lynxes: Mutex<u64>,
    dusk: Barrier,
}

impl Island {
    fn evening(&self) {
        self.dusk.wait();
    }
}

#[ckpt::instrument]
pub fn a_struct_of_locks_and_a_barrier() {
    let island = Island {
        hares: RwLock::new(vec![7, 8, 9]),
        lynxes: Mutex::new(3),
        dusk: Barrier::new(2),
    };
    thread::scope(|s| {
        s.spawn(|| {
            let mut born = 0u64;
            for season in 0..3 {
                ckpt::checkpoint!();
                let next: Vec<u64> = island
                    .hares
                    .read()
                    .unwrap()
                    .iter()
                    .map(|x| x * 3 + season)
                    .collect();
                born += next[0];
                island.evening();
                *island.hares.write().unwrap() = next;
                island.evening();
            }
            println!("born {born}");
            island.evening();
        });
        s.spawn(|| {
            let mut fed = 0u64;
            for _ in 0..3 {
                ckpt::checkpoint!();
                fed += island.hares.read().unwrap()[1];
                island.evening();
                *island.lynxes.lock().unwrap() += fed;
                island.evening();
            }
            island.evening();
            println!("fed {fed}");
        });
    });
    println!(
        "{} {}",
        digest(&island.hares.into_inner().unwrap()),
        island.lynxes.into_inner().unwrap()
    );
}

impl Island {
    fn season(&self, k: u64) -> u64 {
        let sum: u64 = self.hares.read().unwrap().iter().sum();
        self.dusk.wait();
        self.hares.write().unwrap()[k as usize] += sum % 10;
        self.dusk.wait();
        sum
    }
}

#[ckpt::instrument]
pub fn a_name_for_what_is_shared() {
    let mut island = Island {
        hares: RwLock::new(vec![1, 2]),
        lynxes: Mutex::new(0),
        dusk: Barrier::new(2),
    };
    *island.lynxes.get_mut().unwrap() = 4;
    thread::scope(|s| {
        for k in 0..2 {
            let island = &island;
            s.spawn(move || {
                for _ in 0..3 {
                    ckpt::checkpoint!();
                    let sum = island.season(k);
                    *island.lynxes.lock().unwrap() += sum;
                }
            });
        }
    });
    island.hares.get_mut().unwrap().push(5);
    println!("{:?} {:?}", island.hares, island.lynxes);
}

#[ckpt::instrument]
fn advance(id: usize, part: &mut [u64], barrier: &Barrier, edges: &Mutex<Vec<u64>>) -> u64 {
    let mut sum = id as u64;
    for step in 0..3 {
        ckpt::checkpoint!();
        part.iter_mut().for_each(|x| *x = *x * 5 + step);
        edges.lock().unwrap()[id] = part[0];
        barrier.wait();
        sum += edges.lock().unwrap().iter().sum::<u64>();
        barrier.wait();
    }
    sum
}

#[ckpt::instrument(calls(advance))]
pub fn a_share_of_its_own() {
    let mut grid: Vec<u64> = (0..10).collect();
    let edges = Mutex::new(vec![0; 3]);
    let barrier = Barrier::new(3);
    let mut sums = vec![0; 3];
    let mine = thread::scope(|s| {
        let (first, rest) = grid.split_at_mut(4);
        for ((k, part), sum) in rest.chunks_mut(3).enumerate().zip(&mut sums[1..]) {
            let (edges, barrier) = (&edges, &barrier);
            s.spawn(move || *sum = advance(k + 1, part, barrier, edges));
        }
        advance(0, first, &barrier, &edges)
    });
    sums[0] = mine;
    println!("{} {sums:?}", digest(&grid));
}

#[ckpt::instrument]
pub fn a_share_between_start_and_join() {
    let shared = Arc::new((Mutex::new(1u64), Barrier::new(2)));
    let mut own = 0;
    let other = Arc::clone(&shared);
    let helper = thread::spawn(move || {
        let mut seen = 0;
        for i in 0..3 {
            ckpt::checkpoint!();
            *other.0.lock().unwrap() += i;
            other.1.wait();
            seen += *other.0.lock().unwrap();
            other.1.wait();
        }
        seen
    });
    for i in 0..3 {
        ckpt::checkpoint!();
        shared.1.wait();
        own += *shared.0.lock().unwrap() * (i + 1);
        shared.1.wait();
    }
    println!("{own} {}", helper.join().unwrap());
}

#[ckpt::instrument]
pub fn a_team_with_loops_and_reductions() {
    let mut grid = vec![1u64; 20];
    let edges = Mutex::new(vec![0u64; 3]);
    let turns = 3u64;
    let sums = ckpt::team(3).run_on(&mut grid, |member, part| {
        let mut own = member.number() as u64;
        for turn in 0..turns {
            ckpt::checkpoint!();
            part.iter_mut().for_each(|x| *x = *x * 7 + turn + own);
            member.for_each(0..9, ckpt::Schedule::Dynamic(2), |i| {
                edges.lock().unwrap()[i % 3] += i as u64;
            });
            own += member.reduce(part[0], |a, b| a ^ b);
            member.single(|| edges.lock().unwrap()[0] += turn);
        }
        own
    });
    println!("{} {sums:?} {edges:?}", digest(&grid));
    let last: u64 = ckpt::team(2)
        .run(|member| {
            let mut own = 1 + member.number() as u64;
            for turn in 0..2 {
                ckpt::checkpoint!();
                own = own * 3 + turn;
                edges.lock().unwrap()[member.number()] += own;
                member.barrier();
            }
            own
        })
        .into_iter()
        .sum();
    println!("{last} {edges:?}");
}

#[ckpt::instrument]
fn count(id: u64, barrier: &Barrier, all: &Mutex<Vec<u64>>) -> u64 {
    let mut seed = id;
    let mut sum = 0;
    for _ in 0..3 {
        ckpt::checkpoint!();
        sum += draw(&mut seed) % 1000;
        barrier.wait();
        all.lock().unwrap()[id as usize] = sum;
        barrier.wait();
    }
    sum
}

#[ckpt::instrument(calls(count))]
pub fn spawned_and_joined() {
    let members = 3u64;
    let barrier = Arc::new(Barrier::new(members as usize));
    let all = Arc::new(Mutex::new(vec![0u64; members as usize]));
    let mut handles = Vec::new();
    for id in 0..members {
        let barrier = Arc::clone(&barrier);
        let all = Arc::clone(&all);
        handles.push(thread::spawn(move || count(id, &barrier, &all)));
    }
    let sums: Vec<u64> = handles.into_iter().map(|handle| handle.join().unwrap()).collect();
    println!("{sums:?} {:?}", all.lock().unwrap());
}

#[ckpt::instrument]
pub fn a_generator_of_each_and_a_loop_behind() {
    let mut results = vec![0u64; 2];
    let seed = 99;
    thread::scope(|s| {
        for (k, result) in results.iter_mut().enumerate() {
            let mut own = seed + k as u64;
            s.spawn(move || {
                let mut turns = 0;
                while turns < 3 {
                    ckpt::checkpoint!();
                    *result ^= draw(&mut own);
                    turns += 1;
                }
            });
        }
    });
    for turn in 0..2 {
        ckpt::checkpoint!();
        results[0] += turn + results[1];
    }
    println!("{results:?}");
}

#[derive(ckpt::Checkpoint)]
struct Scene {
    rows: u64,
    weights: Vec<u64>,
}

impl Scene {
    fn weight(&self, at: u64) -> u64 {
        self.weights[(at % self.weights.len() as u64) as usize]
    }

    #[ckpt::instrument]
    fn traced(&self, members: u64) -> Vec<u64> {
        let mut rows = vec![0; self.rows as usize];
        thread::scope(|s| {
            let mut threads = Vec::new();
            for first in 0..members {
                threads.push(s.spawn(move || {
                    let mut own = Vec::new();
                    for row in (first..self.rows).step_by(members as usize) {
                        ckpt::checkpoint!();
                        own.push(self.weight(row) + row);
                    }
                    println!("{first} of {}", self.rows);
                    own
                }));
            }
            for (first, thread) in threads.into_iter().enumerate() {
                let step = members as usize;
                let own = thread.join().unwrap();
                for (turn, value) in own.iter().enumerate() {
                    rows[first + turn * step] = *value;
                }
            }
        });
        rows
    }
}

#[ckpt::instrument(calls(traced))]
pub fn a_method_whose_threads_look_at_self() {
    let scene = Scene {
        rows: 5,
        weights: vec![3, 1, 4],
    };
    let one = scene.traced(1);
    println!("{one:?} {:?}", scene.traced(1));
}

#[ckpt::instrument]
pub fn lines_and_lists_between_the_waits() {
    let mut total = 0;
    let kept = thread::scope(|s| {
        let one = s.spawn(|| {
            let mut sum = 0_u64;
            for step in 0..3 {
                ckpt::checkpoint!();
                sum += step * 3 + 1;
            }
            sum
        });
        let other = s.spawn(|| {
            let mut sum = 7_u64;
            for step in 0..3 {
                ckpt::checkpoint!();
                sum = sum * 5 + step;
            }
            sum
        });
        let mut kept = Vec::new();
        println!("waiting, with {} kept", kept.len());
        kept.push(one.join().unwrap());
        total += kept[0];
        println!("{total}");
        kept.push(other.join().unwrap());
        kept
    });
    println!("{total} {kept:?}");
}

#[ckpt::instrument]
pub fn ends_of_channels_that_no_one_uses_any_more() {
    let (says, hears) = std::sync::mpsc::channel();
    let (asks, answers) = std::sync::mpsc::sync_channel(4);
    let other = says.clone();
    let thread = thread::spawn(move || {
        for k in 0..3_u64 {
            other.send(k * k + 1).unwrap();
        }
    });
    thread.join().unwrap();
    says.send(7).unwrap();
    asks.send(3_u64).unwrap();
    let mut sum = answers.recv().unwrap();
    for _ in 0..4 {
        sum += hears.recv().unwrap();
    }
    println!("{sum}");
    for k in 0..3 {
        ckpt::checkpoint!();
        sum = sum * 3 + k;
        println!("{k} {sum}");
    }
    println!("= {sum}");
}

/// Says when it is dropped.
#[derive(ckpt::Checkpoint)]
struct Told {
    name: &'static str,
    values: Vec<u64>,
}

impl Drop for Told {
    fn drop(&mut self) {
        println!("{} ends with {:?}", self.name, self.values);
    }
}

#[ckpt::instrument]
pub fn what_moves_into_a_thread() {
    let told = Told {
        name: "list",
        values: vec![3, 1, 4],
    };
    let shared = Arc::new(Mutex::new(vec![1u64]));
    let mut grown = vec![2u64];
    grown.push(3);
    let thread = thread::spawn(move || {
        let mut sum = 0;
        for k in 0..3 {
            ckpt::checkpoint!();
            sum = sum * 31 + told.values[k];
            shared.lock().unwrap().push(sum);
            grown.push(sum % 7);
        }
        drop(told);
        println!("gone {} {}", Arc::strong_count(&shared), Arc::weak_count(&shared));
        for k in 0..2 {
            ckpt::checkpoint!();
            sum += k + grown.len() as u64;
        }
        println!(
            "{:?}",
            Arc::try_unwrap(shared).map(|all| all.into_inner().unwrap())
        );
        for k in 0..2 {
            ckpt::checkpoint!();
            sum += k;
        }
        (sum, grown)
    });
    let (sum, grown) = thread.join().unwrap();
    println!("= {sum} {grown:?}");
}

#[ckpt::instrument]
fn told_of(told: Told, own: Arc<Told>, to: ckpt::sync::mpsc::Sender<u64>) {
    for k in 0..2 {
        ckpt::checkpoint!();
        to.send(told.values[k] + own.values[0]).unwrap();
    }
    drop(own);
    println!("shared one is gone");
    for k in 0..2 {
        ckpt::checkpoint!();
        to.send(told.values[k] * 2).unwrap();
    }
}

#[ckpt::instrument(calls(told_of))]
fn started(told: Told, to: ckpt::sync::mpsc::Sender<u64>) {
    let own = Arc::new(Told {
        name: "shared",
        values: vec![10],
    });
    let thread = thread::spawn(move || told_of(told, own, to));
    thread.join().unwrap();
}

#[ckpt::instrument(calls(started))]
pub fn what_moves_on_into_a_thread() {
    let (to, from) = ckpt::sync::mpsc::channel();
    let told = Told {
        name: "passed on",
        values: vec![5, 6],
    };
    started(told, to);
    let all: Vec<u64> = from.into_iter().collect();
    println!("= {all:?}");
}

#[ckpt::instrument]
pub fn a_receiver_moves_into_a_thread() {
    let (to, from) = ckpt::sync::mpsc::channel();
    for k in 0..4_u64 {
        to.send(k * k).unwrap();
    }
    drop(to);
    let thread = thread::spawn(move || {
        let mut sum = 0;
        for message in from {
            ckpt::checkpoint!();
            sum = sum * 5 + message;
        }
        sum
    });
    println!("= {}", thread.join().unwrap());
}

#[ckpt::instrument]
pub fn a_list_of_parts_and_blocks_that_make_closures() {
    let mut grid: Vec<u64> = (0..20).collect();
    let length = 7;
    let bands: Vec<&mut [u64]> = grid.chunks_mut(length).collect();
    thread::scope(|s| {
        for (k, band) in bands.into_iter().enumerate() {
            s.spawn(move || {
                for value in band.iter_mut() {
                    ckpt::checkpoint!();
                    *value = *value * 31 + k as u64;
                }
            });
        }
    });
    let sums = Arc::new(Mutex::new(vec![0; 2]));
    let mut handles = Vec::new();
    for k in 0..2 {
        handles.push(thread::spawn({
            let sums = Arc::clone(&sums);
            move || {
                for step in 0..3 {
                    ckpt::checkpoint!();
                    sums.lock().unwrap()[k] += step * 10 + k;
                }
            }
        }));
    }
    for handle in handles {
        handle.join().unwrap();
    }
    println!("{} {:?}", digest(&grid), sums.lock().unwrap());
}

fn length_of(told: &Told) -> usize {
    told.values.len()
}

/// The sender moves into the thread; a site behind knows that it is gone.
#[ckpt::instrument]
fn received(count: usize, told: Told) -> (u64, usize) {
    let (to, from) = ckpt::sync::mpsc::channel::<u64>();
    let thread = thread::spawn(move || {
        for k in 0..count as u64 {
            ckpt::checkpoint!();
            to.send(k * k).unwrap();
        }
        length_of(&told)
    });
    let length = thread.join().unwrap();
    let mut sum = 0;
    for message in from.iter() {
        ckpt::checkpoint!();
        let mut own = message;
        own += 1;
        sum = sum * 5 + own;
    }
    (sum, length)
}

#[ckpt::instrument(calls(received))]
pub fn messages_of_a_thread_that_has_ended() {
    for count in 1..3 {
        let told = Told {
            name: "told",
            values: vec![7; count],
        };
        println!("= {:?}", received(count, told));
    }
}
